"""Candidate thresholds of a refusal, in the order in which they are to be tested, chosen on one part of the data."""

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.statistics.binomial_bounds import binomial_pvalues, rejection_power, upper_error_rate
from uqassay.statistics.group_bets import bet_pvalues, chosen_bets, log_growth, sums_by_group, upper_rate_of_groups
from uqassay.statistics.samples import Floats, Units

__all__ = ["RefusalPlan", "Tested", "plan_refusal", "short_number"]

STEP = 0.01  # between candidates, as a share of the instances: each further test is one more chance to stop


class Tested(NamedTuple):
    """Errors, instances kept and p-value at each candidate threshold, (T,) each."""

    errors: Floats
    kept: Floats
    pvalues: Floats


@final
@dataclass(frozen=True, eq=False)
class RefusalPlan:
    """Thresholds in ascending order, each tested only if those before it were certified.

    Build it with `plan_refusal`.

    Attributes
    ----------
    risk, alpha : float
        Greatest error rate of the instances kept, and the level of the tests.
    thresholds : array (T,)
        The last one is infinite, which keeps everything.
    coverage : array (T,)
        Share kept of the choosing part.
    promise : tuple of float
        Share kept at the highest threshold that is likely to be certified (0 if none is), and the power or evidence at the
        first threshold. Plans of several scores are compared by it.
    bets : array (T,) or None
        Bets of the test for groups; None for independent instances.
    largest : float
        Size of the largest group.
    """

    risk: float
    alpha: float
    thresholds: Floats
    coverage: Floats
    promise: tuple[float, float]
    bets: Floats | None = None
    largest: float = 1.0

    def test(self, errors: Floats, uncertainty: Floats, units: Units) -> Tested:
        """Test every candidate on the other part of the data."""
        if self.bets is None or units.codes is None:
            ranked = rank_errors(errors, uncertainty)
            wrong, kept = _counts(ranked, self.thresholds)
            return Tested(wrong, kept, binomial_pvalues(wrong, kept, self.risk))
        w, k = _by_group(errors, uncertainty, self.thresholds, units)
        return Tested(w.sum(axis=0), k.sum(axis=0), bet_pvalues(w, k, self.risk, self.bets, self.largest))

    def upper_bound(self, at: int, errors: Floats, uncertainty: Floats, units: Units) -> float:
        """Upper bound of the risk at one candidate, from the other part of the data, for this candidate alone."""
        threshold = self.thresholds[at : at + 1]
        if self.bets is None or units.codes is None:
            wrong, kept = _counts(rank_errors(errors, uncertainty), threshold)
            return float(upper_error_rate(wrong, kept, 1 - self.alpha)[0])
        w, k = _by_group(errors, uncertainty, threshold, units)
        return upper_rate_of_groups(w[:, 0], k[:, 0], self.risk, float(self.bets[at]), self.largest, self.alpha)

    def groups_needed(self, errors: Floats, uncertainty: Floats, units: Units) -> float | None:
        """Groups like these that would certify the first candidate; None if the evidence does not grow with them."""
        assert self.bets is not None
        w, k = _by_group(errors, uncertainty, self.thresholds[:1], units)
        growth = float(log_growth(w, k, self.risk, self.bets[:1], self.largest).mean())
        return float(-np.log(self.alpha)) / growth if growth > 0 else None


def plan_refusal(
    errors: Floats,
    uncertainty: Floats,
    units: Units,
    *,
    risk: float,
    alpha: float,
    n_other: int,
    largest: float = 1.0,
) -> RefusalPlan:
    """Choose the candidates on the choosing part of the data.

    The first candidate is the one most likely to be certified. The others follow in steps of 1 % of the instances.

    Parameters
    ----------
    errors, uncertainty : array (n,)
        Of the choosing part.
    units : Units
        Instances or groups of this part.
    risk, alpha : float
    n_other : int
        Number of units in the part that certifies.
    largest : float
        Size of the largest group in both parts.
    """
    ranked = rank_errors(errors, uncertainty)
    rows = _spaced(ranked.coverage)
    thresholds, coverage = _between(ranked.thresholds, rows), ranked.coverage[rows]
    if units.codes is None:
        bets, enough = None, 0.5
        evidence = _power(ranked, rows, risk, alpha, n_other)
    else:
        bets, growth = chosen_bets(*_by_group(errors, uncertainty, thresholds, units), risk, largest)
        enough, evidence = 1.0, growth * n_other / -np.log(alpha)
    start = int(np.argmax(evidence))
    if evidence[start] == 0:  # the other part is too small for any threshold: take the one with the least doubt
        start = int(np.argmin(binomial_pvalues(ranked.wrong[rows], ranked.kept[rows], risk)))
    likely = np.flatnonzero(evidence[start:] >= enough)
    promise = (float(coverage[start + likely[-1]]) if likely.size else 0.0, float(evidence[start]))
    bets = None if bets is None else bets[start:]
    return RefusalPlan(risk, alpha, thresholds[start:], coverage[start:], promise, bets, largest)


def short_number(low: float, high: float) -> float:
    """A number between low and high with few digits, so that a threshold can be written down; low if there is none.

    Examples
    --------
    >>> short_number(0.43127, 0.43954), short_number(2.0, 3.0), short_number(0.5, float("inf"))
    (0.435, 2.5, 0.5)
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return low
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        found = float(f"{middle:.{digits}g}")
        if low < found < high:
            return found
    return low


# -- parts -------------------------------------------------------------------------------------------------------------


def _power(ranked: RankedErrors, rows: NDArray[np.intp], risk: float, alpha: float, n_other: int) -> Floats:
    """Power of the binomial test in the other part at thresholds that keep the values up to these rows."""
    wrong, kept = ranked.wrong[rows], ranked.kept[rows]
    expected = np.floor(kept * (n_other / ranked.kept[-1]))
    return rejection_power((wrong + 0.5) / (kept + 1), expected, risk, alpha)


def _spaced(coverage: Floats) -> NDArray[np.intp]:
    """Rows whose coverages are about a step apart, and the last."""
    at = np.arange(1, round(1 / STEP)) * STEP
    rows = np.searchsorted(coverage, at * (1 - 1e-12))
    return np.unique(np.append(rows, coverage.size - 1))


def _between(values: Floats, rows: NDArray[np.intp]) -> Floats:
    """Thresholds that keep the values up to these rows and no others; infinite at the last value."""
    after = np.append(values[1:], np.inf)
    found = [short_number(*pair) for pair in zip(values[rows].tolist(), after[rows].tolist(), strict=True)]
    if rows[-1] == values.size - 1:
        found[-1] = np.inf
    return np.array(found)


def _counts(ranked: RankedErrors, thresholds: Floats) -> tuple[Floats, Floats]:
    """Errors and instances kept at thresholds."""
    at = np.searchsorted(ranked.thresholds, thresholds, side="right")
    return np.append(0.0, ranked.wrong)[at], np.append(0.0, ranked.kept)[at]


def _by_group(errors: Floats, uncertainty: Floats, thresholds: Floats, units: Units) -> tuple[Floats, Floats]:
    """Errors and instances kept of each group at thresholds, (G, T) each."""
    assert units.codes is not None
    shape = (units.n_units, thresholds.size)
    # each instance is counted from the first threshold that keeps it
    first = np.searchsorted(thresholds, uncertainty)
    inside = first < thresholds.size
    cells = units.codes[inside] * thresholds.size + first[inside]
    sums = [
        sums_by_group(cells, shape[0] * shape[1], values[inside]).reshape(shape).cumsum(axis=1)
        for values in (errors, np.ones_like(errors))
    ]
    return sums[0], sums[1]
