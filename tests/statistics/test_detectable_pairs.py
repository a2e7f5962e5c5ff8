"""Noncentralities against SciPy's noncentral t and against draws of the standard error."""

import numpy as np
import pytest
from scipy import stats

from uqassay.statistics.paired_tests import noncentrality


@pytest.mark.parametrize("dof", [1.0, 2.5, 10.0, 99.0, 1e4])
def test_noncentrality_against_scipy(dof):
    threshold = stats.t.ppf(0.975, dof)
    (found,) = noncentrality(np.array([threshold]), np.array([dof]), 0.8)
    assert stats.nct.sf(threshold, dof, found) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize("dof", [2.0, 5.0, 30.0])
def test_mean_power_over_the_unknown_standard_error(dof):
    threshold = np.array([stats.t.ppf(0.975, dof)])
    (found,) = noncentrality(threshold, np.array([dof]), 0.8, np.array([dof]))
    rng = np.random.default_rng(0)
    first, second = np.sqrt(rng.chisquare(dof, (2, 200_000)) / dof)  # s/σ of the data that plan, and of those that test
    t = (rng.normal(size=second.size) + found * first) / second
    assert np.mean(t > threshold) == pytest.approx(0.8, abs=0.02)


def test_with_many_degrees_of_freedom_both_are_the_same():
    threshold, dof = np.array([2.0]), np.array([1000.0])
    assert noncentrality(threshold, dof, 0.8, dof) == noncentrality(threshold, dof, 0.8)
