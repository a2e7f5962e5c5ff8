"""Tests of differences of means against a margin, and what they say of a pair: better, equivalent, no worse, worse."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.pair_spreads import PairSpreads, satterthwaite
from uqassay.statistics.samples import Floats, is_number

__all__ = ["MarginPairs", "MarginTest", "MarginVerdict", "check_margin", "checked_bound", "margins_tested"]

MarginVerdict = Literal["better", "equivalent", "no worse", "worse", "cannot tell"]


@final
@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether a mean loss is no more than a margin above another one; made by `paired_margin_test`.

    Attributes
    ----------
    difference : Estimate
        Mean of a − b with its 1 − 2α interval of Student's t, which lies inside the margins where the t tests show equivalence.
    margin : float
        δ > 0.
    pvalue_no_worse : float
        Of the hypothesis that a is worse than b by the margin or more. Rejected: a is no worse than b by more than δ.
    pvalue_no_better : float
        Of the hypothesis that b is worse than a by the margin or more.
    pvalue_difference : float
        Two-sided, of equal means, with the same guards.
    alpha : float
        1 − level.
    limited_by : str
        What keeps a from being shown no worse where Student's t alone would show it: "skewness", "unseen" losses, too few
        "runs", or "".
    n : int
    notes : tuple of Note
    """

    difference: Estimate
    margin: float
    pvalue_no_worse: float
    pvalue_no_better: float
    pvalue_difference: float
    alpha: float
    limited_by: str
    n: int
    notes: tuple[Note, ...] = ()

    @property
    def pvalue_equivalent(self) -> float:
        """Of the hypothesis that the means differ by the margin or more: the greater of both one-sided p-values."""
        return float(np.maximum(self.pvalue_no_worse, self.pvalue_no_better))

    @property
    def verdict(self) -> MarginVerdict:
        """The first of these that is shown at level α.

        "better": a has the lower mean. "equivalent": the means differ by less than the margin. "no worse": a is worse by less
        than the margin, if at all. "worse": a has the greater mean. Else "cannot tell".
        """
        apart = self.pvalue_difference <= self.alpha
        if apart and self.difference < 0:
            return "better"
        if self.pvalue_equivalent <= self.alpha:
            return "equivalent"
        if self.pvalue_no_worse <= self.alpha:
            return "no worse"
        return "worse" if apart and self.difference > 0 else "cannot tell"


class MarginPairs(NamedTuple):
    """One-sided p-values of P pairs, (P,) each."""

    student: Floats  # Student's alone
    skew: Floats  # Hall's
    runs: Floats  # Student's and Hall's with the fewer degrees of freedom of few runs
    both: Floats
    unseen: Floats

    @property
    def pvalue(self) -> Floats:
        """The greatest."""
        return np.maximum(np.maximum(self.runs, self.both), self.unseen)

    def limits(self, alpha: float) -> list[str]:
        """What alone keeps each pair from being shown."""
        lost = (self.student <= alpha) & ~(self.pvalue <= alpha)
        seen = np.where(self.runs > self.skew, "runs", "skewness")
        why = np.where(self.unseen >= np.maximum(self.runs, self.skew), "unseen", seen)
        return [str(reason) for reason in np.where(lost, why, "")]


def margins_tested(s: PairSpreads, extra: Floats, bound: Floats, margin: float) -> MarginPairs:
    """One-sided tests of a − b ≥ margin against a − b < margin, for P pairs; for use inside this room and by `evidence`.

    Parameters
    ----------
    s : PairSpreads
    extra : array (P,)
        Standard errors of another source.
    bound : array (P,)
        Greatest excess of a over b on one instance; 0 for no guard.
    margin : float
        May be negative or 0.
    """
    d = s.difference
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        t = np.where(still, np.where(d == margin, 0.0, np.copysign(np.inf, d - margin)), (d - margin) / error)
        skewness = np.where(still, 0.0, s.third / variance**1.5)
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
        g = np.where(np.isfinite(t), g, t)
        gap = margin - d
        # a share q of instances with the excess B, of which n independent ones show nothing: q ≥ (margin − d)/(B − d)
        shown = np.exp(s.independent * (np.log(np.maximum(bound - margin, 0.0)) - np.log(bound - d)))
        shown = np.where(np.isinf(bound), 1.0, shown)
    dof = s.total_dof
    careful = dof
    if s.several.any():
        careful = np.minimum(dof, satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs))
    unseen = np.where(bound > 0, np.where(gap > 0, np.where(bound > margin, shown, 0.0), 1.0), 0.0)
    return MarginPairs(
        np.asarray(special.stdtr(dof, t)),
        np.asarray(special.stdtr(dof, g)),
        np.asarray(special.stdtr(careful, t)),
        np.asarray(special.stdtr(careful, g)),
        np.asarray(unseen),
    )


def check_margin(margin: float, level: float) -> float:
    """The margin, which must be a positive and finite number; the level must be above ½.

    Raises
    ------
    InputError
    """
    if not level > 0.5:
        raise InputError(
            "level", "must be above 0.5 where a margin is given", f"got {level}", "pass 0.95 for 95 %", code="range"
        )
    if not (is_number(margin) and 0.0 < margin < np.inf):
        raise InputError(
            "margin",
            "must be a positive number",
            f"got {margin!r}",
            "pass the greatest difference that does not matter, in units of the loss",
            code="range",
        )
    return float(margin)


def checked_bound(bound: float) -> float:
    """A bound, which must be a number that is not negative. For use inside this room.

    Raises
    ------
    InputError
    """
    if not (is_number(bound) and bound >= 0):
        raise InputError("bound", "must not be negative", f"got {bound!r}", "pass the loss's range", code="range")
    return float(bound)
