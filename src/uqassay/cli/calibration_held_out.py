"""What the weights of a calibration test do on held-out instances, in a terminal and as plain values."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.text import Text

from uqassay.cli import terminal
from uqassay.cli.calibration_tables import number
from uqassay.cli.text import ABSENT, percent, printable, pvalue

if TYPE_CHECKING:
    from uqassay.calibration.weighted_average import WeightedAverageEffect
    from uqassay.statistics import Estimate

__all__ = ["HeldOut", "print_held_out"]

NAN = float("nan")


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

    @property
    def undefined(self) -> bool:
        """Whether no weights were found, for the measure is undefined: then what they do is nothing to be told."""
        return bool(np.isnan(self.effect.weights).any())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer; None for what undefined weights would do."""
        e = self.effect
        found = {
            "accuracy": e.accuracy,
            "accuracy_weighted": e.accuracy_weighted,
            "error": e.error,
            "error_weighted": e.error_weighted,
            "error_difference": e.error_difference,
            "accuracy_difference": e.accuracy_difference.difference,
        }
        alone = ("accuracy", "error")
        return {
            "model": self.model,
            "run": self.run + 1,
            "measure": e.measure,
            "n_weighed": len(e.calibration_rows),
            "n_held_out": len(e.held_out_rows),
            "weights": e.weights,
            "pvalue": e.test.pvalue,
            "null_kind": e.test.null_kind,
            "n_draws": e.test.n_draws,
            **{
                name: None if self.undefined and name not in alone else estimate.to_dict()
                for name, estimate in found.items()
            },
        }


def print_held_out(effects: Sequence[HeldOut], models: Sequence[str], level: float) -> None:
    """Accuracy and calibration error of the plain and the weighted average on held-out instances."""
    console = terminal._console(sys.stdout)
    console.print()
    if not effects:
        console.print(Text("Nothing to weigh: no model has several members or vertices.", "dim"))
        return
    first = effects[0].effect
    n_weighed, n_held = len(first.calibration_rows), len(first.held_out_rows)
    console.print(
        Text(
            f"Weights found on {n_weighed:,} instance{'s' if n_weighed != 1 else ''}, and what they do on {n_held:,} held-out "
            f"one{'s' if n_held != 1 else ''}",
            "bold",
        )
    )
    lines: list[_Compared] = []
    for e in effects:
        name = printable(e.model if e.n_runs == 1 else f"{e.model}, run {e.run + 1}")
        f = e.effect
        weighted, difference = f.accuracy_weighted, f.accuracy_difference.difference
        lines.append(_Compared(name, f"accuracy, by {f.measure}", f.accuracy, weighted, difference, True, NAN))
        weighted, difference, p = f.error_weighted, f.error_difference, f.test.pvalue
        lines.append(_Compared(name, f.measure, f.error, weighted, difference, False, p))
        if e.undefined:
            lines[-2:] = [line._replace(weighted=None, difference=None) for line in lines[-2:]]
    between = f"{100 * level:g} % interval"
    columns = {
        "model": [line.model for line in lines],
        "of": [line.of for line in lines],
        "plain": [_value(line.plain, line.share) for line in lines],
        between: [_ends(line.plain, line.share) for line in lines],
        "weighted": [_value(line.weighted, line.share) for line in lines],
        f"{between} ": [_ends(line.weighted, line.share) for line in lines],
        "difference": [_signed(line.difference, line.share) for line in lines],
        f"{between}  ": [_ends(line.difference, line.share) for line in lines],
        "p": [pvalue(line.pvalue) for line in lines],
    }
    table = terminal.fitted(
        columns, spare=(2, 4, 8, 5, 3), width=console.width, styles=[""] * len(lines), words=("of",)
    )
    console.print(table)
    said = {
        "plain": "plain: average in which every member counts the same",
        "difference": "difference: weighted minus plain, of accuracies in percentage points",
        "p": "p: of all mixtures, where the weights were found",
    }
    headers = [str(column.header) for column in table.columns]
    console.print(Text("; ".join(words for name, words in said.items() if name in headers), "dim"))
    without = [name for name in models if name not in {e.model for e in effects}]
    if without:
        console.print(Text.assemble(("Note: ", "yellow"), printable(f"{', '.join(without)}: nothing to weigh.")))


# -- helpers ------------------------------------------------------------------------------------------------------------


class _Compared(NamedTuple):
    """A line of the table of held-out instances; None where no weights were found."""

    model: str
    of: str
    plain: "Estimate"
    weighted: "Estimate | None"
    difference: "Estimate | None"
    share: bool
    pvalue: float


def _value(estimate: "Estimate | None", share: bool) -> str:
    if estimate is None:
        return ABSENT
    return percent(float(estimate)) if share else number(float(estimate))


def _signed(estimate: "Estimate | None", share: bool) -> str:
    if estimate is None or math.isnan(float(estimate)):
        return ABSENT
    value = float(estimate)
    return f"{100 * value:+.1f}" if share else f"{'+' if value > 0 else ''}{number(value)}"


def _ends(estimate: "Estimate | None", share: bool) -> str:
    if estimate is None or math.isnan(estimate.low) or math.isnan(estimate.high) or estimate.low == estimate.high:
        return ABSENT
    ends = (f"{100 * end:.1f}" if share else number(end) for end in (estimate.low, estimate.high))
    return " to ".join(ends)
