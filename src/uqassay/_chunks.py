"""Chunks of rows, scratch buffers per thread, and memory maps that are read without filling memory."""

import math
import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from uqassay.errors import InputError

__all__ = [
    "CHUNK_BYTES",
    "SCATTERED_ROWS",
    "SCRATCH_BYTES",
    "argmax_of_rows",
    "available_cores",
    "limited_cores",
    "release",
    "row_chunks",
    "scratch",
    "still_whole",
    "taken",
]

CHUNK_BYTES = 32 * 2**20
CACHE_BYTES = 4 * 2**20  # of chunks with several copies
SCATTERED_BYTES = 2**18  # bytes copied from a memory map before its pages are released
SCATTERED_ROWS = 16  # least number of rows copied before that
SCRATCH_BYTES = 16 * 2**20  # largest buffer that a thread keeps


def row_chunks(n_rows: int, bytes_per_row: int, *, chunk_bytes: int = CHUNK_BYTES) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each worth about `chunk_bytes`."""
    step = max(1, chunk_bytes // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def argmax_of_rows(array: NDArray[Any]) -> NDArray[np.intp]:
    """``array.argmax(axis=-1)`` by chunks, because numpy copies an array (..., n, K) whose rows are not contiguous."""
    found = np.empty(array.shape[:-1], dtype=np.intp)
    for rows in row_chunks(array.shape[-2], array[..., :1, :].nbytes, chunk_bytes=CACHE_BYTES):
        found[..., rows] = array[..., rows, :].argmax(axis=-1)
    return found


def available_cores() -> int:
    """Cores that this process may run on, or as many as `limited_cores` leaves to this thread."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if _limit.cores is None else min(cores, _limit.cores)


@contextmanager
def limited_cores(cores: int) -> Iterator[None]:
    """Within the block, work of this thread starts threads for so many cores alone: other processes use the rest."""
    before, _limit.cores = _limit.cores, cores
    try:
        yield
    finally:
        _limit.cores = before


class _Limit(threading.local):
    """Number of cores that this thread may use, or None."""

    cores: int | None = None


_limit = _Limit()


class _Kept(threading.local):
    """The buffers of this thread, by name."""

    def __init__(self) -> None:
        self.buffers: dict[str, NDArray[np.float64]] = {}


_kept = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An uninitialised array for intermediate results; the next call with this name in this thread reuses its memory.

    A new array of 100 kB causes a page fault per 4 kB, which takes longer than the computation on it. Arrays larger than
    `SCRATCH_BYTES` are not kept.
    """
    size, dtype = math.prod(shape), np.dtype(dtype)
    n = -(-size * dtype.itemsize // 8)  # in float64, rounded up
    if n > SCRATCH_BYTES // 8:
        return np.empty(shape, dtype=dtype)
    buffer = _kept.buffers.get(name)
    if buffer is None or buffer.size < n:
        buffer = _kept.buffers[name] = np.empty(n)
    return buffer.view(dtype)[:size].reshape(shape)


def taken(array: NDArray[Any], rows: Any) -> NDArray[Any]:
    """``array[rows]``; scattered rows of a memory map are copied a few at a time.

    The operating system may load megabytes around each row, so a few hundred rows could load a whole file.
    """
    still_whole(array)
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
    """Release the pages of a read-only memory map, so that reading a whole file does not fill memory."""
    base = _map_of(array)
    if base is not None and base.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        pages: Any = base._mmap  # type: ignore[attr-defined]
        pages.madvise(mmap.MADV_DONTNEED)


def still_whole(array: NDArray[Any]) -> None:
    """Refuse a memory map whose file was truncated after it was opened.

    Reading beyond the end of the file kills the interpreter (SIGBUS), so every pass over the rows checks the size first.

    Raises
    ------
    InputError
        The file is smaller than the array.
    """
    base = _map_of(array)
    if base is None:
        return
    pages: Any = base._mmap  # type: ignore[attr-defined]
    needed = int(base.offset) + base.nbytes
    size = pages.size()  # present size of the file
    if size < needed:
        raise InputError(
            "file",
            "must not change while it is in use",
            f"{base.filename or 'a memory map'} holds {size} bytes, and the array needs {needed}",
            "write the file again and load it anew",
            code="unreadable",
            source=os.path.basename(base.filename) if base.filename else "",
        )


def _map_of(array: NDArray[Any]) -> "np.memmap[Any, Any] | None":
    """The memory map behind a view, or None."""
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    while isinstance(base, np.memmap) and isinstance(base.base, np.memmap):  # a slice of a map is a map, too
        base = base.base
    return base if isinstance(base, np.memmap) else None
