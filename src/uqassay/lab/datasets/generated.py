"""Generated data: points in the plane, and two Gaussians whose label probabilities are known."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri

from uqassay.arrays import Floats, RandomState, generator
from uqassay.checks import number, whole
from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.datasets.discs import N_GRID, GainGrid

__all__ = [
    "Sample",
    "TwoGaussians",
    "blobs",
    "gain_grid",
    "triangle",
    "two_gaussians",
    "two_moons",
]


# Two classes in the plane, one Gaussian each: label probabilities, and so both ground truths, are known exactly.

DIRECTION = np.array([1.0, 1.0]) / np.sqrt(2.0)  # from the mean of class 0 to that of class 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Inputs ``(n, 2)``, their labels ``(n,)`` and the exact label probabilities ``(n, 2)``."""

    x: Floats
    y: NDArray[np.intp]
    label_probs: Floats


@final
@dataclass(frozen=True, slots=True)
class TwoGaussians:
    """x | y ~ N(μ_y, I₂) with classes of equal probability.

    Parameters
    ----------
    bayes_error : float
        Error of the best classifier, in (0, ½); it fixes the distance of the means, −2 Φ⁻¹(error).

    Examples
    --------
    >>> round(TwoGaussians(0.15).separation, 4)
    2.0729
    """

    bayes_error: float = 0.15

    def __post_init__(self) -> None:
        number(
            self.bayes_error,
            "bayes_error",
            "0.15 puts the means 2.07 standard deviations apart",
            low=0,
            high=0.5,
            ends="()",
        )

    @property
    def separation(self) -> float:
        """Distance of the two means in standard deviations."""
        return -2.0 * float(ndtri(self.bayes_error))

    @property
    def means(self) -> Floats:
        """μ₀ and μ₁, ``(2, 2)``, on the diagonal and symmetric about the origin."""
        return np.array([-0.5, 0.5])[:, None] * self.separation * DIRECTION

    def label_probs(self, x: ArrayLike) -> Floats:
        """p(y | x), ``(n, 2)``."""
        log_odds = self.separation * (np.asarray(x, dtype=np.float64) @ DIRECTION)
        return np.stack([expit(-log_odds), expit(log_odds)], axis=1)

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """n instances, half of each class (one more of class 1 where n is odd), in random order."""
        y = rng.permutation(np.arange(n) >= n // 2).astype(np.intp)
        x = self.means[y] + rng.standard_normal((n, 2))
        return Sample(x, y, self.label_probs(x))


# Generated data in the plane; most have the exact label probabilities as `votes_test`.

Labels = NDArray[np.int64]

CENTRES = np.array([[-1.5, 1.5], [0.0, -1.5]])  # of the blobs
PAIR = ("0", "1")


def two_moons(n_train: int = 500, n_test: int = 500, *, noise: float = 0.1, rng: RandomState = None) -> Dataset:
    """Two interleaved half circles (disentanglement paper, Figs. 3 and 7), half of the instances on each.

    Parameters
    ----------
    noise : float
        Standard deviation of both coordinates; the radius of the half circles is 1.
    """
    _check_sizes(n_train, n_test)
    g = generator(rng)
    y = _balanced(n_train, n_test, g)
    t = g.uniform(0.0, np.pi, len(y))
    upper = np.stack([np.cos(t), np.sin(t)], axis=1)
    x = np.where(y[:, None] == 0, upper, [1.0, 0.5] - upper) + noise * g.standard_normal((len(y), 2))
    return _toy("two-moons", x, y, n_train)


def blobs(n_train: int = 500, n_test: int = 200, *, rng: RandomState = None) -> Dataset:
    """Two round Gaussians of unit variance about (−1.5, 1.5) and (0, −1.5), as in the authors' code of disentanglement."""
    _check_sizes(n_train, n_test)
    g = generator(rng)
    y = _balanced(n_train, n_test, g)
    x = CENTRES[y] + g.standard_normal((len(y), 2))
    squares = ((x[:, None] - CENTRES) ** 2).sum(axis=-1)  # (n, 2)
    to_one = 1.0 / (1.0 + np.exp((squares[:, 1] - squares[:, 0]) / 2))
    return _toy("blobs", x, y, n_train, to_one)


def triangle(n_train: int = 500, n_test: int = 500, *, rng: RandomState = None) -> Dataset:
    """No aleatoric uncertainty on the left, more and more to the right: the failure example of the disentanglement, Fig. 6.

    The paper shows a "triangle-shaped distribution" and prints no formula. Here the first coordinate u is uniform on
    [0, 1]; given u, the second is uniform on [−u, 1] for class 1 and on [−1, u] for class 0. The classes overlap only in the
    triangle |v| < u, where each has probability ½: at u, a share of 2u/(1 + u) of the instances cannot be told apart.
    """
    _check_sizes(n_train, n_test)
    g = generator(rng)
    y = _balanced(n_train, n_test, g)
    u = g.random(len(y))
    v = (2 * y - 1) * (g.random(len(y)) * (1 + u) - u)
    to_one = np.where(np.abs(v) < u, 0.5, v > 0)
    return _toy("triangle", np.stack([u, v], axis=1), y, n_train, to_one)


def gain_grid(n_train: int = N_GRID, n_test: int = 20_000, *, spread: float = 0.35, rng: RandomState = None) -> Dataset:
    """The grid of epistemic gain: its N = 142,693 points as training instances, and fresh points of the same grid to test."""
    _check_sizes(n_train, n_test)
    g = generator(rng)
    grid = GainGrid.drawn(spread, g)
    x, y = grid.sample(n_train + n_test, g)
    return _toy("gain-grid", x, y, n_train, grid.label_probs(x[n_train:])[:, 1])


def two_gaussians(
    n_train: int = 600, n_test: int = 400, *, bayes_error: float = 0.15, rng: RandomState = None
) -> Dataset:
    """One Gaussian per class, as in the ranking metrics, Sec. 17.1: 600 + 400 instances, half of each part from each class.

    The paper's means and variance are not legible; `bayes_error` fixes the distance of the means.
    """
    _check_sizes(n_train, n_test)
    g = generator(rng)
    pair = TwoGaussians(bayes_error)
    train, test = pair.sample(n_train, g), pair.sample(n_test, g)
    x, y = np.concatenate([train.x, test.x]), np.concatenate([train.y, test.y])
    return _toy("two-gaussians", x, y, n_train, test.label_probs[:, 1])


def _balanced(n_train: int, n_test: int, g: np.random.Generator) -> Labels:
    """Half of each part from each class, in random order."""
    return np.concatenate([g.permutation(np.arange(n) % 2) for n in (n_train, n_test)]).astype(np.int64)


def _toy(name: str, x: Floats, y: Labels, n_train: int, to_one: Floats | None = None) -> Dataset:
    """The first `n_train` rows are the training part; `to_one` is p(1 | x) of the test rows, or of all rows."""
    votes = None if to_one is None else np.stack([1.0 - to_one, to_one], axis=1)[-(len(y) - n_train) :]
    return Dataset(name, x[:n_train], y[:n_train], x[n_train:], y[n_train:], PAIR, votes_test=votes, source="generated")


def _check_sizes(n_train: int, n_test: int) -> None:
    for name, n in (("n_train", n_train), ("n_test", n_test)):
        whole(n, name, "both classes need an instance", least=2)
