"""Distributions that lie on another device: what the formulas of members and points need, in the namespace of the array."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import check_rows, row_chunks, tolerance_of
from uqassay._namespaces import compute_dtype, detached, device_of, namespace
from uqassay.errors import InputError
from uqassay.predictions.coercion import as_prediction, raised_as
from uqassay.predictions.probabilities import not_negative
from uqassay.predictions.summation import OrderFreeSum

__all__ = ["DeviceProbs", "first_true", "probs_on_device"]

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
