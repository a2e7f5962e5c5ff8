"""Base class of `Dirichlet` and `GaussianLogits`: a second-order distribution, whose draws or passes span the credal set."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState, as_array, draw_per_row, shown
from uqassay.errors import InputError
from uqassay.predictions.base import Array, Prediction
from uqassay.predictions.members import Members, check_draws

__all__ = ["Drawn", "check_draws"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Drawn(Prediction):
    """A second-order distribution per instance; the credal set is the hull of draws from it, or of passes.

    Parameters
    ----------
    n_draws : int
        Number of draws that span the credal set (of passes: of logits behind each). More draws make the set and its
        non-specificity larger.
    seed : int
        Seed of these draws. They depend on the row number, so a slice has the same draws as the whole.
    drawn : array (n, V, K), optional
        The points that span the set, if they are kept; see `with_draws`.
    """

    n_draws: int = 100
    seed: int = 0
    drawn: NDArray[np.float64] | None = field(default=None, repr=False)

    @abstractmethod
    def sample(self, n: int, rng: RandomState = None) -> Array:
        """Draws, ``(n_instances, n, K)``; they depend on the row, not on its place in a slice."""

    @property
    def n_points(self) -> int:
        """Number V of points that span the set of each instance."""
        return self.n_draws

    @property
    def spanned_by(self) -> str:
        """Name of the points that span the set: "draws", or "passes" of a network."""
        return "draws"

    @property
    def has_shared_points(self) -> bool:
        """True if point v has the same meaning in every instance, as a member of an ensemble has; draws have not."""
        return False

    def hull_points(self) -> NDArray[Any]:
        """The points that span the set, ``(n, V, K)``."""
        return self._spanning() if self.drawn is None else self.drawn

    def _spanning(self) -> Array:
        """The points that span the set, computed anew."""
        return self.sample(self.n_draws, self.seed)

    def with_draws(self) -> Self:
        """A copy that keeps the points that span its sets, so that they are computed only once."""
        same = replace(self, drawn=self.hull_points())
        object.__setattr__(same, "_held", self._held)  # still valid: the draws are the same
        return same

    def members(self) -> Members:
        """The points that span the set, as `Members` with the class names, ids, groups and notes."""
        members = Members(
            self.hull_points(),
            class_names=self.class_names,
            class_order=self.class_order,
            groups=self.groups,
            notes=self.notes,
        )
        for name in ("ids", "row_numbers"):  # unchecked, because a selection may hold a row twice
            object.__setattr__(members, name, getattr(self, name))
        return members

    def credal(self) -> Members:
        """The points that span the set, as `Members`."""
        return self.members()

    def lower_probs(self) -> Array:
        """Least probability of each class among the points that span the set, ``(n, K)``."""
        return self.hull_points().min(axis=1)

    def upper_probs(self) -> Array:
        """Greatest probability of each class among the points that span the set, ``(n, K)``."""
        return self.hull_points().max(axis=1)

    def _check_draws(self) -> None:
        check_draws(self.n_draws, "n_draws")
        if not isinstance(self.seed, (int, np.integer)) or isinstance(self.seed, bool) or self.seed < 0:
            raise InputError(
                "seed", "must be a whole number ≥ 0", f"got {shown(self.seed)}", "give a number", code="range"
            )
        shape = (self.n_instances, self.n_points, self.n_classes)
        if self.drawn is not None and as_array(self.drawn, "drawn").shape != shape:
            raise InputError(
                "drawn",
                f"must have the shape {shape}",
                f"got {np.shape(self.drawn)}",
                "use with_draws() to make it",
                code="shape",
            )

    def _draw(
        self, n: int, rng: RandomState, one: Callable[[np.random.Generator, int, tuple[int, int]], Array]
    ) -> Array:
        """``one(generator of the row, index, (n, K))`` for every row, ``(n_instances, n, K)``."""
        check_draws(n, "n")
        shape = (n, self.n_classes)
        numbers = np.arange(self.n_instances) if self.row_numbers is None else self.row_numbers
        return draw_per_row(lambda g, i: one(g, i, shape), np.empty((self.n_instances, *shape)), numbers, rng)
