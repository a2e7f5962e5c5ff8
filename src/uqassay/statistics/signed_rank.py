"""Wilcoxon's signed-rank test of a few differences: exact, with ties and zeros."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import check_alpha
from uqassay.statistics.friedman import ROUNDING, tied_ranks
from uqassay.statistics.samples import Floats, as_floats
from uqassay.wording import counted, pvalue

__all__ = ["SignedRankTest", "centre_of", "rank_sum_pvalues", "signed_rank_test", "signed_ranks"]

MOST_EXACT = 300  # nonzero differences; the exact distribution of 300 takes 10 ms


@final
@dataclass(frozen=True, eq=False)
class SignedRankTest:
    """Result of Wilcoxon's signed-rank test.

    Attributes
    ----------
    positive, negative : float
        Sums of the ranks of positive and of negative differences.
    difference : float
        Hodges and Lehmann's estimate of the centre: the median of the means of all pairs of differences (Walsh averages).
    pvalue : float
        Two-sided.
    exact : bool
        Whether all patterns of signs were counted.
    n, n_zero : int
        Number of differences, and of those that are zero.
    notes : tuple of Note
    """

    positive: float
    negative: float
    difference: float
    pvalue: float
    exact: bool
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        fields = ("positive", "negative", "difference", "pvalue", "exact", "n", "n_zero")
        return {name: getattr(self, name) for name in fields} | {"notes": [note.to_dict() for note in self.notes]}


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

    Raises
    ------
    InputError
        A difference is nan or infinite.

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
    d = as_floats(differences, "differences", ndim=(1,), shape="(N,)")
    if np.isinf(d).any():
        row = int(np.flatnonzero(np.isinf(d))[0])
        raise InputError(
            "differences", "must be finite", f"row {row} has {d[row]}", "leave out that unit", code="finite"
        )
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
