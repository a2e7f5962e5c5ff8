"""Detection of out-of-distribution inputs by a score: ROC-AUC, false-positive rate and average precision.

Paper 003, section 16: "in or out of distribution" replaces "right or wrong", and the ROC-AUC replaces UQ-AUC. All three
metrics depend only on the order of the scores, not on the order of rows. Tied scores count ½ (ROC-AUC), are shared evenly
or pass whole (false-positive rate, by name) or pass together (average precision).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
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
from uqassay.metrics.ood.two_samples import Ties, TwoSamples, two_samples
from uqassay.statistics import Estimate
from uqassay.statistics.delong import named_auc
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import check_choice

__all__ = ["OOD_METRICS", "OodMetric", "aupr_score", "fpr_at_tpr_error", "ood_auc_score"]


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

    Raises
    ------
    InputError
        When a value is nan, a sample is empty, lengths differ, or `is_out` has other values than 0 and 1.

    Notes
    -----
    The interval is that of `statistics.auc_estimate`: DeLong's variance with 0.3 of an imaginary instance in each sample, on
    the logit scale. The area does not depend on which sample is called positive.

    The measured coverage of 95 % intervals is 94.1 to 95.8 %. It is lowest with 20 groups in a sample and an area near 1
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

    Returns
    -------
    estimate : Estimate

    Raises
    ------
    InputError
        As in `ood_auc_score`; also for a tpr outside (0, 1), an unknown `positive` or unknown `ties`.

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
    bounds the threshold, and with few distinct scores (docs/measured-coverage.md).

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
    if not 0.0 < tpr < 1.0:
        raise InputError("tpr", "must lie strictly between 0 and 1", f"got {tpr}", "pass 0.95 for 95 %", code="range")
    check_choice(positive, "positive", ("out", "in"))
    check_choice(ties, "ties", ("shared", "whole"))
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

    Raises
    ------
    InputError
        As in `ood_auc_score`; also for an unknown `positive`.

    Notes
    -----
    The value is that of scikit-learn's average_precision_score. OpenOOD instead connects the points by straight lines, which
    is optimistic (Davis and Goadrich 2006).

    The interval takes the sizes of the two samples as fixed. The influence of an instance is the exact derivative by its
    weight. The interval is on the logit scale, with Student's t. Its degrees of freedom follow from the fourth moment of the
    influences, because few negatives of high rank make up most of the variance. If the variance is 0 (perfect separation,
    equal scores), the interval is Wilson's, with the size of the smaller sample as n.

    The measured coverage of 95 % intervals is 93.6 to 96.5 %. It is lowest with 20 groups in a sample, or 50 instances of a
    weak score (docs/measured-coverage.md).

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
    """A metric of how well an uncertainty separates two samples.

    Attributes
    ----------
    name : str
    higher_is_better : bool
    statistic : callable or None
        `TwoSamples` → `Linearised` over all rows. `statistics.statistic_comparisons.paired_statistic_test` tests its
        differences. None where ties pass whole: the rate then jumps from level to level, and a test would reject far too often.
    interval : callable
        (`TwoSamples` of each training run on the same instances, level=…) → `Estimate` of the mean over runs.
    """

    name: str
    higher_is_better: bool
    statistic: Callable[[TwoSamples], Linearised] | None
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
