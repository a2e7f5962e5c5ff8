"""What a reader returns: the arrays of a file by name, with their shapes and types, not yet read."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock, get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.notes import Note
from uqassay.predictions.file_limits import text_array

__all__ = ["MAP_BYTES", "Arrays", "Contents", "StoredArray", "quiet", "split_text", "text_from_json"]

ONE_TEXT = ("variance_is", "class_order")  # keys of one text, which may stand in metadata as it is
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

    def rows(self, start: int, stop: int) -> Any:
        """The rows from `start` to before `stop`; where the format cannot read some alone, of the whole."""
        return self.read()[start:stop] if self.read_rows is None else self.read_rows(start, stop)

    @classmethod
    def in_memory(cls, array: NDArray[Any]) -> "StoredArray":
        """An array that has been read already."""
        return cls(array.shape, str(array.dtype), lambda: array)


@dataclass(frozen=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    arrays : dict of str to StoredArray
    other : dict of str to StoredArray
        Columns that are no part of a prediction.
    classes : dict of str to StoredArray
        Columns of a table that are taken as classes, although their names do not say so.
    notes : tuple of Note
    bare : bool
        The file is one array without a name, held under the key "array".
    lines : sequence of int, optional
        Line of the file on which each instance stands, from 1, for messages.
    """

    arrays: dict[str, StoredArray]
    other: dict[str, StoredArray] = field(default_factory=dict)
    classes: dict[str, StoredArray] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    bare: bool = False
    lines: NDArray[np.int64] | None = None

    def columns(self) -> dict[str, StoredArray]:
        """Every array and column by its own name in the file."""
        made = ("probs", "class_names") if self.classes else ()  # from the columns
        arrays = {key: value for key, value in self.arrays.items() if key not in made}
        return self.other | self.classes | arrays


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


# -- text in the metadata of formats that hold numbers alone ----------------------------------------------------------


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

    Parameters
    ----------
    values : mapping
    stored : int
        Bytes of the file, for the limit on memory.
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
