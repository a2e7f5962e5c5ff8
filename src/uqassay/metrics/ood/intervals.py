"""Influences and intervals of the metrics in `detection`: ROC-AUC, false-positive rate and average precision.

Each metric has a function for the influence of every instance, and a function for the mean over several training runs of
one model on the same instances, with its interval.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import special

from uqassay.metrics.ood.two_samples import RankedSamples, Ties, TwoSamples, rank_samples
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.statistics.delong import IMAGINARY, auc_linearised, noted, sample_counts
from uqassay.statistics.independent_parts import uneven_dof
from uqassay.statistics.linearised import (
    Linearised,
    averaged,
    linearised_estimate,
    scaled_interval,
    spread_of,
    with_runs,
)
from uqassay.statistics.remarks import unit_notes
from uqassay.statistics.samples import Floats, Spread, Units, check_level, make_units

__all__ = [
    "aupr_estimate",
    "aupr_linearised",
    "fpr_estimate",
    "fpr_linearised",
    "ood_auc_estimate",
    "ood_auc_linearised",
]

Positive = Literal["out", "in"]
SAMPLES = ("out-of-distribution instances", "in-distribution instances")
# half widths of the window for the slope at a threshold, on the normal scale, in units of n^(−1/5)
TOWARDS_MANY, TOWARDS_FEW = 2.9, 1.7


# -- influences ---------------------------------------------------------------------------------------------------------


def ood_auc_linearised(samples: TwoSamples) -> Linearised:
    """ROC-AUC and the influence of every instance."""
    scores = samples.uncertainty
    codes = make_units(len(scores), samples.groups, None).codes
    return auc_linearised(samples.is_out.astype(np.float64), scores, samples.weights, codes, imaginary=IMAGINARY)


def fpr_linearised(samples: TwoSamples, *, tpr: float = 0.95, positive: Positive = "out") -> Linearised:
    """False-positive rate and its influences. Negatives enter by passing, positives by moving the threshold."""
    return _fpr(rank_samples(samples, positive), tpr)


def aupr_linearised(samples: TwoSamples, positive: Positive = "out") -> Linearised:
    """Average precision and its influences."""
    ranked = rank_samples(samples, positive)
    a, b = ranked.detected, ranked.passed
    total = np.where(a + b > 0, a + b, 1.0)  # 0 before the first positive weight
    recalled, precision = np.diff(a, prepend=0.0), a / total
    value = float(recalled @ precision) / float(a[-1])
    # one more instance changes the precision at its own threshold and at all lower ones
    for_positive = precision + _sum_from(recalled / total * (b / total))
    for_negative = -(b[-1] / a[-1]) * _sum_from(recalled / total * precision)
    return ranked.linearised(value, for_positive[ranked.block], for_negative[ranked.block])


def _fpr(ranked: RankedSamples, tpr: float) -> Linearised:
    above = ranked.above(tpr)
    return ranked.linearised(ranked.fpr(tpr), -_slope(ranked, tpr) * above, above)


def _slope(ranked: RankedSamples, tpr: float) -> float:
    """Derivative of the false-positive rate by the true-positive rate.

    With both rates on the normal scale (z = Φ⁻¹) an ROC curve is nearly straight, so the slope can be measured in a wide
    window. The ratio of the normal densities converts it to the scale of the rates.
    """
    n, m, z = ranked.n_positive, float(ranked.passed[-1]), float(special.ndtri(tpr))
    reach = np.array([TOWARDS_MANY, TOWARDS_FEW] if tpr >= 0.5 else [TOWARDS_FEW, TOWARDS_MANY]) / n**0.2
    low, high = max(float(special.ndtr(z - reach[0])), 0.5 / n), min(float(special.ndtr(z + reach[1])), 1 - 0.5 / n)
    if low >= high:
        return 0.0
    rates = (np.array([ranked.fpr(at) for at in (low, tpr, high)]) * m + 0.5) / (m + 1)
    start, here, end = special.ndtri(rates)
    slope = (end - start) / float(special.ndtri(high) - special.ndtri(low))
    return float(slope * np.exp((z**2 - here**2) / 2))


# -- estimates ----------------------------------------------------------------------------------------------------------


def ood_auc_estimate(runs: Sequence[TwoSamples], *, level: float = 0.95) -> Estimate:
    """Mean ROC-AUC over training runs on the same instances, with its interval."""
    statistics = [ood_auc_linearised(samples) for samples in runs]
    estimate = linearised_estimate(
        statistics if len(runs) > 1 else statistics[0],
        groups=runs[0].groups,
        sample_weight=runs[0].weights,
        level=level,
        scale="logit",
        method="delong, adjusted, logit scale",
    )
    return noted(estimate, _counts(runs[0]), constant=_constant(runs))


def fpr_estimate(
    runs: Sequence[TwoSamples],
    *,
    tpr: float = 0.95,
    positive: Positive = "out",
    ties: Ties = "shared",
    level: float = 0.95,
) -> Estimate:
    """Mean false-positive rate over training runs on the same instances, with its interval."""
    check_level(level)
    ranked = [rank_samples(samples, positive, ties) for samples in runs]
    whole = averaged([_fpr(one, tpr) for one in ranked])
    units, counts, notes = known_units(runs)
    value, low, high = whole.value, np.nan, np.nan
    if min(counts) > 1:
        n_positive, n_negative = counts if positive == "out" else counts[::-1]
        values = np.array([one.fpr(tpr) for one in ranked])
        dof = spread_of(whole, units, [values]).dof
        q = float(special.stdtrit(dof, 0.5 + level / 2))

        def at_threshold(share: float) -> tuple[float, float]:
            """First error: the interval of the share of negatives above the threshold at a given share of positives."""
            passing = averaged([one.linearised(one.fpr(share), one.above(share), one.above(share)) for one in ranked])
            error = _part_error(passing, 1, units)
            return scaled_interval(passing.value, Spread(error, dof, 0.0), level, "wilson", n_negative)

        below, above = at_threshold(tpr)
        # second error: the threshold. Its interval covers the shares of positives likely to lie above the true threshold
        n_effective = float(n_positive)
        if len(runs) > 1 or units.codes is not None or units.weights is not None:
            reached = averaged([one.linearised(tpr, one.above(tpr), np.zeros(len(one.block))) for one in ranked])
            error = _part_error(reached, 0, units)
            n_effective = tpr * (1 - tpr) / error**2 if error > 0 else n_effective
        fewer, more = _shares_seen(tpr, n_effective, q)
        down, up = (float(np.mean([one.fpr(at) for one in ranked])) for at in (fewer, more))
        down, up = value - down, up - value
        if ties == "shared" and any(one.tied_at(tpr) for one in ranked):
            down = up = max(down, up)  # the curve may have a corner here: use the steeper side
        if more > 1:
            notes.append(
                Note("one-sided", f"one-sided interval: more {SAMPLES[positive == 'in']} would bound the other side")
            )
        between = q * float(values.std(ddof=1)) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
        low = max(value - float(np.linalg.norm([value - below, down, between])), 0.0)
        high = min(value + float(np.linalg.norm([above - value, up, between])), 1.0)
        if ties == "whole" and any(one.tied_at(at) for one in ranked for at in (fewer, tpr, more)):
            # the rate jumps from one level to the next, so each level in reach has the whole interval of its own share
            low = max(min(low, at_threshold(fewer)[0] - between), 0.0)
            high = 1.0 if more > 1 else min(max(high, at_threshold(more)[1] + between), 1.0)
    return two_sample_estimate(runs, value, low, high, level, "wilson, order statistics of the threshold", notes)


def aupr_estimate(runs: Sequence[TwoSamples], *, positive: Positive = "out", level: float = 0.95) -> Estimate:
    """Mean average precision over training runs on the same instances, with its interval."""
    check_level(level)
    statistics = [aupr_linearised(samples, positive) for samples in runs]
    whole = averaged(statistics)
    units, counts, notes = known_units(runs)
    value, low, high = whole.value, np.nan, np.nan
    if min(counts) > 1:
        spread = spread_of(whole, units)
        dof = min(spread.dof, tail_dof(whole, units, counts if positive == "out" else counts[::-1]))
        values = np.array([run.value for run in statistics])
        spread = with_runs(Spread(spread.standard_error, dof, 0.0), [values])
        scale = "logit" if spread.standard_error > 0 else "wilson"
        low, high = scaled_interval(value, spread, level, scale, min(counts))
    return two_sample_estimate(runs, value, low, high, level, "linearised, logit scale", notes)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _shares_seen(tpr: float, n: float, q: float) -> tuple[float, float]:
    """Interval of the shares likely in a sample of n: binomial quantiles by the expansion of Cornish and Fisher."""
    error = (tpr * (1 - tpr) / n) ** 0.5
    middle = tpr + (1 - 2 * tpr) * (q**2 - 1) / (6 * n)
    return middle - q * error, middle + q * error


def _part_error(statistic: Linearised, part: int, units: Units) -> float:
    """Standard error due to one of the two samples."""
    influence, inside = statistic.parts[part], statistic.inside[part]
    return spread_of(Linearised(0.0, influence, (influence,), (inside,)), units).standard_error


def tail_dof(statistic: Linearised, units: Units, counts: tuple[int, int]) -> float:
    """Degrees of freedom of the variance, from the fourth moments of the influences in each sample."""
    squares, dofs = [], []
    for part, count in zip(statistic.parts, counts, strict=True):
        u = units.sums(units.keep(part)[:, np.newaxis])[:, 0] / units.sizes.sum()
        squares.append(float((u * u).sum()))
        dofs.append(min(uneven_dof(u, count), count - 1.0))
    whole = sum(squares)
    if whole == 0.0:
        return sum(dofs)
    return 1.0 / sum((square / whole) ** 2 / dof for square, dof in zip(squares, dofs, strict=True))


def _sum_from(terms: Floats) -> Floats:
    return np.cumsum(terms[::-1])[::-1]


def _counts(samples: TwoSamples) -> list[tuple[float, str]]:
    return sample_counts(samples.is_out.astype(np.float64), samples.weights, samples.groups, SAMPLES)


def known_units(runs: Sequence[TwoSamples]) -> tuple[Units, tuple[int, int], list[Note]]:
    """Units, numbers of units out of and in distribution, and notes on groups, runs and missing intervals."""
    first = runs[0]
    units = make_units(len(first.is_out), first.groups, first.weights)
    notes = unit_notes(units, [len(runs)] if len(runs) > 1 else [])
    counts = _counts(first)
    for count, name in zip([count for count, _ in counts], SAMPLES, strict=True):
        if count == 1:
            which = name.removesuffix("s") if units.codes is None else f"group of {name}"
            notes.append(Note("no-interval", f"1 {which}: no interval"))
    return units, (int(counts[0][0]), int(counts[1][0])), notes


def _constant(runs: Sequence[TwoSamples]) -> bool:
    return all(samples.constant for samples in runs)


def two_sample_estimate(
    runs: Sequence[TwoSamples], value: float, low: float, high: float, level: float, method: str, notes: list[Note]
) -> Estimate:
    weights = runs[0].weights
    n = len(runs[0].is_out) if weights is None else int(np.count_nonzero(weights))
    low, high = min(low, value), max(high, value)
    found = Estimate(value, low=low, high=high, level=level, n=n, method=method, notes=notes)
    return noted(found, [count for count in _counts(runs[0]) if count[0] > 1], constant=_constant(runs))
