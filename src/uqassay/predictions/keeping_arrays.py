"""Functions of predictions that take arrays of other libraries, and return theirs: on the same device, of the same library."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from uqassay._array import as_array
from uqassay._array_support import SUPPORT
from uqassay._namespaces import as_result, compute_dtype, is_foreign, lies_on_host, like, namespace
from uqassay.predictions.base import Prediction
from uqassay.predictions.coercion import as_prediction
from uqassay.predictions.device_probs import DeviceProbs, probs_on_device
from uqassay.predictions.keys import holds_truth_values

__all__ = ["HOST_FIELD", "as_prediction_here_and_there", "held_elsewhere", "keeps_arrays"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

HOST_FIELD = {"host": True}  # metadata of a field whose array is not one number per instance and stays with NumPy


def keeps_arrays(function: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Decorator: probabilities in an array of another library give results in that library, as `SUPPORT` declares.

    NumPy views an array on the host without a copy, so the function is called as for NumPy and its results are handed back. For
    an array on another device the function is called with `DeviceProbs`, if its formulas compute there with these options;
    otherwise with a copy on the host.
    """
    support = SUPPORT[function]

    def decorate(call: Callable[Given, Result]) -> Callable[Given, Result]:
        names = tuple(inspect.signature(call).parameters)
        name = next(n for n in ("prediction", "probs") if n in names)
        at = names.index(name)

        @wraps(call)
        def with_arrays(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            given = args[at] if len(args) > at else kwargs.get(name)
            if not is_foreign(given):
                return call(*args, **kwargs)
            options: dict[str, Any] = dict(zip(names, args, strict=False)) | kwargs
            named: Callable[..., Result] = call
            on_host = lies_on_host(given) or holds_truth_values(given)  # class sets have no device path
            if on_host or not support.computes_natively(options, one_label_each=_one_label_each(options)):
                found = named(**options | {name: as_array(given, name)})
                return _mapped(found, lambda v: isinstance(v, np.ndarray), lambda v: like(v, given))
            probs = given if name == "probs" else probs_on_device(given, name)
            found = named(**options | {name: probs})
            return _mapped(found, is_foreign, lambda v: as_result(v, given))

        return with_arrays

    return decorate


def as_prediction_here_and_there(value: Any, name: str = "prediction") -> Prediction:
    """`as_prediction`; of an array on a device with float64, `held_elsewhere` then gives the array itself. Slices forget it."""
    prediction = as_prediction(value, name)
    there = is_foreign(value) and not lies_on_host(value) and not holds_truth_values(value)
    if there and compute_dtype(value) == namespace(value).float64:
        object.__setattr__(prediction, "_elsewhere", probs_on_device(value, name))
    return prediction


def held_elsewhere(prediction: Prediction) -> DeviceProbs | None:
    """The probabilities on the device that a prediction was copied from, or None."""
    return getattr(prediction, "_elsewhere", None)


def _one_label_each(options: Mapping[str, Any]) -> bool:
    """Whether the labels, if the function takes any, are not distributions."""
    y_true = options.get("y_true")
    if isinstance(y_true, (list, tuple)):
        return not (y_true and isinstance(y_true[0], (list, tuple, np.ndarray)))
    return len(getattr(y_true, "shape", ())) != 2


def _mapped(found: Any, is_array: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """A result with its arrays changed: an array, or a dataclass of arrays and numbers."""
    if is_array(found):
        return change(found)
    if not is_dataclass(found) or isinstance(found, type):
        return found
    values = {f.name: getattr(found, f.name) for f in fields(found)}
    kept = {f.name for f in fields(found) if f.metadata == HOST_FIELD}
    changed = {key: change(v) if is_array(v) and key not in kept else v for key, v in values.items()}
    return type(found)(**changed)
