"""Two commits side by side: both run in alternating turns, and a slow-down above the noise of the same run is found.

Each runs its own workloads where it has some, because names inside the package change from commit to commit.
"""

import hashlib
import io
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed.one import WORKLOADS

__all__ = ["HERE", "Compared", "Limits", "Side", "check_out", "compare", "lines", "run", "with_kernels"]

HERE = ""  # in place of a commit: the working tree as it is
LEFT_OUT = shutil.ignore_patterns("build", "__pycache__", "*.pyc", "*.egg-info", "_kernels.*")
Run = Callable[["Side", Sequence[str]], Mapping[str, "Turn | str"]]


class Side(NamedTuple):
    """One of the two versions: its name, the folder of its package, and that of its compiled kernels, if any."""

    name: str
    source: Path
    kernels: Path | None = None


class Turn(NamedTuple):
    """Processor seconds of a workload, and a digest of its answer."""

    seconds: float
    digest: str = ""


class Limits(NamedTuple):
    """Turns of a round, and the smallest ratio that counts as a slow-down."""

    turns: int = 5
    ratio: float = 1.05


class Compared(NamedTuple):
    """One workload in both versions.

    Attributes
    ----------
    before, after : float
        Median processor seconds; nan if it failed.
    ratio : float
        Median over turns of after to before.
    noise : float
        Largest ratio of two successive turns of the same version.
    slower : bool
    same : bool
        Whether both versions gave the same answer to the last bit.
    problem : str
        Why it was not measured, and where.
    broken : bool
        Whether it failed in the later version alone.
    """

    name: str
    before: float = float("nan")
    after: float = float("nan")
    ratio: float = float("nan")
    noise: float = float("nan")
    slower: bool = False
    same: bool = True
    problem: str = ""
    broken: bool = False


def compare(run: Run, sides: tuple[Side, Side], names: Sequence[str], limits: Limits) -> list[Compared]:
    """Compare workloads; those that seem slower are measured in a second round, and count only if they are slower again.

    Parameters
    ----------
    run : callable
        ``run(side, names)`` measures once, in a new process: a `Turn` by name, or why there is none.
    sides : two of Side
        Before and after.
    names : sequence of str
    limits : Limits
    """
    first = _round(run, sides, names, limits)
    doubtful = [one.name for one in first if one.slower]
    again = {one.name: one for one in _round(run, sides, doubtful, limits)} if doubtful else {}
    return [again.get(one.name, one) for one in first]


def lines(found: Sequence[Compared], sides: tuple[Side, Side], limits: Limits) -> list[str]:
    """What a person reads: one line per workload, then the verdict."""
    width = max(len(one.name) for one in found)
    out = [f"{'workload':{width}}  {sides[0].name:>12} {sides[1].name:>12}  ratio  noise"]
    for one in found:
        if one.problem:
            out.append(f"{one.name:{width}}  not measured: {one.problem}")
            continue
        mark = "  SLOWER" * one.slower + "  other results" * (not one.same)
        times = f"{1e3 * one.before:9.2f} ms {1e3 * one.after:9.2f} ms"
        out.append(f"{one.name:{width}}  {times}  {one.ratio:5.2f}  {one.noise:5.2f}{mark}")
    slower = [one.name for one in found if one.slower]
    broken = [one.name for one in found if one.broken]
    largest = max((one.noise for one in found if not one.problem), default=float("nan"))
    out.append(
        f"Processor time, medians of {limits.turns} turns. A workload is slower if the median ratio exceeds both "
        f"{limits.ratio:g} and its noise, the largest ratio of two successive turns of one version (at most {largest:.2f} "
        "here), in two rounds."
    )
    measured = sum(not one.problem for one in found)
    of_all = "" if measured == len(found) else f" of the {measured} measured"
    out.append(f"Slower: {'; '.join(slower)}" if slower else f"No workload{of_all} is slower.")
    return [*out, f"Broken: {'; '.join(broken)}"] if broken else out


def check_out(commit: str, root: Path, folder: Path) -> Side:
    """A copy of a commit's package, kernels' sources and benchmarks; of the working tree for `HERE`.

    Raises
    ------
    ValueError
        No such commit.
    """
    if commit == HERE:
        for part in ("src", "native", "benchmarks"):
            if (root / part).is_dir():
                shutil.copytree(root / part, folder / part, ignore=LEFT_OUT)
        for part in ("pyproject.toml", "README.md", "LICENSE"):  # what a build needs
            if (root / part).exists():
                shutil.copy(root / part, folder)
        return Side("working tree", folder / "src")
    done = subprocess.run(["git", "-C", str(root), "archive", commit], capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"git archive {commit}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return Side(commit[:12], folder / "src")


def with_kernels(side: Side, kept: Path) -> Side:
    """Build the version's kernels into its copy, unless the same sources were built before; a version without kernels has none.

    Raises
    ------
    ValueError, subprocess.CalledProcessError
        They cannot be built.
    """
    root = side.source.parent
    native = root / "native"
    if not native.is_dir():
        return side
    project = native if (native / "pyproject.toml").exists() else root  # once a distribution of its own
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(native.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(native).as_posix().encode() + b"\0" + path.read_bytes())
    target = kept / digest.hexdigest()[:16]
    if not target.is_dir():
        made = target.with_suffix(f".{os.getpid()}")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(made), str(project)]
        subprocess.run(command, check=True)
        os.replace(made, target)
    modules = [*target.glob("uqassay/_kernels.*"), *target.glob("_uqassay_native.*")]
    if not modules:
        raise ValueError(f"the kernels of {side.name} cannot be built: pip install -v {project} says why")
    for module in modules:
        shutil.copy(module, side.source / module.relative_to(target).parent)
    return side._replace(kernels=target)


def run(
    side: Side, names: Sequence[str], *, root: Path, module: str = WORKLOADS, quick: bool = False
) -> dict[str, Turn | str]:
    """Measure once in a new process; `root` holds the workloads of a version that has none."""
    own = side.source.parent
    root = own if (own / "benchmarks" / "speed").is_dir() else root
    places = [side.source, *([side.kernels] if side.kernels else []), root]
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(map(str, places))}
    if side.kernels is None:
        environment["UQASSAY_PURE"] = "1"
    options = ["--ours", "--source", str(side.source), "--module", module, *(["--quick"] if quick else [])]
    command = [sys.executable, "-m", "benchmarks.speed.one", *names, *options]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    said = done.stderr.strip().splitlines()
    found: dict[str, Turn | str] = dict.fromkeys(names, said[-1] if said else "the process ended")
    for row in map(json.loads, done.stdout.splitlines()):
        found[row["name"]] = row.get("failed") or Turn(row["processor"], row["digest"])
    return found


# -- helpers -----------------------------------------------------------------------------------------------------------


def _round(run: Run, sides: tuple[Side, Side], names: Sequence[str], limits: Limits) -> list[Compared]:
    """Turns in alternating order."""
    seen: list[list[Mapping[str, Turn | str]]] = [[], []]
    for turn in range(limits.turns):
        for j in (0, 1) if turn % 2 == 0 else (1, 0):
            seen[j].append(run(sides[j], names))
    return [_compared(name, sides, [[turn[name] for turn in side] for side in seen], limits) for name in names]


def _compared(name: str, sides: tuple[Side, Side], turns: list[list[Turn | str]], limits: Limits) -> Compared:
    failed = [next((turn for turn in side if isinstance(turn, str)), "") for side in turns]
    if any(failed):
        problem = "; ".join(f"{side.name}: {why}" for side, why in zip(sides, failed, strict=True) if why)
        return Compared(name, problem=problem, broken=not failed[0])
    measured = [[turn for turn in side if isinstance(turn, Turn)] for side in turns]
    before, after = ([turn.seconds for turn in side] for side in measured)
    ratio = statistics.median(b / a for a, b in zip(before, after, strict=True))
    noise = max((max(x / y, y / x) for side in (before, after) for x, y in itertools.pairwise(side)), default=1.0)
    slower = ratio > max(noise, limits.ratio)
    same = len({turn.digest for side in measured for turn in side}) == 1
    return Compared(name, statistics.median(before), statistics.median(after), ratio, noise, slower, same)
