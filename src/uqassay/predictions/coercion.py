"""The one door: what a public function takes where it asks for a prediction."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.predictions.adapters import from_object
from uqassay.predictions.base import Prediction

__all__ = ["PredictionLike", "as_prediction"]

PredictionLike = Prediction | ArrayLike


def as_prediction(value: Any, name: str = "prediction") -> Prediction:
    """Return the prediction that a value states: itself, or the one that `from_object` makes of it.

    Parameters
    ----------
    value : Prediction or array-like
        A `Prediction` (or an object with its methods) is returned as it is. An array (n, K) becomes a `Point`, an array
        (n, M, K) `Members`. Objects of other libraries and mappings go through `from_object`.
    name : str
        Parameter that errors are about.

    Returns
    -------
    Prediction

    Raises
    ------
    InputError
        A value of no known form, or one that breaks a rule of its kind.

    Examples
    --------
    >>> as_prediction([[0.7, 0.3]])
    Point(probs=(1, 2))
    """
    if isinstance(value, Prediction) or callable(getattr(value, "upper_probs", None)):
        return value
    try:
        return from_object(value)
    except InputError as problem:
        if isinstance(value, Mapping) and problem.parameter != "obj":
            raise problem.inside(name) from problem  # prediction.lower
        raise problem.replace(parameter=name) from problem
