"""Table of docs/installation.md: what each way of installation takes, from an empty environment."""

import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.install_check import clean_environment, copy_of_the_tree, empty_environment, environment_of, run

from benchmarks.measured.registry import measured
from benchmarks.stored_tables import Table

WAYS = (  # what the reader types, what is installed here (a wheel, or the clone), extras, whether there is a compiler
    ("`pip install uqassay`, from a wheel", "wheel", "", False),
    ("`pip install .`, with a C++ compiler", "clone", "", True),
    ("`pip install .`, without", "clone", "", False),
    ("`pip install 'uqassay[files]'`", "wheel", "[files]", False),
    ("`pip install 'uqassay[lab]'`", "wheel", "[lab]", False),
    ("`pip install 'uqassay[all]'`", "wheel", "[all]", False),
)
IMPORTS = (
    "import uqassay",
    "import uqassay; uqassay.assay",
    "import pandas",
    "import matplotlib.figure",
    "import typer, rich",
)
REPEATS = 5


@measured("installation", function="benchmarks.measured.installation:measure")
def measure(repeats: int = REPEATS) -> Table:
    """Processor time of pip, packages and megabytes of each way; packages were downloaded before."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        clone = copy_of_the_tree(work / "clone")
        packages = _downloaded(clone, work)
        for number, (words, what, extras, compiler) in enumerate(WAYS):
            commands = empty_environment(sys.executable, work / f"env-{number}")
            env = environment_of(commands, compiler) | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages)}
            target = f"{clone if what == 'clone' else next(packages.glob('uqassay-*.whl'))}{extras}"
            before = _processor_time()
            run([commands / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir", target], cwd=work, env=env)
            seconds = _processor_time() - before
            listed = run([commands / "python", "-m", "pip", "list", "--format", "freeze"], cwd=work, env=env)
            names = {line.partition("==")[0] for line in listed.splitlines() if "==" in line} - {"pip", "setuptools"}
            rows.append(
                [words, _kernels(commands, env, work), str(len(names)), f"{_megabytes(commands):.0f}", f"{seconds:.0f}"]
            )
            if number == 0:
                imports = [f"`{code}` {_import_time(commands, env, work, code, repeats):.2f} s" for code in IMPORTS]
    text = f"Processor time of Python with these imports, the median of {repeats} starts: {', '.join(imports)}."
    return Table(("installation", "kernels", "packages", "MB", "processor time of pip, s"), rows, [text])


# -- helpers -----------------------------------------------------------------------------------------------------------


def _downloaded(clone: Path, work: Path) -> Path:
    """A folder with a wheel of uqassay, and all that it and its build need."""
    packages = work / "packages"
    commands = empty_environment(sys.executable, work / "downloads")
    pip, env = [commands / "python", "-m", "pip"], clean_environment()
    run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", packages, clone], cwd=work, env=env)
    wheel = next(packages.glob("uqassay-*.whl"))
    needs = [f"{wheel}[all]", "scikit-build-core>=0.12", "nanobind>=2.4", "cmake", "ninja"]
    run([*pip, "download", "--quiet", "--dest", packages, *needs], cwd=work, env=env)
    return packages


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _kernels(commands: Path, env: dict[str, str], work: Path) -> str:
    code = "import uqassay as uq; print('yes' if uq.kernels().names else 'no')"
    return run([commands / "python", "-c", code], cwd=work, env=env).strip()


def _megabytes(commands: Path) -> float:
    """Of the installed packages, pip and setuptools apart."""
    (place,) = commands.parent.glob("lib/python*/site-packages")
    own = re.compile(r"(pip|setuptools|pkg_resources|_distutils_hack)\b")
    held = (Path(root) / name for root, _, names in os.walk(place) for name in names)
    return sum(path.lstat().st_size for path in held if not own.match(str(path.relative_to(place)))) / 1e6


def _import_time(commands: Path, env: dict[str, str], work: Path, code: str, repeats: int) -> float:
    """Processor seconds of a new process, compiled files included."""
    times = []
    for _ in range(repeats + 1):
        before = _processor_time()
        subprocess.run([commands / "python", "-c", code], cwd=work, env=env, check=True)
        times.append(_processor_time() - before)
    return sorted(times[1:])[repeats // 2]  # the first one compiles
