"""Deviations of calibrated estimates: rates, variances, groups and draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.metrics.gain_worlds import GROUPS, skewed, zero_one

from uqassay.metrics.epistemic_gain import gain_bins, gain_null, place_in_intervals
from uqassay.statistics.units import make_units


def null_of(drawn, bins=5):
    place, _ = place_in_intervals(drawn.epistemic, gain_bins(drawn.epistemic, bins))
    return gain_null(drawn.gain, drawn.epistemic, place, make_units(drawn.gain.size, drawn.groups, None)), place


def test_rates_are_estimated_from_the_gains():
    """The mean estimate is the same; the rates of ±1 are not."""
    rng = np.random.default_rng(0)
    for changes in (1.0, 3.0, 8.0):
        null, _ = null_of(zero_one(rng, 50_000, mean=0.03, changes=changes))
        drawn = zero_one(rng, 50_000, mean=0.03, changes=changes)
        p, q = null.rates
        n = null.count
        assert float(n @ (p - q)) / 50_000 == pytest.approx(drawn.true.mean(), rel=0.05)
        assert float(n @ (p + q)) / 50_000 == pytest.approx(np.abs(drawn.gain).mean(), rel=0.1)


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_variances_are_those_of_the_world(world):
    rng = np.random.default_rng(1)
    drawn = world(rng, 40_000)
    null, place = null_of(drawn)
    true = np.bincount(place, (drawn.gain - drawn.true) ** 2) / np.bincount(place)
    np.testing.assert_allclose(null.variance, true, rtol=0.15)
    np.testing.assert_allclose(null.own_variance, true, rtol=0.15)
    draws = null.draws(20_000, rng)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=4 * draws.std(axis=0).max() / np.sqrt(20_000))
    np.testing.assert_allclose(draws.var(axis=0), null.variance / null.count, rtol=0.1)


def test_own_variance_leaves_the_null_where_it_is_false():
    """Estimates of .5 where 2 of 100 gains are 1: the variance is .02 and not .25."""
    gain = np.zeros(1000)
    gain[:20] = 1.0
    null = gain_null(gain, np.full(1000, 0.5), np.zeros(1000, dtype=np.intp), make_units(1000, None, None))
    assert null.variance[0] == pytest.approx(0.25)
    assert null.own_variance[0] == pytest.approx(0.0196, rel=0.01)


def test_groups_correlate_the_bins():
    rng = np.random.default_rng(2)
    drawn = zero_one(rng, 20_000, mean=0.2, groups=GROUPS)
    null, _ = null_of(drawn)
    assert 0.02 < null.correlation < 0.3
    assert (null.design_effect > 1).all()
    draws = null.draws(20_000, rng)
    assert 20 < null.dof < 35  # of 50 groups of unequal sizes
    alone = null.variance / null.count * (1 - null.in_bins)
    expected = null.variance / null.count * null.design_effect - alone
    np.testing.assert_allclose(draws.var(axis=0), alone + expected * null.dof / (null.dof - 2), rtol=0.1)
    assert np.corrcoef(draws.T)[0, 1] > 0.2
    alone, _ = null_of(zero_one(rng, 20_000, mean=0.2))
    assert alone.correlation == 0.0


def test_bins_of_one_instance_and_estimates_beyond_1():
    gain, epistemic = np.array([1.0, 0.0, 0.0]), np.array([1.7, 0.2, 0.3])
    null = gain_null(gain, epistemic, np.arange(3), make_units(3, None, None))
    assert np.isfinite(null.draws(10, np.random.default_rng(0))).all()
    assert null.variance[0] == 0.0
    assert np.isfinite(null.standard_error).all()


def test_rare_gains_of_groups_are_skewed_and_of_the_stated_covariance():
    """A group's instances of P(+1) = .02 mostly have no gain together; rarely all of them have one."""
    rng = np.random.default_rng(3)
    n, groups = 4000, np.repeat(np.arange(40), 100)
    gain = (rng.random(40) < 0.1)[groups].astype(float)
    place = np.arange(n) % 2
    null = gain_null(gain, np.where(place, 0.08, 0.02), place, make_units(n, groups, None))
    assert null.correlation > 0.8
    draws = replace(null, dof=1e9).draws(40_000, rng)
    expected = null.together / 40 + np.diag((null.variance - np.diag(null.together)) / 2000)
    np.testing.assert_allclose(np.cov(draws.T), expected, rtol=0.05)
    third = (null.levels**3).mean(axis=1) / 40**2
    skewness = third / np.diag(expected) ** 1.5
    np.testing.assert_allclose(((draws / draws.std(axis=0)) ** 3).mean(axis=0), skewness, atol=0.1)
    assert skewness[1] > 0.3


def test_normal_scores_against_the_bivariate_normal_distribution():
    rng = np.random.default_rng(5)
    null, _ = null_of(zero_one(rng, 5000, mean=0.2, groups=GROUPS))
    p, q = (rate[-2:] for rate in null.rates)
    both = stats.multivariate_normal(cov=[[1, null.correlation], [null.correlation, 1]])
    opposite = stats.multivariate_normal(cov=[[1, -null.correlation], [-null.correlation, 1]])
    a, b = stats.norm.ppf(p), stats.norm.ppf(q)
    expected = both.cdf(a) + both.cdf(b) - opposite.cdf([a[0], b[1]]) - opposite.cdf([b[0], a[1]])
    assert null.together[-2, -1] == pytest.approx(expected - (p - q).prod(), rel=0.02)


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_the_correlation_is_not_lost_where_groups_are_few(world):
    """The mean of few groups moves with them; the estimate allows for it."""
    rng, found = np.random.default_rng(4), []
    for _ in range(60):
        drawn = world(rng, 2000, mean=0.2, groups=6)
        found.append(null_of(drawn)[0].correlation)
    many, _ = null_of(world(rng, 100_000, mean=0.2, groups=2000))
    assert np.mean(found) == pytest.approx(many.correlation, abs=4 * np.std(found) / np.sqrt(60))


def test_effective_number_of_groups_with_gains():
    groups = np.repeat(np.arange(10), 10)
    gain = np.zeros(100)
    gain[[0, 1, 10, 11]] = 1.0
    assert gain_null(gain, gain / 2, groups * 0, make_units(100, groups, None)).spread == pytest.approx(2.0)
    assert gain_null(gain, gain / 2, groups * 0, make_units(100, None, None)).spread == np.inf
    assert gain_null(gain * 0, gain / 2, groups * 0, make_units(100, groups, None)).spread == 0.0
