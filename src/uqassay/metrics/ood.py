"""Inputs of another distribution: detection, and refusal of both kinds (SCOD)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.checks import between, fail, number, one_of, same_length
from uqassay.errors import InputError
from uqassay.ids import in_one_order
from uqassay.metrics.risk import (
    FEW,
    TINY,
    RankedErrors,
    augrc,
    aurc,
    check_coverage,
    interval_of_loss,
    rank_errors,
    sum_from,
)
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.statistics.auc import IMAGINARY, auc_linearised, named_auc, noted, sample_counts
from uqassay.statistics.estimate import unit_notes
from uqassay.statistics.linearised import (
    Linearised,
    averaged,
    linearised_estimate,
    scaled_interval,
    spread_of,
    uneven_dof,
    units_in,
    with_runs,
)
from uqassay.statistics.units import Spread, Units, as_floats, check_level, make_units, scaled_weights

__all__ = [
    "OOD_METRICS",
    "SCOD_METRICS",
    "OodMetric",
    "ScodMetric",
    "ScodSamples",
    "Ties",
    "TwoSamples",
    "aupr_score",
    "fpr_at_tpr_error",
    "joined_groups",
    "ood_auc_score",
    "scod_augrc_loss",
    "scod_aurc_loss",
    "scod_risk_loss",
]


# Two independent samples of one score, and their joint ranking, from which ROC and precision-recall curves follow.

Ties = Literal["shared", "whole"]
ROUNDING = 1e-12  # relative; shares closer than this count as equal


@final
@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Checked scores of two samples, rows in the order given. Build it with `two_samples`."""

    is_out: NDArray[np.bool_]  #: (n,): True for an out-of-distribution instance, False for an in-distribution one
    uncertainty: Floats  #: (n,)
    weights: Floats | None = None  #: (n,)
    groups: NDArray[np.intp] | None = None  #: (n,): no group has instances in both samples

    @property
    def constant(self) -> bool:
        """True if all scores are equal, so that nothing is ranked."""
        return bool((self.uncertainty == self.uncertainty[0]).all())


def two_samples(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> TwoSamples:
    """Check the arrays of two samples.

    Examples
    --------
    >>> found = two_samples([False, False, True], [0.1, 0.2, 0.3], groups=["a", "a", "a"])
    >>> found.groups.tolist()
    [0, 0, 1]
    """
    out = _as_sides(is_out)
    scores = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(n,)")
    same_length(scores, "uncertainty", out.size, "align them first", of="instance of is_out")
    weights = None
    if sample_weight is not None:
        weights = scaled_weights(sample_weight, out.size)
        for side, name in ((out, "out of"), (~out, "in")):
            if not weights[side].any():
                got, remedy = f"all weights {name} distribution are 0", "pass None for equal weights"
                fail("sample_weight", "needs a positive weight in each sample", got, remedy, code="empty")
    codes = make_units(out.size, groups, None).codes
    return TwoSamples(out, scores, weights, None if codes is None else 2 * codes + out)


def _as_sides(is_out: ArrayLike) -> NDArray[np.bool_]:
    sides = as_floats(is_out, "is_out", ndim=(1,), shape="(n,)")
    other = np.flatnonzero((sides != 0) & (sides != 1))
    if other.size:
        got = f"row {other[0]} is {sides[other[0]]:g}"
        rule = "must be True or 1 for an instance out of distribution, False or 0 for one in distribution"
        fail("is_out", rule, got, "pass is_out first and the uncertainty second", code="range")
    out = sides == 1
    if out.all() or not out.any():
        got = f"all {out.size} are {'out of' if out.all() else 'in'} distribution"
        fail("is_out", "needs instances of both kinds", got, "concatenate both samples", code="empty")
    return out


def joined_groups(
    groups_in: ArrayLike | None, groups_out: ArrayLike | None, n_in: int, n_out: int
) -> NDArray[np.intp] | None:
    """Groups of two samples as integers, in-distribution rows first. A label in both samples counts as two groups.

    If one sample has no groups, each of its instances is a group. If neither has groups, the result is None.
    """
    if groups_in is None and groups_out is None:
        return None
    codes = []
    for labels, n, name in ((groups_in, n_in, "groups_in"), (groups_out, n_out, "groups_out")):
        try:
            found = make_units(n, labels, None).codes
        except InputError as problem:
            raise problem.replace(parameter=name) from problem
        codes.append(np.arange(n) if found is None else found)
    return np.concatenate([codes[0], codes[1] + codes[0].max() + 1])


@final
@dataclass(frozen=True, eq=False)
class RankedSamples:
    """Two samples sorted by descending score. A block is a set of instances of equal score. Built by `rank_samples`."""

    #: (B,): total weight of the positives and of the negatives in each block and all earlier ones
    detected: Floats
    passed: Floats
    block: NDArray[np.intp]  #: (N,): block of every row
    is_positive: NDArray[np.bool_]  #: (N,)
    weights: Floats  #: (N,)
    #: "shared" or "whole": Whether the needed share of the block at a threshold passes, or the whole block
    ties: Ties = "shared"

    @property
    def n_positive(self) -> float:
        """Effective number of positives, (Σ w)² / Σ w²."""
        w = self.weights[self.is_positive]
        return float(w.sum() ** 2 / (w**2).sum())

    def place(self, tpr: float) -> tuple[int, float]:
        """Block in which the true-positive rate is reached, and the share of this block that passes."""
        need = tpr * self.detected[-1]
        k = min(int(np.searchsorted(self.detected, need * (1 - ROUNDING))), len(self.detected) - 1)
        if self.ties == "whole":
            return k, 1.0
        before = self.detected[k - 1] if k else 0.0
        return k, min(max((need - before) / (self.detected[k] - before), 0.0), 1.0)

    def fpr(self, tpr: float) -> float:
        """False-positive rate at a true-positive rate; 0 for rates of 0 or less, 1 for rates above 1."""
        if tpr <= 0 or tpr > 1:
            return 0.0 if tpr <= 0 else 1.0
        k, share = self.place(tpr)
        before = self.passed[k - 1] if k else 0.0
        return float((before + share * (self.passed[k] - before)) / self.passed[-1])

    def above(self, tpr: float) -> Floats:
        """1 for rows above the threshold, 0 for rows below, and a share for rows that tie with it, (N,)."""
        k, share = self.place(tpr)
        return np.where(self.block < k, 1.0, np.where(self.block == k, share, 0.0))

    def tied_at(self, tpr: float) -> bool:
        """True if several positives tie at the threshold."""
        k, _ = self.place(tpr)
        return int(np.count_nonzero(self.is_positive & (self.block == k) & (self.weights > 0))) > 1

    def linearised(self, value: float, positive: Floats, negative: Floats) -> Linearised:
        """Linearised statistic from the contribution of each instance to the mean of its sample, (N,) each.

        Both samples are centred separately, because their sizes are chosen, not drawn.
        """
        parts = []
        for influence, inside in ((positive, self.is_positive), (negative, ~self.is_positive)):
            w = np.where(inside, self.weights, 0.0)
            centred = influence - influence[np.argmax(inside)]  # equal influences become exactly 0
            centred = centred - float((w * centred).sum()) / float(w.sum())
            parts.append(np.where(inside, centred * (self.weights.sum() / w.sum()), 0.0))
        return Linearised(value, parts[0] + parts[1], (parts[0], parts[1]), (self.is_positive, ~self.is_positive))


def rank_samples(samples: TwoSamples, positive: str, ties: Ties = "shared") -> RankedSamples:
    """Sort two samples, positives first: by descending score for "out", by ascending score for "in".

    Examples
    --------
    >>> ranked = rank_samples(two_samples([0, 0, 0, 1, 1], [0.1, 0.2, 0.2, 0.2, 0.3]), "out")
    >>> ranked.detected.tolist(), ranked.passed.tolist(), ranked.fpr(0.75)
    ([1.0, 2.0, 2.0], [0.0, 2.0, 3.0], 0.33...)
    """
    s = samples.uncertainty
    is_positive = samples.is_out
    if positive == "out":
        s = -s
    else:
        is_positive = ~is_positive
    w = np.ones(len(s)) if samples.weights is None else samples.weights
    # sums of weights round differently in another order, so rows within a tie are sorted by weight
    order = np.argsort(s) if samples.weights is None else np.lexsort((w, s))
    ordered = s[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    ends = np.append(np.flatnonzero(new)[1:] - 1, len(s) - 1)
    block = np.empty(len(s), dtype=np.intp)
    block[order] = np.cumsum(new) - 1
    by_order, positive_first = w[order], is_positive[order]
    detected = np.cumsum(np.where(positive_first, by_order, 0.0))[ends]
    passed = np.cumsum(np.where(positive_first, 0.0, by_order))[ends]
    return RankedSamples(detected, passed, block, is_positive, w, ties)


# Influences and intervals of the metrics in `detection`: ROC-AUC, false-positive rate and average precision.
#
# Each metric has a function for the influence of every instance, and a function for the mean over several training runs
# of one model on the same instances, with its interval.

Positive = Literal["out", "in"]
SAMPLES = ("out-of-distribution cases", "in-distribution cases")
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
    for_positive = precision + sum_from(recalled / total * (b / total))
    for_negative = -(b[-1] / a[-1]) * sum_from(recalled / total * precision)
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


# Detection of out-of-distribution inputs by a score: ROC-AUC, false-positive rate and average precision.
#
# Ranking metrics, section 16: "in or out of distribution" replaces "right or wrong", and the ROC-AUC replaces UQ-AUC. All
# three metrics depend only on the order of the scores, not on the order of rows. Tied scores count ½ (ROC-AUC), are
# shared evenly or pass whole (false-positive rate, by name) or pass together (average precision).


@in_one_order("is_out", "uncertainty", "sample_weight", "groups")
def ood_auc_score(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """ROC-AUC: probability that an out-of-distribution instance is more uncertain than an in-distribution one (ties ½).

    Parameters
    ----------
    is_out : array_like (n,) of bool, or 0 and 1
        True or 1 for an out-of-distribution instance, False or 0 for an in-distribution one. There must be both kinds.
    uncertainty : array_like (n,)
        A score of every instance. Greater means less certain. Infinite values are allowed.
    sample_weight : array_like (n,), optional
        Weight of each instance.
    groups : array_like (n,), optional
        Patients, sites or videos. Groups are independent of each other; instances of one group may not be. A label that
        occurs in both samples counts as two groups. (If one patient has instances in both samples, common shifts cancel,
        and the interval is wider than necessary.)
    level : float
        Confidence level of the interval.

    Returns
    -------
    estimate : Estimate
        ½ for a score with the same distribution in both samples. A note gives the size of a sample with fewer than 20
        instances (groups).

    Notes
    -----
    The interval is that of `statistics.auc_estimate`: DeLong's variance with 0.3 of an imaginary instance in each sample, on
    the logit scale. The area does not depend on which sample is called positive.

    The measured coverage of 95 % intervals is 94.1 to 95.8 %. It is lowest with 20 groups in a sample and an area near 1
    (docs/evidence-ranking.md).

    Examples
    --------
    >>> ood_auc_score([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.3, 0.5]).__round__(4)
    0.875
    """
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return named_auc(
        samples.is_out,
        samples.uncertainty,
        sample_weight=samples.weights,
        groups=samples.groups,
        level=level,
        method="adjusted",
        names=SAMPLES,
        arguments=("is_out", "uncertainty"),
    )


@in_one_order("is_out", "uncertainty", "sample_weight", "groups")
def fpr_at_tpr_error(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    tpr: float = 0.95,
    positive: Positive = "out",
    ties: Ties = "shared",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the negatives that pass the threshold at which 95 % of the positives are detected (FPR95). Lower is better.

    Parameters
    ----------
    is_out, uncertainty : array_like (n,)
        As in `ood_auc_score`.
    tpr : float
        The share of positives to detect, in (0, 1).
    positive : {"out", "in"}
        "out": 95 % of the out-of-distribution instances are refused, and the error is the share of in-distribution instances
        that are refused too (Hendrycks, Mazeika and Dietterich 2019; OpenOOD today). "in": 95 % of the in-distribution
        instances are kept, and the error is the share of out-of-distribution instances that are kept too (Liang, Li and
        Srikant 2018, ODIN; early versions of OpenOOD). The two numbers differ, and papers do not always state which they use.
    ties : {"shared", "whole"}
        Scores that tie at the threshold. "shared": the true-positive rate is exactly `tpr`; the needed share of the tied
        positives passes, and the same share of the tied negatives, as the ROC curve is linear there. "whole": the tie passes
        whole, so this is the rate at the first threshold that detects at least `tpr` (torch-uncertainty, pytorch-ood, OpenOOD
        today). Both agree without ties.
    sample_weight, groups, level
        As in `ood_auc_score`.

    Notes
    -----
    Two errors add up. The first is that of the share of negatives at a given threshold, with Wilson's interval. The second is
    that of the threshold, a quantile of few positives. Its interval is read off the ROC curve, between the shares of
    positives that a sample with a true share of `tpr` is likely to show (an order-statistic interval with the skewness of
    the binomial distribution). It is wide on the side where the curve is steep. On each side, the distance of the limit from
    the estimate is the root of the sum of the two squared distances (Zou and Donner 2008).

    Groups and weights enter through the number of independent instances that would give either share its variance. With
    fewer than about 60 positives nothing bounds the threshold on one side: the upper end is then 1, and a note says so. If
    several positives tie at the threshold, the curve may have a corner there, and both sides get the greater distance. With
    `ties="whole"` the rate jumps there, and the interval covers that of the share at every threshold within reach.

    The measured coverage of 95 % intervals is 94.3 to 99.8 %. They are conservative below 200 instances, where nothing
    bounds the threshold, and with few distinct scores (docs/evidence-ranking.md).

    References
    ----------
    Hendrycks, Mazeika, Dietterich (2019), Deep anomaly detection with outlier exposure, ICLR.
    Liang, Li, Srikant (2018), Enhancing the reliability of out-of-distribution image detection in neural networks, ICLR.
    Zou, Donner (2008), Construction of confidence limits about effect measures: a general approach, Stat. Med. 27.

    Examples
    --------
    >>> is_out, uncertainty = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.3, 0.4, 0.6, 0.7]
    >>> fpr_at_tpr_error(is_out, uncertainty, tpr=0.75).__round__(4)
    0.25
    >>> votes = [0, 0, 1, 2, 1, 2, 3, 3]
    >>> [fpr_at_tpr_error(is_out, votes, tpr=0.8, ties=ties).__round__(4) for ties in ("shared", "whole")]
    [0.3, 0.5]
    """
    number(tpr, "tpr", "pass 0.95 for 95 %", low=0, high=1, ends="()")
    one_of(positive, "positive", ("out", "in"))
    one_of(ties, "ties", ("shared", "whole"))
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return fpr_estimate([samples], tpr=tpr, positive=positive, ties=ties, level=level)


@in_one_order("is_out", "uncertainty", "sample_weight", "groups")
def aupr_score(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    positive: Positive = "out",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Average precision, Σ_k (R_k − R_{k−1}) P_k over the distinct thresholds (area under the precision-recall curve).

    Parameters
    ----------
    is_out, uncertainty : array_like (n,)
        As in `ood_auc_score`.
    positive : {"out", "in"}
        "out" (AUPR-Out): precision is the share of refused instances that are out of distribution. "in" (AUPR-In): precision
        is the share of kept instances that are in distribution. Hendrycks and Gimpel (2017), ODIN and OpenOOD report both; a
        single "AUPR" is most often AUPR-Out.
    sample_weight, groups, level
        As in `ood_auc_score`. The weights determine the share of positives, on which AUPR depends.

    Returns
    -------
    estimate : Estimate
        For a score with the same distribution in both samples, AUPR is the share of positives. It depends on the sizes of
        the two samples: compare only numbers from the same pair of samples, or weight one sample to the share of positives
        expected in use.

    Notes
    -----
    The value is that of scikit-learn's average_precision_score. OpenOOD instead connects the points by straight lines, which
    is optimistic (Davis and Goadrich 2006).

    The interval takes the sizes of the two samples as fixed. The influence of an instance is the exact derivative by its
    weight. The interval is on the logit scale, with Student's t. Its degrees of freedom follow from the fourth moment of the
    influences, because few negatives of high rank make up most of the variance. If the variance is 0 (perfect separation,
    equal scores), the interval is Wilson's, with the size of the smaller sample as n.

    The measured coverage of 95 % intervals is 93.6 to 96.5 %. It is lowest with 20 groups in a sample, or 50 instances of a
    weak score (tests/metrics/ood/test_error_rates.py).

    References
    ----------
    Hendrycks, Gimpel (2017), A baseline for detecting misclassified and out-of-distribution examples, ICLR.
    Davis, Goadrich (2006), The relationship between precision-recall and ROC curves, ICML.

    Examples
    --------
    >>> aupr_score([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.3, 0.4, 0.6, 0.7]).__round__(4)
    0.8542
    """
    one_of(positive, "positive", ("out", "in"))
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return aupr_estimate([samples], positive=positive, level=level)


# -- by name -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OodMetric:
    """A metric of how well an uncertainty separates two samples."""

    name: str
    higher_is_better: bool
    #: `TwoSamples` → `Linearised` over all rows. `statistics.statistic_comparisons.paired_statistic_test` tests its
    #: differences. None where ties pass whole: the rate then jumps from level to level, and a test would reject far too often.
    statistic: Callable[[TwoSamples], Linearised] | None
    #: (`TwoSamples` of each training run on the same instances, level=…) → `Estimate` of the mean over runs
    interval: Callable[..., Estimate]


_SIDES: tuple[Positive, ...] = ("out", "in")
_ALL = (
    OodMetric("ood-auc", True, ood_auc_linearised, ood_auc_estimate),
    *(
        OodMetric(f"fpr95-{side}", False, partial(fpr_linearised, positive=side), partial(fpr_estimate, positive=side))
        for side in _SIDES
    ),
    *(
        OodMetric(f"fpr95-{side}-whole", False, None, partial(fpr_estimate, positive=side, ties="whole"))
        for side in _SIDES
    ),
    *(
        OodMetric(f"aupr-{side}", True, partial(aupr_linearised, positive=side), partial(aupr_estimate, positive=side))
        for side in _SIDES
    ),
)

OOD_METRICS: dict[str, OodMetric] = {metric.name: metric for metric in _ALL}


# Errors and out-of-distribution inputs in one risk: the losses of two samples, and their areas with influences.
#
# A kept instance costs β if it is in distribution and wrong, 1 − β if it is out of distribution, and 0 if it is right.
# Areas and risks are those of `metrics.risk` for these losses. The two samples are independent, so each is centred
# separately.

# an area or a risk of ranked losses, with the influence of every instance
Statistic = Callable[[RankedErrors], Linearised]


@final
@dataclass(frozen=True, eq=False)
class ScodSamples:
    """Checked scores and losses of two samples, rows in the order given. Build it with `scod_samples`."""

    samples: TwoSamples
    #: (n,): 1 for a wrong prediction in distribution, 0 for a right one, or the probability that it is wrong; 0 for rows out of
    #: distribution
    errors: Floats
    error_cost: float  #: β, the cost of a kept error; a kept instance out of distribution costs 1 − β
    share_out: float  #: α, the share of the weight that is out of distribution
    mixed: Floats | None  #: (n,): weights with which the samples have these shares; None if all are 1

    @property
    def losses(self) -> Floats:
        """Cost of keeping each instance, (n,)."""
        return np.where(self.samples.is_out, 1.0 - self.error_cost, self.error_cost * self.errors)

    @cached_property
    def ranked(self) -> RankedErrors:
        """The losses sorted by uncertainty, once for all statistics."""
        return rank_errors(self.losses, self.samples.uncertainty, self.mixed)

    @cached_property
    def without_errors(self) -> "ScodSamples":
        """The same samples with right predictions alone."""
        return replace(self, errors=np.zeros_like(self.errors))

    def linearised(self, statistic: Statistic) -> Linearised:
        """A statistic of the losses, with influences that are centred in each sample, because its share is given."""
        whole = statistic(self.ranked)
        w = np.ones(self.errors.size) if self.mixed is None else self.mixed
        v = np.ones(self.errors.size) if self.samples.weights is None else self.samples.weights
        parts = []
        sides = (self.samples.is_out, ~self.samples.is_out)
        for side in sides:
            influence = whole.influence - whole.influence[np.argmax(side & (w > 0))]  # equal ones become exactly 0
            inside = np.where(side, w, 0.0)
            centred = influence - float((inside * influence).sum()) / float(inside.sum())
            # Σ w ψ / Σ w with the weights of the mixture, written with the weights that were given
            factor = float(inside.sum()) / float(w.sum()) * float(v.sum()) / float(v[side].sum())
            parts.append(np.where(side, centred * factor, 0.0))
        return Linearised(whole.value, parts[0] + parts[1], (parts[0], parts[1]), sides)

    def extremes(self, statistic: Statistic) -> tuple[float, float]:
        """Least and greatest value at these costs and shares.

        Least: no errors, and every instance in distribution is kept first. Greatest: errors alone, the dearest kept first.
        """
        return _extremes(statistic, self.error_cost, self.share_out)

    def contaminated(self, statistic: Statistic, share: float, *, out: bool, wrong: bool, first: bool) -> float:
        """The statistic after a share of one sample was replaced by an instance that is kept `first`, or last.

        `out`: the sample out of distribution, whose instances always cost 1 − β; else that in distribution. `wrong`: the
        instance is an error.
        """
        side = self.samples.is_out == out
        cost = 1.0 - self.error_cost if out else self.error_cost * wrong
        w = np.ones(self.errors.size) if self.mixed is None else self.mixed
        return statistic(
            rank_errors(
                np.append(self.losses, cost),
                np.append(self.samples.uncertainty, -np.inf if first else np.inf),
                np.append(np.where(side, w * (1 - share), w), share * float(w[side].sum())),
            )
        ).value


@lru_cache(maxsize=16)  # of all scores and runs
def _extremes(statistic: Statistic, error_cost: float, share_out: float) -> tuple[float, float]:
    shares, costs = [1.0 - share_out, share_out], np.array([error_cost, 1.0 - error_cost])
    best = statistic(rank_errors([0.0, costs[1]], [0.0, 1.0], shares)).value
    return best, statistic(rank_errors(costs, -costs, shares)).value


def scod_samples(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ScodSamples:
    """Check the arrays of two samples, the cost and the share.

    Examples
    --------
    >>> found = scod_samples([0, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3], error_cost=0.75)
    >>> found.losses.tolist(), round(found.share_out, 4)
    ([0.0, 0.75, 0.25], 0.3333)
    """
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return with_errors(samples, errors, error_cost=error_cost, share_out=share_out)


def with_errors(
    samples: TwoSamples, errors: ArrayLike, *, error_cost: float = 0.5, share_out: float | None = None
) -> ScodSamples:
    """`scod_samples` from two samples that are checked already."""
    check_costs(error_cost, share_out)
    w = samples.weights
    by_side = [float(side.sum() if w is None else w[side].sum()) for side in (~samples.is_out, samples.is_out)]
    share = by_side[1] / sum(by_side)
    if share_out is not None:
        factors = (1.0 - share_out) / (1.0 - share), share_out / share
        w = np.where(samples.is_out, factors[1], factors[0]) * (1.0 if w is None else w)
        share = float(share_out)
    return ScodSamples(samples, _checked(errors, samples), float(error_cost), share, w)


def _checked(errors: ArrayLike, samples: TwoSamples) -> Floats:
    """Errors in distribution, and 0 elsewhere, where they mean nothing."""
    given = np.asarray(errors)
    n = samples.is_out.size
    same_length(given, "errors", n, "align them first; out of distribution any value will do", of="instance of is_out")
    found = np.zeros(n)
    found[~samples.is_out] = as_floats(given[~samples.is_out], "errors", ndim=(1,), shape="(n,)")
    between(found, "errors", "give 1 for a wrong prediction, 0 for a right one, or the probability that it is wrong")
    return found


def check_costs(error_cost: float, share_out: float | None) -> None:
    """Refuse a cost outside [0, 1] and a share outside (0, 1)."""
    number(
        error_cost, "error_cost", "pass 0.5 for equal costs of errors and of inputs out of distribution", low=0, high=1
    )
    if share_out is not None:
        remedy = "pass the share of inputs out of distribution expected in use, or None for that of the samples"
        number(share_out, "share_out", remedy, low=0, high=1, ends="()")


def risk_at(coverage: float) -> Statistic:
    """The mean loss of the instances kept at a coverage, as a statistic.

    With the kept share m of each instance, c = Σ w m / Σ w and A = Σ w ℓ m / Σ w, the risk A / c has the influence
    ((ℓ m − A) + ε (c − m)) / c, where ε is the mean loss near the threshold.
    """

    def risk(ranked: RankedErrors) -> Linearised:
        (k,), (f,) = ranked.place(np.array([coverage]))
        mass = float(ranked.inside(ranked.wrong, np.array([k]), np.array([f]))[0]) / float(ranked.kept[-1])
        block = np.arange(ranked.order.size) if ranked.block is None else ranked.block
        m = np.where(block < k, 1.0, np.where(block == k, f, 0.0))
        near = float(ranked.local_rate(np.array([coverage]))[0])
        influence = ((ranked.errors * m - mass) + near * (coverage - m)) / coverage
        return Linearised(mass / coverage, ranked.unranked(influence))

    return risk


# Intervals of areas and risks that count errors and out-of-distribution inputs together.

METHOD = "linearised, logit scale between best and worst"


def scod_estimate(runs: Sequence[ScodSamples], statistic: Statistic, *, level: float = 0.95) -> Estimate:
    """Mean of a statistic of the losses over training runs on the same instances, with its interval.

    The runs have the same weights, groups, cost and share; the statistic is `aurc`, `augrc` or `risk_at` a coverage.

    Notes
    -----
    The costs and the shares of the samples are given, so the value lies between those of the best and the worst order
    (`ScodSamples.extremes`). The interval is symmetric on the logit scale between these two.

    A few confident errors skew the value to the right. The upper end is therefore at least that of the value without errors
    and of the remainder, which the errors add, on the log scale; the two distances add by their squares (Zou and Donner 2008).
    With fewer than 20 errors the remainder need not exceed the value at Wilson's upper limit of
    the error rate, with the further errors kept first. Without errors this alone bounds it.

    A sample whose influences are equal (every instance out of distribution is refused last, say) shows no variance. The share
    q² / (m + q²) of its m instances (groups), Wilson's upper limit after none of m, is then replaced by the instance that
    changes the value most, and the distance is added by squares too.
    """
    check_level(level)
    first = runs[0]
    statistics = [run.linearised(statistic) for run in runs]
    whole = averaged(statistics)
    units, counts, notes = known_units([run.samples for run in runs])
    notes += _of_errors(runs, units)
    value, low, high = whole.value, np.nan, np.nan
    best, worst = first.extremes(statistic)
    if worst - best <= TINY:
        low = high = value
        notes.append(Note("no-width", "the given share and costs decide this number"))
    elif min(counts) > 1:
        at = _At(runs, statistic, units, counts, (best, worst), level)
        right = [run.without_errors.linearised(statistic) for run in runs]
        low, high = at.between(statistics)
        _, without = at.between(right)
        further = float(np.hypot(without - averaged(right).value, at.of_errors(statistics, right)))
        high = max(high, value + further)
        below, above = at.not_shown(whole)
        low = max(value - float(np.hypot(value - low, below)), best)
        high = min(value + float(np.hypot(high - value, above)), worst)
    return two_sample_estimate([run.samples for run in runs], value, low, high, level, METHOD, notes)


@final
@dataclass(frozen=True, eq=False)
class _At:
    """Parts of the interval of one statistic of several runs."""

    runs: Sequence[ScodSamples]
    statistic: Statistic
    units: Units
    counts: tuple[int, int]  # units out of and in distribution
    ends: tuple[float, float]
    level: float

    def between(self, statistics: Sequence[Linearised]) -> tuple[float, float]:
        """Interval on the logit scale between the ends; the value itself if it is at one of them."""
        best, worst = self.ends
        whole, width = averaged(statistics), worst - best
        place = (whole.value - best) / width
        if not TINY < place < 1 - TINY:
            return whole.value, whole.value
        low, high = interval_of_loss(place, self._reach(whole, statistics) / width, 1.0)
        return best + width * low, best + width * high

    def of_errors(self, statistics: Sequence[Linearised], right: Sequence[Linearised]) -> float:
        """How far above its value the remainder that errors add may lie."""
        added = [_remainder(a, b) for a, b in zip(statistics, right, strict=True)]
        whole, further = averaged(added), np.inf
        if whole.value > TINY:
            further = interval_of_loss(whole.value, self._reach(whole, added), np.inf)[1] - whole.value
        if _errors_in(self.runs, self.units) < FEW:
            further = min(further, self._with_more_errors() - averaged(statistics).value)
        return max(further, 0.0)

    def not_shown(self, whole: Linearised) -> tuple[float, float]:
        """Distances below and above that samples without variance do not show."""
        best, worst = self.ends
        at_end = not best + TINY < whole.value < worst - TINY
        below = above = 0.0
        q = float(special.ndtri(0.5 + self.level / 2))
        for out, part, count in zip((True, False), whole.parts, self.counts, strict=True):
            if np.abs(part).max() > TINY and not at_end:
                continue
            share = q**2 / (count + q**2)
            # kept in the other order; errors not seen are in `of_errors`
            good, bad = (self._replaced(share, out=out, wrong=False, first=first) for first in (not out, out))
            below, above = np.hypot(below, max(whole.value - good, 0.0)), np.hypot(above, max(bad - whole.value, 0.0))
        return float(below), float(above)

    def _with_more_errors(self) -> float:
        """The value at Wilson's upper limit of the error rate, with all further errors kept first."""
        samples, q = self.runs[0].samples, float(special.ndtri(0.5 + self.level / 2))
        w = np.where(samples.is_out, 0.0, 1.0 if samples.weights is None else samples.weights)
        rate = float(np.average(np.mean([run.errors for run in self.runs], axis=0), weights=w))
        k = q**2 / self.counts[1]
        limit = (rate + k / 2 + float(np.sqrt(k * rate * (1 - rate) + k**2 / 4))) / (1 + k)
        share = (limit - rate) / (1 - rate) if rate < 1 else 0.0
        return self._replaced(share, out=False, wrong=True, first=True)

    def _replaced(self, share: float, *, out: bool, wrong: bool, first: bool) -> float:
        values = [run.contaminated(self.statistic, share, out=out, wrong=wrong, first=first) for run in self.runs]
        return float(np.mean(values))

    def _reach(self, whole: Linearised, runs: Sequence[Linearised]) -> float:
        spread = spread_of(whole, self.units)
        dof = min(spread.dof, tail_dof(whole, self.units, self.counts))
        spread = with_runs(Spread(spread.standard_error, dof, 0.0), [np.array([run.value for run in runs])])
        return float(special.stdtrit(spread.dof, 0.5 + self.level / 2)) * spread.standard_error


def _remainder(a: Linearised, b: Linearised) -> Linearised:
    """a − b, whose parts are the same two samples."""
    parts = tuple(x - y for x, y in zip(a.parts, b.parts, strict=True))
    return replace(a, value=a.value - b.value, influence=a.influence - b.influence, parts=parts)


def _errors_in(runs: Sequence[ScodSamples], units: Units) -> float:
    """Number of errors in distribution, of groups with errors where there are groups; the mean over runs."""
    return units_in(np.mean([run.errors for run in runs], axis=0), units)


def _of_errors(runs: Sequence[ScodSamples], units: Units) -> list[Note]:
    """Notes on few errors in distribution; which errors there are is of no account where they cost nothing."""
    first = runs[0]
    if first.error_cost == 0.0:
        return []
    wrong = _errors_in(runs, units)
    if wrong == 0:
        return [Note("none", f"no errors among the {SAMPLES[1]}")]
    if wrong < FEW:
        what = "error" if f"{wrong:.3g}" == "1" else "errors"
        return [Note("few", f"only {wrong:.3g} {what} among the {SAMPLES[1]}: a rough interval", {"count": wrong})]
    return []


# Selective classification where inputs may be out of distribution (SCOD): one risk for errors and foreign inputs.
#
# A score decides which inputs are kept. Keeping a wrong prediction is a mistake, and keeping an input out of
# distribution is one too. All metrics depend only on the order of the scores, and ties are shared evenly, as in
# `metrics.aurc_loss`.

AT_COVERAGE = 0.8  # of the risk by name, as in torch-uncertainty


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_aurc_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the risk-coverage curve where kept inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out : array_like (n,) of bool, or 0 and 1
        True or 1 for an out-of-distribution instance, False or 0 for an in-distribution one. There must be both kinds.
    errors : array_like (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong. Values out of distribution are
        ignored.
    uncertainty : array_like (n,)
        Greater means that the instance is refused earlier. Infinite values are allowed.
    error_cost : float
        β in [0, 1], the cost of a kept error. A kept instance out of distribution costs 1 − β. With 0.5 both cost the same,
        0.5.
    share_out : float, optional
        α in (0, 1), the share of inputs out of distribution in use. The samples are weighted to it; by default the share is
        that of the samples.
    sample_weight : array_like (n,), optional
        Weight of each instance.
    groups : array_like (n,), optional
        Patients, sites or videos, as in `ood_auc_score`.
    level : float
        Confidence level of the interval.

    Returns
    -------
    estimate : Estimate
        The mean over coverages of the mean cost of the instances kept, in the units of the costs. With `error_cost=0.5` it is
        half the AURC of errors of which every instance out of distribution is one. Fewer than 20 errors get a note.

    Notes
    -----
    The value depends on the share of inputs out of distribution: compare only numbers of one share. At given share and cost
    no order reaches 0, because at coverage 1 everything is kept.

    Xia and Bouganis call the cost of an error β. Narasimhan et al. and torch-uncertainty (`SCODAURC(ood_cost=…)`) give the
    cost of an input out of distribution, 1 − β. torch-uncertainty joins the risks at the coverages k/n by trapezoids, divides
    by 1 − 1/n, and breaks ties by the order of rows.

    Both samples are independent and their shares are given. The influence of an instance is that of `aurc_loss`, centred in
    its sample. The interval is symmetric on the logit scale between the values of the best and of the worst order at this
    cost and share, with an upper end that may be further where errors are few (`scod_estimate`). A sample whose influences are
    equal counts with what it may not have shown yet. docs/evidence-ranking.md has the measured coverage.

    References
    ----------
    Xia, Bouganis (2022), Augmenting softmax information for selective classification with out-of-distribution data, ACCV.
    Narasimhan, Menon, Jitkrittum, Kumar (2023), Plugin estimators for selective classification with out-of-distribution
    detection.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_aurc_loss(is_out, errors, uncertainty), 4)
    0.105
    >>> round(scod_aurc_loss(is_out, errors, uncertainty, error_cost=0.8, share_out=0.1), 4)
    0.1058
    """
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], aurc, level=level)


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_augrc_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the generalised risk-coverage curve where kept inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out, errors, uncertainty, error_cost, share_out, sample_weight, groups, level
        As in `scod_aurc_loss`.

    Returns
    -------
    estimate : Estimate
        The cost of the instances kept, divided by the number of all instances, averaged over coverages.

    Notes
    -----
    See `scod_aurc_loss` for the interval. torch-uncertainty has this area as `SCODAUGRC`; the papers on selective
    classification with out-of-distribution data do not.

    References
    ----------
    Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_augrc_loss(is_out, errors, uncertainty), 4)
    0.0764
    """
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], augrc, level=level)


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_risk_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float = AT_COVERAGE,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean cost of the instances kept at one coverage, where inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out, errors, uncertainty, error_cost, share_out, sample_weight, groups, level
        As in `scod_aurc_loss`.
    coverage : float
        Share of all inputs that is kept, in (0, 1]. A tie at the threshold is kept in part.

    Notes
    -----
    See `scod_aurc_loss` for the interval; the estimated threshold enters through the mean cost near it, as in
    `risk_coverage_curve`. torch-uncertainty (`SCODRiskAtxCov`) keeps the next whole number of instances.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_risk_loss(is_out, errors, uncertainty, coverage=0.5), 4)
    0.1667
    """
    check_coverage(coverage)
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], risk_at(coverage), level=level)


# -- by name -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScodMetric:
    """A metric of how well an uncertainty decides which inputs to keep, errors and foreign inputs together."""

    name: str
    area: Statistic  #: `RankedErrors` of the losses → `Linearised`

    higher_is_better = False

    def statistic(self, samples: ScodSamples) -> Linearised:
        """Value and influences, whose differences `paired_statistic_test` tests."""
        return samples.linearised(self.area)

    def interval(self, runs: Sequence[ScodSamples], *, level: float = 0.95) -> Estimate:
        """Mean over training runs on the same instances, with its interval."""
        return scod_estimate(runs, self.area, level=level)


_AREAS: dict[str, Callable[..., Linearised]] = {
    "scod-aurc": aurc,
    "scod-augrc": augrc,
    f"scod-risk{100 * AT_COVERAGE:.0f}": risk_at(AT_COVERAGE),
}
SCOD_METRICS: dict[str, ScodMetric] = {name: ScodMetric(name, area) for name, area in _AREAS.items()}
