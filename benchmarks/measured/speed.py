"""Tables of times of docs/performance.md, each with the machine and a yardstick beneath it. They need an idle machine."""

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measured.registry import measured
from benchmarks.stored_tables import ROOT, Table

JOBS = {  # rows of benchmarks/bench_unified.py
    "paper pipeline, M = 15, K = 10": "the paper's pipeline (2^K events, masses, clipping, NS and KL), M = 15",
    "paper pipeline, M = 100, K = 10": "the same, M = 100",
    "generalised Hartley, exact, M = 15, K = 10": "generalised Hartley, exact, M = 15",
    "generalised Hartley, exact, M = 100, K = 10": "the same, M = 100",
    "generalised Hartley, M = 10, K = 100, N = 2000": "generalised Hartley, estimated, K = 100, M = 10, N = 2,000",
    "generalised Hartley, M = 10, K = 1000, N = 500": "the same, K = 1,000, N = 500",
}
# classes, instances and side, as benchmarks/bench_credal_entropy.py prints them
ENTROPIES = {
    "10 10000 upper": "upper entropy over probability intervals",
    "10 10000 lower": "lower entropy over probability intervals",
    "100 10000 upper": "upper entropy, K = 100",
    "100 10000 lower": "lower entropy, K = 100",
}
MEASURES = ("kuiper-confidence", "ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")


def _printed(script: str, *words: str) -> list[str]:
    """What a script prints, in a process of its own."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def _machine() -> str:
    """The processor, versions, load, and how long two usual jobs take on one core."""
    found = (
        re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
        if Path("/proc/cpuinfo").exists()
        else None
    )
    name = found[1] if found else platform.processor() or platform.machine()
    rng = np.random.default_rng(0)
    values, matrix = rng.random(5_000_000), rng.random((1000, 1000))
    return (
        f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, NumPy "
        f"{np.__version__}. Yardstick on it: {_duration(_best(lambda: np.sort(values)))} to sort 5,000,000 numbers, "
        f"{_duration(_best(lambda: matrix @ matrix))} for a product of two matrices of 1,000 rows."
    )


def _best(job: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        job()
        taken.append(time.perf_counter() - start)
    return min(taken)


def _duration(seconds: float) -> str:
    if seconds >= 100:
        return f"{_ratio(seconds)} s"
    return f"{1000 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.2g} s"


def _ratio(x: float) -> str:
    return f"{float(f'{x:.2g}'):,.0f}"


@measured("time-of-measures", function="benchmarks.bench_unified:main", rests_on=("benchmarks.bench_credal_entropy",))
def measures(size: int = 1) -> Table:
    """The paper's pipeline, generalised Hartley and entropies beside plain implementations."""
    times: dict[str, dict[str, float]] = {}
    for line in _printed("bench_unified.py"):
        if match := re.match(r"(.*?) +(uqassay +[\d.]+ s.*)", line):
            times[match[1]] = {
                who: float(took) for who, took in re.findall(r"(uqassay|formula|plain) +([\d.]+) s", match[2])
            }
    for line in _printed("bench_credal_entropy.py"):
        if match := re.match(r" *(\d+) +(\d+) +(upper|lower) +(uqassay|formula|SciPy) +\d+ +([\d.]+) ms", line):
            who = "plain" if match[4] == "SciPy" else match[4]
            times.setdefault(" ".join(match.groups()[:3]), {})[who] = float(match[5]) / 1000
    rows = []
    for job, label in (JOBS | ENTROPIES).items():
        took = times[job]
        ours, plain = took["uqassay"], took["plain"]
        formula = _duration(took["formula"]) if "formula" in took else "–"
        rows.append([label, _duration(ours), formula, _duration(plain), _ratio(plain / ours)])
    return Table(("job", "uqassay", "formulas alone", "plain", "ratio"), rows, [_machine()])


@measured("time-of-ranking", function="benchmarks.bench_ranking:main")
def ranking(size: int = 10_000_000) -> Table:
    """Ranking metrics beside other packages."""
    blocks: dict[str, dict[str, str]] = {}
    for line in _printed("bench_ranking.py", str(size)):
        if line.startswith("n = "):
            block = blocks.setdefault(line.removeprefix("n = "), {})
        elif match := re.match(r"  (.*?) +([\d.]+) s(?: +([\d.]+) times ours)?", line):
            block[match[1]] = f"{float(match[3]):.2g} times" if match[3] else _duration(float(match[2]))
    columns = {
        "UQ-AUC": "UQ-AUC with DeLong interval",
        "scikit-learn": "scikit-learn",
        "torchmetrics": "torchmetrics",
        "UQ-C-index": "UQ-C-index with interval",
        "SciPy `kendalltau`": "SciPy kendalltau",
        "lifelines": "lifelines",
    }
    rows = []
    for n, found in blocks.items():
        cells = [next((value for name, value in found.items() if wanted in name), "–") for wanted in columns.values()]
        rows.append([n, *cells])
    return Table(("n", *columns), rows, [_machine()])


@measured("time-of-calibration", function="benchmarks.bench_calibration:compare")
def calibration(size: int = 0) -> Table:
    """The minimum over mixtures beside COBYLA, as processor time."""
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    for line in _printed("bench_calibration.py", str(size)):
        if match := re.match(r"(\S+) +(uqassay, \w+|COBYLA, [\w ]+?) +([\d.]+) ms +([\d.]+) +(\d+)", line):
            found.setdefault(match[1], {})[match[2]] = match[3], match[4], match[5]
    rows = []
    for name in MEASURES:
        ways = found[name]
        took, _, evaluated = ways["uqassay, thorough"]
        plain, fast = ways["COBYLA, plain loop"], ways["COBYLA, batched code"]
        cells = [f"{took} ms", f"{int(evaluated):,}", f"{plain[1]} times ({plain[2]} evaluated)", f"{fast[1]} times"]
        rows.append([f"`{name}`", *cells, f"{float(ways['uqassay, patient'][0]):.0f} ms"])
    columns = ("measure", "`THOROUGH`", "mixtures evaluated", "COBYLA, plain loop", "COBYLA, measures of uqassay")
    return Table((*columns, "`PATIENT`"), rows, [_machine()])


@measured("memory-of-an-assay", function="uqassay.evidence.judgement:assay")
def memory(size: int = 50_000) -> Table:
    """Peak memory and time of an assay of files, each in a process of its own."""
    rows = []
    for n, members, classes in ((size, 10, 1000), (20 * size, 5, 10), (size // 5, 15, 10)):
        script = [sys.executable, str(ROOT / "docs" / "measure_memory.py")]
        options = ["--instances", str(n), "--members", str(members), "--classes", str(classes)]
        lines = subprocess.run([*script, *options], check=True, capture_output=True, text=True).stdout
        disk, took, peak = re.findall(r"([\d.]+) GB on disk: ([\d.]+) s .*peak memory ([\d.]+) GB", lines)[0]
        on_disk = f"{float(disk):.1f} GB" if float(disk) >= 0.1 else f"{1000 * float(disk):.0f} MB"
        label = f"{n:,} instances, {members} members, {classes:,} classes"
        rows.append([label, on_disk, f"{float(peak):.1f} GB", f"{float(took):.0f} s"])
    columns = ("ensemble, float32", "on disk", "peak memory of an assay", "time, two cores")
    return Table(columns, rows, [_machine()])
