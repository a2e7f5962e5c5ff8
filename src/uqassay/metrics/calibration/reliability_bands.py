"""Bands of a reliability diagram: intervals of the accuracies in all bins together, and where they exclude the confidence."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.statistics import proportion_estimate
from uqassay.statistics.samples import make_units, spread_of_mean
from uqassay.wording import decimals_for, listed, percent, percent_interval

__all__ = ["band_of_counts", "bands_of_groups", "ranges_sentence"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


def band_of_counts(hits: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """Joint exact intervals of the accuracies for numbers of hits (B,) among independent instances (B,); nan in empty bins.

    Clopper-Pearson intervals at the level `level` ** (1 / B′), because the B′ filled bins are independent (Šidák).

    Examples
    --------
    >>> low, high = band_of_counts(np.array([3.0, 10.0]), np.array([10.0, 10.0]), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.052, 0.646], [0.691, 1.0])
    """
    filled = count > 0
    tail = (1 - level ** (1 / max(int(filled.sum()), 1))) / 2
    return _clopper_pearson(hits, count, tail)


def bands_of_groups(
    hits: Floats, difference: Floats, place: Rows, codes: Rows, n_bins: int, level: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Intervals of the accuracy of each bin, and joint ones, if whole groups are the units, (B,) each; nan in empty bins.

    Parameters
    ----------
    hits, difference : array (n,)
        Hits, and confidence minus hit, whose variance is used.
    place : int array (n,)
        Bin of each instance.
    codes : int array (n,)
        Group of each instance.
    n_bins : int
    level : float

    Returns
    -------
    low, high, band_low, band_high : array (B,)
        The single intervals are those of `proportion_estimate`. The joint ones are Clopper-Pearson intervals with the
        effective number of independent instances and its degrees of freedom (Korn and Graubard), at the level
        1 − (1 − level) / B′ (Bonferroni), because groups lie in several bins. A bin with one group has the band 0 to 1.

    References
    ----------
    Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.
    """
    low, high, band_low, band_high = np.full((4, n_bins), np.nan)
    filled = np.unique(place)
    tail = (1 - level) / (2 * len(filled))
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(place, minlength=n_bins))[:-1])
    for b in filled.tolist():
        rows = parts[b]
        alone = proportion_estimate(hits[rows], groups=codes[rows], level=level)
        low[b], high[b] = alone.low, alone.high
        number = _effective_number(hits[rows], difference[rows], codes[rows], tail)
        band_low[b], band_high[b] = 0.0, 1.0
        if number > 0:
            each = np.array([number])
            (band_low[b],), (band_high[b],) = _clopper_pearson(float(alone) * each, each, tail)
    return low, high, band_low, band_high


def ranges_sentence(edges: Floats, over: Mask, under: Mask) -> str:
    """Where a classifier is shown to be overconfident or underconfident, for bin edges (B + 1,) and bins (B,).

    Examples
    --------
    >>> edges = np.linspace(0, 1, 6)
    >>> ranges_sentence(edges, edges[1:] > 0.7, edges[1:] < 0)
    'Overconfident where it states 60 to 100 %; nowhere shown to be underconfident.'
    >>> ranges_sentence(edges, edges[1:] < 0, edges[1:] < 0)
    'Nowhere shown to be overconfident or underconfident.'
    """
    told = {"overconfident": _ranges(edges, over), "underconfident": _ranges(edges, under)}
    shown = [f"{how} where it states {listed(ranges)}" for how, ranges in told.items() if ranges]
    absent = [how for how, ranges in told.items() if not ranges]
    if absent:
        shown.append(f"nowhere shown to be {listed(absent, last='or')}")
    text = "; ".join(shown)
    return f"{text[0].upper()}{text[1:]}."


# -- helpers ----------------------------------------------------------------------------------------------------------


def _clopper_pearson(hits: Floats, count: Floats, tail: float) -> tuple[Floats, Floats]:
    """Exact interval with this probability in each tail; nan where there is no instance."""
    with np.errstate(invalid="ignore"):
        misses = count - hits
        low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1e-300), misses + 1, tail), 0.0)
        high = np.where(misses > 0, special.betaincinv(hits + 1, np.maximum(misses, 1e-300), 1 - tail), 1.0)
    return np.where(count > 0, low, np.nan), np.where(count > 0, high, np.nan)


def _effective_number(hits: Floats, difference: Floats, codes: Rows, tail: float) -> float:
    """Number of independent instances that a bin's accuracy is worth, at most their number; 0 for a single group."""
    units = make_units(len(hits), codes, None)
    if units.n_units == 1:
        return 0.0
    share = float(hits.mean())
    if share in (0.0, 1.0):
        return float(units.n_units)
    spread = spread_of_mean(difference - difference.mean(), units)
    number = float(len(hits))
    if spread.standard_error > 0:
        number = min(number, share * (1 - share) / spread.standard_error**2)
    return number * float(special.ndtri(tail) / special.stdtrit(spread.dof, tail)) ** 2


def _ranges(edges: Floats, chosen: Mask) -> list[str]:
    """Neighbouring chosen bins as one range each."""
    steps = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    ends: Sequence[tuple[float, float]] = list(
        zip(edges[np.flatnonzero(steps == 1)].tolist(), edges[np.flatnonzero(steps == -1)].tolist(), strict=True)
    )
    whole = all(abs(100 * e - round(100 * e)) < 1e-9 for pair in ends for e in pair)
    decimals = 0 if whole else max(decimals_for(ends) - 2, 1)
    return [
        percent(low, decimals, in_sentence=True)
        if low == high
        else percent_interval(low, high, decimals, in_sentence=True)
        for low, high in ends
    ]
