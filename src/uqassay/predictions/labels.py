"""What happened: labels, label distributions, votes, and their ids."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import as_array, as_labels, as_numeric, check_whole_numbers
from uqassay.checks import fail
from uqassay.frames import Frame, FromFile, as_frame, positions, rows_in_order
from uqassay.predictions.column_roles import class_numbers, class_order, undecorated
from uqassay.predictions.rows import Known, order_like
from uqassay.text import named

__all__ = [
    "CLASS_ORDERS",
    "check_order",
    "check_single_meaning",
    "class_indices",
    "frame_classes",
    "in_order_of_ids",
    "labels_for",
    "portable_labels",
    "single_votes_by_name",
    "take_index",
    "take_table",
    "vote_totals",
    "whole_number_in",
]


# Tables as arrays with the names of their classes and the ids of their instances.


def take_index(values: Any, name: str = "values", *, axis: int = 0) -> tuple[Any, NDArray[Any] | None]:
    """Values and the index of a table, column or labelled array; other values unchanged, with None."""
    frame = as_frame(values, name)
    return (values, None) if frame is None else (frame.array, frame.labels[axis] if frame.ndim else None)


def take_table(values: Any, name: str) -> tuple[Any, tuple[str, ...] | None, NDArray[Any] | None]:
    """Array, class names and ids of a table with one column per class; other values unchanged, with None twice.

    Columns ``0 … K−1`` or ``proba_0 … proba_{K−1}`` are sorted by their numbers and give no class names.
    """
    own = values.class_names if isinstance(values, FromFile) and values.ndim == 2 else None
    if own is not None and len(own) != values.shape[1]:
        got = f"the file has {values.shape[1]} columns and {len(own)} class names"
        fail(name, "needs one class name for each column", got, "repair the class names of the file", code="mismatch")
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
        fail(name, "columns must have different names", f"{twice!r} occurs twice", "rename one", code="duplicate")
    order, class_names = class_order(texts)
    return (None if order == sorted(order) else order), class_names


def in_order_of_ids(
    array: NDArray[Any], index: NDArray[Any] | None, ids: NDArray[Any] | None, name: str
) -> NDArray[Any]:
    """The rows of a table in the order of the ids of a prediction; as they are if one of them has none."""
    rows = rows_in_order(index, ids, name)
    return array if rows is None else array[rows]


# Conversion of labels, names or numbers, to class indices in the order of the predictions.
#
# The meaning of a label:
#
# * Text is the name of a class.
# * A whole number is the index of a class (0, 1, 2) if the classes have no names, or names in an order that was stated or is
#   that of the columns of a table.
# * A whole number is the name of a class if all names are whole numbers (1, 2, 3), or columns of one prefix and a number.
# * If only some names are whole numbers, a number is ambiguous and refused, unless each of these names equals its index.
# * Where the classes have names without an order (keys of JSON objects, models that list them differently), a whole number is
#   refused.
# * Labels that carry class names of their own (`FromFile`) are indices in the order of these names.
# * True and False are classes 1 and 0 of two classes without names, or the names of classes called so.

# What the order of class names rests on, and why a whole number is no label where it has none.
CLASS_ORDERS: Mapping[str, str] = {
    "stated": "",
    "columns": "",
    "keys": "the class names are keys of JSON objects, which have no order",
    "differs": "the classes are listed in different orders",
}

MOST_VOTES = 1e15  # of an instance; up to here double precision holds every whole number
_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")  # int() would also accept 1_0 and other digits


def labels_for(
    y_true: Any,
    *,
    n_instances: int,
    n_classes: int,
    ids: NDArray[Any] | None = None,
    keys: Mapping[str, NDArray[Any]] | None = None,
    class_names: tuple[str, ...] | None = None,
    class_order: str = "stated",
    n_members: int | None = None,
    name: str = "y_true",
) -> NDArray[Any]:
    """Checked labels ``(n,)`` or label distributions ``(n, K)`` in the order of the predictions.

    The index of a Series or DataFrame is aligned to the ids, and the columns of a DataFrame to the class names.

    Parameters
    ----------
    y_true : array-like (n,) or (n, K)
        Names or numbers of the classes, or label distributions and vote counts.
    n_instances, n_classes : int
        n and K of the predictions.
    ids : array (n,), optional
        Ids of the predictions.
    keys : dict of str to array (n,), optional
        Columns that may identify the rows of the predictions; labels of a file are aligned to them.
    class_names : tuple of str, optional
        Names of the classes, in the order of the predictions.
    class_order : str
        What that order rests on, a key of `CLASS_ORDERS`.
    n_members : int, optional
        M; if there are M labels, the error names `member_axis`.
    name : str
        Parameter that errors are about.
    """
    if isinstance(y_true, FromFile) and (keys or ids is not None):
        rows = order_like(Known(y_true.ids, y_true.keys, name), Known(ids, keys or {}, "the predictions"))
        found = y_true if rows is None else y_true[rows]
        y_true = FromFile(found, class_names=found.class_names, class_order=found.class_order)
    # names without an order give numbers no meaning of their own; the order that the models state does
    own = y_true.class_names if isinstance(y_true, FromFile) and y_true.class_order != "keys" else None
    array = _in_order(y_true, ids, class_names, name, class_order)
    if array.ndim == 1:
        if array.dtype.kind == "b":
            _check_truth_values(class_names or own, n_classes, name)
        if own is not None and class_names is not None:
            array = _by_own_names(array, own, y_true.class_order, class_names, name)
        else:
            array = class_indices(array, class_names or own, name=name, class_order=class_order)
    return as_labels(array, n_classes, n_instances=n_instances, n_members=n_members, name=name)


def vote_totals(y_true: Any, *, ids: NDArray[Any] | None = None, name: str = "y_true") -> NDArray[np.float64] | None:
    """Numbers of votes of each instance, ``(n,)``; None if `y_true`, which `labels_for` accepts, holds no numbers of votes.

    Numbers of votes are whole numbers, with one column for each class. Parameters as for `labels_for`.

    Examples
    --------
    >>> vote_totals([[3, 1], [0, 5]]).tolist(), vote_totals([[0.75, 0.25], [0.0, 1.0]]), vote_totals([0, 1])
    ([4.0, 5.0], None, None)
    """
    array = _in_order(y_true, ids, None, name)
    if array.ndim != 2 or array.dtype.kind == "b":
        return None
    counts = as_numeric(array, name)
    totals = counts.sum(axis=1, dtype=np.float64)
    return np.asarray(totals) if (counts == np.round(counts)).all() and totals.max() <= MOST_VOTES else None


def _in_order(
    y_true: Any, ids: NDArray[Any] | None, class_names: tuple[str, ...] | None, name: str, class_order: str = "stated"
) -> NDArray[Any]:
    """Labels (n,) or votes (n, K) with rows in the order of the ids, and columns in the order of the class names."""
    if y_true is None:
        fail(name, "must be given", "it is None", "pass the true class of each instance", code="missing")
    table, names, index = take_table(y_true, name)
    array = as_array(table, name)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # a column of labels, not votes
    array = in_order_of_ids(array, index, ids, name)
    if array.ndim != 2 or class_names is None:
        return array
    if names is None:
        check_order(class_order, class_names, name)
    elif names != class_names:
        array = array[:, positions(names, np.asarray(class_names), name, part="columns", of="the class names")]
    return array


def _by_own_names(
    labels: NDArray[Any], own: tuple[str, ...], own_order: str, class_names: tuple[str, ...], name: str
) -> NDArray[np.int64]:
    """Indices among the class names of the predictions, of labels that are indices among names of their own."""
    indices = class_indices(labels, own, name=name, class_order=own_order)
    if (outside := (indices < 0) | (indices >= len(own))).any():
        row = int(np.flatnonzero(outside)[0])
        rule = f"labels must lie in 0 … {len(own) - 1}, because {len(own)} class names stand beside them"
        got = f"row {row} holds {labels[row]}"
        fail(name, rule, got, "repair the labels or the class names of their file", code="range")
    place = {text: i for i, text in enumerate(class_names)}
    absent = next((i for i in np.unique(indices).tolist() if own[i] not in place), None)
    if absent is not None:
        rule = "the class names beside the labels must be those of the predictions"
        got = f"{own[absent]!r} is not among {_shown_names(class_names)}"
        fail(name, rule, got, "give both the same names", code="class-names", facts={"found": list(own), "named": True})
    return np.array([place.get(text, -1) for text in own], dtype=np.int64)[indices]


def check_order(class_order: str, names: Sequence[str], name: str) -> None:
    """Refuse numbers as labels of classes whose names have no order."""
    if not CLASS_ORDERS[class_order]:
        return
    rule = f"whole numbers have no meaning as labels here, because {CLASS_ORDERS[class_order]}"
    got = f"the class names are {_shown_names(tuple(names))}"
    remedy = "give the labels by name, or pass class_names= with these names, that of class 0 first"
    fail(name, rule, got, remedy, code="class-order", facts={"names": tuple(names)})


def _check_truth_values(names: Sequence[str] | None, n_classes: int, name: str) -> None:
    """True and False are labels of two classes that are numbered, or called so."""
    if (n_classes == 2 and not names) or (names and {text.lower() for text in names} == {"false", "true"}):
        return
    if names and class_numbers(list(names)) == [0, 1]:
        return
    got = f"the class names are {_shown_names(tuple(names))}" if names else f"there are {n_classes} classes"
    remedy = "give the labels by the names of the classes, or as class indices"
    fail(name, "truth values tell no class here", got, remedy, code="ambiguous")


def single_votes_by_name(votes: FromFile) -> FromFile:
    """Single votes (n, m) of a file with class names, by name, in which the order of these names means nothing more.

    Votes that are no indices of these names stay as they are, and are refused where they are counted.
    """
    own = votes.class_names
    if own is None or votes.dtype.kind not in "iu" or not votes.size or votes.min() < 0 or votes.max() >= len(own):
        return votes
    return FromFile(np.array(own)[np.asarray(votes)], ids=votes.ids, keys=votes.keys)


def check_single_meaning(table: NDArray[Any], name: str = "y_true") -> None:
    """Refuse a table of whole numbers, without names, that may hold the single votes of annotators as well as counts.

    It may where all its values are class indices; rows that all have one sum are counts, because single votes agree in
    their sum by chance alone.
    """
    sums = table.sum(axis=1)
    if len(table) and table.max() < table.shape[1] and (sums != sums[0]).any():
        low, high = int(sums.min()), int(sums.max())
        fail(
            name,
            "may be counts or single votes, because there is one column for each class, all values are class indices and the "
            "sums of the rows differ",
            f"got {len(table)} rows of {table.shape[1]} values with sums from {low} to {high}",
            "pass votes_are='counts' or votes_are='single'",
            code="ambiguous",
            facts={"votes_are": ("counts", "single")},
        )


def class_indices(
    labels: Any, class_names: Sequence[str] | None = None, *, name: str = "y_true", class_order: str = "stated"
) -> NDArray[np.int64]:
    """Class index of each label, ``(n,)``.

    Labels are text, whole numbers, or truth values of two classes. Where the class names are whole numbers, numbers among
    the labels are names.

    Examples
    --------
    >>> class_indices([3, 1], ["1", "2", "3"]).tolist(), class_indices(["b", "a"], ["a", "b"]).tolist()
    ([2, 0], [1, 0])
    >>> class_indices([1, 0], ["a", "b"]).tolist(), class_indices(["1", "0"]).tolist()
    ([1, 0], [1, 0])
    """
    array = _plain_labels(labels, name)
    names = tuple(class_names or ())
    if array.dtype.kind == "b" and {text.lower() for text in names} == {"false", "true"}:
        place = {text.lower() == "true": i for i, text in enumerate(names)}
        return np.where(array, place[True], place[False]).astype(np.int64)
    if array.dtype.kind == "U":
        return _from_text(array, names, name, class_order)
    return _from_numbers(array, names, name, class_order)


def portable_labels(labels: Any, class_names: Sequence[str] | None = None, *, name: str = "labels") -> NDArray[Any]:
    """Labels in a form for files: ``class_indices(portable_labels(y, names), names)`` is ``class_indices(y, names)``.

    Numbers stay numbers. Text becomes indices; if all class names are whole numbers, it becomes these numbers. If only some
    names are whole numbers, it stays text.

    Examples
    --------
    >>> portable_labels(["b", "a"], ["a", "b"]).tolist(), portable_labels(["3", "1"], ["1", "2", "3"]).tolist()
    ([1, 0], [3, 1])
    """
    array = as_array(labels, name)
    if array.ndim != 1:
        return as_numeric(array, name)
    array = _plain_labels(array, name)
    if array.dtype.kind != "U":
        class_indices(array, class_names, name=name)
        return _as_int64(array) if array.dtype.kind == "O" else array
    indices = class_indices(array, class_names, name=name)
    whole = [whole_number_in(text) for text in class_names or ()]
    if any(number is not None for number in whole):
        if None in whole or len(set(whole)) < len(whole):
            return array
        return np.array(whole, dtype=np.int64)[indices]
    return indices


def _plain_labels(labels: Any, name: str) -> NDArray[Any]:
    """Labels as an array of text or numbers; objects must be all text or all whole numbers."""
    array = as_array(labels, name)
    if array.ndim != 1:
        fail(name, "labels must have one dimension", f"got shape {array.shape}", "give one label per row", code="shape")
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind != "O":
        return array if array.dtype.kind == "U" else as_numeric(array, name)
    items = array.tolist()
    if all(isinstance(item, str) for item in items):
        return np.array(items, dtype=np.str_)
    if all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) for item in items):
        return array
    first = type(items[0])
    odd = next(
        (row for row, item in enumerate(items) if not isinstance(item, (str, int)) or type(item) is not first), 0
    )
    got = f"row {odd} holds {items[odd]!r:.40}"
    remedy = "drop rows without a label, and give all others in one form"
    fail(name, "labels must be all text or all whole numbers", got, remedy, code="type")


def _from_text(labels: NDArray[Any], names: tuple[str, ...], name: str, order: str) -> NDArray[np.int64]:
    distinct, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    texts: list[str] = distinct.tolist()
    place = {text: i for i, text in enumerate(names)}
    if not any(text in place for text in texts):
        texts = _like_columns(texts, place)
    numbers = [whole_number_in(text) for text in texts]
    if not any(text in place for text in texts) and None not in numbers:  # a column of numbers read as text
        return _from_numbers(np.array(numbers, dtype=object)[inverse], names, name, order)
    unknown = [i for i, text in enumerate(texts) if text not in place]
    if unknown:
        at = min(unknown, key=lambda i: first[i])
        ignorable = len(unknown) == 1 < len(texts)  # one text that is no class marks instances without a label
        known = f"the class names are {_shown_names(names)}" if names else "there are no class names"
        fail(
            name,
            "labels given as text must be class names",
            f"row {first[at]} holds {texts[at]!r:.60} and {known}",
            f"give the labels by these names, or leave such rows out, in uq.assay by ignore_label={texts[at]!r}"
            if ignorable
            else "give the labels by these names, or pass the right class_names"
            if names
            else "pass class_names in the order of the columns (classes_ of a classifier of scikit-learn), or labels 0, 1, …",
            code="class-names",
            facts={"found": texts, "named": bool(names)} | ({"ignorable": texts[at]} if ignorable else {}),
        )
    return np.array([place[text] for text in texts], dtype=np.int64)[inverse]


def _like_columns(texts: list[str], place: Mapping[str, int]) -> list[str]:
    """Labels as their columns are named without decoration: ``class_3`` is a label where the columns are ``class_0``, …"""
    plain, decorated = undecorated(texts)
    if decorated and (all(text in place for text in plain) if place else all(text.isdecimal() for text in plain)):
        return plain
    trimmed = [text.strip() for text in texts]
    return trimmed if all(text in place for text in trimmed) else texts


def _from_numbers(labels: NDArray[Any], names: tuple[str, ...], name: str, order: str) -> NDArray[np.int64]:
    check_whole_numbers(labels, name)
    own = class_numbers(names, order) if len(set(names)) == len(names) else None
    numbers: list[int | None] = list(own) if own is not None else [whole_number_in(text) for text in names]
    if all(number is None or number == i for i, number in enumerate(numbers)):
        if names and None in numbers:
            check_order(order, names, name)
        return _as_int64(labels)
    place = {number: i for i, number in enumerate(numbers)}
    if None in place or len(place) < len(names):
        rule = "a whole number could mean the index or the name of a class, because some class names are whole numbers"
        got = f"the class names are {_shown_names(names)}"
        fail(name, rule, got, "give the labels as text, by the names of the classes", code="ambiguous")
    distinct, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    values = [int(value) for value in distinct.tolist()]
    unknown = [i for i, value in enumerate(values) if value not in place]
    if unknown:
        at = min(unknown, key=lambda i: first[i])
        rule = "whole numbers must be names of classes, because the class names are whole numbers or end in them"
        got = f"row {first[at]} holds {values[at]} and the class names are {_shown_names(names)}"
        remedy = "give the labels by these names, or leave class_names out and give indices"
        fail(name, rule, got, remedy, code="class-names")
    return np.array([place[value] for value in values], dtype=np.int64)[inverse]


def _shown_names(names: tuple[str, ...]) -> str:
    """The first eight class names for a message."""
    return ", ".join(map(named, names[:8])) + (" …" if len(names) > 8 else "")


def _as_int64(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as int64. Numbers beyond 64 bits are no class index and are clipped."""
    if labels.dtype.kind == "O":
        labels = np.array([max(-(2**63), min(value, 2**63 - 1)) for value in labels.tolist()], dtype=np.int64)
    elif labels.dtype.kind == "f":
        labels = np.clip(labels.astype(np.float64), -(2.0**62), 2.0**62)
    elif labels.dtype == np.uint64:
        labels = np.minimum(labels, np.uint64(2**63 - 1))
    return labels.astype(np.int64)


def whole_number_in(text: str) -> int | None:
    """The value of a class name that is a whole number, such as 3 for "3" and "3.0"; None for other names."""
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) and len(text) < 1000 else None
