"""The convex hull of distributions: membership, the segment to the boundary, many linear programs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.native import kernel

__all__ = [
    "OutsideSegment",
    "Tableaux",
    "boundary_towards_corner",
    "closest_corner",
    "in_hull",
    "l1_projection",
    "l1_tableau",
    "outside_segment",
    "pivot_to_optimum",
    "variable_values",
]


# The simplex method on many small, dense linear programs at once.
#
# Each instance has one condensed tableau: basic variables have no column, so there are K rows and about M columns. Each
# pass makes one pivot in every unfinished tableau. A library solver would need one call per program, or one sparse
# program of all, where the last bits of a row depend on the other rows; here the tableaux are independent. The tests
# compare the results with SciPy's HiGHS.
#
# Variables are numbered w_1 … w_M, [t, slack,] e_1 … e_K; e_c is the error of the constraint of class c.

Ints = NDArray[np.int64]

REDUCED_COST = 1e-11  # a variable enters the basis if its gain exceeds this
PIVOT = 1e-12  # smallest pivot
SLACK = 1e-12  # a basic variable may go this far below zero to allow a larger pivot (Harris)


class Tableaux(NamedTuple):
    """Constraints and reduced costs (last row) in the nonbasic variables; the last column is the right-hand side."""

    table: Floats  # (n, R + 1, C + 1)
    basic: Ints  # (n, R) number of the basic variable of each constraint
    nonbasic: Ints  # (n, C) number of the variable of each column
    sign: Floats  # (n, K) current sign of each error

    def take(self, keep: NDArray[Any]) -> Tableaux:
        """The tableaux of some instances."""
        return Tableaux(self.table[keep], self.basic[keep], self.nonbasic[keep], self.sign[keep])

    def put(self, rows: NDArray[np.intp], part: Tableaux) -> None:
        """Write the tableaux of some instances back."""
        for mine, theirs in zip(self, part, strict=True):
            mine[rows] = theirs


def l1_tableau(points: Floats, target: Floats, direction: Floats | None) -> Tableaux:
    """Initial tableau of  Σ_m w_m p_m [- t direction] + e = target,  Σ_m w_m = 1,  [t + slack = 1],  min Σ_c |e_c|.

    The nearest single point starts as basic, together with its errors.
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
    return Tableaux(table, basic, nonbasic, sign)


def pivot_to_optimum(start: Tableaux, allowed: NDArray[np.bool_], *, errors_from: int | None) -> Tableaux:
    """Pivot every tableau to its optimum; `allowed` says which variables may enter the basis.

    The errors, numbered from `errors_from`, cost 1 for either sign. -e_c has minus the column of e_c and the reduced cost
    2 - d, so it is not stored: if it enters, the column is mirrored and the sign recorded. Without `errors_from` the basic
    errors must stay at zero, so an error leaves the basis for any variable that would change it. The steepest reduced cost
    enters first; after many pivots the smallest variable number (Bland's rule), which cannot cycle.
    """
    if not start.nonbasic.shape[1] or not len(start.table):
        return start
    compiled = kernel("solved_tableaux")
    if compiled is not None:
        arrays = (np.ascontiguousarray(part) for part in start)
        return Tableaux(*compiled(*arrays, allowed, -1 if errors_from is None else errors_from))
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

        blocked = ~limits.any(axis=-1)  # no pivot above rounding, so the gain is rounding as well
        table[i[blocked], -1, enter[blocked]] = 0.0
        i, enter, leave = i[~blocked], enter[~blocked], leave[~blocked]
        entering[blocked] = 0.0
        table[i, leave, -1] = right[i, leave]
        table[i, :, enter] = 0.0  # becomes the column of the leaving variable
        table[i, leave, enter] = 1.0
        pivot_row = np.zeros((len(live), table.shape[2]))
        pivot_row[i] = table[i, leave] / amount[i, leave][:, None]
        table -= entering[:, :, None] * pivot_row[:, None, :]
        table[i, leave] = pivot_row[i]
        basic[i, leave], nonbasic[i, enter] = nonbasic[i, enter], basic[i, leave]
    end.put(live, now)
    return end


def variable_values(state: Tableaux) -> Floats:
    """Value of every variable: the right-hand side if basic, otherwise 0."""
    values = np.zeros((len(state.table), state.basic.shape[1] + state.nonbasic.shape[1]))
    np.put_along_axis(values, state.basic, state.table[:, :-1, -1], axis=1)
    return values


# Convex hull of members or vertices: membership of a point, and the boundary on the way to a corner of the simplex.
#
# Each instance is one linear program, solved by `tableaux`.

TABLEAU_CHUNK = 1 << 19  # numbers of all tableaux in one chunk: 4 MB, which fit the cache


def _points(points: ArrayLike) -> Floats:
    """Validated finite points (n, M, K) as float64."""
    p = np.ascontiguousarray(points, dtype=np.float64)
    if p.ndim != 3 or p.shape[1] == 0 or p.shape[2] == 0:
        fail(
            "points",
            "must have shape (n, M, K) with M, K >= 1",
            f"found {p.shape}",
            "add the missing axis",
            code="shape",
        )
    bad = ~np.isfinite(p).all(axis=(1, 2))
    if bad.any():
        fail("points", "must be finite", f"row {int(bad.argmax())} is not", "drop or repair the row", code="finite")
    return p


def _rows(name: str, values: ArrayLike, points: Floats) -> Floats:
    """Validated finite values (n, K) as float64, with n and K of `points`."""
    y = np.ascontiguousarray(values, dtype=np.float64)
    n, _, k = points.shape
    if y.shape != (n, k):
        fail(name, f"must have shape (n, K) = ({n}, {k}), as points", f"found {y.shape}", "reshape it", code="shape")
    bad = ~np.isfinite(y).all(axis=1)
    if bad.any():
        fail(name, "must be finite", f"row {int(bad.argmax())} is not", "drop or repair the row", code="finite")
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
        fail(
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
            fail(name, "must be >= 0", f"row {int(bad.argmax())} has a negative one", "correct the row", code="range")
    classes = np.asarray(corner)
    if classes.shape != (n,) or not np.issubdtype(classes.dtype, np.integer):
        rule = f"must be one integer class per row, shape ({n},)"
        fail("corner", rule, "", f"found {classes.dtype} {classes.shape}", code="shape")
    bad = (classes < 0) | (classes >= k)
    if bad.any():
        row = int(bad.argmax())
        fail("corner", f"must lie in 0..{k - 1}", f"row {row} has {classes[row]}", "recode the labels", code="range")

    sums = members.sum(axis=-1), y.sum(axis=-1)
    bad = (sums[0] <= 0).any(axis=1) | (sums[1] <= 0)
    if bad.any():
        fail("points", "must not sum to 0", f"row {int(bad.argmax())} has one", "drop the row", code="sum")
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
            rule = f"must lie in the hull of its points within {allowed:g}"
            got = f"row {rows.start + row} lies {outside[row]:.3g} outside"
            fail("start", rule, got, "start from the mean of the members", code="range")
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


# Segments from the boundary of a credal set to a corner of the simplex.
#
# Credal calibration, appendix A.1, searches the boundary point by trying many points, with one linear program for each. Here
# one linear program per instance gives the exact point, and all instances are solved at once.

Otherwise = Literal["mean", "corner"]
OTHERWISE = ("mean", "corner")


@final
@dataclass(frozen=True, eq=False)
class OutsideSegment:
    """Segments from the boundary of credal sets to corners of the simplex."""

    #: (n, K) Last point inside the set on the way to the corner.
    boundary: Floats
    #: (n,) Class of the corner.
    corner: NDArray[np.intp]
    #: (n,) Position of the boundary point on the way from the start (0) to the corner (1).
    t: Floats
    #: (n,) True if the given start lies in the set; otherwise a replacement was used.
    inside: NDArray[np.bool_]

    def points(self, shares: ArrayLike) -> Floats:
        """Points at these shares of the way from the boundary (0) to the corner (1), (n,) -> (n, K).

        Examples
        --------
        >>> found = outside_segment([[[0.5, 0.5], [0.9, 0.1]]], [[0.7, 0.3]], [0])
        >>> found.points([0.5]).round(3).tolist()
        [[0.95, 0.05]]
        """
        share = np.asarray(shares, dtype=np.float64)
        if share.shape != self.t.shape:
            rule = f"must have one value per row, shape {self.t.shape}"
            fail("shares", rule, f"got shape {share.shape}", "reshape it", code="shape")
        bad = ~((share >= 0) & (share <= 1))
        if bad.any():
            row = int(bad.argmax())
            fail(
                "shares", "must lie in [0, 1]", f"row {row} has {share[row]:g}", "pass 0.5 for the middle", code="range"
            )
        points = (1.0 - share)[:, None] * self.boundary
        points[np.arange(len(points)), self.corner] += share
        return points


def outside_segment(
    members: ArrayLike, start: ArrayLike, corner: ArrayLike, *, otherwise: Otherwise = "mean"
) -> OutsideSegment:
    """Where the segment from a start to a corner of the simplex leaves the convex hull of the members.

    max t in [0, 1] such that (1 − t) start + t e_corner lies in the hull: one linear program for each instance.

    Parameters
    ----------
    members : (n, M, K)
        Probabilities.
    start : (n, K)
    corner : (n,) int
        Class of the corner.
    otherwise : {"mean", "corner"}
        Treatment of a start outside the hull. "mean": replace it by the mean of the members, which is always inside.
        "corner": use the corner itself as the boundary, as in the authors' code of credal calibration; the segment is then one
        point.

    Returns
    -------
    OutsideSegment

    Examples
    --------
    One start inside the set and one outside it:

    >>> members = [[[0.5, 0.5], [0.9, 0.1]]] * 2
    >>> found = outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0])
    >>> found.inside.tolist(), found.boundary.round(3).tolist()
    ([True, False], [[0.9, 0.1], [0.9, 0.1]])
    >>> outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0], otherwise="corner").boundary.round(3).tolist()
    [[0.9, 0.1], [1.0, 0.0]]
    """
    if otherwise not in OTHERWISE:
        fail(
            "otherwise",
            'must be "mean" or "corner"',
            f"got {otherwise!r}",
            'pass "mean" to stay in the set',
            code="choice",
        )
    inside = in_hull(members, start)
    given = np.asarray(members, dtype=np.float64)
    begin = np.where(inside[:, None], np.asarray(start, dtype=np.float64), given.mean(axis=1))
    found = boundary_towards_corner(given, begin, corner)
    boundary, t = found.point, found.t
    to = np.asarray(corner, dtype=np.intp)
    if otherwise == "corner":
        boundary = np.where(inside[:, None], boundary, np.eye(given.shape[2])[to])
        t = np.where(inside, t, 1.0)
    return OutsideSegment(boundary, to, t, inside)


def closest_corner(probs: ArrayLike) -> NDArray[np.intp]:
    """Class of the corner nearest to each distribution, (n, K) -> (n,): the most probable class, of ties the first.

    ‖p − e_k‖² = ‖p‖² + 1 − 2 p_k is least where p_k is greatest.

    Examples
    --------
    >>> closest_corner([[0.2, 0.5, 0.3]]).tolist()
    [1]
    """
    return np.asarray(probs, dtype=np.float64).argmax(axis=-1)
