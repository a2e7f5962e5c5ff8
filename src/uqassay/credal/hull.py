"""Convex hull of members or vertices: membership of a point, and the boundary on the way to a corner of the simplex.

Each instance is one linear program, solved by `tableaux`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.credal.tableaux import l1_tableau, pivot_to_optimum, variable_values
from uqassay.errors import InputError

__all__ = ["HullBoundary", "L1Projection", "boundary_towards_corner", "in_hull", "l1_projection"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TABLEAU_CHUNK = 1 << 19  # numbers of all tableaux in one chunk: 4 MB, which fit the cache


def _points(points: ArrayLike) -> Floats:
    """Validated finite points (n, M, K) as float64."""
    p = np.ascontiguousarray(points, dtype=np.float64)
    if p.ndim != 3 or p.shape[1] == 0 or p.shape[2] == 0:
        raise InputError(
            "points",
            "must have shape (n, M, K) with M, K >= 1",
            f"found {p.shape}",
            "add the missing axis",
            code="shape",
        )
    bad = ~np.isfinite(p).all(axis=(1, 2))
    if bad.any():
        raise InputError(
            "points",
            "must be finite",
            f"row {int(bad.argmax())} is not",
            "drop or repair the row",
            code="finite",
        )
    return p


def _rows(name: str, values: ArrayLike, points: Floats) -> Floats:
    """Validated finite values (n, K) as float64, with n and K of `points`."""
    y = np.ascontiguousarray(values, dtype=np.float64)
    n, _, k = points.shape
    if y.shape != (n, k):
        raise InputError(
            name,
            f"must have shape (n, K) = ({n}, {k}), as points",
            f"found {y.shape}",
            "reshape it",
            code="shape",
        )
    bad = ~np.isfinite(y).all(axis=1)
    if bad.any():
        raise InputError(
            name,
            "must be finite",
            f"row {int(bad.argmax())} is not",
            "drop or repair the row",
            code="finite",
        )
    return y


def _rounding(*arrays: ArrayLike) -> float:
    """Distance outside the hull that rounding can cause, for the least precise of the arrays."""
    return max({"float16": 1e-2, "float32": 1e-5}.get(np.asarray(a).dtype.name, 1e-9) for a in arrays)


@dataclass(frozen=True)
class L1Projection:
    """Point of each hull with the least sum of absolute differences to a target, with a dual certificate of optimality."""

    weights: Floats  # (n, M)
    point: Floats  # (n, K)
    dual: Floats  # (n, K) in [-1, 1]: dual.y - max_m dual.p_m is a lower bound on the sum of absolute differences


@dataclass(frozen=True)
class HullBoundary:
    """Point where the segment from a start to a corner of the simplex leaves each hull."""

    t: Floats  # (n,) in [0, 1]
    point: Floats  # (n, K) = (1 - t) start + t e_corner
    weights: Floats  # (n, M): the point as a combination of the members


def in_hull(points: ArrayLike, p: ArrayLike, *, tolerance: float | None = None) -> NDArray[np.bool_]:
    """True for each p that lies in the convex hull of its points.

    Parameters
    ----------
    points : (n, M, K)
        Members or vertices; any finite numbers.
    p : (n, K)
    tolerance : float, optional
        Largest sum of absolute differences to the nearest point of the hull that counts as inside. None: 1e-9, or 1e-5 and
        1e-2 if `points` or `p` are in single and half precision.

    Returns
    -------
    (n,) bool

    Raises
    ------
    InputError
        Wrong shapes or values that are not finite.

    Examples
    --------
    >>> in_hull([[[0.5, 0.5], [0.9, 0.1]]] * 2, [[0.6, 0.4], [0.95, 0.05]]).tolist()
    [True, False]
    """
    vertices = _points(points)
    y = _rows("p", p, vertices)
    if tolerance is None:
        tolerance = _rounding(points, p)
    if not tolerance >= 0:
        raise InputError(
            "tolerance",
            "must be a number >= 0",
            f"found {tolerance!r}",
            "pass None to choose it by dtype",
            code="range",
        )
    nearest = l1_projection(vertices, y)
    return np.abs(nearest.point - y).sum(axis=-1) <= tolerance


def boundary_towards_corner(points: ArrayLike, start: ArrayLike, corner: ArrayLike) -> HullBoundary:
    """Find the last point inside the hull on the segment from a start to a corner of the simplex.

    max t in [0, 1] such that (1 - t) start + t e_corner = Σ_m w_m p_m, w in the simplex: a linear program in (w, t).
    Constraints hold to 1e-12, so a class with smaller probabilities does not bind.

    Parameters
    ----------
    points : (n, M, K)
        Members: probabilities, divided by their sums; otherwise float32 rounding could leave no feasible t.
    start : (n, K)
        A point inside the hull, such as the mean of the members; divided by its sum as well.
    corner : (n,) int
        Class of the corner.

    Returns
    -------
    HullBoundary

    Raises
    ------
    InputError
        A start outside its hull by more than 1e-9 (sum of absolute differences; 1e-5 and 1e-2 in single and half precision),
        an unknown class, wrong shapes.

    Examples
    --------
    >>> leave = boundary_towards_corner([[[0.5, 0.5], [0.9, 0.1]]], [[0.7, 0.3]], [0])
    >>> round(float(leave.t[0]), 12), leave.point.round(12).tolist()
    (0.666666666667, [[0.9, 0.1]])
    """
    members = _points(points)
    y = _rows("start", start, members)
    n, n_members, k = members.shape
    for name, array in (("points", members.min(axis=1)), ("start", y)):
        bad = (array < 0).any(axis=1)
        if bad.any():
            raise InputError(
                name,
                "must be >= 0",
                f"row {int(bad.argmax())} has a negative one",
                "correct the row",
                code="range",
            )
    classes = np.asarray(corner)
    if classes.shape != (n,) or not np.issubdtype(classes.dtype, np.integer):
        raise InputError(
            "corner",
            f"must be one integer class per row, shape ({n},)",
            "",
            f"found {classes.dtype} {classes.shape}",
            code="shape",
        )
    bad = (classes < 0) | (classes >= k)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            "corner",
            f"must lie in 0..{k - 1}",
            f"row {row} has {classes[row]}",
            "recode the labels",
            code="range",
        )

    sums = members.sum(axis=-1), y.sum(axis=-1)
    bad = (sums[0] <= 0).any(axis=1) | (sums[1] <= 0)
    if bad.any():
        raise InputError(
            "points",
            "must not sum to 0",
            f"row {int(bad.argmax())} has one",
            "drop the row",
            code="sum",
        )
    members = members / sums[0][..., None]
    y = y / sums[1][:, None]
    direction = -y
    direction[np.arange(n), classes] += 1.0
    t = np.empty(n)
    weights = np.empty((n, n_members))
    allowed = _rounding(start)
    for rows in _chunks(n, k + 3, n_members + 1):
        outside, t[rows], weights[rows] = _longest_step(members[rows], y[rows], direction[rows])
        if (outside > allowed).any():
            row = int((outside > allowed).argmax())
            raise InputError(
                "start",
                f"must lie in the hull of its points within {allowed:g}",
                f"row {rows.start + row} lies {outside[row]:.3g} outside",
                "start from the mean of the members",
                code="range",
            )
    return HullBoundary(t=t, point=y + t[:, None] * direction, weights=weights)


def l1_projection(points: Floats, target: Floats) -> L1Projection:
    """Minimise Σ_c |target_c - Σ_m w_m p_mc| over the simplex of weights, exactly; arrays as in `in_hull`.

    For distributions the minimum is twice the total variation distance.

    Examples
    --------
    >>> l1_projection(np.array([[[0.5, 0.5], [0.9, 0.1]]]), np.array([[1.0, 0.0]])).point.tolist()
    [[0.9, 0.1]]
    """
    n, n_points, k = points.shape
    weights = np.empty((n, n_points))
    dual = np.empty((n, k))
    for rows in _chunks(n, k + 2, n_points):
        start = l1_tableau(points[rows], target[rows], None)
        end = pivot_to_optimum(start, np.ones(n_points + k, dtype=bool), errors_from=n_points)
        weights[rows] = variable_values(end)[:, :n_points]
        reduced = np.zeros((len(end.table), n_points + k))
        np.put_along_axis(reduced, end.nonbasic, end.table[:, -1, :-1], axis=1)
        dual[rows] = np.clip(end.sign * (1.0 - reduced[:, n_points:]), -1.0, 1.0)
    weights = _to_simplex(weights)
    return L1Projection(weights=weights, point=_mix(weights, points), dual=dual)


def _longest_step(members: Floats, start: Floats, direction: Floats) -> tuple[Floats, Floats, Floats]:
    """Phase 1 finds the weights of the start and its distance outside; phase 2 maximises the step t."""
    n_members, k = members.shape[1:]
    t = n_members  # index of the variable t
    number = np.arange(n_members + 2 + k)
    state = pivot_to_optimum(l1_tableau(members, start, direction), number != t, errors_from=t + 2)
    outside = np.abs(_mix(_to_simplex(variable_values(state)[:, :n_members]), members) - start).sum(axis=-1)
    state.table[:, :-1, -1][state.basic >= t + 2] = 0.0  # the remaining errors are rounding
    state.table[:, -1, :-1] = np.where(state.nonbasic == t, -1.0, 0.0)
    values = variable_values(pivot_to_optimum(state, number < t + 2, errors_from=None))
    return outside, np.clip(values[:, t], 0.0, 1.0), _to_simplex(values[:, :n_members])


def _to_simplex(weights: Floats) -> Floats:
    """Clip rounding below 0 and divide by the sum."""
    kept = np.maximum(weights, 0.0)
    return kept / kept.sum(axis=-1, keepdims=True)


def _mix(weights: Floats, points: Floats) -> Floats:
    """Σ_m w_m p_m for each instance."""
    return (weights[:, None, :] @ points)[:, 0, :]


def _chunks(n: int, n_rows: int, n_columns: int) -> list[slice]:
    """Slices of instances whose tableaux fit one chunk."""
    size = max(1, TABLEAU_CHUNK // (n_rows * n_columns))
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]
