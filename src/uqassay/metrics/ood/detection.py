"""Detection of inputs out of distribution by a score: ROC-AUC, false-positive rate and average precision of two samples.

Paper 003, section 16: "in or out of distribution" takes the place of "right or wrong", and the ROC-AUC that of UQ-AUC.
All three metrics depend on the order of the scores alone, and not on the order of rows: equal scores count as half (ROC-AUC),
are shared evenly (false-positive rate) or pass together (average precision).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.metrics.ood.intervals import (
    SAMPLES,
    Positive,
    aupr_estimate,
    aupr_linearised,
    fpr_estimate,
    fpr_linearised,
    ood_auc_estimate,
    ood_auc_linearised,
)
from uqassay.metrics.ood.two_samples import TwoSamples, two_samples
from uqassay.statistics import Estimate
from uqassay.statistics.delong import named_auc
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import check_choice

__all__ = ["OOD_METRICS", "OodMetric", "aupr_score", "fpr_at_tpr_error", "ood_auc_score"]


def ood_auc_score(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that an instance out of distribution is more uncertain than one in it (ties ½): the ROC-AUC.

    Parameters
    ----------
    is_out : array_like (n,) of bool, or 0 and 1
        True or 1 for an instance out of distribution, False or 0 for one in distribution. Both kinds must be there.
    uncertainty : array_like (n,)
        A score of every instance: the greater, the less certain. Infinite values are allowed.
    sample_weight : array_like (n,), optional
        How much each instance counts.
    groups : array_like (n,), optional
        Patients, sites, videos: groups are independent of each other, instances of one group are not. A label that stands
        in both samples names two groups. (If one patient gives instances to both, shifts that they share cancel, and the
        interval is wider than necessary.)
    level : float
        Confidence level of the interval.

    Returns
    -------
    estimate : Estimate
        ½ for a score that does not depend on the sample. With fewer than 20 instances (groups) in one of the samples a
        note says how many.

    Raises
    ------
    InputError
        nan by name and count, an empty sample, arrays of different lengths, `is_out` that is not 0 or 1.

    Notes
    -----
    The interval is that of `statistics.auc_estimate`: DeLong's variance with 0.3 of an imaginary instance in each sample, on
    the logit scale. Which sample is called positive does not matter to the area.

    95 % intervals cover 94.1 to 95.8 %; with 20 groups in a sample and an area near 1, a point less than nominal
    (docs/measured-coverage.md).

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


def fpr_at_tpr_error(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    tpr: float = 0.95,
    positive: Positive = "out",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the negatives that pass the threshold at which 95 % of the positives are detected (FPR95); lower is better.

    Parameters
    ----------
    is_out, uncertainty : array_like (n,)
        As in `ood_auc_score`.
    tpr : float
        The share of positives to detect, in (0, 1).
    positive : {"out", "in"}
        "out": 95 % of the instances out of distribution are refused, and the error is the share of those in distribution
        that are refused with them (Hendrycks, Mazeika and Dietterich 2019; OpenOOD today). "in": 95 % of the instances in
        distribution are kept, and the error is the share of those out of distribution that are kept with them (Liang, Li and
        Srikant 2018, ODIN; early versions of OpenOOD). The two differ, and papers do not always say which they print.
    sample_weight, groups, level
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
    threshold unbounded the upper end is 1, and a note says so. Where several positives tie at the threshold the curve may
    have a corner there, and both sides get the wider distance.

    95 % intervals cover 94.3 to 99.8 %: they are conservative below 200 instances, where nothing bounds the threshold, and
    where few scores are distinct (docs/measured-coverage.md).

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
    """
    if not 0.0 < tpr < 1.0:
        raise InputError("tpr", "must lie strictly between 0 and 1", f"got {tpr}", "pass 0.95 for 95 %", code="range")
    check_choice(positive, "positive", ("out", "in"))
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return fpr_estimate([samples], tpr=tpr, positive=positive, level=level)


def aupr_score(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    positive: Positive = "out",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the precision-recall curve as average precision, Σ_k (R_k − R_{k−1}) P_k over the distinct thresholds.

    Parameters
    ----------
    is_out, uncertainty : array_like (n,)
        As in `ood_auc_score`.
    positive : {"out", "in"}
        "out" (AUPR-Out): precision is the share of the refused that is out. "in" (AUPR-In): the share of the kept that is
        in. Hendrycks and Gimpel (2017), ODIN and OpenOOD print both; a single "AUPR" is most often AUPR-Out.
    sample_weight, groups, level
        As in `ood_auc_score`. The weights of both samples together say how frequent positives are.

    Returns
    -------
    estimate : Estimate
        The share of positives for a score that does not depend on the sample: AUPR depends on the sizes of the two
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

    95 % intervals cover 93.6 to 96.5 %; the least with 20 groups in a sample, or 50 instances of a weak score
    (docs/measured-coverage.md).

    References
    ----------
    Hendrycks, Gimpel (2017), A baseline for detecting misclassified and out-of-distribution examples, ICLR.
    Davis, Goadrich (2006), The relationship between precision-recall and ROC curves, ICML.

    Examples
    --------
    >>> aupr_score([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.3, 0.4, 0.6, 0.7]).__round__(4)
    0.8542
    """
    check_choice(positive, "positive", ("out", "in"))
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return aupr_estimate([samples], positive=positive, level=level)


# -- by name -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OodMetric:
    """One number for how well an uncertainty tells two samples apart.

    Attributes
    ----------
    name : str
    higher_is_better : bool
    statistic : callable
        `TwoSamples` → `Linearised` over all rows; its differences are tested by
        `statistics.statistic_comparisons.paired_statistic_test`.
    interval : callable
        (`TwoSamples` of each training run on the same instances, level=…) → `Estimate` of the mean over runs.
    """

    name: str
    higher_is_better: bool
    statistic: Callable[[TwoSamples], Linearised]
    interval: Callable[..., Estimate]


_SIDES: tuple[Positive, ...] = ("out", "in")
_ALL = (
    OodMetric("ood-auc", True, ood_auc_linearised, ood_auc_estimate),
    *(
        OodMetric(f"fpr95-{side}", False, partial(fpr_linearised, positive=side), partial(fpr_estimate, positive=side))
        for side in _SIDES
    ),
    *(
        OodMetric(f"aupr-{side}", True, partial(aupr_linearised, positive=side), partial(aupr_estimate, positive=side))
        for side in _SIDES
    ),
)

OOD_METRICS: dict[str, OodMetric] = {metric.name: metric for metric in _ALL}
