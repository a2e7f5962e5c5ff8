"""From what users give to arrays: conversion, finite values, chunks of rows, random streams."""

import math
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.frames import as_frame
from uqassay.text import shown

__all__ = [
    "CACHE_BYTES",
    "CHUNK_BYTES",
    "NEAR",
    "REMEDIES",
    "SCATTERED_ROWS",
    "SCRATCH_BYTES",
    "Floats",
    "RandomState",
    "argmax_of_rows",
    "as_array",
    "as_bfloat16",
    "as_labels",
    "as_numeric",
    "available_cores",
    "check_class_count",
    "check_rows",
    "check_whole_numbers",
    "draw_per_row",
    "generator",
    "index_text",
    "limited_cores",
    "lone_surrogates",
    "near",
    "normal_points",
    "one_row_for_each_pixel",
    "precision_of",
    "release",
    "rounding",
    "row_chunks",
    "scratch",
    "still_whole",
    "taken",
    "tolerance_of",
]


Floats = NDArray[np.float64]


# Conversion to plain NumPy arrays. A masked or missing value has no number, so a mask is never dropped silently.

# NumPy has no bfloat16. Its values are kept as float32, and the dtype says where they come from.
_BFLOAT16 = np.dtype(np.float32, metadata={"precision": "bfloat16"})


def lone_surrogates(values: Any) -> NDArray[np.bool_]:
    """Which texts have lone surrogates, which no encoding takes; False for all that is no text.

    Examples
    --------
    >>> lone_surrogates(["a", "b\\ud800"]).tolist(), lone_surrogates([1.0]).tolist()
    ([False, True], [False])
    """
    texts = np.ascontiguousarray(values)
    if texts.dtype.kind != "U" or not texts.dtype.itemsize:
        return np.zeros(texts.shape, dtype=bool)
    codes = texts.astype(texts.dtype.newbyteorder("="), copy=False).reshape(-1, 1).view(np.uint32)
    surrogates = (codes >= 0xD800) & (codes < 0xE000)
    return np.any(surrogates, axis=1, keepdims=True).reshape(texts.shape)


def as_numeric(values: Any, name: str, *, ndim: int | tuple[int, ...] | None = None) -> NDArray[Any]:
    """Real-valued array, without a copy if possible. Memory maps stay memory maps; tensors of other libraries become NumPy."""
    if values is None:
        fail(name, "must be given", "it is None", "pass an array of numbers", code="missing")
    array = as_array(values, name)
    if array.dtype.kind not in "fiub" and array.dtype.name == "bfloat16":  # of ml_dtypes
        array = as_bfloat16(array.astype(np.float32))
    if array.dtype.kind not in "fiub":
        fail(
            name,
            "must hold real numbers",
            _found(array, values),
            "give the columns or rows of numbers alone"
            if _holds_text(array)
            else "convert it, for example by .astype(float)",
            code="type",
            facts={"dtype": str(array.dtype)},
        )
    if ndim is not None:
        allowed = (ndim,) if isinstance(ndim, int) else ndim
        if array.ndim not in allowed:
            wanted = " or ".join(str(d) for d in allowed)
            remedy = "reshape it"
            if array.ndim == 4 and 2 in allowed:
                remedy = one_row_for_each_pixel(name, array.shape[1], tensor=hasattr(values, "permute"))
            elif array.ndim == 3 and allowed == (1, 2) and array.dtype.kind in "iu":
                remedy = f"pass {name}.reshape(-1) if there is a label for each pixel"
            fail(name, f"must have {wanted} dimensions", f"got shape {array.shape}", remedy, code="shape")
        if array.shape[0] == 0:
            remedy = "check the selection"
            fail(name, "must hold at least one instance", f"got shape {array.shape}", remedy, code="shape")
    return array


def one_row_for_each_pixel(name: str, n_classes: int, *, tensor: bool = False) -> str:
    """The remedy for predictions ``(n, K, H, W)`` of images.

    Examples
    --------
    >>> one_row_for_each_pixel("probs", 3)
    'for images (n, K, H, W) pass probs.transpose(0, 2, 3, 1).reshape(-1, 3), and labels.reshape(-1)'
    """
    move = "permute" if tensor else "transpose"
    return f"for images (n, K, H, W) pass {name}.{move}(0, 2, 3, 1).reshape(-1, {n_classes}), and labels.reshape(-1)"


def as_array(values: Any, name: str) -> NDArray[Any]:
    """A plain array of any dtype, or the memory map that was given.

    Raises
    ------
    InputError
        A masked or sparse array, missing values of a table, rows of unequal length, or an object that is no array.
    """
    if type(values) in (np.ndarray, np.memmap):
        return values
    frame = as_frame(values, name)
    if frame is not None:
        return frame.array
    listed = isinstance(values, (list, tuple))
    for item in values if listed else [values]:
        _refuse_without_numbers(item, name)
    try:
        if listed:
            coarse = any(precision_of(item) == "bfloat16" for item in values)
            values = [_to_host(item) for item in values]
            if coarse:  # NumPy drops the mark when it stacks the items
                values = as_bfloat16(np.asarray(values, dtype=np.float32))
        values = _to_host(values)
        # asarray drops subclasses such as np.matrix, whose rows have two dimensions
        return values if isinstance(values, np.memmap) else np.asarray(values)
    except ValueError as problem:
        rule = "must be a rectangular array"
        remedy = "pad short rows, probabilities with 0 and logits with −inf"
        raise InputError(name, rule, "the rows given have unequal lengths", remedy, code="ragged") from problem
    except (TypeError, RuntimeError, OverflowError, AttributeError, BufferError) as problem:
        rule = "must be an array of real numbers"
        got = f"got {type(values).__name__}"
        raise InputError(name, rule, got, "pass its values as a NumPy array", code="type") from problem


def as_bfloat16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same float32 values, marked as numbers that had the precision of bfloat16 when they were given."""
    return values.view(_BFLOAT16)


def precision_of(values: Any) -> str:
    """Name of the dtype that an array or tensor was given in, such as "float32" or "bfloat16"; "" without a dtype.

    Examples
    --------
    >>> precision_of(np.zeros(2)), precision_of(as_bfloat16(np.zeros(2, np.float32))), precision_of([0.0])
    ('float64', 'bfloat16', '')
    """
    dtype = getattr(values, "dtype", "")
    marked = (getattr(dtype, "metadata", None) or {}).get("precision")
    return str(marked or dtype).rpartition(".")[2]  # torch.float32, array_api_strict.float32


def _refuse_without_numbers(values: Any, name: str) -> None:
    """Refuse masked and sparse arrays, and tensors of the device meta."""
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return
    if isinstance(values, np.ma.MaskedArray) or hasattr(values, "get_mask"):  # NumPy's, PyTorch's
        rule = "masked arrays are refused, because a masked value has no number"
        remedy = "drop the masked rows, or fill them by .filled()"
        fail(name, rule, f"got {type(values).__name__} of shape {tuple(values.shape)}", remedy, code="masked")
    if getattr(values, "is_meta", False):
        shape = tuple(values.shape)
        got = f"got a tensor of shape {shape} on the device meta, which has none"
        fail(name, "must hold values", got, "give a tensor of another device", code="missing")
    layout = str(getattr(values, "layout", "torch.strided"))
    if layout.startswith("torch.sparse") or (
        hasattr(values, "nnz") and hasattr(values, "shape")
    ):  # SciPy, pydata/sparse
        rule = "sparse arrays are refused"
        got = f"got {type(values).__name__} of shape {tuple(values.shape)}"
        fail(name, rule, got, "make it dense, for example by .toarray() or .to_dense()", code="sparse")


def _to_host(tensor: Any) -> Any:
    """A tensor of another library as an array of the host; all else as it is."""
    if not hasattr(tensor, "detach"):
        if not hasattr(tensor, "__dlpack__"):
            return tensor
        if hasattr(tensor, "get"):  # CuPy refuses `__array__`
            return tensor.get()
        return tensor if hasattr(tensor, "__array__") else np.from_dlpack(tensor)
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        return as_bfloat16(_to_host(tensor.float()))
    # NumPy cannot read the flags by which PyTorch conjugates and negates lazily
    return np.asarray(tensor.resolve_conj().resolve_neg() if hasattr(tensor, "resolve_conj") else tensor)


def _holds_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UST" or (array.dtype.kind == "O" and any(isinstance(item, str) for item in array.flat))


def _found(array: NDArray[Any], values: Any) -> str:
    """The dtype or type, for an error."""
    if array.ndim == 0:
        return f"got {type(values).__name__}"
    if array.dtype.kind == "O":
        odd = [item for item in array.flat if not isinstance(item, (int, float, np.number))][:1]
        return f"got dtype object with {f'values of type {type(odd[0]).__name__}' if odd else 'numbers in it'}"
    return f"got dtype {array.dtype}"


# Chunks of rows, scratch buffers per thread, and memory maps that are read without filling memory.

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


# Checks of probabilities and labels, and one random stream per row.

RandomState = int | np.random.Generator | np.random.SeedSequence | None

# about their precision; all other dtypes have 1e-6. The probabilities of a softmax in bfloat16, which has 8 bits, sum to
# 1 within 2⁻⁸ for any number of classes, because each is rounded by at most 2⁻⁸ of itself; twice that is allowed
_TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-4}
NEAR = 0.01  # of a sum: rounded probabilities

ONE_LABEL = "judge independent labels (sigmoids) one label at a time, by Point.from_binary(values[:, k]) for label k"
REMEDIES = {  # by what rows that are no distributions look like
    "counts": "pass normalise=True if these are counts, per cent or rounded, or use Point.from_logits "
    "(Members.from_logits) if these are logits",
    "sigmoids": f"leave out the columns that are no classes, or {ONE_LABEL}",
    "logits": "use Point.from_logits (Members.from_logits) if these are logits",
}


# -- input -----------------------------------------------------------------------------------------------------------


def tolerance_of(*values: Any) -> float:
    """Allowed deviation of a row's sum from 1, by the dtype of the arrays or tensors alone; the largest of several."""
    return max(_TOLERANCES.get(precision_of(value), 1e-6) for value in values)


def check_rows(
    array: NDArray[Any],
    name: str,
    *,
    tolerance: float,
    unit_sum: bool = True,
    low: float = 0.0,
    high: float = 1.0,
    remedy: str = "",
    first_row: int = 0,
) -> None:
    """Refuse non-finite values, values outside [low, high], and (`unit_sum`) rows that do not sum to 1.

    `array` is ``(n, …, K)``. It is read in chunks, so that a memory map is never in memory as a whole. `remedy` replaces the
    usual remedy. `first_row` is the row number of the first row, for the error.
    """
    if unit_sum and array.dtype == bool:
        raise _class_sets(name, "got truth values")
    for rows in row_chunks(array.shape[0], array[:1].nbytes * 2):
        still_whole(array)
        block, start = np.asarray(array[rows]), first_row + rows.start
        within = _all_within(block, low - tolerance, high + tolerance)
        if not within and not np.isfinite(block).all():
            at = np.argwhere(~np.isfinite(block))[0]
            bad = block[tuple(at)]
            rule = "values must be finite"
            got = f"row {start + at[0]} holds {bad} at {index_text(start, at)}"
            fail(name, rule, got, "drop or repair such rows first", code="finite", facts={"row": int(start + at[0])})
        if not within:
            at = np.argwhere((block < low - tolerance) | (block > high + tolerance))[0]
            probabilities = (low, high) == (0.0, 1.0)
            rule = f"between {low:g} and {high:g}" if np.isfinite(high) else f"at least {low:g}"
            look = _look(array, tolerance) if probabilities and unit_sum else "logits"
            fail(
                name,
                f"values must be {rule}",
                f"row {start + at[0]} holds {float(block[tuple(at)]):.6g} at {index_text(start, at)}",
                remedy or REMEDIES[look],
                code="not-probabilities" if probabilities else "range",
                facts={"row": int(start + at[0]), "look": look},
            )
        if unit_sum:
            sums = np.einsum("...k->...", block, dtype=np.float64, casting="same_kind")  # `sum` is slow for few classes
            off = np.abs(sums - 1.0) > tolerance
            if off.any():
                at = np.argwhere(off)[0]
                where = "" if len(at) == 1 else f" (index {at[1]} of that row)"
                got = f"row {start + at[0]}{where} sums to {_shown_sum(float(sums[tuple(at)]))}"
                if _is_zero_one(array):
                    raise _class_sets(name, f"all values are 0 or 1, and {got}")
                look = _look(array, tolerance)
                axis = _axis_of_classes(array, tolerance)
                elsewhere = (
                    "" if axis is None else f"move the classes to the last axis: the values along axis {axis} sum to 1"
                )
                fail(
                    name,
                    f"each row must sum to 1 within {tolerance:g}",
                    got,
                    elsewhere or remedy or REMEDIES[look],
                    code="sum",
                    facts={"row": int(start + at[0]), "look": look} | ({} if axis is None else {"axis": axis}),
                )
        release(array)


def _all_within(block: NDArray[Any], low: float, high: float) -> bool:
    """Whether all values are finite and in [low, high], from the least and the greatest of them; nan is neither."""
    if not block.size:
        return True
    least, most = block.min(), block.max()
    return bool(np.isfinite(most) and least >= low and most <= high)


def _look(array: NDArray[Any], tolerance: float) -> str:
    """What values ``(n, …, K)`` that are no distributions look like: a key of `REMEDIES`."""
    whole = hundred = near_one = inside = True
    for rows in row_chunks(len(array), array[:1].nbytes * 2):
        block = np.asarray(array[rows])
        if not np.isfinite(block).all() or (block < -tolerance).any() or not (block.max(axis=-1) > 0).all():
            return "logits"
        with np.errstate(over="ignore"):
            totals = block.sum(axis=-1, dtype=np.float64)
        whole &= bool((block == np.round(block)).all())
        hundred &= near(totals, 100.0)
        near_one &= bool((np.abs(totals - 1.0) <= rounding(block)).all())
        inside &= bool((block <= 1 + tolerance).all())
    return "counts" if whole or hundred or near_one else "sigmoids" if inside else "logits"


def near(totals: NDArray[Any], whole: float) -> bool:
    """Whether all sums are this number within 1 %."""
    return bool((np.abs(totals - whole) <= NEAR * whole * (1 + 1e-9)).all())


def rounding(values: NDArray[Any]) -> float:
    """How far from 1 the sum of rounded probabilities ``(…, K)`` may be: 1 %, or half a unit of the last digit for each class.

    Examples
    --------
    >>> [round(rounding(np.array([row])), 6) for row in ([0.33, 0.33, 0.34], [0.1] * 20, [0.12345, 0.87655])]
    [0.015, 1.0, 0.01]
    """
    for digits in range(1, 4):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * 10.0**digits
            if (np.abs(scaled - np.round(scaled)) < 1e-3).all():
                return float(max(NEAR, values.shape[-1] * 0.5 * 10.0**-digits) * (1 + 1e-9))
    return NEAR * (1 + 1e-9)


def _shown_sum(value: float) -> str:
    """A sum that is not 1, with more digits where six would show 1."""
    return next(text for digits in (6, 10, 17) if float(text := f"{value:.{digits}g}") != 1 or digits == 17)


def _axis_of_classes(array: NDArray[Any], tolerance: float) -> int | None:
    """Another axis than the last along which all values sum to 1, as of ``(n, K, M)`` or ``(K, n)``; None if there is none."""
    if array.nbytes > 2**26:
        return None  # an error about a large file must not take long
    for axis in range(array.ndim - 1):
        sums = np.asarray(array).sum(axis=axis, dtype=np.float64)
        if array.shape[axis] > 1 and (np.abs(sums - 1.0) <= tolerance).all():
            return axis
    return None


def _class_sets(name: str, got: str) -> InputError:
    """The refusal of sets of classes: truth values, or rows of 0 and 1 with any number of ones."""
    return InputError(
        name,
        "needs probabilities, not sets of classes",
        got,
        f"write sets of classes as ClassSets({name})",
        code="class-sets",
    )


def _is_zero_one(array: NDArray[Any]) -> bool:
    return bool(array.any()) and all(
        bool(np.isin(array[rows], (0, 1)).all()) for rows in row_chunks(len(array), array[:1].nbytes)
    )


def index_text(start: int, at: NDArray[np.integer[Any]]) -> str:
    """Index of a value as text, ``[row, …]``; `at` is its index in a chunk that begins at row `start`."""
    inside = ", ".join(str(int(i)) for i in at[1:])
    return f"[{start + int(at[0])}, {inside}]" if inside else f"[{start + int(at[0])}]"


def check_class_count(n_classes: int, name: str) -> None:
    """Refuse fewer than two classes; the remedy is the one for a single column of probabilities."""
    if n_classes < 2:
        fail(
            name,
            "needs at least two classes in the last axis",
            f"got {n_classes}",
            'give one column per class, or pass uq.from_object(logits, kind="logits", positive=1) for logits of class 1'
            if name == "logits"
            else "give one column per class, or pass the probabilities of class 1 to Point.from_binary or Members.from_binary",
            code="one-column",
        )


def as_labels(
    labels: ArrayLike,
    n_classes: int,
    *,
    n_instances: int | None = None,
    n_members: int | None = None,
    name: str = "y_true",
    first_row: int = 0,
) -> NDArray[Any]:
    """Integer labels ``(n,)`` as int64, or label distributions / vote counts ``(n, K)`` as rows that sum to 1.

    `n_members` serves the error alone. If there are as many labels as members, then M and n were probably exchanged.
    `first_row` is the row number of the first label, for errors.
    """
    array = as_numeric(labels, name, ndim=(1, 2))
    if n_instances is not None and array.shape[0] != n_instances:
        if array.shape[0] == n_members:
            got = f"got {array.shape[0]}, which is the number of members"
            remedy = "wrap it, Members(probs, member_axis=0), if the members are on the first axis"
            fail(name, f"needs one label for each of the {n_instances} instances", got, remedy, code="member-axis")
        got = f"got {array.shape[0]}"
        remedy = "check that labels and predictions come from the same split in the same order"
        fail(name, f"needs one label for each of the {n_instances} instances", got, remedy, code="mismatch")
    if array.ndim == 2:
        return _as_label_distributions(array, n_classes, name, first_row)
    check_whole_numbers(array, name, first_row=first_row)
    outside = (array < 0) | (array >= n_classes)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        from_one = int(array.min()) == 1 and int(array.max()) == n_classes
        odd = np.unique(array[outside])
        remedy, facts = "recode the labels so that they index the columns of the predictions", dict[str, int]()
        if from_one:
            facts["from_one"] = n_classes
            remedy = f"subtract 1 from labels that count from 1, or name the classes 1 … {n_classes}"
        elif len(odd) == 1 and not outside.all():  # one value that is no class marks instances without a label
            facts["ignorable"] = int(odd[0])
            remedy = f"leave such rows out, in uq.assay by ignore_label={int(odd[0])}"
        rule = f"labels must lie in 0 … {n_classes - 1}"
        fail(name, rule, f"row {first_row + row} holds {array[row]:g}", remedy, code="range", facts=facts)
    return array.astype(np.int64)


def check_whole_numbers(labels: NDArray[Any], name: str, *, first_row: int = 0) -> None:
    """Refuse labels ``(n,)`` that are fractions, infinite or nan."""
    if labels.dtype.kind != "f":
        return
    broken = ~np.isfinite(labels) | (labels != np.round(np.where(np.isfinite(labels), labels, 0)))
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        rule = "labels must be whole numbers"
        remedy = "give class indices (0, 1, …) or a label distribution with one column per class"
        fail(name, rule, f"row {first_row + row} holds {float(labels[row]):g}", remedy, code="type")


def _as_label_distributions(array: NDArray[Any], n_classes: int, name: str, first_row: int) -> NDArray[Any]:
    if array.shape[1] != n_classes:
        rule = f"label distributions need one column for each of the {n_classes} classes"
        fail(name, rule, f"got {array.shape[1]}", "check the order and number of the columns", code="mismatch")
    remedy = "votes and shares cannot be negative"
    check_rows(array, name, tolerance=0.0, unit_sum=False, high=np.inf, remedy=remedy, first_row=first_row)
    counts = array.astype(np.float64)
    with np.errstate(over="ignore"):
        totals = counts.sum(axis=1)
    if np.isinf(totals).any():  # scale only the rows that overflow, because scaling rounds a second time
        huge = np.isinf(totals)
        counts[huge] /= counts[huge].max(axis=1, keepdims=True)
        totals = counts.sum(axis=1)
    if (totals <= 0).any():
        row = first_row + int(np.flatnonzero(totals <= 0)[0])
        fail(name, "every row needs at least one vote", f"row {row} has none", "drop such rows", code="empty")
    return counts / totals[:, None]


# -- randomness -------------------------------------------------------------------------------------------------------


def generator(rng: RandomState = None) -> np.random.Generator:
    """NumPy generator from an `rng` argument; None means seed 0, so that results repeat.

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
        "rng", "must be a whole number from 0 up, a generator or None", f"got {shown(rng)}", "give a seed", code="range"
    )


def draw_per_row(
    draw: Callable[[np.random.Generator, int], NDArray[Any]],
    out: NDArray[Any],
    row_numbers: NDArray[np.int64],
    rng: RandomState,
) -> NDArray[Any]:
    """Fill ``out[i] = draw(generator of row_numbers[i], i)``; the draws depend on the row number, not on the chunk.

    The seed is the key of a counter-based stream (Philox), and the row number is its counter. So a slice or a permutation of
    the instances has the same draws as the whole. Only the drawing loops over rows.
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
        state["state"]["counter"][:] = (0, 0, 0, row)  # the last of four words, so streams of rows never overlap
        state["buffer_pos"] = 4  # drop the buffered numbers of the row before
        state["has_uint32"] = 0  # and its unused half of a 64-bit number
        bits.state = state
        out[i] = draw(stream, i)
    return out


def normal_points(n: int, d: int, *, seed: int = 0) -> NDArray[np.float64]:
    """The first n points of a scrambled Sobol sequence of standard normals, ``(n, d)``; always the same for a seed."""
    from scipy.special import ndtri
    from scipy.stats import qmc  # takes half a second to import

    # seed= was renamed to rng= in SciPy 1.15; a generator is accepted by place in neither, so the old name stays
    uniform = qmc.Sobol(d, scramble=True, seed=seed).random_base2(max(int(n - 1).bit_length(), 0))[:n]
    return ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12))
