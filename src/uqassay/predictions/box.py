"""Credal sets that are given by a lower and an upper probability of each class: what `Intervals` and `ClassSets` share."""

from abc import abstractmethod
from dataclasses import dataclass

from uqassay.credal.intervals import intersection_probability
from uqassay.predictions.base import Array, Prediction

__all__ = ["Box"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Box(Prediction):
    """A prediction whose credal set holds every distribution p with l ≤ p ≤ u."""

    @abstractmethod
    def bounds(self) -> tuple[Array, Array]:
        """Reachable lower and upper bounds, each ``(n, K)``."""

    def mean_probs(self) -> Array:
        """Intersection probability of the reachable bounds, ``(n, K)``."""
        return intersection_probability(*self.bounds())

    def lower_probs(self) -> Array:
        """Reachable lower bounds, ``(n, K)``."""
        return self.bounds()[0]

    def upper_probs(self) -> Array:
        """Reachable upper bounds, ``(n, K)``."""
        return self.bounds()[1]
