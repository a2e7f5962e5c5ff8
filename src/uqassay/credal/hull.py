"""The convex hull of members or vertices: who lies inside, and where a segment towards a class leaves it.

One linear program per instance. They are small, dense and many, so the simplex method runs on all of them at once:
a condensed tableau per instance (no columns for basic variables, so K rows and about M columns), one pivot in every
tableau per pass, finished tableaux dropped. A library's solver would take them one call at a time, or stacked into one
sparse program, where the last bits of a row come to depend on its neighbours; here nothing passes between tableaux. The
tests hold the results against SciPy's HiGHS.

Variables are numbered w_1 … w_M, [t, slack,] e_1 … e_K, the errors e being those of the constraints of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = ["HullBoundary", "L1Projection", "boundary_towards_corner", "in_hull", "l1_projection"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TABLEAU_CHUNK = 1 << 19  # numbers of all tableaux in one chunk: 4 MB, which a cache holds
REDUCED_COST = 1e-11  # a variable enters when it gains more than this
PIVOT = 1e-12  # smallest pivot
SLACK = 1e-12  # how far below zero a basic variable may go for the sake of a larger pivot (Harris)


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
            "tolerance", "a number >= 0 is required", f"found {tolerance!r}", "None chooses it by dtype", code="missing"
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
            code="undefined",
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
        start = _l1_tableau(points[rows], target[rows], None)
        end = _simplex(start, np.ones(n_points + k, dtype=bool), errors_from=n_points)
        weights[rows] = _values(end)[:, :n_points]
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
    state = _simplex(_l1_tableau(members, start, direction), number != t, errors_from=t + 2)
    outside = np.abs(_mix(_to_simplex(_values(state)[:, :n_members]), members) - start).sum(axis=-1)
    state.table[:, :-1, -1][state.basic >= t + 2] = 0.0  # the errors left are rounding
    state.table[:, -1, :-1] = np.where(state.nonbasic == t, -1.0, 0.0)
    values = _values(_simplex(state, number < t + 2, errors_from=None))
    return outside, np.clip(values[:, t], 0.0, 1.0), _to_simplex(values[:, :n_members])


class _Tableaux(NamedTuple):
    """Constraints and reduced costs (last row) in terms of the nonbasic variables; the last column is the right side."""

    table: Floats  # (n, R + 1, C + 1)
    basic: Ints  # (n, R) number of the variable that each constraint gives
    nonbasic: Ints  # (n, C) number of the variable of each column
    sign: Floats  # (n, K) of the errors as they stand

    def take(self, keep: NDArray[Any]) -> _Tableaux:
        return _Tableaux(self.table[keep], self.basic[keep], self.nonbasic[keep], self.sign[keep])

    def put(self, rows: NDArray[np.intp], part: _Tableaux) -> None:
        for mine, theirs in zip(self, part, strict=True):
            mine[rows] = theirs


def _l1_tableau(points: Floats, target: Floats, direction: Floats | None) -> _Tableaux:
    """The start of  Σ_m w_m p_m [- t direction] + e = target,  Σ_m w_m = 1,  [t + slack = 1],  min Σ_c |e_c|.

    At first the nearest single point is basic, with the errors that it leaves.
    """
    n, n_points, k = points.shape
    extra = 0 if direction is None else 1
    nearest = np.abs(points - target[:, None, :]).sum(axis=-1).argmin(axis=-1)
    base = points[np.arange(n), nearest]  # (n, K)
    others = np.arange(n_points - 1) + (np.arange(n_points - 1) >= nearest[:, None])  # (n, M - 1)
    sign = np.where(target < base, -1.0, 1.0)

    table = np.zeros((n, k + 2 + extra, n_points + extra))
    shifted = np.take_along_axis(points, others[..., None], axis=1) - base[:, None, :]
    table[:, :k, : n_points - 1] = (sign[:, None, :] * shifted).swapaxes(1, 2)
    table[:, :k, -1] = np.abs(target - base)
    table[:, k, : n_points - 1] = 1.0
    table[:, k : k + 1 + extra, -1] = 1.0
    basic = np.empty((n, k + 1 + extra), dtype=np.int64)
    basic[:, :k] = np.arange(n_points + 2 * extra, n_points + 2 * extra + k)
    basic[:, k] = nearest
    nonbasic = np.concatenate([others, np.full((n, extra), n_points)], axis=1)
    if direction is not None:
        table[:, :k, n_points - 1] = -sign * direction
        table[:, k + 1, n_points - 1] = 1.0
        basic[:, k + 1] = n_points + 1
    table[:, -1] = -table[:, :k].sum(axis=1)
    return _Tableaux(table, basic, nonbasic, sign)


def _simplex(start: _Tableaux, allowed: NDArray[np.bool_], *, errors_from: int | None) -> _Tableaux:
    """Pivot every tableau to its optimum; `allowed` says which variables may enter the basis.

    The errors, numbered from `errors_from`, cost 1 whatever their sign: -e_c has minus the column of e_c and the
    reduced cost 2 - d, so it is not stored; when it is the one to enter, the column is mirrored and the sign recorded.
    Without `errors_from` the basic errors must stay at zero, so one gives way to any variable that would move it.
    Steepest reduced cost first; after many pivots the smallest number (Bland), which cannot cycle.
    """
    if not start.nonbasic.shape[1] or not len(start.table):
        return start
    live = np.arange(len(start.table))
    now, end = start, start.take(live)
    patience = 4 * (start.table.shape[1] + start.table.shape[2])
    for n_pivots in range(40 * patience):
        d = now.table[:, -1, :-1]
        if errors_from is not None:
            d = np.where(now.nonbasic >= errors_from, np.minimum(d, 2.0 - d), d)
        d = np.where(allowed[now.nonbasic], d, 0.0)  # (n, C)
        gains = d < -REDUCED_COST
        going = np.any(gains, axis=-1)
        if not going.all():
            end.put(live[~going], now.take(~going))
            live, now, d, gains = live[going], now.take(going), d[going], gains[going]
        if not len(live):
            return end
        table, basic, nonbasic, sign = now
        i = np.arange(len(live))
        bland = n_pivots >= patience
        enter = np.where(gains, nonbasic, len(allowed)).argmin(axis=-1) if bland else d.argmin(axis=-1)
        if errors_from is not None:
            mirrored = (nonbasic[i, enter] >= errors_from) & (table[i, -1, enter] > 1.0)
            rows, columns = i[mirrored], enter[mirrored]
            table[rows, :, columns] *= -1.0
            table[rows, -1, columns] += 2.0
            sign[rows, nonbasic[rows, columns] - errors_from] *= -1.0

        entering = table[i, :, enter]  # (n, R + 1)
        amount, right = entering[:, :-1], np.maximum(table[:, :-1, -1], 0.0)
        limits = amount > PIVOT
        if errors_from is None:
            limits |= ~allowed[basic] & (np.abs(amount) > PIVOT)
        size = np.where(limits, np.abs(amount), 1.0)
        furthest = np.where(limits, (right + (0.0 if bland else SLACK)) / size, np.inf).min(axis=-1, keepdims=True)
        tied = limits & (right / size <= furthest)
        leave = np.where(tied, basic, len(allowed)).argmin(-1) if bland else np.where(tied, size, -1.0).argmax(-1)

        blocked = ~limits.any(axis=-1)  # no pivot above rounding: the gain was rounding too
        table[i[blocked], -1, enter[blocked]] = 0.0
        i, enter, leave = i[~blocked], enter[~blocked], leave[~blocked]
        entering[blocked] = 0.0
        table[i, leave, -1] = right[i, leave]
        table[i, :, enter] = 0.0  # now the column of the variable that leaves
        table[i, leave, enter] = 1.0
        pivot_row = np.zeros((len(live), table.shape[2]))
        pivot_row[i] = table[i, leave] / amount[i, leave][:, None]
        table -= entering[:, :, None] * pivot_row[:, None, :]
        table[i, leave] = pivot_row[i]
        basic[i, leave], nonbasic[i, enter] = nonbasic[i, enter], basic[i, leave]
    end.put(live, now)
    return end


def _values(state: _Tableaux) -> Floats:
    """Value of every variable: the right side for the basic ones, 0 for the others."""
    values = np.zeros((len(state.table), state.basic.shape[1] + state.nonbasic.shape[1]))
    np.put_along_axis(values, state.basic, state.table[:, :-1, -1], axis=1)
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
