"""Arrays on disk: .npy and .npz, .safetensors and .pt, .zarr; what a reader returns; the limits on memory.

The size that a file declares is checked before anything is allocated. An array that is stored as it is must fit into the file.
An array that a compressed format expands may take `FREE_BYTES`, or `GREATEST_RATIO` times the bytes that the file spends on it,
and `GREATEST_BYTES` at most. The environment variable UQASSAY_MAX_ARRAY_BYTES replaces these three limits by one number of
bytes.

Nothing is unpickled; .pt files go through PyTorch's weights-only loader. Large arrays are read-only memory maps: of the file
itself where it is not compressed, else of a temporary file into which they are unpacked once, part by part, because an assay
passes through the predictions about ten times. Memory holds one part at a time.
"""

import io
import json
import math
import os
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from pickle import UnpicklingError
from threading import Lock, get_ident
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from uqassay.arrays import as_bfloat16
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.notes import Note
from uqassay.text import significant

__all__ = [
    "FREE_BYTES",
    "GREATEST_BYTES",
    "GREATEST_RATIO",
    "PART_BYTES",
    "VARIABLE",
    "ZARR_MARKERS",
    "Arrays",
    "Contents",
    "StoredArray",
    "check_expansion",
    "check_fits",
    "check_no_nan",
    "mapped",
    "quiet",
    "read_npy",
    "read_npz",
    "read_pt",
    "read_safetensors",
    "read_zarr",
    "split_text",
    "text_array",
    "text_from_json",
    "to_unpack",
    "write_npy",
    "write_npz",
    "write_pt",
    "write_safetensors",
    "write_zarr",
]

PART_BYTES = 16 * 2**20  # of an array that are unpacked at a time

ONE_TEXT = ("variance_is", "class_order")  # keys of one text each, which may stand in metadata as it is
MAP_BYTES = 16 * 2**20  # smaller arrays are read at once, so that no file stays open for them

Arrays = dict[str, NDArray[Any]]

_lock = Lock()
_readers: list[int] = []  # threads within `quiet`
_filters = ExitStack()  # that restores the filters of warnings


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape and type, and how to read it, or some of its rows."""

    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], Any] = field(repr=False)
    read_rows: Callable[[int, int], Any] | None = field(default=None, repr=False)
    name: str = ""  #: Name of the column in the file, for messages.
    index: bool = False  #: The column is the index of a table, which pandas wrote beside the columns.
    #: The cells of a column of numbers as they are written, for ids, groups and labels: "007" is not 7.
    written: "StoredArray | None" = field(default=None, repr=False)

    def rows(self, start: int, stop: int) -> Any:
        """The rows from `start` to before `stop`; where the format cannot read some alone, of the whole."""
        return self.read()[start:stop] if self.read_rows is None else self.read_rows(start, stop)

    @classmethod
    def in_memory(cls, array: NDArray[Any], name: str = "") -> "StoredArray":
        """An array that has been read already."""
        return cls(array.shape, str(array.dtype), lambda: array, name=name)


@dataclass(frozen=True)
class Contents:
    """What a file holds. A reader of tables fills `columns` alone; `keys.roles` says which column is what."""

    arrays: dict[str, StoredArray] = field(default_factory=dict)  #: Arrays that their names make parts of a prediction.
    other: dict[str, StoredArray] = field(default_factory=dict)  #: Columns that are no part of a prediction.
    #: Columns of a table that are taken as classes, although their names do not say so.
    classes: dict[str, StoredArray] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    bare: bool = False  #: The file is one array without a name, held under the key "array".
    lines: NDArray[np.int64] | None = None  #: Place in the file of each instance, from 1, for messages.
    counted: str = "line"  #: What `lines` counts: "line" or "item".
    #: Columns (n,) of a table by their names, in the order of the file.
    columns: dict[str, StoredArray] = field(default_factory=dict)
    #: "keys" where the names of the classes are keys of JSON objects, which have no order; else empty.
    class_order: str = ""
    #: The cells of the table are text, of which numbers are read as float64; an empty cell is a missing value.
    in_text: bool = False
    #: Reads several columns of numbers at once; see `matrix`.
    read_matrix: Callable[[Sequence[str]], NDArray[Any]] | None = field(default=None, repr=False)

    def matrix(self, names: Sequence[str]) -> NDArray[Any]:
        """Several columns of numbers side by side, ``(n, k)``."""
        if self.read_matrix is not None:
            return self.read_matrix(names)
        columns = [finite_column(self.columns[name], name) for name in names]
        return np.stack(columns, axis=1).astype(self.matrix_type(names), copy=False)

    def matrix_type(self, names: Sequence[str]) -> str:
        """The type of `matrix`, or those of the columns if some are no numbers."""
        types = {self.columns[name].dtype for name in names}
        if not all(kind.startswith(("float", "int", "uint")) for kind in types):
            return ", ".join(sorted(types))
        decimal = all(kind.startswith("float") for kind in types)
        return str(np.result_type(*map(np.dtype, types))) if decimal else "float64"

    def everything(self) -> dict[str, StoredArray]:
        """Every array and column by its own name in the file."""
        made = ("probs", "class_names") if self.classes else ()  # from the columns
        arrays = {key: value for key, value in self.arrays.items() if key not in made}
        return self.other | self.classes | arrays


def finite_column(stored: StoredArray, name: str) -> NDArray[Any]:
    """A column of numbers."""
    values = np.asarray(stored.read())
    if values.dtype.kind not in "fiu":
        fail(name, "must hold numbers", f"got {values.dtype}", "convert that column", code="type")
    return check_no_nan(values, name)


def check_no_nan(values: NDArray[Any], name: str, first: int = 0) -> NDArray[Any]:
    """The values (n,); nan is refused with its row, counted from `first`."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        row = first + int(np.flatnonzero(np.isnan(values))[0])
        rule, remedy = "must have a number in every row", "repair or drop such rows"
        fail(name, rule, f"row {row} holds nan", remedy, code="finite", facts={"row": row})
    return values


@contextmanager
def quiet() -> Iterator[None]:
    """Warnings of a reader are dropped: a file is read, or refused with an error.

    Blocks may overlap in several threads, which share the filters of warnings; the end of the last one restores them.
    """
    with _lock:
        if not _readers:
            _filters.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
        _readers.append(get_ident())
    try:
        yield
    finally:
        with _lock:
            _readers.remove(get_ident())
            if not _readers:
                _filters.close()


# -- limits on memory ----------------------------------------------------------------------------------------------------


FREE_BYTES = 64 * 2**20
GREATEST_RATIO = 100
GREATEST_BYTES = 16 * 2**30
VARIABLE = "UQASSAY_MAX_ARRAY_BYTES"


def check_fits(name: str, shape: Sequence[int], itemsize: int, available: int) -> None:
    """Refuse a stored array whose shape and type need more bytes than the file holds.

    `available`: bytes of the file that may belong to the array.
    """
    needed = _declared_bytes(name, shape, itemsize)
    if needed > available:
        rule = "its shape and type must fit the bytes in the file"
        got = f"shape {tuple(shape)} needs {bytes_text(needed)} and {bytes_text(available)} are there"
        remedy = "write the file again"
        fail(name, rule, got, remedy, code="truncated", facts={"needed": needed, "available": available})


def check_expansion(name: str, shape: Sequence[int], itemsize: int, stored: int) -> None:
    """Refuse an array that a compressed file would expand beyond the limits of this module.

    `stored`: bytes that the file spends on the array.
    """
    needed, limit = _declared_bytes(name, shape, itemsize), _limit(stored)
    if needed > limit:
        rule = f"may take {bytes_text(limit)} of memory when it is read"
        got = f"shape {tuple(shape)} needs {bytes_text(needed)}, from {bytes_text(stored)} in the file"
        remedy = f"check the file, or allow more by the environment variable {VARIABLE}"
        fail(name, rule, got, remedy, code="size", facts={"needed": needed, "limit": limit})


def text_array(texts: Sequence[str], name: str, stored: int) -> NDArray[np.str_]:
    """Texts as an array ``(n,)``; every value takes the memory of the longest one, so that is checked first.

    Raises
    ------
    InputError
        The array would be too large, or a text holds NUL, which NumPy drops at the end of a text.
    """
    longest = max(map(len, texts), default=0)
    nul = next((row for row, text in enumerate(texts) if "\0" in text), None)
    if nul is not None:
        rule, got = "must be text without NUL characters", f"row {nul} holds {texts[nul]!r:.60}"
        fail(name, rule, got, "repair or drop that row", code="type", facts={"row": nul})
    if longest:
        check_expansion(name, (len(texts), longest), 4, stored)
    return np.array(texts, dtype=str)


def bytes_text(count: int) -> str:
    """A number of bytes in words.

    Examples
    --------
    >>> bytes_text(419), bytes_text(3_700_000), bytes_text(2_600_000_000)
    ('419 bytes', '3.70 MB', '2.60 GB')
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{significant(min(count, 10**30) / size)} {unit}"
    return f"{count:,} bytes"


def _declared_bytes(name: str, shape: Sequence[int], itemsize: int) -> int:
    """Bytes of an array in exact integers, which cannot overflow."""
    if any(length < 0 for length in shape) or (itemsize == 0 and 0 not in shape):
        rule, remedy = "must have lengths from 0 up and values of at least one byte", "write the file again"
        fail(name, rule, f"got shape {tuple(shape)} and {itemsize} bytes per value", remedy, code="unreadable")
    return math.prod(shape) * itemsize


def _limit(stored: int) -> int:
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return min(max(FREE_BYTES, GREATEST_RATIO * stored), GREATEST_BYTES)
    if not given.isascii() or not given.isdigit():
        fail(VARIABLE, "must be a whole number of bytes", f"got {given!r}", "set it to 17179869184, say", code="type")
    return int(given)


# -- large arrays of compressed formats ----------------------------------------------------------------------------------


UNPACKED_BYTES = 256 * 2**20  # smaller arrays are read into memory


def to_unpack(shape: tuple[int, ...], dtype: DTypeLike) -> bool:
    """Whether an array is so large that it is unpacked into a file; only numbers are.

    Examples
    --------
    >>> to_unpack((50_000, 10, 1_000), "float32"), to_unpack((50_000, 10), "float32")
    (True, False)
    """
    kind = np.dtype(dtype)
    return kind.kind in "iufb" and math.prod(shape) * kind.itemsize >= UNPACKED_BYTES


def mapped(
    name: str, shape: tuple[int, ...], dtype: DTypeLike, parts: Iterable[Any], *, columns_first: bool = False
) -> NDArray[Any]:
    """The array whose bytes come in parts, as a read-only memory map of a temporary file.

    `columns_first` is the order of the values in the file.
    """
    kind = np.dtype(dtype)
    needed, room = math.prod(shape) * kind.itemsize, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > room:
        rule = "is unpacked into a temporary file, which must fit on the disk"
        got = f"it takes {bytes_text(needed)}, and {tempfile.gettempdir()} has room for {bytes_text(room)}"
        remedy = "set the environment variable TMPDIR to a folder with more room, or save the array as .npy"
        fail(name, rule, got, remedy, code="size", facts={"needed": needed, "available": room})
    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(part)
        file.flush()
        if file.tell() != needed:
            got = f"shape {shape} needs {bytes_text(needed)} and there are {bytes_text(file.tell())}"
            fail(name, "must hold as many values as its shape says", got, "write the file again", code="truncated")
        return np.memmap(file, kind, "r", 0, shape, "F" if columns_first else "C")  # keeps the file open by itself


# -- text in the metadata of formats that hold numbers alone -------------------------------------------------------------


def split_text(arrays: Arrays) -> tuple[Arrays, dict[str, list[str]]]:
    """Numeric arrays in C order and the machine's byte order, and text arrays as lists."""
    text = {key: value.tolist() for key, value in arrays.items() if value.dtype.kind == "U"}
    numbers = {
        key: np.asarray(value, dtype=value.dtype.newbyteorder("="), order="C")
        for key, value in arrays.items()
        if key not in text
    }
    return numbers, text


def text_from_json(values: Mapping[str, Any], stored: int) -> dict[str, StoredArray]:
    """Lists of str, or JSON of such lists, as text arrays, and the text of `ONE_TEXT`; other values are passed over.

    `stored`: bytes of the file, for the limit on memory.
    """
    arrays = {}
    for key, value in values.items():
        if key in ONE_TEXT and isinstance(value, str) and not value.startswith("["):
            value = [value]
        elif isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            arrays[key] = StoredArray.in_memory(text_array(value, key, stored))
    return arrays


# -- NumPy's formats -----------------------------------------------------------------------------------------------------


_HEADER_BYTES = 10_000  # NumPy's own limit; some kinds of header may state a length of 4 GB
_LENGTHS = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # bytes of the header's length, by version of the format
_DEAD_BITS = 0x1 | 0x40  # flags of an encrypted member


@dataclass(frozen=True)
class _Header:
    """What precedes the values of an array."""

    shape: tuple[int, ...]
    columns_first: bool
    dtype: np.dtype[Any]
    length: int  # bytes of the header, after which the values begin


def read_npy(path: Path) -> Contents:
    """One array without a name, as a read-only memory map."""
    with path.open("rb") as stream:
        header = _header(stream, "array")
    return Contents({"array": StoredArray(header.shape, str(header.dtype), partial(_map_npy, path))}, bare=True)


def write_npy(path: Path, arrays: Arrays) -> None:
    """Write the probabilities alone; `files.what_is_lost` says what is left out, and `save` refuses the rest."""
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, np.asarray(arrays["probs"]), allow_pickle=False)


def read_npz(path: Path, opened: zipfile.ZipFile | None = None) -> Contents:
    """Arrays by name; a large one becomes a read-only memory map, of the file itself if it is not compressed.

    Then its checksum is not verified. `opened` is the same archive if it stays open while the arrays are read: to open it once
    for each of many arrays takes longer than to read them.
    """
    arrays: dict[str, StoredArray] = {}
    with nullcontext(opened) if opened else zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".npy"):
                key = info.filename.removesuffix(".npy")
                if key in arrays:
                    fail(key, "must be in the archive once", "it is there twice", "write it again", code="duplicate")
                with archive.open(info) as stream:
                    header = _header(stream, key)
                arrays[key] = StoredArray(
                    header.shape, str(header.dtype), partial(_read_member, path, info, key, opened)
                )
    return Contents(arrays)


def write_npz(path: Path, arrays: Arrays) -> None:
    """Uncompressed, so that it can be memory-mapped."""
    named: dict[str, Any] = dict(arrays)
    with path.open("wb") as stream:
        np.savez(stream, **named)


def _header(stream: IO[bytes], name: str) -> _Header:
    """Read the header; its own length is checked first, since it may claim gigabytes."""
    start = stream.read(8)
    version = (start[6], start[7]) if len(start) == 8 else (0, 0)
    if start[:6] != b"\x93NUMPY" or version not in _LENGTHS:
        raise _damaged(name, "it does not begin as an array of NumPy does")
    prefix = stream.read(_LENGTHS[version])
    length = int.from_bytes(prefix, "little")
    if length > _HEADER_BYTES:
        raise _damaged(name, f"its header claims {length:,} bytes, and {_HEADER_BYTES:,} are allowed")
    text = io.BytesIO(prefix + stream.read(length))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with quiet():
        shape, columns_first, dtype = read(text)
    if any(type(n) is not int for n in shape):
        raise _damaged(name, f"its shape is {shape}")
    return _Header(shape, columns_first, dtype, 8 + len(prefix) + length)


def _damaged(name: str, found: str) -> InputError:
    return InputError(name, "must be an array in NumPy's format", found, "write the file again", code="unreadable")


def _refuse_objects(dtype: np.dtype[Any], name: str) -> None:
    if dtype.hasobject:
        remedy = "save numbers or text alone, for example by .astype(float) or .astype(str)"
        fail(name, "pickled Python objects are never loaded", "it holds some", remedy, code="pickle")


def _map_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as stream:
        header = _header(stream, "array")
        available = os.fstat(stream.fileno()).st_size - header.length
    _refuse_objects(header.dtype, "array")
    check_fits("array", header.shape, header.dtype.itemsize, available)
    if 0 in header.shape:
        return np.empty(header.shape, header.dtype)
    return np.memmap(path, header.dtype, "r", header.length, header.shape, "F" if header.columns_first else "C")


def _read_member(path: Path, info: zipfile.ZipInfo, key: str, opened: zipfile.ZipFile | None) -> NDArray[Any]:
    with nullcontext(opened) if opened else zipfile.ZipFile(path) as archive, archive.open(info) as stream:
        header = _header(stream, key)
        _refuse_objects(header.dtype, key)
        needed = info.file_size - header.length
        check_fits(key, header.shape, header.dtype.itemsize, needed)
        if math.prod(header.shape) * header.dtype.itemsize != needed:
            raise _damaged(key, "bytes are left after its last value")
        offset = _member_offset(path, info) + header.length
        # the directory of the archive may claim more than the file has
        held = min(info.compress_size, max(path.stat().st_size - offset, 0) + header.length)
        if info.compress_type != zipfile.ZIP_STORED:
            check_expansion(key, header.shape, header.dtype.itemsize, held)
        else:
            check_fits(key, header.shape, header.dtype.itemsize, held - header.length)
            if needed >= MAP_BYTES and not info.flag_bits & _DEAD_BITS and 0 not in header.shape:
                return np.memmap(path, header.dtype, "r", offset, header.shape, "F" if header.columns_first else "C")
        if to_unpack(header.shape, header.dtype):  # the stream stands at the first value
            parts = iter(partial(stream.read, PART_BYTES), b"")
            return mapped(key, header.shape, header.dtype, parts, columns_first=header.columns_first)
        stream.seek(0)
        with quiet():
            array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array


def _member_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: after the local header, whose lengths may differ from the directory's."""
    with path.open("rb") as stream:
        stream.seek(info.header_offset + 26)
        name_bytes, extra_bytes = (int.from_bytes(stream.read(2), "little") for _ in range(2))
    return info.header_offset + 30 + name_bytes + extra_bytes


# -- safetensors ---------------------------------------------------------------------------------------------------------


_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip


def read_safetensors(path: Path) -> Contents:
    """Tensors by name, large ones as memory maps."""
    safetensors = optional_package("safetensors", "files", "reading .safetensors")
    with safetensors.safe_open(path, framework="numpy") as checked:  # checks the header and every offset
        metadata = checked.metadata() or {}
    with path.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(header_bytes))
    arrays = text_from_json(metadata, path.stat().st_size)
    for key, entry in header.items():
        if key != "__metadata__":
            offset = 8 + header_bytes + entry["data_offsets"][0]
            shape, dtype = tuple(entry["shape"]), entry["dtype"]
            shown = "bfloat16" if dtype == "BF16" else str(np.dtype(_TYPES[dtype])) if dtype in _TYPES else dtype
            arrays[key] = StoredArray(shape, shown, partial(_map_tensor, path, key, offset, shape, dtype))
    return Contents(arrays)


def write_safetensors(path: Path, arrays: Arrays) -> None:
    """Numbers as tensors, text as JSON in the metadata."""
    numpy_format = optional_package("safetensors.numpy", "files", "writing .safetensors")
    numbers, text = split_text(arrays)
    numpy_format.save_file(numbers, path, metadata={key: json.dumps(value) for key, value in text.items()})


def _map_tensor(path: Path, key: str, offset: int, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype not in _TYPES:
        fail(key, "must have a type that NumPy knows", f"got {dtype}", "save the tensor as float32", code="type")
    stored = np.dtype(_TYPES[dtype])
    check_fits(key, shape, stored.itemsize, path.stat().st_size - offset)
    count = math.prod(shape)
    if dtype != "BF16" and count * stored.itemsize >= MAP_BYTES:
        return np.memmap(path, stored, "r", offset, shape)
    array = np.fromfile(path, stored, count, offset=offset).reshape(shape)
    if dtype == "BF16":  # the upper half of a float32
        return as_bfloat16((array.astype(np.uint32) << 16).view(np.float32))
    return array


# -- PyTorch -------------------------------------------------------------------------------------------------------------


def read_pt(path: Path) -> Contents:
    """A tensor, or a dictionary of tensors."""
    torch = optional_package("torch", "torch>=2.2", "reading .pt")
    size = path.stat().st_size
    zipped = zipfile.is_zipfile(path)
    if zipped:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():  # PyTorch allocates what the directory declares
                if info.compress_type == zipfile.ZIP_STORED:
                    check_fits(Path(info.filename).name, (info.file_size,), 1, size)
                else:
                    check_expansion(Path(info.filename).name, (info.file_size,), 1, size)
    try:  # only the newer, zipped layout can be mapped
        with quiet():
            held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except UnpicklingError as problem:
        rule = "must hold tensors, numbers, text, lists and dictionaries alone; other pickled objects are never loaded"
        remedy = "save a dictionary of tensors, torch.save({'probs': probs}, path)"
        raise InputError("file", rule, "it holds others, or is damaged", remedy, code="pickle") from problem
    if not isinstance(held, dict):
        return Contents({"array": _torch_value(held, "array", size)}, bare=True)
    arrays: dict[str, StoredArray] = {}
    for key, value in held.items():
        name = key if isinstance(key, str) else repr(key)
        arrays[name] = _torch_value(value, name, size)
    return Contents(arrays)


def write_pt(path: Path, arrays: Arrays) -> None:
    """A dictionary: numbers as tensors, text as lists of str."""
    torch = optional_package("torch", "torch>=2.2", "writing .pt")
    numbers, text = split_text(arrays)
    # copied, since a tensor must not share a read-only array
    torch.save({key: torch.from_numpy(np.array(value)) for key, value in numbers.items()} | text, path)


def _torch_value(value: Any, name: str, size: int) -> StoredArray:
    if hasattr(value, "detach"):
        dtype = str(value.dtype).removeprefix("torch.")
        return StoredArray(tuple(value.shape), dtype, partial(_torch_array, value, name, size))
    if isinstance(value, (bool, int, float)):
        return StoredArray((), type(value).__name__, lambda: np.asarray(value))
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return StoredArray((len(value),), "str", lambda: text_array(value, name, size))
    return StoredArray((), type(value).__name__, _plain(value, name))


def _plain(value: Any, name: str) -> Callable[[], Any]:
    """Reads a list, as focal sets may be given; other objects are refused when they are needed."""

    def read() -> Any:
        if isinstance(value, (list, tuple, str)):
            return value
        fail(name, "must be a tensor, a number or a list", f"got {type(value).__name__}", "save a tensor", code="type")

    return read


def _torch_array(tensor: Any, name: str, size: int) -> Any:
    """Values of a tensor; a tensor that repeats its memory (stride 0) is held to the limit on expansion."""
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized or tensor.device.type != "cpu":
        got = f"got layout {tensor.layout} on {tensor.device}"
        fail(name, "must be a plain tensor", got, "make it dense, without quantisation, on the CPU", code="type")
    check_expansion(name, tuple(tensor.shape), tensor.element_size(), size)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.bfloat16":
        return as_bfloat16(tensor.float().numpy())
    try:
        return tensor.numpy()
    except TypeError as problem:  # 8 bits
        rule = "must have a type that NumPy knows"
        raise InputError(name, rule, f"got {tensor.dtype}", "save the tensor as float32", code="type") from problem


# -- zarr ----------------------------------------------------------------------------------------------------------------


ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")
_ZSTD, _BLOSC_HEADER = b"\x28\xb5\x2f\xfd", 16


def read_zarr(path: Path) -> Contents:
    """Arrays of a group by name, or one array; each is read when it is asked for, a large one chunk by chunk.

    Groups inside the group are listed under their names and a slash, and not read.
    """
    zarr = optional_package("zarr", "files", "reading .zarr")
    size = _bytes_in(path)
    with quiet():
        node = zarr.open(path, mode="r")
        if not hasattr(node, "array_keys"):
            return Contents({"array": _zarr_array(node, "array", path)}, bare=True)
        arrays = {}
        # one after another: where several fail at once, zarr leaves tracebacks of the others on standard error
        for key in sorted(child.name for child in path.iterdir() if _is_node(child)):
            child = node[key]
            if hasattr(child, "array_keys"):
                arrays[f"{key}/"] = StoredArray((), "group", partial(_refuse_group, f"{key}/"))
            else:
                arrays[key] = _zarr_array(child, key, path / key)
        return Contents(arrays | text_from_json(dict(node.attrs), size))


def write_zarr(path: Path, arrays: Arrays) -> None:
    """A group: numbers as chunked, compressed arrays, text as attributes."""
    zarr = optional_package("zarr", "files", "writing .zarr")
    numbers, text = split_text(arrays)
    group = zarr.open_group(path, mode="w")
    for key, value in numbers.items():
        group.create_array(key, data=value, config={"write_empty_chunks": True})  # see `_check_all_there`
    group.attrs.update(text)


def _is_node(folder: Path) -> bool:
    return any((folder / marker).is_file() for marker in ZARR_MARKERS)


def _zarr_array(node: Any, name: str, folder: Path) -> StoredArray:
    shape, kind = tuple(node.shape), str(node.dtype)
    return StoredArray(
        shape, kind, partial(_read_zarr, node, name, folder), partial(_read_zarr_rows, node, name, folder)
    )


def _read_zarr(node: Any, name: str, folder: Path) -> NDArray[Any]:
    """The whole array, after its size, that of its chunks and that of their contents were checked."""
    chunk = _check_zarr(node, name, folder)
    with quiet():
        if to_unpack(node.shape, node.dtype):
            kind = np.dtype(node.dtype).newbyteorder("=")
            row_bytes = max(1, math.prod(node.shape[1:]) * kind.itemsize)
            step = max(chunk[0], PART_BYTES // row_bytes // chunk[0] * chunk[0])
            rows = range(0, node.shape[0], step)
            return mapped(name, node.shape, kind, (_in_order(node[a : a + step], kind) for a in rows))
        array = np.asarray(node[...])
    return array.astype(str) if array.dtype.kind == "T" else array


def _check_zarr(node: Any, name: str, folder: Path) -> tuple[int, ...]:
    """Refuse an array that expands beyond the limits; returns the shape of its chunks."""
    itemsize = max(np.dtype(node.dtype).itemsize, 1)
    stored = _bytes_in(folder)
    chunk = tuple(getattr(node, "shards", None) or node.chunks)
    check_expansion(name, node.shape, itemsize, stored)
    check_expansion(name, chunk, itemsize, stored)
    codecs = str(node.metadata.to_dict()).lower()
    _check_chunks(name, folder, math.prod(chunk) * itemsize, codecs)
    _check_all_there(node, name, folder, chunk)
    return chunk


def _read_zarr_rows(node: Any, name: str, folder: Path, start: int, stop: int) -> NDArray[Any]:
    """Some rows, after the same checks, as `_read_zarr` would give them."""
    _check_zarr(node, name, folder)
    with quiet():
        return _in_order(node[start:stop], np.dtype(node.dtype).newbyteorder("="))


def _in_order(part: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(part, dtype=kind)


def _check_all_there(node: Any, name: str, folder: Path, chunk: tuple[int, ...]) -> None:
    """Refuse an array of which a chunk is not there.

    zarr reads such a chunk as the fill value, and by default does not write a chunk that holds the fill value alone. A store
    does not tell this from a lost file, which would become labels of class 0 or logits of equal classes.
    """
    grid = [range(-(-length // size)) for length, size in zip(node.shape, chunk, strict=True)]
    for place in product(*grid):  # ends at the first that is missing, so after as many as there are files
        key = node.metadata.encode_chunk_key(place)
        if not (folder / key).is_file():
            got = f"{key} is missing, of {math.prod(map(len, grid)):,}"
            remedy = (
                'write the array again, by config={"write_empty_chunks": True} where a whole chunk holds the fill value'
            )
            fail(name, "must hold all its chunks", got, remedy, code="truncated", facts={"chunk": key})


def _check_chunks(name: str, folder: Path, expected: int, codecs: str) -> None:
    """Refuse chunks whose compressed frames declare more than one chunk of the array takes."""
    if "zstd" not in codecs and "blosc" not in codecs:
        return
    for place, _, files in os.walk(folder):
        for file in files:
            if file.startswith(".z") or file == "zarr.json":
                continue
            with Path(place, file).open("rb") as stream:
                declared = _frame_bytes(stream.read(_BLOSC_HEADER), codecs)
            if declared > 2 * expected + 2**20:
                check_expansion(name, (declared,), 1, 0)


def _frame_bytes(head: bytes, codecs: str) -> int:
    """Bytes that a frame of Zstandard or Blosc declares to expand to; 0 for other contents."""
    if len(head) < _BLOSC_HEADER:
        return 0
    if head[:4] == _ZSTD:
        descriptor = head[4]
        single, width = descriptor >> 5 & 1, (1 if descriptor >> 5 & 1 else 0, 2, 4, 8)[descriptor >> 6]
        start = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
        return int.from_bytes(head[start : start + width], "little") + (256 if width == 2 else 0)
    if "blosc" in codecs:
        return int.from_bytes(head[4:8], "little")
    return 0


def _bytes_in(folder: Path) -> int:
    return sum(Path(place, file).stat().st_size for place, _, files in os.walk(folder) for file in files)


def _refuse_group(name: str) -> NDArray[Any]:
    fail(name, "must be an array", "it is a group", f"open it by its own path, …/{name}", code="type")
