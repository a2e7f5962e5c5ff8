"""Calibration tests as tables and sentences: the tests, the weights, the single members."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from uqassay.cli.tables import add_names, explained, fitted_table, plain_table
from uqassay.cli.text import printable
from uqassay.wording import ABSENT, number, percent, pvalue, significant

if TYPE_CHECKING:
    from uqassay.evidence import ModelCalibration
    from uqassay.evidence.calibration_statements import JudgedTest

__all__ = [
    "measure_text",
    "members_table",
    "shown_names",
    "table_of_tests",
    "verdict_word",
    "weights_table",
]

SHOWN_WEIGHTS = 8  # on one line; of more members the greatest
DECIMALS, GREATEST = 4, 1e6  # of values of measures; from GREATEST on they are written with a power of ten
ROOM = 52  # width of the table of single members with a verdict on each
ROUNDING = 1e-12  # p-values are ratios of whole numbers: one that equals the level in print equals it


def measure_text(value: float) -> str:
    """The value of a measure: all with the same number of decimals, but for huge ones.

    Examples
    --------
    >>> [measure_text(v) for v in (0.25, 0.00001, 2.4411e31, float("inf"), float("nan"))]
    ['0.2500', '<0.0001', '2.441e+31', '∞', '–']
    """
    if GREATEST <= abs(value) < math.inf:
        return significant(value, DECIMALS)
    return number(value, DECIMALS, bounded=True)


def verdict_word(p: float, alpha: float) -> str:
    """Whether a p-value rejects, in words.

    Examples
    --------
    >>> verdict_word(0.01, 0.05), verdict_word(0.5, 0.05), verdict_word(float("nan"), 0.05)
    ('rejected', 'not rejected', '–')
    """
    if math.isnan(p):
        return ABSENT
    return "rejected" if p <= alpha + ROUNDING else "not rejected"


def table_of_tests(judged: Sequence["JudgedTest"], alpha: float, width: int) -> tuple[Table, str]:
    """A row for each test, in as many columns as there is room for, and the explanation of the columns.

    Parameters
    ----------
    judged : sequence of JudgedTest
    alpha : float
        Level of the verdicts.
    width : int
        Columns of the terminal.
    """
    tests = [j.test for j in judged]
    verdicts = [verdict_word(j.adjusted, alpha) for j in judged]
    at = f"at {alpha:.3g}"
    mixed = [j.mixed for j in judged]
    columns = {
        "model": [printable(name) for name in shown_names(tests)],
        "measure": [test.measure for test in tests],
        "value": [measure_text(test.statistic) for test in tests],
        "p": [pvalue(j.adjusted) for j in judged],
        at: verdicts,
        "of the mean": [measure_text(test.mean_value) if m else ABSENT for test, m in zip(tests, mixed, strict=True)],
        "its p": [pvalue(test.mean_pvalue) if m else ABSENT for test, m in zip(tests, mixed, strict=True)],
        "tested": [_tested(test) for test in tests],
        "width": [number(test.width) for test in tests],
    }
    table = fitted_table(
        columns,
        spare=("of the mean", "its p", "tested", "width"),
        width=width,
        styles=["bold" if v == "rejected" else "" for v in verdicts],
        words=("measure", at, "tested"),
    )
    n_tests = sum(not math.isnan(j.adjusted) for j in judged)
    adjusted = f", adjusted by Holm for the {n_tests} tests" if n_tests > 1 else ""
    said = {
        "value": "value: the least over all mixtures, or that of the mean",
        "p": f"p: share of the draws from calibrated probabilities with as great a value{adjusted}",
        "of the mean": "of the mean: of the model's own mean, tested alone, not adjusted",
        "width": "width: mean of upper minus lower probability",
    }
    return table, explained(said, table)


def weights_table(tests: Sequence["ModelCalibration"], width: int) -> Table:
    """The mixture with the least value of each test, and what it does to the accuracy."""
    table = plain_table()
    names = [printable(name) for name in shown_names(tests)]
    add_names(table, names, max(12, width // 3))
    table.add_column("measure", overflow="fold")
    table.add_column("weights", overflow="fold")
    table.add_column("accuracy", justify="right", no_wrap=True)
    for name, test in zip(names, tests, strict=True):
        accuracy = f"{percent(test.accuracy_mean)} → {percent(test.accuracy_weighted)}"
        table.add_row(Text(name), test.measure, _weights(test), accuracy)
    return table


def members_table(judged: "JudgedTest", alpha: float, width: int) -> Table:
    """Values and p-values of every single member and of the mean, each alone, and of the mixture with the least value."""
    test = judged.test
    table = plain_table()
    for header in ("member", "weight", "value", "p"):
        table.add_column(header, justify="right", no_wrap=True)
    with_verdict = width >= ROOM
    if with_verdict:
        table.add_column(f"at {alpha:.3g}", no_wrap=True)

    def add(which: str, weight: str, value: float, p: float) -> None:
        cells = [which, weight, measure_text(value), pvalue(p)]
        table.add_row(*cells, *([verdict_word(p, alpha)] if with_verdict else []))

    weights = [ABSENT if math.isnan(w) else number(w, 2) for w in test.weights.tolist()]
    members = zip(weights, test.member_values.tolist(), test.member_pvalues.tolist(), strict=True)
    for m, (weight, value, p) in enumerate(members):
        add(str(m + 1), weight, value, p)
    add("own mean", "", test.mean_value, test.mean_pvalue)
    add("best mixture", "", test.statistic, judged.adjusted)
    return table


def shown_names(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Names of the models, with the run where several were tested."""
    runs: dict[str, set[int]] = {}
    for test in tests:
        runs.setdefault(test.model, set()).add(test.run)
    return [test.model if len(runs[test.model]) == 1 else f"{test.model}, run {test.run + 1}" for test in tests]


def _weights(test: "ModelCalibration") -> str:
    """All weights, or the greatest of many with the numbers of their members."""
    weights = test.weights
    if len(weights) <= SHOWN_WEIGHTS:
        return " ".join(number(w, 2) for w in weights)
    order = np.argsort(-weights, kind="stable")[: SHOWN_WEIGHTS - 2]
    shown = [int(m) for m in order if weights[m] >= 0.005]
    rest = 1.0 - float(weights[shown].sum())
    others = f", {number(rest, 2)} on the other {len(weights) - len(shown)}" if rest >= 0.005 else ""
    return ", ".join(f"{number(weights[m], 2)} on {m + 1}" for m in shown) + others


def _tested(test: "ModelCalibration") -> str:
    return {"mixtures": f"{test.n_members} {test.noun}", "mean": "the mean"}.get(test.tested, "nothing")
