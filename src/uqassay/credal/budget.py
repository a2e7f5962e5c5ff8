"""Sets of classes with the largest overlap: regions of classes, intersection over union, and an exact search by size.

The region of a class is a fuzzy set. u (K, U) holds the membership, in [0, 1], of each of U cells (or instances) in the
region of each class; weights (U,) are the sizes of the cells.
"""

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from uqassay.checks import fail

__all__ = ["best_overlapping_sets", "ellipsoid_cells", "overlaps"]

_DECIMALS = 12  # overlaps that agree to this many decimals are tied
_BLOCK = 4_000_000  # numbers in one block of the computation
_LARGEST_LOG_RATIO = 600.0  # of volumes, so that exp stays finite


def ellipsoid_cells(
    x: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, level: float, n_points: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Divide the union of the ellipsoids {x : (x−μ)ᵀ Σ⁻¹ (x−μ) ≤ χ²_D(level)} of the classes into cells, by Monte Carlo.

    Parameters
    ----------
    x : ndarray (n, D)
        Embeddings.
    y : ndarray (n,), int
        Class of each row.
    n_classes : int
        K.
    level : float
        Probability of the ellipsoid under the Gaussian of its class.
    n_points : int
        Total number of points, divided equally among the K ellipsoids, so that small ones are sampled as well.
    rng : Generator
        Source of the points.

    Returns
    -------
    inside : ndarray (K, U), bool
        True if the cell lies in the ellipsoid of the class.
    volumes : ndarray (U,)
        Unbiased estimate of each cell's volume, up to one common factor.

    Raises
    ------
    InputError
        A class with fewer than D + 1 points, or whose covariance matrix is singular.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> inside, volumes = ellipsoid_cells(x, np.array([0, 0, 1, 1]), 2, 0.95, 100, np.random.default_rng(0))
    >>> inside.astype(int), volumes / volumes.sum()
    (array([[0, 1],
           [1, 0]]), array([0.5, 0.5]))
    """
    dimension = x.shape[1]
    radius = float(np.sqrt(2 * gammaincinv(dimension / 2, level)))  # root of the chi-squared quantile
    gaussians = [_gaussian(x[y == c], c) for c in range(n_classes)]
    centres = np.array([mean for mean, _ in gaussians])  # (K, D)
    roots = radius * np.array([root for _, root in gaussians])  # (K, D, D): unit ball → ellipsoid
    per_class = -(-n_points // n_classes)
    direction = rng.standard_normal((n_classes, per_class, dimension))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    ball = direction * rng.random((n_classes, per_class, 1)) ** (1 / dimension)
    points = (centres[:, None] + ball @ roots.transpose(0, 2, 1)).reshape(-1, dimension)
    order = np.argsort(points[:, 0])  # sorted, so that only points near an ellipsoid are tested
    points, source = points[order], np.repeat(np.arange(n_classes), per_class)[order]
    reach = np.linalg.norm(roots[:, 0], axis=1)  # (K,) half width along the first axis
    near = np.searchsorted(points[:, 0], [centres[:, 0] - reach, centres[:, 0] + reach])  # (2, K)
    # (K, points): a point lies in the ellipsoid it was drawn from, despite rounding
    inside = source == np.arange(n_classes)[:, None]
    for c, (start, stop) in enumerate(near.T):
        z = np.einsum("de,ne->dn", np.linalg.inv(roots[c]), points[start:stop] - centres[c])
        inside[c, start:stop] |= np.einsum("dn,dn->n", z, z) <= 1
    bits, counts = _distinct_rows(np.packbits(inside.T, axis=1))
    cells = np.unpackbits(bits, axis=1, count=n_classes).astype(bool)  # (U, K)
    # The points have density Σ_c 1(x ∈ E_c) / (K V_c), so a cell of `counts` points has this volume up to a factor.
    log_volumes = np.linalg.slogdet(roots)[1]
    inverse_volumes = np.exp(np.minimum(log_volumes.max() - log_volumes, _LARGEST_LOG_RATIO))  # (K,)
    return np.ascontiguousarray(cells.T), counts / (cells @ inverse_volumes)


def _distinct_rows(rows: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Distinct rows ``(U, B)`` of bytes ``(n, B)``, in lexicographic order, and how often each occurs."""
    n, width = rows.shape
    if width > 8:
        return np.unique(rows, axis=0, return_counts=True)
    words = np.zeros((n, 8), np.uint8)
    words[:, 8 - width :] = rows  # big-endian numbers, in the order of the rows; numbers are sorted faster than rows
    distinct, counts = np.unique(words.view(">u8")[:, 0].astype(np.uint64), return_counts=True)
    return distinct.astype(">u8")[:, np.newaxis].view(np.uint8)[:, 8 - width :], counts


def overlaps(u: NDArray[Any], weights: NDArray[np.float64], candidates: NDArray[np.intp]) -> NDArray[np.float64]:
    """Intersection over union of regions, Σ_x w_x min_{c∈A} u_cx / Σ_x w_x max_{c∈A} u_cx, for candidates A.

    Parameters
    ----------
    u : ndarray (K, U)
        Memberships in [0, 1], or booleans.
    weights : ndarray (U,)
        Sizes of the cells.
    candidates : ndarray (C, s), int
        Sets of s ≥ 2 classes, as rising indices. Fastest in lexicographic order.

    Returns
    -------
    ndarray (C,)
        In [0, 1]; 0 where the union is empty.

    Examples
    --------
    >>> overlaps(np.array([[True, True, False], [False, True, True]]), np.ones(3), np.array([[0, 1]]))
    array([0.33333333])
    """
    sizes = u @ weights  # (K,)
    result = np.zeros(len(candidates))
    starts = np.flatnonzero(np.any(np.diff(candidates[:, :-1], axis=0), axis=1)) + 1
    for group in np.split(np.arange(len(candidates)), starts):  # candidates that differ only in the last class
        prefix = u[candidates[group[0], :-1]]  # (s − 1, U)
        active = np.flatnonzero(prefix.max(axis=0))
        w, prefix = weights[active], prefix[:, active]
        common, union = prefix.min(axis=0), prefix.max(axis=0)
        for block in np.split(group, range(0, len(group), max(1, _BLOCK // max(1, len(active))))[1:]):
            last = candidates[block, -1]
            others = u[last] if len(active) == u.shape[1] else u[np.ix_(last, active)]  # (block, active)
            both = np.minimum(common, others) @ w
            shared = both if len(prefix) == 1 else np.minimum(union, others) @ w
            volume = union @ w + sizes[last] - shared  # Σ max(a, b) = Σ a + Σ b − Σ min(a, b)
            np.divide(both, volume, out=result[block[0] : block[-1] + 1], where=volume > 0)
    return result


def best_overlapping_sets(
    u: NDArray[Any], weights: NDArray[np.float64], n_sets: int, max_size: int
) -> list[tuple[int, ...]]:
    """Find the n_sets sets of two or more classes with the largest non-zero overlaps.

    The overlap cannot increase when a set grows, and ties go to the smaller set, so each set ranks after all its subsets. A
    set of s + 1 classes can be among the best only if all its subsets of s classes are, so extending only those is exact.

    Parameters
    ----------
    u : ndarray (K, U)
        Memberships in [0, 1], or booleans.
    weights : ndarray (U,)
        Sizes of the cells.
    n_sets : int
        Number of sets.
    max_size : int
        Largest number of classes in a set.

    Returns
    -------
    list of tuples of int
        At most n_sets sets by decreasing overlap; ties (to 12 decimals): fewer classes first, then lexicographic.

    Examples
    --------
    >>> u = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]])
    >>> best_overlapping_sets(u, np.ones(3), 5, 3)
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    best: list[tuple[float, int, tuple[int, ...]]] = []
    candidates = np.column_stack(np.triu_indices(len(u), 1))
    while len(candidates) and n_sets:
        size = candidates.shape[1]
        found = overlaps(u, weights, candidates)
        ranks = -np.round(found, _DECIMALS)
        order = np.argsort(np.where(found > 0, ranks, 1.0), kind="stable")[: min(n_sets, np.count_nonzero(found > 0))]
        best += [(float(ranks[i]), size, tuple(candidates[i].tolist())) for i in order]
        best = sorted(best)[:n_sets]
        grown = _joined([classes for _, s, classes in best if s == size]) if size < max_size else []
        candidates = np.array(grown, dtype=np.intp).reshape(-1, size + 1)
    return [classes for _, _, classes in best]


def _gaussian(x: NDArray[np.float64], c: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean (D,) of class c and a matrix R (D, D) with R Rᵀ = Σ, from its embeddings (n, D)."""
    n, dimension = x.shape
    remedy = "add points, reduce the dimension or leave the class out"
    if n <= dimension:
        rule = f"must have at least D + 1 = {dimension + 1} points per class"
        fail("embeddings", rule, f"class {c} has {n}", remedy, code="empty")
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / (n - 1))
    if values[0] <= dimension * np.finfo(np.float64).eps * values[-1]:
        got = f"the smallest eigenvalue of class {c} is {values[0]:.3g} with a largest of {values[-1]:.3g}"
        fail("embeddings", "must have a covariance matrix of full rank in each class", got, remedy, code="undefined")
    return x.mean(axis=0), vectors * np.sqrt(values)


def _joined(sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Sets with one more class, all of whose subsets of the given size are in `sets`; sorted."""
    known = set(sets)
    last_classes = defaultdict(list)
    for classes in sorted(sets):
        last_classes[classes[:-1]].append(classes[-1])
    unions = ((*prefix, *pair) for prefix, last in last_classes.items() for pair in combinations(last, 2))
    return [union for union in unions if all(subset in known for subset in combinations(union, len(union) - 1))]
