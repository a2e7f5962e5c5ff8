"""Vertices of credal sets from masses, from lower probabilities of all events, and from probability intervals."""

from itertools import permutations as all_orders

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import tolerance_of
from uqassay.checks import fail, matrix, whole
from uqassay.credal.events import as_focal_sets
from uqassay.errors import TooManyClassesError

__all__ = [
    "MAX_BOX_CLASSES",
    "MAX_PERMUTED_CLASSES",
    "box_vertices",
    "lower_probability_vertices",
    "outermost_permutations",
    "permutation_vertices",
    "unique_vertices",
]

MAX_PERMUTED_CLASSES = 7  # 7! = 5,040 orders
MAX_BOX_CLASSES = 12  # at most 5,544 vertices, searched among 2^12 corners and 12·2^11 edges

_TOUCHING = 1e-12  # a sum this close to 1 counts as 1
_BLOCK = 4_000_000  # numbers in one block of the search for box vertices


def permutation_vertices(
    masses: ArrayLike, focal_sets: ArrayLike, *, permutations: ArrayLike | str | None = None
) -> NDArray[np.float64]:
    """Return the vertices of masses: for an order π, each focal set gives its mass to its first class in π.

    p^π(π_i) = Σ m(A) over the focal sets A that contain π_i and none of π_1, …, π_{i−1}.

    Parameters
    ----------
    masses : array (n, F)
        Mass of each focal set, not normalised: a point sums to the total mass of its row.
    focal_sets : array (F, K) of bool or 0/1
        The family.
    permutations : array (P, K) of int, "outermost", or None
        Orders of the classes; "outermost" means `outermost_permutations`; None means all K! (K ≤ 7), in lexicographic
        order.

    Returns
    -------
    ndarray (n, P, K)
        One point per permutation, duplicates included (see `unique_vertices`). With non-negative masses all K! orders
        give all vertices of the set of distributions that dominate the belief function, and no point outside it.

    Raises
    ------
    TooManyClassesError
        All permutations of more than 7 classes.
    InputError
        Masses that are not finite or do not fit the family, or a row that is not a permutation.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Eq. 5.

    Examples
    --------
    >>> permutation_vertices([[0.5, 0.0, 0.5]], np.array([[1, 0], [0, 1], [1, 1]]))
    array([[[1. , 0. ],
            [0.5, 0.5]]])
    """
    sets = as_focal_sets(focal_sets)
    m = matrix(masses, "masses", columns=sets.shape[0])
    orders = _orders(permutations, sets.shape[1])
    rank = np.argsort(orders, axis=1)  # (P, K) position of each class in each order
    first = np.full((len(orders), len(sets)), sets.shape[1], dtype=rank.dtype)  # (P, F) position of a set's first class
    for c in range(sets.shape[1]):
        np.minimum(first, rank[:, c, None], out=first, where=sets[:, c])
    points = np.empty((len(m), len(orders), sets.shape[1]))
    for c in range(sets.shape[1]):
        holders = np.flatnonzero(sets[:, c])
        receives = first[:, holders] == rank[:, c, None]  # (P, holders) true for sets whose mass goes to class c
        bits, which = np.unique(np.packbits(receives, axis=1), axis=0, return_inverse=True)
        sums = np.empty((len(m), len(bits)))  # many orders give class c the same sets: each case is summed once
        for case, chosen in enumerate(np.unpackbits(bits, axis=1, count=len(holders)).astype(bool)):
            sums[:, case] = np.take(m, holders[chosen], axis=1).sum(axis=1)
        points[:, :, c] = np.take(sums, which.reshape(-1), axis=1)
    return points


def outermost_permutations(n_classes: int) -> NDArray[np.intp]:
    """Return the paper's 2K orders: each class first, then each class last, the other classes in index order.

    Parameters
    ----------
    n_classes : int
        K.

    Returns
    -------
    ndarray (2K, K), int
        Row i has class i first, row K + i has class i last. Vertex i therefore gives class i its upper probability,
        and vertex K + i its lower probability. Rows 0 and 2K − 1 are the same order, so at most 2K − 1
        vertices are distinct.

    Raises
    ------
    InputError
        K below 1.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Appendix D.

    Examples
    --------
    >>> outermost_permutations(3).tolist()
    [[0, 1, 2], [1, 0, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1], [0, 1, 2]]
    """
    n_classes = whole(n_classes, "n_classes", "pass 1 or more", least=1)
    order = np.broadcast_to(np.arange(n_classes), (n_classes, n_classes))
    others = order[~np.eye(n_classes, dtype=bool)].reshape(n_classes, n_classes - 1)  # row i: all classes but i
    chosen = np.arange(n_classes)[:, None]
    return np.concatenate([np.hstack([chosen, others]), np.hstack([others, chosen])])


def lower_probability_vertices(lower: ArrayLike, *, permutations: ArrayLike | str | None = None) -> NDArray[np.float64]:
    """Return the points of a lower probability on all events, one per order of the classes.

    p^π(π_i) = U({π_1, …, π_i}) − U({π_1, …, π_{i−1}}) with the upper probability U(A) = 1 − L(A^c). On a belief
    function this is `permutation_vertices` of its masses.

    Parameters
    ----------
    lower : array (n, 2^K)
        L of all events in binary order: event A contains class c iff bit c of A is 1; L(∅) = 0 and L(Ω) = 1.
    permutations : array (P, K) of int, "outermost", or None
        As in `permutation_vertices`.

    Returns
    -------
    ndarray (n, P, K)
        One point per permutation, duplicates included; rows sum to 1. The points are the vertices of
        {p : p(A) ≥ L(A) for all A} if L is 2-monotone (beliefs, probability intervals). Otherwise, as for the lower
        envelope of members, they can lie outside that set and even outside the simplex.

    Raises
    ------
    TooManyClassesError
        All permutations of more than 7 classes.
    InputError
        A number of events that is not a power of 2, L(∅) ≠ 0, L(Ω) ≠ 1, or a row that is not a permutation.

    Examples
    --------
    >>> lower_probability_vertices([[0.0, 0.25, 0.5, 1.0]])
    array([[[0.5 , 0.5 ],
            [0.25, 0.75]]])
    """
    given = np.asarray(lower)
    n_events = given.shape[1] if given.ndim == 2 else 0
    if n_events < 2 or n_events & (n_events - 1):
        rule = "must have shape (n, 2^K), one column per event"
        fail("lower", rule, f"got {given.shape}", "pass all events in binary order", code="shape")
    l = matrix(given, "lower", columns=n_events)
    tolerance = tolerance_of(given)
    bad = np.flatnonzero((np.abs(l[:, 0]) > tolerance) | (np.abs(l[:, -1] - 1) > tolerance))
    if len(bad):
        rule = "must be 0 for the empty event (first column) and 1 for the sure event (last)"
        got = f"row {bad[0]} has {l[bad[0], 0]:g} and {l[bad[0], -1]:g}"
        fail("lower", rule, got, "pass the events in binary order", code="range")
    orders = _orders(permutations, n_events.bit_length() - 1)
    after = n_events - 1 - np.cumsum(1 << orders, axis=1)  # (P, K) code of the classes that follow the i-th
    by_class = np.argsort(orders, axis=1)
    following = np.take_along_axis(after, by_class, axis=1)  # (P, K) code of the classes that follow class c
    itself = 1 << np.arange(orders.shape[1])
    return np.take(l, following + itself, axis=1) - np.take(l, following, axis=1)


def box_vertices(lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the vertices of {p : l ≤ p ≤ u, Σ p = 1}: all coordinates except at most one are at a bound.

    Parameters
    ----------
    lower, upper : array (n, K)
        Bounds l and u, at most 12 classes. They need not be reachable.

    Returns
    -------
    vertices : ndarray (n, V, K)
        Distinct vertices. Rows with fewer than V repeat their first vertex, which does not change the convex hull.
    counts : ndarray (n,), int
        Number of distinct vertices of each row.

    Raises
    ------
    TooManyClassesError
        More than 12 classes.
    InputError
        Bounds with l > u, or that contain no distribution.

    Examples
    --------
    >>> vertices, counts = box_vertices([[0.25, 0.0, 0.0]], [[1.0, 1.0, 0.5]])
    >>> vertices[0].tolist(), counts.tolist()
    ([[0.5, 0.0, 0.5], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]], [4])
    """
    l, u = _bounds(lower, upper)
    n, n_classes = l.shape
    if n_classes > MAX_BOX_CLASSES:
        raise TooManyClassesError(
            "lower",
            f"must have at most {MAX_BOX_CLASSES} classes to list box vertices",
            f"got {n_classes} classes",
            "work with the bounds",
            code="size",
        )
    step = max(1, _BLOCK // (2**n_classes * (n_classes + 1)))
    found = [_box_points(l[i : i + step], u[i : i + step]) for i in range(0, n, step)]
    points, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    starts, place = np.cumsum(counts) - counts, np.arange(counts.max())
    return points[starts[:, None] + np.where(place < counts[:, None], place, 0)], counts


def unique_vertices(vertices: ArrayLike, *, decimals: int = 12) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Remove duplicate vertices within each instance.

    Parameters
    ----------
    vertices : array (n, V, K)
        Points.
    decimals : int, default 12
        Points that are equal after rounding to this many decimals are duplicates; the first one is kept, unrounded.

    Returns
    -------
    vertices : ndarray (n, V', K)
        Distinct points in their original order. Rows with fewer than V' repeat their first point: the array stays
        rectangular and the convex hull the same.
    counts : ndarray (n,), int
        Number of distinct points of each row.

    Raises
    ------
    InputError
        A wrong number of axes, no vertex at all, or values that are not finite.

    Examples
    --------
    >>> points, counts = unique_vertices([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]])
    >>> points.tolist()
    [[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]]
    >>> counts
    array([1, 2])
    """
    v = np.asarray(vertices, dtype=np.float64)
    if v.ndim != 3 or v.size == 0:
        rule = "must have shape (n, V, K) without an axis of length 0"
        fail("vertices", rule, f"got {v.shape}", "pass at least one vertex", code="shape")
    bad = np.flatnonzero(~np.isfinite(v).all(axis=(1, 2)))
    if len(bad):
        fail("vertices", "must be finite", f"row {bad[0]} holds nan or inf", "drop or repair the row", code="finite")
    rounded = np.round(v, decimals)
    order = np.lexsort(np.moveaxis(rounded, 2, 0), axis=-1)  # (n, V), stable: the first of equal points comes first
    ordered = np.take_along_axis(rounded, order[:, :, None], axis=1)
    new = np.ones(v.shape[:2], dtype=bool)
    new[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=2)
    keep = np.empty_like(new)
    np.put_along_axis(keep, order, new, axis=1)
    counts = keep.sum(axis=1)  # (n,)
    kept_first = np.argsort(~keep, axis=1, kind="stable")[:, : counts.max()]
    chosen = np.where(np.arange(kept_first.shape[1]) < counts[:, None], kept_first, kept_first[:, :1])
    return np.take_along_axis(v, chosen[:, :, None], axis=1), counts


def _orders(permutations: ArrayLike | str | None, n_classes: int) -> NDArray[np.intp]:
    if permutations is None:
        if n_classes > MAX_PERMUTED_CLASSES:
            raise TooManyClassesError(
                "permutations",
                f"must be given for more than {MAX_PERMUTED_CLASSES} classes, where all K! orders are too many",
                f"got {n_classes} classes",
                'pass permutations="outermost" or an array (P, K)',
                code="size",
            )
        return np.array(list(all_orders(range(n_classes))), dtype=np.intp)
    if isinstance(permutations, str):
        if permutations != "outermost":
            rule = 'must be "outermost", an array (P, K) or None'
            fail("permutations", rule, f"got {permutations!r}", "choose one of them", code="choice")
        return outermost_permutations(n_classes)
    orders = np.asarray(permutations)
    if orders.ndim != 2 or orders.shape[0] == 0 or orders.shape[1] != n_classes or orders.dtype.kind not in "iu":
        rule = f"must be integers of shape (P, {n_classes}) with P at least 1"
        got = f"got {orders.dtype} of shape {orders.shape}"
        fail("permutations", rule, got, "pass one order of the classes per row", code="shape")
    bad = np.flatnonzero((np.sort(orders, axis=1) != np.arange(n_classes)).any(axis=1))
    if len(bad):
        rule = f"must contain every class 0..{n_classes - 1} once in each row"
        fail("permutations", rule, f"row {bad[0]} is {orders[bad[0]].tolist()}", "correct the row", code="choice")
    return orders.astype(np.intp)


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    given = np.asarray(lower), np.asarray(upper)
    if given[0].ndim != 2 or given[0].size == 0 or given[0].shape != given[1].shape:
        remedy = "pass one lower and one upper bound per class"
        fail(
            "lower, upper",
            "must both have shape (n, K)",
            f"got {given[0].shape} and {given[1].shape}",
            remedy,
            code="shape",
        )
    l, u = (matrix(a, name, columns=given[0].shape[1]) for name, a in zip(("lower", "upper"), given, strict=True))
    tolerance = tolerance_of(*given)
    bad = np.flatnonzero((l > u).any(axis=1) | (l.sum(axis=1) > 1 + tolerance) | (u.sum(axis=1) < 1 - tolerance))
    if len(bad):
        row = bad[0]
        got = (
            f"row {row} has Σ l = {l[row].sum():g}, Σ u = {u[row].sum():g} and a smallest width "
            f"of {(u[row] - l[row]).min():g}"
        )
        fail("lower, upper", "must have l ≤ u and Σ l ≤ 1 ≤ Σ u in each row", got, "correct the bounds", code="range")
    return l, u


def _box_points(l: NDArray[np.float64], u: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Vertices of all rows, one after the other (T, K), and their number in each row (n,).

    Corner b of the box has coordinate c at u iff bit c of b is 1. A vertex is a corner in the plane Σ p = 1, or the point
    where an edge (corner b with bit j changing from 0 to 1) crosses the plane.
    """
    n, n_classes = l.shape
    wide = u - l > _TOUCHING  # (n, K); narrow coordinates count as fixed at l
    corners = np.arange(2**n_classes)
    excess, valid = np.full((n, 1), -1.0), np.ones((n, 1), dtype=bool)
    for c in range(n_classes):  # (n, 2^c) → (n, 2^(c+1))
        excess = np.concatenate([excess + l[:, c, None], excess + u[:, c, None]], axis=1)
        valid = np.concatenate([valid, valid & wide[:, c, None]], axis=1)
    inside = np.empty((n, n_classes + 1, 2**n_classes), dtype=bool)  # edges along 0..K−1, then the corners themselves
    below, above = valid & (excess < -_TOUCHING), valid & (excess > _TOUCHING)
    inside[:, n_classes] = valid & (np.abs(excess) <= _TOUCHING)
    for j in range(n_classes):
        inside[:, j] = (corners >> j & 1 == 0) & below & np.take(above, corners | 1 << j, axis=1)
    rows, highest = np.arange(n), (wide << np.arange(n_classes)).sum(axis=1)
    inside[:, n_classes, 0] |= excess[:, 0] > 0  # Σ l above 1 by rounding
    inside[rows, n_classes, highest] |= excess[rows, highest] < 0  # Σ u below 1 by rounding
    row, free, base = np.nonzero(inside)  # (T,)
    at_upper = base[:, None] >> np.arange(n_classes) & 1 == 1  # (T, K)
    points = np.where(at_upper, u[row], l[row])
    edge = np.flatnonzero(free < n_classes)
    at = row[edge], free[edge]
    points[edge, free[edge]] = np.clip(l[at] - excess[row[edge], base[edge]], l[at], u[at])
    return points, np.bincount(row, minlength=n)
