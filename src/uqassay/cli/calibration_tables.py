"""Calibration tests in a terminal: a table of the tests, what they say in words, the weights, members, held-out effects."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from uqassay.calibration.monte_carlo import CALIBRATED, pvalue_text
from uqassay.cli import terminal
from uqassay.cli.text import ABSENT, fixed, interval, percent, printable, pvalue

if TYPE_CHECKING:
    from uqassay.assay.calibration import ModelCalibration
    from uqassay.calibration.weighted_average import WeightedAverageEffect
    from uqassay.statistics import Estimate

__all__ = ["HeldOut", "print_held_out", "print_tests", "rejects", "sentence", "table_of_tests"]

SHOWN_WEIGHTS = 8  # on one line; of more members the greatest
DECIMALS = 4
ROOM = 52  # columns that single members and a verdict of each take


@dataclass(frozen=True)
class HeldOut:
    """What the weights of one run do on held-out instances.

    Attributes
    ----------
    model : str
    run, n_runs : int
        0 for the first.
    effect : WeightedAverageEffect
    """

    model: str
    run: int
    n_runs: int
    effect: "WeightedAverageEffect"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        e = self.effect
        names = ("accuracy", "accuracy_weighted", "error", "error_weighted", "error_difference")
        return {
            "model": self.model,
            "run": self.run + 1,
            "measure": e.measure,
            "n_weighed": len(e.calibration_rows),
            "n_held_out": len(e.held_out_rows),
            "weights": e.weights,
            "pvalue": e.test.pvalue,
            **{name: getattr(e, name).to_dict() for name in names},
            "accuracy_difference": e.accuracy_difference.difference.to_dict(),
        }


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
        return f"Whether {subject} is {what} is undefined: {test.note}."
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
        "value": [fixed(test.statistic, DECIMALS) for test in tests],
        "p": [pvalue(test.pvalue) for test in tests],
    }
    if adjusted is not None:
        columns["p (Holm)"] = [pvalue(p) for p in adjusted]
    columns[f"at {alpha:.3g}"] = verdicts
    mixed = [test.tested == "mixtures" for test in tests]
    columns["of the mean"] = [
        fixed(test.mean_value, DECIMALS) if m else ABSENT for test, m in zip(tests, mixed, strict=True)
    ]
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
        "p": "p: share of calibrated classifiers' draws as great",
        "p (Holm)": f"adjusted for {sum(not math.isnan(p) for p in followed)} tests",
        "of the mean": "of the mean: of the plain mean alone",
        "width": "width: mean of upper minus lower probability",
    }
    headers = [str(column.header) for column in table.columns]
    return table, "; ".join(words for name, words in said.items() if name in headers)


def print_tests(tests: Sequence["ModelCalibration"], alpha: float, null: str, *, members: bool) -> None:
    """The tests as a table, in words, with the weights, single members where they were tested, and notes."""
    console = terminal._console(sys.stdout)
    first = tests[0]
    draws = f"{first.n_draws:,} draws of labels, null {null}"
    console.print(Text(f"Calibration tests on {first.n_tested:,} of {first.n_instances:,} instances; {draws}", "bold"))
    table, words = table_of_tests(tests, alpha, console.width)
    console.print(table)
    if len(tests) > 1:
        words += f"; each test on its own, not adjusted for the {len(tests)}"
    console.print(Text(words, "dim"))
    console.print()
    for test in tests:
        console.print(Text(printable(sentence(test, alpha)), "bold" if rejects(test, alpha) else ""))
    mixed = [test for test in tests if test.tested == "mixtures"]
    if any(rejects(test, alpha) and test.mean_pvalue > alpha for test in mixed):
        why = (
            "compares the least value with what is least for calibrated mixtures, and can see what a test of one cannot"
        )
        console.print(Text(f"Where the plain mean alone is not rejected, the test of all mixtures {why}.", "dim"))
    if mixed:
        console.print()
        console.print(Text("Weights with the least value", "bold"))
        console.print(_weights_table(mixed, console.width))
        console.print(Text("accuracy on the same instances, of the plain mean and of the mixture", "dim"))
    if members:
        for test in mixed:
            if len(test.member_values):
                _print_members(console, test, alpha, tests)
    notes = _notes(tests)
    if notes:
        console.print()
    for note in notes:
        console.print(Text.assemble(("Note: ", "yellow"), printable(note)))


def print_held_out(effects: Sequence[HeldOut], tests: Sequence["ModelCalibration"], level: float) -> None:
    """Accuracy and calibration error of the plain and the weighted average on held-out instances."""
    console = terminal._console(sys.stdout)
    console.print()
    if not effects:
        console.print(Text("Nothing to weigh: no model has several members or vertices.", "dim"))
        return
    first = effects[0].effect
    n_weighed, n_held = len(first.calibration_rows), len(first.held_out_rows)
    console.print(
        Text(f"Weights found on {n_weighed:,} instances, and what they do on {n_held:,} held-out ones", "bold")
    )
    lines: list[tuple[str, str, Estimate, Estimate, Estimate, bool]] = []
    for e in effects:
        name = printable(e.model if e.n_runs == 1 else f"{e.model}, run {e.run + 1}")
        f = e.effect
        difference = f.accuracy_difference.difference
        by = f"accuracy, by {f.measure}"
        lines.append((name, by, f.accuracy, f.accuracy_weighted, difference, True))
        lines.append((name, f.measure, f.error, f.error_weighted, f.error_difference, False))
    between = f"{100 * level:g} % interval"
    columns = {
        "model": [name for name, *_ in lines],
        "of": [what for _, what, *_ in lines],
        "plain": [_value(plain, share) for _, _, plain, _, _, share in lines],
        between: [_ends(plain, share) for _, _, plain, _, _, share in lines],
        "weighted": [_value(weighted, share) for _, _, _, weighted, _, share in lines],
        f"{between} ": [_ends(weighted, share) for _, _, _, weighted, _, share in lines],
        "difference": [_signed(difference, share) for *_, difference, share in lines],
        f"{between}  ": [_ends(difference, share) for *_, difference, share in lines],
    }
    table = terminal.fitted(columns, spare=(2, 4, 5, 3), width=console.width, styles=[""] * len(lines), words=("of",))
    console.print(table)
    console.print(Text("difference: weighted minus plain average; accuracy in percent", "dim"))
    without = sorted({test.model for test in tests} - {e.model for e in effects})
    if without:
        console.print(Text.assemble(("Note: ", "yellow"), printable(f"{', '.join(without)}: nothing to weigh.")))


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
    return ", ".join(f"{weights[m]:.2f} on {m}" for m in shown) + others


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
    lines = [(str(m), f"{test.weights[m]:.2f}", values[m], pvalues[m]) for m in range(len(values))]
    lines.append(("plain mean", "", test.mean_value, test.mean_pvalue))
    lines.append(("best mixture", "", test.statistic, test.pvalue))
    for which, weight, value, p in lines:
        verdict = ABSENT if math.isnan(p) else "rejected" if p <= alpha + 1e-12 else "not rejected"
        table.add_row(*(which, weight, fixed(value, DECIMALS), pvalue(p), verdict)[: len(headers)])
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
    """Each note once, with the models it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for test in tests:
        for note in filter(None, test.note.split("; ")):
            if test.model not in about.setdefault(note, []):
                about[note].append(test.model)
    n = len({test.model for test in tests})
    return [f"{'' if len(names) == n else ', '.join(names) + ': '}{note}." for note, names in about.items()]


def _value(estimate: "Estimate", share: bool) -> str:
    return percent(float(estimate)) if share else fixed(float(estimate), DECIMALS)


def _signed(estimate: "Estimate", share: bool) -> str:
    value = float(estimate)
    if math.isnan(value):
        return ABSENT
    return f"{100 * value:+.1f}" if share else f"{value:+.{DECIMALS}f}"


def _ends(estimate: "Estimate", share: bool) -> str:
    if not share:
        return interval(estimate, DECIMALS)
    if math.isnan(estimate.low) or estimate.low == estimate.high:
        return ABSENT
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
