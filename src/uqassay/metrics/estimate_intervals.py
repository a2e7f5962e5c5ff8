"""Intervals of an uncertainty estimate that divide the instances into bins, with any ties."""

from collections.abc import Sequence
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.statistics.samples import as_floats, check_choice, is_number

__all__ = ["GainBinning", "checked_edges", "finite_values", "gain_bins", "is_count", "place_in_intervals"]

Floats = NDArray[np.float64]
GainBinning = Literal["equal-mass", "equal-width"]

BINNINGS = ("equal-mass", "equal-width")
MOST_BINS = 2**15


def gain_bins(epistemic: ArrayLike, bins: int = 20, binning: GainBinning = "equal-mass") -> Floats:
    """Edges of intervals that divide instances by their estimate of epistemic uncertainty.

    Parameters
    ----------
    epistemic : array (n,)
        Finite estimates.
    bins : int
        Greatest number of intervals M.
    binning : {"equal-mass", "equal-width"}
        "equal-mass": interval j starts at the estimate of rank ⌊n j/M⌋ of n, and equal starts make one interval. Ties
        therefore never fall in two intervals, and the result does not depend on the order of rows. "equal-width": equal
        parts of the range from the least to the greatest estimate; some can be empty.

    Returns
    -------
    edges : array (M' + 1,), M' ≤ M
        Interval m is [edge_m, edge_{m+1}); the last one includes its upper edge. It can be one value alone, so the last two
        edges can be equal. If all estimates are equal there is one interval.

    Raises
    ------
    InputError
        Estimates that are nan or infinite, or an invalid number of bins.

    References
    ----------
    Paper 002, section 5.2, step 3 (twenty intervals with roughly the same number of points).

    Examples
    --------
    >>> gain_bins([0.1, 0.2, 0.3, 0.4], bins=2).tolist()
    [0.1, 0.3, 0.4]
    >>> gain_bins([0.0, 0.0, 0.0, 0.5], bins=4).tolist(), gain_bins([0.5, 0.5], bins=4).tolist()
    ([0.0, 0.5, 0.5], [0.5, 0.5])
    >>> gain_bins([0.0, 0.1, 1.0], bins=2, binning="equal-width").tolist()
    [0.0, 0.5, 1.0]
    """
    values = finite_values(epistemic, "epistemic")
    check_choice(binning, "binning", BINNINGS)
    if not is_count(bins):
        raise InputError(
            "bins", f"must be a whole number from 1 to {MOST_BINS}", f"got {bins!r}", "pass 20, say", code="range"
        )
    m, n = int(bins), values.size
    rising = np.sort(values)
    if rising[0] == rising[-1]:
        return rising[[0, -1]]
    if binning == "equal-mass":
        return np.append(np.unique(rising[np.arange(m) * n // m]), rising[-1])
    edges = np.linspace(rising[0], rising[-1], m + 1)
    return edges if m == 1 else np.append(np.unique(edges[:-1]), rising[-1])  # a range of few floats has fewer edges


def is_count(bins: object) -> TypeGuard[int]:
    """True for a valid number of intervals."""
    return is_number(bins) and float(bins) % 1 == 0 and 1 <= float(bins) <= MOST_BINS  # type: ignore[arg-type]


def checked_edges(edges: ArrayLike | Sequence[float], name: str = "bins") -> Floats:
    """Edges (M + 1,) that rise; the last two can be equal, and the outer two infinite."""
    array = as_floats(edges, name, ndim=(1,), shape="(M + 1,)")
    rising = array.size >= 2 and bool((array[1:-1] > array[:-2]).all()) and bool(array[-1] >= array[-2])
    if not rising or np.isinf(array[1:-1]).any():
        raise InputError(
            name,
            "must be rising edges of at least one interval; the last two can be equal",
            f"got {array.size} values such as {array[:4].tolist()}",
            "pass a number of bins, or edges such as those of gain_bins",
            code="range",
        )
    return array


def place_in_intervals(values: Floats, edges: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Interval of each value, where the outer ones have no end, and whether a value lies outside the edges."""
    inside = edges[1:-1]
    place = np.searchsorted(inside, values, side="right").astype(np.intp)
    return place, (values < edges[0]) | (values > edges[-1])


def finite_values(values: Any, name: str, n: int | None = None, other: str = "") -> Floats:
    """Finite numbers (n,); `n` is the number of values of `other`."""
    array = as_floats(values, name, ndim=(1,), shape="(n,)")
    if n is not None and array.size != n:
        raise InputError(
            name,
            f"must have one value for each of the {n} values of {other}",
            f"got {array.size}",
            "take the same instances in the same order",
            code="mismatch",
        )
    if np.isinf(array).any():
        row = int(np.isinf(array).argmax())
        raise InputError(
            name,
            "values must be finite",
            f"row {row} holds {array[row]}",
            "leave out those instances or give them a value",
            code="finite",
        )
    return array
