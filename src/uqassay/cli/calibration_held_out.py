"""What the weights of a calibration test do on held-out instances, in a terminal and as plain values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from uqassay.cli.calibration_tables import measure_text
from uqassay.cli.streams import open_console, print_note
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.wording import ABSENT, count, interval, level_text, named, number, percent, pvalue

if TYPE_CHECKING:
    from uqassay.calibration.weighted_average import WeightedAverageEffect
    from uqassay.statistics import Estimate

__all__ = ["HeldOut", "print_held_out"]


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
        """Whether no weights were found, because the measure is undefined; then they have no effect."""
        return bool(np.isnan(self.effect.weights).any())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer; None for the effect of undefined weights."""
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
    console = open_console()
    console.print()
    if not effects:
        console.print(Text("Nothing to weigh: no model has several members or vertices.", "dim"))
        return
    console.print(Text(_title(effects[0].effect), "bold"))
    lines = [line for e in effects for line in _lines(e)]
    between = f"{level_text(level)} interval"
    columns = {
        "model": [line.model for line in lines],
        "of": [line.of for line in lines],
        "plain": [_value(line.plain, line.is_share) for line in lines],
        between: [_ends(line.plain, line.is_share) for line in lines],
        "weighted": [_value(line.weighted, line.is_share) for line in lines],
        f"{between} ": [_ends(line.weighted, line.is_share) for line in lines],
        "difference": [_signed(line.difference, line.is_share) for line in lines],
        f"{between}  ": [_ends(line.difference, line.is_share) for line in lines],
        "p": [pvalue(line.pvalue) for line in lines],
    }
    spare = ("plain", "weighted", "p", f"{between} ", between)
    table = fitted_table(columns, spare=spare, width=console.width, words=("of",))
    console.print(table)
    said = {
        "plain": "plain: average in which every member counts the same",
        "difference": "difference: weighted minus plain, of accuracies in percentage points",
        "p": "p: of all mixtures, where the weights were found",
    }
    console.print(Text(explained(said, table), "dim"))
    without = [name for name in models if name not in {e.model for e in effects}]
    if without:
        print_note(f"{', '.join(map(named, without))}: nothing to weigh")


# -- helpers ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Compared:
    """A line of the table; None where no weights were found. A share is shown in percent."""

    model: str
    of: str
    plain: "Estimate"
    weighted: "Estimate | None"
    difference: "Estimate | None"
    is_share: bool
    pvalue: float = math.nan


def _title(effect: "WeightedAverageEffect") -> str:
    n_weighed, n_held = len(effect.calibration_rows), len(effect.held_out_rows)
    return (
        f"Weights found on {count(n_weighed)} instance{'s' if n_weighed != 1 else ''}, and what they do on "
        f"{count(n_held)} held-out one{'s' if n_held != 1 else ''}"
    )


def _lines(e: HeldOut) -> list[_Compared]:
    """The accuracy and the error of one run."""
    name = printable(e.model if e.n_runs == 1 else f"{e.model}, run {e.run + 1}")
    effect = e.effect
    return [
        _Compared(
            model=name,
            of=f"accuracy, by {effect.measure}",
            plain=effect.accuracy,
            weighted=None if e.undefined else effect.accuracy_weighted,
            difference=None if e.undefined else effect.accuracy_difference.difference,
            is_share=True,
        ),
        _Compared(
            model=name,
            of=effect.measure,
            plain=effect.error,
            weighted=None if e.undefined else effect.error_weighted,
            difference=None if e.undefined else effect.error_difference,
            is_share=False,
            pvalue=effect.test.pvalue,
        ),
    ]


def _value(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None:
        return ABSENT
    return percent(float(estimate)) if is_share else measure_text(float(estimate))


def _signed(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None or math.isnan(float(estimate)):
        return ABSENT
    value = 100 * float(estimate) if is_share else float(estimate)
    text = number(value, 1) if is_share else measure_text(value)
    return f"+{text}" if text[0].isdigit() and value > 0 else text


def _ends(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None:
        return ABSENT
    if is_share:
        return interval(100 * estimate.low, 100 * estimate.high, 1)
    if math.isnan(estimate.low) or math.isnan(estimate.high) or estimate.low == estimate.high:
        return ABSENT
    return f"{measure_text(estimate.low)} to {measure_text(estimate.high)}"
