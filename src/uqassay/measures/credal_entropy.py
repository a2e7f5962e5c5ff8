"""Upper and lower entropy of a credal set, and their difference, credal uncertainty.

"set" is the credal set of the prediction: the hull of members, draws or vertices, the box of intervals, and the core of masses,
which holds every distribution that dominates their belief function. "box" contains all distributions between the lower and
upper probabilities of the classes, {p in the simplex: l ≤ p ≤ u}; hull and core lie inside it.
"""

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.box_entropy import box_lower_entropy, box_upper_entropy, shannon_entropy
from uqassay.credal.core_entropy import core_lower_entropy, core_upper_entropy
from uqassay.credal.hull_entropy import hull_lower_entropy, hull_upper_entropy
from uqassay.credal.moebius import MAX_ENUMERATED_CLASSES
from uqassay.errors import InputError, TooManyClassesError
from uqassay.predictions import Box, Masses, Prediction, PredictionLike, as_prediction, keeps_arrays
from uqassay.statistics.samples import check_choice

__all__ = ["credal_uncertainty", "lower_entropy", "upper_entropy"]

Float = NDArray[np.float64]
CHOICES = ("set", "hull", "box")
GAP = 1e-12  # nats; the sets of sure instances are small, and their differences count


@keeps_arrays("measures.upper_entropy")
def upper_entropy(prediction: PredictionLike, *, over: str = "set") -> Float:
    """Largest entropy in the credal set of each instance, in nats; measures total uncertainty.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    over : {"set", "hull", "box"}
        "set" (default): the hull of members, draws or vertices (certified to 1e-12), the box of `Intervals`, the core of
        `Masses` (exact; K ≤ 16). "hull": the same, for sets that are given by points only. "box": all distributions between
        the lower and upper probabilities of the classes.

    Returns
    -------
    (n,) float64, nats, between 0 and ln K

    Raises
    ------
    InputError
        Unknown `over`, "hull" for a kind of prediction without a finite hull, or "set" for `Masses` on more than 16 classes.

    Notes
    -----
    Source: Wang et al. (2024), in the unified evaluation paper eq. (20). The maximiser over the box is
    p = clip(s, l, u) with the level s at which it sums to 1 (Abellán and Moral, 2003).

    Examples
    --------
    >>> import uqassay as uq
    >>> members = uq.Members([[[0.9, 0.1, 0.0], [0.5, 0.0, 0.5]]])
    >>> upper_entropy(members).round(4).tolist(), upper_entropy(members, over="box").round(4).tolist()
    ([0.7691], [0.9433])
    """
    prediction = as_prediction(prediction)
    kind = _kind(prediction, over)
    if kind == "hull":
        return hull_upper_entropy(prediction.hull_points(), GAP).values
    if isinstance(prediction, Masses) and kind == "core":
        return core_upper_entropy(prediction.checked_masses(), prediction.focal_sets)
    return box_upper_entropy(prediction.lower_probs(), prediction.upper_probs())


@keeps_arrays("measures.lower_entropy")
def lower_entropy(prediction: PredictionLike, *, over: str = "set") -> Float:
    """Smallest entropy in the credal set of each instance, in nats; measures aleatoric uncertainty.

    Parameters, errors and source are those of `upper_entropy`; the minimum is exact (to 1e-12) over both sets.

    Returns
    -------
    (n,) float64, nats

    Examples
    --------
    >>> import uqassay as uq
    >>> lower_entropy(uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]])).round(4).tolist()
    [0.3251]
    """
    prediction = as_prediction(prediction)
    kind = _kind(prediction, over)
    if kind == "hull":
        return hull_lower_entropy(prediction.hull_points())
    if isinstance(prediction, Masses) and kind == "core":
        return core_lower_entropy(prediction.checked_masses(), prediction.focal_sets)
    return box_lower_entropy(prediction.lower_probs(), prediction.upper_probs()).values


@keeps_arrays("measures.credal_uncertainty")
def credal_uncertainty(prediction: PredictionLike, *, over: str = "set", convention: str = "exact") -> Float:
    """Credal uncertainty: upper minus lower entropy of the credal set of each instance.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    over : {"set", "hull", "box"}
        See `upper_entropy`.
    convention : {"exact", "paper"}
        "exact" is the difference, in nats. "paper" gives the numbers printed as CU in the unified evaluation paper. They
        are a different quantity, in bits: log2 K − H2(singleton lower probabilities normalised to sum 1). It is 0 for a
        uniform prediction and **largest for confident ones**, so it is not an uncertainty. It is nan if all lower
        probabilities are 0, because the normalised vector is then undefined.

    Returns
    -------
    (n,) float64, nats ("exact") or bits ("paper")

    Raises
    ------
    InputError
        Unknown `over` or `convention`; "hull" with the paper's convention, which uses no hull.

    Notes
    -----
    Source: unified evaluation paper, App. F.2, eq. (20); the paper's numbers, Table 6, follow the authors' code.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction = uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]])
    >>> credal_uncertainty(prediction).round(4).tolist()
    [0.3681]
    >>> credal_uncertainty(prediction, convention="paper").round(4).tolist()
    [0.35]
    """
    check_choice(convention, "convention", ("exact", "paper"))
    prediction = as_prediction(prediction)
    if convention == "exact":
        return _difference(prediction, over)
    check_choice(over, "over", CHOICES)
    if over == "hull":
        raise InputError(
            "over",
            'must not be "hull" with convention="paper"',
            'got "hull"',
            "leave over out: the paper uses only lower bounds",
            code="conflict",
        )
    if isinstance(prediction, Masses):
        prediction = prediction.repaired()
    l = np.maximum(np.asarray(prediction.lower_probs(), dtype=np.float64), 0.0)
    total = l.sum(axis=1, keepdims=True)
    q = np.divide(l, total, out=np.full_like(l, np.nan), where=total > 0)  # (n, K)
    return np.log2(l.shape[1]) - shannon_entropy(q) / np.log(2.0)


def _kind(prediction: Prediction, over: str) -> str:
    """The set: "hull", "core" or "box"."""
    check_choice(over, "over", CHOICES)
    if over != "set":
        return over
    if isinstance(prediction, Masses):
        if prediction.n_classes > MAX_ENUMERATED_CLASSES:
            raise TooManyClassesError(
                "over",
                f"the core of masses takes at most {MAX_ENUMERATED_CLASSES} classes",
                f"got K = {prediction.n_classes}",
                'use over="box", or the score or non-specificity with -box in its name',
                code="size",
            )
        return "core"
    return "box" if isinstance(prediction, Box) else "hull"


def _difference(prediction: Prediction, over: str) -> Float:
    """Upper minus lower entropy; exactly 0 if the set is one distribution up to the last few bits."""
    difference = upper_entropy(prediction, over=over) - lower_entropy(prediction, over=over)
    bounds = prediction.lower_probs(), prediction.upper_probs()
    l, u = (np.asarray(p, dtype=np.float64) for p in bounds)
    single = (u - l <= 4 * np.finfo(np.float64).eps * u).all(axis=1)
    return np.where(single, 0.0, np.maximum(difference, 0.0))
