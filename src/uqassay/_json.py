"""Values for strict JSON, which has neither nan nor infinities: one way to write them, and one to read files of them."""

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from uqassay._files import MAX_TEXT, read_bytes
from uqassay.errors import FileFormatError
from uqassay.notes import Note

__all__ = ["number_from_json", "plain", "read_json"]


def plain(value: Any) -> Any:
    """A value that strict JSON can hold: nan becomes None, infinities become "Infinity" and "-Infinity".

    Examples
    --------
    >>> plain({"p": float("nan"), "limits": np.array([0.5, np.inf]), "n": np.int64(3)})
    {'p': None, 'limits': [0.5, 'Infinity'], 'n': 3}
    """
    if isinstance(value, float):  # most values, among them numbers of NumPy and of estimates
        number = float(value)
        return number if math.isfinite(number) else _not_finite(number)
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        if set(map(type, value)) == {float} and all(map(math.isfinite, value)):  # most lists
            return list(value)
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, np.floating):
        return plain(float(value))
    return value


def _not_finite(number: float) -> str | None:
    if math.isnan(number):
        return None
    return "Infinity" if number > 0 else "-Infinity"


def number_from_json(value: Any) -> float:
    """The number that `plain` wrote.

    Examples
    --------
    >>> number_from_json(None), number_from_json("-Infinity")
    (nan, -inf)
    """
    return float("nan" if value is None else value)


def read_json(path: str | os.PathLike[str], most: int = MAX_TEXT) -> Any:
    """The value in a file of JSON, which takes at most forty times the memory of its text.

    Parameters
    ----------
    path : path
    most : int
        Greatest number of bytes.

    Raises
    ------
    FileFormatError
        No plain file, a longer one, or one that holds no JSON in UTF-8.
    OSError
        There is no such file, or it may not be read.
    """
    content = read_bytes(path, most)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:  # RecursionError: deeply nested
        raise FileFormatError(
            "path",
            "must hold JSON in UTF-8",
            f"{os.fspath(path)} does not ({type(problem).__name__})",
            "write it again",
            code="unreadable",
        ) from problem
