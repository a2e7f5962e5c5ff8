"""Arrays of other libraries, on their devices."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array_support import SUPPORT
from uqassay._namespaces import as_result, compute_dtype, detached, device_of, is_foreign, lies_on_host, like, namespace
from uqassay.arrays import as_array, as_labels, check_rows, row_chunks, tolerance_of
from uqassay.errors import InputError
from uqassay.predictions.adapters import from_object
from uqassay.predictions.base import Prediction
from uqassay.predictions.keys import holds_truth_values
from uqassay.predictions.labels import labels_for
from uqassay.predictions.points import OrderFreeSum, not_negative

__all__ = [
    "HOST_FIELD",
    "DeviceProbs",
    "PredictionLike",
    "as_prediction",
    "as_prediction_here_and_there",
    "first_true",
    "held_elsewhere",
    "keeps_arrays",
    "labels_on_device",
    "probs_on_device",
]


# Conversion of arguments to predictions, shared by all public functions that take predictions.

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


# Distributions that lie on another device: what the formulas of members and points need, in the namespace of the array.

CHUNK_BYTES = 2**28  # temporaries of one chunk: large, because every operation on an accelerator costs a launch


@final
@dataclass(frozen=True, eq=False, repr=False)
class DeviceProbs:
    """Distributions of one array library on one device; its formulas are those of `Members` and `Point`.

    Attributes
    ----------
    probs : array (n, M, K)
        As given; one member for a point.
    is_point : bool
        True if the array was (n, K).
    """

    probs: Any
    is_point: bool
    weights: ClassVar[None] = None
    ids: ClassVar[None] = None
    class_names: ClassVar[None] = None
    xp: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "xp", namespace(self.probs))

    def __reduce__(self) -> tuple[Any, ...]:  # without the namespace, which is a module
        return DeviceProbs, (self.probs, self.is_point)

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return int(self.probs.shape[0])

    @property
    def n_members(self) -> int:
        """Number of members M."""
        return int(self.probs.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.probs.shape[2])

    def __len__(self) -> int:
        return self.n_instances

    def __getitem__(self, rows: slice) -> "DeviceProbs":
        return DeviceProbs(self.probs[rows, :, :], self.is_point)

    def credal(self) -> "DeviceProbs":
        """Itself."""
        return self

    def member(self, m: int) -> Any:
        """Distributions of one member, ``(n, K)``, in the dtype of the computation."""
        return not_negative(self.probs[:, m, :])

    def mean_probs(self) -> Any:
        """Mean of the members, ``(n, K)``."""
        if self.n_members == 1:
            return self.member(0)
        return self.by_chunks(_mean, 6 * self.n_classes)[0]

    def label_probs(self) -> Any:
        """Mean of the members, whose arg max is the predicted class, ``(n, K)``."""
        return self.mean_probs()

    def lower_probs(self) -> Any:
        """Least probability of each class, ``(n, K)``."""
        return not_negative(self.xp.min(self.probs, axis=1))

    def upper_probs(self) -> Any:
        """Greatest probability of each class, ``(n, K)``."""
        return not_negative(self.xp.max(self.probs, axis=1))

    def upper_of_label(self, y: Any) -> Any:
        """Upper probability of the label of each instance, ``(n,)``."""
        places = self.xp.broadcast_to(y[:, None, None], (self.n_instances, self.n_members, 1))
        of_members = self.xp.take_along_axis(self.probs, places, axis=2)[:, :, 0]
        return not_negative(self.xp.max(of_members, axis=1))

    def labels(self) -> Any:
        """Predicted class, ``(n,)``."""
        return self.xp.argmax(self.mean_probs(), axis=1)

    def by_chunks(self, work: Callable[["DeviceProbs"], tuple[Any, ...]], numbers_per_row: int) -> tuple[Any, ...]:
        """The arrays of ``work(part)`` for consecutive rows, joined; a row takes so many numbers in temporaries."""
        found = [work(self[rows]) for rows in row_chunks(len(self), 8 * numbers_per_row, chunk_bytes=CHUNK_BYTES)]
        if len(found) == 1:
            return found[0]
        return tuple(self.xp.concat(list(parts), axis=0) for parts in zip(*found, strict=True))

    def agree_in_class(self) -> Any:
        """True where all members agree in a class to the last few bits, ``(n, K)``."""
        xp, first = self.xp, self.member(0)
        bound = 4 * float(xp.finfo(first.dtype).eps) * first
        agree = first >= 0.0
        for m in range(1, self.n_members):
            agree = agree & (xp.abs(self.member(m) - first) <= bound)
        return agree

    def agree(self) -> Any:
        """True for instances whose members agree in all classes, ``(n,)``."""
        return self.xp.all(self.agree_in_class(), axis=1)

    def zeros(self, *shape: int) -> Any:
        """Zeros in the dtype of the computation."""
        return self.xp.zeros(shape, dtype=compute_dtype(self.probs), device=device_of(self.probs))

    def given(self, values: Any) -> Any:
        """Numbers from the host, such as weights of events, as an array of the dtype of the computation on this device."""
        dtype = compute_dtype(self.probs)
        wide = np.array(values, dtype=np.float64 if dtype == self.xp.float64 else np.float32)
        return self.xp.asarray(wide, dtype=dtype, device=device_of(self.probs))

    def whole(self, values: Any) -> Any:
        """Whole numbers from the host as an array of indices on this device."""
        device = device_of(self.probs)
        dtype = self.xp.__array_namespace_info__().default_dtypes(device=device)["indexing"]
        wide = np.array(values, dtype=np.int64 if dtype == self.xp.int64 else np.int32)
        return self.xp.asarray(wide, dtype=dtype, device=device)


def _mean(part: DeviceProbs) -> tuple[Any]:
    total = OrderFreeSum((len(part), part.n_classes), part.zeros(0))
    for m in range(part.n_members):
        total.add(part.member(m))
    return (total.value() / part.n_members,)


def probs_on_device(values: Any, name: str = "prediction") -> DeviceProbs:
    """Probabilities (n, K) or (n, M, K) on another device, checked there; a row is copied only to name it in an error.

    Raises
    ------
    InputError
        As for `Point` and `Members`.
    """
    values, shape = detached(values, name), tuple(int(size) for size in values.shape)
    if len(shape) not in (2, 3) or 0 in shape or shape[-1] < 2:
        as_prediction(np.broadcast_to(0.5, shape), name)  # refuses the shape
    xp = namespace(values)
    if values.dtype == xp.bool:
        check_rows(np.ones((1, *shape[1:]), dtype=bool), name, tolerance=0.0)  # refuses truth values
    if not xp.isdtype(values.dtype, "real floating"):  # 0 and 1 as whole numbers
        values = xp.astype(values, compute_dtype(values))
    probs = DeviceProbs(values if len(shape) == 3 else values[:, None, :], len(shape) == 2)
    _check(probs, name)
    return probs


def _check(probs: DeviceProbs, name: str) -> None:
    """`check_rows` on the device; only the rows that an error is about are copied."""
    xp, tolerance = probs.xp, tolerance_of(probs.probs)
    numbers = 4 * probs.n_members * probs.n_classes

    def valid(part: DeviceProbs) -> tuple[Any]:
        least, most = xp.min(part.probs, axis=(1, 2)), xp.max(part.probs, axis=(1, 2))  # nan if one is nan
        return ((least >= -tolerance) & (most <= 1.0 + tolerance) & xp.all(_sums_to_one(part, tolerance), axis=1),)

    if bool(xp.all(probs.by_chunks(valid, numbers)[0])):
        return

    def faults(part: DeviceProbs) -> tuple[Any, ...]:  # in the order in which `check_rows` finds them
        p = part.probs
        finite, inside = xp.isfinite(p), (p >= -tolerance) & (p <= 1.0 + tolerance)
        of_value = tuple(~xp.all(fine, axis=(1, 2)) for fine in (finite, inside))
        return (*of_value, ~xp.all(_sums_to_one(part, tolerance), axis=1))

    # the remedy depends on all rows: whether all can be normalised, whether all are 0 and 1
    def remedies(part: DeviceProbs) -> tuple[Any, Any]:
        p = part.probs
        cannot = xp.any(p < 0, axis=(1, 2)) | ~xp.all(xp.max(p, axis=2) > 0, axis=1)
        return cannot, ~xp.all((p == 0) | (p == 1), axis=(1, 2))

    broken = next(found for found in probs.by_chunks(faults, numbers) if bool(xp.any(found)))
    first, *others = (first_true(xp, found) for found in (broken, *probs.by_chunks(remedies, numbers)))
    rows = [_on_host(probs, row) for row in (first, *others) if row is not None]
    try:
        check_rows(np.stack(rows), "probs", tolerance=tolerance, first_row=first or 0)
    except InputError as problem:
        raise raised_as(problem, None, name) from problem


def _sums_to_one(part: DeviceProbs, tolerance: float) -> Any:
    sums = part.xp.sum(part.xp.astype(part.probs, compute_dtype(part.probs)), axis=2)
    return part.xp.abs(sums - 1.0) <= tolerance


def first_true(xp: Any, mask: Any) -> int | None:
    """Number of the first row that is True, or None."""
    return int(xp.argmax(xp.astype(mask, xp.int32))) if bool(xp.any(mask)) else None


def _on_host(probs: DeviceProbs, row: int) -> NDArray[np.float64]:
    """One row, number by number, because not every library copies an array to NumPy."""
    values = [[float(probs.probs[row, m, k]) for k in range(probs.n_classes)] for m in range(probs.n_members)]
    return np.array(values[0] if probs.is_point else values)


# Functions of predictions that take arrays of other libraries, and return theirs: on the same device, of the same
# library.

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


# Labels for predictions on another device: checked where they lie, or moved there from the host.


def labels_on_device(y_true: Any, prediction: DeviceProbs, name: str = "y_true") -> Any:
    """Labels ``(n,)`` or label distributions ``(n, K)`` on the device of the prediction.

    Raises
    ------
    InputError
        As for `labels_for`; labels on another device than the prediction.
    """
    n, n_classes = prediction.n_instances, prediction.n_classes
    sizes = {
        "n_instances": n,
        "n_classes": n_classes,
        "n_members": None if prediction.is_point else prediction.n_members,
    }
    if not is_foreign(y_true) or lies_on_host(y_true):
        y = labels_for(y_true, name=name, **sizes)  # type: ignore[arg-type]
        return prediction.whole(y) if y.ndim == 1 else prediction.given(y)
    here, there = (device_of(values) for values in (y_true, prediction.probs))
    if namespace(y_true) is not prediction.xp or here != there:
        raise InputError(
            name,
            f"must be on the host or on the device of the predictions, {there}",
            f"got {type(y_true).__name__} on {here}",
            "move the labels there",
            code="mismatch",
        )
    if tuple(y_true.shape) not in ((n,), (n, n_classes)):
        kind = np.float64 if namespace(y_true).isdtype(y_true.dtype, "real floating") else np.int64
        labels_for(np.zeros(tuple(y_true.shape), dtype=kind), name=name, **sizes)  # type: ignore[arg-type]
    return _indices(y_true, prediction, name) if y_true.ndim == 1 else _distributions(y_true, prediction, name)


def _indices(y_true: Any, prediction: DeviceProbs, name: str) -> Any:
    xp, dtype = prediction.xp, prediction.whole([0]).dtype
    if xp.isdtype(y_true.dtype, "real floating"):
        valid = (y_true == xp.round(y_true)) & (y_true >= 0) & (y_true < prediction.n_classes)
    else:
        y_true = xp.astype(y_true, dtype)
        valid = (y_true >= 0) & (y_true < prediction.n_classes)
    row = first_true(xp, ~valid)
    if row is not None:
        as_labels([float(y_true[i]) for i in range(y_true.shape[0])], prediction.n_classes, name=name)
    return xp.astype(y_true, dtype)


def _distributions(y_true: Any, prediction: DeviceProbs, name: str) -> Any:
    xp = prediction.xp
    counts = xp.astype(y_true, compute_dtype(prediction.probs))
    with np.errstate(over="ignore"):
        totals = xp.sum(counts, axis=1, keepdims=True)
    valid = xp.all(xp.isfinite(counts) & (counts >= 0), axis=1) & (totals[:, 0] > 0)
    row = first_true(xp, ~valid)
    if row is not None:
        shares = np.array([[float(counts[row, k]) for k in range(prediction.n_classes)]])
        as_labels(shares, prediction.n_classes, name=name, first_row=row)
    counts = xp.where(xp.isinf(totals), counts / xp.max(counts, axis=1, keepdims=True), counts)
    return counts / xp.sum(counts, axis=1, keepdims=True)
