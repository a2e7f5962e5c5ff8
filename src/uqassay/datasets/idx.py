"""The idx format of the MNIST family: two zero bytes, a type, a number of axes, their sizes, then the values."""

import gzip
import os
import zlib
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import FileFormatError

__all__ = ["read_idx", "read_idx_stream"]

TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
MOST_AXES = 8
MOST_PACKED = 1040  # deflate packs no more than 1032 bytes into one


def read_idx(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array in an idx file, packed by gzip (``.gz``) or not.

    Parameters
    ----------
    path : path

    Returns
    -------
    array
        In the byte order of the machine.

    Raises
    ------
    FileFormatError
        A file that is missing, truncated, too long, or no idx file; nothing larger than the file can hold is reserved.
    """
    path = Path(path)
    packed = path.suffix.lower() == ".gz"
    try:
        held = path.stat().st_size * (MOST_PACKED if packed else 1)
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            return read_idx_stream(stream, path.name, held)
    except FileNotFoundError as problem:
        raise FileFormatError(
            path.name, f"there is no such file in {path.absolute().parent}", "", "check it", code="choice"
        ) from problem
    except (OSError, EOFError, zlib.error) as problem:
        raise FileFormatError(
            path.name,
            f"cannot be read ({problem})",
            "",
            "it is damaged or incomplete, so get it again",
            code="unreadable",
        ) from problem


def read_idx_stream(stream: IO[bytes] | gzip.GzipFile, name: str, held: int) -> NDArray[Any]:
    """The array in a stream; `name` stands in messages, `held` is the most bytes that there can be."""
    magic = _exactly(stream, 4, name)
    kind, axes = magic[2], magic[3]
    if magic[:2] != b"\0\0" or kind not in TYPES or not 1 <= axes <= MOST_AXES:
        raise FileFormatError(
            name, f"is no idx file (it begins with {magic.hex()})", "", "get the right file", code="unreadable"
        )
    shape = tuple(np.frombuffer(_exactly(stream, 4 * axes, name), dtype=">u4").tolist())
    dtype = np.dtype(TYPES[kind])
    size = prod(shape) * dtype.itemsize
    if size > held:
        raise FileFormatError(
            name,
            f"announces {size} bytes for shape {shape}, more than it can hold",
            "",
            "get it again",
            code="unreadable",
        )
    values = np.frombuffer(_exactly(stream, size, name), dtype=dtype).reshape(shape)
    if stream.read(1):
        raise FileFormatError(
            name, f"goes on after the {size} bytes that it announces", "", "get it again", code="unreadable"
        )
    return values.astype(dtype.newbyteorder("="))


def _exactly(stream: IO[bytes] | gzip.GzipFile, size: int, name: str) -> bytes:
    got = stream.read(size)
    if len(got) != size:
        raise FileFormatError(
            name, f"ends after {len(got)} of {size} bytes", "", "it is incomplete, so get it again", code="unreadable"
        )
    return got
