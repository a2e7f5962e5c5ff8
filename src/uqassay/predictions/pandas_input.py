"""pandas at the door, by duck typing: columns name the classes, the index identifies the instances, nothing is guessed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.errors import InputError

__all__ = ["labels_for", "positions", "take_index", "take_table"]


def has_index(values: Any) -> bool:
    """Whether the values are a Series or a DataFrame."""
    return hasattr(values, "index") and hasattr(values, "to_numpy")


def take_index(values: Any) -> tuple[Any, NDArray[Any] | None]:
    """The values of a Series or DataFrame and its index; anything else as it is."""
    return (values.to_numpy(), np.asarray(values.index)) if has_index(values) else (values, None)


def take_table(values: Any, name: str) -> tuple[Any, tuple[str, ...] | None, NDArray[Any] | None]:
    """Array, class names and ids of a DataFrame with one column per class; anything else as it is.

    Columns 0 … K−1 in any order are put in order; other whole numbers could mean a class or a place, and are refused.
    """
    if not (has_index(values) and hasattr(values, "columns")):
        return *take_index(values)[:1], None, take_index(values)[1]
    columns = list(values.columns)
    if not all(isinstance(c, (int, np.integer)) for c in columns):
        return values.to_numpy(), tuple(str(c) for c in columns), np.asarray(values.index)
    if sorted(columns) != list(range(len(columns))):
        raise InputError(
            name,
            f"columns that are whole numbers must be 0 … {len(columns) - 1}",
            f"got {columns[:5]}",
            "rename them to the names of the classes, as text",
            code="type",
        )
    return values.to_numpy()[:, np.argsort(columns)], None, np.asarray(values.index)


def same_table(values: Any, like: Any, name: str, like_name: str) -> Any:
    """A DataFrame with its rows and columns in the order of another one; anything else as it is."""
    if not (has_index(values) and has_index(like) and hasattr(values, "columns") and hasattr(like, "columns")):
        return values
    rows = positions(values.index, np.asarray(like.index), f"{name}: its index entries")
    columns = positions(
        np.asarray(values.columns), np.asarray(like.columns), f"{name}: its columns (against {like_name})"
    )
    return values.iloc[rows, columns]


def positions(index: Any, ids: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Where each id stands in an index that must hold the same entries."""
    entries = np.asarray(index).tolist()
    place = {value: i for i, value in enumerate(entries)}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(entries) != len(ids) or len(place) != len(entries):
        found = (
            f"{len(missing)} are missing, {missing[0]!r} first" if missing else "some occur twice, or there are more"
        )
        raise InputError(
            f"{what} do not match those of the other inputs",
            found,
            "",
            "select the common rows first, or pass .to_numpy() if the order is the same",
            code="undefined",
        )
    return np.array([place[value] for value in ids.tolist()], dtype=np.int64)


def labels_for(
    y_true: Any,
    *,
    n_instances: int,
    n_classes: int,
    ids: NDArray[Any] | None,
    class_names: tuple[str, ...] | None,
    name: str = "y_true",
) -> NDArray[Any]:
    """Checked labels ``(n,)`` or label distributions ``(n, K)`` in the order of the ids.

    A Series or DataFrame is aligned to the ids by its index, the columns of a DataFrame to the class names; text must be
    class names.
    """
    table, names, index = take_table(y_true, name)
    array = np.asarray(table) if not hasattr(table, "detach") else table
    if index is not None and ids is not None:
        # a plain counting index says nothing about instances that are named
        counting = index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
        if not (counting and ids.dtype.kind not in "iu"):
            array = array[positions(index, ids, f"{name}: its index entries")]
    if names is not None and class_names is not None and names != class_names:
        array = array[:, positions(names, np.asarray(class_names), f"{name}: its columns")]
    if isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "USO":
        array = _class_numbers(array, class_names or (), name)
    return as_labels(array, n_classes, n_instances=n_instances, name=name)


def _class_numbers(labels: NDArray[Any], class_names: tuple[str, ...], name: str) -> NDArray[np.int64]:
    """Place of each label given as text among the class names; whole numbers held as objects stay as they are."""
    values = labels.tolist()
    if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values):
        return np.array(values, dtype=np.int64)
    code = {c: i for i, c in enumerate(class_names)}
    unknown = next(((row, v) for row, v in enumerate(values) if v not in code), None)
    if unknown is not None:
        known = (
            f"not among {list(class_names[:5])}{'…' if len(class_names) > 5 else ''}" if class_names else "not known"
        )
        raise InputError(
            name,
            "labels given as text must be class names",
            f"{unknown[1]!r} in row {unknown[0]} is {known}",
            "pass class_names with the predictions, or labels 0, 1, … as whole numbers",
            code="choice",
        )
    return np.array([code[v] for v in values], dtype=np.int64)
