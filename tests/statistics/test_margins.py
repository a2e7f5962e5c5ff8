"""Tests against a margin: p-values by hand, verdicts in their order, what limits them."""

import numpy as np
import pytest
from scipy import stats

from uqassay.errors import InputError
from uqassay.statistics import Estimate, MarginTest, check_margin
from uqassay.statistics.paired_tests import checked_bound, margins_tested
from uqassay.statistics.spreads import PairSample
from uqassay.statistics.units import make_units


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
