"""Two one-sided tests: against SciPy, their guards, adjustment, error rates.

Run as a script, this file prints the tables of docs/evidence-comparisons.md: error rates, power of the detectable
difference, and several models; a number is that of the data sets.
"""

import sys

import numpy as np
import pytest
from scipy import stats
from tests.statistics import margin_worlds

from uqassay.errors import InputError
from uqassay.statistics import Estimate, MarginTest, check_margin, no_worse_than_best, paired_margin_test
from uqassay.statistics.paired_tests import checked_bound, margins_tested
from uqassay.statistics.spreads import PairSample
from uqassay.statistics.units import make_units


def test_pvalues_and_interval_against_scipy():
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = a + rng.normal(0.02, 1.0, 400)
    found = paired_margin_test(a, b, margin=0.1)
    d = a - b
    above, below = (stats.ttest_1samp(d, m, alternative=w).pvalue for m, w in ((0.1, "less"), (-0.1, "greater")))
    assert found.pvalue_no_worse == pytest.approx(above, rel=0.2)  # Hall's differs a little
    assert found.pvalue_no_better == pytest.approx(below, rel=0.2)
    assert found.pvalue_equivalent == max(found.pvalue_no_worse, found.pvalue_no_better)
    interval = stats.ttest_1samp(d, 0.0).confidence_interval(0.9)
    assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high))
    assert found.difference.level == pytest.approx(0.9)


def test_models_swapped_swap_the_pvalues():
    rng = np.random.default_rng(1)
    a, b = rng.exponential(size=(2, 80))
    one, other = paired_margin_test(a, b, margin=0.3, bound=9.0), paired_margin_test(b, a, margin=0.3, bound=9.0)
    assert one.pvalue_no_worse == pytest.approx(other.pvalue_no_better)
    assert one.pvalue_no_better == pytest.approx(other.pvalue_no_worse)
    assert one.pvalue_difference == pytest.approx(other.pvalue_difference)


@pytest.mark.parametrize(("bound", "n"), [(2.0, 598), (36.0, 10784)])
def test_equal_losses_need_enough_instances_to_exclude_an_unseen_loss(bound, n):
    needed = np.log(0.05) / np.log(1 - 0.01 / bound)
    assert n == int(np.ceil(needed))
    for size, told in ((n - 1, "cannot tell"), (n, "equivalent")):
        values = np.zeros(size)
        assert paired_margin_test(values, values, margin=0.01, bound=bound).verdict == told
    test = paired_margin_test(values[:100], values[:100], margin=0.01, bound=bound)
    assert (test.limited_by, test.verdict) == ("unseen", "cannot tell")


def test_an_infinite_loss_and_a_single_group_show_nothing():
    for a, options in (([1.0, np.inf], {}), ([1.0, 2.0], {"groups": ["g", "g"]}), ([1.0], {})):
        test = paired_margin_test(a, np.ones(len(a)), margin=1.0, **options)
        assert np.isnan(
            [test.pvalue_no_worse, test.pvalue_no_better, test.pvalue_difference, test.difference.low]
        ).all()
        assert test.verdict == "cannot tell"
        assert test.notes


def test_groups_and_weights_count():
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(20), 10)
    a, b = rng.normal(size=20)[codes] + 0.1 * rng.normal(size=200), np.zeros(200)
    alone, grouped = (paired_margin_test(a, b, margin=0.5, groups=g) for g in (None, codes))
    assert grouped.pvalue_no_worse > alone.pvalue_no_worse
    weights = rng.integers(1, 4, 200)
    twice = paired_margin_test(
        np.repeat(a, weights), np.repeat(b, weights), margin=0.5, groups=np.repeat(codes, weights)
    )
    weighted = paired_margin_test(a, b, margin=0.5, groups=codes, sample_weight=weights)
    assert float(weighted.difference) == pytest.approx(float(twice.difference))


def test_bad_input_is_refused():
    for options, match in (
        ({"margin": 0}, "margin"),
        ({"margin": 0.1, "level": 0.3}, "level"),
        ({"margin": 1, "bound": -1}, "bound"),
    ):
        with pytest.raises(InputError, match=f"^{match}: "):
            paired_margin_test([1.0, 2.0], [1.0, 3.0], **options)


# -- several models ----------------------------------------------------------------------------------------------------


def test_no_worse_than_best_against_bonferroni():
    p = np.array([[0.0, 0.01, 0.02], [0.03, 0.0, 0.001], [0.5, 0.6, 0.0]])
    found = no_worse_than_best(p)
    assert found.tolist() == pytest.approx([0.04, 0.06, 0.6])  # the greatest of each row, times 2, 2 and 1
    assert no_worse_than_best(np.zeros((1, 1))).tolist() == [0.0]
    assert no_worse_than_best(np.array([[0.0, 0.2], [0.01, 0.0]])).tolist() == [0.2, 0.01]
    undefined = no_worse_than_best(np.array([[0.0, np.nan, 0.01], [0.01, 0.0, 0.01], [np.nan, np.nan, 0.0]]))
    assert np.isnan(undefined[[0, 2]]).all()
    assert undefined[1] == pytest.approx(0.02)


def chosen_rates(n_models, n, *, n_samples, seed):
    """Shares of data sets in which a model that is worse by the margin is told to be no worse.

    One model is better than all others by the margin, so each statement on another one is false; then of equal models the mean
    share that is told to be no worse.
    """
    rng, margin, false, told = np.random.default_rng(seed), 4 / n**0.5, 0, 0.0
    upper = np.triu_indices(n_models, 1)
    for _ in range(n_samples):
        x = rng.normal(size=(n_models, n)) / 2**0.5
        for equal in (False, True):
            p = np.zeros((n_models, n_models))
            y = x + (0.0 if equal else margin) * (np.arange(n_models) > 0)[:, np.newaxis]
            for i, j in zip(*upper, strict=True):
                test = paired_margin_test(y[i], y[j], margin=margin)
                p[i, j], p[j, i] = test.pvalue_no_worse, test.pvalue_no_better
            shown = no_worse_than_best(p) <= 0.05
            winner = int(y.mean(axis=1).argmin())
            if equal:
                told += np.delete(shown, winner).mean()
            else:
                false += bool(np.delete(shown, [0, winner] if winner else [0]).any())
    return false / n_samples, told / n_samples


# -- error rates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["0.5 % near the floor of 36 nats, n = 100", "10 groups of 60·.9^i"])
def test_few_verdicts_are_false(name):
    world, margin = margin_worlds.worlds()[name]
    found = margin_worlds.rates(world, margin, n_samples=40, seed=3)
    assert max(found.false.values()) <= 0.05 + 4 * (0.05 * 0.95 / 40) ** 0.5
    if "floor" in name:
        assert found.student > 0.3  # what Student's t alone would tell


def test_a_detectable_difference_is_shown():
    world, _ = margin_worlds.worlds()["normal, n = 300"]
    assert abs(margin_worlds.shown(world, n_samples=40, seed=4).mean() - 0.8) < 0.2


def print_several(n_samples):
    """The table of several models."""
    print("| models | false | told, of equal means |")
    for j in (2, 3, 5, 10):
        for n in (100, 2000):
            cells = chosen_rates(j, n, n_samples=n_samples, seed=22)
            print(f"| {j}, n = {n:,} |", " | ".join(f"{100 * share:.1f}" for share in cells), "|", flush=True)


def print_tables(n_samples=1000):
    """Print all tables."""
    margin_worlds.print_rates(n_samples)
    margin_worlds.print_power(n_samples // 2)
    print_several(3 * n_samples // 10)


# Tests against a margin: p-values by hand, verdicts in their order, what limits them.


def spreads(a, b):
    sample = PairSample([[np.atleast_2d(a)], [np.atleast_2d(b)]], make_units(np.shape(a)[-1], None, None))
    return sample.spreads((1.0,), np.array([0]), np.array([1]))


def made_up(p_no_worse, p_no_better, p_difference, difference):
    e = Estimate(difference, low=-1.0, high=1.0, level=0.9, n=10, method="student-t")
    return MarginTest(e, 0.1, p_no_worse, p_no_better, p_difference, 0.05, "", 10)


def test_student_pvalue_against_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    found = margins_tested(spreads(a, b), np.zeros(1), np.zeros(1), 0.3)
    expected = stats.ttest_1samp(a - b, 0.3, alternative="less").pvalue
    assert found.student[0] == pytest.approx(expected)
    assert found.pvalue[0] == max(found.student[0], found.hall[0])


def test_unseen_pvalue_by_hand():
    a, b = np.array([0.1, 0.2, 0.3, 0.1]), np.array([0.1, 0.1, 0.3, 0.3])
    found = margins_tested(spreads(a, b), np.zeros(1), np.array([2.0]), 0.5)
    d = -0.025
    q = (0.5 - d) / (2 - d)  # (1 − q) d + 2 q = 0.5
    assert (1 - q) * d + 2 * q == pytest.approx(0.5)
    assert found.unseen[0] == pytest.approx((1 - q) ** 4)
    assert margins_tested(spreads(a, b), np.zeros(1), np.array([np.inf]), 0.5).unseen[0] == 1
    assert margins_tested(spreads(a, b), np.zeros(1), np.array([0.4]), 0.5).unseen[0] == 0  # less than the margin


def test_hall_sees_losses_that_are_skewed():
    rng = np.random.default_rng(1)
    a = rng.exponential(size=40) - 1
    found = margins_tested(spreads(a, np.zeros(40)), np.zeros(1), np.zeros(1), 0.4)
    assert found.hall[0] > found.student[0]  # a long tail upwards: its mean is known less well from above
    assert found.obstacle.tolist() == ["skewness"]


def test_equal_differences():
    found = margins_tested(spreads([1.0, 1.0], [0.5, 0.5]), np.zeros(1), np.zeros(1), 0.6)
    assert found.pvalue[0] == 0
    assert margins_tested(spreads([1.0, 1.0], [0.5, 0.5]), np.zeros(1), np.zeros(1), 0.4).pvalue[0] == 1


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        ((0.001, 0.9, 0.01, -0.5), "better"),
        ((0.001, 0.001, 0.01, -0.05), "better"),
        ((0.001, 0.001, 0.01, 0.05), "equivalent"),  # worse by less than the margin
        ((0.001, 0.001, 0.5, 0.01), "equivalent"),
        ((0.001, 0.3, 0.5, -0.01), "no worse"),
        ((0.3, 0.001, 0.01, 0.2), "worse"),
        ((0.3, 0.3, 0.5, 0.0), "cannot tell"),
        ((np.nan, np.nan, np.nan, np.nan), "cannot tell"),
    ],
)
def test_verdicts(test, verdict):
    assert made_up(*test).verdict == verdict


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan, np.inf, True, "0.1", None])
def test_bad_margins_are_refused(margin):
    with pytest.raises(InputError, match=r"^margin: must be a positive number"):
        check_margin(margin, 0.95)


def test_a_low_level_leaves_no_interval():
    with pytest.raises(InputError, match=r"^level: must be above 0.5 where a margin is given"):
        check_margin(0.1, 0.5)


def test_bounds_are_numbers():
    assert checked_bound(0) == 0.0
    with pytest.raises(InputError, match=r"^bound: must be at least 0"):
        checked_bound(-0.1)


if __name__ == "__main__":
    print_tables(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
