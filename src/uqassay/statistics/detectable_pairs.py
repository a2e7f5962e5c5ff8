"""The smallest differences that tests of pairs could have shown, and how much data would show those observed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import final

import numpy as np
from scipy import special

from uqassay.statistics.pair_spreads import PairSpreads, satterthwaite
from uqassay.statistics.samples import Floats

__all__ = [
    "POWER",
    "DetectableDifference",
    "detectable_of_pairs",
    "noncentrality",
    "smallest_differences",
]

POWER = 0.8
MOST = 1e6  # times the instances or runs that there are: the search stops here
STEPS, CLOSE = 30, 1e-7  # of the search, and the logarithm of a ratio of numbers that are the same
HALVINGS_OF_FACTOR = 12  # of at most GREATEST: to a tenth of a per cent
GREATEST = 5.0
NODES = 32  # quantiles of an unknown standard error
# degrees of freedom from which a standard error is taken as true, and the normal approximation as exact
WELL_KNOWN = 200.0


@final
@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """The smallest difference that a paired test of two means, or of two other statistics, could have shown.

    Attributes
    ----------
    difference : float
        A true difference of this size is shown by the test with probability `power`. Infinite: no difference could be shown,
        whatever its size. nan: there is no test.
    power, level : float
        The test is two-sided at 1 − level.
    observed : float
        The difference that was found.
    instances, times_runs : float
        How many instances, with the same runs, or how many times the runs of each model, with the same instances, show a true
        difference of the size observed with this power; infinite where no number does. They are not fewer than there are.
    groups : float
        How many groups the instances are, if they come in groups as they do here; nan without groups.
    """

    difference: float
    power: float
    level: float
    observed: float
    instances: float
    times_runs: float
    groups: float = nan


def detectable_of_pairs(
    spreads: PairSpreads,
    extra: Floats | float,
    bound: Floats,
    *,
    alphas: Sequence[float],
    power: float,
    sizes: tuple[int, int | None],
    plans: bool = True,
) -> list[DetectableDifference]:
    """`detectable_difference` of P pairs, each at its own level; for use inside this room.

    Parameters
    ----------
    spreads : PairSpreads
    extra : array (P,) or float
        Standard errors of another source.
    bound : array (P,)
        Greatest excess of either model.
    alphas : sequence of P float
    power : float
    sizes : tuple of int
        Numbers of instances, and of groups or None.
    plans : bool
        Whether the numbers of instances and runs are found, too; else they are nan.
    """
    alpha, n, g = np.asarray(alphas, dtype=np.float64), *sizes
    extra = np.broadcast_to(np.asarray(extra, dtype=np.float64), alpha.shape)
    one = np.ones(alpha.size)
    smallest = _smallest(spreads, extra, bound, alpha, power, one, one)
    goal = np.abs(spreads.difference)

    def needed(of_runs: bool) -> Floats:
        """The factor by which instances or runs grow until the observed difference is the smallest one."""

        def excess(x: Floats) -> Floats:
            factor = np.exp(x)
            units, runs = (one, factor) if of_runs else (factor, one)
            found = _smallest(spreads, extra, bound, alpha, power, units, runs)
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(found) - np.log(goal))

        few, many = 0.0 * one, np.log(MOST) * one
        first, last = excess(few), excess(many)
        factor = np.exp(_root(excess, few, many, first, last))
        return np.where(np.isnan(first), nan, np.where(first <= 0, 1.0, np.where(last <= 0, factor, inf)))

    none = np.full(alpha.size, nan)
    instances = needed(False) if plans else none
    runs = np.where(spreads.several, needed(True), nan) if plans and spreads.several.any() else none
    return [
        DetectableDifference(
            difference=float(d),
            power=power,
            level=float(1 - a),
            observed=float(o),
            instances=_whole(i * n),
            times_runs=float(r),
            groups=nan if g is None else _whole(i * g),
        )
        for d, a, o, i, r in zip(smallest, alpha, spreads.difference, instances, runs, strict=True)
    ]


def _root(excess: Callable[[Floats], Floats], low: Floats, high: Floats, above: Floats, below: Floats) -> Floats:
    """Zeros of falling functions, (P,), between places where they are positive and negative (Illinois)."""
    place, before = high, np.full(high.size, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(STEPS):
            place = high - below * (high - low) / (below - above)
            place = np.where((place > low) & (place < high), place, (low + high) / 2)
            found = excess(place)
            if not ((np.abs(found) > CLOSE) & (high - low > CLOSE)).any():
                break
            positive = found > 0
            again = positive == before  # the same end moves twice: the other one counts half
            above = np.where(positive, found, np.where(again, above / 2, above))
            below = np.where(positive, np.where(again, below / 2, below), found)
            low, high, before = np.where(positive, place, low), np.where(positive, high, place), positive
    return place


def smallest_differences(spreads: PairSpreads, *, alpha: float, power: float = POWER) -> Floats:
    """The differences of `detectable_of_pairs` at one level, (P,), without another source of errors and without a bound."""
    one = np.ones(spreads.difference.size)
    return _smallest(spreads, 0.0 * one, 0.0 * one, alpha * one, power, one, one)


def _whole(number: float) -> float:
    return float(np.ceil(number - 1e-9)) if number < inf else float(number)


def _smallest(
    s: PairSpreads,
    extra: Floats,
    bound: Floats,
    alpha: Floats,
    power: float,
    units: Floats,
    runs: Floats,
) -> Floats:
    """Smallest differences with so many times the units and the runs, (P,)."""
    inside, between = s.inside / units, s.between / runs
    dof, run_dofs = np.maximum(s.dof * units, 1.0), np.maximum((s.run_dofs + 1) * runs - 1, 1.0)
    variance = inside + between.sum(axis=0) + (extra / s.scale) ** 2
    known = nu = satterthwaite(inside, dof, between, run_dofs)
    if s.several.any():
        limits = 1 + (s.run_limits - 1) / np.sqrt(runs)  # towards 1, as a variance is known better
        nu = np.minimum(nu, satterthwaite(inside, dof, limits * between, run_dofs))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        error = s.scale * np.sqrt(variance)
        skewness = np.where(variance > 0, s.third / units**2 / variance**1.5, 0.0)
        q = special.stdtrit(nu, 1 - alpha / 2)
        threshold = np.maximum(q, np.maximum(_hall_inverse(q, skewness), -_hall_inverse(-q, skewness)))
        losses = np.where(bound > 0, bound * np.expm1(-np.log(alpha) / (s.independent * units)), 0.0)
        reach = np.where(error > 0, noncentrality(threshold, nu, power, known) * error, 0.0)
        return np.asarray(np.maximum(reach, losses + np.where(losses > 0, special.ndtri(power) * error, 0.0)))


def noncentrality(threshold: Floats, dof: Floats, power: float, known: Floats | None = None) -> Floats:
    """Noncentrality with which a noncentral t exceeds a threshold with this power. For use inside this room.

    Parameters
    ----------
    threshold, dof : arrays (P,)
    power : float
    known : array (P,), optional
        Degrees of freedom of the standard error s that the noncentrality is a multiple of. The true one is s √(ν/χ²) with a χ²
        of ν degrees of freedom, and the power is the mean over it. By default s is taken as true.

    Examples
    --------
    >>> threshold, dof = np.array([1.96, 4.3]), np.array([1e6, 2.0])
    >>> noncentrality(threshold, dof, 0.8).round(2).tolist(), noncentrality(threshold, dof, 0.8, dof).round(2).tolist()
    ([2.8, 5.65], [2.8, 8.69])
    """
    # Johnson and Welch's normal approximation: exact enough for a ratio, and defined everywhere
    centre, spread = threshold * (1 - 1 / (4 * dof)), np.sqrt(1 + threshold**2 / (2 * dof))
    rough = centre + special.ndtri(power) * spread
    exact, few = rough.copy(), dof <= WELL_KNOWN
    found = special.nctdtrinc(dof[few], 1 - power, threshold[few])
    exact[few] = np.where(np.isfinite(found) & (found > 0), found, rough[few])
    if known is None or (known > WELL_KNOWN).all():
        return exact
    places = (np.arange(NODES) + 0.5) / NODES
    ratio = np.sqrt(special.chdtri(known[:, np.newaxis], places) / known[:, np.newaxis])  # s / σ, (P, NODES)
    low, high = np.zeros(rough.size), np.full(rough.size, GREATEST)  # of the factor, as its logarithm
    for _ in range(HALVINGS_OF_FACTOR):
        middle = (low + high) / 2
        shown = special.ndtr(
            ((rough * np.exp(middle))[:, np.newaxis] * ratio - centre[:, np.newaxis]) / spread[:, np.newaxis]
        )
        enough = shown.mean(axis=1) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(known > WELL_KNOWN, exact, exact * np.exp((low + high) / 2))


def _hall_inverse(y: Floats, skewness: Floats) -> Floats:
    """See `samples.Spread`."""
    shifted = y - skewness / 6
    root = np.cbrt(1 + skewness * shifted)
    return np.asarray(3 * shifted / (root**2 + root + 1))
