"""Tables of the epistemic gain paper's protocol: toy data, shares of the discs, mismatch studies, EMNIST, small data.

Run: python -m benchmarks.gain_tables [digits] [toy] [shares] [mismatch] [--resume FOLDER] [--store]
     python -m benchmarks.gain_tables emnist --data emnist.npz [--resume FOLDER] [--store]

Runs are those of `uqassay reproduce epistemic-gain`; a number is the mean over the runs ± their standard deviation, with its
95 % interval in brackets, and a change is paired. --store keeps the tables for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.gain.plan import chosen
from uqassay.lab.papers.gain.printed import printed_mean
from uqassay.lab.papers.gain.run import planned
from uqassay.lab.papers.gain.tables import ESTIMATORS, WORDS, GainRow
from uqassay.lab.papers.trainings import train_cells
from uqassay.metrics import TrueUncertainty
from uqassay.statistics import mean_estimate, spearman_estimate
from uqassay.text import interval, number, percent

GOLDEN = "benchmarks.gain_tables:golden"
PAIR = [WORDS[name] for name in ESTIMATORS]
STUDIES = {"toy": "without mismatch", "toy-mismatch-1": "1", "toy-mismatch-2": "2"}
SAMPLES = {"emnist-bymerge": "ByMerge", "emnist-bymerge-balanced": "balanced sample"}

Rows = Callable[..., list[GainRow]]


def golden() -> object:
    """The least protocol there is."""
    return reproduce("epistemic-gain", preset="smoke", spread=0.35).rows


def rows_in(folder: Path) -> Rows:
    """Rows of the protocol by its options; what is trained is kept in a folder."""

    def rows(*, runs: int | None = None, **asked: Any) -> list[GainRow]:
        plans = planned(chosen(**asked), runs, 0)
        train_cells([cell for one in plans for cell in one.cells], folder, workers=1, say=_say)
        return [row for one in plans if (row := one.row(folder)) is not None]

    return rows


# ---- tables ----------------------------------------------------------------------------------------------------------


def digits(rows: Rows) -> Table:
    """Small data that are not the paper's."""
    body = []
    for row in rows(dataset=["digits", "mnist-10k"], method=["local-gp", "random-forest", "deep-ensemble"]):
        rho = [_with_interval(row, name, "correlation") for name in ESTIMATORS]
        errors = [_mean(row, name, "eece") for name in ESTIMATORS]
        calibrated = ", ".join(_mean(row, name, "calibrated") for name in ESTIMATORS)
        body.append([f"{row.label.replace('mnist', 'MNIST')}, {row.method.label}", *rho, *errors, calibrated])
    columns = ("", *(f"ρ, {name}" for name in PAIR), *(f"EECE, {name}" for name in PAIR), "calibrated EECE of both")
    return Table(columns, body)


def toy(rows: Rows) -> Table:
    """Table 1 of the paper."""
    body = [
        [f"printed, {WORDS[name]}", _printed("toy", name, "correlation"), _printed("toy", name, "eece"), "",
         _printed("toy", name, "calibrated")]
        for name in ESTIMATORS
    ]  # fmt: skip
    asked = [{"method": "local-gp"}, {"method": "local-gp-learnt", "spread": 0.35}]
    for row in [row for one in asked for row in rows(**one)]:
        learnt = ", learnt" if row.method.name == "local-gp-learnt" else ""
        for name in ESTIMATORS:
            cells = [_in_full(row, name, column) for column in ("correlation", "eece", "calibrated")]
            cells.insert(2, _mean(row, name, "eece-bits"))
            body.append([f"spread {row.spread:g}{learnt}, {WORDS[name]}", *cells])
    return Table(("", "ρ", "EECE, nats", "EECE, bits", "calibrated EECE"), body)


def shares(rows: Rows) -> Table:
    """What the share of the discs that stays in D_train does, which the paper does not print."""
    given = (0.01, 0.05, 0.1, 0.2, 0.5)
    body = [
        _by_share(f"{row.plan.train_share}", row)
        for row in rows(method="local-gp", spread=0.35, train_share=given, runs=1)
    ]
    body += [_by_share("from 0.01 to 0.5", row) for row in rows(method="local-gp", spread=0.35, runs=1)]
    for row in rows(method=["local-gp", "local-gp-learnt"], spread=0.35, train_share="random"):
        learnt = ", kernel learnt" if row.method.name == "local-gp-learnt" else ""
        body.append(_by_share(f"random{learnt}, {row.study.n_runs} seeds", row))
    ends = ("ρ, true EU", "gain other than 0", "mean gain")
    return Table(("p", *(f"ρ, {name}" for name in PAIR), *ends, *(f"EECE, {name}" for name in PAIR)), body)


def mismatch(rows: Rows) -> Table:
    """The two mismatch studies beside the runs without one."""
    found = rows(dataset=["toy-mismatch-1", "toy-mismatch-2"], method="local-gp")
    body = []
    for row in sorted(found, key=lambda row: (-(row.spread or 0), row.plan.name)):
        (reference,) = (one for one in found if one.plan.name == "toy" and one.spread == row.spread)
        cells = [
            _mean(row, name, column) if row is reference else _moved(row, reference, name, column)
            for column in ("correlation", "calibrated")
            for name in ESTIMATORS
        ]
        body.append([f"{row.spread:g}, {STUDIES[row.plan.name]}", *cells])
    columns = [f"{what}, {name}" for what in ("ρ", "calibrated EECE") for name in PAIR]
    return Table(("spread, study", *columns), body)


def emnist(rows: Rows, data: str) -> Table:
    """Table 2 of the paper beside other images of the same classes."""
    columns = ("correlation", "eece", "calibrated")
    printed = [_printed("emnist-balanced", name, column) for column in columns for name in ESTIMATORS]
    body = [["printed (EMNIST Balanced)", *printed]]
    for dataset, methods in {
        "emnist-bymerge": ["local-gp", "deep-ensemble", "random-forest"],
        "emnist-bymerge-balanced": ["local-gp", "local-gp-learnt", "random-forest", "deep-ensemble"],
    }.items():
        for row in rows(dataset=dataset, method=methods, data=data):
            cells = [_with_sd(row, name, column) for column in columns for name in ESTIMATORS]
            body.append([f"{SAMPLES[dataset]}, {row.method.label}", *cells])
    return Table(("", *(f"{what}, {name}" for what in ("ρ", "EECE", "calibrated") for name in PAIR)), body)


COSTS = {
    "digits": "two minutes of a core",
    "toy": "about 20 minutes of a core",
    "shares": "about 20 minutes of a core",
    "mismatch": "about 20 minutes of a core",
    "emnist": "half an hour of a core",
}

# ---- cells -----------------------------------------------------------------------------------------------------------


def _by_share(words: str, row: GainRow) -> list[str]:
    def over(values: Sequence[float]) -> str:
        found = np.array(values)
        return number(float(found[0])) if len(found) == 1 else f"{number(found.mean())} ± {number(found.std(ddof=1))}"

    gains = [run.test.gain["zero-one"] for run in row.study.runs]
    truths = [run.test.truth for run in row.study.runs]
    known = [truth.epistemic for truth in truths if isinstance(truth, TrueUncertainty)]
    true = over([float(spearman_estimate(eu, gain)) for eu, gain in zip(known, gains, strict=True)])
    changed = percent(float(np.mean([(gain != 0).mean() for gain in gains])))
    mean = number(float(np.mean([gain.mean() for gain in gains])))
    rho, errors = (
        [over(row.values[name, column].per_run) for name in ESTIMATORS] for column in ("correlation", "eece")
    )
    return [words, *rho, true, changed, mean, *errors]


def _moved(row: GainRow, reference: GainRow, name: str, column: str) -> str:
    """A mean, and the paired change."""
    found = mean_estimate(row.values[name, column].per_run - reference.values[name, column].per_run)
    return f"{_mean(row, name, column)}, by {number(float(found))} ({interval(found.low, found.high)})"


def _mean(row: GainRow, name: str, column: str) -> str:
    return number(float(row.values[name, column].estimate))


def _with_sd(row: GainRow, name: str, column: str) -> str:
    return f"{_mean(row, name, column)} ± {number(row.values[name, column].sd)}"


def _with_interval(row: GainRow, name: str, column: str) -> str:
    found = row.values[name, column].estimate
    return f"{number(float(found))} ({interval(found.low, found.high)})"


def _in_full(row: GainRow, name: str, column: str) -> str:
    found = row.values[name, column].estimate
    return f"{_with_sd(row, name, column)} ({interval(found.low, found.high)})"


def _printed(data: str, name: str, column: str) -> str:
    found = printed_mean(data, name, column)
    return "" if found is None else f"{number(found.mean)} ± {number(found.sd)}"


def _say(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gain_tables", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("table", nargs="+", choices=list(COSTS))
    parser.add_argument("--data", help="file with the images of EMNIST ByMerge")
    parser.add_argument("--resume", type=Path, help="folder that keeps what is trained")
    parser.add_argument("--store", action="store_true", help="keep the tables for the guide")
    told = parser.parse_args(arguments)
    if "emnist" in told.table and told.data is None:
        parser.error("emnist needs --data FILE, the images of EMNIST ByMerge")
    make: dict[str, Callable[[Rows], Table]] = {
        "digits": digits,
        "toy": toy,
        "shares": shares,
        "mismatch": mismatch,
        "emnist": lambda rows: emnist(rows, told.data),
    }
    with tempfile.TemporaryDirectory() as kept:
        for name in told.table:
            table = make[name](rows_in(told.resume or Path(kept)))
            print("\n".join([f"gain-{name}:", *table.markdown(), ""]), flush=True)
            if told.store:
                data = " --data emnist.npz" if name == "emnist" else ""
                command = f"python -m benchmarks.gain_tables {name}{data} --store"
                store(f"gain-{name}", table, Source(command, GOLDEN, COSTS[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
