"""Arrays at the door: what comes in is checked once, named in every complaint, and never copied without need.

Also here, because every room needs them: the chunks in which instances are walked through, and the random
generators that belong to an instance's row rather than to its place in a chunk.
"""

import math
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from uqassay.errors import InputError

Floats = NDArray[np.floating[Any]]
RandomState = int | np.random.Generator | np.random.SeedSequence | None

CHUNK_BYTES = 32 * 2**20
SCATTERED_BYTES, SCATTERED_ROWS = (
    2**18,
    16,
)  # of a memory map between two releases: so many bytes, at least so many rows
SCRATCH_BYTES = 16 * 2**20  # what a thread keeps of one intermediate array


# -- what comes in ----------------------------------------------------------------------------------------------------


def as_numeric(values: Any, name: str, *, ndim: int | tuple[int, ...] | None = None) -> NDArray[Any]:
    """Real-valued array without a copy where possible: memory maps stay memory maps, tensors come to the host.

    Raises
    ------
    InputError
        When `values` is ragged, holds objects or text, has no instances, or has another number of dimensions.
    """
    if hasattr(values, "detach"):  # a PyTorch tensor: off the graph, off the device, and out of bfloat16
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = np.asarray(values.float().numpy(), dtype=np.float32)
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except ValueError as problem:
        raise InputError(
            name,
            "must be a rectangular array",
            "the rows given have unequal lengths",
            "pad or drop the short ones",
            code="shape",
        ) from problem
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        raise InputError(
            name,
            "must hold real numbers",
            f"got dtype {array.dtype}",
            "convert it, for example by .astype(float)",
            code="type",
        )
    if ndim is not None:
        allowed = (ndim,) if isinstance(ndim, int) else ndim
        if array.ndim not in allowed:
            wanted = " or ".join(str(d) for d in allowed)
            raise InputError(
                name, f"must have {wanted} dimensions", f"got shape {array.shape}", "reshape it", code="shape"
            )
        if array.shape[0] == 0:
            raise InputError(
                name, "must hold at least one instance", f"got shape {array.shape}", "check the selection", code="shape"
            )
    return array


def tolerance_of(values: Any) -> float:
    """How far a row of probabilities may be from summing to 1, by the precision of the array or tensor given."""
    name = str(getattr(values, "dtype", "float64")).removeprefix("torch.")
    return {"float16": 1e-3, "bfloat16": 1e-3, "float32": 1e-4}.get(name, 1e-6)


def check_rows(
    array: NDArray[Any],
    name: str,
    *,
    tolerance: float,
    unit_sum: bool = True,
    low: float = 0.0,
    high: float = 1.0,
    remedy: str = "pass normalise=True, or use Point.from_logits if these are logits",
) -> None:
    """Refuse non-finite values, values outside [low, high], and (`unit_sum`) rows that do not sum to 1.

    `array` is ``(n, …, K)``; walked in chunks, so a memory map is never in memory as a whole.
    """
    for rows in row_chunks(array.shape[0], array[:1].nbytes * 2):
        block = np.asarray(array[rows])
        finite = np.isfinite(block)
        if not finite.all():
            at = np.argwhere(~finite)[0]
            bad = block[tuple(at)]
            raise InputError(
                name,
                "values must be finite",
                f"row {rows.start + at[0]} holds {bad} at {_index_text(rows.start, at)}",
                "drop or repair such rows first",
                code="finite",
            )
        beyond = (block < low - tolerance) | (block > high + tolerance)
        if beyond.any():
            at = np.argwhere(beyond)[0]
            rule = f"between {low:g} and {high:g}" if np.isfinite(high) else f"at least {low:g}"
            raise InputError(
                name,
                f"values must be {rule}",
                f"row {rows.start + at[0]} holds {float(block[tuple(at)]):.6g} at {_index_text(rows.start, at)}",
                remedy,
                code="type",
            )
        if unit_sum:
            sums = block.sum(axis=-1, dtype=np.float64)
            off = np.abs(sums - 1.0) > tolerance
            if off.any():
                at = np.argwhere(off)[0]
                where = "" if len(at) == 1 else f" (index {at[1]} of that row)"
                raise InputError(
                    name,
                    f"each row must sum to 1 within {tolerance:g}",
                    f"row {rows.start + at[0]}{where} sums to {float(sums[tuple(at)]):.6g}",
                    remedy,
                    code="sum",
                )
        release(array)


def _index_text(start: int, at: NDArray[np.integer[Any]]) -> str:
    inside = ", ".join(str(int(i)) for i in at[1:])
    return f"[{start + int(at[0])}, {inside}]" if inside else f"[{start + int(at[0])}]"


def check_class_count(n_classes: int, name: str) -> None:
    """Refuse K = 1 and K = 0 with the remedy for a single column of probabilities."""
    if n_classes < 2:
        raise InputError(
            name,
            "needs at least two classes in the last axis",
            f"got {n_classes}",
            "a single column of probabilities of one class goes through Members.from_binary (or give both columns)",
            code="range",
        )


def as_labels(
    labels: ArrayLike, n_classes: int, *, n_instances: int | None = None, name: str = "y_true"
) -> NDArray[Any]:
    """Integer labels ``(n,)`` as int64, or label distributions / vote counts ``(n, K)`` as rows that sum to 1.

    Raises
    ------
    InputError
        Labels that are not whole numbers, out of range, of the wrong length; votes that are negative or all zero.
    """
    array = as_numeric(labels, name, ndim=(1, 2))
    if n_instances is not None and array.shape[0] != n_instances:
        raise InputError(
            name,
            f"needs one label for each of the {n_instances} instances",
            f"got {array.shape[0]}",
            "check that labels and predictions come from the same split in the same order",
            code="mismatch",
        )
    if array.ndim == 2:
        return _as_label_distributions(array, n_classes, name)
    if array.dtype.kind == "f":
        broken = ~np.isfinite(array) | (array != np.round(np.where(np.isfinite(array), array, 0)))
        if broken.any():
            row = int(np.flatnonzero(broken)[0])
            raise InputError(
                name,
                "labels must be whole numbers",
                f"row {row} holds {float(array[row]):g}",
                "give class indices (0, 1, …) or a label distribution with one column per class",
                code="type",
            )
    outside = (array < 0) | (array >= n_classes)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise InputError(
            name,
            f"labels must lie in 0 … {n_classes - 1}",
            f"row {row} holds {array[row]:g}",
            "recode the labels so that they index the columns of the predictions",
            code="range",
        )
    return array.astype(np.int64)


def _as_label_distributions(array: NDArray[Any], n_classes: int, name: str) -> NDArray[Any]:
    if array.shape[1] != n_classes:
        raise InputError(
            name,
            f"label distributions need one column for each of the {n_classes} classes",
            f"got {array.shape[1]}",
            "check the order and number of the columns",
            code="mismatch",
        )
    check_rows(array, name, tolerance=0.0, unit_sum=False, high=np.inf, remedy="votes and shares cannot be negative")
    counts = array.astype(np.float64)
    totals = counts.sum(axis=1)
    if (totals <= 0).any():
        row = int(np.flatnonzero(totals <= 0)[0])
        raise InputError(
            name, "every row needs at least one vote", f"row {row} has none", "drop such rows", code="empty"
        )
    return counts / totals[:, None]


# -- walking through the instances ------------------------------------------------------------------------------------


def row_chunks(n_rows: int, bytes_per_row: int, *, chunk_bytes: int = CHUNK_BYTES) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each worth about `chunk_bytes`."""
    step = max(1, chunk_bytes // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def available_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Kept(threading.local):
    """One buffer for each name, of this thread's own."""

    def __init__(self) -> None:
        self.buffers: dict[str, NDArray[np.float64]] = {}


_kept = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array for intermediate results, with anything in it; the next call with this name in this thread takes it again.

    A fresh array of some 100 kB costs a page fault for every 4 kB, more than what is computed in it. Great arrays are fresh
    ones: nothing is kept of them.
    """
    size, dtype = math.prod(shape), np.dtype(dtype)
    n = -(-size * dtype.itemsize // 8)
    if n > SCRATCH_BYTES // 8:
        return np.empty(shape, dtype=dtype)
    buffer = _kept.buffers.get(name)
    if buffer is None or buffer.size < n:
        buffer = _kept.buffers[name] = np.empty(n)
    return buffer.view(dtype)[:size].reshape(shape)


def taken(array: NDArray[Any], rows: Any) -> NDArray[Any]:
    """``array[rows]``; scattered rows of a memory map are copied a few at a time.

    The system may map megabytes around each row that is read, so a few hundred rows could hold a whole file.
    """
    if not (isinstance(array, np.memmap) and isinstance(rows, np.ndarray)):
        return array[rows]
    numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
    out = np.empty((len(numbers), *array.shape[1:]), dtype=array.dtype)
    for some in row_chunks(
        len(numbers), min(array[:1].nbytes, SCATTERED_BYTES // SCATTERED_ROWS), chunk_bytes=SCATTERED_BYTES
    ):
        out[some] = array[numbers[some]]
        release(array)
    return out


def release(array: NDArray[Any]) -> None:
    """Give back the pages of a read-only memory map that were read, so that walking a file costs no memory."""
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    while isinstance(base, np.memmap) and isinstance(base.base, np.memmap):
        base = base.base
    if isinstance(base, np.memmap) and base.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        pages: Any = base._mmap  # type: ignore[attr-defined]
        pages.madvise(mmap.MADV_DONTNEED)


# -- randomness -------------------------------------------------------------------------------------------------------


def generator(rng: RandomState = None) -> np.random.Generator:
    """NumPy generator from the one `rng` argument; None means seed 0, so that a rerun agrees.

    Raises
    ------
    InputError
        Negative numbers, fractions, text.
    """
    try:
        return np.random.default_rng(0 if rng is None else rng)
    except (TypeError, ValueError) as problem:
        raise _no_seed(rng) from problem


def _no_seed(rng: Any) -> InputError:
    return InputError(
        "rng", "must be a whole number from 0 up, a generator or None", f"got {rng!r}", "give a seed", code="range"
    )


def draw_per_row(
    draw: Callable[[np.random.Generator, int], NDArray[Any]],
    out: NDArray[Any],
    row_numbers: NDArray[np.int64],
    rng: RandomState,
) -> NDArray[Any]:
    """Fill ``out[i] = draw(generator of row_numbers[i], i)``: the draws belong to the row, not to its chunk.

    One counter-based stream (Philox), keyed by the seed, is moved to a counter of the row's own, so a slice of the
    instances, in whatever order, receives the numbers that it would receive in the whole. Only the drawing walks
    row by row; whatever is done with the draws is done in array passes.
    """
    if isinstance(rng, np.random.SeedSequence):
        key = rng.generate_state(2, np.uint64)
    elif isinstance(rng, np.random.Generator):
        key = rng.integers(0, 2**63, size=2, dtype=np.uint64)
    else:
        try:
            key = np.random.SeedSequence(0 if rng is None else rng).generate_state(2, np.uint64)
        except (TypeError, ValueError) as problem:
            raise _no_seed(rng) from problem
    bits = np.random.Philox(key=key)
    state: Any = bits.state
    stream = np.random.Generator(bits)
    for i, row in enumerate(row_numbers.tolist()):
        state["state"]["counter"][:] = (0, 0, 0, row)
        state["buffer_pos"] = 4
        state["has_uint32"] = 0
        bits.state = state
        out[i] = draw(stream, i)
    return out
