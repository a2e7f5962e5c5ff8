"""Result of the credal calibration test."""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._json import plain
from uqassay._shown_table import ShownTable
from uqassay.calibration.credal_nulls import BETA
from uqassay.calibration.direction import ONE_SIDE, UPPER_ALONE
from uqassay.calibration.monte_carlo import CALIBRATED, check_alpha, null_threshold, smallest_pvalue
from uqassay.calibration.shared_members import independence
from uqassay.calibration.shown_verdict import ShownVerdict, numbers_of_test
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import Sides
from uqassay.notes import Note
from uqassay.wording import counted, pvalue_text

__all__ = ["CredalCalibrationTest"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class CredalCalibrationTest(ShownVerdict):
    """Result of `credal_calibration_test`.

    Attributes
    ----------
    measure, notion : str
        Name of the measure, and the notion of calibration that it tests: "confidence", "classwise" or "strong".
    statistic : float
        Least value of the measure over all mixtures, for the observed labels.
    pvalue : float
        Small if no mixture is calibrated; nan if undefined, see `notes`.
    weights : array (M,)
        The λ that has the least value.
    null : array (D,)
        The statistic under the null hypothesis; for "minimised", "sequential" and "berger-boos" at the λ with the greatest
        p-value, for "sequential" upper bounds of most values below the statistic.
    null_kind : {"minimised", "sequential", "random", "berger-boos", "single"}
        Source of the null draws; "single" for one member, where nothing is minimised.
    convention : {"exact", "paper-code"}
    n_instances, n_members, n_classes : int
    noun : str
        The distributions that are mixed: "members" or "vertices".
    search_spread : float
        Range of the minima that independent searches found for the observed labels, divided by the standard deviation of the
        null. inf if that deviation is 0 or undefined and the minima differ; nan after a single search, or without a minimum.
    evaluations : int
        Number of mixtures that all searches evaluated.
    width : float
        Mean over instances and classes of the upper minus the lower probability of the credal set.
    notes : tuple of Note
        What limits the result.
    sides : {"upper", "both"}
        Whether small values of the statistic count against calibration as well; "both" only for one member and a score.
    planned_draws : int or None
        Draws D that a sequential test makes at most; None where all are made.
    """

    measure: str
    notion: str
    statistic: float
    pvalue: float
    weights: Floats
    null: Floats
    null_kind: str
    convention: str
    n_instances: int
    n_members: int
    n_classes: int
    noun: str
    search_spread: float
    evaluations: int
    width: float
    notes: tuple[Note, ...] = ()
    sides: Sides = "upper"
    planned_draws: int | None = None

    @property
    def n_draws(self) -> int:
        """Number of null draws made; D, or fewer in a sequential test."""
        return len(self.null)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that D draws can reach: 1 / (D + 1), twice that with two sides; with "berger-boos" plus .001."""
        return 0.0 if self.convention == "paper-code" else smallest_pvalue(self._most_draws, self.sides) + self._offset

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that some mixture is calibrated. An undefined p-value never rejects.

        Raises
        ------
        InputError
            The number of draws is too small for this level.
        """
        if self.convention == "paper-code":
            return bool(abs(self.statistic) > self.threshold(alpha))
        check_alpha(alpha, self._most_draws, offset=self._offset, sides=self.sides)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """Critical value: the test rejects if the statistic exceeds it (in the authors' code, if its absolute value does).

        With two sides it is the upper one of the two critical values.
        """
        if self.convention == "paper-code":
            check_alpha(alpha, 2**62)
            return float(np.quantile(self.null, 1 - alpha))
        if self.planned_draws is not None:
            raise InputError(
                "null",
                "must be one whose draws are all made and searched to the end, for a critical value",
                "got 'sequential'",
                'test with null="minimised"',
                code="conflict",
            )
        return null_threshold(self.null, alpha if self.sides == "upper" else alpha / 2, offset=self._offset)

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what = CALIBRATED.get(self.notion, self.notion)
        p = f"{pvalue_text(self.pvalue)}{independence(self.notes)}"
        one_side = ONE_SIDE if UPPER_ALONE in self.notes else ""
        one = self.n_members == 1
        if math.isnan(self.pvalue):
            return f"Whether {'the classifier' if one else f'some mixture of the {self.noun}'} is {what} is undefined."
        if self.smallest_pvalue > alpha + 1e-12:
            return f"{self._most_draws} draws are too few to tell at this level whether a mixture is {what} ({p})."
        if self.reject(alpha):
            subject = "The classifier is not" if one else f"No mixture of the {self.n_members} {self.noun} is"
            return f"{subject} {what} ({p})."
        if one:
            return f"The test could not tell the classifier from one that is {what} ({p})."
        top = int(self.weights.argmax())
        return (
            f"The {self.n_members} {self.noun} can be weighted so that the test could not tell their mixture from one that "
            f"is {what} ({p}; greatest weight {self.weights[top]:.2f}, on number {top}){one_side}."
        )

    def _shown_title(self) -> str:
        on = f"{counted(self.n_instances, 'instance')} of {counted(self.n_classes, 'class', 'classes')}"
        return f"Credal calibration test of {self.n_members} {self.noun} by {self.measure} on {on}"

    def _shown_table(self) -> ShownTable:
        return numbers_of_test(self.statistic, self.pvalue, self.n_draws)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "measure": self.measure,
            "notion": self.notion,
            "statistic": plain(self.statistic),
            "pvalue": plain(self.pvalue),
            "weights": plain(self.weights),
            "null": plain(self.null),
            "null_kind": self.null_kind,
            "convention": self.convention,
            "n_instances": self.n_instances,
            "n_members": self.n_members,
            "n_classes": self.n_classes,
            "noun": self.noun,
            "n_draws": self.n_draws,
            "planned_draws": self.planned_draws,
            "smallest_pvalue": self.smallest_pvalue,
            "sides": self.sides,
            "search_spread": plain(self.search_spread),
            "evaluations": self.evaluations,
            "width": self.width,
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def _most_draws(self) -> int:
        return self.n_draws if self.planned_draws is None else self.planned_draws

    @property
    def _offset(self) -> float:
        return BETA if self.null_kind == "berger-boos" else 0.0
