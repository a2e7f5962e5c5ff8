"""The idx format of the MNIST family: two zero bytes, a type, a number of axes, their sizes, then the values."""

import gzip
import os
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import FileFormatError
from uqassay.predictions.files import problems_named

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
        A file that is missing, truncated, too long, or no idx file. Memory is never reserved beyond the size of the content.
    """
    path = Path(path)
    packed = path.suffix.lower() == ".gz"
    if not path.is_file():
        raise FileFormatError(
            "path", "must be a file", f"got {path.absolute()}", "check it", code="missing", source=path.name
        )
    with problems_named(path):
        held = path.stat().st_size * (MOST_PACKED if packed else 1)
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            return read_idx_stream(stream, held)


def read_idx_stream(stream: IO[bytes] | gzip.GzipFile, held: int) -> NDArray[Any]:
    """The array in a stream that has at most `held` bytes.

    Raises
    ------
    FileFormatError
        No idx, or another number of bytes than announced.
    """
    magic = _exactly(stream, 4)
    kind, axes = magic[2], magic[3]
    if magic[:2] != b"\0\0" or kind not in TYPES or not 1 <= axes <= MOST_AXES:
        raise FileFormatError(
            "file", "must be an idx file", f"it begins with {magic.hex()}", "get the right file", code="unreadable"
        )
    shape = tuple(np.frombuffer(_exactly(stream, 4 * axes), dtype=">u4").tolist())
    dtype = np.dtype(TYPES[kind])
    size = prod(shape) * dtype.itemsize
    if size > held:  # checked before memory is reserved
        raise FileFormatError(
            "file",
            f"must hold the {size} bytes that it announces for shape {shape}",
            f"it can hold at most {held}",
            "get it again",
            code="size",
        )
    values = np.frombuffer(_exactly(stream, size), dtype=dtype).reshape(shape)
    if stream.read(1):
        raise FileFormatError(
            "file", f"must end after the {size} bytes that it announces", "it goes on", "get it again", code="size"
        )
    return values.astype(dtype.newbyteorder("="))


def _exactly(stream: IO[bytes] | gzip.GzipFile, size: int) -> bytes:
    got = stream.read(size)
    if len(got) != size:
        raise FileFormatError(
            "file", f"must have {size} more bytes", f"it ends after {len(got)}", "get it again", code="size"
        )
    return got
