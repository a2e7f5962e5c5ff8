"""Difference of two matched proportions, p₊ − p₋, from counts of +1, 0 and −1: Tango's score interval.

It holds where few values differ from 0, where the interval of Student's t has no width or covers too little.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.errors import InputError
from uqassay.statistics.samples import Floats, check_level

__all__ = ["matched_difference_interval", "rates_given_difference"]

HALVINGS = 45  # of an interval of at most length 2: ends are exact to 1e-13


def rates_given_difference(
    plus: ArrayLike, minus: ArrayLike, n: ArrayLike, difference: ArrayLike
) -> tuple[Floats, Floats]:
    """Maximum likelihood rates p₊ and p₋ of the values +1 and −1, given their difference.

    Parameters
    ----------
    plus, minus, n : array_like, broadcast
        Counts of +1 and −1, and of all values; effective counts can be fractions.
    difference : array_like in [−1, 1]
        p₊ − p₋.

    Returns
    -------
    plus, minus : arrays
        p₊ ≥ 0 and p₋ ≥ 0 with p₊ + p₋ ≤ 1.

    Notes
    -----
    p₋ = p is the greater root of 2 n p² + (2 n d + n₀ d − …) p − … = 0, from the derivative of
    n₊ ln(p + d) + n₋ ln p + n₀ ln(1 − 2 p − d).

    References
    ----------
    Tango (1998), Equivalence test and confidence interval for the difference in proportions for the paired-sample design,
    Stat. Med. 17.

    Examples
    --------
    >>> plus, minus = rates_given_difference(3, 1, 10, 0.2)
    >>> print(plus.round(4), minus.round(4))
    0.3 0.1
    """
    a, b, total, d = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (plus, minus, n, difference)))
    zero = np.maximum(total - a - b, 0.0)
    # a p (1 − 2p − d) + b (p + d)(1 − 2p − d) − 2 zero p (p + d) = 0, as −2n p² + B p + C = 0
    slope = (a + b) * (1 - d) - 2 * d * b - 2 * zero * d
    constant = b * d * (1 - d)
    root = np.sqrt(np.maximum(slope**2 + 8 * total * constant, 0.0))
    p = (slope + root) / (4 * np.maximum(total, np.finfo(np.float64).tiny))
    p = np.clip(p, np.maximum(-d, 0.0), (1 - d) / 2)
    return p + d, p


def matched_difference_interval(
    plus: ArrayLike, minus: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Confidence interval of p₊ − p₋ by inversion of the score test.

    Parameters
    ----------
    plus, minus, n : array_like, broadcast
        As in `rates_given_difference`. n = 0 gives nan.
    level : float

    Returns
    -------
    low, high : arrays
        Inside [−1, 1]. They contain (n₊ − n₋)/n.

    Raises
    ------
    InputError
        Counts that are negative or exceed n; a level outside (0, 1).

    Examples
    --------
    >>> low, high = matched_difference_interval(0, 0, 50)
    >>> print(low.round(4), high.round(4))
    -0.0713 0.0713
    """
    check_level(level)
    a, b, total = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (plus, minus, n)))
    if (a < 0).any() or (b < 0).any() or (a + b > total * (1 + 1e-9)).any():
        raise InputError(
            "plus",
            "counts must be at least 0 and sum to at most n",
            f"got {a.ravel()[:3]}, {b.ravel()[:3]} of {total.ravel()[:3]}",
            "count the values +1 and −1 of the same instances",
            code="range",
        )
    quantile = float(special.ndtri(0.5 + level / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(total > 0, (a - b) / total, np.nan)
    low = _end(a, b, total, value, -1.0, quantile)
    high = _end(a, b, total, value, 1.0, quantile)
    return low, high


def _end(a: Floats, b: Floats, total: Floats, value: Floats, side: float, quantile: float) -> Floats:
    """The difference furthest to this side that the score test does not reject."""
    inside, outside = np.array(value), np.full(value.shape, side)
    with np.errstate(invalid="ignore"):
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            kept = _kept(a, b, total, value, middle, quantile)
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return np.asarray(np.where(np.isnan(value), np.nan, inside))


def _kept(a: Floats, b: Floats, total: Floats, value: Floats, difference: Floats, quantile: float) -> NDArray[np.bool_]:
    p, q = rates_given_difference(a, b, total, np.nan_to_num(difference))
    variance = np.maximum(p + q - difference**2, 0.0)
    return np.asarray((value - difference) ** 2 * total <= quantile**2 * variance)
