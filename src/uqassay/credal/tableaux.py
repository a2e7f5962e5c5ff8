"""The simplex method on many small, dense linear programs at once.

Each instance has one condensed tableau: basic variables have no column, so there are K rows and about M columns. Each pass
makes one pivot in every unfinished tableau. A library solver would need one call per program, or one sparse program of all,
where the last bits of a row depend on the other rows; here the tableaux are independent. The tests compare the results with
SciPy's HiGHS.

Variables are numbered w_1 … w_M, [t, slack,] e_1 … e_K; e_c is the error of the constraint of class c.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel

__all__ = ["Tableaux", "l1_tableau", "pivot_to_optimum", "variable_values"]

Floats = NDArray[np.float64]
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
