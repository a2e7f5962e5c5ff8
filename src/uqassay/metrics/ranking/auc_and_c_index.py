"""Ground-truth-free ranking metrics: UQ-AUC, UQ-C-index, G-AUC and H-AUC.

They measure how well an uncertainty ranks the errors, or the gaps between prediction and label. Paper 003 (Pignet, Regniez,
Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring). All metrics depend only on the order
of the uncertainties, and count ties ½.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.risk.risk_area_influences import area_estimate, augrc_linearised
from uqassay.predictions.base import Array
from uqassay.statistics import Estimate
from uqassay.statistics.delong import FEW, IMAGINARY, auc_linearised, checked, named_auc, noted, sample_counts
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
DIFFERENT = "instances with a gap other than the most frequent one"
ARGUMENTS = ("errors", "uncertainty")


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
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

    P( s(X) < s(X') given mis(X, Y) < mis(X', Y') ). In the population it is maximised by the order of
    φ(x) = 1 − p(ŷ(x) | x), and by no other order (paper 003, Thm 2.3).

    Parameters
    ----------
    errors : array_like (n,)
        1 if the predicted class is wrong, 0 if it is right, or the probability that it is wrong (`prediction_errors`). An
        instance with probability .3 counts as .3 of an error and .7 of a right prediction, and its pair with itself ½.
    uncertainty : array_like (n,)
        Greater means less certain. Infinite values are allowed.
    sample_weight : array_like (n,), optional
        An integer weight equals that many copies.
    groups : array_like (n,), optional
        Patients, sites or videos. Groups are independent of each other; instances of one group may not be.
    level : float
    method : {"adjusted", "delong"}
        Method of the interval, as in `statistics.auc_estimate`.

    Returns
    -------
    estimate : Estimate
        ½ for an uncertainty that is unrelated to the errors. nan with a note if there are no errors or only errors. With
        fewer than 20 errors or right predictions a note gives their number.

    Raises
    ------
    InputError
        When an array has nan, errors lie outside [0, 1], or lengths differ.

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


@in_one_order("gap", "uncertainty", "sample_weight", "groups")
def uq_c_index_score(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that, of two instances, the one with the greater gap has the greater uncertainty (ties ½).

    P( s(X) < s(X') given gap(X, Y) < gap(X', Y') ): Harrell's C-index of the uncertainty for the gap, without censoring.
    With two classes it is maximised in the population by the order of ψ(x) = 1 − f_y*(x), where y* is the most probable
    class (paper 003, Thm 2.5). With three or more classes another order may have a greater C-index.

    Parameters
    ----------
    gap : array_like (n,)
        1 − f_y of each instance (`probability_gap`). Pairs of equal gaps are left out.
    uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Returns
    -------
    estimate : Estimate
        nan with a note if all gaps are equal.

    Raises
    ------
    InputError
        When an array has nan, or lengths differ.

    Notes
    -----
    The C-index is a ratio of two U-statistics. The interval uses Hájek's projection, the logit scale and 0.3 of an
    imaginary instance whose pairs count ½ (see `statistics.auc_estimate`).

    The measured coverage of 95 % intervals is 94.7 to 97.1 % for n ≥ 40 (docs/measured-coverage.md).

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
    statistic = c_index_linearised(g, s, w, codes)
    estimate = linearised_estimate(
        statistic, groups=groups, sample_weight=w, level=level, scale="logit", method="u-statistic, logit scale"
    )
    count = untied(g if w is None else g[w > 0])
    return noted(estimate, [] if np.isnan(estimate) else [(count, DIFFERENT)], constant=bool((s == s[0]).all()))


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def g_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """G-AUC, the accuracy-coverage area of pairs, P(right given s ≤ s'): ACC² + 2 ACC (1 − ACC) UQ-AUC.

    Paper 003, Lemma 3.1 (after Geifman et al. 2019). G-AUC is ∫ 2c·Acc(c) dc, where Acc(c) is the accuracy on the share c of
    the least uncertain instances. The plain area ∫ Acc(c) dc, which is 1 − `aurc_loss`, is not a function of the accuracy
    and UQ-AUC.

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


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def h_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """H-AUC, the area under remaining accuracy against remaining error: ACC (1 − ACC) UQ-AUC.

    Paper 003, Lemma 3.1 (after Henne et al. 2020). Both rates are shares of all instances, at every threshold of the
    uncertainty.

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


def c_index_linearised(g: Array, s: Array, w: Array | None, codes: NDArray[np.intp] | None = None) -> Linearised:
    """UQ-C-index and its influences. Two values of the gap make two samples, so it is the UQ-AUC, with its interval."""
    known = g if w is None else g[w > 0]
    least, greatest = known.min(), known.max()
    if least < greatest and ((known == least) | (known == greatest)).all():
        return auc_linearised((g == greatest).astype(np.float64), s, w, codes, imaginary=IMAGINARY)
    return concordance_linearised(g, s, w, codes, imaginary=IMAGINARY)


def g_auc_linearised(e: Array, s: Array, w: Array | None) -> Linearised:
    """G-AUC and its influences: 1 − 2 AUGRC."""
    area = augrc_linearised(e, s, w)
    return replace(area, value=1.0 - 2.0 * area.value, influence=-2.0 * area.influence)


def h_auc_linearised(e: Array, s: Array, w: Array | None) -> Linearised:
    """H-AUC, ACC (1 − ACC) UQ-AUC, and its influences by the chain rule."""
    auc = auc_linearised(e, s, w)
    accuracy = 1.0 - float(np.average(e, weights=w))
    u = 0.5 if np.isnan(auc.value) else auc.value  # undefined only where its factor is 0
    factor = accuracy * (1.0 - accuracy)
    influence = (1.0 - 2.0 * accuracy) * u * (1.0 - e - accuracy) + factor * auc.influence
    return Linearised(factor * u, influence, uneven=True)


Statistics = Linearised | Sequence[Linearised]


def g_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """Interval of G-AUC = 1 − 2 AUGRC from the interval of AUGRC."""
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    areas = [replace(run, value=0.5 - 0.5 * run.value, influence=-0.5 * run.influence) for run in runs]
    area = area_estimate(
        areas if len(areas) > 1 else areas[0], "augrc", groups=groups, level=level, sample_weight=sample_weight
    )
    return _moved(area, lambda value: 1.0 - 2.0 * value)


def h_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """Interval of H-AUC on the logit scale between 0 and ¼, its greatest value."""
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
    """Number of instances whose gap is not the most frequent one; all instances if no two gaps are equal.

    A number of `FEW` or more, which gets no note, may be another one that is not below `FEW`.
    """
    # if fewer than FEW instances differ from the most frequent gap, it also holds most of the first 2 · FEW instances
    levels, counts = np.unique(gap[: 2 * FEW], return_counts=True)
    if gap.size > 2 * FEW:
        return int(np.count_nonzero(gap != levels[counts.argmax()]))
    return int(gap.size - counts.max()) if counts.max() > 1 else int(gap.size)


def checked_gap(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None,
    arguments: tuple[str, str] = ("gap", "uncertainty"),
) -> tuple[Array, Array, Array | None]:
    """Check the gap and the uncertainty, of one length and without nan, and the weights."""
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
