"""Does the uncertainty tell inputs from elsewhere? Two independent samples of one score: in and out of distribution.

Paper 003, section 16: with inputs of both kinds at hand, knowing which are which takes the place of knowing what was
misclassified, and the ROC-AUC that of UQ-AUC. All three metrics depend on the order of the scores alone; equal scores count
as half (ROC-AUC), are shared evenly (false-positive rate) or pass together (average precision), whatever the order of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.errors import InputError
from uqassay.metrics.two_samples import RankedSamples, TwoSamples, rank_samples, two_samples
from uqassay.statistics import Estimate
from uqassay.statistics._samples import Floats, Spread, Units, check_choice, check_level, make_units
from uqassay.statistics.delong import IMAGINARY, auc_linearised, named_auc, noted, sample_counts
from uqassay.statistics.estimate import describe
from uqassay.statistics.linearised import Linearised, averaged, linearised_estimate, scaled_interval, spread_of

__all__ = ["OOD_METRICS", "OodMetric", "aupr_score", "fpr_at_tpr_error", "ood_auc_score"]

Positive = Literal["out", "in"]
SAMPLES = ("out-of-distribution instances", "in-distribution instances")
ARGUMENTS = ("is_out", "uncertainty")
LEAST_DOF = 3.0
TPR = 0.95  # of the metrics by name


def ood_auc_score(
    uncertainty_in: ArrayLike,
    uncertainty_out: ArrayLike,
    *,
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    sample_weight_in: ArrayLike | None = None,
    sample_weight_out: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that an instance out of distribution is more uncertain than one in it (ties ½): the ROC-AUC.

    Parameters
    ----------
    uncertainty_in : array_like (m,)
        A score of instances in distribution; greater is less certain, infinite values are allowed.
    uncertainty_out : array_like (n,)
        The same score of instances out of distribution.
    groups_in, groups_out : array_like (m,), (n,), optional
        Patients, sites, videos: groups are independent of each other, instances of one group are not. A label that stands
        in both samples names two groups. (Where one patient gives to both, what it shifts in both cancels, and the interval
        is wider than need be.)
    sample_weight_in, sample_weight_out : array_like (m,), (n,), optional
        How much each instance counts.
    level : float
        Confidence level of the interval.

    Returns
    -------
    estimate : Estimate
        ½ for a score that knows nothing. With fewer than 20 instances (groups) in one of the samples the note says how many.

    Raises
    ------
    InputError
        nan by name and count, an empty sample, weights or groups of another length.

    Notes
    -----
    The interval is that of `statistics.auc_estimate`: DeLong's variance with 0.3 of an imaginary instance in each sample, on
    the logit scale. Which sample is called positive does not matter to the area.

    AUC_TABLE

    Examples
    --------
    >>> ood_auc_score([0.1, 0.2, 0.3, 0.3], [0.3, 0.5]).__round__(4)
    0.875
    """
    samples = two_samples(
        uncertainty_in,
        uncertainty_out,
        groups_in=groups_in,
        groups_out=groups_out,
        sample_weight_in=sample_weight_in,
        sample_weight_out=sample_weight_out,
    )
    return named_auc(
        samples.is_out,
        np.concatenate([samples.inside, samples.outside]),
        sample_weight=samples.weights,
        groups=samples.groups,
        level=level,
        method="adjusted",
        names=SAMPLES,
        arguments=ARGUMENTS,
    )


def fpr_at_tpr_error(
    uncertainty_in: ArrayLike,
    uncertainty_out: ArrayLike,
    *,
    tpr: float = 0.95,
    positive: Positive = "out",
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    sample_weight_in: ArrayLike | None = None,
    sample_weight_out: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the negatives that pass the threshold at which 95 % of the positives are detected (FPR95); lower is better.

    Parameters
    ----------
    uncertainty_in, uncertainty_out : array_like (m,), (n,)
        As in `ood_auc_score`.
    tpr : float
        The share of positives to detect, in (0, 1).
    positive : {"out", "in"}
        "out": 95 % of what is out is refused, and the error is the share of what is in that is refused with it (Hendrycks,
        Mazeika and Dietterich 2019; OpenOOD from version 1.5 on). "in": 95 % of what is in is kept, and the error is the
        share of what is out that is kept with it (Liang, Li and Srikant 2018, ODIN; the first version of OpenOOD). The two
        differ, and papers do not always say which they print.
    groups_in, groups_out, sample_weight_in, sample_weight_out, level
        As in `ood_auc_score`.

    Returns
    -------
    estimate : Estimate
        The number of the smallest threshold that detects enough; where scores tie at the threshold as many of the
        positives as are needed pass, and the same share of the negatives: the ROC curve is linear there.

    Raises
    ------
    InputError
        As in `ood_auc_score`; also for a tpr outside (0, 1) or an unknown `positive`.

    Notes
    -----
    Two errors add up: that of the share of negatives at a given threshold (Wilson's interval), and that of the threshold,
    which is a quantile of few positives. The latter is found on the ROC curve itself, between those shares of positives
    that a true share of `tpr` may show in such a sample (an order-statistic interval with the skewness of the binomial
    distribution); it is wide on the side where the curve is steep. The distances of both limits from the estimate are
    combined as the root of their sum of squares on each side (Zou and Donner 2008). Groups and weights enter through the
    number of independent instances that would give either share its variance. Where fewer than about 60 positives leave the
    threshold unbounded the upper end is 1, and the note says so.

    FPR_TABLE

    References
    ----------
    Hendrycks, Mazeika, Dietterich (2019), Deep anomaly detection with outlier exposure, ICLR.
    Liang, Li, Srikant (2018), Enhancing the reliability of out-of-distribution image detection in neural networks, ICLR.
    Zou, Donner (2008), Construction of confidence limits about effect measures: a general approach, Stat. Med. 27.
    Hall, Sheather (1988), On the distribution of a Studentized quantile, J. R. Stat. Soc. B 50 (window of the slope that
    enters tests).

    Examples
    --------
    >>> fpr_at_tpr_error([0.1, 0.2, 0.3, 0.5], [0.3, 0.4, 0.6, 0.7], tpr=0.75).__round__(4)
    0.25
    """
    _check_tpr(tpr)
    check_choice(positive, "positive", ("out", "in"))
    samples = two_samples(
        uncertainty_in,
        uncertainty_out,
        groups_in=groups_in,
        groups_out=groups_out,
        sample_weight_in=sample_weight_in,
        sample_weight_out=sample_weight_out,
    )
    return fpr_estimate([samples], tpr=tpr, positive=positive, level=level)


def aupr_score(
    uncertainty_in: ArrayLike,
    uncertainty_out: ArrayLike,
    *,
    positive: Positive = "out",
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    sample_weight_in: ArrayLike | None = None,
    sample_weight_out: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the precision-recall curve as average precision, Σ_k (R_k − R_{k−1}) P_k over the distinct thresholds.

    Parameters
    ----------
    uncertainty_in, uncertainty_out : array_like (m,), (n,)
        As in `ood_auc_score`.
    positive : {"out", "in"}
        "out" (AUPR-Out): precision is the share of the refused that is out. "in" (AUPR-In): the share of the kept that is
        in. Hendrycks and Gimpel (2017), ODIN and OpenOOD print both; a single "AUPR" is most often AUPR-Out.
    groups_in, groups_out, sample_weight_in, sample_weight_out, level
        As in `ood_auc_score`. The weights of both samples together say how frequent positives are.

    Returns
    -------
    estimate : Estimate
        The share of positives for a score that knows nothing: it, and so every AUPR, depends on the sizes of the two
        samples. Compare numbers from one pair of samples only, or weigh one sample to the share that matters in use.

    Raises
    ------
    InputError
        As in `ood_auc_score`; also for an unknown `positive`.

    Notes
    -----
    The same as scikit-learn's average_precision_score. OpenOOD instead joins the points by straight lines, which is
    optimistic (Davis and Goadrich 2006).

    The interval is for samples of these sizes. The influence of an instance is the exact derivative by its weight; the
    interval is on the logit scale with Student's t, whose degrees of freedom follow from the fourth moment of the
    influences: few negatives of high rank carry most of the variance. Without variance (perfect separation, equal scores)
    it is Wilson's for as many instances as the smaller sample has.

    AUPR_TABLE

    References
    ----------
    Hendrycks, Gimpel (2017), A baseline for detecting misclassified and out-of-distribution examples, ICLR.
    Davis, Goadrich (2006), The relationship between precision-recall and ROC curves, ICML.

    Examples
    --------
    >>> aupr_score([0.1, 0.2, 0.3, 0.5], [0.3, 0.4, 0.6, 0.7]).__round__(4)
    0.8542
    """
    check_choice(positive, "positive", ("out", "in"))
    samples = two_samples(
        uncertainty_in,
        uncertainty_out,
        groups_in=groups_in,
        groups_out=groups_out,
        sample_weight_in=sample_weight_in,
        sample_weight_out=sample_weight_out,
    )
    return aupr_estimate([samples], positive=positive, level=level)


# -- several training runs, and the metrics by name ---------------------------------------------------------------------


def auc_estimate(runs: Sequence[TwoSamples], *, level: float = 0.95) -> Estimate:
    """Mean ROC-AUC over training runs on the same instances, with its interval; one run claims no spread between runs."""
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
    runs: Sequence[TwoSamples], *, tpr: float = TPR, positive: Positive = "out", level: float = 0.95
) -> Estimate:
    """Mean false-positive rate over training runs on the same instances, with its interval; for use by other rooms."""
    check_level(level)
    ranked = [rank_samples(samples, positive) for samples in runs]
    whole = averaged([_fpr(one, tpr) for one in ranked])
    units, counts, notes = _sample_notes(runs)
    value, low, high = whole.value, np.nan, np.nan
    if not any("no interval" in note for note in notes):
        of_positive, of_negative = counts if positive == "out" else counts[::-1]
        values = np.array([one.fpr(tpr) for one in ranked])
        dof = spread_of(whole, units, [values]).dof
        q = float(special.stdtrit(dof, 0.5 + level / 2))
        # the share of negatives at a given threshold
        error = _part_error(whole.parts[1], whole.inside[1], units)
        below, above = scaled_interval(value, Spread(error, dof, 0.0), level, "wilson", of_negative)
        # the threshold
        n = of_positive
        if len(runs) > 1 or units.codes is not None or units.weights is not None:
            reached = averaged([_detected(one, tpr) for one in ranked])
            error = _part_error(reached.parts[0], reached.inside[0], units)
            n = tpr * (1 - tpr) / error**2 if error > 0 else n
        fewer, more = _shares_seen(tpr, n, q)
        least, most = (float(np.mean([one.fpr(at) for one in ranked])) for at in (fewer, more))
        if more > 1:
            notes.append(f"too few {SAMPLES[positive == 'in']} to bound the threshold")
        between = q * float(values.std(ddof=1)) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
        low = value - float(np.linalg.norm([value - below, value - least, between]))
        high = value + float(np.linalg.norm([above - value, most - value, between]))
        low, high = max(low, 0.0), min(high, 1.0)
    method = "wilson, order statistics of the threshold"
    return _estimate(runs, value, low, high, level, method, notes)


def aupr_estimate(runs: Sequence[TwoSamples], *, positive: Positive = "out", level: float = 0.95) -> Estimate:
    """Mean average precision over training runs on the same instances, with its interval; for use by other rooms."""
    check_level(level)
    statistics = [aupr_linearised(samples, positive) for samples in runs]
    whole = averaged(statistics)
    units, counts, notes = _sample_notes(runs)
    value, low, high = whole.value, np.nan, np.nan
    if not any("no interval" in note for note in notes):
        spread = spread_of(whole, units)
        dof = min(spread.dof, _tail_dof(whole, units))
        values = np.array([run.value for run in statistics])
        spread = _with_runs(Spread(spread.standard_error, dof, 0.0), values)
        scale = "logit" if spread.standard_error > 0 else "wilson"
        low, high = scaled_interval(value, spread, level, scale, min(counts))
    return _estimate(runs, value, low, high, level, "linearised, logit scale", notes)


@dataclass(frozen=True)
class OodMetric:
    """One number for how well an uncertainty tells two samples apart.

    Attributes
    ----------
    name : str
    higher_is_better : bool
    statistic : callable
        `TwoSamples` → `Linearised` over the rows of both, those inside first: its differences are tested by
        `statistics.statistic_comparisons.paired_statistic_test`.
    interval : callable
        (`TwoSamples` of each training run, level) → `Estimate`.
    """

    name: str
    higher_is_better: bool
    statistic: Callable[[TwoSamples], Linearised]
    interval: Callable[[Sequence[TwoSamples], float], Estimate]


def ood_auc_linearised(samples: TwoSamples) -> Linearised:
    """ROC-AUC and its influences."""
    scores = np.concatenate([samples.inside, samples.outside])
    return auc_linearised(samples.is_out.astype(np.float64), scores, samples.weights, imaginary=IMAGINARY)


def fpr_linearised(samples: TwoSamples, *, tpr: float = TPR, positive: Positive = "out") -> Linearised:
    """False-positive rate and its influences: of negatives by passing, of positives by moving the threshold."""
    return _fpr(rank_samples(samples, positive), tpr)


def aupr_linearised(samples: TwoSamples, positive: Positive = "out") -> Linearised:
    """Average precision and its influences."""
    ranked = rank_samples(samples, positive)
    a, b = ranked.detected, ranked.passed
    total = np.where(a + b > 0, a + b, 1.0)  # 0 where all weights so far are
    recalled, precision = np.diff(a, prepend=0.0), a / total
    value = float(recalled @ precision) / float(a[-1])
    # one more of a block changes the precision of this threshold and all after it
    for_positive = precision + _sum_from(recalled / total * (b / total))
    for_negative = -(b[-1] / a[-1]) * _sum_from(recalled / total * precision)
    return ranked.linearised(value, for_positive[ranked.block], for_negative[ranked.block])


def _by_name() -> dict[str, OodMetric]:
    found = [OodMetric("ood-auc", True, ood_auc_linearised, lambda runs, level: auc_estimate(runs, level=level))]
    sides: tuple[Positive, ...] = ("out", "in")
    for side in sides:
        found.append(
            OodMetric(
                f"fpr95-{side}",
                False,
                lambda samples, side=side: fpr_linearised(samples, positive=side),
                lambda runs, level, side=side: fpr_estimate(runs, positive=side, level=level),
            )
        )
        found.append(
            OodMetric(
                f"aupr-{side}",
                True,
                lambda samples, side=side: aupr_linearised(samples, side),
                lambda runs, level, side=side: aupr_estimate(runs, positive=side, level=level),
            )
        )
    return {metric.name: metric for metric in found}


OOD_METRICS = _by_name()

# -- helpers ------------------------------------------------------------------------------------------------------------


def _fpr(ranked: RankedSamples, tpr: float) -> Linearised:
    passed = _passed(ranked, tpr)
    return ranked.linearised(ranked.fpr(tpr), -_slope(ranked, tpr) * passed, passed)


def _detected(ranked: RankedSamples, tpr: float) -> Linearised:
    """True-positive rate at the threshold, as if that were fixed."""
    return ranked.linearised(tpr, _passed(ranked, tpr), np.zeros(len(ranked.block)))


def _passed(ranked: RankedSamples, tpr: float) -> Floats:
    """1 for what lies above the threshold, 0 for what lies below, a share for what ties with it, (N,)."""
    k, share = ranked.place(tpr)
    return np.where(ranked.block < k, 1.0, np.where(ranked.block == k, share, 0.0))


def _slope(ranked: RankedSamples, tpr: float) -> float:
    """How fast the false-positive rate grows with the true-positive rate, over Hall and Sheather's window of ranks."""
    z = float(special.ndtri(tpr))
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    width = (1.5 * float(special.ndtri(0.975)) ** 2 * density**2 / (2 * z**2 + 1) / ranked.n_positive) ** (1 / 3)
    half = min(width, tpr, 1 - tpr)
    return (ranked.fpr(tpr + half) - ranked.fpr(tpr - half)) / (2 * half)


def _shares_seen(tpr: float, n: float, q: float) -> tuple[float, float]:
    """Between which shares a sample of n shows a true share: Cornish and Fisher's quantiles of the binomial distribution."""
    error = (tpr * (1 - tpr) / n) ** 0.5
    middle = tpr + (1 - 2 * tpr) * (q**2 - 1) / (6 * n)
    return middle - q * error, middle + q * error


def _part_error(part: Floats, inside: Floats, units: Units) -> float:
    """Standard error that one of the two samples gives."""
    return spread_of(Linearised(0.0, part, (part,), (inside,)), units).standard_error


def _tail_dof(statistic: Linearised, units: Units) -> float:
    """Degrees of freedom of the variance from the fourth moments of the influences in each sample."""
    squares, dofs = [], []
    for part, inside in zip(statistic.parts, statistic.inside, strict=True):
        u = units.sums(units.keep(part)[:, np.newaxis])[:, 0]
        count = float((units.sums(units.keep(inside.astype(np.float64))[:, np.newaxis]) > 0).sum())
        u = u / max(float(np.abs(u).max()), np.finfo(np.float64).tiny)
        second, fourth = float((u**2).sum()), float((u**4).sum())
        excess = fourth - second**2 / count
        dofs.append(min(max(2 * second**2 / excess, LEAST_DOF), count - 1) if excess > 0 else max(count - 1, 1.0))
        squares.append(float((units.sums(units.keep(part)[:, np.newaxis]) ** 2).sum()))
    whole = sum(squares)
    if whole == 0:
        return float(sum(dofs))
    return 1.0 / sum((square / whole) ** 2 / dof for square, dof in zip(squares, dofs, strict=True))


def _with_runs(spread: Spread, values: Floats) -> Spread:
    """The same with the spread between training runs, degrees of freedom by Satterthwaite."""
    if values.size == 1 or (values == values[0]).all():
        return spread
    variances = [(spread.standard_error**2, spread.dof), (float(values.var(ddof=1)) / values.size, values.size - 1.0)]
    whole = sum(variance for variance, _ in variances)
    return Spread(whole**0.5, 1.0 / sum((v / whole) ** 2 / dof for v, dof in variances), 0.0)


def _sum_from(terms: Floats) -> Floats:
    return np.cumsum(terms[::-1])[::-1]


def _counts(samples: TwoSamples) -> list[tuple[float, str]]:
    return sample_counts(samples.is_out.astype(np.float64), samples.weights, samples.groups, SAMPLES)


def _sample_notes(runs: Sequence[TwoSamples]) -> tuple[Units, tuple[int, int], list[str]]:
    """Units, how many of them are out and how many in, and notes: on groups, on runs, and why there is no interval."""
    first = runs[0]
    units = make_units(len(first.is_out), first.groups, first.weights)
    notes = describe(units, [len(runs)] if len(runs) > 1 else [])
    counts = _counts(first)
    what = "group of" if units.codes is not None else ""
    for count, name in counts:
        if count == 1:
            plain = name.removesuffix(" in different groups")
            notes.append(" ".join(filter(None, ["1", what, plain if what else plain.removesuffix("s")])) + ": no interval")
    return units, (int(counts[0][0]), int(counts[1][0])), notes


def _estimate(
    runs: Sequence[TwoSamples], value: float, low: float, high: float, level: float, method: str, notes: list[str]
) -> Estimate:
    n = len(runs[0].is_out) if runs[0].weights is None else int(np.count_nonzero(runs[0].weights))
    low, high = min(low, value), max(high, value)
    found = Estimate(value, low=low, high=high, level=level, n=n, method=method, note="; ".join(notes))
    return noted(found, [c for c in _counts(runs[0]) if c[0] > 1], constant=_constant(runs))


def _constant(runs: Sequence[TwoSamples]) -> bool:
    return all(samples.constant for samples in runs)


def _check_tpr(tpr: float) -> None:
    if not 0.0 < tpr < 1.0:
        raise InputError(f"tpr: must lie strictly between 0 and 1; got {tpr}; pass 0.95 for 95 %.")
