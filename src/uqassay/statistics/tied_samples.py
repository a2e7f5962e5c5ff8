"""Samples whose scores are mostly tied: what instances not yet seen could do to a statistic.

If all errors have the same score, their influences are equal and the estimated variance vanishes, although further errors may
have other scores. The interval of a share has the same problem at 0 and 1. Wilson's interval solves it by the variance under
the hypothesis in place of the estimated one. Here the hypothesis is the sample with an added share of unseen instances.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.statistics.independent_parts import is_plain
from uqassay.statistics.samples import Floats, Spread, Units

__all__ = [
    "TiedSample",
    "Unseen",
    "averaged_samples",
    "tied_share",
    "ties_of",
    "unseen_of",
    "unseen_reach",
    "unseen_variance",
]

ROUNDING = 1e-12
LEAST_TIED = 1e-3  # a smaller probability of ties changes no interval visibly


@final
@dataclass(frozen=True, eq=False)
class TiedSample:
    """One sample of a statistic, such as the errors, with the place that every instance would have in it.

    Attributes
    ----------
    shift : callable
        Function that gives the change of the statistic if the whole sample had the score of this instance, (n,). Only samples
        with ties need it.
    inside : array (n,)
        Membership of each instance in the sample: 1, 0, or a share in between.
    level : int array (n,) or None
        Instances of one level have one score; None if all scores differ.
    ties : callable or None
        Function of units that gives the `ties_of` this sample, where several statistics share them.
    """

    shift: Callable[[], Floats]
    inside: Floats | NDArray[np.bool_]
    level: NDArray[np.intp] | None
    ties: Callable[[Units], tuple[float, float]] | None = None

    def times(self, factor: float) -> "TiedSample":
        """The same sample of a multiple of the statistic."""
        return replace(self, shift=lambda: factor * self.shift())


@final
@dataclass(frozen=True, slots=True)
class Unseen:
    """What instances not yet seen could add to one sample of a statistic. Build it with `unseen_of`.

    Attributes
    ----------
    tied : float
        Probability that two members of the sample, of different units, tie.
    size : float
        Effective number of units.
    below, above : float
        Mean square over mean of the distances of all instances below and above the mean of the sample; 0 if there is none.
    variance : float
        Of one member.
    """

    tied: float
    size: float
    below: float
    above: float
    variance: float

    def times(self, factor: float) -> "Unseen":
        """The same for a multiple of the statistic."""
        below, above = (self.below, self.above) if factor > 0 else (self.above, self.below)
        return Unseen(self.tied, self.size, abs(factor) * below, abs(factor) * above, factor**2 * self.variance)

    def added(self, distance: float, moved: float) -> float:
        """Variance that unseen instances at a distance add if they move the statistic so far."""
        slope = distance - self.variance / distance if distance > 0 else 0.0
        return max(self.tied * moved * (slope - moved) / self.size, 0.0)

    def reach(self, distance: float, error: float, quantile: float) -> float:
        """Distance Δ with Δ² = q² (se² + added(Δ)), the end of the interval of the score test."""
        slope = distance - self.variance / distance if distance > 0 else 0.0
        k = quantile**2 * self.tied / self.size
        reach = (0.5 * k * slope + float(np.hypot(0.5 * k * slope, (1 + k) ** 0.5 * quantile * error))) / (1 + k)
        return max(reach, quantile * error)


def tied_share(ordered: Floats) -> float:
    """Probability that two of these sorted values tie; 1 for a single value."""
    m = ordered.size
    if m == 1:
        return 1.0
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    counts = np.diff(ends, prepend=-1, append=m - 1).astype(np.float64)
    return min(float(counts @ counts - m) / (float(m) * m - m), 1.0)


def averaged_samples(runs: Sequence[TiedSample]) -> TiedSample:
    """The sample of the mean of several statistics; instances tie if they do in every run."""
    if len(runs) == 1:
        return runs[0]
    level = runs[0].level
    for run in runs[1:]:
        if level is None or run.level is None:
            level = None
        else:
            _, level = np.unique(level * (int(run.level.max()) + 1) + run.level, return_inverse=True)

    def shift() -> Floats:
        return np.asarray(np.mean([run.shift() for run in runs], axis=0))

    return TiedSample(shift, np.asarray(np.mean([run.inside for run in runs], axis=0, dtype=np.float64)), level)


def unseen_of(samples: Sequence[TiedSample], units: Units) -> tuple[Unseen, ...]:
    """What unseen instances could add to each sample; samples without ties are left out."""

    found = []
    for sample in samples:
        if sample.level is None and is_plain(units) and np.count_nonzero(sample.inside >= 0.5) > 1:
            continue  # two members, of which no two tie
        tied, size = ties_of(sample.inside, sample.level, units) if sample.ties is None else sample.ties(units)
        if tied <= LEAST_TIED:
            continue
        inside, shift = _members(sample.inside, units), units.keep(sample.shift())
        total = float(inside.sum())
        mean = float((inside * shift).sum()) / total
        variance = float((inside * (shift - mean) ** 2).sum()) / total
        sides = (np.maximum(-shift, 0.0), np.maximum(shift, 0.0))
        below, above = (_distance(beyond, _weighted(beyond, units)) for beyond in sides)
        found.append(Unseen(tied, size, below, above, variance))
    return tuple(found)


def ties_of(inside: Floats | NDArray[np.bool_], level: NDArray[np.intp] | None, units: Units) -> tuple[float, float]:
    """`tied` and `size` of `Unseen`, from the `inside` and the `level` of a `TiedSample`."""
    members = _members(inside, units)
    total, by_unit = float(members.sum()), members
    if units.codes is not None:
        by_unit = np.bincount(units.codes, weights=members).astype(np.float64)
    square = float(by_unit @ by_unit)
    if square == 0.0:
        return 0.0, 0.0  # no members
    pairs, share = total**2 - square, 1.0  # of different units; a single unit ties with itself
    if pairs > ROUNDING * square:
        share = min(_tied_pairs(members, level, units) / pairs, 1.0)
    return share, total**2 / square


def _members(inside: Floats | NDArray[np.bool_], units: Units) -> Floats:
    """Weighted membership of the rows of positive weight."""
    return _weighted(units.keep(np.asarray(inside, dtype=np.float64)), units)


def _weighted(values: Floats, units: Units) -> Floats:
    return values if units.weights is None else units.weights * values


def _tied_pairs(inside: Floats, level: NDArray[np.intp] | None, units: Units) -> float:
    """Weight of the pairs of different units that tie, from the weighted membership."""
    if level is None:
        return 0.0
    level = level if units.rows is None else level[units.rows]
    by_cell = inside
    if units.codes is not None:
        _, cell = np.unique(units.codes * (int(level.max()) + 1) + level, return_inverse=True)
        by_cell = np.bincount(cell, weights=inside).astype(np.float64)
    by_level = np.bincount(level, weights=inside)
    return float(by_level @ by_level) - float(by_cell @ by_cell)


def _distance(beyond: Floats, weighted: Floats) -> float:
    first = float(weighted.sum())
    return float((weighted * beyond).sum()) / first if first > ROUNDING else 0.0


def unseen_reach(unseen: Sequence[Unseen], spread: Spread, level: float) -> tuple[float, float]:
    """Lengths by which unseen instances lengthen an interval, below and above.

    Parameters
    ----------
    unseen : sequence of Unseen
        Of the samples of the statistic.
    spread : Spread
        Of the statistic, without unseen instances.
    level : float

    Returns
    -------
    below, above : float
        0 if no two members of any sample tie.

    Notes
    -----
    Let a sample of m members have mean θ and variance s². A hypothesis that moves the statistic by Δ adds the share ε = Δ/d₁ of
    unseen members, which are placed as the instances beyond θ are, with mean distance d₁ and mean square d₂. Under the
    hypothesis the variance of the mean is greater by Δ(h − Δ − s²/h)/m, h = d₂/d₁. With two values this gives Wilson's
    interval. The term is multiplied by the probability that two members tie: a sample without ties has shown its variance.

    Examples
    --------
    >>> binary = Unseen(tied=1.0, size=10.0, below=0.2, above=0.8, variance=0.16)  # two successes in ten
    >>> below, above = unseen_reach([binary], Spread(0.016**0.5, float("inf"), 0.0), 0.95)
    >>> round(0.2 + 1.96 * 0.016**0.5 + above, 4)  # as Wilson's
    0.5098
    """
    quantile = float(special.stdtrit(spread.dof, 0.5 + level / 2))
    error, plain = spread.standard_error, quantile * spread.standard_error
    below = max((u.reach(u.below, error, quantile) for u in unseen), default=plain)
    above = max((u.reach(u.above, error, quantile) for u in unseen), default=plain)
    return below - plain, above - plain


def unseen_variance(unseen: Sequence[Unseen], difference: float) -> float:
    """Variance that unseen instances add to a statistic under the hypothesis that it is 0."""
    moved = abs(difference)
    return max((u.added(u.below if difference > 0 else u.above, moved) for u in unseen), default=0.0)
