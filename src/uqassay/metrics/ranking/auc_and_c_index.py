"""Does the uncertainty rank the errors, and how far the model is from the label? Ground-truth-free ranking metrics.

Paper 003 (Pignet, Regniez, Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring). All of
them depend on the order of the uncertainties alone, and count ties ½.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.metrics.risk.risk_area_influences import area_estimate, augrc_linearised
from uqassay.predictions.base import Array
from uqassay.statistics import Estimate
from uqassay.statistics.delong import IMAGINARY, auc_linearised, checked, named_auc, noted, sample_counts
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.samples import as_floats, make_units, scaled_weights
from uqassay.statistics.u_statistics import concordance_linearised

__all__ = [
    "g_auc_score",
    "h_auc_score",
    "uq_auc_score",
    "uq_c_index_score",
]

SAMPLES = ("errors", "right predictions")
DIFFERENT = "instances beside those of the most frequent gap"
ARGUMENTS = ("errors", "uncertainty")


def uq_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "adjusted",
) -> Estimate:
    """Probability that an error is more uncertain than a right prediction (ties ½): the ROC-AUC of s for the errors.

    P( s(X) < s(X') given mis(X, Y) < mis(X', Y') ). In the population the order of φ(x) = 1 − p(ŷ(x) | x) maximises it,
    and no other order does (paper 003, Thm 2.3).

    Parameters
    ----------
    errors : array_like (n,)
        1 where the predicted class is wrong, 0 where it is right, or the probability that it is wrong (`prediction_errors`);
        such an instance counts as so much of an error and the rest of a right prediction, and its pair with itself ½.
    uncertainty : array_like (n,)
        Greater is less certain; infinite values are allowed.
    sample_weight : array_like (n,), optional
        An integer weight equals that many copies.
    groups : array_like (n,), optional
        Patients, sites, videos; groups are independent of each other, instances of one group are not.
    level : float
    method : {"adjusted", "delong"}
        Method of the interval, as in `statistics.auc_estimate`.

    Returns
    -------
    estimate : Estimate
        ½ for an uncertainty that is unrelated to the errors. nan with a note where there are no errors or only errors.
        With fewer than 20 of either a note says how many.

    Raises
    ------
    InputError
        nan in either array (by name and count), errors outside [0, 1], different lengths.

    Examples
    --------
    >>> uq_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.8333
    """
    return named_auc(
        errors,
        uncertainty,
        sample_weight=sample_weight,
        groups=groups,
        level=level,
        method=method,
        names=SAMPLES,
        arguments=ARGUMENTS,
    )


def uq_c_index_score(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that of two instances the one with the greater gap is the more uncertain one (ties ½).

    P( s(X) < s(X') given gap(X, Y) < gap(X', Y') ): Harrell's C-index of the uncertainty for the gap, without censoring.
    With two classes the order of ψ(x) = 1 − f_y*(x), y* the most probable class, maximises it in the population (paper
    003, Thm 2.5). With three classes or more it need not: there ψ is a different ground truth, which this metric
    follows without being maximised by it.

    Parameters
    ----------
    gap : array_like (n,)
        1 − f_y of each instance (`probability_gap`); pairs of equal gaps are left out.
    uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Returns
    -------
    estimate : Estimate
        nan with a note where all gaps are equal.

    Raises
    ------
    InputError
        nan in either array (by name and count), different lengths.

    Notes
    -----
    The interval rests on Hájek's projection of the two U-statistics whose ratio this is, on the logit scale, with 0.3 of
    an imaginary instance whose pairs count ½ (see `statistics.auc_estimate`).

    95 % intervals cover 94.7 to 97.1 of 100 from n = 40 on (docs/measured-coverage.md).

    References
    ----------
    Harrell, Lee, Mark (1996), Multivariable prognostic models, Stat. Med. 15.

    Examples
    --------
    >>> uq_c_index_score([0.1, 0.2, 0.9], [0.3, 0.5, 0.5]).__round__(4)
    0.8333
    """
    g, s, w = checked_gap(gap, uncertainty, sample_weight)
    codes = None if groups is None else make_units(len(g), groups, None).codes
    statistic = concordance_linearised(g, s, w, codes, imaginary=IMAGINARY)
    estimate = linearised_estimate(
        statistic, groups=groups, sample_weight=w, level=level, scale="logit", method="u-statistic, logit scale"
    )
    count = untied(g if w is None else g[w > 0])
    return noted(estimate, [] if np.isnan(estimate) else [(count, DIFFERENT)], constant=bool((s == s[0]).all()))


def g_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """G-AUC, the accuracy-coverage area of pairs, P(right given s ≤ s'): ACC² + 2 ACC (1 − ACC) UQ-AUC.

    Paper 003, Lemma 3.1 (after Geifman et al. 2019). It is ∫ 2c·Acc(c) dc, where Acc(c) is the accuracy on the share c of
    the least uncertain instances; the plain area ∫ Acc(c) dc (`aurc_loss` is 1 minus it) is not a function of the two.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Examples
    --------
    >>> g_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.875
    """
    e, s, w = checked(errors, uncertainty, sample_weight, ARGUMENTS)
    estimate = g_auc_interval(g_auc_linearised(e, s, w), groups, level, w)
    return noted(estimate, sample_counts(e, w, groups, SAMPLES), constant=bool((s == s[0]).all()))


def h_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """H-AUC, the area under remaining accuracy against remaining error: ACC (1 − ACC) UQ-AUC.

    Paper 003, Lemma 3.1 (after Henne et al. 2020): both shares are of all instances, and a threshold moves from the least
    to the most uncertain one.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Examples
    --------
    >>> h_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.1562
    """
    e, s, w = checked(errors, uncertainty, sample_weight, ARGUMENTS)
    estimate = h_auc_interval(h_auc_linearised(e, s, w), groups, level, w)
    return noted(estimate, sample_counts(e, w, groups, SAMPLES), constant=bool((s == s[0]).all()))


def g_auc_linearised(e: Array, s: Array, w: Array | None) -> Linearised:
    """G-AUC and its influences: 1 − 2 AUGRC."""
    area = augrc_linearised(e, s, w)
    return replace(area, value=1.0 - 2.0 * area.value, influence=-2.0 * area.influence)


def h_auc_linearised(e: Array, s: Array, w: Array | None) -> Linearised:
    """H-AUC, ACC (1 − ACC) UQ-AUC, and its influences by the chain rule."""
    auc = auc_linearised(e, s, w)
    accuracy = 1.0 - float(np.average(e, weights=w))
    u = 0.5 if np.isnan(auc.value) else auc.value  # its factor is 0 there
    factor = accuracy * (1.0 - accuracy)
    influence = (1.0 - 2.0 * accuracy) * u * (1.0 - e - accuracy) + factor * auc.influence
    return Linearised(factor * u, influence, uneven=True)


Statistics = Linearised | Sequence[Linearised]


def g_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """The interval of AUGRC turned round."""
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    areas = [replace(run, value=0.5 - 0.5 * run.value, influence=-0.5 * run.influence) for run in runs]
    area = area_estimate(
        areas if len(areas) > 1 else areas[0], "augrc", groups=groups, level=level, sample_weight=sample_weight
    )
    return _moved(area, lambda value: 1.0 - 2.0 * value)


def h_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """On the logit scale between 0 and ¼."""
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    fourfold = [replace(run, value=4.0 * run.value, influence=4.0 * run.influence) for run in runs]
    found = linearised_estimate(
        fourfold if len(fourfold) > 1 else fourfold[0],
        groups=groups,
        sample_weight=sample_weight,
        level=level,
        scale="logit",
    )
    return _moved(found, lambda value: 0.25 * value)


def _moved(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    value = function(float(estimate))
    low, high = sorted((function(estimate.low), function(estimate.high)))
    fields = {name: getattr(estimate, name) for name in ("level", "n", "method", "notes")}
    return Estimate(value, low=min(low, value), high=max(high, value), **fields)


def untied(gap: Array) -> int:
    """Number of instances that do not have the most frequent value."""
    _, counts = np.unique(gap, return_counts=True)
    return int(gap.size - counts.max()) if counts.max() > 1 else int(gap.size)


def checked_gap(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None,
    arguments: tuple[str, str] = ("gap", "uncertainty"),
) -> tuple[Array, Array, Array | None]:
    """Two arrays of one length without nan, and weights."""
    g = as_floats(gap, arguments[0], ndim=(1,), shape="(n,)")
    s = as_floats(uncertainty, arguments[1], ndim=(1,), shape="(n,)")
    if g.shape != s.shape:
        raise InputError(
            arguments[1],
            f"needs one value for each of the {len(g)} instances",
            f"got {len(s)}",
            "align them",
            code="mismatch",
        )
    return g, s, None if sample_weight is None else scaled_weights(sample_weight, len(g))
