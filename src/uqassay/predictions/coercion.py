"""Conversion of arguments to predictions, shared by all public functions that take predictions."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.predictions.adapters import from_object
from uqassay.predictions.base import Prediction

__all__ = ["PredictionLike", "as_prediction", "raised_as"]

PredictionLike = Prediction | ArrayLike


def as_prediction(value: Any, name: str = "prediction") -> Prediction:
    """Convert a value to a prediction.

    Parameters
    ----------
    value : Prediction or array-like
        A `Prediction`, or an object with its methods, is returned unchanged. An array (n, K) becomes a `Point`, one of truth
        values `ClassSets`, and an array (n, M, K) `Members`. `from_object` converts mappings and objects of other libraries.
    name : str
        Parameter that errors are about.

    Returns
    -------
    Prediction

    Raises
    ------
    InputError
        A value of unknown form, or one that breaks a rule of its kind.

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
        raise raised_as(problem, value, name) from problem


def raised_as(problem: InputError, value: Any, name: str) -> InputError:
    """The error of a value that becomes a prediction, about the parameter of the function that took it."""
    if problem.parameter == "variance_is" and problem.code == "missing":
        remedy = 'make it by uq.from_object(…, variance_is="aleatoric") or variance_is="epistemic"'
        return problem.replace(parameter=f"{name}.variance_is", remedy=remedy)
    if isinstance(value, Mapping) and problem.parameter != "obj":
        return problem.inside(name)  # prediction.lower
    # normalise is no option of the calling function
    if problem.facts.get("look") == "counts" and problem.facts.get("axis") is None:
        remedy = (
            "pass uq.Point or uq.Members with normalise=True if these are counts, per cent or rounded, or from_logits"
        )
        return problem.replace(parameter=name, remedy=remedy)
    return problem.replace(parameter=name)
