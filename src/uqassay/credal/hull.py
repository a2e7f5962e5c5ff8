"""The convex hull of members or vertices: who lies inside, and where a segment towards a class leaves it.

One linear program per instance, solved by `tableaux`.
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

TABLEAU_CHUNK = 1 << 19  # numbers of all tableaux in one chunk: 4 MB, which a cache holds


def _points(points: ArrayLike) -> Floats:
    """Finite (n, M, K) in float64."""
    p = np.ascontiguousarray(points, dtype=np.float64)
    if p.ndim != 3 or p.shape[1] == 0 or p.shape[2] == 0:
        raise InputError(
            "points",
            "the shape must be (n, M, K) with M, K >= 1",
            f"found {p.shape}",
            "add the missing axis",
            code="shape",
        )
    bad = ~np.isfinite(p).all(axis=(1, 2))
    if bad.any():
        raise InputError(
            "points",
            "every value must be finite",
            f"row {int(bad.argmax())} is not",
            "drop or mend that row",
            code="finite",
        )
    return p


def _rows(name: str, values: ArrayLike, points: Floats) -> Floats:
    """Finite (n, K) in float64, n and K those of points."""
    y = np.ascontiguousarray(values, dtype=np.float64)
    n, _, k = points.shape
    if y.shape != (n, k):
        raise InputError(
            name,
            f"the shape must be (n, K) = ({n}, {k}), that of points",
            f"found {y.shape}",
            "reshape it",
            code="shape",
        )
    bad = ~np.isfinite(y).all(axis=1)
    if bad.any():
        raise InputError(
            name,
            "every value must be finite",
            f"row {int(bad.argmax())} is not",
            "drop or mend that row",
            code="finite",
        )
    return y


def _rounding(*arrays: ArrayLike) -> float:
    """How far outside its hull rounding can put a point, by the least precise of the arrays."""
    return max({"float16": 1e-2, "float32": 1e-5}.get(np.asarray(a).dtype.name, 1e-9) for a in arrays)


@dataclass(frozen=True)
class L1Projection:
    """The point of each hull nearest in the sum of absolute differences, with the certificate of optimality."""

    weights: Floats  # (n, M)
    point: Floats  # (n, K)
    dual: Floats  # (n, K) in [-1, 1]: dual.y - max_m dual.p_m is a lower bound on the sum of absolute differences


@dataclass(frozen=True)
class HullBoundary:
    """Where the segment from a start to a corner of the simplex leaves each hull."""

    t: Floats  # (n,) in [0, 1]
    point: Floats  # (n, K) = (1 - t) start + t e_corner
    weights: Floats  # (n, M): the point as a combination of the members


def in_hull(points: ArrayLike, p: ArrayLike, *, tolerance: float | None = None) -> NDArray[np.bool_]:
    """Whether each p lies in the convex hull of its own points.

    Parameters
    ----------
    points : (n, M, K)
        Members or vertices; any finite numbers.
    p : (n, K)
    tolerance : float, optional
        Largest sum of absolute differences to the nearest point of the hull that still counts as inside. None: 1e-9,
        or 1e-5 and 1e-2 where `points` or `p` come in single and half precision.

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
            "tolerance", "a number >= 0 is required", f"found {tolerance!r}", "None chooses it by dtype", code="range"
        )
    nearest = l1_projection(vertices, y)
    return np.abs(nearest.point - y).sum(axis=-1) <= tolerance


def boundary_towards_corner(points: ArrayLike, start: ArrayLike, corner: ArrayLike) -> HullBoundary:
    """Follow the segment from a start inside the hull to a corner of the simplex as far as the hull goes.

    max t in [0, 1] such that (1 - t) start + t e_corner = Σ_m w_m p_m, w in the simplex: a linear program in (w, t).
    Feasibility is kept to 1e-12: a class binds only where its probabilities exceed that.

    Parameters
    ----------
    points : (n, M, K)
        Members: probabilities; each is divided by its sum, so that rounding of float32 does not close the hull.
    start : (n, K)
        A point inside the hull, such as the members' mean; divided by its sum as well.
    corner : (n,) int
        Class whose corner is headed for.

    Returns
    -------
    HullBoundary

    Raises
    ------
    InputError
        A start outside its hull by more than 1e-9 (sum of absolute differences; 1e-5 and 1e-2 when it comes in single
        and half precision), an unknown class, wrong shapes.

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
                "probabilities must be >= 0",
                f"row {int(bad.argmax())} has a negative one",
                "mend it",
                code="range",
            )
    classes = np.asarray(corner)
    if classes.shape != (n,) or not np.issubdtype(classes.dtype, np.integer):
        raise InputError(
            "corner",
            f"one integer class per row, shape ({n},), is required",
            "",
            f"found {classes.dtype} {classes.shape}",
            code="shape",
        )
    bad = (classes < 0) | (classes >= k)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            "corner",
            f"a class must lie in 0..{k - 1}",
            f"row {row} has {classes[row]}",
            "map the labels first",
            code="range",
        )

    sums = members.sum(axis=-1), y.sum(axis=-1)
    bad = (sums[0] <= 0).any(axis=1) | (sums[1] <= 0)
    if bad.any():
        raise InputError(
            "points",
            "no distribution may sum to 0",
            f"row {int(bad.argmax())} has one",
            "drop that row",
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
                f"the start must lie in the hull of its points within {allowed:g}",
                f"row {rows.start + row} lies {outside[row]:.3g} outside",
                "start from the members' mean",
                code="range",
            )
    return HullBoundary(t=t, point=y + t[:, None] * direction, weights=weights)


def l1_projection(points: Floats, target: Floats) -> L1Projection:
    """Minimise Σ_c |target_c - Σ_m w_m p_mc| over the simplex of weights, exactly; arrays as in `in_hull`.

    Twice the total variation distance when all are distributions.

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
    """Phase 1 finds weights of the start and how far outside it is, phase 2 lengthens the step t."""
    n_members, k = members.shape[1:]
    t = n_members  # its number
    number = np.arange(n_members + 2 + k)
    state = pivot_to_optimum(l1_tableau(members, start, direction), number != t, errors_from=t + 2)
    outside = np.abs(_mix(_to_simplex(variable_values(state)[:, :n_members]), members) - start).sum(axis=-1)
    state.table[:, :-1, -1][state.basic >= t + 2] = 0.0  # the errors left are rounding
    state.table[:, -1, :-1] = np.where(state.nonbasic == t, -1.0, 0.0)
    values = variable_values(pivot_to_optimum(state, number < t + 2, errors_from=None))
    return outside, np.clip(values[:, t], 0.0, 1.0), _to_simplex(values[:, :n_members])


def _to_simplex(weights: Floats) -> Floats:
    """Remove rounding below zero and from the sum."""
    kept = np.maximum(weights, 0.0)
    return kept / kept.sum(axis=-1, keepdims=True)


def _mix(weights: Floats, points: Floats) -> Floats:
    """Σ_m w_m p_m, instance by instance."""
    return (weights[:, None, :] @ points)[:, 0, :]


def _chunks(n: int, n_rows: int, n_columns: int) -> list[slice]:
    """Slices of instances whose tableaux fit one chunk."""
    size = max(1, TABLEAU_CHUNK // (n_rows * n_columns))
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]
