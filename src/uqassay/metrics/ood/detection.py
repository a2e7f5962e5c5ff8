"""Does the uncertainty tell inputs from elsewhere? Two independent samples of one score: in and out of distribution.

Paper 003, section 16: with inputs of both kinds at hand, knowing which are which takes the place of knowing what was
misclassified, and the ROC-AUC that of UQ-AUC. All three metrics depend on the order of the scores alone; equal scores count
as half (ROC-AUC), are shared evenly (false-positive rate) or pass together (average precision), whatever the order of rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
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
        ½ for a score that knows nothing. With fewer than 20 instances (groups) in one of the samples a note says how many.

    Raises
    ------
    InputError
        nan by name and count, an empty sample, weights or groups of another length.

    Notes
    -----
    The interval is that of `statistics.auc_estimate`: DeLong's variance with 0.3 of an imaginary instance in each sample, on
    the logit scale. Which sample is called positive does not matter to the area.

    Measured coverage of 95 % intervals in percent (10,000 pairs of normal samples), at areas of .6 / .8 / .95; groups have ten
    instances each and correlation .3:

    =====  =====  ==================  ==================  ==================
    m      n      continuous          5 distinct scores   groups
    =====  =====  ==================  ==================  ==================
    200    200    95.4 / 95.2 / 95.0  95.1 / 95.2 / 95.1  95.4 / 95.2 / 94.1
    1000   200    94.8 / 94.8 / 94.6  94.8 / 94.8 / 94.9  95.4 / 95.2 / 94.1
    200    1000   95.1 / 95.1 / 95.0  95.2 / 95.0 / 95.3  95.5 / 95.0 / 94.4
    1000   1000   95.2 / 95.5 / 95.1  95.2 / 95.4 / 95.2  94.9 / 94.8 / 94.4
    50     50     95.5 / 95.5 / 95.8  95.8 / 95.5 / 95.4
    =====  =====  ==================  ==================  ==================

    With 20 groups in a sample and an area near 1 it falls short by a point.

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
        arguments=("is_out", "uncertainty"),
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
        Mazeika and Dietterich 2019; OpenOOD as it is now). "in": 95 % of what is in is kept, and the error is the share of
        what is out that is kept with it (Liang, Li and Srikant 2018, ODIN; early versions of OpenOOD). The two differ, and
        papers do not always say which they print.
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
    threshold unbounded the upper end is 1, and a note says so. Where several positives tie at the threshold the curve may
    have a corner there, and both sides get the wider distance.

    Measured coverage of 95 % intervals in percent (10,000 pairs of normal samples), at areas of .6 / .8 / .95; groups have ten
    instances each and correlation .3:

    =====  =====  ==================  ==================  ==================
    m      n      continuous          5 distinct scores   groups
    =====  =====  ==================  ==================  ==================
    200    200    96.5 / 96.1 / 96.4  99.6 / 96.2 / 96.5  95.5 / 95.6 / 95.7
    1000   200    95.5 / 95.4 / 95.4  99.8 / 98.7 / 98.2  94.7 / 94.4 / 94.3
    200    1000   96.1 / 96.1 / 96.4  99.2 / 99.7 / 98.5  95.2 / 95.8 / 95.4
    1000   1000   96.0 / 96.0 / 96.0  99.8 / 96.5 / 97.0  95.2 / 94.8 / 95.1
    50     50     99.5 / 98.9 / 99.1  99.1 / 97.4 / 99.8
    =====  =====  ==================  ==================  ==================

    Conservative by up to 1.5 points from 200 instances on; by 4 at 50, where nothing bounds the threshold; and where few
    scores are distinct, since the curve is then known on a whole segment. A paired test of two scores of correlation .5
    rejected 3.7 to 5.1 % at nominal 5 % (areas as above, 200 to 1,000 instances a side); that of ROC-AUC and
    of average precision 4.1 to 5.3 %.

    References
    ----------
    Hendrycks, Mazeika, Dietterich (2019), Deep anomaly detection with outlier exposure, ICLR.
    Liang, Li, Srikant (2018), Enhancing the reliability of out-of-distribution image detection in neural networks, ICLR.
    Zou, Donner (2008), Construction of confidence limits about effect measures: a general approach, Stat. Med. 27.

    Examples
    --------
    >>> fpr_at_tpr_error([0.1, 0.2, 0.3, 0.5], [0.3, 0.4, 0.6, 0.7], tpr=0.75).__round__(4)
    0.25
    """
    if not 0.0 < tpr < 1.0:
        raise InputError("tpr", "must lie strictly between 0 and 1", f"got {tpr}", "pass 0.95 for 95 %", code="range")
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

    Measured coverage of 95 % intervals in percent (10,000 pairs of normal samples), at areas of .6 / .8 / .95; groups have ten
    instances each and correlation .3:

    =====  =====  ==================  ==================  ==================
    m      n      continuous          5 distinct scores   groups
    =====  =====  ==================  ==================  ==================
    200    200    94.5 / 94.8 / 95.3  95.0 / 95.4 / 95.3  94.1 / 94.6 / 94.3
    1000   200    95.1 / 94.2 / 94.7  94.8 / 94.7 / 95.0  94.3 / 94.4 / 95.2
    200    1000   94.9 / 95.0 / 94.8  95.1 / 94.9 / 95.3  94.6 / 94.5 / 93.7
    1000   1000   94.8 / 95.0 / 94.9  95.0 / 95.0 / 95.0  94.8 / 95.1 / 94.9
    50     50     93.6 / 94.3 / 96.5  94.7 / 94.9 / 96.3
    =====  =====  ==================  ==================  ==================

    What falls short does so by a point: positives or negatives in 20 groups, and 50 instances of a weak score.

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


# -- by name -----------------------------------------------------------------------------------------------------------


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
