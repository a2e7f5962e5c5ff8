"""The command line in this process: what each command prints, its exit code, and the files that it writes."""

import io
import os
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory, mkdtemp
from unittest.mock import patch

import numpy as np

import uqassay as uq
from tests.evidence.gain_data import made_study as gain_study
from tests.golden import data
from tests.golden.capture import json_text, page_text, titled
from tests.golden.registry import Scenario
from uqassay.cli import main

N = 48
COLUMNS = 100
ONE = "DE=de.npz --labels labels.npy"
TWO = "DE=de.npz EDL=edl.npz --labels labels.npy"
QUICK = "--calibration none --draws 200"
OOD = "DE=de.npz --out DE=far.npz"
GAIN = "de.npz after.npz --labels labels.npy --score entropy --bins 4"
COMMANDS = (
    *("report", "rank", "demo", "inspect", "convert", "reproduce", "tradeoff", "ood", "refuse", "gain"),
    *("calibration-test", "second-order", "compare", "bench", "bench status"),
)

# name: one command on each line, run in a new folder with the files of `files`
SCREENS = {
    "rank": f"rank {TWO} {QUICK}",
    "rank with calibration": f"rank {ONE} --draws 200",
    "rank at several λ": f"rank {TWO} --tradeoff 0.1,1 --tradeoff 3 {QUICK}",
    "rank all files": f"rank DE=de.npz EDL=edl.npz box=intervals.npz masses.npz point.npz --labels labels.npy {QUICK}",
    "rank runs": f"rank net=de.npz,again.npz EDL=edl.npz --labels labels.npy {QUICK}",
    "rank groups and subgroups": f"rank {TWO} --groups patients.npy --subgroup site=sites.csv:site {QUICK}",
    "rank weights": f"rank {TWO} --weights weights.npy {QUICK}",
    "rank votes": f"rank {TWO.replace('labels.npy', 'votes.npy')} {QUICK}",
    "rank with a margin": f"rank {TWO} --margin 0.2 --distance brier --level 0.9 {QUICK}",
    "rank checks": f"""
        rank {TWO} {QUICK} --fail-if accuracy<0.1
        rank {TWO} {QUICK} --fail-if accuracy<0.99 --fail-if DE:high(ece)>0.01
        rank {TWO} {QUICK} --fail-if DE:unified@0.5>0.4 --on-intervals
        rank {TWO} {QUICK} --fail-if accurcy<0.9
        rank {TWO} {QUICK} --fail-if accuracy""",
    "rank in Markdown": f"rank {TWO} {QUICK} --fail-if accuracy<0.99 --markdown found.md",
    "rank as JSON": f"rank {TWO} {QUICK} --json",
    "rank a table": f"rank table.csv {QUICK}",
    "rank names": f"rank {TWO} --class-names healthy,ill,unclear {QUICK}",
    "report": f"report {TWO} {QUICK} -o page.html",
    "report as JSON": f"report {ONE} {QUICK} --json",
    "report saved": f"""
        report {TWO} {QUICK} --save kept --json
        rank kept --tradeoff 1
        refuse kept --risk 0.4""",
    "compare": """
        compare one=kept1 two=kept2 three=kept3
        compare kept1 kept2 kept3 --metric accuracy --rope 0.01
        compare kept1 kept2 --metric uq-auc --score total-entropy""",
    "compare as JSON": "compare one=kept1 two=kept2 three=kept3 --json",
    "tradeoff": """
        tradeoff
        tradeoff --no-abstention
        tradeoff --abstention
        tradeoff --abstention --cost 0.1
        tradeoff --abstention --cost 0.1 --json""",
    "calibration-test": f"""
        calibration-test {TWO} --draws 39
        calibration-test {ONE} --draws 39 --members --measure ece-confidence""",
    "calibration-test with options": f"""
        calibration-test {ONE} --draws 19 --null random --fail-if-rejected
        calibration-test {ONE} --draws 19 --null berger-boos --instances 30
        calibration-test point.npz --labels wrong.npy --draws 39 --fail-if-rejected
        calibration-test {ONE} --draws 19 --held-out 0.5""",
    "calibration-test as JSON": f"calibration-test {ONE} --draws 19 --json",
    "second-order": """
        second-order DE=de.npz flat=point.npz --votes votes.npy
        second-order EDL=edl.npz --votes votes.npy --by kernel --groups patients.npy
        second-order DE=de.npz --votes votes.npy --by moments --level 0.9""",
    "second-order as JSON": "second-order DE=de.npz --votes votes.npy --buckets 3 --json",
    "refuse": f"""
        refuse {TWO} --risk 0.4
        refuse {ONE} --risk 0.4 --score margin --confidence 0.9 --groups patients.npy
        refuse {ONE} --risk 0.001""",
    "refuse as JSON": f"refuse {ONE} --risk 0.4 --json",
    "ood": f"""
        ood {OOD}
        ood {OOD} --score margin --ties whole --level 0.9
        ood {OOD} --labels labels.npy --error-cost 0.8 --share-out 0.1 --score margin""",
    "ood as JSON": f"ood {OOD} --score margin --json",
    "gain": f"""
        gain {GAIN}
        gain {GAIN} --loss zero-one,log --fail-if correlation<0.9 --on-intervals
        gain {GAIN} --name net -o gain.html""",
    "gain of a study": """
        gain study --bins 4
        gain study --bins 4 --json""",
    "inspect": """
        inspect de.npz
        inspect edl.npz
        inspect intervals.npz
        inspect masses.npz
        inspect table.csv
        inspect members.npy
        inspect point.npz --json
        inspect labels.npy""",
    "convert": """
        convert point.npz point.csv
        convert point.csv again.jsonl
        inspect again.jsonl
        convert table.csv table.npz
        inspect table.npz
        convert de.npz de.txt""",
    "reproduce list": """
        reproduce
        reproduce nothing""",
    "reproduce tables of unified": """
        reproduce unified-tables --preset smoke
        reproduce unified-tables --table 1
        reproduce unified-tables --table 2 --format latex
        reproduce unified-tables --table 3 --format csv""",
    "reproduce tables of disentanglement": """
        reproduce disentanglement-tables
        reproduce disentanglement-tables --table 1""",
    "bench refused": """
        bench --dataset iris
        bench --dataset irris --method snn -o run
        bench --dataset iris --method bagging --preset huge -o run
        bench --dataset iris --method bagging --param bagging.n_members=0 -o run
        bench status nowhere""",
    "demo refused": """
        demo -o labels.npy
        demo --seed -1""",
    "no such command": """
        rnak
        rank
        rank --lables labels.npy
        rank de.npz --level
        rank nothing.npz --labels labels.npy""",
    "files refused": f"""
        rank labels.npy --labels labels.npy
        rank point.npz
        rank point.npz --labels short.npy
        rank point.npz --labels names.npy
        rank {ONE} --groups short.npy
        rank {ONE} --distance kll
        rank {ONE} --nonspecificity x
        rank {ONE} --score x
        rank {ONE} --calibration x
        rank {ONE} --tradeoff -1
        rank {ONE} --level 95
        rank {ONE} --subgroup site
        rank {ONE} --common-members 9
        rank broken.csv --labels labels.npy
        rank negative.npz --labels labels.npy
        rank sums.npz --labels labels.npy""",
    "options refused": f"""
        calibration-test {ONE} --null x
        calibration-test {ONE} --alpha 2
        second-order DE=de.npz --votes labels.npy
        second-order DE=de.npz
        refuse {ONE}
        refuse {ONE} --risk 1.5
        ood DE=de.npz
        ood DE=de.npz --out EDL=far.npz
        gain de.npz
        gain {GAIN} --loss x
        gain {GAIN} --binning x
        compare kept1
        tradeoff --cost 0.5 --no-abstention
        reproduce unified-tables --figure 1
        reproduce unified-tables --table 99
        inspect nothing.npz
        convert point.npz""",
}
# commands on a terminal of so many columns
TERMINALS = {
    "rank at 80": (80, f"rank {TWO} {QUICK}"),
    "rank at 40": (40, f"rank {TWO} {QUICK}"),
    "calibration-test at 60": (60, f"calibration-test {ONE} --draws 19"),
    "ood at 60": (60, f"ood {OOD}"),
    "second-order at 60": (60, "second-order DE=de.npz --votes votes.npy"),
    "gain at 60": (60, f"gain {GAIN}"),
    "compare at 60": (60, "compare one=kept1 two=kept2 three=kept3"),
    "reproduce at 80": (80, "reproduce unified-tables --preset smoke"),
}


@cache
def files() -> Path:
    """A folder with small files of every kind."""
    folder = Path(mkdtemp(prefix="golden-"))
    y, p = data.labels(N), data.members(N)
    mean = p.mean(axis=1)
    for name, values in {
        "labels": y,
        "wrong": (y + 1) % 3,
        "short": y[:7],
        "names": np.array(["a", "b", "c", "d"])[np.minimum(y + np.arange(N) % 2, 3)],
        "patients": data.groups(N),
        "weights": data.weights(N),
        "votes": data.votes(N),
        "members": p,
    }.items():
        np.save(folder / f"{name}.npy", values)
    np.savez(folder / "de.npz", probs=p)
    np.savez(folder / "again.npz", probs=data.members(N, skill=1.2))
    np.savez(folder / "far.npz", probs=0.4 * data.members(30, seed=6) + 0.2)
    np.savez(folder / "after.npz", probs=0.5 * mean + 0.5 * np.eye(3)[y])
    np.savez(folder / "point.npz", probs=p[:, 0])
    np.savez(folder / "negative.npz", probs=p[:, 0] - 0.2)
    np.savez(folder / "sums.npz", probs=0.9 * p[:, 0])
    np.savez(folder / "edl.npz", alpha=0.5 + 8.0 * mean)
    np.savez(folder / "intervals.npz", lower=p.min(axis=1), upper=p.max(axis=1))
    uq.save(data.prediction("Masses", N), folder / "masses.npz")
    (folder / "sites.csv").write_text("\n".join(["site", *data.sites(N)]) + "\n", encoding="utf-8")
    rows = [
        f"{i},{','.join(f'{v:.4f}' for v in q / q.sum())},{'abc'[c]}"
        for i, (q, c) in enumerate(zip(_exact(mean), y, strict=True))
    ]
    (folder / "table.csv").write_text("\n".join(["id,a,b,c,label", *rows]) + "\n", encoding="utf-8")
    (folder / "broken.csv").write_text("a,b\n0.5,0.5\n0.7\n", encoding="utf-8")
    for s in range(1, 4):
        models = {"m": data.members(30, seed=s), "p": data.members(30, seed=s)[:, 0]}
        uq.assay(models, data.labels(30, seed=s), calibration=(), n_draws=100).save(folder / f"kept{s}")
    gain_study("calibrated", n=60, n_runs=2).save(folder / "study")
    return folder


def _exact(p: np.ndarray) -> np.ndarray:
    """Probabilities with four decimals that sum to one."""
    q = np.floor(p * 1e4)
    q[:, 0] += 1e4 - q.sum(axis=1)
    return q / 1e4


class _Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(line: str, columns: int | None = None) -> str:
    """One command: what it prints and its exit code."""
    out, err = _Screen() if columns else io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = main(line.split())
        except SystemExit as leaving:
            code = leaving.code
    said = json_text(out.getvalue()) if "--json" in line else out.getvalue()
    complaint = f"-- standard error\n{err.getvalue()}" if err.getvalue() else ""
    return titled(f"uqassay {line}", f"{said.rstrip()}\n{complaint}-- exit code {code}")


def session(lines: str, columns: int | None = None) -> str:
    """Commands one after the other in one folder, and the new files of text."""
    environment = {"COLUMNS": str(columns or COLUMNS), "NO_COLOR": "1", "TERM": "xterm", "LINES": "40"}
    with TemporaryDirectory() as folder, patch.dict(os.environ, environment):
        place = Path(copytree(files(), Path(folder, "work")))
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
        with chdir(place):
            said = [run(line.strip(), columns) for line in lines.strip().splitlines()]
        new = sorted(path for path in place.rglob("*") if path.is_file() and path not in before)
        said += [titled(f"file {path.relative_to(place)}", _file_text(path)) for path in new]
        return "\n".join(said).replace(folder, "<folder>")


def _file_text(path: Path) -> str:
    if path.suffix == ".html":
        return "\n".join(page_text(path.read_text(encoding="utf-8")))
    if path.suffix in (".md", ".csv", ".jsonl", ".tex"):
        return path.read_text(encoding="utf-8")
    return "(numbers)"


def scenarios() -> Iterator[Scenario]:
    """Every command with its options, its help, and its refusals."""
    needs = ("typer", "rich", "pandas")
    for name, lines in SCREENS.items():
        yield Scenario(
            name, partial(session, lines), (*needs, *(("sklearn", "torch") if name.startswith("bench") else ()))
        )
    for name, (columns, line) in TERMINALS.items():
        yield Scenario(name, partial(session, line, columns), needs)
    for command in COMMANDS:
        yield Scenario(f"help of {command}", partial(session, f"{command} --help"), needs)
    yield Scenario("help", partial(session, "--help\n--version\nreproduce unified-tables --help"), needs)
