"""Classes of a prediction, and values of classes, in the order of given names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric
from uqassay._frames import as_frame, positions, says_more
from uqassay.errors import InputError
from uqassay.predictions.base import Prediction
from uqassay.predictions.columns import class_numbers
from uqassay.predictions.drawn import Drawn
from uqassay.predictions.masses import Masses
from uqassay.predictions.pandas_input import take_table

__all__ = ["classes_in_order", "label_columns", "values_of_classes"]


def classes_in_order(
    prediction: Prediction, names: Sequence[str] | None, parameter: str, *, of: str = "the other prediction"
) -> Prediction:
    """The same statement with its classes in the order of these names; as it is if one of the two has no names.

    Raises
    ------
    InputError
        Other names.
    """
    own = prediction.class_names
    if names is None or own is None or own == tuple(names):
        return prediction
    order = positions(np.array(own), np.array(names), f"{parameter}.class_names", part="names", of=of)
    # a number as a label may mean one order or the other, unless it is the name of a class
    differs = prediction.class_order if class_numbers(own, prediction.class_order) else "differs"
    if isinstance(prediction, Masses):
        moved = {"focal_sets": prediction.focal_sets[:, order]}
        return replace(prediction, class_names=tuple(names), class_order=differs, **moved)
    drawn = isinstance(prediction, Drawn) and prediction.drawn is not None
    moved = {
        name: getattr(prediction, name)[..., order]
        for name in (*prediction.array_names(), *(["drawn"] if drawn else []))
        if name not in ("weights", "log_partition") and getattr(prediction, name).shape[-1] == prediction.n_classes
    }
    return replace(prediction, class_names=tuple(names), class_order=differs, **moved)


def values_of_classes(values: Any, class_names: Sequence[str] | None, n_classes: int, name: str) -> NDArray[Any]:
    """Numbers for each class, or each pair of classes, in the order of the classes; labels of a table or column name them.

    Classes without names are 0 … K−1. A default index says nothing about classes that have names.

    Raises
    ------
    InputError
        Labels other than the classes.

    Examples
    --------
    >>> import pandas as pd
    >>> values_of_classes(pd.Series([1, 2], index=["dog", "cat"]), ("cat", "dog"), 2, "prior").tolist()
    [2, 1]
    """
    frame = as_frame(values, name)
    if frame is None:
        return as_numeric(values, name)
    wanted = np.array(class_names if class_names is not None else range(n_classes))
    for axis, labels in enumerate(frame.labels):
        if labels is not None and (says_more(labels) or not says_more(wanted)):
            places = positions(labels, wanted, name, part="labels", of="the classes")
            known = all(other is not None and says_more(other) for other in frame.labels)
            if not known and (places != np.arange(len(places))).any():
                raise InputError(
                    name,
                    "needs the classes as labels of rows and columns, because one of them stands in another order",
                    "got one of them",
                    "label both, or put them in the order of the classes",
                    code="ids",
                )
            frame = frame.moved(places, axis)
    return as_numeric(frame, name)


def label_columns(values: Any, class_names: Sequence[str], name: str) -> Any:
    """Label distributions (n, K) with their columns in the order of the classes; as they are without names.

    Raises
    ------
    InputError
        Columns other than the classes.
    """
    array, names, _ = take_table(values, name)
    if names is None:
        return array
    return array[:, positions(names, class_names, name, part="columns", of="the class names")]
