"""Class probabilities that a prediction keeps once they are computed: its mean, its lower and its upper probabilities."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import taken

__all__ = ["REMEMBERED", "Held", "held_rows", "remembered"]

REMEMBERED = ("mean_probs", "lower_probs", "upper_probs")
Held = dict[str, NDArray[np.float64]]


def remembered(method: Callable[[Any], NDArray[np.float64]]) -> Callable[[Any], NDArray[np.float64]]:
    """A method without arguments whose result a remembering prediction computes once; the array is then read-only."""
    name = method.__name__

    @wraps(method)
    def once(self: Any) -> NDArray[np.float64]:
        held: Held | None = self._held
        if held is None:
            return method(self)
        if name not in held:
            values = method(self).view()
            values.flags.writeable = False
            held[name] = values
        return held[name]

    return once


def held_rows(held: Held | None, rows: Any) -> Held | None:
    """The part of what is held that belongs to some of the instances."""
    return None if held is None else {name: taken(values, rows) for name, values in held.items()}
