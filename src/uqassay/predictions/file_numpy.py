"""NumPy's own formats, .npy and .npz. Nothing is unpickled, and no header is trusted before its size is checked."""

import io
import math
import os
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.predictions.file_contents import MAP_BYTES, Arrays, Contents, StoredArray, quiet
from uqassay.predictions.file_limits import check_expansion, check_fits
from uqassay.predictions.file_unpacking import mapped, to_unpack

__all__ = ["read_npy", "read_npz", "write_npy", "write_npz"]

HEADER_BYTES = 10_000  # NumPy's own limit; some kinds of header may state a length of 4 GB
LENGTHS = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # bytes of the header's length, by version of the format
PART_BYTES = 4 * 2**20  # of an array that are unpacked at a time
DEAD_BITS = 0x1 | 0x40  # flags of an encrypted member


@dataclass(frozen=True)
class Header:
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


def read_npz(path: Path) -> Contents:
    """Arrays by name; a large one becomes a read-only memory map, of the file itself if it is not compressed.

    Then its checksum is not verified.
    """
    arrays: dict[str, StoredArray] = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".npy"):
                key = info.filename.removesuffix(".npy")
                if key in arrays:
                    raise InputError(
                        key, "must be in the archive once", "it is there twice", "write it again", code="duplicate"
                    )
                with archive.open(info) as stream:
                    header = _header(stream, key)
                arrays[key] = StoredArray(header.shape, str(header.dtype), partial(_read_member, path, info, key))
    return Contents(arrays)


def write_npz(path: Path, arrays: Arrays) -> None:
    """Uncompressed, so that it can be memory-mapped."""
    named: dict[str, Any] = dict(arrays)
    with path.open("wb") as stream:
        np.savez(stream, **named)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _header(stream: IO[bytes], name: str) -> Header:
    """Read the header; its own length is checked first, since it may claim gigabytes."""
    start = stream.read(8)
    version = (start[6], start[7]) if len(start) == 8 else (0, 0)
    if start[:6] != b"\x93NUMPY" or version not in LENGTHS:
        raise _damaged(name, "it does not begin as an array of NumPy does")
    prefix = stream.read(LENGTHS[version])
    length = int.from_bytes(prefix, "little")
    if length > HEADER_BYTES:
        raise _damaged(name, f"its header claims {length:,} bytes, and {HEADER_BYTES:,} are allowed")
    text = io.BytesIO(prefix + stream.read(length))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with quiet():
        shape, columns_first, dtype = read(text)
    if any(type(n) is not int for n in shape):
        raise _damaged(name, f"its shape is {shape}")
    return Header(shape, columns_first, dtype, 8 + len(prefix) + length)


def _damaged(name: str, found: str) -> InputError:
    return InputError(name, "must be an array in NumPy's format", found, "write the file again", code="unreadable")


def _refuse_objects(dtype: np.dtype[Any], name: str) -> None:
    if dtype.hasobject:
        raise InputError(
            name,
            "pickled Python objects are never loaded",
            "it holds some",
            "save numbers or text alone, for example by .astype(float) or .astype(str)",
            code="pickle",
        )


def _map_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as stream:
        header = _header(stream, "array")
        available = os.fstat(stream.fileno()).st_size - header.length
    _refuse_objects(header.dtype, "array")
    check_fits("array", header.shape, header.dtype.itemsize, available)
    if 0 in header.shape:
        return np.empty(header.shape, header.dtype)
    return np.memmap(path, header.dtype, "r", header.length, header.shape, "F" if header.columns_first else "C")


def _read_member(path: Path, info: zipfile.ZipInfo, key: str) -> NDArray[Any]:
    with zipfile.ZipFile(path) as archive, archive.open(info) as stream:
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
            if needed >= MAP_BYTES and not info.flag_bits & DEAD_BITS and 0 not in header.shape:
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
