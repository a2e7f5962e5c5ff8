"""Sums of the placements of two samples, from sorting: all that the area under the ROC curve and its variance need.

The placement of a value is the number of values of the other sample below it (ties ½) or above it.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.statistics.samples import Floats, as_floats

__all__ = ["PlacementSums", "placement_sums"]

MOST_COUNTED = 2**31  # values that the kernel can count


@final
@dataclass(frozen=True, slots=True)
class PlacementSums:
    """Two samples, called the first and the second, by the sums of their placements.

    Attributes
    ----------
    sizes : (int, int)
        Of the first and the second sample.
    below : (float, float)
        Over the first sample, Σ b and Σ b², where b is the number of values of the second sample below (ties ½).
    above : (float, float)
        Over the second sample, Σ a and Σ a², where a is the number of values of the first sample above (ties ½).
    constant : bool
        True if all values are equal.
    """

    sizes: tuple[int, int]
    below: tuple[float, float]
    above: tuple[float, float]
    constant: bool


def placement_sums(first: NDArray[np.bool_], values: NDArray[Any], name: str) -> PlacementSums:
    """Placements of values (n,), those of the first sample marked (n,). Raises InputError, with this name, for nan."""
    count = kernel("placement_sums")
    if count is not None and len(values) < MOST_COUNTED:
        dtype = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
        found = count(np.ascontiguousarray(values, dtype), np.ascontiguousarray(first))
        if found is not None:
            sizes, sums, squares, _, levels = found  # the kernel counts ties, too
            return _of_integers(sizes, sums, squares, levels)
    s = as_floats(values, name, ndim=(1,), shape="(n,)")
    return _by_search(s[first], s[~first], constant=bool((s == s[0]).all()))


def _of_integers(sizes: tuple[int, int], sums: tuple[int, int], squares: tuple[int, int], levels: int) -> PlacementSums:
    """From exact sums of twice the number of values of the other sample below."""
    m1, m0 = sizes
    # the number above is m1 minus that below, so Σ (m1 − b)² = m1² m0 − 2 m1 Σ b + Σ b²
    above = (2 * m1 * m0 - sums[1]) / 2, (4 * m1 * m1 * m0 - 4 * m1 * sums[1] + squares[1]) / 4
    return PlacementSums(sizes, (sums[0] / 2, squares[0] / 4), above, levels == 1)


def _by_search(x: Floats, y: Floats, *, constant: bool) -> PlacementSums:
    """Sorts x and y in place.

    Only the values of the smaller sample are looked up in the larger one. The number of smaller-sample values below the
    j-th value of the larger sample is a step function of j, which rises by ½ at each end of these look-ups. Its sums
    therefore follow from the step heights and lengths, without a pass over the larger sample.
    """
    m1, m0 = len(x), len(y)
    x.sort()
    y.sort()
    if not (m1 and m0):
        return PlacementSums((m1, m0), (0.0, 0.0), (0.0, 0.0), constant)
    small, large = (x, y) if m1 <= m0 else (y, x)
    left = np.searchsorted(large, small, side="left")
    right = left.copy()
    same = np.flatnonzero(large[np.minimum(left, len(large) - 1)] == small)
    right[same] = np.searchsorted(large, small[same], side="right")
    of_small = (left + right) / 2.0  # values of the larger sample below each of the smaller one, ties ½
    places = np.sort(np.concatenate([left, right]))
    stay = np.diff(places, append=len(large)).astype(np.float64)
    of_large = np.arange(1, len(places) + 1) / 2.0  # height of each step: smaller-sample values below, ties ½
    sums = (float(of_small.sum()), float(of_small @ of_small)), (float(of_large @ stay), float(of_large**2 @ stay))
    below, above = sums if m1 <= m0 else sums[::-1]
    # the number above is m1 minus that below, so Σ (m1 − b)² = m1² m0 − 2 m1 Σ b + Σ b²
    above = (m1 * m0 - above[0], m1**2 * m0 - 2.0 * m1 * above[0] + above[1])
    return PlacementSums((m1, m0), below, above, constant)
