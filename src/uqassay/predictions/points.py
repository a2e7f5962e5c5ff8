"""One distribution for each instance, or several members: `Point` and `Members`."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import (
    CACHE_BYTES,
    REMEDIES,
    Floats,
    as_numeric,
    check_class_count,
    check_rows,
    draw_per_row,
    generator,
    index_text,
    near,
    release,
    rounding,
    row_chunks,
    still_whole,
    tolerance_of,
)
from uqassay.checks import fail, whole
from uqassay.credal.intervals import intersection_probability
from uqassay.frames import Frame, as_frame
from uqassay.native import kernel
from uqassay.notes import Note
from uqassay.predictions.base import CORE_BYTES, Prediction
from uqassay.text import shown

__all__ = [
    "Box",
    "OrderFreeSum",
    "event_and_rest",
    "member_rows",
    "member_shares",
    "member_sums",
    "normalised",
    "not_negative",
    "not_normalisable",
    "refuse_truth_values",
    "sum_over_classes",
    "take_probabilities",
]


# Checks and arithmetic on rows of probabilities, shared by the kinds of prediction.


def take_probabilities(values: Any, name: str, ndim: int) -> NDArray[Any]:
    """An array with `ndim` axes; one axis instead of two is refused with the remedy for probabilities of class 1."""
    array = as_numeric(values, name)
    if array.ndim == 1 and ndim == 2 and array.size:
        remedy = "pass the probabilities of class 1 to Point.from_binary or Members.from_binary"
        fail(name, "must be (n, K), one column per class", f"got shape {array.shape}", remedy, code="one-column")
    return as_numeric(array, name, ndim=ndim)


def refuse_truth_values(array: NDArray[Any], name: str, remedy: str) -> None:
    """Refuse a boolean array where numbers are needed."""
    if array.dtype == bool:
        fail(name, "must hold numbers", "got truth values", remedy, code="type")


def normalised(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Non-negative rows divided by their sums; a value that rounding made negative counts as 0."""
    if array.dtype == bool:
        check_rows(array, name, tolerance=0.0)  # refuses truth values as sets of classes
    values = np.asarray(array, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # inf − inf; such rows are refused below
        totals = values.sum(axis=-1, keepdims=True)
        rounded = (values < 0) & (values >= -tolerance_of(array) * np.maximum(totals, 1.0))  # such as −2e-16
        if rounded.any():
            values = np.where(rounded, 0.0, values)
            totals = values.sum(axis=-1, keepdims=True)
    broken = ~(np.isfinite(values) & (values >= 0)).all(axis=-1) | ~(totals[..., 0] > 0)
    if broken.any():
        at = tuple(np.argwhere(broken)[0])
        row = values[at]
        odd = ~(np.isfinite(row) & (row >= 0))
        fail(
            name,
            "normalise=True needs finite, non-negative rows with a positive sum",
            f"row {at[0]} holds {row[odd][0]:g}" if odd.any() else f"all of row {at[0]} is 0",
            "use Point.from_logits (Members.from_logits) if these are logits, or drop such rows",
            code="not-probabilities",
            facts={"row": int(at[0]), "look": "logits", "normalising": "rows"},
        )
    if (other := not_normalisable(values)).any():
        row, inside = int(np.argwhere(other)[0][0]), bool((values <= 1).all())
        fail(
            name,
            "normalise=True repairs rounding, per cent and counts: rows that sum to 1 or 100 within 1 %, or whole numbers",
            f"row {row} sums to {float(totals[tuple(np.argwhere(other)[0])][0]):.6g}",
            REMEDIES["sigmoids"]
            if inside
            else "leave out what is no probability of a class, or divide the rows by their sums first, if that is meant",
            code="sum",
            facts={"row": row, "look": "sigmoids" if inside else "logits", "normalising": "sums"},
        )
    huge = np.isinf(totals[..., 0])
    if huge.any():  # the sum overflows: scale these rows alone, because scaling rounds a second time
        values = values.copy()
        values[huge] /= values[huge].max(axis=-1, keepdims=True)
        totals = values.sum(axis=-1, keepdims=True)
    return values / totals


def not_normalisable(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows ``(…, K)`` that dividing by their sum does not repair: no rounding, no per cent throughout, no whole numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = values.sum(axis=-1, dtype=np.float64)
        if near(totals, 100.0) or (values == np.round(values)).all():
            return np.zeros(totals.shape, dtype=bool)
        return np.asarray(~(np.abs(totals - 1.0) <= rounding(values)))


def event_and_rest(probs: NDArray[Any], k: int) -> Floats:
    """Probabilities of the rest and of class k, ``(…, 2)`` in float64, from distributions ``(…, K)``.

    The rest is the sum of the other classes, because 1 − p(k) would lose its digits for a confident prediction. If the row
    does not sum to 1 in double precision (numbers of 16 bits), the rest is 1 − p(k).
    """
    others = np.arange(probs.shape[-1]) != k
    out = np.empty((*probs.shape[:-1], 2))
    for rows in row_chunks(len(probs), 8 * probs[:1].size):
        p = not_negative(probs[rows])
        event = np.minimum(p[..., k], 1.0)
        rest = np.compress(others, p, axis=-1).sum(axis=-1)
        out[rows, ..., 0] = np.where(np.abs(event + rest - 1.0) > 5e-7, 1.0 - event, rest)
        out[rows, ..., 1] = event
        release(probs)
    return out


def not_negative(values: NDArray[Any]) -> Floats:
    """Probabilities in float64; small negative values, which the tolerance allows, become 0.

    The result is contiguous for every memory layout, so that sums round alike in every chunk.
    """
    still_whole(values)
    compiled = kernel("rows_not_negative")
    if compiled is not None and _apart(values):
        found: Floats = compiled(values)
        return found
    array = np.ascontiguousarray(values, dtype=np.float64)
    return np.maximum(array, 0.0) if (array < 0).any() else array


def _apart(values: NDArray[Any]) -> bool:
    """Whether these are rows (n, K) of numbers that are neighbours in memory, with other numbers between the rows."""
    fits = values.ndim == 2 and values.dtype in (np.float64, np.float32)
    whole = fits and values.flags.aligned and values.strides[0] % values.itemsize == 0
    return whole and values.strides[1] == values.itemsize and not values.flags.c_contiguous


# Point: one distribution per instance, such as a softmax vector or an average of several.


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
            rule = "from_binary takes one column, (n,) or (n, 1)"
            fail("probs", rule, f"got shape {column.shape}", "use Point for one column per class", code="shape")
        values = two_columns(column.reshape(len(column)))
        return cls(values if given is None else Frame(values, (given.index, None)), **metadata)  # type: ignore[arg-type]

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.probs.shape[1])

    def mean_probs(self) -> Floats:
        """The probabilities themselves, ``(n, K)``."""
        return not_negative(self.probs)

    def lower_probs(self) -> Floats:
        """The probabilities themselves, ``(n, K)``."""
        return self.mean_probs()

    def upper_probs(self) -> Floats:
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


def softmax(logits: NDArray[Any], name: str) -> Floats:
    """Softmax over the last axis in float64, of logits that `check_logits` accepts."""
    return softmax_and_partition(logits, name)[0]


def softmax_and_partition(logits: NDArray[Any], name: str) -> tuple[Floats, Floats]:
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
            got = f"row {row} exceeds this"
            fail(name, f"logits must lie between {-most:g} and {most:g}", got, "repair the row", code="range")
        if finite.all():
            continue
        broken = ~finite & (block != -np.inf)
        if broken.any():
            at = np.argwhere(broken)[0]
            rule = "logits must be finite, or −inf for an impossible class"
            got = f"row {rows.start + at[0]} holds {block[tuple(at)]} at {index_text(rows.start, at)}"
            remedy = "drop or repair such rows first"
            fail(name, rule, got, remedy, code="finite", facts={"row": int(rows.start + at[0])})
        impossible = ~finite.any(axis=-1)
        if impossible.any():
            row = int(rows.start + np.argwhere(impossible)[0][0])
            got = f"row {row} holds −inf alone"
            fail(name, "at least one class must be possible", got, "drop such rows", code="finite", facts={"row": row})


def checked_log_partition(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Log-partitions as an array; a wrong shape and non-finite numbers are refused."""
    array = as_numeric(values, "log_partition")
    if array.shape != shape:
        each = "instance" if len(shape) == 1 else "instance and member"
        rule = f"must be {shape}, one number for each {each}"
        fail("log_partition", rule, f"got shape {array.shape}", "use from_logits, which computes it", code="shape")
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


# Sums over members and classes that are independent of the order of the terms.

MOST_SORTED = 128  # classes of a row that the kernel sorts


class OrderFreeSum:
    """Running sum of arrays of one shape, with a second sum of the rounding errors.

    The result is the exact sum, rounded once. About one sum in 10¹³ differs, because it lies almost in the middle between two
    floating-point numbers. So instances with the same members in another order have equal means, and ties stay ties.
    (Knuth's two-sum; Ogita, Rump and Oishi, Accurate sum and dot product, 2005.)

    Examples
    --------
    >>> import numpy as np
    >>> s = OrderFreeSum(1)
    >>> for x in (1.0, 0.6, 0.8):
    ...     s.add(np.array([x]))
    >>> float(s.value()[0]), 1.0 + 0.6 + 0.8
    (2.4, 2.4000000000000004)
    """

    def __init__(self, shape: int | tuple[int, ...]) -> None:
        self._sum, self._errors = np.zeros(shape), np.zeros(shape)

    def add(self, values: Floats) -> None:
        """Add an array."""
        total = self._sum + values
        added: Any = total - self._sum  # the part of `values` that reached the total
        values = values - added
        added -= total
        added += self._sum  # the part of the old sum that was lost
        added += values  # now the rounding error of the total
        self._errors += added
        self._sum = total

    def value(self) -> Floats:
        """The sum so far."""
        return self._sum + self._errors


def sum_over_classes(values: Floats) -> Floats:
    """Sum over the last axis in increasing order, so that the order of the classes changes no bit of the result.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.6, 0.8], [0.6, 0.8, 1.0]])
    >>> bool(np.ptp(sum_over_classes(x))), bool(np.ptp(x.sum(axis=1)))
    (False, True)
    """
    values = np.ascontiguousarray(values)
    compiled, n_classes = kernel("sorted_sums"), values.shape[-1]
    if compiled is not None and values.dtype == np.float64 and 0 < n_classes <= MOST_SORTED:
        sums: Floats = compiled(values.reshape(-1, n_classes))
        return sums.reshape(values.shape[:-1])
    return np.asarray(np.sort(values, axis=-1).sum(axis=-1), dtype=np.float64)


# Sums over the members of each instance, weighted by their shares.


def member_sums(
    probs: Any, weights: Floats | None, terms: Callable[[Any], tuple[Any, ...]], twin: str = "", *given: Floats
) -> list[Any]:
    """Σ_m w_m t(p_m) for each term t, independent of the order of the members.

    Parameters
    ----------
    probs : array (n, M, K)
    weights : array (M,) or (n, M), optional
        The shares w_m; 1/M unless given.
    terms : callable
        From the probabilities p (n, K) of one member to the terms t(p), such as (n, K) or (n, 1).
    twin : str
        Name of the compiled kernel of these terms; "" if there is none.
    *given : array (n, K)
        What the terms depend on, for the kernel.

    Examples
    --------
    >>> probs = np.array([[[0.5, 0.5], [1.0, 0.0]]])
    >>> [mean] = member_sums(probs, None, lambda p: (p,))
    >>> mean.tolist()
    [[0.75, 0.25]]
    """
    compiled = kernel(twin)
    if compiled is not None:
        shares = member_shares(probs, weights)
        parts = [
            compiled(
                member_rows(probs[rows]), shares[rows] if len(shares) > 1 else shares, *(one[rows] for one in given)
            )
            for rows in _pieces(probs)
        ]
        return [np.concatenate(found) if len(found) > 1 else found[0] for found in zip(*parts, strict=True)]
    sums: list[OrderFreeSum] = []
    for m in range(probs.shape[1]):
        share: Any = 1.0 / probs.shape[1] if weights is None else weights[..., m, None]
        values = terms(not_negative(probs[:, m, :]))
        sums = sums or [OrderFreeSum(value.shape) for value in values]
        for total, value in zip(sums, values, strict=True):
            total.add(share * value)
    return [total.value() for total in sums]


def member_rows(probs: NDArray[Any]) -> NDArray[Any]:
    """Members (n, M, K) as kernels take them: contiguous, float32 or float64."""
    still_whole(probs)
    return np.require(np.asarray(probs), np.float32 if probs.dtype == np.float32 else np.float64, ["C", "A"])


def _pieces(probs: NDArray[Any]) -> Iterable[slice]:
    """All rows at once if a kernel reads them where they are; else pieces, so that their copies stay small."""
    if probs.dtype in (np.float32, np.float64) and probs.flags.c_contiguous and probs.flags.aligned:
        return [slice(0, len(probs))]
    return row_chunks(len(probs), 8 * probs[:1].size, chunk_bytes=CACHE_BYTES)


def member_shares(probs: NDArray[Any], weights: Floats | None) -> Floats:
    """Shares of the members, ``(1, M)`` or ``(n, M)``: `weights`, or 1/M."""
    if weights is None:
        return np.full((1, probs.shape[1]), 1.0 / probs.shape[1])
    return np.ascontiguousarray(np.atleast_2d(weights))


# Members: several distributions per instance, from an ensemble, posterior samples or stochastic forward passes.

MOST_DRAWS = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class Members(Prediction):
    """M distributions per instance; the credal set is their convex hull.

    Parameters
    ----------
    probs : array (n, M, K)
        Class probabilities of each member; rows sum to 1.
    weights : array (M,) or (n, M), optional
        Weights of the members in the mean (Bayesian model average) and in draws; they are divided by their sum. All
        members span the credal set, also those of weight 0.
    member_axis : int, optional
        Axis of the members in `probs`: 1 for (n, M, K), the default, or 0 for (M, n, K). It is never guessed from sizes. A
        list of arrays (n, K) is ambiguous and needs it.
    normalise : bool
        Divide non-negative rows by their sums first.
    log_partition : array (n, M), optional
        ln Σ exp(z) of each member's logits z, so that z = ln p + log_partition; `from_logits` keeps it. Given with
        `member_axis=0`, it is (M, n).

    Raises
    ------
    InputError
        As for `Point`; weights that are negative or of the wrong shape.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> m = uq.Members(np.array([[[0.6, 0.4], [0.9, 0.1]]]))
    >>> m.mean_probs().tolist(), m.lower_probs().tolist(), m.upper_probs().tolist()
    ([[0.75, 0.25]], [[0.6, 0.1]], [[0.9, 0.4]])
    """

    probs: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    member_axis: InitVar[int | None] = None
    normalise: InitVar[bool] = False
    log_partition: NDArray[Any] | None = field(default=None, kw_only=True)

    def __post_init__(self, member_axis: int | None, normalise: bool) -> None:
        member_axis = checked_member_axis(member_axis, self.probs, "probs")
        self._take_table("probs", axis=1 - member_axis)
        probs = _three_axes(self.probs, "probs")
        tolerance = tolerance_of(self.probs, probs)
        if member_axis == 0:
            probs = np.moveaxis(probs, 0, 1)
            if probs.shape[0] == 0:
                rule = "must hold at least one instance"
                fail("probs", rule, f"got shape {probs.shape}", "check which axis holds the members", code="shape")
        if probs.shape[1] == 0:
            got = f"got shape {probs.shape}"
            fail("probs", "needs at least one member", got, "check which axis holds the members", code="shape")
        check_class_count(probs.shape[2], "probs")
        if normalise:
            probs = normalised(probs, "probs")
        check_rows(probs, "probs", tolerance=tolerance)
        self._set("probs", probs)
        if self.weights is not None:
            self._set("weights", _member_weights(self.weights, *probs.shape[:2]))
        if self.log_partition is not None:
            moved = member_axis == 0
            shape = probs.shape[1::-1] if moved else probs.shape[:2]
            partition = checked_log_partition(self.log_partition, shape)
            self._set("log_partition", partition.T if moved else partition)
        self._finish(class_axis_of="probs")

    @classmethod
    def from_logits(
        cls, logits: ArrayLike, weights: ArrayLike | None = None, *, member_axis: int | None = None, **metadata: Any
    ) -> "Members":
        """Softmax of the logits of each member, ``(n, M, K)``, in float64, with their log-partitions.

        A logit of −inf means that the class is impossible for this instance.

        Examples
        --------
        >>> import uqassay as uq
        >>> m = uq.Members.from_logits([[[0.0, 0.0], [2.0, 2.0]]])
        >>> m.probs.tolist(), m.log_partition.round(4).tolist()
        ([[[0.5, 0.5], [0.5, 0.5]]], [[0.6931, 2.6931]])
        """
        member_axis = checked_member_axis(member_axis, logits, "logits")
        given = as_frame(logits, "logits")
        probs, log_partition = softmax_and_partition(_three_axes(given or logits, "logits"), "logits")
        named = probs if given is None else Frame(probs, given.labels)
        return cls(named, weights, member_axis=member_axis, log_partition=log_partition, **metadata)  # type: ignore[arg-type]

    @classmethod
    def from_binary(cls, probs: ArrayLike, *, member_axis: int | None = None, **metadata: Any) -> "Members":
        """Two classes from the probability of class 1: ``(n,)`` for one member, two axes and `member_axis` for several.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.Members.from_binary([[0.25, 0.5]], member_axis=1).probs.tolist()
        [[[0.75, 0.25], [0.5, 0.5]]]
        """
        given = as_frame(probs, "probs")
        p = as_numeric(given or probs, "probs", ndim=(1, 2))
        labels = () if given is None else given.labels
        if p.ndim == 1:
            p = p[:, None]
        elif member_axis is None:
            remedy = "pass member_axis=1 for (n, M) or member_axis=0 for (M, n)"
            fail("member_axis", "is needed if probs has two axes", f"got shape {p.shape}", remedy, code="member-axis")
        elif not isinstance(member_axis, (int, np.integer)) or not -2 <= member_axis < 2:
            rule = "must be 0 or 1 here"
            fail("member_axis", rule, f"got {shown(member_axis)}", "name the axis of the members", code="choice")
        elif member_axis % 2 == 0:
            p, labels = p.T, labels[::-1]
        values = two_columns(p)
        return cls(Frame(values, (labels[0], None, None)) if labels else values, **metadata)  # type: ignore[arg-type]

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.probs.shape[2])

    @property
    def n_members(self) -> int:
        """Number of members M."""
        return int(self.probs.shape[1])

    def mean_probs(self) -> Floats:
        """Bayesian model average: the (weighted) mean of the members, ``(n, K)``; independent of their order."""
        mean = np.empty((self.n_instances, self.n_classes))
        weights = np.ones((1, self.n_members)) if self.weights is None else np.atleast_2d(self.weights)
        for rows in row_chunks(self.n_instances, 48 * self.n_classes, chunk_bytes=CORE_BYTES):
            shares = weights[rows] if len(weights) > 1 else weights
            [total] = member_sums(self.probs[rows], shares, lambda p: (p,), "member_means")
            mean[rows] = total if self.weights is not None else total / self.n_members
        return mean

    def lower_probs(self) -> Floats:
        """Least probability of each class among the members, ``(n, K)``."""
        still_whole(self.probs)
        return not_negative(self.probs.min(axis=1))

    def upper_probs(self) -> Floats:
        """Greatest probability of each class among the members, ``(n, K)``."""
        still_whole(self.probs)
        return not_negative(self.probs.max(axis=1))

    def hull_points(self) -> NDArray[Any]:
        """The members, ``(n, M, K)``."""
        return self.probs

    def sample(self, n: int, rng: Any = None) -> Floats:
        """Members drawn with replacement by their weights, ``(n_instances, n, K)``; the draws belong to the rows."""
        check_draws(n, "n")
        still_whole(self.probs)
        out = np.empty((self.n_instances, n, self.n_classes))
        numbers = np.arange(self.n_instances) if self.row_numbers is None else self.row_numbers
        shares = None if self.weights is None else np.broadcast_to(self.weights, self.probs.shape[:2])
        return draw_per_row(
            lambda g, i: self.probs[i, g.choice(self.n_members, n, p=None if shares is None else shares[i])],
            out,
            numbers,
            rng,
        )

    def subset(self, n_members: int, rng: Any = None) -> "Members":
        """A random subset of `n_members` members, the same for all instances, so that models have equally many."""
        chosen, note = chosen_members(n_members, self.n_members, "members", rng)
        weights = None if self.weights is None else self.weights[..., chosen]
        return Members(
            self.probs[:, chosen],
            weights,
            log_partition=None if self.log_partition is None else self.log_partition[:, chosen],
            class_names=self.class_names,
            class_order=self.class_order,
            ids=self.ids,
            keys=self.keys,
            groups=self.groups,
            notes=(*self.notes, note),
            row_numbers=self.row_numbers,
        )

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        weights = () if self.weights is None or self.weights.ndim == 1 else ("weights",)
        partition = () if self.log_partition is None else ("log_partition",)
        return ("probs", *weights, *partition)

    def _one_versus_rest(self, k: int) -> "Members":
        return Members(event_and_rest(self.probs, k), self.weights, log_partition=self.log_partition)


def checked_member_axis(member_axis: Any, values: Any, name: str) -> int:
    """The axis of the members in an array of three axes, 0 or 1."""
    if member_axis is None:
        given: Any = values[0] if isinstance(values, (list, tuple)) and len(values) else None
        first: Any = as_frame(given, name) or given
        each = getattr(first, "ndim", 0)
        if each == 2:
            rule = "a list of arrays (n, K) could hold the members or the instances"
            remedy = "pass member_axis=0 if they are the members"
            fail(name, rule, f"got {len(values)} arrays, the first of shape {first.shape}", remedy, code="member-axis")
        return 1
    if not isinstance(member_axis, (int, np.integer)) or isinstance(member_axis, bool) or not -3 <= member_axis < 3:
        rule = "must be 0 or 1"
        fail("member_axis", rule, f"got {shown(member_axis)}", "name the axis of the members", code="choice")
    if member_axis % 3 == 2:
        rule = "the last axis holds the classes"
        fail("member_axis", rule, "got 2", "move the classes to the end first", code="choice")
    return int(member_axis) % 3


def _three_axes(values: Any, name: str) -> NDArray[Any]:
    array = as_numeric(values, name)
    if array.ndim == 2:
        rule = "must be (n, M, K), with an axis of members"
        fail(name, rule, f"got shape {array.shape}", "use Point for one distribution per instance", code="shape")
    return as_numeric(array, name, ndim=3)


def _member_weights(weights: ArrayLike, n: int, n_members: int) -> Floats:
    array = as_numeric(weights, "weights").astype(np.float64)
    if array.shape not in ((n_members,), (n, n_members)):
        rule = f"must be one per member ({n_members},) or one per instance and member ({n}, {n_members})"
        fail("weights", rule, f"got shape {array.shape}", "check the member axis", code="shape")
    rows = np.atleast_2d(array)
    broken = ~(np.isfinite(rows) & (rows >= 0)).all(axis=1) | ~(rows > 0).any(axis=1)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        odd = ~(np.isfinite(rows[row]) & (rows[row] >= 0))
        got = f"row {row} holds {rows[row][odd][0]:g}" if odd.any() else f"all of row {row} is 0"
        fail("weights", "must be finite, non-negative and not all zero", got, "repair the weights", code="range")
    with np.errstate(over="ignore"):
        totals = array.sum(axis=-1, keepdims=True)
    if np.isinf(totals).any():  # the sum overflows; scaling keeps the ratios of the weights
        array = array / array.max(axis=-1, keepdims=True)
        totals = array.sum(axis=-1, keepdims=True)
    # weights that sum to 1 stay bit for bit, so that a copy of a prediction has the same mean
    return array if (np.abs(totals - 1.0) < 8 * np.finfo(np.float64).eps).all() else array / totals


def check_draws(n: Any, name: str) -> None:
    """Refuse a number of draws that is not a whole number from 1 to `MOST_DRAWS`."""
    whole(n, name, "100 is usual", least=1, most=MOST_DRAWS)


def chosen_members(n: Any, of: int, what: str, rng: Any) -> tuple[NDArray[np.intp], Note]:
    """The places of a random subset of n of all members or passes, the same for all instances, and the note that says so."""
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= of:
        rule, remedy = f"must be a whole number in 1 … {of}", "choose a number in this range"
        fail(f"n_{what}", rule, f"got {shown(n)}", remedy, code="common-members", facts={"n_members": of})
    note = Note("members-chosen", f"{n} of {of} {what}, chosen at random", {"n_members": int(n), "of": of})
    return np.sort(generator(rng).permutation(of)[:n]), note


# Credal sets that are given by a lower and an upper probability of each class: what `Intervals` and `ClassSets` share.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Box(Prediction):
    """A prediction whose credal set holds every distribution p with l ≤ p ≤ u."""

    @abstractmethod
    def bounds(self) -> tuple[Floats, Floats]:
        """Reachable lower and upper bounds, each ``(n, K)``."""

    def mean_probs(self) -> Floats:
        """Intersection probability of the reachable bounds, ``(n, K)``."""
        return intersection_probability(*self.bounds())

    def lower_probs(self) -> Floats:
        """Reachable lower bounds, ``(n, K)``."""
        return self.bounds()[0]

    def upper_probs(self) -> Floats:
        """Reachable upper bounds, ``(n, K)``."""
        return self.bounds()[1]
