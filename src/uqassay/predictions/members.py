"""Members: several distributions per instance, from an ensemble, posterior samples or stochastic forward passes."""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import (
    as_numeric,
    check_class_count,
    check_rows,
    draw_per_row,
    generator,
    row_chunks,
    shown,
    still_whole,
    tolerance_of,
)
from uqassay._frames import Frame, as_frame
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.base import CORE_BYTES, Array, Prediction
from uqassay.predictions.point import checked_log_partition, softmax_and_partition, two_columns
from uqassay.predictions.probabilities import event_and_rest, normalised, not_negative
from uqassay.predictions.sums_over_members import member_sums

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
                raise InputError(
                    "probs",
                    "must hold at least one instance",
                    f"got shape {probs.shape}",
                    "check which axis holds the members",
                    code="shape",
                )
        if probs.shape[1] == 0:
            raise InputError(
                "probs",
                "needs at least one member",
                f"got shape {probs.shape}",
                "check which axis holds the members",
                code="shape",
            )
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
            raise InputError(
                "member_axis",
                "is needed if probs has two axes",
                f"got shape {p.shape}",
                "pass member_axis=1 for (n, M) or member_axis=0 for (M, n)",
                code="member-axis",
            )
        elif not isinstance(member_axis, (int, np.integer)) or not -2 <= member_axis < 2:
            raise InputError(
                "member_axis",
                "must be 0 or 1 here",
                f"got {shown(member_axis)}",
                "name the axis of the members",
                code="choice",
            )
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

    def mean_probs(self) -> Array:
        """Bayesian model average: the (weighted) mean of the members, ``(n, K)``; independent of their order."""
        mean = np.empty((self.n_instances, self.n_classes))
        weights = np.ones((1, self.n_members)) if self.weights is None else np.atleast_2d(self.weights)
        for rows in row_chunks(self.n_instances, 48 * self.n_classes, chunk_bytes=CORE_BYTES):
            shares = weights[rows] if len(weights) > 1 else weights
            [total] = member_sums(self.probs[rows], shares, lambda p: (p,), "member_means")
            mean[rows] = total if self.weights is not None else total / self.n_members
        return mean

    def lower_probs(self) -> Array:
        """Least probability of each class among the members, ``(n, K)``."""
        still_whole(self.probs)
        return not_negative(self.probs.min(axis=1))

    def upper_probs(self) -> Array:
        """Greatest probability of each class among the members, ``(n, K)``."""
        still_whole(self.probs)
        return not_negative(self.probs.max(axis=1))

    def hull_points(self) -> NDArray[Any]:
        """The members, ``(n, M, K)``."""
        return self.probs

    def sample(self, n: int, rng: Any = None) -> Array:
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
        if not isinstance(n_members, (int, np.integer)) or not 1 <= n_members <= self.n_members:
            raise InputError(
                "n_members",
                f"must be a whole number in 1 … {self.n_members}",
                f"got {shown(n_members)}",
                "choose a number in this range",
                code="common-members",
                facts={"n_members": self.n_members},
            )
        chosen = np.sort(generator(rng).permutation(self.n_members)[:n_members])
        facts = {"n_members": int(n_members), "of": self.n_members}
        note = Note("members-chosen", f"{n_members} of {self.n_members} members, chosen at random", facts)
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
    """The axis of the members in an array of three axes, 0 or 1.

    Raises
    ------
    InputError
        An axis other than 0 and 1; no axis for a list of arrays (n, K), which could be members or instances.
    """
    if member_axis is None:
        given: Any = values[0] if isinstance(values, (list, tuple)) and len(values) else None
        first: Any = as_frame(given, name) or given
        each = getattr(first, "ndim", 0)
        if each == 2:
            raise InputError(
                name,
                "a list of arrays (n, K) could hold the members or the instances",
                f"got {len(values)} arrays, the first of shape {first.shape}",
                "pass member_axis=0 if they are the members",
                code="member-axis",
            )
        return 1
    if not isinstance(member_axis, (int, np.integer)) or isinstance(member_axis, bool) or not -3 <= member_axis < 3:
        raise InputError(
            "member_axis", "must be 0 or 1", f"got {shown(member_axis)}", "name the axis of the members", code="choice"
        )
    if member_axis % 3 == 2:
        raise InputError(
            "member_axis",
            "the last axis holds the classes",
            "got 2",
            "move the classes to the end first",
            code="choice",
        )
    return int(member_axis) % 3


def _three_axes(values: Any, name: str) -> NDArray[Any]:
    array = as_numeric(values, name)
    if array.ndim == 2:
        raise InputError(
            name,
            "must be (n, M, K), with an axis of members",
            f"got shape {array.shape}",
            "use Point for one distribution per instance",
            code="shape",
        )
    return as_numeric(array, name, ndim=3)


def _member_weights(weights: ArrayLike, n: int, n_members: int) -> Array:
    array = as_numeric(weights, "weights").astype(np.float64)
    if array.shape not in ((n_members,), (n, n_members)):
        raise InputError(
            "weights",
            f"must be one per member ({n_members},) or one per instance and member ({n}, {n_members})",
            f"got shape {array.shape}",
            "check the member axis",
            code="shape",
        )
    rows = np.atleast_2d(array)
    broken = ~(np.isfinite(rows) & (rows >= 0)).all(axis=1) | ~(rows > 0).any(axis=1)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        odd = ~(np.isfinite(rows[row]) & (rows[row] >= 0))
        raise InputError(
            "weights",
            "must be finite, non-negative and not all zero",
            f"row {row} holds {rows[row][odd][0]:g}" if odd.any() else f"all of row {row} is 0",
            "repair the weights",
            code="range",
        )
    with np.errstate(over="ignore"):
        totals = array.sum(axis=-1, keepdims=True)
    if np.isinf(totals).any():  # the sum overflows; scaling keeps the ratios of the weights
        array = array / array.max(axis=-1, keepdims=True)
        totals = array.sum(axis=-1, keepdims=True)
    # weights that sum to 1 stay bit for bit, so that a copy of a prediction has the same mean
    return array if (np.abs(totals - 1.0) < 8 * np.finfo(np.float64).eps).all() else array / totals


def check_draws(n: Any, name: str) -> None:
    """Refuse a number of draws that is not a whole number from 1 to `MOST_DRAWS`."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 1 <= n <= MOST_DRAWS:
        raise InputError(
            name, "needs at least one draw, a whole number", f"got {shown(n)}", "100 is usual", code="range"
        )
