"""Two readings of the same values: what both tell, against the tests of each."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.statistics import agreeing_comparisons, benjamini_hochberg, pairwise_mean_tests, shaffer

N = 60


@pytest.fixture(scope="module")
def losses():
    rng = np.random.default_rng(3)
    common = rng.normal(size=N)
    return {name: gap + common + 0.2 * rng.normal(size=N) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.5))}


def readings(losses, added):
    first = pairwise_mean_tests(losses)
    second = pairwise_mean_tests(losses | {"a": losses["a"] + added}, references=("b", "c"))
    return first, second, agreeing_comparisons(first, second)


def test_what_both_readings_tell_is_told_with_the_greater_pvalue(losses):
    first, second, both = readings(losses, 0.1)
    for b in (1, 2):
        assert both.pvalue[0, b] == both.pvalue[b, 0] == max(first.pvalue[0, b], second.pvalue[0, b])
        assert both.low[0, b] == min(first.low[0, b], second.low[0, b])
        assert both.high[0, b] == max(first.high[0, b], second.high[0, b])
        assert both.low[b, 0] == -both.high[0, b]
    assert both.pvalue[1, 2] == first.pvalue[1, 2]  # the second reading has not tested it
    assert (both.low[1, 2], both.high[1, 2]) == (first.low[1, 2], first.high[1, 2])
    np.testing.assert_array_equal(both.difference, first.difference)
    np.testing.assert_array_equal(both.adjusted, shaffer(both.pvalue))
    upper = np.triu_indices(3, 1)
    np.testing.assert_array_equal(both.benjamini_hochberg[upper], benjamini_hochberg(both.pvalue[upper]))


def test_readings_that_contradict_each_other_tell_nothing(losses):
    first, second, both = readings(losses, 0.35)  # above b, below c
    assert first.pvalue[0, 1] < 0.05
    assert second.pvalue[0, 1] < 0.05
    assert both.pvalue[0, 1] == 1.0
    assert both.low[0, 1] < 0 < both.high[0, 1]
    assert both.pvalue[0, 2] < 0.05


def test_pairs_without_a_test_stay_without_one(losses):
    first = pairwise_mean_tests(losses | {"c": np.full(N, np.inf)})
    both = agreeing_comparisons(first, pairwise_mean_tests(losses, references=("b", "c")))
    assert np.isnan(both.pvalue[0, 2])
    assert np.isnan(both.adjusted[0, 2])
    assert both.pvalue[0, 1] == first.pvalue[0, 1]


def test_limits_stay_only_where_nothing_is_told(losses):
    first = pairwise_mean_tests(losses, bound=30.0)
    both = agreeing_comparisons(first, pairwise_mean_tests(losses, bound=30.0))
    np.testing.assert_array_equal(both.limited_by, first.limited_by)
    assert "unseen" in both.limited_by


def test_other_names_are_refused(losses):
    first = pairwise_mean_tests(losses)
    with refuses("second", "mismatch", got="got a, b against a, b, c"):
        agreeing_comparisons(first, pairwise_mean_tests({k: losses[k] for k in "ab"}))
