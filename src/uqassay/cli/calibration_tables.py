"""Calibration tests in a terminal: a table of the tests, what they say in words, the weights, members."""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from uqassay.calibration.monte_carlo import CALIBRATED, pvalue_text
from uqassay.cli import terminal
from uqassay.cli.text import ABSENT, fixed, percent, printable, pvalue

if TYPE_CHECKING:
    from uqassay.evidence.calibration_tests import CalibrationPlan, ModelCalibration

__all__ = ["number", "print_tests", "rejects", "sentence", "table_of_tests"]

SHOWN_WEIGHTS = 8  # on one line; of more members the greatest
DECIMALS = 4
LEAST, GREATEST = 1e-3, 1e6  # sizes between which a number is read best with as many decimals as the others
ROOM = 52  # columns that single members and a verdict of each take


def rejects(test: "ModelCalibration", alpha: float) -> bool:
    """Whether a test rejects at this level, on its own; an undefined p-value rejects nothing."""
    return test.pvalue <= alpha + 1e-12


def sentence(test: "ModelCalibration", alpha: float) -> str:
    """One test in words.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9)
    >>> sentence(a.calibration[0], 0.05)
    'm is not confidence calibrated (ece-confidence, p = .001).'
    """
    what, by = CALIBRATED.get(test.notion, f"{test.notion} calibrated"), test.measure
    p = pvalue_text(test.pvalue)
    mixed = test.tested == "mixtures"
    subject = f"some mixture of the {test.n_members} {test.noun} of {test.model}" if mixed else test.model
    if math.isnan(test.pvalue):
        return f"Whether {subject} is {what} is undefined: {test.reason}."
    if rejects(test, alpha):
        none = f"No mixture of the {test.n_members} {test.noun} of {test.model} is" if mixed else f"{test.model} is not"
        return f"{none} {what} ({by}, {p})."
    if mixed:
        return f"The test could not tell {subject} from one that is {what} ({by}, {p})."
    return f"The test could not tell {subject} from a classifier that is {what} ({by}, {p})."


def table_of_tests(
    tests: Sequence["ModelCalibration"], alpha: float, width: int, adjusted: Sequence[float] | None = None
) -> tuple[Table, str]:
    """A row for each test, in as many columns as there is room for, and what the columns are.

    `adjusted` are p-values that the verdict follows instead of those of the single tests.
    """
    followed = [test.pvalue for test in tests] if adjusted is None else list(adjusted)
    words = {True: "rejected", False: "not rejected"}
    verdicts = [ABSENT if math.isnan(p) else words[p <= alpha + 1e-12] for p in followed]
    columns = {
        "model": [printable(name) for name in _names(tests)],
        "measure": [test.measure for test in tests],
        "value": [number(test.statistic) for test in tests],
        "p": [pvalue(test.pvalue) for test in tests],
    }
    if adjusted is not None:
        columns["p (Holm)"] = [pvalue(p) for p in adjusted]
    columns[f"at {alpha:.3g}"] = verdicts
    mixed = [test.tested == "mixtures" for test in tests]
    columns["of the mean"] = [number(test.mean_value) if m else ABSENT for test, m in zip(tests, mixed, strict=True)]
    columns["its p"] = [pvalue(test.mean_pvalue) if m else ABSENT for test, m in zip(tests, mixed, strict=True)]
    columns["tested"] = [_tested(test) for test in tests]
    columns["width"] = [fixed(test.width, 3) for test in tests]
    last = len(columns) - 1
    styles = ["bold" if v == "rejected" else "" for v in verdicts]
    table = terminal.fitted(
        columns,
        spare=(last - 3, last - 2, last - 1, last),
        width=width,
        styles=styles,
        words=("measure", f"at {alpha:.3g}", "tested"),
    )
    said = {
        "value": "value: the least over all mixtures, or that of the mean",
        "p": "p: share of the draws from calibrated probabilities with as great a value",
        "p (Holm)": f"adjusted for {sum(not math.isnan(p) for p in followed)} tests",
        "of the mean": "of the mean: of the model's own mean, tested alone",
        "width": "width: mean of upper minus lower probability",
    }
    headers = [str(column.header) for column in table.columns]
    return table, "; ".join(words for name, words in said.items() if name in headers)


def print_tests(
    tests: Sequence["ModelCalibration"], alpha: float, plan: "CalibrationPlan", *, null: str | None = None
) -> None:
    """The tests as a table, in words, with the weights, single members where they were tested, and notes.

    `null` is the null distribution that was asked for.
    """
    console = terminal._console(sys.stdout)
    first, mixed = tests[0], [test for test in tests if test.tested == "mixtures"]
    draws = f"{first.n_draws:,} draws of labels"
    if plan.convention == "paper-code":
        draws += ", as in the authors' code"
    elif mixed:
        draws += f", null {plan.null}"
    console.print(Text(f"Calibration tests on {first.n_tested:,} of {first.n_instances:,} instances; {draws}", "bold"))
    table, words = table_of_tests(tests, alpha, console.width)
    console.print(table)
    if len(tests) > 1:
        words += f"; each test on its own, not adjusted for the {len(tests)}"
    console.print(Text(words, "dim"))
    console.print()
    for test in tests:
        console.print(Text(printable(sentence(test, alpha)), "bold" if rejects(test, alpha) else ""))
    if any(rejects(test, alpha) and test.mean_pvalue > alpha for test in mixed):
        why = (
            "compares the least value with what is least for calibrated mixtures, and can see what a test of one cannot"
        )
        console.print(Text(f"Where the mean alone is not rejected, the test of all mixtures {why}.", "dim"))
    weighed = [test for test in mixed if not np.isnan(test.weights).any()]
    if weighed:
        console.print()
        console.print(Text("Weights with the least value", "bold"))
        console.print(_weights_table(weighed, console.width))
        console.print(
            Text(
                "of member 1, 2 and so on; accuracy on the same instances, of the model's own mean and of the mixture",
                "dim",
            )
        )
    for test in mixed:
        if len(test.member_values):
            _print_members(console, test, alpha, tests)
    notes = _notes(tests)
    alone = dict.fromkeys(test.model for test in tests if test.tested != "mixtures")
    if null is not None and alone and plan.convention == "exact":
        notes.append(
            f"{', '.join(alone)}: no mixtures, so labels are drawn from the mean itself, whatever --null says."
        )
    memberless = dict.fromkeys(test.model for test in tests if not len(test.member_values))
    if plan.members and memberless:
        notes.append(f"{', '.join(memberless)}: no single members to test.")
    if notes:
        console.print()
    for note in notes:
        console.print(Text.assemble(("Note: ", "yellow"), printable(note)))


# -- helpers ------------------------------------------------------------------------------------------------------------


def _weights_table(tests: Sequence["ModelCalibration"], width: int) -> Table:
    table = terminal._table()
    terminal.add_names(table, (names := [printable(name) for name in _names(tests)]), max(12, width // 3))
    table.add_column("measure", overflow="fold")
    table.add_column("weights", overflow="fold")
    table.add_column("accuracy", justify="right", no_wrap=True)
    for name, test in zip(names, tests, strict=True):
        accuracy = f"{percent(test.accuracy_mean)} → {percent(test.accuracy_weighted)}"
        table.add_row(Text(name), test.measure, _weights(test), accuracy)
    return table


def _weights(test: "ModelCalibration") -> str:
    """All weights, or the greatest of many with their numbers."""
    weights = test.weights
    if len(weights) <= SHOWN_WEIGHTS:
        return " ".join(f"{w:.2f}" for w in weights)
    order = np.argsort(-weights, kind="stable")[: SHOWN_WEIGHTS - 2]
    shown = [int(m) for m in order if weights[m] >= 0.005]
    rest = 1.0 - float(weights[shown].sum())
    others = f", {rest:.2f} on the other {len(weights) - len(shown)}" if rest >= 0.005 else ""
    return ", ".join(f"{weights[m]:.2f} on {m + 1}" for m in shown) + others


def _print_members(console: Any, test: "ModelCalibration", alpha: float, tests: Sequence["ModelCalibration"]) -> None:
    """Values and p-values of every member beside those of the mean and of the mixture."""
    name = next(n for n, t in zip(_names(tests), tests, strict=True) if t is test)
    console.print()
    console.print(Text(printable(f"Single {test.noun} of {name} by {test.measure}"), "bold"))
    table = terminal._table()
    headers = ["member", "weight", "value", "p", *([f"at {alpha:.3g}"] if console.width >= ROOM else [])]
    for header in headers:
        table.add_column(header, justify="left" if header.startswith("at ") else "right", no_wrap=True)
    values, pvalues = test.member_values.tolist(), test.member_pvalues.tolist()
    weights = [ABSENT if math.isnan(w) else f"{w:.2f}" for w in test.weights]
    lines = [(str(m + 1), weights[m], values[m], pvalues[m]) for m in range(len(values))]
    lines.append(("own mean", "", test.mean_value, test.mean_pvalue))
    lines.append(("best mixture", "", test.statistic, test.pvalue))
    for which, weight, value, p in lines:
        verdict = ABSENT if math.isnan(p) else "rejected" if p <= alpha + 1e-12 else "not rejected"
        table.add_row(*(which, weight, number(value), pvalue(p), verdict)[: len(headers)])
    console.print(table)


def _names(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Names of the models, with the run where several were tested."""
    runs: dict[str, set[int]] = {}
    for test in tests:
        runs.setdefault(test.model, set()).add(test.run)
    return [test.model if len(runs[test.model]) == 1 else f"{test.model}, run {test.run + 1}" for test in tests]


def _tested(test: "ModelCalibration") -> str:
    return f"{test.n_members} {test.noun}" if test.tested == "mixtures" else "the mean"


def _notes(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Each note once, with the models, and measures, that it is about unless it is about all."""
    about: dict[str, list[ModelCalibration]] = {}
    for test in tests:
        for note in filter(None, test.note.split("; ")):
            about.setdefault(note, []).append(test)
    found = []
    for note, those in about.items():
        names = []
        for model in dict.fromkeys(test.model for test in those):
            measures = dict.fromkeys(test.measure for test in those if test.model == model)
            all_of_it = len(measures) == len({test.measure for test in tests if test.model == model})
            names.append(
                model if all_of_it or note.startswith(tuple(measures)) else f"{model} by {', '.join(measures)}"
            )
        found.append(f"{'' if len(those) == len(tests) else ', '.join(names) + ': '}{note}.")
    return found


def number(value: float) -> str:
    """A value of a measure: with as many decimals as the others, or with its power of ten.

    Examples
    --------
    >>> [number(v) for v in (0.25, 123.45678, 0.000123, 2.4411e31, float("inf"), float("nan"))]
    ['0.2500', '123.4568', '0.00012', '2.441e+31', '∞', '–']
    """
    if 0 < abs(value) < LEAST:
        return f"{value:.2g}"
    return f"{value:.4g}" if GREATEST <= abs(value) < math.inf else fixed(value, DECIMALS)
