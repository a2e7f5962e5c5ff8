"""Labels of any kind as class indices."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array
from uqassay.errors import InputError

__all__ = ["coded_labels", "labels_of_rows"]


def labels_of_rows(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Labels as an array, one for each row of X.

    Raises
    ------
    InputError
        Another shape, a masked array, or missing values of pandas.
    """
    labels = as_array(y, "y")
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InputError(
            "y",
            "must hold one label for each row of X",
            f"got shape {labels.shape} for {n_rows} rows",
            "give one label for each instance",
            code="shape",
        )
    return labels


def coded_labels(parts: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct labels as text, sorted, and the place of each label among them, part after part.

    Parameters
    ----------
    parts : dict of str to array (n,)
        Labels by the name of the argument, for errors.

    Raises
    ------
    InputError
        A part with more than one axis, a missing label, or labels of several types.

    Examples
    --------
    >>> names, codes = coded_labels({"y": np.array(["b", "a", "b"])})
    >>> names, codes.tolist()
    (('a', 'b'), [1, 0, 1])
    """
    for name, part in parts.items():
        if part.ndim != 1:
            got = f"got shape {part.shape}"
            raise InputError(name, "must hold one label for each row", got, "give one axis", code="shape")
        missing = [i for i, label in enumerate(part.tolist()) if label is None or label != label]
        if missing:
            remedy = "fill in missing labels, or drop such rows"
            raise InputError(
                name, "must hold a label in each row", f"row {missing[0]} has none", remedy, code="missing"
            )
    every = list(parts.values())
    try:
        names, codes = np.unique(np.concatenate(every), return_inverse=True)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for part in every for label in part.tolist()})
        got = f"got {' and '.join(kinds)}"
        raise InputError("y", "must hold labels of one type", got, "convert all to text", code="type") from problem
    return tuple(str(name) for name in names.tolist()), codes.astype(np.int64)
