"""All pairs: each is the test of one pair, adjusted by Holm; groups against brute force."""

import itertools

import numpy as np
import pytest
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import holm, pairwise_signed_rank_tests, signed_rank_test
from uqassay.statistics.many_data_sets import maximal_groups


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
