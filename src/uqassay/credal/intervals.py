"""Probability intervals l ≤ p ≤ u on the classes: reachability and the intersection probability."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["intersection_probability", "reachable"]


def reachable(
    lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Tighten intervals so that every bound is attained by some distribution inside them.

    l' = max(l, 1 − Σ_{j≠i} u_j) and u' = min(u, 1 − Σ_{j≠i} l_j) (de Campos, Huete and Moral, 1994).

    Parameters
    ----------
    lower, upper : array (n, K)
        Bounds with l ≤ u, Σ l ≤ 1 ≤ Σ u.

    Returns
    -------
    lower, upper : array (n, K)
        The same set of distributions with reachable bounds.

    Examples
    --------
    >>> l, u = reachable(np.array([[0.0, 0.5, 0.0]]), np.array([[1.0, 0.8, 0.1]]))
    >>> l.round(3).tolist(), u.round(3).tolist()
    ([[0.1, 0.5, 0.0]], [[0.5, 0.8, 0.1]])
    """
    l = np.asarray(lower, dtype=np.float64)
    u = np.asarray(upper, dtype=np.float64)
    spare = 1.0 - l.sum(axis=1, keepdims=True)  # (n, 1) what is left once every class has its least
    short = 1.0 - u.sum(axis=1, keepdims=True)  # (n, 1) ≤ 0: what is too much once every class has its most
    tight_l = np.clip(u + short, l, u)
    tight_u = np.clip(l + spare, l, u)
    return tight_l, tight_u


def intersection_probability(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribution that divides every interval in the same ratio, p = l + β (u − l), β = (1 − Σl) / Σ(u − l).

    Parameters
    ----------
    lower, upper : array (n, K)

    Returns
    -------
    array (n, K)
        Rows sum to 1. Where all widths are zero, the lower bounds themselves.

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
