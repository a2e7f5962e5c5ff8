"""Probability intervals l ≤ p ≤ u on the classes: reachability and the intersection probability."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_numeric
from uqassay.checks import fail

__all__ = ["intersection_probability", "reachable"]

Array = NDArray[np.float64]
TOLERANCE = 1e-3  # rounding of half precision, since the original dtype of the bounds is unknown here


def reachable(lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array]:
    """Tighten intervals so that every bound is attained by some distribution inside them.

    l' = max(l, 1 − Σ_{j≠i} u_j) and u' = min(u, 1 − Σ_{j≠i} l_j) (de Campos, Huete and Moral, 1994).

    Parameters
    ----------
    lower, upper : array (n, K)
        Bounds with l ≤ u, Σ l ≤ 1 ≤ Σ u, each within 1e-3, the rounding of half precision.

    Returns
    -------
    lower, upper : array (n, K)
        The same set of distributions with reachable bounds.

    Raises
    ------
    InputError
        Bounds that contain no distribution, are not finite or have different shapes.

    Examples
    --------
    >>> l, u = reachable(np.array([[0.0, 0.5, 0.0]]), np.array([[1.0, 0.8, 0.1]]))
    >>> l.round(3).tolist(), u.round(3).tolist()
    ([[0.1, 0.5, 0.0]], [[0.5, 0.8, 0.1]])
    """
    l = as_numeric(lower, "lower").astype(np.float64, copy=False)
    u = as_numeric(upper, "upper").astype(np.float64, copy=False)
    if l.ndim != 2:
        fail("lower", "must have shape (n, K)", f"got {l.shape}", "pass one row per instance", code="shape")
    if l.shape != u.shape:
        rule = f"must have the shape of lower, {l.shape}"
        fail("upper", rule, f"got {u.shape}", "pass both bounds of every class", code="shape")
    spare = 1.0 - l.sum(axis=1, keepdims=True)  # (n, 1) mass left above the lower bounds
    short = 1.0 - u.sum(axis=1, keepdims=True)  # (n, 1) ≤ 0: minus the excess of the upper bounds
    _check_not_empty(l, u, spare[:, 0], short[:, 0])
    tight_l = np.clip(u + short, l, u)
    tight_u = np.clip(l + spare, l, u)
    return tight_l, tight_u


def _check_not_empty(l: Array, u: Array, spare: Array, short: Array) -> None:
    """Refuse rows with Σ l > 1, Σ u < 1 or l > u; nan fails the comparisons as written."""
    ordered = l <= u + TOLERANCE
    if not ordered.all():
        row, c = np.argwhere(~ordered)[0]
        got = f"row {row} has lower {l[row, c]:.6g} and upper {u[row, c]:.6g} for class {c}"
        fail("lower", "must not exceed upper", got, "swap or repair the bounds", code="range")
    for name, holds, sums, bound in (
        ("lower", spare >= -TOLERANCE, 1.0 - spare, "at most"),
        ("upper", short <= TOLERANCE, 1.0 - short, "at least"),
    ):
        if not holds.all():
            row = int(np.flatnonzero(~holds)[0])
            rule = f"must sum to {bound} 1 in each row, so that a distribution lies between the bounds"
            fail(name, rule, f"row {row} sums to {sums[row]:.6g}", "widen the bounds", code="sum")


def intersection_probability(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection probability: divides every interval in the same ratio, p = l + β (u − l), β = (1 − Σl) / Σ(u − l).

    Parameters
    ----------
    lower, upper : array (n, K)

    Returns
    -------
    array (n, K)
        Rows sum to 1. If all widths are zero, the lower bounds.

    Examples
    --------
    >>> intersection_probability(np.array([[0.2, 0.2]]), np.array([[0.6, 1.0]])).round(3).tolist()
    [[0.4, 0.6]]
    """
    l = np.asarray(lower, dtype=np.float64)
    u = np.asarray(upper, dtype=np.float64)
    width = u - l
    total = width.sum(axis=1, keepdims=True)
    share = np.divide(1.0 - l.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
    return l + np.clip(share, 0.0, 1.0) * width
