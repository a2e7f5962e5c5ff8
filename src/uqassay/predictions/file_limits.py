"""Limits on memory: the size that a file declares is checked before anything is allocated.

An array that is stored as it is must fit into the file. An array that a compressed format expands may take `FREE_BYTES`, or
`GREATEST_RATIO` times the bytes that the file spends on it, and `GREATEST_BYTES` at most. The environment variable
UQASSAY_MAX_ARRAY_BYTES replaces these three limits by one number of bytes.
"""

import math
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.wording import significant

__all__ = [
    "FREE_BYTES",
    "GREATEST_BYTES",
    "GREATEST_RATIO",
    "VARIABLE",
    "bytes_text",
    "check_expansion",
    "check_fits",
    "text_array",
]

FREE_BYTES = 64 * 2**20
GREATEST_RATIO = 100
GREATEST_BYTES = 16 * 2**30
VARIABLE = "UQASSAY_MAX_ARRAY_BYTES"


def check_fits(name: str, shape: Sequence[int], itemsize: int, available: int) -> None:
    """Refuse a stored array whose shape and type need more bytes than the file holds.

    Parameters
    ----------
    name : str
        Key of the array.
    shape : sequence of int
    itemsize : int
        Bytes of one value.
    available : int
        Bytes of the file that may belong to the array.

    Raises
    ------
    InputError
        A negative length, values of no size, or more bytes than there are.
    """
    needed = _declared_bytes(name, shape, itemsize)
    if needed > available:
        raise InputError(
            name,
            "its shape and type must fit the bytes in the file",
            f"shape {tuple(shape)} needs {bytes_text(needed)} and {bytes_text(available)} are there",
            "write the file again",
            code="truncated",
            facts={"needed": needed, "available": available},
        )


def check_expansion(name: str, shape: Sequence[int], itemsize: int, stored: int) -> None:
    """Refuse an array that a compressed file would expand beyond the limits of this module.

    Parameters
    ----------
    name : str
        Key of the array.
    shape : sequence of int
    itemsize : int
        Bytes of one value.
    stored : int
        Bytes that the file spends on the array.

    Raises
    ------
    InputError
        A negative length, values of no size, or more bytes than the limits allow.
    """
    needed, limit = _declared_bytes(name, shape, itemsize), _limit(stored)
    if needed > limit:
        raise InputError(
            name,
            f"may take {bytes_text(limit)} of memory when it is read",
            f"shape {tuple(shape)} needs {bytes_text(needed)}, from {bytes_text(stored)} in the file",
            f"check the file, or allow more by the environment variable {VARIABLE}",
            code="size",
            facts={"needed": needed, "limit": limit},
        )


def text_array(texts: Sequence[str], name: str, stored: int) -> NDArray[np.str_]:
    """Texts as an array ``(n,)``; every value takes the memory of the longest one, so that is checked first."""
    longest = max(map(len, texts), default=0)
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


# -- helpers ----------------------------------------------------------------------------------------------------------


def _declared_bytes(name: str, shape: Sequence[int], itemsize: int) -> int:
    """Bytes of an array in exact integers, which cannot overflow."""
    if any(length < 0 for length in shape) or (itemsize == 0 and 0 not in shape):
        raise InputError(
            name,
            "must have lengths from 0 up and values of at least one byte",
            f"got shape {tuple(shape)} and {itemsize} bytes per value",
            "write the file again",
            code="unreadable",
        )
    return math.prod(shape) * itemsize


def _limit(stored: int) -> int:
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return min(max(FREE_BYTES, GREATEST_RATIO * stored), GREATEST_BYTES)
    if not given.isascii() or not given.isdigit():
        raise InputError(
            VARIABLE, "must be a whole number of bytes", f"got {given!r}", "set it to 17179869184, say", code="type"
        )
    return int(given)
