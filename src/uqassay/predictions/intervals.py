"""Intervals: a lower and an upper probability of each class, per instance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import check_class_count, check_rows, release, row_chunks, shown, tolerance_of
from uqassay.credal.intervals import reachable
from uqassay.errors import InputError
from uqassay.predictions.base import Array
from uqassay.predictions.box import Box
from uqassay.predictions.probabilities import not_negative, take_probabilities


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Box):
    """Probability intervals; the credal set holds every distribution p with l ≤ p ≤ u.

    Parameters
    ----------
    lower, upper : array (n, K)
        Bounds with l ≤ u and Σ l ≤ 1 ≤ Σ u. Methods use the reachable bounds. One of the two may be a number, the same bound
        for every class.

    Raises
    ------
    InputError
        Bounds out of order, or an empty set (Σ l > 1 or Σ u < 1).

    Examples
    --------
    >>> import uqassay as uq
    >>> i = uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]])
    >>> i.lower_probs().round(3).tolist(), i.upper_probs().round(3).tolist()
    ([[0.2, 0.5]], [[0.5, 0.8]])
    """

    lower: NDArray[Any]
    upper: NDArray[Any]

    def __post_init__(self) -> None:
        for name, other in (("lower", "upper"), ("upper", "lower")):
            if isinstance(getattr(self, name), (int, float, np.floating, np.integer)):
                self._set_everywhere(name, other)
        self._take_table("lower", "upper")
        lower = take_probabilities(self.lower, "lower", 2)
        upper = take_probabilities(self.upper, "upper", 2)
        if lower.dtype == bool:
            raise InputError(
                "lower",
                "must hold numbers",
                "got truth values",
                "write sets of classes as ClassSets(sets)",
                code="class-sets",
            )
        upper = upper.astype(np.float64) if upper.dtype == bool else upper
        if lower.shape != upper.shape:
            raise InputError(
                "upper",
                f"must have the shape of lower, {lower.shape}",
                f"got {upper.shape}",
                "give two bounds for every class",
                code="shape",
            )
        check_class_count(lower.shape[1], "lower")
        tolerance = tolerance_of(self.lower, self.upper, lower, upper)
        for bound, name in ((lower, "lower"), (upper, "upper")):
            check_rows(bound, name, tolerance=tolerance, unit_sum=False, remedy="give probabilities, not logits")
        _check_bounds(lower, upper, tolerance)
        self._set("lower", lower)
        self._set("upper", upper)
        self._finish(class_axis_of="lower")

    def _set_everywhere(self, name: str, other: str) -> None:
        """Broadcast a number to the shape of the other bounds."""
        like = take_probabilities(getattr(self, other), other, 2)
        value = getattr(self, name)
        if not abs(value) <= 1e300:
            raise InputError(
                name, "values must be between 0 and 1", f"got {shown(value)}", "give a bound", code="range"
            )
        self._set(name, np.broadcast_to(np.float64(value), like.shape))

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.lower.shape[1])

    def bounds(self) -> tuple[Array, Array]:
        """Reachable lower and upper bounds, each ``(n, K)``."""
        lower = not_negative(self.lower)
        return reachable(lower, np.maximum(lower, not_negative(self.upper)))

    def label_probs(self) -> Array:
        """Reachable upper bounds; the class with the greatest one is predicted (rule of paper 000 for intervals)."""
        return self.upper_probs()

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("lower", "upper")

    def _one_versus_rest(self, k: int) -> "Intervals":
        lower, upper = (np.minimum(bound[:, k], 1.0) for bound in self.bounds())
        return Intervals(np.stack([1.0 - upper, lower], axis=1), np.stack([1.0 - lower, upper], axis=1))


def _check_bounds(lower: NDArray[Any], upper: NDArray[Any], tolerance: float) -> None:
    """Refuse bounds out of order and empty sets; the error names the row."""
    for rows in row_chunks(len(lower), 32 * lower.shape[1]):
        l, u = not_negative(lower[rows]), not_negative(upper[rows])
        crossed = l > u + tolerance
        if crossed.any():
            row, c = np.argwhere(crossed)[0]
            raise InputError(
                "lower",
                "must not exceed upper",
                f"row {rows.start + row} has lower {l[row, c]:.6g} > upper {u[row, c]:.6g} for class {c}",
                "swap or repair the bounds",
                code="bounds",
                facts={"row": int(rows.start + row)},
            )
        _refuse_empty(
            l.sum(axis=1) - 1, lower, tolerance, rows.start, "lower", "the lower bounds of a row must sum to at most 1"
        )
        _refuse_empty(
            1 - u.sum(axis=1), upper, tolerance, rows.start, "upper", "the upper bounds of a row must sum to at least 1"
        )
        release(lower)
        release(upper)


def _refuse_empty(excess: Array, bounds: NDArray[Any], tolerance: float, start: int, name: str, rule: str) -> None:
    """Refuse rows whose `excess` beyond the sum of 1, ``(rows,)``, is larger than the tolerance."""
    empty = excess > tolerance
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        total = not_negative(bounds[start + row]).sum()
        raise InputError(
            name,
            f"{rule}, or no distribution lies between the bounds",
            f"row {start + row} sums to {total:.6g}",
            "widen the bounds" if total else "write sets of classes, of which some are empty, as ClassSets(sets)",
            code="bounds",
            facts={"row": start + row},
        )
