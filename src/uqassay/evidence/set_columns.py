"""Columns of the classes that a model's sets do not rule out: whether the label is among them, and how many they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.undominated import CLASS_RULES
from uqassay.measures.class_sets import class_sets_by_rule
from uqassay.metrics.sets.class_set_scores import share_covered
from uqassay.predictions import Prediction

__all__ = ["SET_COLUMNS", "covered_column", "rules_for", "set_columns", "size_column"]

# Most classes at which an assay uses a rule. The time grows with the square of the classes that are left, and for
# E-admissibility with a linear program for each of them: at most 2 s for 10,000 instances of vague sets.
MOST_CLASSES = {"maximality": 32, "e-admissibility": 16}


def rules_for(n_classes: int) -> tuple[str, ...]:
    """Rules that an assay of so many classes uses.

    Examples
    --------
    >>> rules_for(10), rules_for(100)
    (('interval-dominance', 'maximality', 'e-admissibility'), ('interval-dominance',))
    """
    return tuple(rule for rule in CLASS_RULES if n_classes <= MOST_CLASSES.get(rule, n_classes))


def covered_column(rule: str) -> str:
    """Name of the column of coverage: 1 if the label is not ruled out, of label distributions the share that is not."""
    return f"covered-by-{rule}"


def size_column(rule: str) -> str:
    """Name of the column of sizes, the numbers of classes that are not ruled out."""
    return f"set-size-by-{rule}"


SET_COLUMNS = tuple(name(rule) for rule in CLASS_RULES for name in (covered_column, size_column))


def set_columns(y: NDArray[Any], prediction: Prediction) -> dict[str, NDArray[np.float64]]:
    """The columns of a prediction and its labels, ``(n,)`` each, by name; of the rules for so many classes.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> found = set_columns(np.array([1]), uq.Members([[[0.7, 0.3], [0.4, 0.6]]]))
    >>> found["covered-by-maximality"].tolist(), found["set-size-by-maximality"].tolist()
    ([1.0], [2.0])
    """
    found = {}
    for rule, sets in class_sets_by_rule(prediction, last=rules_for(prediction.n_classes)[-1]).items():
        found[covered_column(rule)] = share_covered(y, sets)
        found[size_column(rule)] = sets.sum(axis=1).astype(np.float64)
    return found
