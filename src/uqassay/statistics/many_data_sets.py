"""Alternatives compared over many data sets: Friedman, Nemenyi, signed ranks, sign flips."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, generator
from uqassay.checks import fail, number, one_of, whole
from uqassay.notes import Note
from uqassay.results import Plain
from uqassay.statistics.adjustments import holm
from uqassay.statistics.paired_tests import check_alpha
from uqassay.statistics.units import as_floats, check_draws, check_level
from uqassay.text import counted, pvalue

__all__ = [
    "BayesianSignedRank",
    "FriedmanTest",
    "PermutationTest",
    "SignedRankPairs",
    "SignedRankTest",
    "average_ranks",
    "bayesian_signed_rank_test",
    "friedman_test",
    "maximal_groups",
    "nemenyi_difference",
    "nemenyi_pvalues",
    "pairwise_signed_rank_tests",
    "permutation_test",
    "sign_flip_test",
    "signed_rank_test",
    "table_ranks",
    "tied_ranks",
]


# Ranks of J models on N data sets, and Friedman's test that all models are equal.

ROUNDING = 1e-12  # relative to the largest value: closer values tie, because equal results are rounded differently


@final
@dataclass(frozen=True, eq=False)
class FriedmanTest(Plain):
    """Friedman's test with Iman and Davenport's F."""

    #: (J,) Average rank of each model, 1 for the best.
    ranks: Floats
    #: Friedman's statistic, corrected for ties.
    chi_squared: float
    #: Iman and Davenport's statistic; infinite where all data sets order the models alike.
    f: float
    #: Of `f`; nan where a note says why.
    pvalue: float
    n_data_sets: int
    notes: tuple[Note, ...] = ()

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal models are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


def average_ranks(values: ArrayLike, *, greater_is_better: bool = False) -> Floats:
    """Average rank of each model over data sets, 1 for the best; equal values share the mean of their ranks.

    Parameters
    ----------
    values : array_like, shape (N, J)
        One row for each data set, one column for each model.
    greater_is_better : bool
        False for losses, True for scores.

    Returns
    -------
    ranks : ndarray (J,)

    Notes
    -----
    Values closer than 1e-12 of the largest one count as equal.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]], greater_is_better=True).tolist()
    [1.0, 2.25, 2.75]
    """
    found: Floats = table_ranks(as_table(values), greater_is_better=greater_is_better).mean(axis=0)
    return found


def friedman_test(values: ArrayLike, *, greater_is_better: bool = False) -> FriedmanTest:
    """Test whether J models have equal ranks on average, over N data sets that are a sample of data sets.

    Parameters
    ----------
    values, greater_is_better
        As in `average_ranks`; at least two models and two data sets.

    Returns
    -------
    test : FriedmanTest

    Notes
    -----
    The p-value comes from the F distribution with J − 1 and (J − 1)(N − 1) degrees of freedom. Where all data sets order the
    models alike, F is infinite and the p-value is the probability of that, (1 / J!)^(N − 1), exact without ties. With few data
    sets the F distribution is liberal: of three models on six, it gives .013 where all orders give .029. The test says that
    some models differ, not which: see `pairwise_signed_rank_tests`.

    References
    ----------
    Friedman (1937), The use of ranks to avoid the assumption of normality; Iman, Davenport (1980), Approximations of the
    critical region of the Friedman statistic; Demšar (2006), Statistical comparisons of classifiers over multiple data sets,
    J. Mach. Learn. Res. 7, section 3.2.2.

    Examples
    --------
    >>> test = friedman_test([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4], [0.1, 0.3, 0.2], [0.1, 0.2, 0.5]])
    >>> test.ranks.tolist(), round(test.chi_squared, 3), round(test.f, 3), round(test.pvalue, 3)
    ([1.25, 2.0, 2.75], 4.5, 3.857, 0.084)
    """
    ranks = table_ranks(as_table(values, least=2), greater_is_better=greater_is_better)
    n, j = ranks.shape
    centred = ranks - (j + 1) / 2
    spread = float((centred**2).sum())  # N J (J² − 1) / 12 without ties
    mean = ranks.mean(axis=0)
    if spread == 0:
        note = Note("no-test", "all models are equal on every data set")
        return FriedmanTest(mean, math.nan, math.nan, math.nan, n, (note,))
    between = float((centred.sum(axis=0) ** 2).sum())
    chi = (j - 1) * between / spread
    rest = n * (j - 1) - chi
    if rest <= 1e-9 * n * j:
        return FriedmanTest(mean, chi, math.inf, math.exp(-(n - 1) * math.lgamma(j + 1)), n)
    f = (n - 1) * chi / rest
    return FriedmanTest(mean, chi, f, float(special.fdtrc(j - 1, (j - 1) * (n - 1), f)), n)


# -- helpers ------------------------------------------------------------------------------------------------------------


def as_table(values: ArrayLike, *, least: int = 1) -> Floats:
    """Check a table of finite values, one row for each data set and one column for each model."""
    table = as_floats(values, "values", ndim=(2,), shape="(N, J)")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0].tolist()
        got = f"row {row}, column {column} has {table[row, column]}"
        fail("values", "must be finite", got, "leave out that data set or that model", code="finite")
    if min(table.shape) < least:
        remedy = "pass one row for each data set and one column for each model"
        fail(
            "values",
            f"needs at least {least} data sets and {least} models",
            f"got shape {table.shape}",
            remedy,
            code="shape",
        )
    return table


def _finite(differences: ArrayLike) -> Floats:
    d = as_floats(differences, "differences", ndim=(1,), shape="(N,)")
    if np.isinf(d).any():
        row = int(np.flatnonzero(np.isinf(d))[0])
        fail("differences", "must be finite", f"row {row} has {d[row]}", "leave out that unit", code="finite")
    return d


def table_ranks(table: Floats, *, greater_is_better: bool = False) -> Floats:
    """Ranks within each row of a checked table, 1 for the best, ``(N, J)``."""
    return tied_ranks(-table if greater_is_better else table, ROUNDING * np.abs(table).max(axis=1, keepdims=True))


def tied_ranks(values: Floats, tolerance: float | Floats) -> Floats:
    """Ranks along the last axis from 1; values that follow each other within a tolerance share the mean of their ranks."""
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    apart = np.diff(ascending, axis=-1) > tolerance
    place = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    edge = np.ones((*values.shape[:-1], 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, apart], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([apart, edge], axis=-1), place, values.shape[-1])
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


# Nemenyi's test of all pairs of average ranks, and its critical difference.


def nemenyi_difference(n_models: int, n_data_sets: int, *, level: float = 0.95) -> float:
    """Critical difference of two average ranks in Nemenyi's test.

    Parameters
    ----------
    n_models, n_data_sets : int
        J ≥ 2 and N ≥ 1.
    level : float
        Confidence level.

    Returns
    -------
    difference : float
        q √(J (J + 1) / (6 N)), where √2 q is the quantile of the studentised range of J values with infinite degrees of
        freedom. Larger than J − 1, the greatest possible difference, where no pair can be told apart.

    Notes
    -----
    All J models are ranked together, so that whether two of them differ depends on the others (Benavoli, Corani, Mangili 2016,
    Should we really use post-hoc tests based on mean-ranks?, J. Mach. Learn. Res. 17); and the error rate holds only if all
    models are equal. `pairwise_signed_rank_tests` compares each pair by itself.

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons; Demšar (2006), Statistical comparisons of classifiers over multiple
    data sets, J. Mach. Learn. Res. 7, section 3.2.2 and Table 5.

    Examples
    --------
    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    check_level(level)
    for name, value, least in (("n_models", n_models, 2), ("n_data_sets", n_data_sets, 1)):
        whole(value, name, "count them", least=least)
    return _quantile(int(n_models), float(level)) * (n_models * (n_models + 1) / (12 * n_data_sets)) ** 0.5


def nemenyi_pvalues(values: ArrayLike) -> Floats:
    """P-values of Nemenyi's test, adjusted for all pairs of models.

    Parameters
    ----------
    values : array_like, shape (N, J)
        One row for each data set, one column for each model; at least two models.

    Returns
    -------
    pvalues : ndarray (J, J)
        nan on the diagonal.

    Examples
    --------
    >>> nemenyi_pvalues([[0.1, 0.2, 0.3]] * 5)[0].round(3).tolist()
    [nan, 0.254, 0.004]
    """
    from scipy.stats import studentized_range  # scipy.stats takes half a second to import

    table = as_table(values, least=2)
    n, j = table.shape
    ranks = average_ranks(table)
    apart = np.abs(ranks[:, np.newaxis] - ranks) / (j * (j + 1) / (12 * n)) ** 0.5
    upper = np.triu_indices(j, 1)
    distances, places = np.unique(apart[upper], return_inverse=True)
    pvalues = np.full((j, j), np.nan)
    pvalues[upper] = pvalues.T[upper] = np.clip(studentized_range.sf(distances, j, np.inf), 0, 1)[places]
    return pvalues


@lru_cache(maxsize=256)
def _quantile(j: int, level: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, j, np.inf))


# Wilcoxon's signed-rank test of a few differences: exact, with ties and zeros.

MOST_EXACT = 300  # nonzero differences; the exact distribution of 300 takes 10 ms


@final
@dataclass(frozen=True, eq=False)
class SignedRankTest(Plain):
    """Result of Wilcoxon's signed-rank test."""

    #: Sums of the ranks of positive and of negative differences.
    positive: float
    negative: float
    #: Hodges and Lehmann's estimate of the centre: the median of the means of all pairs of differences (Walsh averages).
    difference: float
    #: Two-sided.
    pvalue: float
    #: Whether all patterns of signs were counted.
    exact: bool
    #: Number of differences, and of those that are zero.
    n: int
    n_zero: int
    notes: tuple[Note, ...] = ()

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that so many differences can give."""
        return float(min(1.0, 2.0 ** (1 - self.n)))

    def reject(self, alpha: float = 0.05) -> bool:
        """True if symmetry about 0 is rejected at level alpha."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


def signed_rank_test(differences: ArrayLike) -> SignedRankTest:
    """Test whether independent differences are symmetric about 0, by the ranks of their sizes.

    Parameters
    ----------
    differences : array_like, shape (N,)
        One for each independent unit, such as a data set.

    Returns
    -------
    test : SignedRankTest
        A note says so where no p-value can reach .05, with five differences or fewer.

    Notes
    -----
    Zeros are ranked with the others and then left out (Pratt 1959), so that they count against a difference. Equal sizes share
    the mean of their ranks. The p-value is the share of all patterns of signs of the other differences whose rank sums differ
    at least as much, given the ranks; above 300 of them it is normal.

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods; Pratt (1959), Remarks on zeros and ties in the Wilcoxon signed
    rank procedures; Demšar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.1.3.

    Examples
    --------
    >>> test = signed_rank_test([0.03, 0.01, 0.02, 0.05, -0.01, 0.04, 0.06, 0.0])
    >>> test.positive, test.negative, round(test.pvalue, 4)
    (32.5, 2.5, 0.0469)
    """
    d = _finite(differences)
    ranks = signed_ranks(d, ROUNDING * float(np.abs(d).max()))
    nonzero = ranks != 0
    positive, negative = float(ranks[ranks > 0].sum()), float(-ranks[ranks < 0].sum())
    (p,), (exact,) = (each.tolist() for each in rank_sum_pvalues(ranks[np.newaxis]))
    centre = float(centre_of(np.where(nonzero, d, 0.0)))
    test = SignedRankTest(positive, negative, centre, p, exact, d.size, int((~nonzero).sum()))
    if test.smallest_pvalue <= 0.05:
        return test
    text = f"{counted(d.size, 'difference')}: no p-value below {pvalue(test.smallest_pvalue)}"
    note = Note("few", text, {"smallest": test.smallest_pvalue})
    return SignedRankTest(positive, negative, centre, p, exact, d.size, test.n_zero, (note,))


# -- steps, of one list of differences or of several ----------------------------------------------------------------------


def signed_ranks(differences: Floats, tolerance: float | Floats) -> Floats:
    """Ranks of the sizes along the last axis with the signs of the differences, 0 for those within a tolerance of 0."""
    ranks = tied_ranks(np.abs(differences), tolerance)
    return np.where(np.abs(differences) <= tolerance, 0.0, np.copysign(ranks, differences))


def centre_of(differences: Floats) -> Floats:
    """Median along the last axis of the means of all pairs of differences, each with itself too (Walsh averages)."""
    i, k = np.triu_indices(differences.shape[-1])
    return np.asarray(np.median((differences[..., i] + differences[..., k]) / 2, axis=-1))


def rank_sum_pvalues(ranks: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Two-sided p-values of signed ranks (P, N), and whether each is exact, ``(P,)``."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    excess, sizes = np.abs(doubled.sum(axis=1)), np.sort(np.abs(doubled), axis=1)
    exact = (sizes > 0).sum(axis=1) <= MOST_EXACT
    squares = (sizes.astype(np.float64) ** 2).sum(axis=1)
    found = 2 * special.ndtr(-excess / np.sqrt(np.where(squares > 0, squares, 1.0)))
    patterns, which = np.unique(sizes[exact], axis=0, return_inverse=True)
    which, of_exact = which.ravel(), excess[exact]
    pvalues = np.empty(which.size)
    for place, pattern in enumerate(patterns):  # one without ties and zeros
        # twice the sum of the positive ranks, at the side of the greater sum
        reached = (pattern.sum() + of_exact[which == place]) // 2
        pvalues[which == place] = np.minimum(1.0, 2 * _tail(pattern[pattern > 0].tobytes())[reached])
    found[exact] = pvalues
    return found, exact


@lru_cache(maxsize=256)
def _tail(doubled: bytes) -> Floats:
    """P(twice the sum of positive ranks ≥ s) for s = 0, 1, …, where each sign is a coin toss."""
    ranks = np.frombuffer(doubled, dtype=np.int64)
    chance = np.zeros(int(ranks.sum()) + 1)
    chance[0], reach = 1.0, 0
    for rank in ranks.tolist():
        more = chance[: reach + 1] / 2
        chance[: reach + 1] = more
        chance[rank : rank + reach + 1] += more
        reach += rank
    tail: Floats = np.cumsum(chance[::-1])[::-1]
    tail.flags.writeable = False
    return tail


# Wilcoxon's signed-rank test of all pairs of J models over N data sets, adjusted for the number of pairs.

CHUNK = 2**23  # numbers that the differences of several pairs take together


@final
@dataclass(frozen=True, eq=False)
class SignedRankPairs:
    """Signed-rank tests of all pairs of J models."""

    #: (J, J) Hodges and Lehmann's centre of the differences, row minus column.
    difference: Floats
    #: (J, J) Rank sum of the positive differences minus that of the negative ones, row minus column: its sign is the
    #: direction.
    excess: Floats
    #: (J, J) Two-sided; as they are, and adjusted by Holm for all pairs. nan on the diagonal.
    pvalue: Floats
    adjusted: Floats
    #: (J, J) Data sets on which both are equal.
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
        fail(
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


# The Bayesian signed-rank test: probabilities that one model is practically better, equal or worse on a new data set.

DRAWS_AT_ONCE = 2**22  # weights that are drawn together


@final
@dataclass(frozen=True, eq=False)
class BayesianSignedRank(Plain):
    """Result of a Bayesian signed-rank test."""

    _plain: ClassVar = "left rope right width strength n n_draws"

    #: Posterior probabilities that the differences lie mostly below −`width`, inside, or above `width`; they sum to 1.
    left: float
    rope: float
    right: float
    #: (B, 3) For each draw of the posterior, the share of the means of two differences that lies in each region.
    shares: Floats
    #: Half the width of the region of practical equivalence, which is [−`width`, `width`]; 0 for none.
    width: float
    #: Weight of the pseudo-observation.
    strength: float
    #: Number of differences.
    n: int

    @property
    def n_draws(self) -> int:
        """B."""
        return len(self.shares)


def bayesian_signed_rank_test(
    differences: ArrayLike,
    *,
    rope: float = 0.0,
    strength: float = 0.5,
    n_draws: int = 50_000,
    rng: int | np.random.Generator | None = None,
) -> BayesianSignedRank:
    """Posterior probabilities that differences lie mostly below, inside or above a region of practical equivalence.

    Parameters
    ----------
    differences : array_like, shape (N,)
        One for each independent unit, such as a data set.
    rope : float
        Differences between −rope and rope are practically none. With 0 there are two regions, which share the means that are 0.
    strength : float
        Weight s of the prior's pseudo-observation 0, in numbers of data sets.
    n_draws : int
        B.
    rng : int or Generator, optional
        None means seed 0.

    Returns
    -------
    test : BayesianSignedRank

    Notes
    -----
    With z₀ = 0 and w drawn from a Dirichlet distribution with the weights (s, 1, …, 1), the shares are Σᵢₖ wᵢ wₖ [(zᵢ + zₖ) / 2
    in the region]; a mean at an edge counts half on each side, as in the authors' package baycomp. `left`, `rope` and `right`
    are the parts of the draws in which each share is the greatest. The probabilities are of one pair of models by itself: no
    error rate is promised, and none is adjusted for several pairs.

    References
    ----------
    Benavoli, Corani, Demšar, Zaffalon (2017), Time for a change: a tutorial for comparing multiple classifiers through Bayesian
    analysis, J. Mach. Learn. Res. 18, section 4.2; Benavoli, Mangili, Corani, Zaffalon, Ruggeri (2014), A Bayesian Wilcoxon
    signed-rank test based on the Dirichlet process, ICML.

    Examples
    --------
    >>> test = bayesian_signed_rank_test([0.03, 0.02, 0.04, 0.005, 0.03, 0.02], rope=0.01, n_draws=2000)
    >>> [round(p, 1) for p in (test.left, test.rope, test.right)]
    [0.0, 0.0, 1.0]
    """
    d = _finite(differences)
    number(rope, "rope", "pass 0.01, say", low=0, high=np.inf, ends="[)")
    number(strength, "strength", "pass 0.5, say", low=0, high=np.inf, ends="()")
    check_draws(n_draws)
    z = np.concatenate([[0.0], d])
    sums = z[:, np.newaxis] + z
    below, above = _beyond(-sums, 2 * rope), _beyond(sums, 2 * rope)
    shares = np.empty((n_draws, 3))
    random, step = generator(rng), max(1, DRAWS_AT_ONCE // z.size)
    for start in range(0, n_draws, step):
        weights = random.standard_gamma([strength, *np.ones(d.size)], size=(min(step, n_draws - start), z.size))
        weights /= weights.sum(axis=1, keepdims=True)
        part = shares[start : start + step]
        part[:, 0] = ((weights @ below) * weights).sum(axis=1)
        part[:, 2] = ((weights @ above) * weights).sum(axis=1)
    shares[:, 1] = np.maximum(1 - shares[:, 0] - shares[:, 2], 0.0) if rope > 0 else 0.0
    left, inside, right = _most(shares)
    return BayesianSignedRank(left, inside, right, shares, float(rope), float(strength), d.size)


def _beyond(sums: Floats, edge: float) -> Floats:
    """1 beyond the edge, ½ on it."""
    near = 1e-12 * np.abs(sums).max()
    return np.where(np.abs(sums - edge) <= near, 0.5, np.where(sums > edge, 1.0, 0.0))


def _most(shares: Floats) -> tuple[float, float, float]:
    """Part of the draws in which each share is the greatest; equal ones divide the draw."""
    most: NDArray[np.bool_] = shares >= shares.max(axis=1, keepdims=True)
    left, inside, right = (most / most.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return left, inside, right


# Results of permutation tests, and the exact sign-flip test of a few independent differences.

ALTERNATIVES = ("two-sided", "less", "greater")

# Up to 2^15 sign patterns are enumerated; 2^16 would take longer than 9,999 random ones by a factor of 7.
MOST_EXACT_UNITS = 15

# Relative to the largest value: closer statistics tie, because equal sums are rounded differently in different orders.
_TIE = 1e-12


@final
@dataclass(frozen=True, eq=False)
class PermutationTest(Plain):
    """Result of a permutation test."""

    _plain: ClassVar = "statistic pvalue alternative exact n n_draws notes"

    statistic: float
    #: Exact: the share of all rearrangements whose statistic is at least as extreme. Otherwise (1 + count) / (1 + B).
    pvalue: float
    #: (B,) The statistic of every rearrangement (exact) or of B random ones.
    null: Floats
    #: One of "two-sided", "less", "greater".
    alternative: str
    #: True if all rearrangements were enumerated.
    exact: bool
    #: Number of independent units, such as runs.
    n: int
    notes: tuple[Note, ...] = ()

    @property
    def n_draws(self) -> int:
        """B."""
        return len(self.null)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that this number of rearrangements can give."""
        if not self.exact:
            return 1 / (1 + self.n_draws)
        return (2 if self.alternative == "two-sided" else 1) / self.n_draws

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the null hypothesis is rejected at level alpha."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha + _TIE)


def permutation_test(
    statistic: float, null: ArrayLike, *, alternative: str = "two-sided", exact: bool = False, n: int = 1
) -> PermutationTest:
    """Test result from a statistic and its values under rearrangements.

    Parameters
    ----------
    statistic : float
    null : array_like, shape (B,)
        Of all rearrangements, with the one observed (`exact`), or of random ones.
    alternative : {"two-sided", "less", "greater"}
        "two-sided" compares absolute values, so the statistic must be centred at 0 under the null hypothesis.
    exact : bool
    n : int
        Number of independent units, for the reader.

    References
    ----------
    Phipson, Smyth (2010), Permutation p-values should never be zero.

    Examples
    --------
    >>> permutation_test(0.1, [0.5, 0.4, 0.1, 0.6], alternative="less", exact=True).pvalue
    0.25
    >>> permutation_test(0.1, [0.5, 0.4, 0.3, 0.6], alternative="less").pvalue
    0.2
    """
    one_of(alternative, "alternative", ALTERNATIVES)
    draws = as_floats(null, "null", ndim=(1,), shape="(B,)")
    sign = -1.0 if alternative == "less" else 1.0
    values, observed = (
        (np.abs(draws), abs(statistic)) if alternative == "two-sided" else (sign * draws, sign * statistic)
    )
    margin = _TIE * max(abs(statistic), float(np.abs(draws).max()))
    count = int((values >= observed - margin).sum())
    pvalue = count / draws.size if exact else (1 + count) / (1 + draws.size)
    return PermutationTest(float(statistic), float(pvalue), draws, alternative, exact, n)


def sign_flip_test(
    differences: ArrayLike,
    *,
    alternative: str = "two-sided",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PermutationTest:
    """Test whether independent differences are symmetric about 0, by flipping their signs.

    Parameters
    ----------
    differences : array_like, shape (R,)
        One for each independent unit, such as a training run.
    alternative : {"two-sided", "less", "greater"}
        "less": the mean difference is below 0.
    n_draws, rng
        For more than 15 differences, where the 2^R patterns of signs are not enumerated; None means seed 0.

    Returns
    -------
    test : PermutationTest
        The statistic is the mean difference. A note says so where no p-value can reach .05 (four differences or fewer,
        five if two-sided).

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3.

    Examples
    --------
    >>> test = sign_flip_test([-0.3, -0.2, -0.4, -0.1, -0.2], alternative="less")
    >>> test.pvalue, test.n_draws, test.exact
    (0.03125, 32, True)
    """
    one_of(alternative, "alternative", ALTERNATIVES)
    check_draws(n_draws)
    d = _finite(differences)
    exact = d.size <= MOST_EXACT_UNITS
    if exact:
        flipped = np.arange(2**d.size)[:, np.newaxis] >> np.arange(d.size) & 1  # (2^R, R); row 0 flips nothing
    else:
        flipped = generator(rng).integers(0, 2, size=(n_draws, d.size))
    null = ((1 - 2 * flipped) * d).sum(axis=1) / d.size  # elementwise, so that equal patterns round alike
    test = permutation_test(float(d.sum() / d.size), null, alternative=alternative, exact=exact, n=d.size)
    if test.smallest_pvalue <= 0.05:
        return test
    text = f"{counted(d.size, 'difference')}: no p-value below {pvalue(test.smallest_pvalue)}"
    note = Note("few", text, {"smallest": test.smallest_pvalue})
    return PermutationTest(test.statistic, test.pvalue, null, alternative, exact, d.size, (note,))
