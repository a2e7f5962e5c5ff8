"""Exact binomial tests, against scipy.stats and against sums of probabilities."""

import numpy as np
import pytest
from scipy import stats

from uqassay.statistics.risk_bounds import binomial_pvalues, least_kept, most_errors, rejection_power, upper_error_rate

KEPT = np.array([0, 1, 2, 13, 58, 59, 100, 2000])


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.5, 0.99])
def test_pvalues_against_scipy(risk):
    for errors in (0, 1, 5):
        k = np.minimum(errors, KEPT)
        expected = np.where(KEPT > 0, stats.binom.cdf(k, KEPT, risk), 1.0)
        assert binomial_pvalues(k, KEPT, risk) == pytest.approx(expected)


def test_bounds_against_scipy():
    for k, n in ((0, 1), (0, 59), (3, 100), (99, 100), (100, 100)):
        ends = stats.binomtest(k, n, alternative="less").proportion_ci(0.9, method="exact")
        assert upper_error_rate(k, n, 0.9) == pytest.approx(ends.high)
    assert upper_error_rate(0, 0, 0.9) == 1.0


@pytest.mark.parametrize("risk", [0.02, 0.3])
def test_a_bound_meets_the_risk_where_the_test_rejects(risk):
    k, n = (array.ravel() for array in np.meshgrid(np.arange(8), np.arange(8, 400, 7)))
    assert ((upper_error_rate(k, n, 0.95) <= risk) == (binomial_pvalues(k, n, risk) <= 1 - 0.95)).all()


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.4])
def test_most_errors_and_power_against_brute_force(risk):
    for n in KEPT.tolist():
        counts = np.arange(n + 1)
        rejecting = counts[stats.binom.cdf(counts, n, risk) <= 0.05] if n else counts[:0]
        assert most_errors([n], risk, 0.05) == max(rejecting, default=-1)
        expected = stats.binom.pmf(rejecting, n, risk / 3).sum()
        assert rejection_power([risk / 3], [n], risk, 0.05)[0] == pytest.approx(expected, abs=1e-12)


def test_least_kept_is_the_first_that_rejects():
    n = least_kept(0.0, 0.02, 0.05)
    assert n == 149
    assert 0.98**149 <= 0.05 < 0.98**148
    assert least_kept(0.02, 0.02, 0.05) is None
    assert least_kept(0.0, 0.02, 0.05, start=1000) >= 1000
    assert least_kept(0.0199, 0.02, 0.05) > 10**6
