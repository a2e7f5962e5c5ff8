"""A Dirichlet distribution over class probabilities per instance, as evidential classifiers state."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState, check_class_count, check_rows, draw_per_row
from uqassay.errors import InputError
from uqassay.predictions._base import Array, Prediction, take_probabilities
from uqassay.predictions.members import Members


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Prediction):
    """Concentrations α of one Dirichlet per instance; the credal set is the hull of draws from it.

    Parameters
    ----------
    alpha : array (n, K)
        Concentrations, all > 0.
    n_draws : int
        Number of draws that span the credal set. The set, and so its non-specificity, grows with it.
    unit_concentration : bool
        Divide α by its sum before drawing, as the authors of the unified evaluation do (paper 000; their published
        numbers for EDL come from this alone). The mean does not change, the draws spread over the simplex.
    seed : int
        Seed of the draws that span the set; each row has draws of its own, whatever slice it is seen in.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.Dirichlet([[8.0, 1.0, 1.0]])
    >>> d.mean_probs().tolist(), d.members().n_members
    ([[0.8, 0.1, 0.1]], 100)
    """

    alpha: NDArray[Any]
    n_draws: int = 100
    unit_concentration: bool = False
    seed: int = 0
    drawn: NDArray[np.float64] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        self._take_pandas("alpha")
        alpha = take_probabilities(self.alpha, "alpha", 2)
        check_class_count(alpha.shape[1], "alpha")
        check_rows(
            alpha,
            "alpha",
            tolerance=0.0,
            unit_sum=False,
            high=np.inf,
            remedy="give concentrations, evidence + 1 for EDL",
        )
        if (alpha <= 0).any():
            row, column = np.argwhere(alpha <= 0)[0]
            raise InputError(
                f"alpha: concentrations must be positive; row {row} holds 0 at [{row}, {column}]; "
                "give evidence + 1, or add a prior."
            )
        check_draws(self.n_draws, "n_draws")
        self._set("alpha", alpha)
        self._finish(class_axis_of="alpha")

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.alpha.shape[1])

    def mean_probs(self) -> Array:
        """Mean of the Dirichlet, α / Σα, ``(n, K)``."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        return alpha / alpha.sum(axis=1, keepdims=True)

    def lower_probs(self) -> Array:
        """Least probability of each class among the draws, ``(n, K)``."""
        return self.members().lower_probs()

    def upper_probs(self) -> Array:
        """Greatest probability of each class among the draws, ``(n, K)``."""
        return self.members().upper_probs()

    def hull_points(self) -> NDArray[Any]:
        """The draws, ``(n, n_draws, K)``."""
        return self.sample(self.n_draws, self.seed) if self.drawn is None else self.drawn

    def with_draws(self) -> Self:
        """The same statement holding its draws, ``(n, n_draws, K)``, so that they are made once."""
        return replace(self, drawn=self.hull_points())

    def credal(self) -> Members:
        """The draws as `Members`."""
        return self.members()

    def members(self) -> Members:
        """`n_draws` draws from the Dirichlet as `Members`."""
        return as_members(self, self.hull_points())

    def sample(self, n: int, rng: RandomState = None) -> Array:
        """Draws from the Dirichlet, ``(n_instances, n, K)``; the draws belong to the rows.

        A gamma variable with shape α is one with shape α + 1 times U^(1/α); its logarithm stays finite for the smallest α.
        """
        check_draws(n, "n")
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if self.unit_concentration:
            alpha = alpha / alpha.sum(axis=1, keepdims=True)
        numbers = np.arange(self.n_instances) if self.row_numbers is None else self.row_numbers
        shape = (n, self.n_classes)

        def draw(g: np.random.Generator, i: int) -> Array:
            gamma = g.standard_gamma(alpha[i] + 1.0, shape)
            return np.log(gamma) - g.standard_exponential(shape) / alpha[i]

        logs = draw_per_row(draw, np.empty((self.n_instances, *shape)), numbers, rng)
        logs -= logs.max(axis=2, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=2, keepdims=True)
        return logs

    def _arrays(self) -> tuple[str, ...]:
        return ("alpha",) if self.drawn is None else ("alpha", "drawn")


def check_draws(n: int, name: str) -> None:
    """Refuse a number of draws below one."""
    if n < 1:
        raise InputError(f"{name}: needs at least one draw; got {n}; pass a positive number.")


def as_members(source: Prediction, draws: Array) -> Members:
    """Draws ``(n, n_draws, K)`` as `Members` that carry what their source carries."""
    return Members(
        draws,
        class_names=source.class_names,
        ids=source.ids,
        groups=source.groups,
        notes=source.notes,
        row_numbers=source.row_numbers,
    )
