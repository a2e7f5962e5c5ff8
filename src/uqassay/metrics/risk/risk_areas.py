"""Areas under risk-coverage curves: AURC, E-AURC, AUGRC and the prediction-rejection ratio."""

from collections.abc import Callable
from functools import partial

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.metrics.risk.risk_area_influences import (
    Convention,
    Risk,
    area_estimate,
    augrc,
    aurc,
    aurc_trapezoid,
    e_aurc,
    small_sample_ratio,
)
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import check_choice, make_units

__all__ = [
    "area_estimate",
    "augrc_loss",
    "aurc_loss",
    "e_aurc_loss",
    "prediction_rejection_score",
]

CONVENTIONS = ("exact", "trapezoid")


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    convention: Convention = "exact",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the risk-coverage curve (AURC): the mean risk over all coverages. Lower is better.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    convention : {"exact", "trapezoid"}
        "exact": the mean of 1 − accuracy at coverage c, over all c in (0, 1]. "trapezoid": trapezoids under the risk at the
        distinct thresholds, as in FD-Shifts. It rewards ties, so use it only to reproduce published numbers.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    groups : array of labels (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.
    level : float

    Returns
    -------
    estimate : Estimate
        With fewer than 20 errors or right predictions a note gives their number. If all errors are equal, the AURC is the
        error rate, as for a random order, with Wilson's interval.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], the convention is unknown, or shapes do not match.

    Notes
    -----
    A tie k reaches from coverage c₀ to c₁, has the error rate s and the error mass A₀ before it. Inside it the error *mass*
    is linear, because ties are shared evenly, and the risk is A/c. The tie adds s (c₁ − c₀) + (A₀ − s c₀) ln(c₁ / c₀) to the
    AURC. The sum equals the mean of the AURC over all orders of the tied instances, so a tie is neither rewarded nor
    punished, and the order of rows does not matter.

    The mean is over all coverages in (0, 1], at which the last instance may be kept in part. The mean over the coverages
    1/n, 2/n, …, 1 differs from it by less than 1 / (2n). With `convention="trapezoid"` the risk is linear between distinct
    thresholds and constant before the first. A score that ties nearly all instances then has a lower AURC than a better
    score without ties.

    The AURC gives an error among the most certain instances a weight of up to 1 + ln n. It depends on the accuracy too.

    The intervals of the AURC and of twice the AUGRC are symmetric on the scale of ln x / (1 − x). Those of the E-AURC, and of
    1 minus the selective prediction-rejection ratio, are symmetric on the scale of ln x, and end at an AURC of 1. The
    generalised ratio has the interval of UQ-AUC.

    The standard error follows from the exact influence of every instance. On the scale of ln x the influence is multiplied by
    1 + 1/m for each of m errors or right predictions, as in the jackknife. A few confident errors make up much of the variance,
    so Student's t has the degrees of freedom 2 (Σ u²)² / (Σ u⁴ − (Σ u²)² / G), which follow from the fourth moment of the
    influences, but at least 3.

    With 20 errors or more, 95 % intervals cover about 93 to 97 %, but at a UQ-AUC of .95 those of the E-AURC and the selective
    ratio 91 and 89 %. With fewer errors, or with 97 % of the scores tied, they cover less (docs/coverage-refusal.md).

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.
    Jaeger et al. (2023), A call to reflect on evaluation practices for failure detection (FD-Shifts; the trapezoids).
    Efron (1982), The jackknife, the bootstrap and other resampling plans.

    Examples
    --------
    >>> found = aurc_loss([0] * 20 + [1], list(range(21)))
    >>> round(found, 4), found.notes[0].text
    (0.0012, 'only 1 error: a rough interval')
    """
    check_choice(convention, "convention", CONVENTIONS)
    area = aurc if convention == "exact" else aurc_trapezoid
    return _estimate(area, "aurc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def e_aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    convention: Convention = "exact",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Excess of the AURC over the AURC of the best order of the same errors (E-AURC). Lower is better.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.
    convention : {"exact", "trapezoid"}
        How the AURC is computed, as in `aurc_loss`. The AURC of the best order is exact in both.

    Returns
    -------
    estimate : Estimate
        At least 0 (exact convention). There is no interval if all errors are equal or no instance is ranked wrongly, because
        the sample then shows no variation.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], or shapes do not match.

    Notes
    -----
    The best order is by ascending error. For errors of 0 and 1 with the rate r its AURC is r + (1 − r) ln(1 − r). With
    `convention="trapezoid"` the E-AURC of a perfect order is near 0 but not 0, and ties can make it negative.

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.

    Examples
    --------
    >>> round(e_aurc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), 4)
    0.1308
    """
    check_choice(convention, "convention", CONVENTIONS)
    excess = partial(e_aurc, convention=convention)
    return _estimate(excess, "e-aurc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def augrc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the generalised risk-coverage curve (AUGRC). Lower is better.

    It is the risk of an undetected error, averaged over coverages.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        If all errors are equal, half the error rate, with half of Wilson's interval.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], or shapes do not match.

    Notes
    -----
    AUGRC is the mean over coverages of A, the share of all instances that are kept and wrong. A is linear between distinct
    thresholds from (0, 0). For errors of 0 and 1 the AUGRC is (1 − ACC)² / 2 + ACC (1 − ACC) (1 − UQ-AUC).

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems.

    Examples
    --------
    >>> round(augrc_loss([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]), 4)
    0.125
    """
    return _estimate(augrc, "augrc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def prediction_rejection_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    risk: Risk = "generalised",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Prediction-rejection ratio: gain over a random order, divided by the gain of the best order.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`.
    risk : {"generalised", "selective"}
        "generalised": areas under the rejection curve, on which rejected instances count as right (Malinin). "selective":
        areas under the error rate of the instances kept (AURC), as in benchmarks of language models.
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        1 for the best order, 0 for a random order, negative for a worse one. nan with a note if all errors are equal. If
        no instance is ranked wrongly, only the generalised ratio of errors of 0 and 1 has an interval.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], or shapes do not match.

    Notes
    -----
    The ratio is (random − area) / (random − best), with random = r / 2 (generalised) or r (selective). The selective ratio
    uses the best order of `e_aurc_loss`. For errors of 0 and 1 the generalised ratio is 2 UQ-AUC − 1, and its interval is
    computed from that of UQ-AUC.

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Malinin, Mlodozeniec, Gales (2020), Ensemble distribution distillation.
    Fadeeva et al. (2023), LM-Polygraph: uncertainty estimation for language models.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5]
    >>> round(prediction_rejection_score(errors, uncertainty), 4)
    0.6667
    >>> round(prediction_rejection_score(errors, uncertainty, risk="selective"), 4)
    0.7783
    """
    check_choice(risk, "risk", ("generalised", "selective"))

    def ratio(ranked: RankedErrors) -> Linearised:
        return small_sample_ratio(ranked, risk, make_units(ranked.n, groups, None).codes)

    kind = f"prediction-rejection-{risk}"
    return _estimate(ratio, kind, errors, uncertainty, sample_weight, groups, level)


def _estimate(
    statistic: Callable[[RankedErrors], Linearised],
    kind: str,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    level: float,
) -> Estimate:
    ranked = rank_errors(errors, uncertainty, sample_weight)
    options = {"sample_weight": sample_weight, "groups": groups}
    estimate = area_estimate(statistic(ranked), kind, level=level, **options)
    for note in ranked.notes(make_units(ranked.n, groups, sample_weight)):
        estimate = estimate.with_note(note)
    return estimate
