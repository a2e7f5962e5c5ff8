"""Tests of pairs of means: against SciPy, for skewed values, without any spread, and for losses that have not been seen."""

import numpy as np
import pytest
from scipy import stats

from uqassay.statistics.paired_tests import pairs_tested
from uqassay.statistics.spreads import PairSample
from uqassay.statistics.units import make_units

N = 40


def spreads(*values):
    """Of the first model minus each other one."""
    sample = PairSample([[np.atleast_2d(v)] for v in values], make_units(N, None, None))
    others = np.arange(1, len(values))
    return sample.spreads((1.0,), np.zeros_like(others), others)


def test_student_and_the_interval_against_scipy(random_generator):
    a, b = random_generator.exponential(size=(2, N))
    found = pairs_tested(spreads(a, b), np.zeros(1), np.zeros(1), np.zeros(1))
    expected = stats.ttest_rel(a, b)
    assert found.student[0] == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval(0.9)
    assert found.reach(0.9)[0] == pytest.approx((interval.high - interval.low) / 2, rel=1e-9)
    assert found.unseen[0] == 0.0
    assert found.student_of_runs[0] == found.student[0]


def test_skewness_moves_hall_alone():
    skewed = np.where(np.arange(N) < 4, 9.0, 0.0)
    found = pairs_tested(spreads(skewed, np.full(N, 0.2), np.full(N, 1.6)), *np.zeros((3, 2)))
    assert np.all(found.hall != found.student)
    symmetric = np.where(np.arange(N) % 2, 1.0, -1.0) + 0.1
    found = pairs_tested(spreads(symmetric, np.zeros(N)), *np.zeros((3, 1)))
    assert found.hall[0] == pytest.approx(found.student[0], rel=1e-9)


def test_equal_differences_have_no_spread_unless_another_source_adds_one():
    x = np.arange(float(N))
    still = pairs_tested(spreads(x, x, x + 1), *np.zeros((3, 2)))
    assert still.student.tolist() == [1.0, 0.0]
    assert still.error.tolist() == [0.0, 0.0]
    added = pairs_tested(spreads(x, x + 1), np.array([0.5]), np.zeros(1), np.zeros(1))
    assert added.error[0] == 0.5
    assert 0 < added.student[0] < 1


def test_unseen_losses_of_the_model_that_seems_better_count():
    x = np.arange(float(N)) % 7
    found = pairs_tested(spreads(x, x + 2 + 0.1 * (np.arange(N) % 2)), np.zeros(1), np.array([3.0]), np.array([50.0]))
    assert found.unseen[0] == pytest.approx((3 / (3 + 2.05)) ** N, rel=1e-9)
