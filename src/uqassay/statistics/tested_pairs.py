"""Tests of the differences of pairs of means: Student's, Hall's for skewed values, and what instances not seen could turn."""

from typing import NamedTuple

import numpy as np
from scipy import special

from uqassay.statistics.pair_spreads import PairSpreads, satterthwaite
from uqassay.statistics.samples import Floats

__all__ = ["PairTests", "greatest", "pairs_tested"]


class PairTests(NamedTuple):
    """Results of P pairs, (P,) each."""

    error: Floats  # standard errors
    dof: Floats
    student: Floats  # p-values: with Satterthwaite's degrees of freedom, and with fewer for few runs
    student_of_runs: Floats
    hall: Floats
    hall_of_runs: Floats
    unseen: Floats

    @property
    def pvalues(self) -> tuple[Floats, ...]:
        """Those of each test, (P,)."""
        return (self.student, self.student_of_runs, self.hall, self.hall_of_runs, self.unseen)

    def reach(self, level: float) -> Floats:
        """Half the widths of the intervals."""
        dof = self.dof[:1] if (self.dof == self.dof[:1]).all() else self.dof
        return np.asarray(special.stdtrit(dof, 0.5 + level / 2) * self.error)


def pairs_tested(s: PairSpreads, extra: Floats, bound_a: Floats, bound_b: Floats) -> PairTests:
    """Tests of pairs, with the standard errors of another source and the greatest excess of either model, (P,) each."""
    dof, value = s.total_dof, s.difference
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        skewness = s.third / variance**1.5
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        error = np.where(still, 0.0, error)
        t = np.where(still, np.where(value == 0, 0.0, np.copysign(np.inf, value)), value / error)
    skewness = np.where(still, 0.0, skewness)
    student, hall = _student(t, dof), _hall(t, dof, skewness)
    student_of_runs, hall_of_runs = student, hall
    if s.several.any():
        fewer = np.minimum(dof, satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs))
        student_of_runs, hall_of_runs = _student(t, fewer), _hall(t, fewer, skewness)
    unseen = _unseen(value, np.where(value < 0, bound_a, bound_b), s.independent)
    return PairTests(error, dof, student, student_of_runs, hall, hall_of_runs, unseen)


def greatest(*pvalues: Floats) -> Floats:
    """The greatest of several p-values that is defined."""
    found = pvalues[0]
    for p in pvalues[1:]:
        found = np.fmax(found, p)
    return found


def _student(t: Floats, dof: Floats) -> Floats:
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(t)))


def _hall(t: Floats, dof: Floats, skewness: Floats) -> Floats:
    """Two-sided p-value of Hall's transform g(t) = t + kt²/3 + k²t³/27 + k/6, which is monotone."""
    with np.errstate(invalid="ignore", over="ignore"):
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
    g = np.where(np.isfinite(t), g, t)
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(g)))


def _unseen(difference: Floats, bound: Floats, independent: Floats) -> Floats:
    """Probability (B/(B + |d|))^n that n instances show nothing of what could turn the order around; 0 without a bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.exp(-independent * np.log1p(np.abs(difference) / bound))
    return np.where(bound > 0, np.where(difference == 0, 1.0, p), 0.0)
