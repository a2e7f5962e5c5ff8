"""Tensors: .safetensors, and .pt through PyTorch's weights-only loader. Nothing else is ever unpickled."""

import json
import math
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from uqassay._array import as_bfloat16
from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.predictions.file_contents import (
    MAP_BYTES,
    Arrays,
    Contents,
    StoredArray,
    quiet,
    split_text,
    text_from_json,
)
from uqassay.predictions.file_limits import check_expansion, check_fits, text_array

__all__ = ["read_pt", "read_safetensors", "write_pt", "write_safetensors"]

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip


# -- safetensors ------------------------------------------------------------------------------------------------------


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
        raise InputError(
            key, "must have a type that NumPy knows", f"got {dtype}", "save the tensor as float32", code="type"
        )
    stored = np.dtype(_TYPES[dtype])
    check_fits(key, shape, stored.itemsize, path.stat().st_size - offset)
    count = math.prod(shape)
    if dtype != "BF16" and count * stored.itemsize >= MAP_BYTES:
        return np.memmap(path, stored, "r", offset, shape)
    array = np.fromfile(path, stored, count, offset=offset).reshape(shape)
    if dtype == "BF16":  # the upper half of a float32
        return as_bfloat16((array.astype(np.uint32) << 16).view(np.float32))
    return array


# -- pt ---------------------------------------------------------------------------------------------------------------


def read_pt(path: Path) -> Contents:
    """A tensor, or a dictionary of tensors."""
    torch = optional_package("torch", "torch", "reading .pt")
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
        raise InputError(
            "file",
            "must hold tensors, numbers, text, lists and dictionaries alone; other pickled objects are never loaded",
            "it holds others, or is damaged",
            "save a dictionary of tensors, torch.save({'probs': probs}, path)",
            code="pickle",
        ) from problem
    if not isinstance(held, dict):
        return Contents({"array": _torch_value(held, "array", size)}, bare=True)
    arrays: dict[str, StoredArray] = {}
    for key, value in held.items():
        name = key if isinstance(key, str) else repr(key)
        arrays[name] = _torch_value(value, name, size)
    return Contents(arrays)


def write_pt(path: Path, arrays: Arrays) -> None:
    """A dictionary: numbers as tensors, text as lists of str."""
    torch = optional_package("torch", "torch", "writing .pt")
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
        raise InputError(
            name, "must be a tensor, a number or a list", f"got {type(value).__name__}", "save a tensor", code="type"
        )

    return read


def _torch_array(tensor: Any, name: str, size: int) -> Any:
    """Values of a tensor; a tensor that repeats its memory (stride 0) is held to the limit on expansion."""
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized or tensor.device.type != "cpu":
        raise InputError(
            name,
            "must be a plain tensor",
            f"got layout {tensor.layout} on {tensor.device}",
            "make it dense, without quantisation, on the CPU",
            code="type",
        )
    check_expansion(name, tuple(tensor.shape), tensor.element_size(), size)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.bfloat16":
        return as_bfloat16(tensor.float().numpy())
    try:
        return tensor.numpy()
    except TypeError as problem:  # 8 bits
        raise InputError(
            name, "must have a type that NumPy knows", f"got {tensor.dtype}", "save the tensor as float32", code="type"
        ) from problem
