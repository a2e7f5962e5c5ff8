"""Spearman's ρ against SciPy, and its influences against leaving out instances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.notes import codes
from tests.refusals import refuses

from uqassay.statistics import linearised_estimate, spearman_estimate, spearman_influence

seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n=st.integers(3, 40), levels=st.integers(2, 6))
def test_value_with_ties_against_scipy(seed, n, levels):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(levels, size=n), rng.integers(levels, size=n)
    x[0], x[1], y[0], y[1] = 0, 1, 0, 1
    assert float(spearman_estimate(x, y)) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("levels", [3, 1000])
def test_influence_against_the_jackknife(levels):
    rng = np.random.default_rng(0)
    n = 400
    x = rng.integers(levels, size=n)
    y = np.where(rng.random(n) < 0.1, 1.0, 0.0) + (x > levels / 2) * (rng.random(n) < 0.2)
    found = spearman_influence(x, y)
    left_out = np.array([spearman_influence(np.delete(x, i), np.delete(y, i)).value for i in range(n)])
    np.testing.assert_allclose(
        found.influence, (n - 1) * (found.value - left_out), atol=0.05 * np.abs(found.influence).max()
    )
    assert found.influence.mean() == pytest.approx(0.0, abs=1e-12)


def test_variance_against_the_bootstrap():
    rng = np.random.default_rng(1)
    n = 600
    x = rng.random(n)
    y = (rng.random(n) < 0.15 * x).astype(float) - (rng.random(n) < 0.02)
    draws = []
    for _ in range(600):
        rows = rng.integers(n, size=n)
        draws.append(stats.spearmanr(x[rows], y[rows]).statistic)
    influence = spearman_influence(x, y).influence
    assert np.sqrt((influence**2).mean() / n) == pytest.approx(np.std(draws), rel=0.1)


def test_difference_of_two_correlations():
    rng = np.random.default_rng(2)
    y = (rng.random(500) < 0.2).astype(float)
    good, other = y + rng.normal(size=500), rng.normal(size=500)
    found = linearised_estimate(spearman_influence(good, y) - spearman_influence(other, y))
    assert found.low > 0
    assert float(found) == pytest.approx(spearman_estimate(good, y) - spearman_estimate(other, y))


def test_groups_as_copies_change_nothing():
    rng = np.random.default_rng(3)
    x, y = rng.random(80), rng.integers(3, size=80)
    alone = spearman_estimate(x, y)
    copied = spearman_estimate(np.repeat(x, 4), np.repeat(y, 4), groups=np.repeat(np.arange(80), 4))
    assert float(copied) == pytest.approx(float(alone), abs=1e-12)
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert codes(copied) == ["groups"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_odd_arrays(dtype):
    x = np.arange(20).astype(dtype)[::-1][::2]
    y = np.tile([0, 1], 5).astype(dtype)
    x.flags.writeable = False
    found = spearman_estimate(x, y)
    assert float(found) == pytest.approx(stats.spearmanr(x.astype(float), y.astype(float)).statistic)


def test_constant_and_perfect():
    constant = spearman_estimate([1, 1, 1], [1, 2, 3])
    assert np.isnan([float(constant), constant.low, constant.high]).all()
    assert codes(constant) == ["undefined"]
    perfect = spearman_estimate(np.arange(30), np.arange(30) ** 3)
    assert (float(perfect), perfect.high) == (1.0, 1.0)
    assert 0.5 < perfect.low < 1
    alone = spearman_estimate([1, 2, 3], [1, 2, 3], groups=["a"] * 3)
    assert np.isnan(alone.low)
    assert "no-interval" in codes(alone)
    infinite = spearman_estimate([1, 2, np.inf], [1, 2, 3])
    assert float(infinite) == 1.0


def test_few_values_are_noted():
    y = np.zeros(200)
    y[:5] = 1
    assert codes(spearman_estimate(np.arange(200.0), y)) == ["few"]


def test_bad_input():
    with refuses("x", "finite"):
        spearman_estimate([1.0, np.nan], [1, 2])
    with refuses("y", "mismatch"):
        spearman_estimate([1.0, 2.0], [1, 2, 3])
    with refuses("level", "range"):
        spearman_estimate([1.0, 2.0], [1, 2], level=95)
