"""Standard errors that estimated non-specificities add to differences of means; the random orders are shared."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["order_error", "order_errors"]

Array = NDArray[np.float64]


def order_error(a: ArrayLike, b: ArrayLike, factor: float = 1.0) -> float:
    """Standard error that random orders of the classes add to the difference of two means.

    Parameters
    ----------
    a, b : array_like (S,), or empty
        Deviation of the mean non-specificity by each of S shared orders; empty where it is exact.
    factor : float
        Weight of the non-specificity in the difference, such as λ.

    Examples
    --------
    >>> order_error([0.1, -0.1], [])
    0.1
    >>> order_error([0.1, -0.1], [0.1, -0.1])  # the same orders: the errors cancel
    0.0
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    size = max(first.size, second.size)
    if size == 0:
        return 0.0
    apart = (first if first.size else np.zeros(size)) - (second if second.size else np.zeros(size))
    return float(factor * (apart.std(ddof=1) / np.sqrt(size)))


def order_errors(deviations: Mapping[str, ArrayLike], factor: float, *, references: Sequence[str] = ()) -> Array:
    """`order_error` of every pair of means, ``(J, J)``; 0 between references, which are not compared with each other."""
    names = list(deviations)
    errors = np.zeros((len(names), len(names)))
    if factor and any(np.size(d) for d in deviations.values()):
        for i, a in enumerate(names):
            for j, b in enumerate(names[:i]):
                if not (a in references and b in references):
                    errors[i, j] = errors[j, i] = order_error(deviations[a], deviations[b], factor)
    return errors
