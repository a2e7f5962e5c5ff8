"""Events and their lower probabilities: Möbius masses, families of focal sets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_numeric, generator, tolerance_of
from uqassay.checks import fail, matrix, whole
from uqassay.credal.budget import best_overlapping_sets, ellipsoid_cells
from uqassay.credal.intervals import intersection_probability
from uqassay.errors import InputError, TooManyClassesError
from uqassay.text import shown

__all__ = [
    "MAX_ENUMERATED_CLASSES",
    "EventBounds",
    "all_focal_sets",
    "as_focal_sets",
    "budget_from_confusion",
    "budget_from_embeddings",
    "check_enumerable",
    "event_sizes",
    "family_moebius",
    "fold_sum",
    "hull_event_bounds",
    "hull_lattice",
    "hull_prefixes",
    "interval_event_bounds",
    "interval_lattice",
    "interval_prefixes",
    "lattice_lower",
    "mass_event_bounds",
    "moebius_transform",
    "paper_masses",
    "sum_over",
    "zeta_transform",
]


# Fast zeta and Möbius transforms on the lattice of all 2^K events, and the inverse inside a family of focal sets.
#
# Events are numbered in binary: class c belongs to event A iff bit c of A is set; event 0 is empty, event 2^K − 1 is Ω.
# The event axis comes first, so that each step adds whole rows of instances.

MAX_ENUMERATED_CLASSES = 16


def check_enumerable(n_classes: int) -> None:
    """Refuse to enumerate 2^K events for K > 16."""
    if n_classes > MAX_ENUMERATED_CLASSES:
        raise TooManyClassesError(
            "focal_sets",
            f"must have at most {MAX_ENUMERATED_CLASSES} classes to enumerate all 2^K events",
            f"got K = {n_classes}",
            "pass a budgeted family of focal sets, or use generalised_hartley, which estimates without enumeration",
            code="size",
        )


def event_sizes(n_classes: int) -> NDArray[np.int64]:
    """Number of classes |A| of each of the 2^K events, in binary order, shape ``(2^K,)``.

    Examples
    --------
    >>> event_sizes(2).tolist()
    [0, 1, 1, 2]
    """
    check_enumerable(n_classes)
    return np.bitwise_count(np.arange(2**n_classes, dtype=np.uint32)).astype(np.int64)


def zeta_transform(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Belief of every event, Bel(A) = Σ_{B⊆A} m(B).

    Parameters
    ----------
    masses : array (2^K, …)
        Masses in binary order of events.

    Returns
    -------
    array (2^K, …)

    Examples
    --------
    >>> zeta_transform(np.array([0.0, 0.25, 0.25, 0.5])).tolist()
    [0.0, 0.25, 0.25, 1.0]
    """
    return _subset_sums(masses, np.add)


def moebius_transform(beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses of every event, m(A) = Σ_{B⊆A} (−1)^{|A−B|} Bel(B): the inverse of `zeta_transform`.

    Parameters
    ----------
    beliefs : array (2^K, …)
        Any set function in binary order of events, for example a lower probability.

    Returns
    -------
    array (2^K, …)
        The masses; some are negative if the set function is not totally monotone.

    Examples
    --------
    >>> moebius_transform(np.array([0.0, 0.25, 0.25, 1.0])).tolist()
    [0.0, 0.25, 0.25, 0.5]
    """
    return _subset_sums(beliefs, np.subtract)


def family_moebius(beliefs: NDArray[np.float64], focal_sets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Masses from beliefs on a family of sets: m(A) = Bel(A) − Σ m(B) over the sets B ⊂ A of the family.

    Parameters
    ----------
    beliefs : array (n, F)
        Belief of each set of the family.
    focal_sets : bool array (F, K)
        The family, without duplicates.

    Returns
    -------
    array (n, F)

    Notes
    -----
    The authors of the unified evaluation use this inverse. It equals `moebius_transform` if the masses outside the family
    are zero.

    Examples
    --------
    >>> family = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    >>> family_moebius(np.array([[0.25, 0.25, 1.0]]), family).tolist()
    [[0.25, 0.25, 0.5]]
    """
    sets = np.asarray(focal_sets, dtype=bool)
    included: NDArray[np.bool_] = np.all(sets[:, None, :] <= sets[None, :, :], axis=2)  # (F, F): entry [B, A] is B ⊆ A
    np.fill_diagonal(included, False)
    masses = np.array(beliefs, dtype=np.float64)
    for a in np.argsort(sets.sum(axis=1), kind="stable"):
        inside = included[:, a]
        if inside.any():
            masses[:, a] -= np.compress(inside, masses, axis=1).sum(axis=1)
    return masses


def _subset_sums(values: NDArray[np.float64], combine: np.ufunc) -> NDArray[np.float64]:
    out = np.array(values, dtype=np.float64)
    n_events = out.shape[0]
    n_classes = n_events.bit_length() - 1
    if n_events != 2**n_classes or n_events < 2:
        rule = "must have all 2^K events on the first axis"
        fail("values", rule, f"got length {n_events}", "number the events in binary", code="shape")
    for c in range(n_classes):
        pairs = out.reshape(2 ** (n_classes - 1 - c), 2, 2**c, *out.shape[1:])  # [.., bit c, ..]
        combine(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return out


# Lower and upper probabilities of events, for hulls of distributions, probability intervals and masses.
#
# There are three forms for each kind of set:
#
# * given events, ``(E, K)`` boolean, with results ``(n, E)``;
# * all 2^K events at once (K ≤ 16), as a *half lattice*: the 2^(K−1) events without the last class, in binary order, event
#   axis first. Their complements follow from L(Aᶜ) = 1 − U(A);
# * the prefixes of a random order of the classes, one event of each size, for any K.
#
# A half lattice has three arrays: the probability of each event under one distribution of the set (the reference), its
# lower and its upper probability.

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
        rule = f"must have the shape of lower, {l.shape}"
        fail("upper", rule, f"got {u.shape}", "pass both bounds of every class", code="shape")
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
        rule = f"must have one column for each of the {len(sets)} focal sets"
        fail("masses", rule, f"got shape {m.shape}", "pass masses and focal_sets in the same order", code="mismatch")
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
        fail(name, f"must have shape {shape}", f"got {array.shape}", "add or drop an axis", code="shape")
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
        fail(name, f"must be a matrix of booleans with {columns}", f"got shape {matrix.shape}", remedy, code="shape")
    if matrix.dtype == np.bool_:
        return matrix
    flags = matrix == 1
    wrong = ~(flags | (matrix == 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        fail(name, "must contain booleans, or 0 and 1", f"row {row} holds {matrix[row, column]!s}", remedy, code="type")
    return flags


# -- all events -------------------------------------------------------------------------------------------------------


def hull_lattice(points: NDArray[np.floating]) -> EventBounds:
    """Half lattice of the convex hull of points ``(n, V, K)``; arrays ``(2^(K−1), n)``; the reference is point 0."""
    n, n_points, n_classes = points.shape
    check_enumerable(n_classes)
    sums = np.empty((2 ** (n_classes - 1), n))
    reference = _sums_over_subsets(points[:, 0].T, sums.copy())
    lower, upper = reference.copy(), reference.copy()
    for v in range(1, n_points):
        _sums_over_subsets(points[:, v].T, sums)
        np.minimum(lower, sums, out=lower)
        np.maximum(upper, sums, out=upper)
    return EventBounds(reference, lower, upper)


def interval_lattice(lower: Array, upper: Array) -> EventBounds:
    """Half lattice of reachable intervals ``(n, K)``; the reference is the intersection probability."""
    n_classes = lower.shape[1]
    check_enumerable(n_classes)
    empty = np.empty((2 ** (n_classes - 1), lower.shape[0]))
    reference = _sums_over_subsets(intersection_probability(lower, upper).T, empty.copy())
    sum_l = _sums_over_subsets(lower.T, empty.copy())
    sum_u = _sums_over_subsets(upper.T, empty)
    return _interval_bounds(reference, sum_l, sum_u, lower.sum(axis=1), upper.sum(axis=1))


def lattice_lower(half: EventBounds) -> Array:
    """Lower probability of all 2^K events, ``(2^K, n)`` in binary order, from a half lattice."""
    return np.concatenate([half.lower, 1.0 - half.upper[::-1]])


def _sums_over_subsets(p: NDArray[np.floating], out: Array) -> Array:
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


# Families of focal sets: all events, or a budget of the most useful ones; and the paper's repair of masses.
#
# A family of F focal sets over K classes is a boolean matrix (F, K): entry (A, c) is true if class c is in set A.


def as_focal_sets(focal_sets: ArrayLike | Iterable[Any], n_classes: int | None = None) -> NDArray[np.bool_]:
    """Return a family of focal sets as a validated boolean matrix.

    Parameters
    ----------
    focal_sets : array (F, K) of bool or 0/1, or F collections of class indices
        An array is always read as a matrix; a list is always read as collections of class indices.
    n_classes : int, optional
        K. Required with collections of indices; checked against the number of columns of a matrix.

    Returns
    -------
    ndarray (F, K), bool

    Raises
    ------
    InputError
        An empty or duplicate set, an index out of range, a value other than 0 and 1, or a wrong number of classes.

    Examples
    --------
    >>> as_focal_sets([[0], [1], (0, 2)], n_classes=3).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    """
    n_classes = n_classes if n_classes is None else whole(n_classes, "n_classes", "pass 1 or more", least=1)
    if hasattr(focal_sets, "__array__"):
        sets = _from_matrix(np.asarray(focal_sets), n_classes)
    else:
        sets = _from_indices(focal_sets, n_classes)
    if len(sets) == 0:
        fail("focal_sets", "must contain at least one set", "got 0", "pass at least the singletons", code="empty")
    empty = np.flatnonzero(~sets.any(axis=1))
    if len(empty):
        fail("focal_sets", "must not contain an empty set", f"set {empty[0]} is empty", "remove it", code="empty")
    _, first, inverse = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True, return_inverse=True)
    original = first[inverse.reshape(-1)]  # (F,) position of the first set with the same classes
    repeated = np.flatnonzero(original != np.arange(len(sets)))
    if len(repeated):
        got = f"sets {original[repeated[0]]} and {repeated[0]} are the same"
        fail(
            "focal_sets",
            "must not contain a set twice",
            got,
            "remove one of them and add their masses",
            code="duplicate",
        )
    return sets


def all_focal_sets(n_classes: int) -> NDArray[np.bool_]:
    """Return all 2^K − 1 non-empty sets of classes in binary order: set A = 1, 2, … holds class c iff bit c of A is 1.

    Parameters
    ----------
    n_classes : int
        K, at most ``MAX_ENUMERATED_CLASSES``.

    Returns
    -------
    ndarray (2^K − 1, K), bool

    Raises
    ------
    TooManyClassesError
        K is above ``MAX_ENUMERATED_CLASSES``.

    Examples
    --------
    >>> all_focal_sets(2).astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    n_classes = whole(n_classes, "n_classes", "pass 1 or more", least=1)
    if n_classes > MAX_ENUMERATED_CLASSES:
        raise TooManyClassesError(
            "n_classes",
            f"must be at most {MAX_ENUMERATED_CLASSES} to list all 2^K events",
            f"got {n_classes}",
            "pass a family from budget_from_embeddings or budget_from_confusion, or use the estimator of generalised_hartley",
            code="size",
        )
    return (np.arange(1, 2**n_classes)[:, None] >> np.arange(n_classes)) % 2 == 1


def budget_from_embeddings(
    embeddings: ArrayLike,
    labels: ArrayLike,
    n_sets: int,
    *,
    n_classes: int | None = None,
    level: float = 0.95,
    max_size: int | None = None,
    n_points: int = 200_000,
    rng: int | np.random.Generator | None = None,
) -> NDArray[np.bool_]:
    """Choose a budget of focal sets: the singletons and the sets of classes whose embeddings overlap most.

    Each class has a fitted Gaussian with the ellipsoid {x : (x−μ)ᵀ Σ⁻¹ (x−μ) ≤ χ²_D(level)}. The overlap of a set of classes
    is the volume of the intersection of their ellipsoids divided by the volume of the union, by Monte Carlo. The overlap
    cannot increase when a set grows, so a search by cardinality finds exactly the best sets.

    Source: the budgeting of random-set neural networks in "A Unified Evaluation Framework for Epistemic Predictions". The
    authors' code uses a support function in place of the ellipsoid; here it is the ellipsoid itself.

    Parameters
    ----------
    embeddings : array (n, D)
        Features in few dimensions (the paper reduces the penultimate layer to D = 3).
    labels : array (n,), int
        True classes.
    n_sets : int
        Number of sets in addition to the singletons.
    n_classes : int, optional
        K; the largest label + 1 if not given.
    level : float, default 0.95
        Probability of the ellipsoid under the Gaussian of its class.
    max_size : int, optional
        Largest number of classes in a set; K if not given.
    n_points : int, default 200_000
        Monte-Carlo points, divided equally among the K ellipsoids; all sets are scored on the same points.
    rng : int or Generator, optional
        Seed of the points; None means 0.

    Returns
    -------
    ndarray (K + n', K), bool
        The K singletons in class order, then n' sets by decreasing overlap (ties to 12 decimals: fewer classes first, then
        lexicographic); n' < n_sets if fewer sets have a non-zero overlap.

    Raises
    ------
    InputError
        Among others, a class with too few or collinear points for a covariance matrix.

    Examples
    --------
    >>> cross = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    >>> embeddings = np.concatenate([cross, cross + [1, 0], cross + [50, 0]])
    >>> budget_from_embeddings(embeddings, np.repeat([0, 1, 2], 4), 3)[3:]
    array([[ True,  True, False]])
    """
    x = matrix(embeddings, "embeddings")
    y, n_classes = _labels(labels, len(x), n_classes)
    if not 0 < level < 1:
        fail("level", "must lie strictly between 0 and 1", f"got {level}", "pass 0.95, the usual level", code="range")
    random = generator(rng)
    inside, volumes = ellipsoid_cells(
        x, y, n_classes, level, whole(n_points, "n_points", "pass 1 or more", least=1), random
    )
    return _budget(inside, volumes, n_sets, max_size)


def budget_from_confusion(
    mean_probs: ArrayLike, labels: ArrayLike | None, n_sets: int, *, max_size: int | None = 4
) -> NDArray[np.bool_]:
    """Choose a budget of focal sets from predictions: the singletons and the sets of classes that are confused most.

    Each class is a fuzzy set of instances with membership u_i(c) = p_i(c). With labels, the membership of the true class
    is 1, so a confident mistake counts fully. As for ellipsoids, the overlap of a set A of classes is intersection over
    union, Σ_i min_{c∈A} u_i(c) / Σ_i max_{c∈A} u_i(c). It lies in [0, 1] and cannot increase when A grows, so a search by
    cardinality finds exactly the best sets.

    Parameters
    ----------
    mean_probs : array (n, K)
        Probabilities, preferably on data that the evaluation does not use.
    labels : array (n,), int, or None
        True classes of the same instances. With hard predictions, the overlap of two classes is then the number of
        instances confused between them divided by the number that belong to, or are predicted as, either class.
    n_sets : int
        Number of sets in addition to the singletons.
    max_size : int or None, default 4
        Largest number of classes in a set; None means K.

    Returns
    -------
    ndarray (K + n', K), bool
        Singletons, then n' ≤ n_sets sets by decreasing overlap, as in `budget_from_embeddings`.

    Raises
    ------
    InputError
        Probabilities that are not finite, are negative or do not sum to 1; labels out of range.

    Examples
    --------
    >>> budget_from_confusion([[0.6, 0.4, 0.0], [0.5, 0.4, 0.1], [0.0, 0.1, 0.9]], None, 1)[3:]
    array([[ True,  True, False]])
    """
    given = np.asarray(mean_probs)
    u = matrix(given, "mean_probs").copy()
    total = u.sum(axis=1)
    tolerance = tolerance_of(given)
    bad = np.flatnonzero(~((np.abs(total - 1) <= tolerance) & (u.min(axis=1) >= 0)))
    if len(bad):
        rule = f"must have rows that are not negative and sum to 1 within {tolerance:g}"
        got = f"row {bad[0]} has minimum {u[bad[0]].min():g} and sum {total[bad[0]]:g}"
        fail("mean_probs", rule, got, "normalise the row", code="sum")
    if labels is not None:
        u[np.arange(len(u)), _labels(labels, len(u), u.shape[1])[0]] = 1.0
    return _budget(np.ascontiguousarray(u.T), np.ones(len(u)), n_sets, max_size)


def paper_masses(
    masses: ArrayLike, focal_sets: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Repair masses as the paper's code does: m(A) ← max(m(A), 0), m(Ω) += max(0, 1 − Σ m), then divide by the total.

    Parameters
    ----------
    masses : array (n, F)
        Möbius inverse of beliefs inside the family; may be negative and need not sum to 1.
    focal_sets : array (F, K) of bool or 0/1
        The family.

    Returns
    -------
    masses : ndarray (n, F')
        Non-negative, each row sums to 1. A row without any positive mass becomes vacuous: all of it on Ω.
    focal_sets : ndarray (F', K), bool
        The given family, with Ω (all classes) appended as the last set if missing.
    repaired : ndarray (n,), bool
        True for rows where some mass changed by more than the tolerance of the precision, see `_array.tolerance_of`.

    Raises
    ------
    InputError
        A mass that is not finite, or a number of masses that differs from the number of focal sets.

    Examples
    --------
    >>> masses, sets, repaired = paper_masses([[0.5, 0.25], [1.0, -0.5], [0.75, 1.25]], np.eye(2, dtype=bool))
    >>> masses.tolist(), sets[-1].tolist()
    ([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.375, 0.625, 0.0]], [True, True])
    """
    sets = as_focal_sets(focal_sets)
    given = np.asarray(masses)
    m = matrix(given, "masses", columns=len(sets))
    if not sets.all(axis=1).any():
        sets = np.concatenate([sets, np.ones((1, sets.shape[1]), dtype=bool)])  # (F', K)
        m = np.concatenate([m, np.zeros((len(m), 1))], axis=1)  # (n, F')
    clipped = np.maximum(m, 0.0)
    total = clipped.sum(axis=1)  # (n,)
    clipped[:, sets.all(axis=1).argmax()] += np.maximum(0.0, 1.0 - total)
    result = clipped / np.maximum(total, 1.0)[:, None]
    return result, sets, np.abs(result - m).max(axis=1) > tolerance_of(given)


def _from_matrix(matrix: NDArray[Any], n_classes: int | None) -> NDArray[np.bool_]:
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        rule = "must be a boolean or 0/1 matrix (F, K) if it is an array"
        remedy = "pass class indices as a list of lists, with n_classes"
        fail("focal_sets", rule, f"got {matrix.dtype} of shape {matrix.shape}", remedy, code="shape")
    if n_classes is not None and matrix.shape[1] != n_classes:
        rule = f"must have one column per class, {n_classes} in all"
        fail(
            "focal_sets", rule, f"got {matrix.shape[1]}", "pass the family that belongs to these classes", code="shape"
        )
    bad = np.argwhere((matrix != 0) & (matrix != 1))
    if len(bad):
        got = f"row {bad[0, 0]} holds {matrix[tuple(bad[0])]}"
        remedy = "pass class indices as a list of lists, with n_classes"
        fail("focal_sets", "must contain only 0 and 1 if it is a matrix", got, remedy, code="type")
    return matrix.astype(bool)


def _from_indices(collections: Any, n_classes: int | None) -> NDArray[np.bool_]:
    if not _is_collection(collections):
        rule = "must be a matrix (F, K) or a list of collections of class indices"
        remedy = "give a boolean array (F, K), or the classes of each set, such as [[0], [1], [0, 1]], with n_classes"
        fail("focal_sets", rule, f"got {shown(collections)}", remedy, code="type")
    families = list(collections)
    if n_classes is None:
        raise _no_class_count(families)
    sets = np.zeros((len(families), n_classes), dtype=bool)
    for position, members in enumerate(families):
        if not _is_collection(members):
            rule = "each set must be a collection of class indices"
            remedy = "give the classes of each set, such as [[0], [1], [0, 1]], with n_classes"
            fail("focal_sets", rule, f"set {position} is {shown(members)}", remedy, code="type")
        for member in members:
            if isinstance(member, bool | np.bool_) or not _is_index(member):
                rule = "must contain collections of integer class indices if it is a list"
                remedy = "pass a boolean matrix as a NumPy array"
                fail("focal_sets", rule, f"set {position} holds {shown(member)}", remedy, code="type")
            if not 0 <= member < n_classes:
                rule = f"must contain class indices in 0..{n_classes - 1}"
                fail(
                    "focal_sets", rule, f"set {position} holds {member}", "correct the index or n_classes", code="range"
                )
            sets[position, member] = True
    return sets


def _no_class_count(families: list[Any]) -> InputError:
    """The refusal of lists of class indices without K; the remedy is their least K."""
    indices = [int(index) for members in families if _is_collection(members) for index in members if _is_index(index)]
    facts = {"least": max([1, *indices]) + 1}
    rule = "is needed with lists of class indices, because a class may be in none of them"
    remedy = f"pass n_classes={facts['least']} or a boolean array (F, K)"
    return InputError("n_classes", rule, "got None", remedy, code="missing", facts=facts)


def _is_index(value: Any) -> bool:
    return hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0


def _is_collection(value: Any) -> bool:
    several = isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0  # an array of no dimension is one number
    return several and not isinstance(value, str | bytes | Mapping)


def _labels(labels: ArrayLike, n: int, n_classes: int | None) -> tuple[NDArray[np.intp], int]:
    y = np.asarray(labels)
    if y.shape != (n,) or y.dtype.kind not in "iu":
        rule = f"must be {n} integers, one per row"
        fail("labels", rule, f"got {y.dtype} of shape {y.shape}", "pass class indices", code="shape")
    top = int(y.max()) + 1 if n_classes is None else whole(n_classes, "n_classes", "pass 1 or more", least=1)
    bad = np.flatnonzero((y < 0) | (y >= top))
    if len(bad):
        got = f"row {bad[0]} holds {y[bad[0]]}"
        fail("labels", f"must lie in 0..{top - 1}", got, "correct the index or n_classes", code="range")
    return y.astype(np.intp), top


def _budget(u: NDArray[Any], weights: NDArray[np.float64], n_sets: int, max_size: int | None) -> NDArray[np.bool_]:
    """Family (K + n', K) of the singletons and the sets of classes whose regions u (K, U) overlap most."""
    n_classes = len(u)
    largest = n_classes if max_size is None else whole(max_size, "max_size", "pass 2 or more", least=2)
    best = best_overlapping_sets(u, weights, whole(n_sets, "n_sets", "pass 0 or more", least=0), largest)
    return as_focal_sets([*((c,) for c in range(n_classes)), *best], n_classes)
