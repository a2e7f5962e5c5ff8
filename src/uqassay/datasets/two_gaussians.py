"""Two classes in the plane, one Gaussian each: label probabilities, and so both ground truths, are known exactly."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri

from uqassay.errors import InputError

__all__ = ["Sample", "TwoGaussians"]

Array = NDArray[np.float64]
DIRECTION = np.array([1.0, 1.0]) / np.sqrt(2.0)  # from the mean of class 0 to that of class 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Inputs ``(n, 2)``, their labels ``(n,)`` and the exact label probabilities ``(n, 2)``."""

    x: Array
    y: NDArray[np.intp]
    label_probs: Array


@final
@dataclass(frozen=True, slots=True)
class TwoGaussians:
    """x | y ~ N(μ_y, I₂) with classes of equal probability.

    Parameters
    ----------
    bayes_error : float
        Error of the best classifier, in (0, ½); it fixes the distance of the means, −2 Φ⁻¹(error).

    Raises
    ------
    InputError
        An error outside (0, ½).

    Examples
    --------
    >>> round(TwoGaussians(0.15).separation, 4)
    2.0729
    """

    bayes_error: float = 0.15

    def __post_init__(self) -> None:
        if not 0.0 < self.bayes_error < 0.5:
            raise InputError(
                "bayes_error",
                "must lie strictly between 0 and 0.5",
                f"got {self.bayes_error}",
                "0.15 puts the means 2.07 standard deviations apart",
                code="range",
            )

    @property
    def separation(self) -> float:
        """Distance of the two means in standard deviations."""
        return -2.0 * float(ndtri(self.bayes_error))

    @property
    def means(self) -> Array:
        """μ₀ and μ₁, ``(2, 2)``, on the diagonal and symmetric about the origin."""
        return np.array([-0.5, 0.5])[:, None] * self.separation * DIRECTION

    def label_probs(self, x: ArrayLike) -> Array:
        """p(y | x), ``(n, 2)``."""
        log_odds = self.separation * (np.asarray(x, dtype=np.float64) @ DIRECTION)
        return np.stack([expit(-log_odds), expit(log_odds)], axis=1)

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """n instances, half of each class (one more of class 1 where n is odd), in random order."""
        y = rng.permutation(np.arange(n) >= n // 2).astype(np.intp)
        x = self.means[y] + rng.standard_normal((n, 2))
        return Sample(x, y, self.label_probs(x))
