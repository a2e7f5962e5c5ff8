"""Generated data in the plane; most have the exact label probabilities as `votes_test`."""

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState, generator
from uqassay.datasets.cluster_grids import N_GRID, GainGrid
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.two_gaussians import TwoGaussians
from uqassay.errors import InputError

__all__ = ["blobs", "gain_grid", "triangle", "two_gaussians", "two_moons"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

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
