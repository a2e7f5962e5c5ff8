"""Buckets of instances that state a similar epistemic variance: stated against observed."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.statistics.estimate import Estimate, mean_estimate

__all__ = ["SecondOrderBuckets", "buckets_by_statement"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class SecondOrderBuckets:
    """Buckets of instances that state a similar epistemic variance.

    Attributes
    ----------
    edges : array (B + 1,)
        Least stated variance of each bucket, and the greatest of all. Equal statements are never divided.
    count : int array (B,)
        Number of instances.
    stated : array (B,)
        Mean stated epistemic variance.
    observed : tuple of Estimate
        Mean observed epistemic variance of each bucket, with its interval.
    """

    edges: Floats
    count: NDArray[np.intp]
    stated: Floats
    observed: tuple[Estimate, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each bucket: `from` and `to` of the stated variance, `n`, `stated`, and the fields of `observed`."""
        ends = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        numbers = zip(ends, self.count.tolist(), self.stated.tolist(), self.observed, strict=True)
        return [
            {"from": low, "to": high, "n": n, "stated": stated, "observed": observed.to_dict()}
            for (low, high), n, stated, observed in numbers
        ]


def buckets_by_statement(
    observed: Floats, stated: Floats, wanted: int, *, groups: ArrayLike | None = None, level: float = 0.95
) -> SecondOrderBuckets:
    """At most `wanted` buckets of nearly equal size; fewer where many instances state the same.

    Parameters
    ----------
    observed, stated : array (n,)
        Per instance; single observed values scatter and may be negative.
    wanted : int
    groups, level
        Of the intervals.

    Examples
    --------
    >>> found = buckets_by_statement(np.array([0.1, 0.0, 0.5, 0.3]), np.array([0.0, 0.0, 0.2, 0.4]), 2)
    >>> found.edges.tolist(), found.count.tolist(), [round(float(x), 3) for x in found.observed]
    ([0.0, 0.2, 0.4], [2, 2], [0.05, 0.4])
    """
    labels = None if groups is None else np.asarray(groups)
    values, counts = np.unique(stated, return_counts=True)
    below = np.cumsum(counts)[:-1]  # instances below each possible cut
    targets = len(stated) * np.arange(1, wanted) / wanted if below.size else np.zeros(0)
    cuts = np.unique(np.array([np.abs(below - target).argmin() for target in targets], dtype=np.intp))
    edges = np.concatenate([values[:1], values[cuts + 1], values[-1:]])
    place = np.searchsorted(edges[1:-1], stated, side="right")
    rows = [np.flatnonzero(place == b) for b in range(len(edges) - 1)]

    def mean(r: NDArray[np.intp]) -> Estimate:
        return mean_estimate(observed[r], groups=None if labels is None else labels[r], level=level, method="hall")

    return SecondOrderBuckets(
        edges=edges,
        count=np.array([len(r) for r in rows], dtype=np.intp),
        stated=np.array([stated[r].mean() for r in rows]),
        observed=tuple(mean(r) for r in rows),
    )
