"""Checks and arithmetic on rows of probabilities, shared by the kinds of prediction."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import (
    REMEDIES,
    as_numeric,
    check_rows,
    near,
    release,
    rounding,
    row_chunks,
    still_whole,
    tolerance_of,
)
from uqassay._kernels import kernel
from uqassay._namespaces import compute_dtype, namespace
from uqassay.errors import InputError

__all__ = [
    "event_and_rest",
    "normalised",
    "not_negative",
    "not_normalisable",
    "refuse_truth_values",
    "take_probabilities",
]

Array = NDArray[np.float64]


def take_probabilities(values: Any, name: str, ndim: int) -> NDArray[Any]:
    """An array with `ndim` axes; one axis instead of two is refused with the remedy for probabilities of class 1."""
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
    """Non-negative rows divided by their sums; a value that rounding made negative counts as 0."""
    if array.dtype == bool:
        check_rows(array, name, tolerance=0.0)  # refuses truth values as sets of classes
    values = np.asarray(array, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # inf − inf; such rows are refused below
        totals = values.sum(axis=-1, keepdims=True)
        rounded = (values < 0) & (values >= -tolerance_of(array) * np.maximum(totals, 1.0))  # such as −2e-16
        if rounded.any():
            values = np.where(rounded, 0.0, values)
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
            facts={"row": int(at[0]), "look": "logits", "normalising": "rows"},
        )
    if (other := not_normalisable(values)).any():
        row, inside = int(np.argwhere(other)[0][0]), bool((values <= 1).all())
        raise InputError(
            name,
            "normalise=True repairs rounding, per cent and counts: rows that sum to 1 or 100 within 1 %, or whole numbers",
            f"row {row} sums to {float(totals[tuple(np.argwhere(other)[0])][0]):.6g}",
            REMEDIES["sigmoids"]
            if inside
            else "leave out what is no probability of a class, or divide the rows by their sums first, if that is meant",
            code="sum",
            facts={"row": row, "look": "sigmoids" if inside else "logits", "normalising": "sums"},
        )
    huge = np.isinf(totals[..., 0])
    if huge.any():  # the sum overflows: scale these rows alone, because scaling rounds a second time
        values = values.copy()
        values[huge] /= values[huge].max(axis=-1, keepdims=True)
        totals = values.sum(axis=-1, keepdims=True)
    return values / totals


def not_normalisable(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows ``(…, K)`` that dividing by their sum does not repair: no rounding, no per cent throughout, no whole numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = values.sum(axis=-1, dtype=np.float64)
        if near(totals, 100.0) or (values == np.round(values)).all():
            return np.zeros(totals.shape, dtype=bool)
        return np.asarray(~(np.abs(totals - 1.0) <= rounding(values)))


def event_and_rest(probs: NDArray[Any], k: int) -> Array:
    """Probabilities of the rest and of class k, ``(…, 2)`` in float64, from distributions ``(…, K)``.

    The rest is the sum of the other classes, because 1 − p(k) would lose its digits for a confident prediction. If the row
    does not sum to 1 in double precision (numbers of 16 bits), the rest is 1 − p(k).
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
    """Probabilities in float64; small negative values, which the tolerance allows, become 0.

    The result is contiguous for every memory layout, so that sums round alike in every chunk. Arrays of other libraries stay on
    their device.
    """
    if not isinstance(values, np.ndarray):
        xp = namespace(values)
        return xp.maximum(xp.astype(values, compute_dtype(values), copy=False), 0.0)
    still_whole(values)
    compiled = kernel("rows_not_negative")
    if compiled is not None and _apart(values):
        found: Array = compiled(values)
        return found
    array = np.ascontiguousarray(values, dtype=np.float64)
    return np.maximum(array, 0.0) if (array < 0).any() else array


def _apart(values: NDArray[Any]) -> bool:
    """Whether these are rows (n, K) of numbers that are neighbours in memory, with other numbers between the rows."""
    fits = values.ndim == 2 and values.dtype in (np.float64, np.float32)
    whole = fits and values.flags.aligned and values.strides[0] % values.itemsize == 0
    return whole and values.strides[1] == values.itemsize and not values.flags.c_contiguous
