"""Tests of the kernels at every level of vectors that this machine can run, each in a build of its own.

    python native/levels.py                       from the root of the repository
    python native/levels.py --compiler clang++    another compiler

A wheel holds several versions of each loop, and the loader picks one for the processor. Here each version is compiled alone:
baseline, AVX2 and AVX-512 on x86-64, and loops without the compiler's vectors. The tests compare kernels and array formulas,
to the last bit where that is promised, so the levels agree with each other, too. Needs cmake, ninja and nanobind.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = (
    "tests/native",
    "tests/test_native.py",
    *(f"tests/{room}" for room in ("credal", "measures", "losses", "statistics", "calibration", "predictions")),
    "tests/metrics/calibration",
    "tests/metrics/ranking",
    "tests/evidence/test_fingerprint.py",
)
# level: what the processor must be able to do (names of /proc/cpuinfo), and options of CMake
LEVELS = {
    "x86-64": ((), ("-DUQASSAY_LEVEL=x86-64",)),
    "x86-64-v3 (AVX2)": (("avx2", "fma", "bmi2"), ("-DUQASSAY_LEVEL=x86-64-v3",)),
    "x86-64-v4 (AVX-512)": (
        ("avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"),
        ("-DUQASSAY_LEVEL=x86-64-v4",),
    ),
    "loops without vectors": ((), ("-DUQASSAY_PLAIN_LANES=ON",)),
}


def able(needed: tuple[str, ...]) -> bool:
    """Whether this processor has all of these features."""
    listing = Path("/proc/cpuinfo")
    return set(needed) <= set(listing.read_text().split()) if listing.exists() else not needed


def tested(options: tuple[str, ...], compiler: str | None, pytest_options: list[str]) -> bool:
    """Build with these options of CMake into a copy of the package, and run the tests on it."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder).resolve() / "uqassay"
        shutil.copytree(
            HERE.parent / "src" / "uqassay", package, ignore=shutil.ignore_patterns("_kernels.*", "__pycache__")
        )
        build = str(package.with_name("build"))
        chosen = [f"-DCMAKE_CXX_COMPILER={compiler}"] if compiler else []
        python = f"-DPython_EXECUTABLE={sys.executable}"
        options = (f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={package}", python, *chosen, *options)
        for command in (
            ["cmake", "-S", str(HERE), "-B", build, "-G", "Ninja", *options],
            ["cmake", "--build", build],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stdout, done.stderr, sep="\n")
                return False
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "UQASSAY_PURE": "0"}
        where = "from uqassay import _kernels; print(_kernels.__file__)"
        found = subprocess.run(
            [sys.executable, "-c", where], env=environment, capture_output=True, text=True, check=True
        )
        if Path(found.stdout.strip()).parent != package:
            print(f"another build comes first: {found.stdout.strip()}")
            return False
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, *pytest_options]
        return subprocess.run(command, env=environment, cwd=HERE.parent, check=False).returncode == 0


def main() -> int:
    """All levels, one after the other; 1 if the tests of one fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", help="C++ compiler; that of CMake unless given")
    given, pytest_options = parser.parse_known_args()
    lines = []
    for level, (needed, options) in LEVELS.items():
        if options[0].startswith("-DUQASSAY_LEVEL") and platform.machine() not in ("x86_64", "AMD64"):
            lines.append(f"{level}: not for {platform.machine()}")
        elif not able(needed):
            lines.append(f"{level}: this processor cannot run it")
        else:
            start = time.monotonic()
            passed = tested(options, given.compiler, pytest_options)
            lines.append(
                f"{level}: {'passed' if passed else 'FAILED'}, {time.monotonic() - start:.0f} s with the build"
            )
        print(lines[-1], flush=True)
    print("", *lines, sep="\n")
    return int(any("FAILED" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
