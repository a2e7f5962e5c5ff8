"""Row numbers of a prediction that is part of a longer one: seeded draws are keyed by them."""

from copy import copy
from typing import TypeVar

import numpy as np

from uqassay.predictions.base import Prediction

__all__ = ["numbered"]

AnyPrediction = TypeVar("AnyPrediction", bound=Prediction)


def numbered(prediction: AnyPrediction, first_row: int) -> AnyPrediction:
    """The prediction with its rows counted from `first_row`; a slice keeps the numbers that it had in the whole.

    Examples
    --------
    >>> import uqassay as uq
    >>> whole = uq.Dirichlet([[2.0, 1.0], [1.0, 3.0]])
    >>> part = numbered(uq.Dirichlet([[1.0, 3.0]]), 1)
    >>> bool((part.hull_points()[0] == whole.hull_points()[1]).all())
    True
    """
    if prediction.row_numbers is not None:
        return prediction
    same = copy(prediction)
    object.__setattr__(same, "row_numbers", np.arange(first_row, first_row + prediction.n_instances))
    return same
