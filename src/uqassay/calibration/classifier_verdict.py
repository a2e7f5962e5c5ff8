"""Result of the test of calibration of one classifier."""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._json import plain
from uqassay._shown_table import ShownTable
from uqassay.calibration.direction import ConfidenceGap, Direction
from uqassay.calibration.monte_carlo import CALIBRATED, check_alpha, null_threshold, smallest_pvalue
from uqassay.calibration.shown_verdict import ShownVerdict, numbers_of_test
from uqassay.calibration.sign_null import n_patterns
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import Sides
from uqassay.notes import Note, reason
from uqassay.wording import counted, pvalue_text

__all__ = ["CalibrationTest"]

Floats = NDArray[np.float64]

UNKNOWN_GAP = ConfidenceGap(math.nan, math.nan, math.nan, math.nan)


@final
@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTest(ShownVerdict):
    """Result of `calibration_test`.

    Attributes
    ----------
    measure, notion : str
        Name of the measure, and the notion of calibration that it tests: "confidence", "classwise" or "strong".
    statistic : float
        The measure for the observed labels.
    pvalue : float
        Small if the classifier is not calibrated; nan if undefined, see `notes`.
    null : array (D,)
        The measure for labels drawn from the probabilities, or for random signs of the groups; empty for an asymptotic test.
    method : {"resampled", "signs", "asymptotic"}
        "signs" if there are groups.
    n_instances, n_classes : int
    notes : tuple of Note
        Limits of the result.
    n_draws : int
        Number of draws: of labels D; of signs of groups, or how many other patterns of signs there are; of signs in the
        asymptotic test of "skce-uq" and "skce-biased"; 0 in the other asymptotic tests.
    sides : {"upper", "both"}
        "both" if values below the expected one reject too, as for the Brier score and the log loss.
    n_groups : int
        0 without groups.
    gap : ConfidenceGap
        Mean confidence minus accuracy, with an interval and a p-value.
    """

    measure: str
    notion: str
    statistic: float
    pvalue: float
    null: Floats
    method: str
    n_instances: int
    n_classes: int
    notes: tuple[Note, ...]
    n_draws: int
    sides: Sides = "upper"
    n_groups: int = 0
    gap: ConfidenceGap = UNKNOWN_GAP

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that can be reached: 1 / (n_draws + 1), twice that with two sides; 0 without draws.

        With G groups it is at least 2 / 2^G.
        """
        return smallest_pvalue(self.n_draws, self.sides)

    @property
    def direction(self) -> Direction:
        """ "overconfident", "underconfident" or "": the sign of `gap`, if the test rejects and the sign can be told, both at
        5 %."""
        return self.direction_at(0.05)

    def direction_at(self, alpha: float) -> Direction:
        """The direction at another level. Of classifiers whose accuracy is their mean confidence a share α gets one at most."""
        return self.gap.direction(alpha) if self.pvalue <= alpha + 1e-12 else ""

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that the classifier is calibrated. An undefined p-value never rejects.

        Raises
        ------
        InputError
            The number of draws, or of groups, is too small for this level.
        """
        self._check(alpha)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """Critical value: the test rejects if the statistic exceeds it; with two sides the upper one of `thresholds`.

        nan for an asymptotic test.
        """
        return self.thresholds(alpha)[1]

    def thresholds(self, alpha: float = 0.05) -> tuple[float, float]:
        """Critical values: the test rejects if the statistic is below the first or above the second; nan if asymptotic."""
        self._check(alpha)
        if self.method == "asymptotic" or np.isnan(self.null).any():
            return float("nan"), float("nan")
        if self.sides == "upper":
            return -math.inf, null_threshold(self.null, alpha)
        return -null_threshold(-self.null, alpha / 2), null_threshold(self.null, alpha / 2)

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what, p = CALIBRATED.get(self.notion, self.notion), pvalue_text(self.pvalue)
        if math.isnan(self.pvalue):
            return f"Whether the classifier is {what} is undefined: {reason(self.notes)}."
        if self.smallest_pvalue > alpha + 1e-12:
            few = f"{self.n_groups} groups" if self._few_groups else f"{self.n_draws} draws"
            return f"{few} are too few to tell at this level whether the classifier is {what} ({p})."
        if self.reject(alpha):
            direction = self.direction_at(alpha)
            return f"The classifier is not {what} ({p}){f'; it is {direction}' if direction else ''}."
        return f"The test could not tell the classifier from one that is {what} ({p})."

    def _shown_title(self) -> str:
        on = f"{counted(self.n_instances, 'instance')} of {counted(self.n_classes, 'class', 'classes')}"
        return f"Calibration test by {self.measure} on {on}"

    def _shown_table(self) -> ShownTable:
        return numbers_of_test(self.statistic, self.pvalue, self.n_draws)

    @property
    def _few_groups(self) -> bool:
        """Whether all patterns of signs were enumerated, so that more draws would not help."""
        return self.method == "signs" and n_patterns(self.n_groups, self.n_draws, self.sides) == self.n_draws

    def _check(self, alpha: float) -> None:
        if self._few_groups and self.smallest_pvalue > alpha + 1e-12:
            raise InputError(
                "alpha",
                f"the smallest p-value that {self.n_groups} groups can reach is {self.smallest_pvalue:.4g}",
                f"got {alpha:g}",
                "test on more groups",
                code="range",
                facts={"n_groups": self.n_groups, "smallest": self.smallest_pvalue},
            )
        check_alpha(alpha, self.n_draws or 2**62, sides=self.sides)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "measure": self.measure,
            "notion": self.notion,
            "statistic": plain(self.statistic),
            "pvalue": plain(self.pvalue),
            "null": plain(self.null),
            "method": self.method,
            "n_instances": self.n_instances,
            "n_classes": self.n_classes,
            "n_draws": self.n_draws,
            "sides": self.sides,
            "n_groups": self.n_groups,
            "smallest_pvalue": self.smallest_pvalue,
            "direction": self.direction,
            "gap": {name: plain(value) for name, value in self.gap._asdict().items()},
            "notes": [note.to_dict() for note in self.notes],
        }
