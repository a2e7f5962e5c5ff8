"""The signed-rank test against SciPy, brute force over all signs, and a printed example."""

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import many_data_sets as module
from uqassay.statistics import signed_rank_test


def brute_force(d):
    """Two-sided p-value by all patterns of signs of the differences that are not 0, with ranks of all."""
    ranks = stats.rankdata(np.abs(d))[d != 0]
    observed = abs((np.sign(d[d != 0]) * ranks).sum())
    signs = np.array(list(itertools.product([-1, 1], repeat=ranks.size)))
    return np.mean(np.abs(signs @ ranks) >= observed - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_against_brute_force_with_ties_and_zeros(seed):
    d = np.random.default_rng(seed).integers(-3, 5, size=4 + seed).astype(float)
    assert signed_rank_test(d).pvalue == pytest.approx(brute_force(d))


@pytest.mark.parametrize("n", [2, 9, 40])
def test_against_scipy_without_ties(n):
    d = np.random.default_rng(n).normal(0.3, 1, size=n)
    theirs = stats.wilcoxon(d, method="exact")
    test = signed_rank_test(d)
    assert test.pvalue == pytest.approx(theirs.pvalue)
    assert min(test.positive, test.negative) == theirs.statistic
    assert test.exact
    assert test.positive + test.negative == n * (n + 1) / 2


def test_against_the_printed_example():
    test = signed_rank_test(printed.AUC[:, 1] - printed.AUC[:, 0])
    zeros = 1 + 2  # ranks that the paper divides between both sums
    assert (test.positive + zeros / 2, test.negative + zeros / 2) == printed.PRINTED_RANK_SUMS
    assert test.n_zero == 2


@pytest.mark.parametrize("pair", printed.PRATT)
def test_pratts_zeros_against_all_permutations_of_scipy(pair):
    i, k = pair
    assert signed_rank_test(printed.AUC[:, i] - printed.AUC[:, k]).pvalue == pytest.approx(printed.PRATT[pair])


def test_centre_is_the_median_of_walsh_averages():
    d = [0.4, -0.1, 0.3]
    assert signed_rank_test(d).difference == pytest.approx(np.median([0.4, -0.1, 0.3, 0.15, 0.35, 0.1]))


def test_many_differences_are_normal(monkeypatch):
    d = np.random.default_rng(0).normal(0.1, 1, size=200)
    exact = signed_rank_test(d)
    monkeypatch.setattr(module, "MOST_EXACT", 100)
    normal = signed_rank_test(d)
    assert (exact.exact, normal.exact) == (True, False)
    assert normal.pvalue == pytest.approx(exact.pvalue, abs=0.002)


def test_few_or_no_differences():
    five = signed_rank_test([1.0, 2, 3, 4, 5])
    assert five.pvalue == five.smallest_pvalue == 1 / 16
    assert [note.code for note in five.notes] == ["few"]
    assert str(five.notes[0]) == "5 differences: no p-value below .06"
    assert signed_rank_test([1.0, 2, 3, 4, 5, 6]).reject()
    assert signed_rank_test([0.0, 0.0]).pvalue == signed_rank_test([0.0]).pvalue == 1.0
    assert signed_rank_test([3.0]).pvalue == 1.0


def test_equal_sizes_up_to_rounding_tie():
    assert 0.9 - 0.8 != 0.8 - 0.7
    assert signed_rank_test([0.9 - 0.8, 0.7 - 0.8]).positive == 1.5


@pytest.mark.parametrize(("d", "message"), [([1.0, np.nan], "nan"), ([np.inf], "row 0 has inf"), ([[1.0]], "shape")])
def test_bad_differences_are_refused(d, message):
    with pytest.raises(InputError, match=message):
        signed_rank_test(d)
