"""Sums of the placements of two samples, from sorting: all that the area under the ROC curve and its variance need.

The placement of a value is the number of values of the other sample below it (ties ½) or above it.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.statistics.samples import Floats, as_floats

__all__ = ["PlacementSums", "placement_sums", "tied_share"]

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
    tied : (float, float)
        Probability that two members of the first, and of the second sample, tie; 0 for fewer than two.
    constant : bool
        True if all values are equal.
    """

    sizes: tuple[int, int]
    below: tuple[float, float]
    above: tuple[float, float]
    tied: tuple[float, float]
    constant: bool


def placement_sums(first: NDArray[np.bool_], values: NDArray[Any], name: str) -> PlacementSums:
    """Placements of values (n,), those of the first sample marked (n,). Raises InputError, with this name, for nan."""
    count = kernel("placement_sums")
    if count is not None and len(values) < MOST_COUNTED:
        dtype = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
        found = count(np.ascontiguousarray(values, dtype), np.ascontiguousarray(first))
        if found is not None:
            return _of_integers(*found)
    s = as_floats(values, name, ndim=(1,), shape="(n,)")
    return _by_search(s[first], s[~first], constant=bool((s == s[0]).all()))


def tied_share(members: Floats, by_level: Floats) -> float:
    """Probability that two of these members (shares of an instance, (n,)) tie, from their number at each level, (L,)."""
    single = float(members @ members)
    pairs = float(members.sum()) ** 2 - single
    return min(max((float(by_level @ by_level) - single) / pairs, 0.0), 1.0) if pairs > 1e-12 * single else 0.0


def _of_integers(
    sizes: tuple[int, int], sums: tuple[int, int], squares: tuple[int, int], ties: tuple[int, int], levels: int
) -> PlacementSums:
    """From exact sums of twice the number of values of the other sample below."""
    m1, m0 = sizes
    # the number above is m1 minus that below, so Σ (m1 − b)² = m1² m0 − 2 m1 Σ b + Σ b²
    above = (2 * m1 * m0 - sums[1]) / 2, (4 * m1 * m1 * m0 - 4 * m1 * sums[1] + squares[1]) / 4
    shares = [(t - m) / (m * m - m) if m > 1 else 0.0 for m, t in zip(sizes, ties, strict=True)]
    return PlacementSums(sizes, (sums[0] / 2, squares[0] / 4), above, (shares[0], shares[1]), levels == 1)


def _tied_share(ordered: Floats) -> float:
    """`tied_share` of whole members with these sorted values."""
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    counts = np.diff(ends, prepend=-1, append=ordered.size - 1).astype(np.float64)
    return tied_share(np.ones(ordered.size), counts)


def _by_search(x: Floats, y: Floats, *, constant: bool) -> PlacementSums:
    """Sorts x and y in place.

    Only the values of the smaller sample are looked up in the larger one. The number of smaller-sample values below the
    j-th value of the larger sample is a step function of j, which rises by ½ at each end of these look-ups. Its sums
    therefore follow from the step heights and lengths, without a pass over the larger sample.
    """
    m1, m0 = len(x), len(y)
    x.sort()
    y.sort()
    tied = _tied_share(x), _tied_share(y)
    if not (m1 and m0):
        return PlacementSums((m1, m0), (0.0, 0.0), (0.0, 0.0), tied, constant)
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
    return PlacementSums((m1, m0), below, above, tied, constant)
