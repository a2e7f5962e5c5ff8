"""Difference of two matched proportions, p₊ − p₋, from counts of +1, 0 and −1: Tango's score interval.

It holds where few values differ from 0, where the interval of Student's t has no width or covers too little.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
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
    p₋ = p is the greater root of n₊ p (1 − 2p − d) + n₋ (p + d)(1 − 2p − d) = 2 n₀ p (p + d), which follows from the derivative
    of the log-likelihood n₊ ln(p + d) + n₋ ln p + n₀ ln(1 − 2p − d).

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
    a, b, total, d = (np.asarray(v, dtype=np.float64) for v in (plus, minus, n, difference))
    p = _minus_rate(a, b, total, d)
    return p + d, p


def _minus_rate(a: Floats, b: Floats, total: Floats, d: Floats) -> Floats:
    zero = np.maximum(total - a - b, 0.0)
    # a p (1 − 2p − d) + b (p + d)(1 − 2p − d) − 2 zero p (p + d) = 0, as −2n p² + B p + C = 0
    slope = (a + b) * (1 - d) - 2 * d * (b + zero)
    constant = b * d * (1 - d)
    root = np.sqrt(np.maximum(slope * slope + 8 * total * constant, 0.0))
    p = (slope + root) / (4 * np.maximum(total, np.finfo(np.float64).tiny))
    return np.asarray(np.minimum(np.maximum(p, np.maximum(-d, 0.0)), (1 - d) / 2))


@in_one_order("plus", "minus", "n")
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
    some = total > 0
    a, b, total = (np.where(some, values, other) for values, other in ((a, 0.0), (b, 0.0), (total, 1.0)))
    value = (a - b) / total
    limit = float(special.ndtri(0.5 + level / 2)) ** 2 / total
    inside, outside = np.stack([value, value]), np.stack([np.full(value.shape, side) for side in (-1.0, 1.0)])
    for _ in range(HALVINGS):  # for the differences furthest below and above that the score test does not reject
        d = (inside + outside) / 2
        variance = np.maximum(2 * _minus_rate(a, b, total, d) + d - d * d, 0.0)
        kept = (value - d) ** 2 <= limit * variance
        inside, outside = np.where(kept, d, inside), np.where(kept, outside, d)
    low, high = np.where(some, inside, np.nan)
    return low, high
