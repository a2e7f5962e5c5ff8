"""The convex hull of members or vertices: who lies inside, and where a segment towards a class leaves it.

One linear program per instance. They are small, dense and many, so the simplex method runs on all of them at once:
a tableau per instance, one pivot in every tableau per pass, finished tableaux dropped. Nothing passes between tableaux.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = ["HullBoundary", "L1Projection", "boundary_towards_corner", "in_hull", "l1_projection"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TABLEAU_CHUNK = 1 << 19  # numbers of all tableaux in one chunk: 4 MB, which a cache holds
REDUCED_COST = 1e-11  # a column enters when it gains more than this
PIVOT = 1e-12  # smallest pivot
SLACK = 1e-12  # how far below zero a basic variable may go for the sake of a larger pivot (Harris)


def _points(points: ArrayLike) -> Floats:
    """Finite (n, M, K) in float64."""
    p = np.ascontiguousarray(points, dtype=np.float64)
    if p.ndim != 3 or p.shape[1] == 0 or p.shape[2] == 0:
        raise InputError(f"points: the shape must be (n, M, K) with M, K >= 1; found {p.shape}; add the missing axis.")
    bad = ~np.isfinite(p).all(axis=(1, 2))
    if bad.any():
        raise InputError(f"points: every value must be finite; row {int(bad.argmax())} is not; drop or mend that row.")
    return p


def _rows(name: str, values: ArrayLike, points: Floats) -> Floats:
    """Finite (n, K) in float64, n and K those of points."""
    y = np.ascontiguousarray(values, dtype=np.float64)
    n, _, k = points.shape
    if y.shape != (n, k):
        raise InputError(f"{name}: the shape must be (n, K) = ({n}, {k}), that of points; found {y.shape}; reshape it.")
    bad = ~np.isfinite(y).all(axis=1)
    if bad.any():
        raise InputError(f"{name}: every value must be finite; row {int(bad.argmax())} is not; drop or mend that row.")
    return y


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


def in_hull(points: ArrayLike, p: ArrayLike, *, tolerance: float = 1e-9) -> NDArray[np.bool_]:
    """Whether each p lies in the convex hull of its own points.

    Parameters
    ----------
    points : (n, M, K)
        Members or vertices; any finite numbers.
    p : (n, K)
    tolerance : float
        Largest sum of absolute differences to the nearest point of the hull that still counts as inside.

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
    if not tolerance >= 0:
        raise InputError(f"tolerance: a number >= 0 is required; found {tolerance!r}; 1e-9 suits float64.")
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
        A start more than 1e-9 (sum of absolute differences) outside its hull, an unknown class, wrong shapes.

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
                f"{name}: probabilities must be >= 0; row {int(bad.argmax())} has a negative one; mend it."
            )
    classes = np.asarray(corner)
    if classes.shape != (n,) or not np.issubdtype(classes.dtype, np.integer):
        raise InputError(
            f"corner: one integer class per row, shape ({n},), is required; found {classes.dtype} {classes.shape}."
        )
    bad = (classes < 0) | (classes >= k)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"corner: a class must lie in 0..{k - 1}; row {row} has {classes[row]}; map the labels first.")

    sums = members.sum(axis=-1), y.sum(axis=-1)
    bad = (sums[0] <= 0).any(axis=1) | (sums[1] <= 0)
    if bad.any():
        raise InputError(f"points: no distribution may sum to 0; row {int(bad.argmax())} has one; drop that row.")
    members = members / sums[0][..., None]
    y = y / sums[1][:, None]
    direction = -y
    direction[np.arange(n), classes] += 1.0
    t = np.empty(n)
    weights = np.empty((n, n_members))
    for rows in _chunks(n, k + 3, n_members + k + 3):
        t[rows], weights[rows] = _longest_step(members[rows], y[rows], direction[rows], rows.start)
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
    for rows in _chunks(n, k + 2, n_points + k + 1):
        tableau, basis, sign = _l1_tableau(points[rows], target[rows], None)
        enterable = np.ones(n_points + k, dtype=bool)
        _simplex(tableau, basis, enterable, sign)
        weights[rows] = _solution(tableau, basis)[:, :n_points]
        dual[rows] = np.clip(sign * (1.0 - tableau[:, -1, n_points : n_points + k]), -1.0, 1.0)
    weights = _to_simplex(weights)
    return L1Projection(weights=weights, point=_mix(weights, points), dual=dual)


def _longest_step(members: Floats, start: Floats, direction: Floats, first_row: int) -> tuple[Floats, Floats]:
    """Phase 1 finds weights of the start, phase 2 lengthens the step t."""
    _, n_members, k = members.shape
    tableau, basis, sign = _l1_tableau(members, start, direction)
    t_column = n_members
    enterable = np.ones(n_members + 2 + k, dtype=bool)
    enterable[t_column] = False
    _simplex(tableau, basis, enterable, sign)
    outside = np.abs(_mix(_to_simplex(_solution(tableau, basis)[:, :n_members]), members) - start).sum(axis=-1)
    if (outside > 1e-9).any():
        row = int((outside > 1e-9).argmax())
        raise InputError(
            f"start: the start must lie in the hull of its points within 1e-09; row {first_row + row} lies "
            f"{outside[row]:.3g} outside; start from the members' mean."
        )
    tableau[:, :-1, -1][basis >= n_members + 2] = 0.0  # the errors left are rounding
    tableau[:, -1, :] = 0.0
    tableau[:, -1, t_column] = -1.0
    enterable[:] = True
    enterable[n_members + 2 :] = False
    _simplex(tableau, basis, enterable, None)
    solution = _solution(tableau, basis)
    return np.clip(solution[:, t_column], 0.0, 1.0), _to_simplex(solution[:, :n_members])


def _l1_tableau(points: Floats, target: Floats, direction: Floats | None) -> tuple[Floats, Ints, Floats]:
    """The tableau of  Σ_m w_m p_m [- t direction] + e = target,  Σ_m w_m = 1,  [t + slack = 1],  min Σ_c |e_c|.

    Columns: w (M), [t, slack], the errors (K) in the sign given, the right side. The last row has the reduced costs.
    The first basis is the nearest single point and the errors that it leaves.
    """
    n, n_points, k = points.shape
    extra = 0 if direction is None else 2
    rows = np.arange(n)
    nearest = np.abs(points - target[:, None, :]).sum(axis=-1).argmin(axis=-1)
    base = points[rows, nearest]  # (n, K)
    error = target - base
    sign = np.where(error < 0, -1.0, 1.0)

    tableau = np.zeros((n, k + 1 + extra // 2 + 1, n_points + extra + k + 1))
    tableau[:, :k, :n_points] = (sign[:, None, :] * (points - base[:, None, :])).swapaxes(1, 2)
    tableau[:, range(k), range(n_points + extra, n_points + extra + k)] = 1.0
    tableau[:, :k, -1] = sign * error
    tableau[:, k, :n_points] = 1.0
    tableau[:, k, -1] = 1.0
    basis = np.empty((n, tableau.shape[1] - 1), dtype=np.int64)
    basis[:, :k] = np.arange(n_points + extra, n_points + extra + k)
    basis[:, k] = nearest
    if direction is not None:
        tableau[:, :k, n_points] = -sign * direction
        tableau[:, k + 1, n_points : n_points + 2] = 1.0
        tableau[:, k + 1, -1] = 1.0
        basis[:, k + 1] = n_points + 1
    tableau[:, -1, : n_points + extra] = -tableau[:, :k, : n_points + extra].sum(axis=1)
    tableau[:, -1, -1] = -tableau[:, :k, -1].sum(axis=1)
    return tableau, basis, sign


def _simplex(tableau: Floats, basis: Ints, enterable: NDArray[np.bool_], sign: Floats | None) -> None:
    """Pivot every tableau to its optimum, in place.

    With `sign`, the last K columns are errors of unit cost that may turn negative at the same cost: the column of -e_c
    is minus that of e_c and costs 2 - (reduced cost of e_c), so it is not stored; a column whose mirror enters is
    mirrored and its sign recorded. Without `sign` the errors must stay at zero, so a row that has one as its basic
    variable gives way to any column that would move it.
    Steepest reduced cost first; after many pivots the smallest index (Bland), which cannot cycle.
    """
    n_columns = tableau.shape[2] - 1
    patience = 4 * (tableau.shape[1] + n_columns)
    live = np.arange(len(tableau))
    table, base, signs = tableau, basis, sign
    for pivot_number in range(40 * patience):
        cost = np.where(enterable, table[:, -1, :-1], 0.0)  # (n, C)
        if signs is not None:
            k = signs.shape[1]
            cost[:, -k:] = np.minimum(cost[:, -k:], 2.0 - cost[:, -k:])
        gains = cost < -REDUCED_COST
        going = gains.any(axis=-1)
        if not going.all():
            tableau[live], basis[live] = table, base
            if sign is not None and signs is not None:
                sign[live] = signs
                signs = signs[going]
            live, table, base = live[going], table[going], base[going]
            cost, gains = cost[going], gains[going]
        if not len(live):
            return
        i = np.arange(len(live))
        bland = pivot_number >= patience
        enter = gains.argmax(axis=-1) if bland else cost.argmin(axis=-1)
        if signs is not None:
            k = signs.shape[1]
            mirrored = (enter >= n_columns - k) & (table[i, -1, enter] > 1.0)
            at, column = i[mirrored], enter[mirrored]
            table[at, :, column] *= -1.0
            table[at, -1, column] += 2.0
            signs[at, column - (n_columns - k)] *= -1.0
        entering = table[i, :, enter]  # (n, R + 1)
        amount = entering[:, :-1]
        right = np.maximum(table[:, :-1, -1], 0.0)
        limits = amount > PIVOT
        if signs is None:
            limits |= ~enterable[base] & (np.abs(amount) > PIVOT)
        size = np.where(limits, np.abs(amount), 1.0)
        ratio = np.where(limits, right / size, np.inf)
        furthest = np.where(limits, (right + (0.0 if bland else SLACK)) / size, np.inf).min(axis=-1, keepdims=True)
        tied = ratio <= furthest
        leave = np.where(tied, base, n_columns).argmin(-1) if bland else np.where(tied, np.abs(amount), -1).argmax(-1)
        table[i, leave, -1] = right[i, leave]
        blocked = np.isinf(ratio[i, leave])  # no pivot above rounding: the gain was rounding too
        if blocked.any():
            table[i[blocked], -1, enter[blocked]] = 0.0
            entering[blocked] = 0.0
            enter[blocked] = base[i, leave][blocked]
        divisor = np.where(blocked, 1.0, amount[i, leave])
        pivot_row = table[i, leave] / divisor[:, None]  # (n, C + 1)
        table -= entering[:, :, None] * pivot_row[:, None, :]
        table[i, leave] = pivot_row
        base[i, leave] = enter
    tableau[live], basis[live] = table, base
    if sign is not None and signs is not None:
        sign[live] = signs


def _solution(tableau: Floats, basis: Ints) -> Floats:
    """Value of every column: the right side for the basic ones, 0 for the others."""
    values = np.zeros((len(tableau), tableau.shape[2] - 1))
    np.put_along_axis(values, basis, tableau[:, :-1, -1], axis=1)
    return values


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
