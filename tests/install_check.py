"""Install uqassay in every way that is offered, each in an empty environment, and use it: ``make install-check``.

Source and wheel distributions of ``uqassay`` and ``uqassay-native`` are built from a copy of the tree. Each way of installation
then gets a virtual environment, and runs the examples of README.md: the one in Python, ``uqassay report`` and, as ``make demo``
does, ``uqassay demo``. "Without a compiler" means that none is on the path and that the variables CC and CXX name none. The
tests of the kernels then run against the installed wheels on every interpreter that the wheels claim. What an index asks of
the distributions is checked first (twine, check-wheel-contents).

    python -m tests.install_check [--python python3.11 --python python3.12 …] [--work FOLDER] [--dist FOLDER] [--only WORDS]

The first interpreter is that of the ways of installation. Without ``--python`` it takes those of 3.11, 3.12 and 3.13 that it
finds. Packages come from the index that pip is configured for. ``--dist`` takes the distributions of a folder, for instance
those of another machine.
"""

import argparse
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
EXTRAS = "files,cli,report,figures,demo"  # of README.md, and of `make demo`
TEST_PACKAGES = ("[tables]", "pytest>=8", "hypothesis>=6.100", "mpmath>=1.3", "threadpoolctl>=3")
COPIED = ("src", "tests", "docs", "benchmarks", "native", "README.md", "LICENSE", "pyproject.toml", "CHANGELOG.md")
KERNEL_TESTS = runpy.run_path(str(ROOT / "native" / "levels.py"))["TESTS"]  # paths

EXAMPLE = """
import doctest, sys
found = doctest.testfile(sys.argv[1], module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
print(f"{found.attempted} statements, {found.failed} failures")
sys.exit(found.failed > 0)
"""
FILES = """
import numpy as np
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 500)
logits = 2 * np.eye(3)[y][:, None] + rng.normal(size=(500, 1, 3)) + 0.7 * rng.normal(size=(500, 10, 3))
probs = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
np.save("labels.npy", y)
np.savez("ensemble.npz", probs=probs)
np.savez("edl.npz", alpha=1 + 20 * probs.mean(axis=1))
"""
WHERE = "import uqassay as uq; print(uq.__file__); print(uq.kernels())"


@dataclass(frozen=True)
class Way:
    """One way of installation: which distributions, with a compiler or without, and whether kernels must be in use after it."""

    words: str
    kinds: tuple[str, ...]  # keys of `Built`
    compiler: bool
    kernels: bool


WAYS = (
    Way("wheel", ("wheel",), compiler=False, kernels=False),
    Way("sdist", ("sdist",), compiler=False, kernels=False),
    Way("wheel + wheel of kernels", ("wheel", "native wheel"), compiler=False, kernels=True),
    Way("sdist + sdist of kernels", ("sdist", "native sdist"), compiler=True, kernels=True),
    Way("sdist + sdist of kernels", ("sdist", "native sdist"), compiler=False, kernels=False),
)


class Failure(Exception):
    """A command failed, or left behind what it should not."""


def run(command: Sequence[object], *, cwd: Path, env: dict[str, str]) -> str:
    """Standard output and error of a command; a failure shows the end of them."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def clean_environment() -> dict[str, str]:
    """Of this process, without what would lead to this checkout."""
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UQASSAY_PURE", "CC", "CXX", "CXXFLAGS")
    return {name: value for name, value in os.environ.items() if name not in left_out} | {"PYTHONNOUSERSITE": "1"}


def without_compiler(binaries: Path) -> dict[str, str]:
    """An environment whose path holds an environment's own commands alone."""
    return clean_environment() | {"PATH": str(binaries), "CC": "no-c-compiler", "CXX": "no-c++-compiler"}


def interpreters(named: Sequence[str]) -> list[str]:
    """Those named, or what is found of the versions that wheels are made for."""
    if named:
        return [found for name in named if (found := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for version in VERSIONS:
        places = [str(p) for p in sorted(pyenv.glob(f"{version}.*/bin/python"))] + [shutil.which(f"python{version}")]
        works = [
            p for p in places if p and subprocess.run([p, "-c", ""], capture_output=True, check=False).returncode == 0
        ]
        found += works[:1]
    return found


def version_of(python: str) -> str:
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    return run([python, "-c", code], cwd=ROOT, env=clean_environment()).strip()


def empty_environment(python: str, place: Path) -> Path:
    """A new virtual environment; the folder of its commands."""
    run([python, "-m", "venv", place], cwd=place.parent, env=clean_environment())
    return place / ("Scripts" if os.name == "nt" else "bin")


def copy_of_the_tree(place: Path) -> Path:
    """What belongs to the project, and nothing that was built in it."""
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "*.so", ".*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=ignored)
        elif (ROOT / name).exists():
            place.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    return place


def build(pythons: Sequence[str], source: Path, work: Path) -> Path:
    """Build all distributions, wheels from the source distributions; their folder."""
    dist = work / "dist"
    for python in pythons:
        version = version_of(python)
        if any(dist.glob("uqassay_native-*-cp312-*.whl")):  # serves all later versions
            continue
        commands = empty_environment(python, work / f"build-{version}")
        run([commands / "python", "-m", "pip", "install", "--quiet", "build"], cwd=work, env=clean_environment())
        for project in (source / "native",) if dist.exists() else (source, source / "native"):
            run([commands / "python", "-m", "build", "--outdir", dist, project], cwd=work, env=clean_environment())
    return dist


def contents(python: str, built: dict[str, Path], work: Path) -> Iterator[str]:
    """What an index asks of the distributions."""
    commands = empty_environment(python, work / "tools")
    tools = ["twine", "check-wheel-contents"]
    run([commands / "python", "-m", "pip", "install", "--quiet", *tools], cwd=work, env=clean_environment())
    archives = sorted(set(built.values()))
    run([commands / "twine", "check", "--strict", *archives], cwd=work, env=clean_environment())
    yield f"twine check: {len(archives)} distributions"
    wheels = [path for path in archives if path.suffix == ".whl"]
    run([commands / "check-wheel-contents", *wheels], cwd=work, env=clean_environment())
    yield f"check-wheel-contents: {len(wheels)} wheels"


def by_kind(dist: Path) -> dict[str, Path]:
    """The distributions of a folder; wheels of kernels also by their tag, and that of the oldest Python by none."""
    built = {"wheel": one(dist, "uqassay-*.whl"), "sdist": one(dist, "uqassay-*.tar.gz")}
    built["native sdist"] = one(dist, "uqassay_native-*.tar.gz")
    for wheel in sorted(dist.glob("uqassay_native-*.whl")):
        built[f"native wheel {wheel.name.split('-')[2]}"] = wheel
        built.setdefault("native wheel", wheel)
    return built


def one(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def install(python: Path, archives: Sequence[Path], needs: Sequence[str], env: dict[str, str], work: Path) -> None:
    """Archives first, past pip's cache of what it built before; then `needs`, with extras of uqassay in brackets."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--no-deps", "--no-cache-dir", *archives], cwd=work, env=env)
    version = re.match(r"uqassay-(.+?)(?:-py3|\.tar)", archives[0].name)
    assert version
    wanted = [f"uqassay{need}=={version[1]}" if need.startswith("[") else need for need in needs]
    run([*pip, *wanted], cwd=work, env=env)


def use(way: Way, python: str, built: dict[str, Path], work: Path) -> Iterator[str]:
    """Install in an empty environment and run the examples; what came out, line by line."""
    place = Path(tempfile.mkdtemp(prefix="way-", dir=work))
    commands = empty_environment(python, place / "env")
    env = clean_environment() if way.compiler else without_compiler(commands)
    install(commands / "python", [built[kind] for kind in way.kinds], [f"[{EXTRAS}]"], env, place)
    home, kernels = run([commands / "python", "-c", WHERE], cwd=place, env=env).splitlines()
    if not Path(home).is_relative_to(place):
        raise Failure(f"uqassay was imported from {home}")
    if kernels.startswith("compiled kernels: none") == way.kernels:
        raise Failure(f"kernels in use: {not way.kernels}; {kernels}")
    yield kernels if len(kernels) < 100 else f"{kernels[:60]} … {kernels[-30:]}"
    shutil.copy(ROOT / "README.md", place)
    yield f"example in Python: {run([commands / 'python', '-c', EXAMPLE, 'README.md'], cwd=place, env=env).strip()}"
    run([commands / "python", "-c", FILES], cwd=place, env=env)
    for line in commands_of(ROOT / "README.md"):
        out = run([commands / line[0], *line[1:]], cwd=place, env=env)
        yield f"{' '.join(line)}: {out.strip().splitlines()[0]}"
    out = run([commands / "uqassay", "demo", "--output", "demo"], cwd=place, env=env)
    page = re.search(r"^Page: .*$", out, flags=re.M)
    yield f"uqassay demo: {page[0].replace(str(place), '.') if page else out[-200:]}"
    for page in ("report.html", "demo/report.html"):
        if "</html>" not in (place / page).read_text(encoding="utf-8")[-200:]:
            raise Failure(f"{page} is not whole")


def commands_of(page: Path) -> list[list[str]]:
    """Commands of the shell examples of a page that call uqassay."""
    found = re.findall(r"^uqassay .*$", page.read_text(encoding="utf-8"), flags=re.M)
    return [line.split() for line in found]


def kernel_tests(python: str, built: dict[str, Path], source: Path, work: Path) -> Iterator[str]:
    """The tests of the kernels against the installed wheels."""
    version = version_of(python)
    tag = "cp311" if version == "3.11" else "cp312"
    if f"native wheel {tag}" not in built:
        raise Failure(f"there is no wheel {tag}")
    place = Path(tempfile.mkdtemp(prefix=f"tests-{version}-", dir=work))
    commands = empty_environment(python, place / "env")
    env = without_compiler(commands) | {"OMP_NUM_THREADS": "1"}
    install(commands / "python", [built["wheel"], built[f"native wheel {tag}"]], TEST_PACKAGES, env, place)
    for name in ("tests", "benchmarks", "docs", "native"):  # not src: the installed package is tested
        shutil.copytree(source / name, place / name)
    shutil.copy(source / "pyproject.toml", place)
    shutil.copy(source / "README.md", place)
    home, kernels = run([commands / "python", "-c", WHERE], cwd=place, env=env).splitlines()
    if not Path(home).is_relative_to(place / "env") or kernels.startswith("compiled kernels: none"):
        raise Failure(f"{home}: {kernels}")
    out = run([commands / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *KERNEL_TESTS], cwd=place, env=env)
    yield f"{built[f'native wheel {tag}'].name}: {out.strip().splitlines()[-1].strip('= ')}"


def told(words: str, lines: Iterator[str]) -> bool:
    """Print what a check says, and whether it passes."""
    print(f"\n{words}", flush=True)
    start = time.monotonic()
    try:
        for line in lines:
            print(f"    {line}", flush=True)
    except Failure as problem:
        print(f"    FAILED: {problem}", flush=True)
        return False
    print(f"    passes ({time.monotonic() - start:.0f} s)", flush=True)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter; several times for several")
    parser.add_argument("--work", type=Path, help="an empty folder that is kept")
    parser.add_argument("--dist", type=Path, help="a folder of distributions, in place of building them")
    parser.add_argument("--only", default="", help="checks whose line has this word")
    chosen = parser.parse_args(arguments)
    pythons = interpreters(chosen.python)
    if not pythons:
        print("no interpreter found; name one by --python")
        return 2
    work = (chosen.work or Path(tempfile.mkdtemp(prefix="install-"))).absolute()
    work.mkdir(parents=True, exist_ok=True)
    try:
        source = copy_of_the_tree(work / "source")
        print(f"Python {', '.join(map(version_of, pythons))}", flush=True)
        built = by_kind(chosen.dist.absolute() if chosen.dist else build(pythons, source, work))
        print("\n".join(f"    {path.name}  {path.stat().st_size / 1e3:.0f} kB" for path in sorted(set(built.values()))))
        checks = {"contents of the distributions": contents(pythons[0], built, work)}
        checks |= {
            f"{way.words}, {'with a' if way.compiler else 'without'} compiler, Python {version_of(pythons[0])}": use(
                way, pythons[0], built, work
            )
            for way in WAYS
        } | {f"tests of the kernels, Python {version_of(p)}": kernel_tests(p, built, source, work) for p in pythons}
        passed = [told(words, lines) for words, lines in checks.items() if chosen.only in words]
    except Failure as problem:
        print(problem)
        return 1
    finally:
        if chosen.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(f"\n{sum(passed)} of {len(passed)} checks pass")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
