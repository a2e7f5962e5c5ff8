"""The size of the calibration error of each model's mean, and where it lies, in a terminal and as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from uqassay.cli.streams import open_console
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.wording import decimals_for, interval, level_text, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from uqassay.metrics import Reliability
    from uqassay.predictions import Prediction
    from uqassay.statistics import Estimate

__all__ = ["ErrorOfMean", "errors_of_means", "print_errors"]


@dataclass(frozen=True)
class ErrorOfMean:
    """Calibration error of the confidence of one run's mean.

    Attributes
    ----------
    model : str
    run, n_runs : int
        0 for the first.
    ece, rms : Estimate
        Expected and root-mean-square calibration error.
    diagram : Reliability
    """

    model: str
    run: int
    n_runs: int
    ece: "Estimate"
    rms: "Estimate"
    diagram: "Reliability"

    @property
    def name(self) -> str:
        """The model, with the run where there are several."""
        return self.model if self.n_runs == 1 else f"{self.model}, run {self.run + 1}"

    @property
    def of_calibrated(self) -> float:
        """ECE of a calibrated classifier on these instances, on average; nan if it is not known."""
        return next((n.facts["calibrated"] for n in self.ece.notes if n.code == "bias"), float("nan"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "model": self.model,
            "run": self.run + 1,
            "ece": self.ece.to_dict(),
            "ece_of_calibrated": self.of_calibrated,
            "rms_calibration_error": self.rms.to_dict(),
            "sentence": self.diagram.sentence(),
        }


def errors_of_means(
    models: "Mapping[str, Sequence[Prediction]]",
    labels: "NDArray[Any]",
    groups: "NDArray[Any] | None",
    rows: "NDArray[Any]",
    level: float,
) -> list[ErrorOfMean]:
    """The errors of every run on the chosen rows."""
    from uqassay.metrics import calibration_error_estimate, reliability_diagram

    own = None if groups is None else groups[rows]
    found = []
    for name, runs in models.items():
        for r, run in enumerate(runs):
            y, p = labels[rows], run[rows].mean_probs()
            ece, rms = (calibration_error_estimate(y, p, norm=norm, groups=own, level=level) for norm in ("l1", "l2"))
            found.append(ErrorOfMean(name, r, len(runs), ece, rms, reliability_diagram(y, p, groups=own, level=level)))
    return found


def print_errors(errors: Sequence[ErrorOfMean], level: float) -> None:
    """A table of the errors with their intervals, and a sentence on each model."""
    console = open_console()
    console.print()
    console.print(Text("Calibration error of the confidence, of the mean", "bold"))
    places = decimals_for((e.low, e.high) for error in errors for e in (error.ece, error.rms))
    at = f"{level_text(level)} interval"
    columns = {
        "model": [printable(error.name) for error in errors],
        "ECE": [number(error.ece, places) for error in errors],
        at: [interval(error.ece.low, error.ece.high, places) for error in errors],
        "by chance": [number(error.of_calibrated, places) for error in errors],
        "RMS": [number(error.rms, places) for error in errors],
        f"{at} ": [interval(error.rms.low, error.rms.high, places) for error in errors],
    }
    table = fitted_table(columns, spare=("by chance", "RMS", f"{at} "), width=console.width)
    console.print(table)
    said = {
        "ECE": "ECE: mean gap of ten bins, which noise makes too large",
        "by chance": "by chance: ECE of a calibrated classifier on these instances, on average",
        "RMS": "RMS: root of the mean square gap without the part of noise",
    }
    console.print(Text(explained(said, table), "dim"))
    console.print()
    for error in errors:
        start = f"{printable(error.name)}: " if len(errors) > 1 else ""
        console.print(Text(f"{start}{error.diagram.sentence()}"))
    told = f"all claims on one model's bins hold together at {level_text(level)}; ranges are those of ten bins"
    console.print(Text(told, "dim"))
