"""Sums over members and classes that are independent of the order of the terms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay._namespaces import device_of, namespace

__all__ = ["OrderFreeSum", "sum_over_classes"]

Array = NDArray[np.float64]
MOST_SORTED = 128  # classes of a row that the kernel sorts


class OrderFreeSum:
    """Running sum of arrays of one shape, with a second sum of the rounding errors; of NumPy, or of the library of `like`.

    The result is the exact sum, rounded once. About one sum in 10¹³ differs, because it lies almost in the middle between two
    floating-point numbers. So instances with the same members in another order have equal means, and ties stay ties.
    (Knuth's two-sum; Ogita, Rump and Oishi, Accurate sum and dot product, 2005.)

    Examples
    --------
    >>> import numpy as np
    >>> s = OrderFreeSum(1)
    >>> for x in (1.0, 0.6, 0.8):
    ...     s.add(np.array([x]))
    >>> float(s.value()[0]), 1.0 + 0.6 + 0.8
    (2.4, 2.4000000000000004)
    """

    def __init__(self, shape: int | tuple[int, ...], like: Any = None) -> None:
        if like is None or isinstance(like, np.ndarray):
            self._sum, self._errors = np.zeros(shape), np.zeros(shape)
            self._compiled = kernel("add_order_free")
        else:
            kind = {"dtype": like.dtype, "device": device_of(like)}
            self._sum, self._errors = (namespace(like).zeros(shape, **kind) for _ in range(2))
            self._compiled = None

    def add(self, values: Array) -> None:
        """Add an array."""
        same = values.shape == self._sum.shape and values.dtype == self._sum.dtype
        if self._compiled is not None and same and values.flags.c_contiguous:
            self._compiled(self._sum.reshape(-1), self._errors.reshape(-1), values.reshape(-1))
            return
        total = self._sum + values
        added: Any = total - self._sum  # the part of `values` that reached the total
        values = values - added
        added -= total
        added += self._sum  # the part of the old sum that was lost
        added += values  # now the rounding error of the total
        self._errors += added
        self._sum = total

    def value(self) -> Array:
        """The sum so far."""
        return self._sum + self._errors


def sum_over_classes(values: Array) -> Array:
    """Sum over the last axis in increasing order, so that the order of the classes changes no bit of the result.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.6, 0.8], [0.6, 0.8, 1.0]])
    >>> bool(np.ptp(sum_over_classes(x))), bool(np.ptp(x.sum(axis=1)))
    (False, True)
    """
    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)
        compiled, n_classes = kernel("sorted_sums"), values.shape[-1]
        if compiled is not None and values.dtype == np.float64 and 0 < n_classes <= MOST_SORTED:
            sums: Array = compiled(values.reshape(-1, n_classes))
            return sums.reshape(values.shape[:-1])
        return np.asarray(np.sort(values, axis=-1).sum(axis=-1), dtype=np.float64)
    xp = namespace(values)
    return xp.sum(xp.sort(values, axis=-1), axis=-1)
