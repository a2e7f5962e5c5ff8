"""Tests of models over many data sets: against SciPy, scikit-posthocs, baycomp, printed tables and brute force."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from tests.statistics import data_set_worlds as worlds
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import (
    average_ranks,
    bayesian_signed_rank_test,
    friedman_test,
    holm,
    nemenyi_difference,
    nemenyi_pvalues,
    pairwise_signed_rank_tests,
    signed_rank_test,
)
from uqassay.statistics import many_data_sets as module
from uqassay.statistics.many_data_sets import maximal_groups, tied_ranks

# Average ranks and Friedman's test against SciPy, a printed example and brute force.


def test_ranks_and_test_against_the_printed_example():
    test = friedman_test(printed.RANKED, greater_is_better=True)
    assert test.ranks == pytest.approx(printed.PRINTED_RANKS, abs=5e-4)
    chi = test.chi_squared * printed.TIES_OF_PRINTED  # printed without the correction for ties
    n, j = printed.RANKED.shape
    assert chi == pytest.approx(printed.PRINTED_CHI, abs=0.005)
    assert (n - 1) * chi / (n * (j - 1) - chi) == pytest.approx(printed.PRINTED_F, abs=0.01)


def test_against_other_packages():
    test = friedman_test(printed.AUC, greater_is_better=True)
    assert test.ranks == pytest.approx(printed.AUTORANK["ranks"], abs=1e-6)
    assert test.chi_squared == pytest.approx(printed.SCIPY_FRIEDMAN)
    assert stats.chi2.sf(test.chi_squared, 3) == pytest.approx(printed.AUTORANK["pvalue"])
    assert test.pvalue == pytest.approx(stats.f.sf(test.f, 3, 39))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_tied_ranks_against_scipy(dtype):
    x = np.random.default_rng(0).integers(0, 4, size=(40, 6)).astype(dtype) / 8
    x.flags.writeable = False
    assert average_ranks(x[::2]).tolist() == stats.rankdata(x[::2], axis=1).mean(axis=0).tolist()
    assert average_ranks(x, greater_is_better=True).tolist() == stats.rankdata(-x, axis=1).mean(axis=0).tolist()


def test_values_equal_up_to_rounding_tie():
    assert 0.1 + 0.2 != 0.3
    assert tied_ranks(np.array([0.1 + 0.2, 0.3, 0.2]), 1e-13).tolist() == [2.5, 2.5, 1.0]
    assert average_ranks([[0.1 + 0.2, 0.3]]).tolist() == [1.5, 1.5]


def exact_pvalue(chi, n):
    """P(χ² ≥ chi) of three models without ties on n data sets, by the distribution of two of the rank sums."""
    chance = Counter({(0, 0): 1.0})
    for _ in range(n):
        more = Counter()
        for (a, b), p in chance.items():
            for i, k in itertools.permutations((1, 2, 3), 2):
                more[a + i, b + k] += p / 6
        chance = more
    total, mean = 6 * n, 2 * n
    return sum(
        p
        for (a, b), p in chance.items()
        if ((a - mean) ** 2 + (b - mean) ** 2 + (total - a - b - mean) ** 2) / n >= chi - 1e-9
    )


@pytest.mark.parametrize(("times", "near"), [(1, (0.029, 0.013)), (3, (0.0002, 0.0001))])
def test_pvalue_is_liberal_with_few_data_sets_as_documented(times, near):
    rows = np.array([[1.0, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2]] * times)
    test = friedman_test(rows)
    assert (exact_pvalue(test.chi_squared, len(rows)), test.pvalue) == pytest.approx(near, abs=6e-4)


def test_pvalue_of_many_data_sets_is_near_the_exact_one():
    rows = np.array([[1.0, 2, 3], [3, 2, 1], [1, 2, 3], [2, 3, 1], [1, 3, 2]] * 4)
    test = friedman_test(rows)
    assert test.pvalue == pytest.approx(exact_pvalue(test.chi_squared, len(rows)), abs=0.02)


def test_equal_order_everywhere_and_equal_models():
    test = friedman_test([[1, 2, 3]] * 4)
    assert test.f == np.inf
    assert test.pvalue == pytest.approx(6.0**-3)
    assert test.reject()
    none = friedman_test(np.ones((5, 3)))
    assert np.isnan(none.pvalue)
    assert [note.code for note in none.notes] == ["no-test"]
    assert not none.reject()
    json.dumps([test.to_dict(), none.to_dict()], allow_nan=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, np.nan]], "must not hold nan"),
        ([[1.0, 2.0], [3.0, np.inf]], "row 1, column 1 has inf"),
        ([1.0, 2.0], "must have shape"),
        ([[1.0], [2.0]], "at least 2 data sets and 2 models"),
    ],
)
def test_bad_tables_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        friedman_test(values)


# Nemenyi's test against Demšar's tables and scikit-posthocs.


def test_difference_against_the_printed_example():
    assert nemenyi_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=5e-4)
    assert nemenyi_difference(4, 14) == pytest.approx(printed.PRINTED_DIFFERENCE, abs=0.005)
    assert nemenyi_difference(4, 14) == pytest.approx(printed.AUTORANK["cd"], rel=1e-5)  # which has q to six digits


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.10])
def test_critical_values_against_the_printed_table(alpha):
    for j, q in enumerate(printed.CRITICAL[alpha], start=2):
        n = j * (j + 1)
        # the paper cuts some of its digits off
        assert nemenyi_difference(j, n, level=1 - alpha) * np.sqrt(6) == pytest.approx(q, abs=1.1e-3)


def test_pvalues_against_scikit_posthocs():
    p = nemenyi_pvalues(printed.AUC)
    assert np.isnan(np.diag(p)).all()
    assert {pair: p[pair] for pair in printed.NEMENYI} == pytest.approx(printed.NEMENYI, abs=1e-6)
    assert np.array_equal(p, p.T, equal_nan=True)


@pytest.mark.parametrize(("j", "n", "message"), [(1, 5, "n_models"), (3, 0, "n_data_sets"), (2.5, 3, "n_models")])
def test_bad_numbers_are_refused(j, n, message):
    with pytest.raises(InputError, match=message):
        nemenyi_difference(j, n)


# The signed-rank test against SciPy, brute force over all signs, and a printed example.


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


# All pairs: each is the test of one pair, adjusted by Holm; groups against brute force.


def test_each_pair_is_the_test_of_its_differences():
    tests = pairwise_signed_rank_tests(printed.AUC)
    pairs = list(itertools.combinations(range(4), 2))
    each = [signed_rank_test(np.round(printed.AUC[:, i] - printed.AUC[:, k], 6)) for i, k in pairs]
    assert [tests.pvalue[pair] for pair in pairs] == pytest.approx([test.pvalue for test in each])
    assert [tests.adjusted[pair] for pair in pairs] == pytest.approx(holm([test.pvalue for test in each]))
    assert [tests.difference[pair] for pair in pairs] == pytest.approx([test.difference for test in each])
    assert [tests.n_zero[pair] for pair in pairs] == [test.n_zero for test in each]
    assert np.array_equal(tests.difference, -tests.difference.T)
    assert np.isnan(np.diag(tests.adjusted)).all()


def test_direction_and_groups():
    x = np.array([[0.9, 0.5, 0.51], [0.8, 0.4, 0.3]] * 4)
    tests = pairwise_signed_rank_tests(x)
    better = tests.better(greater_is_better=True)
    assert better.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert np.array_equal(tests.better(), better.T)
    assert tests.groups() == [(0,), (1, 2)]


def test_the_fewest_data_sets_are_the_fewest_that_can_reject():
    for j in (2, 3, 10):
        rising = np.arange(j, dtype=float)
        least = pairwise_signed_rank_tests([rising]).least_data_sets()
        few, enough = (pairwise_signed_rank_tests([rising] * n) for n in (least - 1, least))
        assert few.smallest_pvalue > 0.05 >= enough.smallest_pvalue
        assert not few.better().any()
        assert enough.better()[0, 1]


def test_equal_models_up_to_rounding_are_equal():
    tests = pairwise_signed_rank_tests([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]] * 5)
    assert tests.n_zero[0, 1] == 10
    assert tests.pvalue[0, 1] == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_groups_against_brute_force(seed):
    apart = np.random.default_rng(seed).random((7, 7)) < 0.5
    apart = np.triu(apart, 1) | np.triu(apart, 1).T
    whole = [
        set(group)
        for size in range(1, 8)
        for group in itertools.combinations(range(7), size)
        if not apart[np.ix_(group, group)].any()
    ]
    expected = sorted(tuple(sorted(g)) for g in whole if not any(g < other for other in whole))
    assert maximal_groups(apart) == expected


def test_one_model_is_refused():
    with pytest.raises(InputError, match="at least two models"):
        pairwise_signed_rank_tests([[1.0], [2.0]])


# The Bayesian signed-rank test against baycomp, moments of the Dirichlet distribution, and one difference by hand.


@pytest.mark.parametrize("key", printed.BAYCOMP)
def test_against_baycomp(key):
    i, k, rope = key
    test = bayesian_signed_rank_test(printed.AUC[:, k] - printed.AUC[:, i], rope=rope, n_draws=20_000)
    assert (test.left, test.rope, test.right) == pytest.approx(printed.BAYCOMP[key], abs=0.012)


def test_mean_shares_against_brute_force():
    d, s, rope = [0.04, 0.01, -0.03], 0.5, 0.01
    z, alpha = np.array([0.0, *d]), np.array([s, 1, 1, 1])
    total = alpha.sum()
    expected = np.zeros(3)
    for i, k in itertools.product(range(4), repeat=2):
        weight = alpha[i] * (alpha[k] + (i == k)) / (total * (total + 1))  # E[wᵢ wₖ]
        mean = round((z[i] + z[k]) / 2, 9)
        for place, inside in enumerate((mean < -rope, -rope < mean < rope, mean > rope)):
            expected[place] += weight * inside
        if abs(mean) == rope:
            expected[[0 if mean < 0 else 2, 1]] += weight / 2
    test = bayesian_signed_rank_test(d, rope=rope, strength=s, n_draws=40_000)
    assert test.shares.mean(axis=0) == pytest.approx(expected, abs=0.006)
    assert test.shares.sum(axis=1) == pytest.approx(1)


def test_one_difference_by_hand():
    # w ~ Beta(1, s) is the weight of the difference: the share of its own pair is w², of those with 0 all else
    test = bayesian_signed_rank_test([0.03], rope=0.02, n_draws=40_000)
    assert test.right == pytest.approx(stats.beta(1, 0.5).sf(np.sqrt(0.5)), abs=0.01)
    assert test.left == 0.0


def test_no_difference_and_no_rope():
    test = bayesian_signed_rank_test([0.0, 0.0, 0.0], n_draws=50)
    assert (test.left, test.rope, test.right) == (0.5, 0.0, 0.5)
    assert bayesian_signed_rank_test([0.0, 0.0], rope=0.1, n_draws=50).rope == 1.0


def test_opposite_differences_exchange_the_sides_and_chunks_change_nothing(monkeypatch):
    d = np.random.default_rng(1).normal(0.02, 0.05, size=8)
    one = bayesian_signed_rank_test(d, rope=0.01, n_draws=500, rng=3)
    monkeypatch.setattr(module, "DRAWS_AT_ONCE", 90)
    two = bayesian_signed_rank_test(-d, rope=0.01, n_draws=500, rng=3)
    assert (one.left, one.rope, one.right) == pytest.approx((two.right, two.rope, two.left))
    assert one.n_draws == 500
    assert json.loads(json.dumps(one.to_dict()))["n"] == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"differences": [np.nan]}, "nan"),
        ({"differences": [np.inf]}, "finite"),
        ({"rope": -1.0}, "rope"),
        ({"strength": 0.0}, "strength"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        bayesian_signed_rank_test(**{"differences": [0.1], **options})


# A few simulated comparisons over data sets: no more false pairs than stated, and power where data sets suffice.


@pytest.mark.parametrize(("name", "j"), [("normal", 5), ("errors of 20 instances (ties)", 2), ("lognormal", 5)])
def test_the_sentence_names_few_false_pairs(name, j):
    false, _, _ = worlds.false_claims(worlds.WORLDS[name], 10, j, n_samples=150, seed=1)
    assert false <= 0.05 + 4 * (0.05 * 0.95 / 150) ** 0.5


def test_nothing_is_shown_by_five_data_sets_and_nearly_all_by_thirty():
    assert worlds.shown(2.0, 5, 5, n_samples=20, seed=1)[0] == 0.0
    assert worlds.shown(2.0, 30, 5, n_samples=20, seed=1)[0] > 0.95
