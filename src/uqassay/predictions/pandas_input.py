"""Tables as arrays with the names of their classes and the ids of their instances."""

from typing import Any

from numpy.typing import NDArray

from uqassay._frames import Frame, FromFile, as_frame, rows_in_order
from uqassay.errors import InputError
from uqassay.predictions.columns import class_order

__all__ = ["column_names", "frame_classes", "in_order_of_ids", "take_index", "take_table"]


def take_index(values: Any, name: str = "values", *, axis: int = 0) -> tuple[Any, NDArray[Any] | None]:
    """Values and the index of a table, column or labelled array; other values unchanged, with None."""
    frame = as_frame(values, name)
    return (values, None) if frame is None else (frame.array, frame.labels[axis] if frame.ndim else None)


def take_table(values: Any, name: str) -> tuple[Any, tuple[str, ...] | None, NDArray[Any] | None]:
    """Array, class names and ids of a table with one column per class; other values unchanged, with None twice.

    Columns ``0 … K−1`` or ``proba_0 … proba_{K−1}`` are sorted by their numbers and give no class names.

    Raises
    ------
    InputError
        A table of a file with class names of another number.
    """
    own = values.class_names if isinstance(values, FromFile) and values.ndim == 2 else None
    if own is not None and len(own) != values.shape[1]:
        raise InputError(
            name,
            "needs one class name for each column",
            f"the file has {values.shape[1]} columns and {len(own)} class names",
            "repair the class names of the file",
            code="mismatch",
        )
    frame = as_frame(values, name)
    if frame is None:
        return values, None, None
    order, class_names = frame_classes(frame, name)
    return frame.array if order is None else frame.array[..., order], class_names, frame.index


def frame_classes(frame: Frame, name: str) -> tuple[list[int] | None, tuple[str, ...] | None]:
    """The order in which to take the last axis, and the class names; see `column_names`."""
    return (None, None) if frame.columns is None else column_names(frame.columns.tolist(), name)


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
    rows = rows_in_order(index, ids, name)
    return array if rows is None else array[rows]
