"""Products of the weights of mixtures with the probabilities of their members."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from uqassay._array import scratch

__all__ = ["products_of", "quick_numbers"]

Floats = NDArray[Any]  # in single or double precision

NEAR_LEAST = 1e8  # times the least normal number: keeps away from subnormal numbers, which are about 100 times as slow
BLOCK = 8  # mixtures in one matrix product
LONG_ROW = 2**16  # numbers of one mixture; longer rows are multiplied one mixture at a time


def products_of(weights: Floats, by_member: Floats, name: str | None = None) -> Floats:
    """Weights (L, M) times (M, C), with rounding that does not depend on L.

    With a name, the result is a scratch array that the next call with this name overwrites.
    """
    m, n_columns = by_member.shape
    # BLAS sums in another order for one row than for several: zero rows fill every product up to one fixed size.
    rows = BLOCK if n_columns < LONG_ROW else 1
    blocks = np.zeros((-(-len(weights) // rows), rows, m), dtype=by_member.dtype)
    blocks.reshape(-1, m)[: len(weights)] = weights
    out = None if name is None else scratch(name, (len(blocks), rows, n_columns), by_member.dtype)
    return np.matmul(blocks, by_member, out=out).reshape(len(blocks) * rows, n_columns)[: len(weights)]


def quick_numbers(probs: Floats, dtype: DTypeLike) -> Floats:
    """Probabilities in this precision; subnormal and smaller ones are mapped above the least normal number, in order.

    Subnormal numbers are slow, and rounding them to 0 would create ties: equal probabilities share a bin of equal mass.
    """
    least = NEAR_LEAST * float(np.finfo(dtype).tiny)
    quick = np.ascontiguousarray(probs, dtype=dtype)
    low = (probs > 0) & (probs < least)
    if low.any():
        quick = quick.copy() if quick is probs else quick
        lowest = np.log(np.nextafter(0.0, 1.0))
        quick[low] = least * (0.5 + 0.5 * (np.log(probs[low]) - lowest) / (np.log(least) - lowest))
    return quick
