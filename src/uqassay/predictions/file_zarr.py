"""Zarr stores: a folder with a group of arrays, or one array."""

import math
import os
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.predictions.file_contents import Arrays, Contents, StoredArray, quiet, split_text, text_from_json
from uqassay.predictions.file_limits import check_expansion
from uqassay.predictions.file_unpacking import mapped, to_unpack

__all__ = ["ZARR_MARKERS", "read_zarr", "write_zarr"]

ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")
PART_BYTES = 16 * 2**20  # of rows that are unpacked together, at least one chunk
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


# -- helpers ----------------------------------------------------------------------------------------------------------


def _is_node(folder: Path) -> bool:
    return any((folder / marker).is_file() for marker in ZARR_MARKERS)


def _zarr_array(node: Any, name: str, folder: Path) -> StoredArray:
    shape, kind = tuple(node.shape), str(node.dtype)
    return StoredArray(shape, kind, partial(_read, node, name, folder), partial(_read_rows, node, name, folder))


def _read(node: Any, name: str, folder: Path) -> NDArray[Any]:
    """The whole array, after its size, that of its chunks and that of their contents were checked."""
    chunk = _check(node, name, folder)
    with quiet():
        if to_unpack(node.shape, node.dtype):
            kind = np.dtype(node.dtype).newbyteorder("=")
            row_bytes = max(1, math.prod(node.shape[1:]) * kind.itemsize)
            step = max(chunk[0], PART_BYTES // row_bytes // chunk[0] * chunk[0])
            rows = range(0, node.shape[0], step)
            return mapped(name, node.shape, kind, (_in_order(node[a : a + step], kind) for a in rows))
        array = np.asarray(node[...])
    return array.astype(str) if array.dtype.kind == "T" else array


def _check(node: Any, name: str, folder: Path) -> tuple[int, ...]:
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


def _read_rows(node: Any, name: str, folder: Path, start: int, stop: int) -> NDArray[Any]:
    """Some rows, after the same checks, as `_read` would give them."""
    _check(node, name, folder)
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
            raise InputError(
                name,
                "must hold all its chunks",
                f"{key} is missing, of {math.prod(map(len, grid)):,}",
                'write the array again, by config={"write_empty_chunks": True} where a whole chunk holds the fill value',
                code="truncated",
                facts={"chunk": key},
            )


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
    raise InputError(name, "must be an array", "it is a group", f"open it by its own path, …/{name}", code="type")
