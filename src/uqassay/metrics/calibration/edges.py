"""Edges of equally wide bins, and which probabilities count as on an edge."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import CACHE_BYTES, row_chunks

__all__ = ["HALF", "ON_EDGE", "SINGLE", "edges_of_equal_width", "inner_edges", "significant_bits"]

Floats = NDArray[np.float64]

HALF = (8, 11)  # significant bits of bfloat16 and of float16
SINGLE = 24  # of float32
ON_EDGE = 2.0**-23  # relative; in single precision, a number this little above an edge counts as on it


@cache
def edges_of_equal_width(n_bins: int) -> Floats:
    """Edges j / B, (B + 1,); where j · (1 / B) rounds to a greater number, that one, so both lie in the bin below the edge."""
    edges = np.maximum(np.linspace(0.0, 1.0, n_bins + 1), np.arange(n_bins + 1) / n_bins)
    edges.flags.writeable = False
    return edges


def inner_edges(n_bins: int, values: Floats | None = None) -> Floats:
    """Edges to compare with probabilities: the greatest number in the bin (low, high] below each inner edge j / B, (B − 1,).

    The edges are rounded to the type of the probabilities. float32 has no .3 and no .6, and the numbers next to them are
    greater: compared with the edges of float64, a .3 stored in float32 would lie in the bin above. The type is the shortest
    of bfloat16, float16, float32 and float64 that holds all values exactly, because converting an array changes no
    probability. Without values, of mixtures of members, it is float32.

    Examples
    --------
    >>> probs = np.array([0.3, 0.6], dtype=np.float32).astype(float)
    >>> (probs > [0.3, 0.6]).tolist(), (probs > inner_edges(10, probs)[[2, 5]]).tolist()
    ([True, True], [False, False])
    """
    edges = edges_of_equal_width(n_bins)[1:-1]
    bits = SINGLE if values is None else significant_bits(values)
    if bits > SINGLE:
        return edges
    on_edge = edges * (1.0 + ON_EDGE)
    if bits > HALF[-1]:
        return on_edge
    fraction, exponent = np.frexp(edges)
    scale = 2.0 ** next(half for half in HALF if bits <= half)
    return np.maximum(on_edge, np.ldexp(np.round(fraction * scale) / scale, exponent))


def significant_bits(values: NDArray[Any]) -> int:
    """Significant bits that hold all values exactly, up to 53; above those of float32, a lower bound."""
    together, bits = 0, 1
    for some in row_chunks(len(values), values[:1].nbytes, chunk_bytes=CACHE_BYTES):
        words = np.asarray(values[some], dtype=np.float64).view(np.uint64)
        together |= int(np.bitwise_or.reduce(words, axis=None)) & (
            2**52 - 1
        )  # of the fractions, without the leading bit
        bits = 54 - (together & -together).bit_length() if together else 1
        if bits > SINGLE:
            break
    return bits
