"""Wilcoxon's signed-rank test of all pairs of J models over N data sets, adjusted for the number of pairs."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.statistics.friedman import ROUNDING, as_table
from uqassay.statistics.multiple_tests import holm
from uqassay.statistics.samples import Floats, check_level
from uqassay.statistics.signed_rank import centre_of, rank_sum_pvalues, signed_ranks

__all__ = ["SignedRankPairs", "maximal_groups", "pairwise_signed_rank_tests"]


CHUNK = 2**23  # numbers that the differences of several pairs take together


@final
@dataclass(frozen=True, eq=False)
class SignedRankPairs:
    """Signed-rank tests of all pairs of J models.

    Attributes
    ----------
    difference : array (J, J)
        Hodges and Lehmann's centre of the differences, row minus column.
    excess : array (J, J)
        Rank sum of the positive differences minus that of the negative ones, row minus column: its sign is the direction.
    pvalue, adjusted : array (J, J)
        Two-sided; as they are, and adjusted by Holm for all pairs. nan on the diagonal.
    n_zero : int array (J, J)
        Data sets on which both are equal.
    n_data_sets : int
    """

    difference: Floats
    excess: Floats
    pvalue: Floats
    adjusted: Floats
    n_zero: NDArray[np.int64]
    n_data_sets: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs, J (J − 1) / 2."""
        return math.comb(len(self.pvalue), 2)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest adjusted p-value that so many data sets and pairs can give."""
        return float(min(1.0, self.n_pairs * 2.0 ** (1 - self.n_data_sets)))

    def least_data_sets(self, level: float = 0.95) -> int:
        """The fewest data sets on which so many pairs can show any difference."""
        check_level(level)
        n = 1
        while self.n_pairs * 2.0 ** (1 - n) > 1 - level + 1e-12:
            n += 1
        return n

    def better(self, *, level: float = 0.95, greater_is_better: bool = False) -> NDArray[np.bool_]:
        """Whether the model of the row is better than that of the column, ``(J, J)``.

        The probability of any false pair is at most 1 − level, whichever of the models are equal.
        """
        check_level(level)
        sign = 1.0 if greater_is_better else -1.0
        with np.errstate(invalid="ignore"):
            return np.asarray((self.adjusted <= 1 - level + 1e-12) & (sign * self.excess > 0))

    def groups(self, *, level: float = 0.95) -> list[tuple[int, ...]]:
        """Groups of models of which no two can be told apart, see `maximal_groups`."""
        better = self.better(level=level)
        return maximal_groups(better | better.T)


def pairwise_signed_rank_tests(values: ArrayLike) -> SignedRankPairs:
    """Test every pair of models over data sets, each pair by itself, with an adjustment for all pairs.

    Parameters
    ----------
    values : array_like, shape (N, J)
        One row for each data set, one column for each model; at least two models.

    Returns
    -------
    tests : SignedRankPairs

    Raises
    ------
    InputError
        A value is nan or infinite, or there are fewer than two models.

    Notes
    -----
    Holm's adjustment holds under any dependence of the tests. Shaffer's, which has more power, needs that two models are equal
    if both are equal to a third one; symmetry of the differences about 0 is not passed on in this way.

    References
    ----------
    Benavoli, Corani, Mangili (2016), Should we really use post-hoc tests based on mean-ranks?, J. Mach. Learn. Res. 17; García,
    Herrera (2008), An extension on "Statistical comparisons of classifiers over multiple data sets" for all pairwise
    comparisons, J. Mach. Learn. Res. 9; Holm (1979).

    Examples
    --------
    >>> rows = [[0.1, 0.2, 0.3], [0.3, 0.5, 0.4], [0.2, 0.5, 0.6], [0.1, 0.5, 0.4]] * 2
    >>> tests = pairwise_signed_rank_tests(rows)
    >>> tests.adjusted.round(3)[0].tolist(), tests.groups()
    ([nan, 0.023, 0.023], [(0,), (1, 2)])
    """
    table = as_table(values)
    n, j = table.shape
    if j < 2:
        raise InputError(
            "values", "needs at least two models", f"got shape {table.shape}", "pass one column for each", code="shape"
        )
    upper = np.triu_indices(j, 1)
    found = np.zeros((4, j, j))  # centre, excess, p-value, zeros of each pair
    step = max(1, CHUNK // (n * (n + 1)))
    for start in range(0, upper[0].size, step):
        i, k = (places[start : start + step] for places in upper)
        found[:, i, k] = _tested(table[:, i].T, table[:, k].T)
    difference, excess, pvalue, zeros = found
    n_zero = (zeros + zeros.T).astype(np.int64)
    pvalue = pvalue + pvalue.T
    np.fill_diagonal(pvalue, np.nan)
    np.fill_diagonal(n_zero, n)
    adjusted = np.full((j, j), np.nan)
    adjusted[upper] = adjusted.T[upper] = holm(pvalue[upper])
    return SignedRankPairs(difference - difference.T, excess - excess.T, pvalue, adjusted, n_zero, n)


def _tested(a: Floats, b: Floats) -> Floats:
    """Centre, excess, p-value and zeros of each row of a − b, ``(4, P)``."""
    d = a - b
    d[np.abs(d) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0  # equal up to rounding
    ranks = signed_ranks(d, ROUNDING * np.abs(d).max(axis=1, keepdims=True))
    pvalues = rank_sum_pvalues(ranks)[0]
    return np.array([centre_of(np.where(ranks == 0, 0.0, d)), ranks.sum(axis=1), pvalues, (ranks == 0).sum(axis=1)])


def maximal_groups(told_apart: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Groups of models of which no two are told apart, and to which no other model can be added.

    Parameters
    ----------
    told_apart : bool array (J, J)
        Symmetric.

    Returns
    -------
    list of tuple of int
        In lexical order; each model is in at least one group, and in several where they overlap.

    References
    ----------
    Bron, Kerbosch (1973), Algorithm 457: finding all cliques of an undirected graph.

    Examples
    --------
    >>> apart = np.zeros((3, 3), dtype=bool)
    >>> apart[0, 2] = apart[2, 0] = True
    >>> maximal_groups(apart)
    [(0, 1), (1, 2)]
    """
    j = len(told_apart)
    beside = [set(np.flatnonzero(~told_apart[i]).tolist()) - {i} for i in range(j)]
    found: list[tuple[int, ...]] = []

    def extend(group: list[int], possible: set[int], done: set[int]) -> None:
        if not possible and not done:
            found.append(tuple(sorted(group)))
            return
        pivot = max(sorted(possible | done), key=lambda i: len(beside[i] & possible))
        for i in sorted(possible - beside[pivot]):
            extend([*group, i], possible & beside[i], done & beside[i])
            possible, done = possible - {i}, done | {i}

    extend([], set(range(j)), set())
    return sorted(found)
