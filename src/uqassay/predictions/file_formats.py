"""What a file of arrays holds, one reader and one writer per format: npy, npz, safetensors, zarr, pt.

A reader looks at names, shapes and types first; an array is read when it is asked for, and stays a memory map where the
format allows (.npy; large arrays of an uncompressed .npz; large arrays of .safetensors). Nothing is ever unpickled.
Text that a format cannot hold as an array (class names, ids) goes into its metadata as JSON.
"""

import json
import math
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError, MissingDependencyError
from uqassay.predictions.named_arrays import KNOWN_KEYS

MAP_BYTES = 16 * 2**20  # smaller arrays are read at once, so that no file stays open for them

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape and type, and how to read it."""

    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], Any] = field(repr=False)

    @classmethod
    def in_memory(cls, array: NDArray[Any]) -> "StoredArray":
        """An array that is already there."""
        return cls(array.shape, str(array.dtype), lambda: array)


@dataclass(frozen=True)
class Contents:
    """What a file holds: arrays by name, and (`other`) columns that are no part of a prediction.

    `bare` says that the file is one array without a name, held under the key "array".
    """

    arrays: dict[str, StoredArray]
    other: dict[str, StoredArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    bare: bool = False


def optional_package(module: str, extra: str, what: str) -> Any:
    """Import an optional package, or say which extra installs it."""
    try:
        return import_module(module)
    except ImportError as problem:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{what} needs the package {package}, which is not installed; install uqassay[{extra}]."
        ) from problem


# -- npy and npz ------------------------------------------------------------------------------------------------------


def read_npy(path: Path) -> Contents:
    """One array without a name, as a read-only memory map."""
    with path.open("rb") as stream:
        shape, _, dtype = _npy_header(stream)
    return Contents({"array": StoredArray(shape, str(dtype), partial(_map_npy, path))}, bare=True)


def write_npy(path: Path, arrays: Arrays) -> None:
    """One array; what .npy cannot hold beside it is refused, but notes, row numbers and log-partitions are dropped."""
    extra = sorted(set(arrays) - {"probs", "notes", "row_numbers", "log_partition"})
    if "probs" not in arrays or extra:
        raise InputError(
            ".npy holds the probabilities of a Point or of Members and nothing else; "
            f"this prediction has {', '.join(extra)}; save it as .npz."
        )
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, np.asarray(arrays["probs"]), allow_pickle=False)


def read_npz(path: Path) -> Contents:
    """Arrays by name; a large uncompressed one becomes a read-only memory map (its checksum is then not verified)."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".npy"):
                with archive.open(info) as stream:
                    shape, _, dtype = _npy_header(stream)
                key = info.filename.removesuffix(".npy")
                arrays[key] = StoredArray(shape, str(dtype), partial(_read_member, path, info))
    return Contents(arrays)


def write_npz(path: Path, arrays: Arrays) -> None:
    """Uncompressed, so that it can be memory-mapped."""
    named: dict[str, Any] = dict(arrays)
    with path.open("wb") as stream:
        np.savez(stream, **named)


def _npy_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first (Fortran order), and type; leaves the stream where the data begin."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    header: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(stream)
    return header


def _refuse_objects(dtype: np.dtype[Any], name: str) -> None:
    if dtype.hasobject:
        raise InputError(
            name,
            "holds pickled Python objects, which are never loaded",
            "",
            "save numbers or text alone, for example by .astype(float) or .astype(str)",
            code="unreadable",
        )


def _map_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as stream:
        shape, _, dtype = _npy_header(stream)
        _refuse_objects(dtype, "array")
        if 0 in shape:
            return np.empty(shape, dtype)
    return np.lib.format.open_memmap(path, mode="r")


def _read_member(path: Path, info: zipfile.ZipInfo) -> NDArray[Any]:
    with zipfile.ZipFile(path) as archive, archive.open(info) as stream:
        shape, columns_first, dtype = _npy_header(stream)
        _refuse_objects(dtype, info.filename.removesuffix(".npy"))
        header_bytes = stream.tell()
        if math.prod(shape) * dtype.itemsize != info.file_size - header_bytes:  # before memory is set aside for it
            raise InputError(
                info.filename, f"its size does not fit its shape {shape}", "", "write the file again", code="unreadable"
            )
        if info.compress_type == zipfile.ZIP_STORED and info.file_size - header_bytes >= MAP_BYTES:
            offset = _member_offset(path, info) + header_bytes
            return np.memmap(path, dtype, "r", offset, shape, "F" if columns_first else "C")
        stream.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array


def _member_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: after the local header, whose lengths may differ from the directory's."""
    with path.open("rb") as stream:
        stream.seek(info.header_offset + 26)
        name_bytes, extra_bytes = (int.from_bytes(stream.read(2), "little") for _ in range(2))
    return info.header_offset + 30 + name_bytes + extra_bytes


# -- safetensors ------------------------------------------------------------------------------------------------------

_SAFETENSORS_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip


def read_safetensors(path: Path) -> Contents:
    """Tensors by name, large ones as memory maps; bfloat16 becomes float32."""
    safetensors = optional_package("safetensors", "files", "reading .safetensors")
    with safetensors.safe_open(path, framework="numpy") as checked:  # checks the header and every offset
        metadata = checked.metadata() or {}
    with path.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(header_bytes))
    arrays = text_from_json({key: value for key, value in metadata.items() if key in KNOWN_KEYS})
    for key, entry in header.items():
        if key != "__metadata__":
            offset = 8 + header_bytes + entry["data_offsets"][0]
            shape, dtype = tuple(entry["shape"]), entry["dtype"]
            shown = "bfloat16" if dtype == "BF16" else str(np.dtype(_SAFETENSORS_TYPES.get(dtype, "V")))
            arrays[key] = StoredArray(shape, shown, partial(_map_tensor, path, offset, shape, dtype))
    return Contents(arrays)


def write_safetensors(path: Path, arrays: Arrays) -> None:
    """Numbers as tensors, text as JSON in the metadata."""
    numpy_format = optional_package("safetensors.numpy", "files", "writing .safetensors")
    numbers, text = split_text(arrays)
    numpy_format.save_file(numbers, path, metadata={key: json.dumps(value) for key, value in text.items()})


def _map_tensor(path: Path, offset: int, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    if dtype not in _SAFETENSORS_TYPES:
        raise InputError("dtype", f"{dtype} has no NumPy counterpart", "", "save the tensor as float32", code="missing")
    stored = np.dtype(_SAFETENSORS_TYPES[dtype])
    count = math.prod(shape)
    if dtype != "BF16" and count * stored.itemsize >= MAP_BYTES:
        return np.memmap(path, stored, "r", offset, shape)
    array = np.fromfile(path, stored, count, offset=offset).reshape(shape)
    if dtype == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


# -- zarr -------------------------------------------------------------------------------------------------------------


def read_zarr(path: Path) -> Contents:
    """Arrays of a group by name, or one array; read whole when asked for (for more than memory holds, use .npy)."""
    zarr = optional_package("zarr", "files", "reading .zarr")
    node = zarr.open(path, mode="r")
    if not hasattr(node, "array_keys"):
        return Contents({"array": _zarr_array(node)}, bare=True)
    arrays = {key: _zarr_array(node[key]) for key in sorted(node.array_keys())}
    return Contents(arrays | text_from_json({key: value for key, value in node.attrs.items() if key in KNOWN_KEYS}))


def write_zarr(path: Path, arrays: Arrays) -> None:
    """A group: numbers as chunked, compressed arrays, text as attributes."""
    zarr = optional_package("zarr", "files", "writing .zarr")
    numbers, text = split_text(arrays)
    group = zarr.open_group(path, mode="w")
    for key, value in numbers.items():
        group.create_array(key, data=value)
    group.attrs.update(text)


def _zarr_array(node: Any) -> StoredArray:
    return StoredArray(tuple(node.shape), str(node.dtype), lambda: np.asarray(node[...]))


# -- pt ---------------------------------------------------------------------------------------------------------------


def read_pt(path: Path) -> Contents:
    """A tensor, or a dictionary of tensors, through PyTorch's weights-only loader."""
    torch = optional_package("torch", "torch", "reading .pt")
    try:  # only the newer, zipped layout can be mapped; what PyTorch warns of, it then refuses
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except UnpicklingError as problem:
        raise InputError(
            "pt",
            "the file is damaged or holds pickled objects other than tensors, numbers, text, "
            "lists and dictionaries, which are never loaded",
            "",
            "save a dictionary of tensors, torch.save({'probs': probs}, path)",
            code="unreadable",
        ) from problem
    if not isinstance(held, dict):
        return Contents({"array": _torch_value(held)}, bare=True)
    return Contents({str(key): _torch_value(value) for key, value in held.items()})


def write_pt(path: Path, arrays: Arrays) -> None:
    """A dictionary: numbers as tensors, text as lists of str."""
    torch = optional_package("torch", "torch", "writing .pt")
    numbers, text = split_text(arrays)
    # copied, since a tensor must not share a read-only array
    torch.save({key: torch.from_numpy(np.array(value)) for key, value in numbers.items()} | text, path)


def _torch_value(value: Any) -> StoredArray:
    if hasattr(value, "detach"):
        return StoredArray(tuple(value.shape), str(value.dtype).removeprefix("torch."), partial(_torch_array, value))
    if isinstance(value, (bool, int, float)):
        return StoredArray.in_memory(np.asarray(value))
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return StoredArray.in_memory(np.array(value))
    return StoredArray((), type(value).__name__, lambda: value)


def _torch_array(tensor: Any) -> NDArray[Any]:
    tensor = tensor.detach()
    array: NDArray[Any] = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return array


# -- text beside numbers ----------------------------------------------------------------------------------------------


def split_text(arrays: Arrays) -> tuple[Arrays, dict[str, list[str]]]:
    """Numeric arrays in C order and the machine's byte order, and text arrays as lists."""
    text = {key: value.tolist() for key, value in arrays.items() if value.dtype.kind == "U"}
    numbers = {
        key: np.asarray(value, dtype=value.dtype.newbyteorder("="), order="C")
        for key, value in arrays.items()
        if key not in text
    }
    return numbers, text


def text_from_json(values: dict[str, Any]) -> dict[str, StoredArray]:
    """Lists of str, or JSON of such lists, as text arrays; anything else is passed over."""
    arrays = {}
    for key, value in values.items():
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                continue
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            arrays[key] = StoredArray.in_memory(np.array(value))
    return arrays
