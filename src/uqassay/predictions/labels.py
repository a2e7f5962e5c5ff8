"""Conversion of labels, names or numbers, to class indices in the order of the predictions.

The meaning of a label:

* Text is the name of a class.
* A whole number is the index of a class (0, 1, 2) if the classes have no names, or no name is a whole number.
* A whole number is the name of a class if all names are whole numbers (1, 2, 3).
* If only some names are whole numbers, a number is ambiguous and refused, unless each of these names equals its index.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array, as_labels, as_numeric, check_whole_numbers
from uqassay.errors import InputError
from uqassay.predictions.pandas_input import in_order_of_ids, positions, take_table
from uqassay.wording import named

__all__ = ["class_indices", "labels_for", "portable_labels", "vote_totals", "whole_number_in"]

MOST_VOTES = 1e15  # of an instance; up to here double precision holds every whole number
_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")  # int() would also accept 1_0 and other digits


def labels_for(
    y_true: Any,
    *,
    n_instances: int,
    n_classes: int,
    ids: NDArray[Any] | None = None,
    class_names: tuple[str, ...] | None = None,
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
    class_names : tuple of str, optional
        Names of the classes, in the order of the predictions.
    n_members : int, optional
        M; if there are M labels, the error names `member_axis`.
    name : str
        Parameter that errors are about.

    Raises
    ------
    InputError
        Labels that are unknown, ambiguous or missing, or a number of labels other than n.
    """
    array = _in_order(y_true, ids, class_names, name)
    if array.ndim == 1:
        array = class_indices(array, class_names, name=name)
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
    if array.ndim != 2:
        return None
    counts = as_numeric(array, name)
    totals = counts.sum(axis=1, dtype=np.float64)
    return np.asarray(totals) if (counts == np.round(counts)).all() and totals.max() <= MOST_VOTES else None


def _in_order(y_true: Any, ids: NDArray[Any] | None, class_names: tuple[str, ...] | None, name: str) -> NDArray[Any]:
    """Labels (n,) or votes (n, K) with rows in the order of the ids, and columns in the order of the class names."""
    if y_true is None:
        raise InputError(name, "must be given", "it is None", "pass the true class of each instance", code="missing")
    table, names, index = take_table(y_true, name)
    array = as_array(table, name)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # a column of labels, not votes
    array = in_order_of_ids(array, index, ids, name)
    if names is not None and class_names is not None and names != class_names:
        array = array[:, positions(names, np.asarray(class_names), name, part="columns", of="the class names")]
    return array


def class_indices(labels: Any, class_names: Sequence[str] | None = None, *, name: str = "y_true") -> NDArray[np.int64]:
    """Class index of each label, ``(n,)``.

    Parameters
    ----------
    labels : array-like (n,)
        Text, whole numbers, or truth values of two classes.
    class_names : sequence of str, optional
        Names of the classes, in the order of the predictions. If they are whole numbers, numbers among the labels are names.
    name : str
        Parameter that errors are about.

    Raises
    ------
    InputError
        A label that is missing, unknown or ambiguous. `labels_for` also refuses indices beyond the number of classes.

    Examples
    --------
    >>> class_indices([3, 1], ["1", "2", "3"]).tolist(), class_indices(["b", "a"], ["a", "b"]).tolist()
    ([2, 0], [1, 0])
    >>> class_indices([1, 0], ["a", "b"]).tolist(), class_indices(["1", "0"]).tolist()
    ([1, 0], [1, 0])
    """
    array = _plain_labels(labels, name)
    names = tuple(class_names or ())
    if array.dtype.kind == "b" and set(names) == {"False", "True"}:
        array = array.astype(str)
    if array.dtype.kind == "U":
        return _from_text(array, names, name)
    return _from_numbers(array, names, name)


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
        raise InputError(
            name, "labels must have one dimension", f"got shape {array.shape}", "give one label per row", code="shape"
        )
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
    raise InputError(
        name,
        "labels must be all text or all whole numbers",
        f"row {odd} holds {items[odd]!r:.40}",
        "drop rows without a label, and give all others in one form",
        code="type",
    )


def _from_text(labels: NDArray[Any], names: tuple[str, ...], name: str) -> NDArray[np.int64]:
    distinct, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    texts: list[str] = distinct.tolist()
    place = {text: i for i, text in enumerate(names)}
    numbers = [whole_number_in(text) for text in texts]
    if not any(text in place for text in texts) and None not in numbers:  # a column of numbers read as text
        return _from_numbers(np.array(numbers, dtype=object)[inverse], names, name)
    unknown = [i for i, text in enumerate(texts) if text not in place]
    if unknown:
        at = min(unknown, key=lambda i: first[i])
        known = f"the class names are {_shown_names(names)}" if names else "there are no class names"
        raise InputError(
            name,
            "labels given as text must be class names",
            f"row {first[at]} holds {texts[at]!r:.60} and {known}",
            "give the labels by these names, or pass the right class_names"
            if names
            else "pass class_names in the order of the columns (classes_ of a classifier of scikit-learn), or labels 0, 1, …",
            code="class-names",
            facts={"found": texts, "named": bool(names)},
        )
    return np.array([place[text] for text in texts], dtype=np.int64)[inverse]


def _from_numbers(labels: NDArray[Any], names: tuple[str, ...], name: str) -> NDArray[np.int64]:
    check_whole_numbers(labels, name)
    numbers = [whole_number_in(text) for text in names]
    if all(number is None or number == i for i, number in enumerate(numbers)):
        return _as_int64(labels)
    place = {number: i for i, number in enumerate(numbers)}
    if None in place or len(place) < len(names):
        raise InputError(
            name,
            "a whole number could mean the index or the name of a class, because some class names are whole numbers",
            f"the class names are {_shown_names(names)}",
            "give the labels as text, by the names of the classes",
            code="ambiguous",
        )
    distinct, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    values = [int(value) for value in distinct.tolist()]
    unknown = [i for i, value in enumerate(values) if value not in place]
    if unknown:
        at = min(unknown, key=lambda i: first[i])
        raise InputError(
            name,
            "whole numbers must be names of classes, because the class names are whole numbers",
            f"row {first[at]} holds {values[at]} and the class names are {_shown_names(names)}",
            "give the labels by these names, or leave class_names out and give indices",
            code="class-names",
        )
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
