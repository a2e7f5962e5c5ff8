"""Areas under risk-coverage curves, and how much of the possible gain a rejection order reaches."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.metrics.risk.risk_area_influences import (
    Risk,
    area_estimate,
    augrc,
    augrc_linearised,
    aurc,
    aurc_linearised,
    e_aurc,
    e_aurc_linearised,
    prediction_rejection_linearised,
    small_sample_ratio,
)
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import check_choice, make_units

__all__ = [
    "area_estimate",
    "augrc_linearised",
    "augrc_loss",
    "aurc_linearised",
    "aurc_loss",
    "e_aurc_linearised",
    "e_aurc_loss",
    "prediction_rejection_linearised",
    "prediction_rejection_score",
]


def aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the risk-coverage curve (AURC): the mean risk over all coverages, lower is better.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater is less certain; infinities are legal.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    groups : array of labels (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups do not.
    level : float

    Returns
    -------
    estimate : Estimate
        A note counts errors or right predictions where there are fewer than 20 of them. All errors equal: the AURC
        is the error rate, as for a random order, with Wilson's interval.

    Raises
    ------
    InputError
        nan, errors outside [0, 1], shapes that do not fit.

    Notes
    -----
    The risk is linear between distinct thresholds and constant before the first, so the order of rows does not matter. The
    AURC weighs an error among the most certain instances by up to ln n; it depends on the accuracy as well.

    The interval is symmetric on the scale of ln x / (1 − x) (here and for the AUGRC, doubled), or of 1 / √x for the E-AURC
    and the distance to 1 of the selective prediction-rejection ratio, whose upper ends are far where few errors decide
    (but no AURC is above 1); the generalised ratio has the interval of UQ-AUC. Its standard error
    comes from the exact influence of every instance, for those two times 1 + 1 / m for each of m errors or right
    predictions, as leaving one out would give. A few confident errors decide much of it, so Student's t has the degrees
    of freedom that the spread of the squared influences leaves, 2 (Σ u²)² / (Σ u⁴ − (Σ u²)² / G), at least 3.

    95 % intervals cover 94 to 98 of 100 (docs/measured-coverage.md); the selective ratio of scores in five levels as few as 92.

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.
    Efron (1982), The jackknife, the bootstrap and other resampling plans.

    Examples
    --------
    >>> found = aurc_loss([0] * 20 + [1], list(range(21)))
    >>> round(found, 4), found.notes[0].text
    (0.0011, 'only 1 error: a rough interval')
    """
    return _estimate(aurc, "aurc", errors, uncertainty, sample_weight, groups, level)


def e_aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Excess of the AURC over that of the best order of the same errors (E-AURC), lower is better.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        Without an interval where all errors are equal, or where no instance is ranked wrongly: then nothing says how far
        the order is from the best one.

    Raises
    ------
    InputError
        nan, errors outside [0, 1], shapes that do not fit.

    Notes
    -----
    The best order is that of large samples, smooth inside a block of equal errors: a block of error e from coverage c₀ to
    c₁ with the error mass A₀ before it has the area e (c₁ − c₀) + (A₀ − e c₀) ln(c₁ / c₀). For errors of 0 and 1 with
    the rate r this is r + (1 − r) ln(1 − r). The AURC is linear between thresholds instead, so a perfect order has an
    E-AURC that is not quite 0, and ties can make it negative (down to about −r³ / 6 for two levels).

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.

    Examples
    --------
    >>> round(e_aurc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), 4)
    0.1174
    """
    return _estimate(e_aurc, "e-aurc", errors, uncertainty, sample_weight, groups, level)


def augrc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the generalised risk-coverage curve (AUGRC), lower is better: how often a silent failure meets a user.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        All errors equal: half the error rate, with half of Wilson's interval.

    Raises
    ------
    InputError
        nan, errors outside [0, 1], shapes that do not fit.

    Notes
    -----
    The share A of all instances that are kept and wrong, linear between distinct thresholds from (0, 0), as a mean over
    coverages. For errors of 0 and 1 it is (1 − ACC)² / 2 + ACC (1 − ACC) (1 − UQ-AUC).

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
        "generalised": areas under the rejection curve, where rejected instances count as right (Malinin). "selective":
        areas under the mean error of the instances kept, the AURC, as benchmarks of language models do.
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        1 for the best order, 0 for a random one, negative for a worse one. nan with a note where all errors are
        equal. Where no instance is ranked wrongly, only the generalised ratio of errors of 0 and 1 has an interval.

    Raises
    ------
    InputError
        nan, errors outside [0, 1], shapes that do not fit.

    Notes
    -----
    (random − area) / (random − best) with random = r / 2 (generalised) or r (selective) and the best order of
    `e_aurc_loss` for the latter. For errors of 0 and 1 the generalised ratio is 2 UQ-AUC − 1 and has its interval.

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
    0.7939
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
