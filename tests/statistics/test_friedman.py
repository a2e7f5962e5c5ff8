"""Average ranks and Friedman's test against SciPy, a printed example and brute force."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import average_ranks, friedman_test
from uqassay.statistics.many_data_sets import tied_ranks


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
