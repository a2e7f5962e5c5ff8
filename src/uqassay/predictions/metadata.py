"""Checks of a prediction's metadata: class names, ids, groups and notes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array
from uqassay.errors import InputError
from uqassay.notes import Note

__all__ = ["checked_class_names", "checked_ids", "checked_notes", "per_instance"]


def checked_class_names(names: Any, n_classes: int) -> tuple[str, ...]:
    """One name for each class, as text.

    Raises
    ------
    InputError
        A wrong number of names, a repeated or missing name, or an object that is not a sequence.
    """
    if isinstance(names, (str, bytes, Mapping, set, frozenset)) or not isinstance(names, Iterable):
        raise _no_names(f"got {type(names).__name__}")
    items = list(names) if isinstance(names, (list, tuple)) else as_array(names, "class_names").reshape(-1).tolist()
    texts = tuple(_name(item) for item in items)
    if len(texts) != n_classes:
        raise InputError(
            "class_names",
            f"needs one name for each of the {n_classes} classes",
            f"got {len(texts)}",
            "give them in the order of the last axis",
            code="mismatch",
        )
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise InputError(
            "class_names", "must differ from each other", f"{twice!r} occurs twice", "rename one", code="duplicate"
        )
    return texts


def checked_ids(ids: Any, n: int) -> NDArray[Any]:
    """One id for each instance, all different, ``(n,)``."""
    array = per_instance(ids, "ids", n)
    counts = Counter(array.tolist())
    if len(counts) != n:
        value, count = counts.most_common(1)[0]
        raise InputError(
            "ids",
            "must be unique",
            f"{value!r} occurs {count} times",
            "drop the duplicates or leave ids out",
            code="duplicate",
        )
    return array


def per_instance(values: Any, name: str, n: int) -> NDArray[Any]:
    """Checked ids or groups ``(n,)``: numbers, text or dates, none of them missing.

    Raises
    ------
    InputError
        A wrong shape, missing values (nan, None, NaT), or objects without a hash (lists, mappings).
    """
    array = as_array(values, name)
    if array.shape != (n,):
        raise InputError(
            name,
            f"needs one value for each of the {n} instances",
            f"got shape {array.shape}",
            "give them in the order of the rows",
            code="mismatch",
        )
    if array.dtype.kind not in "iubfUSMmO":
        raise InputError(
            name, "must be numbers, text or dates", f"got dtype {array.dtype}", "convert them to text", code="type"
        )
    if array.dtype.kind == "O":
        items = array.tolist()
        odd = next((row for row, item in enumerate(items) if type(item).__hash__ is None), None)
        if odd is not None:
            raise InputError(
                name,
                "must be numbers, text or dates",
                f"row {odd} holds a {type(items[odd]).__name__}",
                "convert them to text",
                code="type",
            )
        missing = np.array([_is_missing(item) for item in items])
    elif array.dtype.kind in "fMm":
        missing = np.isnan(array)
    else:
        return array
    if missing.any():
        raise InputError(
            name,
            "values must not be missing",
            f"row {int(np.flatnonzero(missing)[0])} holds {array[missing][0]}",
            "drop such rows, or give them a value",
            code="missing",
        )
    return array


def checked_notes(notes: Any) -> tuple[Note, ...]:
    """Notes as a tuple. Text, which files hold in place of notes, becomes a note with the code "stated"."""
    items = notes if isinstance(notes, (list, tuple)) else (notes,)
    odd = next((item for item in items if not isinstance(item, (Note, str))), None)
    if odd is not None:
        raise InputError(
            "notes", "must be notes or text", f"got {type(odd).__name__}", "pass a tuple of Note", code="type"
        )
    return tuple(Note("stated", item) if isinstance(item, str) else item for item in items)


def _name(item: Any) -> str:
    """A class name as text, from text, bytes, a number or an array without axes."""
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    if isinstance(item, (np.generic, np.ndarray)) or hasattr(item, "detach"):
        if getattr(item, "ndim", 0):
            raise _no_names(f"one of them has shape {tuple(item.shape)}")
        item = item.item()
    if _is_missing(item) or type(item).__hash__ is None:
        raise _no_names(f"one of them is {item!r:.40}")
    return str(item)


def _no_names(got: str) -> InputError:
    return InputError(
        "class_names",
        "must be a sequence of names",
        got,
        "give a list with one name per class, in the order of the last axis",
        code="type",
    )


def _is_missing(item: Any) -> bool:
    """True for None, nan, NaT and pandas' NA."""
    # only nan differs from itself; the comparison of NA with itself is NA, which has no truth value
    return item is None or type(item).__name__ in ("NAType", "NaTType") or bool(item != item)
