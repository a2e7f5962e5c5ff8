"""Families of focal sets: all events, or a budget of the most useful ones; and the paper's repair of masses.

A family of F focal sets over K classes is a boolean matrix (F, K): entry (A, c) is true if class c is in set A.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator, shown, tolerance_of
from uqassay.credal.arguments import finite_matrix, whole_number
from uqassay.credal.moebius import MAX_ENUMERATED_CLASSES
from uqassay.credal.overlap import best_overlapping_sets, ellipsoid_cells
from uqassay.errors import InputError, TooManyClassesError

__all__ = [
    "MAX_ENUMERATED_CLASSES",
    "all_focal_sets",
    "as_focal_sets",
    "budget_from_confusion",
    "budget_from_embeddings",
    "paper_masses",
]


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
    n_classes = n_classes if n_classes is None else whole_number("n_classes", n_classes, 1)
    if hasattr(focal_sets, "__array__"):
        sets = _from_matrix(np.asarray(focal_sets), n_classes)
    else:
        sets = _from_indices(focal_sets, n_classes)
    if len(sets) == 0:
        raise InputError(
            "focal_sets", "must contain at least one set", "got 0", "pass at least the singletons", code="empty"
        )
    empty = np.flatnonzero(~sets.any(axis=1))
    if len(empty):
        raise InputError(
            "focal_sets", "must not contain an empty set", f"set {empty[0]} is empty", "remove it", code="empty"
        )
    _, first, inverse = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True, return_inverse=True)
    original = first[inverse.reshape(-1)]  # (F,) position of the first set with the same classes
    repeated = np.flatnonzero(original != np.arange(len(sets)))
    if len(repeated):
        raise InputError(
            "focal_sets",
            "must not contain a set twice",
            f"sets {original[repeated[0]]} and {repeated[0]} are the same",
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
    n_classes = whole_number("n_classes", n_classes, 1)
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
    x = finite_matrix("embeddings", embeddings)
    y, n_classes = _labels(labels, len(x), n_classes)
    if not 0 < level < 1:
        raise InputError(
            "level", "must lie strictly between 0 and 1", f"got {level}", "pass 0.95, the usual level", code="range"
        )
    random = generator(rng)
    inside, volumes = ellipsoid_cells(x, y, n_classes, level, whole_number("n_points", n_points, 1), random)
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
    u = finite_matrix("mean_probs", given).copy()
    total = u.sum(axis=1)
    tolerance = tolerance_of(given)
    bad = np.flatnonzero(~((np.abs(total - 1) <= tolerance) & (u.min(axis=1) >= 0)))
    if len(bad):
        raise InputError(
            "mean_probs",
            f"must have rows that are not negative and sum to 1 within {tolerance:g}",
            f"row {bad[0]} has minimum {u[bad[0]].min():g} and sum {total[bad[0]]:g}",
            "normalise the row",
            code="sum",
        )
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
    m = finite_matrix("masses", given, len(sets))
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
        raise InputError(
            "focal_sets",
            "must be a boolean or 0/1 matrix (F, K) if it is an array",
            f"got {matrix.dtype} of shape {matrix.shape}",
            "pass class indices as a list of lists, with n_classes",
            code="shape",
        )
    if n_classes is not None and matrix.shape[1] != n_classes:
        raise InputError(
            "focal_sets",
            f"must have one column per class, {n_classes} in all",
            f"got {matrix.shape[1]}",
            "pass the family that belongs to these classes",
            code="shape",
        )
    bad = np.argwhere((matrix != 0) & (matrix != 1))
    if len(bad):
        raise InputError(
            "focal_sets",
            "must contain only 0 and 1 if it is a matrix",
            f"row {bad[0, 0]} holds {matrix[tuple(bad[0])]}",
            "pass class indices as a list of lists, with n_classes",
            code="type",
        )
    return matrix.astype(bool)


def _from_indices(collections: Any, n_classes: int | None) -> NDArray[np.bool_]:
    if not _is_collection(collections):
        raise InputError(
            "focal_sets",
            "must be a matrix (F, K) or a list of collections of class indices",
            f"got {shown(collections)}",
            "give a boolean array (F, K), or the classes of each set, such as [[0], [1], [0, 1]], with n_classes",
            code="type",
        )
    families = list(collections)
    if n_classes is None:
        raise _no_class_count(families)
    sets = np.zeros((len(families), n_classes), dtype=bool)
    for position, members in enumerate(families):
        if not _is_collection(members):
            raise InputError(
                "focal_sets",
                "each set must be a collection of class indices",
                f"set {position} is {shown(members)}",
                "give the classes of each set, such as [[0], [1], [0, 1]], with n_classes",
                code="type",
            )
        for member in members:
            if isinstance(member, bool | np.bool_) or not _is_index(member):
                raise InputError(
                    "focal_sets",
                    "must contain collections of integer class indices if it is a list",
                    f"set {position} holds {shown(member)}",
                    "pass a boolean matrix as a NumPy array",
                    code="type",
                )
            if not 0 <= member < n_classes:
                raise InputError(
                    "focal_sets",
                    f"must contain class indices in 0..{n_classes - 1}",
                    f"set {position} holds {member}",
                    "correct the index or n_classes",
                    code="range",
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
        raise InputError(
            "labels",
            f"must be {n} integers, one per row",
            f"got {y.dtype} of shape {y.shape}",
            "pass class indices",
            code="shape",
        )
    top = int(y.max()) + 1 if n_classes is None else whole_number("n_classes", n_classes, 1)
    bad = np.flatnonzero((y < 0) | (y >= top))
    if len(bad):
        raise InputError(
            "labels",
            f"must lie in 0..{top - 1}",
            f"row {bad[0]} holds {y[bad[0]]}",
            "correct the index or n_classes",
            code="range",
        )
    return y.astype(np.intp), top


def _budget(u: NDArray[Any], weights: NDArray[np.float64], n_sets: int, max_size: int | None) -> NDArray[np.bool_]:
    """Family (K + n', K) of the singletons and the sets of classes whose regions u (K, U) overlap most."""
    n_classes = len(u)
    largest = n_classes if max_size is None else whole_number("max_size", max_size, 2)
    best = best_overlapping_sets(u, weights, whole_number("n_sets", n_sets, 0), largest)
    return as_focal_sets([*((c,) for c in range(n_classes)), *best], n_classes)
