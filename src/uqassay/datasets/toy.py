"""Generated data in the plane; most have the exact label probabilities as `votes_test`."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, generator
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.two_gaussians import TwoGaussians
from uqassay.errors import InputError

__all__ = ["GainGrid", "blobs", "gain_grid", "triangle", "two_gaussians", "two_moons"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

GRID = (38, 46)  # clusters of paper 002
N_GRID = 142_693
CENTRES = np.array([[-1.5, 1.5], [0.0, -1.5]])  # of the blobs
PAIR = ("0", "1")


def two_moons(n_train: int = 500, n_test: int = 500, *, noise: float = 0.1, rng: RandomState = None) -> Dataset:
    """Two interleaved half circles (paper 004, Figs. 3 and 7), half of the instances on each.

    Parameters
    ----------
    n_train, n_test : int
    noise : float
        Standard deviation of both coordinates; the radius of the half circles is 1.
    rng : int, SeedSequence, Generator or None
    """
    _check_sizes(n_train, n_test)
    g = generator(rng)
    y = _balanced(n_train, n_test, g)
    t = g.uniform(0.0, np.pi, len(y))
    upper = np.stack([np.cos(t), np.sin(t)], axis=1)
    x = np.where(y[:, None] == 0, upper, [1.0, 0.5] - upper) + noise * g.standard_normal((len(y), 2))
    return _toy("two-moons", x, y, n_train)


def blobs(n_train: int = 500, n_test: int = 200, *, rng: RandomState = None) -> Dataset:
    """Two round Gaussians of unit variance about (−1.5, 1.5) and (0, −1.5), as in the authors' code of paper 004."""
    _check_sizes(n_train, n_test)
    g = generator(rng)
    y = _balanced(n_train, n_test, g)
    x = CENTRES[y] + g.standard_normal((len(y), 2))
    squares = ((x[:, None] - CENTRES) ** 2).sum(axis=-1)  # (n, 2)
    to_one = 1.0 / (1.0 + np.exp((squares[:, 1] - squares[:, 0]) / 2))
    return _toy("blobs", x, y, n_train, to_one)


def triangle(n_train: int = 500, n_test: int = 500, *, rng: RandomState = None) -> Dataset:
    """No aleatoric uncertainty on the left, more and more to the right: the failure example of paper 004, Fig. 6.

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


@final
@dataclass(frozen=True, eq=False)
class GainGrid:
    """A mixture of 38 × 46 round Gaussians at the points of a grid, a random half of them of class 1 (paper 002, 5.3).

    Attributes
    ----------
    spread : float
        Standard deviation of a cluster; the distance of neighbours is 1. The paper prints a spread of 1, which contradicts
        its Fig. 2: the error of the best classifier is .380 at 1, .255 at .5, .138 at .35 and .043 at .25.
    of_class_1 : bool array (38, 46)
        Clusters of class 1; the centre of cluster [j, k] is (j + 1, k + 1).

    Examples
    --------
    >>> grid = GainGrid.drawn(0.25)
    >>> grid.of_class_1.shape, int(grid.of_class_1.sum())
    ((38, 46), 874)
    """

    spread: float
    of_class_1: NDArray[np.bool_]

    @classmethod
    def drawn(cls, spread: float = 0.35, rng: RandomState = None) -> "GainGrid":
        """A grid with a random half of the clusters in class 1."""
        if not 0.0 < spread < np.inf:
            raise InputError(
                "spread",
                "must be positive",
                f"got {spread}",
                "0.35 lies between the paper's text and its figure",
                code="range",
            )
        n = GRID[0] * GRID[1]
        chosen = np.zeros(n, dtype=bool)
        chosen[generator(rng).permutation(n)[: n // 2]] = True
        return cls(spread, chosen.reshape(GRID))

    def sample(self, n: int, rng: RandomState = None) -> tuple[Array, Labels]:
        """Inputs ``(n, 2)`` and labels ``(n,)``, every cluster with equal probability."""
        g = generator(rng)
        j, k = (g.integers(0, size, n) for size in GRID)
        x = np.stack([j, k], axis=1) + 1.0 + self.spread * g.standard_normal((n, 2))
        return x, self.of_class_1[j, k].astype(np.int64)

    def label_probs(self, x: ArrayLike) -> Array:
        """p(y | x), ``(n, 2)``; the density of a cluster is the product of one along each axis."""
        points = np.asarray(x, dtype=np.float64)
        along_j, along_k = (self._density(points[:, axis], size) for axis, size in enumerate(GRID))  # (n, 38), (n, 46)
        of_one = ((along_j @ self.of_class_1) * along_k).sum(axis=1)
        to_one = of_one / (along_j.sum(axis=1) * along_k.sum(axis=1))
        return np.stack([1.0 - to_one, to_one], axis=1)

    def _density(self, values: Array, size: int) -> Array:
        """exp(−(value − centre)²/2σ²) of the centres 1 … size, with each row divided by its largest value."""
        exponent = -0.5 * ((values[:, None] - np.arange(1, size + 1)) / self.spread) ** 2
        return np.asarray(np.exp(exponent - exponent.max(axis=1, keepdims=True)))


def gain_grid(n_train: int = N_GRID, n_test: int = 20_000, *, spread: float = 0.35, rng: RandomState = None) -> Dataset:
    """The grid of paper 002: its N = 142,693 points as training instances, and fresh points of the same grid to test."""
    _check_sizes(n_train, n_test)
    g = generator(rng)
    grid = GainGrid.drawn(spread, g)
    x, y = grid.sample(n_train + n_test, g)
    return _toy("gain-grid", x, y, n_train, grid.label_probs(x[n_train:])[:, 1])


def two_gaussians(
    n_train: int = 600, n_test: int = 400, *, bayes_error: float = 0.15, rng: RandomState = None
) -> Dataset:
    """One Gaussian per class, as in paper 003, Sec. 17.1: 600 + 400 instances, half of each part from each class.

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


def _toy(name: str, x: Array, y: Labels, n_train: int, to_one: Array | None = None) -> Dataset:
    """The first `n_train` rows are the training part; `to_one` is p(1 | x) of the test rows, or of all rows."""
    votes = None if to_one is None else np.stack([1.0 - to_one, to_one], axis=1)[-(len(y) - n_train) :]
    return Dataset(name, x[:n_train], y[:n_train], x[n_train:], y[n_train:], PAIR, votes_test=votes, source="generated")


def _check_sizes(n_train: int, n_test: int) -> None:
    for name, n in (("n_train", n_train), ("n_test", n_test)):
        if n < 2:
            raise InputError(
                name, "must be at least 2, one instance of each class", f"got {n}", "ask for more", code="range"
            )
