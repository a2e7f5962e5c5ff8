"""Columns of a table and what they mean, for csv and parquet: one row per instance, a point prediction.

Columns `proba_0`, `proba_1`, … or `proba_<name of the class>` hold the probabilities. If no column has such a name, the columns
of decimal numbers do, and a note says so. Columns named 0 … K−1 in another order are put in order; otherwise the classes are in
the order of the columns. `label` (a class name, or an index where the columns
are `proba_0`, `proba_1`, …), `id` and `group` are optional; other columns are ignored, and a note says so. (The tables of
calzone, `proba_0`, …, `subgroup_1`, …, `label`, have this form.)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Arrays, Contents, StoredArray
from uqassay.predictions.keys import ALIASES, shown_keys
from uqassay.wording import listed

__all__ = ["PREFIX", "columns_by_type", "probability_columns", "table_columns", "table_contents"]

PREFIX = "proba_"
ROLES = {"label": "labels", "id": "ids", "group": "groups"}


def probability_columns(header: Sequence[str]) -> list[int]:
    """Places of the columns of probabilities, in the order of the classes.

    Names that are the digits 0 … K−1 in another order are put in order, so that a class index means the same everywhere.

    Raises
    ------
    InputError
        A name occurs twice.

    Examples
    --------
    >>> probability_columns(["id", "proba_0", "proba_1", "proba_10", *(f"proba_{k}" for k in range(2, 10))])
    [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 3]
    >>> probability_columns(["proba_dog", "proba_cat"])
    [0, 1]
    """
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(
                "header",
                "names of columns must be unique",
                f"{name!r} occurs more than once",
                "rename the columns",
                code="duplicate",
            )
        seen.add(name)
    return _in_class_order(header, [i for i, name in enumerate(header) if name.startswith(PREFIX)])


def columns_by_type(header: Sequence[str], decimal: Sequence[int]) -> list[int]:
    """Places of the classes in a table without a column ``proba_…``: two or more columns of decimal numbers, else none.

    Parameters
    ----------
    header : sequence of str
        Names of all columns.
    decimal : sequence of int
        Places of the columns that hold decimal numbers.

    Examples
    --------
    >>> columns_by_type(["image", "cat", "dog"], [1, 2]), columns_by_type(["patient", "age"], [1])
    ([1, 2], [])
    """
    places = [i for i in decimal if header[i] and ALIASES.get(header[i], header[i]) not in ROLES.values()]
    return _in_class_order(header, places) if len(places) > 1 else []


def table_contents(
    header: Sequence[str],
    probs: StoredArray | None,
    columns: Mapping[str, StoredArray],
    by_type: Sequence[int] = (),
) -> Contents:
    """Give the columns their roles; class names come from the names of the columns.

    Parameters
    ----------
    header : sequence of str
        Names of all columns.
    probs : StoredArray (n, K) or None
        In the order of `probability_columns`, or of `by_type`.
    columns : mapping of str to StoredArray
        The other columns, and those of `by_type`.
    by_type : sequence of int
        Places of `columns_by_type`.
    """
    arrays: dict[str, StoredArray] = {}
    if probs is not None:
        arrays["probs"] = probs
        names = [header[i].removeprefix(PREFIX) for i in by_type or probability_columns(header)]
        if not _are_indices(names):
            arrays["class_names"] = StoredArray.in_memory(np.array(names))
    other = {}
    classes = {header[i]: columns[header[i]] for i in by_type}
    for name, column in columns.items():
        if name in classes:
            continue
        role = ROLES.get(name, ALIASES.get(name, name))
        if role in ROLES.values() and role not in arrays:
            arrays[role] = column
        else:
            other[name] = column
    notes: tuple[Note, ...] = ()
    if classes:
        taken = (
            f"no column is named {PREFIX}…, so the classes are the columns of decimal numbers: {shown_keys(classes)}"
        )
        notes = (Note("columns-by-type", taken, {"columns": tuple(classes)}),)
    if other and probs is not None:
        ignored = Note("columns-ignored", f"columns ignored: {shown_keys(other)}", {"columns": tuple(other)})
        notes = (*notes, ignored)
    return Contents(arrays, other, classes, notes)


def table_columns(arrays: Arrays, suffix: str) -> dict[str, NDArray[Any]]:
    """Columns of a point prediction by name.

    Raises
    ------
    InputError
        Another kind of prediction, or label distributions.
    """
    probs = arrays.get("probs")
    if probs is None or probs.ndim != 2:
        held = listed(sorted(set(arrays) - {"labels", "class_names", "ids", "groups", "notes", "note_codes"}))
        raise InputError(
            "prediction",
            f"{suffix} holds one distribution per instance",
            f"this prediction has {held}" if probs is None else f"this one has {probs.shape[1]} members",
            "save it as .npz",
            code="format",
        )
    labels = arrays.get("labels")
    if labels is not None and labels.ndim != 1:
        raise InputError(
            "labels",
            f"{suffix} holds one label per row",
            f"got shape {labels.shape}",
            "save them as .npz",
            code="format",
        )
    names = arrays["class_names"].tolist() if "class_names" in arrays else [str(i) for i in range(probs.shape[1])]
    columns = {f"{PREFIX}{name}": probs[:, i] for i, name in enumerate(names)}
    return columns | {column: arrays[role] for column, role in ROLES.items() if role in arrays}


def _in_class_order(header: Sequence[str], places: list[int]) -> list[int]:
    """The places in the order of the classes if the names are the digits 0 … K−1, else as they are."""
    place = {header[i].removeprefix(PREFIX): i for i in places}
    in_order = [place.get(str(k)) for k in range(len(places))]
    return places if None in in_order else [i for i in in_order if i is not None]


def _are_indices(names: Sequence[str]) -> bool:
    return list(names) == [str(i) for i in range(len(names))]
