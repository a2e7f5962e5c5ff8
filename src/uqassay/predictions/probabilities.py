"""Arithmetic on rows of probabilities that the kinds share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric, check_rows, release, row_chunks, still_whole
from uqassay.errors import InputError

__all__ = ["event_and_rest", "normalised", "not_negative", "refuse_truth_values", "take_probabilities"]

Array = NDArray[np.float64]


def take_probabilities(values: Any, name: str, ndim: int) -> NDArray[Any]:
    """The array behind a `probs`-like argument, with the remedy for a single column of probabilities."""
    array = as_numeric(values, name)
    if array.ndim == 1 and ndim == 2 and array.size:
        raise InputError(
            name,
            "must be (n, K), one column per class",
            f"got shape {array.shape}",
            "pass the probabilities of class 1 to Point.from_binary or Members.from_binary",
            code="one-column",
        )
    return as_numeric(array, name, ndim=ndim)


def refuse_truth_values(array: NDArray[Any], name: str, remedy: str) -> None:
    """Refuse a boolean array where numbers are needed."""
    if array.dtype == bool:
        raise InputError(name, "must hold numbers", "got truth values", remedy, code="type")


def normalised(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Rows divided by their sums, for non-negative input whose rows do not sum to 1."""
    if array.dtype == bool:
        check_rows(array, name, tolerance=0.0)
    values = np.asarray(array, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # inf − inf; such rows are refused below
        totals = values.sum(axis=-1, keepdims=True)
    broken = ~(np.isfinite(values) & (values >= 0)).all(axis=-1) | ~(totals[..., 0] > 0)
    if broken.any():
        at = tuple(np.argwhere(broken)[0])
        row = values[at]
        odd = ~(np.isfinite(row) & (row >= 0))
        raise InputError(
            name,
            "normalise=True needs finite, non-negative rows with a positive sum",
            f"row {at[0]} holds {row[odd][0]:g}" if odd.any() else f"all of row {at[0]} is 0",
            "use Point.from_logits (Members.from_logits) if these are logits, or drop such rows",
            code="not-probabilities",
            facts={"row": int(at[0]), "can_normalise": False, "normalising": True},
        )
    huge = np.isinf(totals[..., 0])
    if huge.any():  # a sum beyond the largest number; other rows are divided once, as ever
        values = values.copy()
        values[huge] /= values[huge].max(axis=-1, keepdims=True)
        totals = values.sum(axis=-1, keepdims=True)
    return values / totals


def event_and_rest(probs: NDArray[Any], k: int) -> Array:
    """(rest, class k) on the last axis, in float64, from distributions on the last axis.

    The rest is the sum of the other classes, exact for the smallest; where a row misses the sum of 1 by more than double
    precision allows, as 16 bits do, it is 1 − p(k).
    """
    others = np.arange(probs.shape[-1]) != k
    out = np.empty((*probs.shape[:-1], 2))
    for rows in row_chunks(len(probs), 8 * probs[:1].size):
        p = not_negative(probs[rows])
        event = np.minimum(p[..., k], 1.0)
        rest = np.compress(others, p, axis=-1).sum(axis=-1)
        out[rows, ..., 0] = np.where(np.abs(event + rest - 1.0) > 5e-7, 1.0 - event, rest)
        out[rows, ..., 1] = event
        release(probs)
    return out


def not_negative(values: NDArray[Any]) -> Array:
    """Probabilities in float64, with 0 in place of the slightly negative values that the tolerance allows.

    The result is contiguous for every layout of the input, so that sums round alike in every chunk.
    """
    still_whole(values)
    array = np.ascontiguousarray(values, dtype=np.float64)
    return np.maximum(array, 0.0) if (array < 0).any() else array
