"""Install uqassay in every way that is offered, each in an empty environment, and use it: ``make install-check``.

Source distribution and wheels are built from a copy of the tree, wheels from the source distribution. Each way of installation
then gets a virtual environment and runs the example in Python and the commands of README.md, word for word. A table at the end
says what each installation took and put on the disk, and what the extras add. "Without a compiler" means that none is on the
path and that the variables CC and CXX name none. The tests of the kernels then run against
the installed wheels on every interpreter that the wheels claim. What an index asks of the distributions is checked first
(twine, check-wheel-contents).

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
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
# with those of the extra `files`, which tests of predictions read
TEST_PACKAGES = (
    "pytest>=8",
    "hypothesis>=6.100",
    "mpmath>=1.3",
    "threadpoolctl>=3",
    "scikit-learn",
    "pyarrow>=15",
    "safetensors>=0.4",
    "zarr>=3",
)
EXTRAS = ("", "files", "lab", "all")
TORCH = ("torch==2.13.0",)  # the CPU build, where the index has one under this number
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
    """One way of installation: of what, with a compiler or without, and whether kernels must be in use after it."""

    words: str
    what: str  # a kind of distribution as in `by_kind`, or "clone"
    compiler: bool
    kernels: bool
    editable: bool = False

    @property
    def title(self) -> str:
        return f"{self.words}, {'with a' if self.compiler else 'without'} compiler"


WAYS = (
    Way("the clone", "clone", compiler=True, kernels=True),
    Way("the clone", "clone", compiler=False, kernels=False),
    Way("the clone, editable", "clone", compiler=True, kernels=True, editable=True),
    Way("the clone, editable", "clone", compiler=False, kernels=False, editable=True),
    Way("the wheel", "wheel", compiler=False, kernels=True),
    Way("the source distribution", "sdist", compiler=False, kernels=False),
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


def environment_of(commands: Path, compiler: bool) -> dict[str, str]:
    """An environment whose path begins with an environment's own commands; without a compiler it holds nothing else."""
    env = clean_environment()
    if compiler:
        return env | {"PATH": os.pathsep.join((str(commands), env["PATH"]))}
    return env | {"PATH": str(commands), "CC": "no-c-compiler", "CXX": "no-c++-compiler"}


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
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "*.so", "*.pyd", ".*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=ignored)
        elif (ROOT / name).exists():
            place.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    shutil.copy(ROOT / ".gitignore", place)  # names what no distribution holds
    return place


def build(pythons: Sequence[str], source: Path, work: Path) -> Path:
    """Build the source distribution, and wheels from it; their folder."""
    dist = work / "dist"
    for python in pythons:
        version = version_of(python)
        if any(dist.glob("uqassay-*-cp312-*.whl")):  # serves all later versions
            continue
        commands = empty_environment(python, work / f"build-{version}")
        run([commands / "python", "-m", "pip", "install", "--quiet", "build"], cwd=work, env=clean_environment())
        made = work / f"dist-{version}"
        run([commands / "python", "-m", "build", "--outdir", made, source], cwd=work, env=clean_environment())
        shutil.copytree(made, dist, dirs_exist_ok=True)
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
    """The distributions of a folder; wheels by their tag, and that of the oldest Python by none."""
    (sdist,) = dist.glob("uqassay-*.tar.gz")
    built = {"sdist": sdist}
    for wheel in sorted(dist.glob("uqassay-*.whl")):
        built[f"wheel {wheel.name.split('-')[2]}"] = wheel
        built.setdefault("wheel", wheel)
    return built


def install(python: Path, what: Path, env: dict[str, str], work: Path, *options: str) -> None:
    """Past pip's cache of what it built before; of the clone, pip keeps nothing."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if what.suffix == ".gz":  # what a source distribution becomes is kept by its address
        run([*pip, "--no-deps", "--no-cache-dir", what], cwd=work, env=env)
        run([*pip, "uqassay"], cwd=work, env=env)
    else:
        run([*pip, *options, what], cwd=work, env=env)


def megabytes(folder: Path) -> float:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6


@dataclass
class Cost:
    """What one installation takes, from an empty environment: the line of a table."""

    words: str
    commands: Path
    start: float = field(default_factory=time.monotonic)
    before: float = field(init=False)

    def __post_init__(self) -> None:
        self.before = megabytes(self.commands.parent)

    def line(self) -> str:
        seconds = time.monotonic() - self.start
        return f"| {self.words} | {seconds:.0f} s | {megabytes(self.commands.parent) - self.before:.0f} MB |"


def use(way: Way, python: str, built: dict[str, Path], work: Path, costs: list[str]) -> Iterator[str]:
    """Install in an empty environment and run the README; what came out, line by line."""
    place = Path(tempfile.mkdtemp(prefix="way-", dir=work))
    commands = empty_environment(python, place / "env")
    env = environment_of(commands, way.compiler)
    here = copy_of_the_tree(place / "clone") if way.what == "clone" else place
    shutil.copy(ROOT / "README.md", place)
    first, *others = commands_of(ROOT / "README.md")  # the first one is the installation
    cost = Cost(way.title, commands)
    if way.what != "clone" or way.editable:
        options = ["--editable"] if way.editable else []
        install(commands / "python", here if way.what == "clone" else built[way.what], env, place, *options)
        first = first.replace(" . ", " ")  # what it installs beside uqassay
    run(["/bin/sh", "-c", first], cwd=here, env=env)
    costs.append(cost.line())
    yield first
    run([commands / "python", "-c", FILES], cwd=here, env=env)
    for line in others:
        yield f"{line}: {run(['/bin/sh', '-c', line], cwd=here, env=env).strip().splitlines()[-1][:100]}"
    home, kernels = run([commands / "python", "-c", WHERE], cwd=place, env=env).splitlines()
    if not Path(home).is_relative_to(place):
        raise Failure(f"uqassay was imported from {home}")
    if kernels.startswith("compiled kernels: none") == way.kernels:
        raise Failure(f"kernels in use: {not way.kernels}; {kernels}")
    yield kernels if len(kernels) < 100 else f"{kernels[:60]} … {kernels[-30:]}"
    yield f"example in Python: {run([commands / 'python', '-c', EXAMPLE, 'README.md'], cwd=place, env=env).strip()}"
    for page in ("report.html", "demo/report.html"):
        if "</html>" not in (here / page).read_text(encoding="utf-8")[-200:]:
            raise Failure(f"{page} is not whole")


def extra(name: str, python: str, wheel: Path, work: Path, costs: list[str]) -> Iterator[str]:
    """Install the wheel alone, or with an extra; its packages must fit together."""
    commands = empty_environment(python, Path(tempfile.mkdtemp(prefix=f"extra-{name}-", dir=work)) / "env")
    env = environment_of(commands, compiler=False)
    cost = Cost(f"the wheel alone, extra `{name}`" if name else "the wheel alone", commands)
    pip = [commands / "python", "-m", "pip"]
    run(
        [*pip, "install", "--quiet", f"{wheel}[{name}]" if name else wheel, *TORCH * (name in ("lab", "all"))],
        cwd=work,
        env=env,
    )
    costs.append(cost.line())
    yield run([*pip, "check"], cwd=work, env=env).strip()


def commands_of(page: Path) -> list[str]:
    """The lines of the shell examples of a page, without remarks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def kernel_tests(python: str, built: dict[str, Path], source: Path, work: Path) -> Iterator[str]:
    """The tests of the kernels against the installed wheels."""
    version = version_of(python)
    tag = "cp311" if version == "3.11" else "cp312"
    if f"wheel {tag}" not in built:
        raise Failure(f"there is no wheel {tag}")
    place = Path(tempfile.mkdtemp(prefix=f"tests-{version}-", dir=work))
    commands = empty_environment(python, place / "env")
    env = environment_of(commands, compiler=False) | {"OMP_NUM_THREADS": "1"}
    install(commands / "python", built[f"wheel {tag}"], env, place, *TEST_PACKAGES)
    for name in ("tests", "benchmarks", "docs", "native"):  # not src: the installed package is tested
        shutil.copytree(source / name, place / name)
    shutil.copy(source / "pyproject.toml", place)
    shutil.copy(source / "README.md", place)
    home, kernels = run([commands / "python", "-c", WHERE], cwd=place, env=env).splitlines()
    if not Path(home).is_relative_to(place / "env") or kernels.startswith("compiled kernels: none"):
        raise Failure(f"{home}: {kernels}")
    out = run([commands / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *KERNEL_TESTS], cwd=place, env=env)
    yield f"{built[f'wheel {tag}'].name}: {out.strip().splitlines()[-1].strip('= ')}"


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
    costs: list[str] = []
    try:
        source = copy_of_the_tree(work / "source")
        print(f"Python {', '.join(map(version_of, pythons))}", flush=True)
        built = by_kind(chosen.dist.absolute() if chosen.dist else build(pythons, source, work))
        print("\n".join(f"    {path.name}  {path.stat().st_size / 1e3:.0f} kB" for path in sorted(set(built.values()))))
        checks = {"contents of the distributions": contents(pythons[0], built, work)}
        checks |= {way.title: use(way, pythons[0], built, work, costs) for way in WAYS}
        checks |= {
            f"the wheel, extra {name or 'none'}": extra(name, pythons[0], built["wheel"], work, costs)
            for name in EXTRAS
        }
        checks |= {
            f"tests of the kernels, Python {version_of(p)}": kernel_tests(p, built, source, work) for p in pythons
        }
        passed = [told(words, lines) for words, lines in checks.items() if chosen.only in words]
    except Failure as problem:
        print(problem)
        return 1
    finally:
        if chosen.work is None:
            shutil.rmtree(work, ignore_errors=True)
    title = f"| way, with scikit-learn, Python {version_of(pythons[0])} | time | on the disk |"
    print("\n".join(("", title, "|---|--:|--:|", *costs)))
    print(f"\n{sum(passed)} of {len(passed)} checks pass")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
