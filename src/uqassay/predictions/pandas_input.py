"""Input from pandas, without importing it: columns name the classes, and the index identifies the instances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array, has_index, shown
from uqassay.errors import InputError
from uqassay.predictions.columns import class_order

__all__ = ["column_names", "in_order_of_ids", "positions", "same_table", "take_index", "take_table"]


def take_index(values: Any, name: str = "values") -> tuple[Any, NDArray[Any] | None]:
    """Values and index of a Series or DataFrame; other values unchanged, with None."""
    return (as_array(values, name), np.asarray(values.index)) if has_index(values) else (values, None)


def take_table(values: Any, name: str) -> tuple[Any, tuple[str, ...] | None, NDArray[Any] | None]:
    """Array, class names and ids of a DataFrame with one column per class; other values unchanged, with None twice.

    Columns ``0 … K−1`` or ``proba_0 … proba_{K−1}`` are sorted by their numbers and give no class names.
    """
    array, ids = take_index(values, name)
    if ids is None or not hasattr(values, "columns"):
        return array, None, ids
    order, class_names = column_names(list(values.columns), name)
    return array if order is None else array[:, order], class_names, ids


def column_names(columns: list[Any], name: str) -> tuple[list[int] | None, tuple[str, ...] | None]:
    """The order in which to take the columns, and the class names; None for the present order, None for no names.

    See `columns.class_order`.

    Examples
    --------
    >>> column_names(["proba_0", "proba_10", "proba_1"], "probs")
    ([0, 2, 1], ('0', '1', '10'))
    >>> column_names(["proba_2", "proba_0", "proba_1"], "probs")
    ([1, 2, 0], None)
    """
    texts = [str(column).strip() for column in columns]
    twice = (
        next((text for i, text in enumerate(texts) if text in texts[:i]), None)
        if len(set(texts)) < len(texts)
        else None
    )
    if twice is not None:
        raise InputError(
            name, "columns must have different names", f"{twice!r} occurs twice", "rename one", code="duplicate"
        )
    order, class_names = class_order(texts)
    return (None if order == sorted(order) else order), class_names


def same_table(values: Any, like: Any, name: str, like_name: str) -> Any:
    """A DataFrame with rows and columns in the order of another DataFrame; other values unchanged."""
    if not (has_index(values) and has_index(like) and hasattr(values, "columns") and hasattr(like, "columns")):
        return values
    rows = positions(values.index, np.asarray(like.index), name, of=like_name)
    columns = positions(np.asarray(values.columns), np.asarray(like.columns), name, part="columns", of=like_name)
    return values.iloc[rows, columns]


def positions(
    index: Any, ids: NDArray[Any], parameter: str, *, part: str = "index entries", of: str = "the other inputs"
) -> NDArray[np.int64]:
    """Position of each id in an index with the same entries, ``(n,)``.

    Parameters
    ----------
    index : array-like (n,)
        Entries of the index of `parameter`, in any order.
    ids : array (n,)
        The entries in the order wanted.
    parameter, part, of : str
        Words for the error: "the `part` of `parameter` must match those of `of`".

    Raises
    ------
    InputError
        Missing, additional or repeated entries.
    """
    entries = np.asarray(index).tolist()
    place = {value: i for i, value in enumerate(entries)}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(entries) != len(ids) or len(place) != len(entries):
        found = (
            f"{len(missing)} are missing, {shown(missing[0])} first" if missing else "some are repeated or additional"
        )
        raise InputError(
            parameter,
            f"the {part} must match those of {of}",
            found,
            "select the common ones first, or pass .to_numpy() if the order is the same",
            code="ids",
        )
    return np.array([place[value] for value in ids.tolist()], dtype=np.int64)


def in_order_of_ids(
    array: NDArray[Any], index: NDArray[Any] | None, ids: NDArray[Any] | None, name: str
) -> NDArray[Any]:
    """The rows of a table in the order of the ids of a prediction; as they are if one of them has none.

    Parameters
    ----------
    array : array (n, …)
    index : array (n,) or None
        Index of the table.
    ids : array (n,) or None
    name : str
        Parameter that errors are about.

    Raises
    ------
    InputError
        Missing, additional or repeated entries.
    """
    if index is None or ids is None:
        return array
    # 0, 1, 2, … is the default index of pandas; it does not identify instances whose ids are text
    counting = index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
    return array if counting and ids.dtype.kind not in "iu" else array[positions(index, ids, name)]
