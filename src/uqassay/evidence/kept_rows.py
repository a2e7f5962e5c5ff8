"""Some instances of a model's runs, kept from a longer test set, and asked for by their row numbers in the whole."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.predictions import Prediction

__all__ = ["Kept", "joined_predictions", "rows_of"]

Kept = NDArray[np.int64] | None  # ascending row numbers of the instances that a prediction holds; None: it holds all


def rows_of(run: Prediction, rows: NDArray[Any], kept: Kept) -> Prediction:
    """The instances of these row numbers, of a prediction that holds those in `kept`.

    Raises
    ------
    LookupError
        An instance that was not kept.

    Examples
    --------
    >>> import uqassay as uq
    >>> held = uq.Point([[0.9, 0.1], [0.3, 0.7]])  # rows 2 and 5 of a longer one
    >>> rows_of(held, np.array([5]), np.array([2, 5])).probs.tolist()
    [[0.3, 0.7]]
    """
    if kept is None:
        return run[rows]
    places = np.searchsorted(kept, rows)
    if not np.array_equal(kept[np.minimum(places, len(kept) - 1)], rows):
        raise LookupError("rows of a stream that were not kept")
    return run[places]


def joined_predictions(parts: list[Prediction]) -> Prediction:
    """Consecutive parts of one prediction as one; whatever does not belong to single instances is that of the first part."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole = object.__new__(type(first))  # without __post_init__, because the values are valid already
    per_instance = (*first.array_names(), "ids", "groups", "row_numbers")
    for field in fields(first):
        value = getattr(first, field.name)
        if value is not None and field.name in per_instance:
            value = np.concatenate([getattr(part, field.name) for part in parts])
            value.flags.writeable = False
        object.__setattr__(whole, field.name, value)
    return whole
