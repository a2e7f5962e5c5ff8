"""Populations of mixtures that evolve towards the least value: starting mixtures, moves, the best that are kept.

References
----------
Storn, Price (1997), Differential evolution; Zhang, Sanderson (2009), JADE (moves towards one of the best).
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.calibration.row_numbers import RowNumbers

__all__ = [
    "ALONG",
    "GRID_SHARE",
    "MOVED_SHARE",
    "TOWARDS",
    "best_count",
    "best_of",
    "dealt_out",
    "first_mixtures",
    "moved_mixtures",
    "onto_simplex",
    "sizes",
    "survivors",
]

Floats = NDArray[np.float64]

BEST_SHARE = 0.15  # share of a population that counts as the best
TOWARDS = np.array(
    [0.5, 0.5]
)  # least share of the distance to one of the best that a mixture moves, and width of the range
ALONG = np.array([0.3, 0.9 - 0.3])  # the same for the move along the difference of two others
MOVED_SHARE = 0.9  # share of the weights of a mixture that a move changes
GRID_SHARE = 3  # with two members: 3 times as many starting mixtures on a grid, then fewer generations


# -- starting mixtures --------------------------------------------------------------------------------------------------


def first_mixtures(m: int, n: int, generator: np.random.Generator) -> Floats:
    """The mean, the members, and n mixtures: uniform, near faces and on edges; for two members an even grid."""
    if m == 1:
        return np.ones((1, 1))
    corners = np.concatenate([np.full((1, m), 1 / m), np.eye(m)])
    if m == 2:
        n *= GRID_SHARE
        share = (np.arange(n) + 0.5) / n
        return np.concatenate([corners, np.stack([share, 1 - share], axis=1)])
    n_pairs = n // 2
    even = generator.dirichlet(np.ones(m), n // 4)
    faces = generator.dirichlet(np.full(m, 0.3), n - n_pairs - n // 4)
    one, other = _pairs(m)
    dealt = generator.permutation(len(one))[np.arange(n_pairs) % len(one)]  # every pair of members equally often
    pairs, share, rows = np.zeros((n_pairs, m)), generator.random(n_pairs), np.arange(n_pairs)
    pairs[rows, one[dealt]], pairs[rows, other[dealt]] = share, 1 - share
    return np.concatenate([corners, even, faces, pairs])


@cache
def _pairs(m: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second member of every pair."""
    return np.triu_indices(m, 1)


def dealt_out(first: Floats, values: Floats, n_populations: int, n_kept: int) -> tuple[Floats, Floats]:
    """Deal the best mixtures (L, M) with values (T, L) out to populations (T, S, P, M), each sorted by its values (T, S, P)."""
    t, n_first = values.shape
    n_populations = min(n_populations, n_first)
    size = min(n_kept, max(1, 30 * (first.shape[1] - 1)), n_first // n_populations)
    best = np.argsort(values, axis=1, kind="stable")[:, : size * n_populations]
    best = best.reshape(t, size, n_populations).swapaxes(1, 2)
    return first[best], values[np.arange(t)[:, np.newaxis, np.newaxis], best]


# -- populations --------------------------------------------------------------------------------------------------------


def sizes(size: int, n_left: int, n_generations: int) -> list[int]:
    """Size of a population after each generation; it falls linearly."""
    left = min(n_left, size)
    return [left + (size - left) * (n_generations - i) // n_generations for i in range(1, n_generations + 1)]


@cache
def best_count(size: int) -> int:
    """How many mixtures of a population count as the best."""
    return min(size, max(2, round(BEST_SHARE * size)))


def moved_mixtures(weights: Floats, numbers: RowNumbers) -> Floats:
    """One move of every mixture of the populations (T, P, M), which are sorted by value.

    x + F₁ (best − x) + F₂ (one − other), in most of the coordinates, projected onto the simplex.
    """
    t, p, m = weights.shape
    n_best = best_count(p)
    drawn, changed = numbers.random((5, t, p), axis=1), numbers.random((t, p, m))
    compiled = kernel("children_of")
    if compiled is not None:
        return compiled(np.ascontiguousarray(weights), drawn, changed, n_best, TOWARDS, ALONG, MOVED_SHARE)
    chosen = (drawn[:3] * np.array([n_best, p, p])[:, np.newaxis, np.newaxis]).astype(np.intp)
    chosen += np.arange(0, t * p, p)[:, np.newaxis]
    moved, one, other = weights.reshape(t * p, m).take(chosen, axis=0)
    moved -= weights
    moved *= TOWARDS[0] + TOWARDS[1] * drawn[3, ..., np.newaxis]
    one -= other
    one *= ALONG[0] + ALONG[1] * drawn[4, ..., np.newaxis]
    moved += one
    moved *= changed < MOVED_SHARE
    moved += weights
    return onto_simplex(moved)


def survivors(weights: Floats, values: Floats, children: Floats, found: Floats, size: int) -> tuple[Floats, Floats]:
    """The better of each mixture and its child, and of these the `size` best of each population, sorted by value."""
    compiled = kernel("survivors")
    if compiled is not None:
        weights, values = compiled(*map(np.ascontiguousarray, (weights, values, children, found)), size)
        return weights, values[..., 0]
    better = found <= values
    return best_of(np.where(better[..., np.newaxis], children, weights), np.where(better, found, values), size)


def best_of(weights: Floats, values: Floats, size: int) -> tuple[Floats, Floats]:
    """The `size` best of each population, sorted by value."""
    order = np.argsort(values, axis=1, kind="stable")[:, :size]
    rows = np.arange(len(values))[:, np.newaxis]
    return weights[rows, order], values[rows, order]


def onto_simplex(points: Floats) -> Floats:
    """The nearest point of the simplex, (..., M) -> (..., M).

    Examples
    --------
    >>> onto_simplex(np.array([0.9, 0.5, -0.3])).round(3).tolist()
    [0.7, 0.3, 0.0]

    References
    ----------
    Held, Wolfe, Crowder (1974), Validation of subgradient optimization.
    """
    compiled = kernel("onto_simplex")
    if compiled is not None and points.size:
        flat = np.ascontiguousarray(points, dtype=np.float64).reshape(1, -1, points.shape[-1])
        return compiled(flat).reshape(points.shape)
    # The projection is max(x − τ, 0); τ is the greatest of (Σ of the j largest − 1) / j over j.
    excess = np.cumsum(np.sort(points, axis=-1)[..., ::-1], axis=-1)
    excess -= 1
    excess /= np.arange(1, points.shape[-1] + 1)
    nearest = points - excess.max(axis=-1, keepdims=True)
    return np.maximum(nearest, 0.0, out=nearest)
