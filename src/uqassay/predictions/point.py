"""Point: one distribution per instance, such as a softmax vector or an average of several."""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_class_count, check_rows, index_text, row_chunks, still_whole, tolerance_of
from uqassay._frames import Frame, as_frame
from uqassay.errors import InputError
from uqassay.predictions.base import Array, Prediction
from uqassay.predictions.probabilities import (
    event_and_rest,
    normalised,
    not_negative,
    refuse_truth_values,
    take_probabilities,
)


@dataclass(frozen=True, eq=False, repr=False)
class Point(Prediction):
    """One probability vector per instance; its credal set is a single point.

    Parameters
    ----------
    probs : array (n, K)
        Class probabilities; rows sum to 1 within 1e-6 for float64, 1e-4 for float32, 1e-3 for float16 and 8e-3 for bfloat16.
        A class that is impossible for an instance has the probability 0.
    normalise : bool
        Divide non-negative rows by their sums first.
    log_partition : array (n,), optional
        ln Σ exp(z) of the logits z behind the probabilities, so that z = ln p + log_partition; `from_logits` keeps it. The
        free energy needs it, and the probabilities do not determine it.

    Raises
    ------
    InputError
        Rows that do not sum to 1, negative or non-finite values, one column only.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.7, 0.2, 0.1]])
    >>> p.labels().tolist(), p.n_classes
    ([0], 3)
    """

    probs: NDArray[Any]
    normalise: InitVar[bool] = False
    log_partition: NDArray[Any] | None = field(default=None, kw_only=True)

    def __post_init__(self, normalise: bool) -> None:
        self._take_table("probs")
        probs = take_probabilities(self.probs, "probs", 2)
        tolerance = tolerance_of(self.probs, probs)
        check_class_count(probs.shape[1], "probs")
        if normalise:
            probs = normalised(probs, "probs")
        check_rows(probs, "probs", tolerance=tolerance)
        self._set("probs", probs)
        if self.log_partition is not None:
            self._set("log_partition", checked_log_partition(self.log_partition, probs.shape[:1]))
        self._finish(class_axis_of="probs")

    @classmethod
    def from_logits(cls, logits: ArrayLike, **metadata: Any) -> "Point":
        """Softmax of logits ``(n, K)`` in float64, with their log-partition (0 for log-probabilities).

        A logit of −inf means that the class is impossible for this instance.

        Examples
        --------
        >>> import uqassay as uq
        >>> p = uq.Point.from_logits([[1.0, 1.0]])
        >>> p.probs.tolist(), p.log_partition.round(4).tolist()
        ([[0.5, 0.5]], [1.6931])
        """
        given = as_frame(logits, "logits")
        array = as_numeric(given or logits, "logits", ndim=(1, 2))
        check_class_count(1 if array.ndim == 1 else array.shape[1], "logits")
        probs, log_partition = softmax_and_partition(array, "logits")
        named = probs if given is None else Frame(probs, given.labels)
        return cls(named, log_partition=log_partition, **metadata)  # type: ignore[arg-type]

    @classmethod
    def from_binary(cls, probs: ArrayLike, **metadata: Any) -> "Point":
        """Two columns (1 − p, p) from the probability of class 1, ``(n,)`` or ``(n, 1)``."""
        given = as_frame(probs, "probs")
        column = as_numeric(given or probs, "probs", ndim=(1, 2))
        if column.ndim == 2 and column.shape[1] != 1:
            raise InputError(
                "probs",
                "from_binary takes one column, (n,) or (n, 1)",
                f"got shape {column.shape}",
                "use Point for one column per class",
                code="shape",
            )
        values = two_columns(column.reshape(len(column)))
        return cls(values if given is None else Frame(values, (given.index, None)), **metadata)  # type: ignore[arg-type]

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.probs.shape[1])

    def mean_probs(self) -> Array:
        """The probabilities themselves, ``(n, K)``."""
        return not_negative(self.probs)

    def lower_probs(self) -> Array:
        """The probabilities themselves, ``(n, K)``."""
        return self.mean_probs()

    def upper_probs(self) -> Array:
        """The probabilities themselves, ``(n, K)``."""
        return self.mean_probs()

    def hull_points(self) -> NDArray[Any]:
        """The one point of each set, ``(n, 1, K)``."""
        return self.probs[:, None, :]

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("probs",) if self.log_partition is None else ("probs", "log_partition")

    def _one_versus_rest(self, k: int) -> "Point":
        # the logits z_k and ln Σ_{c≠k} exp(z_c) have the log-partition of all classes
        return Point(event_and_rest(self.probs, k), log_partition=self.log_partition)


def softmax(logits: NDArray[Any], name: str) -> Array:
    """Softmax over the last axis in float64, of logits that `check_logits` accepts."""
    return softmax_and_partition(logits, name)[0]


def softmax_and_partition(logits: NDArray[Any], name: str) -> tuple[Array, Array]:
    """Softmax over the last axis and ln Σ exp(z), in float64, of logits that `check_logits` accepts.

    The log-partition is 0 for log-probabilities: rows whose exp(z) sum to 1 within the tolerance of probabilities. Otherwise
    rounding errors would decide their order.
    """
    check_logits(logits, name)
    check_class_count(logits.shape[-1], name)
    shares = np.array(logits, dtype=np.float64, order="C")  # one memory layout, so sums round alike in every chunk
    top = shares.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):  # a difference that overflows is a probability of 0
        shares -= top
    np.exp(shares, out=shares)
    total = shares.sum(axis=-1, keepdims=True)
    shares /= total
    log_partition = (top + np.log(total))[..., 0]
    log_partition[np.abs(log_partition) <= tolerance_of(logits)] = 0.0
    return shares, log_partition


def check_logits(logits: NDArray[Any], name: str, *, most: float = np.inf) -> None:
    """Refuse truth values, nan, +inf, finite values beyond ±`most`, and rows without a finite logit.

    A logit of −inf is accepted: it means that the class is impossible.
    """
    refuse_truth_values(logits, name, "give the logits themselves")
    for rows in row_chunks(len(logits), logits[:1].nbytes * 2):
        still_whole(logits)
        block = np.asarray(logits[rows])
        finite = np.isfinite(block)
        if most < np.inf and (finite & (np.abs(block) > most)).any():
            row = int(rows.start + np.argwhere(finite & (np.abs(block) > most))[0][0])
            raise InputError(
                name,
                f"logits must lie between {-most:g} and {most:g}",
                f"row {row} exceeds this",
                "repair the row",
                code="range",
            )
        if finite.all():
            continue
        broken = ~finite & (block != -np.inf)
        if broken.any():
            at = np.argwhere(broken)[0]
            raise InputError(
                name,
                "logits must be finite, or −inf for an impossible class",
                f"row {rows.start + at[0]} holds {block[tuple(at)]} at {index_text(rows.start, at)}",
                "drop or repair such rows first",
                code="finite",
                facts={"row": int(rows.start + at[0])},
            )
        impossible = ~finite.any(axis=-1)
        if impossible.any():
            row = int(rows.start + np.argwhere(impossible)[0][0])
            raise InputError(
                name,
                "at least one class must be possible",
                f"row {row} holds −inf alone",
                "drop such rows",
                code="finite",
                facts={"row": row},
            )


def checked_log_partition(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Log-partitions as an array; a wrong shape and non-finite numbers are refused."""
    array = as_numeric(values, "log_partition")
    if array.shape != shape:
        each = "instance" if len(shape) == 1 else "instance and member"
        raise InputError(
            "log_partition",
            f"must be {shape}, one number for each {each}",
            f"got shape {array.shape}",
            "use from_logits, which computes it",
            code="shape",
        )
    check_rows(
        array.reshape(shape[0], -1),
        "log_partition",
        tolerance=0.0,
        unit_sum=False,
        low=-np.inf,
        high=np.inf,
        remedy="use from_logits, which computes it",
    )
    return array


def two_columns(positive: NDArray[Any]) -> NDArray[Any]:
    """(1 − p, p) on a new last axis."""
    tolerance = tolerance_of(positive)
    remedy = 'pass uq.from_object(logits, kind="logits", positive=1) for logits of class 1'
    check_rows(positive[..., None], "probs", tolerance=tolerance, unit_sum=False, remedy=remedy)
    p = np.clip(np.asarray(positive, dtype=np.float64), 0.0, 1.0)
    return np.stack([1.0 - p, p], axis=-1)
