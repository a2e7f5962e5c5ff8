"""Is a classifier overconfident or underconfident? A test of mean confidence against accuracy."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import argmax_of_rows
from uqassay.statistics.paired_tests import pairwise_mean_tests

__all__ = [
    "ConfidenceGap",
    "Direction",
    "confidence_gap",
]


# Is a classifier overconfident or underconfident? A test of mean confidence against accuracy, and what other tests
# miss.

Direction = Literal["overconfident", "underconfident", ""]


class ConfidenceGap(NamedTuple):
    """Mean confidence minus accuracy."""

    #: the difference with its 95 % interval
    value: float
    low: float
    high: float
    #: two-sided p-value of a difference of 0; it does not assume that the classifier is calibrated. nan for one unit.
    pvalue: float

    def direction(self, alpha: float = 0.05) -> Direction:
        """The direction if it can be told at this level; the wrong one is told in at most α / 2 of the data sets."""
        if not self.pvalue <= alpha:
            return ""
        return "overconfident" if self.value > 0 else "underconfident"


def confidence_gap(
    labels: NDArray[np.intp], probs: NDArray[np.float64], groups: ArrayLike | None = None
) -> ConfidenceGap:
    """Test mean confidence against accuracy by `pairwise_mean_tests`; of equally probable classes the first is predicted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = np.tile([0.9, 0.1], (200, 1))
    >>> gap = confidence_gap((rng.random(200) < 0.2).astype(int), probs)
    >>> round(gap.value, 3), gap.direction()
    (0.085, 'overconfident')
    """
    confidence = np.minimum(probs.max(axis=1), 1.0)
    correct = (argmax_of_rows(probs) == labels).astype(np.float64)
    found = pairwise_mean_tests({"confidence": confidence, "accuracy": correct}, groups=groups, bound=1.0)
    value, low, high, p = (float(table[0, 1]) for table in (found.difference, found.low, found.high, found.pvalue))
    return ConfidenceGap(value, low, high, p)
