"""Moments of the differences of pairs of models over groups of instances, by the sizes of the groups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.statistics.pair_moments import MomentSpread, is_reliable, of_pairs
from uqassay.statistics.samples import Floats, bell_mccaffrey

__all__ = ["MOST_SIZES", "GroupMoments"]

# Differences that are held at once: a block stays in the cache.
_CELLS = 2**17

MOST_SIZES = 64  # distinct sizes of groups; with more, a sum by sizes saves nothing


class GroupMoments:
    """Moments of the differences of J models in one or two columns, of each pair when it is first asked for.

    All groups of one size have the same factor in the variance, so that their squares are summed once.

    Parameters
    ----------
    columns : sequence of C = 1 or 2 sequences of J arrays (n,)
        Finite values, but for models that are in no pair; the rows of a group lie together.
    starts : int array (G,)
        First row of each group.
    """

    def __init__(self, columns: Sequence[Sequence[Floats]], starts: NDArray[np.intp]) -> None:
        self._columns, self._starts = columns, starts
        j, self._n = len(columns[0]), columns[0][0].size
        members = np.diff(np.append(starts, self._n))
        self._by_size = np.argsort(members, kind="stable")
        self._sizes, firsts, self._counts = np.unique(members[self._by_size], return_index=True, return_counts=True)
        self._firsts = firsts
        self._fellows = np.repeat(members - 1.0, members)  # of each instance in its group
        self._terms = [(0, 0)] if len(columns) == 1 else [(0, 0), (0, 1), (1, 1)]
        with np.errstate(invalid="ignore"):
            self._scales = np.array([[max(x.max(), -x.min(), 0.0) for x in column] for column in columns])
        c, t = len(columns), len(self._terms)
        self._known = np.zeros((j, j), dtype=bool)
        self._first = np.zeros((c, j, j))  # mean differences
        self._alone, self._pairs = np.zeros((t, j, j)), np.zeros((t, j, j))  # Σ e², Σ (n_g − 1) e² over the instances
        self._second = np.zeros((t, j, j, self._sizes.size))  # Σ u² over the groups of each size
        self._third = np.zeros((t + c - 1 if c == 2 else 1, j, j))  # Σ u³ over the groups

    def spread(self, coefficients: ArrayLike, a: NDArray[np.intp], b: NDArray[np.intp]) -> MomentSpread:
        """Spread of the combined differences of model a minus model b, for pairs ``(P,)``.

        The coefficients are ``(C,)``, or ``(C, P)``, those of each pair.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # which is not reliable then
            self._learn(a, b)
            return self._spread(of_pairs(coefficients, a.size), a, b)

    def _spread(self, t: Floats, a: NDArray[np.intp], b: NDArray[np.intp]) -> MomentSpread:
        quadratic = np.stack([t[i] * t[k] if i == k else 2 * t[i] * t[k] for i, k in self._terms])  # (T, P)
        alone, pairs = ((quadratic * table[:, a, b]).sum(axis=0) for table in (self._alone, self._pairs))
        second = (quadratic[..., np.newaxis] * self._second[:, a, b]).sum(axis=0)  # (P, S)
        third = self._third[:, a, b]
        cubes = t[0] ** 3 * third[0]
        if len(t) == 2:
            cubes += 3 * t[0] * t[1] * (t[0] * third[1] + t[1] * third[2]) + t[1] ** 3 * third[3]
        squares, sizes, weight = second.sum(axis=1), self._sizes.astype(np.float64), float(self._n)
        excess = squares - alone
        rho = np.clip(np.divide(excess, pairs, out=np.zeros(a.size), where=pairs > 0), 0.0, 1.0)[:, np.newaxis]
        tau = (1 - rho) * sizes + rho * sizes**2
        factors, dof = bell_mccaffrey(tau, sizes, self._counts)
        scale = (np.abs(t) * np.maximum(self._scales[:, a], self._scales[:, b])).sum(axis=0)
        own = [k for k, (i, j) in enumerate(self._terms) if i == j]
        by_instance, by_group = (
            (quadratic[own] * table[own][:, a, b]).sum(axis=0) for table in (self._alone, self._second.sum(axis=-1))
        )
        reliable = is_reliable(alone, by_instance, self._n, scale)
        reliable &= is_reliable(squares, by_group, self._n, scale)
        return MomentSpread(
            mean=(t * self._first[:, a, b]).sum(axis=0),
            inside=(factors * second).sum(axis=1) / weight**2,
            third=cubes / weight**3,
            dof=dof,
            independent=weight**2 / (tau @ self._counts),
            reliable=reliable,
        )

    def _learn(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> None:
        new = ~self._known[a, b]
        a, b = a[new], b[new]
        step = max(1, _CELLS // self._n)
        for i in range(0, a.size, step):
            self._learn_pairs(a[i : i + step], b[i : i + step])

    def _learn_pairs(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> None:
        e = np.empty((len(self._columns), a.size, self._n))
        for column, apart in zip(self._columns, e, strict=True):
            for row, i, k in zip(apart, a.tolist(), b.tolist(), strict=True):
                np.subtract(column[i], column[k], out=row)
        first = e.mean(axis=2)
        e -= first[..., np.newaxis]
        u = np.add.reduceat(e, self._starts, axis=2)[..., self._by_size]  # (C, P, G)
        squares = np.stack([u[i] * u[k] for i, k in self._terms])
        products = [(0, 0)] if len(e) == 1 else [(0, 0), (0, 1), (2, 0), (2, 1)]  # xxx, xxy, yyx, yyy
        tables = (
            (self._first, first, -1.0),
            (self._alone, np.stack([np.einsum("pn,pn->p", e[i], e[k]) for i, k in self._terms]), 1.0),
            (self._pairs, np.stack([np.einsum("pn,pn,n->p", e[i], e[k], self._fellows) for i, k in self._terms]), 1.0),
            (self._second, np.add.reduceat(squares, self._firsts, axis=2), 1.0),
            (self._third, np.stack([np.einsum("pg,pg->p", squares[i], u[k]) for i, k in products]), -1.0),
        )
        for table, value, sign in tables:
            table[:, a, b], table[:, b, a] = value, sign * value
        self._known[a, b] = self._known[b, a] = True
