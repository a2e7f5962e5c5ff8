"""Large arrays of compressed formats: unpacked once, part by part, into a temporary file that is read as a memory map.

An assay passes through the predictions about ten times, so they are expanded only once. Memory holds one part at a time. The
file has no name and disappears with the array.
"""

import math
import shutil
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from uqassay.errors import InputError
from uqassay.predictions.file_limits import bytes_text

__all__ = ["UNPACKED_BYTES", "mapped", "to_unpack"]

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

    Parameters
    ----------
    name : str
        Key of the array, for errors.
    shape : tuple of int
    dtype : dtype
    parts : iterable of bytes, or of arrays of this dtype in C order
    columns_first : bool
        The order of the values in the file.

    Raises
    ------
    InputError
        The folder for temporary files has not enough room, or the parts do not fill the shape.
    """
    kind = np.dtype(dtype)
    needed, room = math.prod(shape) * kind.itemsize, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > room:
        raise InputError(
            name,
            "is unpacked into a temporary file, which must fit on the disk",
            f"it takes {bytes_text(needed)}, and {tempfile.gettempdir()} has room for {bytes_text(room)}",
            "set the environment variable TMPDIR to a folder with more room, or save the array as .npy",
            code="size",
            facts={"needed": needed, "available": room},
        )
    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(part)
        file.flush()
        if file.tell() != needed:
            raise InputError(
                name,
                "must hold as many values as its shape says",
                f"shape {shape} needs {bytes_text(needed)} and there are {bytes_text(file.tell())}",
                "write the file again",
                code="truncated",
            )
        return np.memmap(file, kind, "r", 0, shape, "F" if columns_first else "C")  # keeps the file open by itself
