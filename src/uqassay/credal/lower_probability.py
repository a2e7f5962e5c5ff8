"""Lower and upper probabilities of events, for hulls of distributions, probability intervals and masses.

There are three forms for each kind of set:

* given events, ``(E, K)`` boolean, with results ``(n, E)``;
* all 2^K events at once (K ≤ 16), as a *half lattice*: the 2^(K−1) events without the last class, in binary order, event
  axis first. Their complements follow from L(Aᶜ) = 1 − U(A);
* the prefixes of a random order of the classes, one event of each size, for any K.

A half lattice has three arrays: the probability of each event under one distribution of the set (the reference), its lower
and its upper probability.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.credal.intervals import intersection_probability
from uqassay.credal.moebius import check_enumerable
from uqassay.errors import InputError

__all__ = [
    "EventBounds",
    "fold_sum",
    "hull_event_bounds",
    "hull_lattice",
    "hull_prefixes",
    "interval_event_bounds",
    "interval_lattice",
    "interval_prefixes",
    "lattice_lower",
    "mass_event_bounds",
    "sum_over",
]

Array = NDArray[np.float64]
PREFIX_BLOCK = 16  # prefixes in one block: few enough to fit the cache of a core


class EventBounds(NamedTuple):
    """Probability of events under one distribution of the set (`reference`), and over the whole set."""

    reference: Array
    lower: Array
    upper: Array


def hull_event_bounds(points: ArrayLike, events: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper probability of given events over the convex hull of points.

    Parameters
    ----------
    points : array (n, V, K)
        Members or vertices of each instance's set.
    events : bool or 0/1 array (E, K)

    Returns
    -------
    lower, upper : array (n, E)

    Raises
    ------
    InputError
        Events that are not such a matrix, or points with a wrong number of dimensions.

    Examples
    --------
    >>> members = np.array([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]])
    >>> l, u = hull_event_bounds(members, np.array([[True, True, False]]))
    >>> l.round(3).tolist(), u.round(3).tolist()
    ([[0.7]], [[0.8]])
    """
    p = _float_array("points", points, "(n, V, K)", 3)
    chosen = _indicators("events", events, p.shape[2])
    lower = np.empty((p.shape[0], len(chosen)))
    upper = np.empty_like(lower)
    for e, event in enumerate(chosen):
        sums = sum_over(p, event)  # (n, V)
        lower[:, e] = sums.min(axis=1)
        upper[:, e] = sums.max(axis=1)
    return lower, upper


def interval_event_bounds(lower: ArrayLike, upper: ArrayLike, events: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper probability of given events over reachable intervals, L(A) = max(Σ_A l, 1 − Σ_{Aᶜ} u).

    Parameters
    ----------
    lower, upper : array (n, K)
        Reachable bounds.
    events : bool or 0/1 array (E, K)

    Returns
    -------
    lower, upper : array (n, E)

    Raises
    ------
    InputError
        Events that are not such a matrix, or bounds of wrong or different shapes.

    Examples
    --------
    >>> l, u = interval_event_bounds(np.array([[0.1, 0.5, 0.0]]), np.array([[0.5, 0.8, 0.1]]), [[1, 0, 1]])
    >>> l.round(3).tolist(), u.round(3).tolist()
    ([[0.2]], [[0.5]])
    """
    l, u = _float_array("lower", lower, "(n, K)", 2), _float_array("upper", upper, "(n, K)", 2)
    if l.shape != u.shape:
        raise InputError(
            "upper",
            f"must have the shape of lower, {l.shape}",
            f"got {u.shape}",
            "pass both bounds of every class",
            code="shape",
        )
    chosen = _indicators("events", events, l.shape[1])
    least = np.empty((l.shape[0], len(chosen)))
    most = np.empty_like(least)
    for e, event in enumerate(chosen):
        least[:, e] = np.maximum(sum_over(l, event), 1.0 - sum_over(u, ~event))
        most[:, e] = np.minimum(sum_over(u, event), 1.0 - sum_over(l, ~event))
    return least, most


def mass_event_bounds(masses: ArrayLike, focal_sets: ArrayLike, events: ArrayLike) -> tuple[Array, Array]:
    """Belief and plausibility of given events, Bel(A) = Σ_{B⊆A} m(B) and Pl(A) = Σ_{B∩A≠∅} m(B).

    Parameters
    ----------
    masses : array (n, F)
    focal_sets : bool or 0/1 array (F, K)
    events : bool or 0/1 array (E, K)

    Returns
    -------
    lower, upper : array (n, E)

    Raises
    ------
    InputError
        Events or focal sets that are not such matrices, or a number of masses that differs from the number of focal sets.

    Examples
    --------
    >>> sets = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
    >>> l, u = mass_event_bounds(np.array([[0.5, 0.3, 0.2]]), sets, sets[1:2])
    >>> l.round(3).tolist(), u.round(3).tolist()
    ([[0.8]], [[1.0]])
    """
    m = _float_array("masses", masses, "(n, F)", 2)
    sets = _indicators("focal_sets", focal_sets, None)
    if m.shape[1] != len(sets):
        raise InputError(
            "masses",
            f"must have one column for each of the {len(sets)} focal sets",
            f"got shape {m.shape}",
            "pass masses and focal_sets in the same order",
            code="mismatch",
        )
    chosen = _indicators("events", events, sets.shape[1])
    belief = np.empty((m.shape[0], len(chosen)))
    plausibility = np.empty_like(belief)
    for e, event in enumerate(chosen):
        inside = ~(sets & ~event).any(axis=1)
        touching = (sets & event).any(axis=1)
        belief[:, e] = sum_over(m, inside)
        plausibility[:, e] = sum_over(m, touching)
    return belief, plausibility


def sum_over(values: Array, chosen: NDArray[np.bool_]) -> Array:
    """Sum of the chosen entries of the last axis; rounding does not depend on the number of rows.

    `compress` makes the entries of a row contiguous. Indexing may not, and the order of summation would then change.
    """
    return np.compress(chosen, values, axis=-1).sum(axis=-1)


def _float_array(name: str, values: ArrayLike, shape: str, ndim: int) -> Array:
    array = as_numeric(values, name)
    if array.ndim != ndim:
        raise InputError(name, f"must have shape {shape}", f"got {array.shape}", "add or drop an axis", code="shape")
    return array.astype(np.float64, copy=False)


def _indicators(name: str, sets: ArrayLike, n_classes: int | None) -> NDArray[np.bool_]:
    """Sets of classes as rows of booleans. Called once per chunk, so boolean input is not inspected further."""
    remedy = "convert class indices with as_focal_sets"
    try:
        matrix: NDArray[Any] = np.asarray(sets)
    except ValueError as problem:
        raise InputError(
            name, "must be a matrix of booleans, one row per set", "got rows of unequal lengths", remedy, code="shape"
        ) from problem
    if matrix.ndim != 2 or (n_classes is not None and matrix.shape[1] != n_classes):
        columns = "K columns" if n_classes is None else f"{n_classes} columns, one per class"
        raise InputError(
            name, f"must be a matrix of booleans with {columns}", f"got shape {matrix.shape}", remedy, code="shape"
        )
    if matrix.dtype == np.bool_:
        return matrix
    flags = matrix == 1
    wrong = ~(flags | (matrix == 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            name, "must contain booleans, or 0 and 1", f"row {row} holds {matrix[row, column]!s}", remedy, code="type"
        )
    return flags


# -- all events -------------------------------------------------------------------------------------------------------


def hull_lattice(points: NDArray[np.floating]) -> EventBounds:
    """Half lattice of the convex hull of points ``(n, V, K)``; arrays ``(2^(K−1), n)``; the reference is point 0."""
    n, n_points, n_classes = points.shape
    check_enumerable(n_classes)
    sums = np.empty((2 ** (n_classes - 1), n))
    reference = _subset_sums(points[:, 0].T, sums.copy())
    lower, upper = reference.copy(), reference.copy()
    for v in range(1, n_points):
        _subset_sums(points[:, v].T, sums)
        np.minimum(lower, sums, out=lower)
        np.maximum(upper, sums, out=upper)
    return EventBounds(reference, lower, upper)


def interval_lattice(lower: Array, upper: Array) -> EventBounds:
    """Half lattice of reachable intervals ``(n, K)``; the reference is the intersection probability."""
    n_classes = lower.shape[1]
    check_enumerable(n_classes)
    empty = np.empty((2 ** (n_classes - 1), lower.shape[0]))
    reference = _subset_sums(intersection_probability(lower, upper).T, empty.copy())
    sum_l = _subset_sums(lower.T, empty.copy())
    sum_u = _subset_sums(upper.T, empty)
    return _interval_bounds(reference, sum_l, sum_u, lower.sum(axis=1), upper.sum(axis=1))


def lattice_lower(half: EventBounds) -> Array:
    """Lower probability of all 2^K events, ``(2^K, n)`` in binary order, from a half lattice."""
    return np.concatenate([half.lower, 1.0 - half.upper[::-1]])


def _subset_sums(p: NDArray[np.floating], out: Array) -> Array:
    """Probability of every event without the last class, ``(K, n)`` → ``(2^(K−1), n)``; each class doubles the table."""
    out[0] = 0.0
    for c in range(p.shape[0] - 1):
        np.add(out[: 2**c], p[c], out=out[2**c : 2 ** (c + 1)])
    return out


def _interval_bounds(reference: Array, sum_l: Array, sum_u: Array, total_l: Array, total_u: Array) -> EventBounds:
    lower = np.maximum(sum_l, 1.0 - (total_u - sum_u))
    upper = np.minimum(sum_u, 1.0 - (total_l - sum_l))
    # the reference lies inside up to rounding; clipping keeps every width ≥ 0
    return EventBounds(reference, np.minimum(lower, reference), np.maximum(upper, reference))


def fold_sum(values: Array) -> Array:
    """Sum over the first axis by halving, so that rounding does not depend on the number of columns."""
    rows = values.shape[0]
    while rows > 1:
        half = rows // 2
        folded = values[:half] + values[half : 2 * half]
        if rows % 2:
            folded[0] += values[rows - 1]
        values, rows = folded, half
    return values[0]


# -- one event of each size -------------------------------------------------------------------------------------------


def hull_prefixes(points_by_class: Array, order: NDArray[np.integer]) -> Iterator[tuple[slice, EventBounds]]:
    """Bounds of the K − 1 proper prefixes of an order of the classes, smallest first, in blocks.

    Parameters
    ----------
    points_by_class : array (K, V, n)
        Class axis first, so that each step adds one contiguous block.
    order : int array (K,)

    Yields
    ------
    sizes : slice
        The prefixes of this block, among the K − 1.
    EventBounds
        Arrays (b, n) for these b prefixes.
    """
    for sizes, sums in _prefix_sums(points_by_class, order):
        yield sizes, EventBounds(sums[:, 0], sums.min(axis=1), sums.max(axis=1))


def interval_prefixes(
    reference: Array, lower: Array, upper: Array, order: NDArray[np.integer]
) -> Iterator[tuple[slice, EventBounds]]:
    """Bounds of the prefixes of `hull_prefixes` by reachable intervals around a distribution, all three ``(K, n)``."""
    totals = fold_sum(lower), fold_sum(upper)
    stacked = np.stack([reference, lower, upper], axis=1)  # (K, 3, n)
    for sizes, sums in _prefix_sums(stacked, order):
        yield sizes, _interval_bounds(sums[:, 0], sums[:, 1], sums[:, 2], *totals)


def _prefix_sums(terms: Array, order: NDArray[np.integer]) -> Iterator[tuple[slice, Array]]:
    """Running sums over an order of the first axis, without the last one, ``(b, …)`` at a time."""
    block = np.empty((PREFIX_BLOCK, *terms.shape[1:]))
    before = np.zeros(terms.shape[1:])
    for start in range(0, len(order) - 1, PREFIX_BLOCK):
        stop = min(start + PREFIX_BLOCK, len(order) - 1)
        for i, c in enumerate(order[start:stop]):
            np.add(before, terms[c], out=block[i])
            before = block[i]
        before = before.copy()
        yield slice(start, stop), block[: stop - start]
