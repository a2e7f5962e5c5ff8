"""Columns of the classes that a model's sets do not rule out: whether the label is among them, and how many they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.undominated import CLASS_RULES
from uqassay.measures.class_sets import class_sets_by_rule
from uqassay.metrics.sets.class_set_scores import share_covered
from uqassay.predictions import Prediction

__all__ = ["SET_COLUMNS", "covered_column", "set_columns", "size_column"]


def covered_column(rule: str) -> str:
    """Name of the column of coverage: 1 if the label is not ruled out, of label distributions the share that is not."""
    return f"covered-by-{rule}"


def size_column(rule: str) -> str:
    """Name of the column of sizes, the numbers of classes that are not ruled out."""
    return f"set-size-by-{rule}"


SET_COLUMNS = tuple(name(rule) for rule in CLASS_RULES for name in (covered_column, size_column))


def set_columns(y: NDArray[Any], prediction: Prediction) -> dict[str, NDArray[np.float64]]:
    """The columns of a prediction and its labels, ``(n,)`` each, by name.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> found = set_columns(np.array([1]), uq.Members([[[0.7, 0.3], [0.4, 0.6]]]))
    >>> found["covered-by-maximality"].tolist(), found["set-size-by-maximality"].tolist()
    ([1.0], [2.0])
    """
    found = {}
    for rule, sets in class_sets_by_rule(prediction).items():
        found[covered_column(rule)] = share_covered(y, sets)
        found[size_column(rule)] = sets.sum(axis=1).astype(np.float64)
    return found
