"""Columns of a table and what they mean, for csv and parquet: one row per instance, a point prediction.

Columns `proba_0`, `proba_1`, … or `proba_<name of the class>` hold the probabilities. Columns named 0 … K−1 in another order
are put in order; otherwise the classes are in the order of the columns. `label` (a class name, or an index where the columns
are `proba_0`, `proba_1`, …), `id` and `group` are optional; other columns are ignored, and a note says so. (The tables of
calzone, `proba_0`, …, `subgroup_1`, …, `label`, have this form.)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.file_contents import Arrays, Contents, StoredArray
from uqassay.predictions.prediction_keys import ALIASES, shown_keys
from uqassay.wording import listed

__all__ = ["PREFIX", "probability_columns", "table_columns", "table_contents"]

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
    places = [i for i, name in enumerate(header) if name.startswith(PREFIX)]
    place = {header[i].removeprefix(PREFIX): i for i in places}
    in_order = [place.get(str(k)) for k in range(len(places))]
    return places if None in in_order else [i for i in in_order if i is not None]


def table_contents(header: Sequence[str], probs: StoredArray | None, columns: Mapping[str, StoredArray]) -> Contents:
    """Give the columns their roles; class names come from the names of the columns.

    Parameters
    ----------
    header : sequence of str
        Names of all columns.
    probs : StoredArray (n, K) or None
        In the order of `probability_columns`.
    columns : mapping of str to StoredArray
        The other columns.
    """
    arrays: dict[str, StoredArray] = {}
    if probs is not None:
        arrays["probs"] = probs
        names = [header[i].removeprefix(PREFIX) for i in probability_columns(header)]
        if not _are_indices(names):
            arrays["class_names"] = StoredArray.in_memory(np.array(names))
    other = {}
    for name, column in columns.items():
        role = ROLES.get(name, ALIASES.get(name, name))
        if role in ROLES.values() and role not in arrays:
            arrays[role] = column
        else:
            other[name] = column
    notes: tuple[Note, ...] = ()
    if other and probs is not None:
        notes = (Note("columns-ignored", f"columns ignored: {shown_keys(other)}", {"columns": tuple(other)}),)
    return Contents(arrays, other, notes)


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


def _are_indices(names: Sequence[str]) -> bool:
    return list(names) == [str(i) for i in range(len(names))]
