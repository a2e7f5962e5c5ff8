"""Rates of +1 and −1 under a given difference, and Tango's interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special
from tests.refusals import refuses

from uqassay.statistics import proportion_estimate
from uqassay.statistics.risk_bounds import matched_difference_interval, rates_given_difference


def log_likelihood(p, plus, minus, n, d):
    zero = n - plus - minus
    rates = (p + d, p, max(1 - 2 * p - d, 0.0))
    return sum(special.xlogy(count, max(rate, 0.0)) for count, rate in zip((plus, minus, zero), rates, strict=True))


@settings(deadline=None, max_examples=60)
@given(
    plus=st.integers(0, 20),
    minus=st.integers(0, 20),
    zero=st.integers(0, 60),
    d=st.floats(-0.98, 0.98).map(lambda x: round(x, 3)),
)
def test_rates_against_brute_force(plus, minus, zero, d):
    n = max(plus + minus + zero, 1)
    p, q = rates_given_difference(plus, minus, n, d)
    assert p - q == pytest.approx(d, abs=1e-12)
    assert min(p, q) >= -1e-12
    assert p + q <= 1 + 1e-12
    low, high = max(-d, 0.0), (1 - d) / 2
    grid = np.linspace(low, high, 2001)
    best = max(log_likelihood(x, plus, minus, n, d) for x in grid)
    assert log_likelihood(float(q), plus, minus, n, d) >= best - 1e-9


@pytest.mark.parametrize("n", [1, 10, 500])
def test_interval_without_changes_against_theory(n):
    """With p₋ = 0 and p₊ = d the condition n d² ≤ z² d (1 − d) gives z²/(n + z²)."""
    low, high = matched_difference_interval(0, 0, n)
    z = special.ndtri(0.975)
    assert float(high) == pytest.approx(z**2 / (n + z**2))
    assert float(low) == -float(high)


def test_upper_end_without_minus_is_that_of_wilson():
    _, high = matched_difference_interval(1, 0, 44)
    assert float(high) == pytest.approx(proportion_estimate([1] + [0] * 43).high)


def test_interval_against_root_finding():
    plus, minus, n, z = 7.0, 3.0, 60.0, special.ndtri(0.95)

    def statistic(d):
        p, q = rates_given_difference(plus, minus, n, d)
        return float(((plus - minus) / n - d) / np.sqrt((p + q - d**2) / n))

    low, high = matched_difference_interval(plus, minus, n, level=0.9)
    value = (plus - minus) / n
    assert float(low) == pytest.approx(optimize.brentq(lambda d: statistic(d) - z, -0.99, value), abs=1e-9)
    assert float(high) == pytest.approx(optimize.brentq(lambda d: statistic(d) + z, value, 0.99), abs=1e-9)


def test_interval_is_antisymmetric_and_holds_the_value():
    rng = np.random.default_rng(0)
    n = rng.integers(1, 50, 40)
    plus = rng.integers(0, n + 1)
    minus = rng.integers(0, n - plus + 1)
    low, high = matched_difference_interval(plus, minus, n)
    other_low, other_high = matched_difference_interval(minus, plus, n)
    np.testing.assert_allclose(low, -other_high, atol=1e-9)
    np.testing.assert_allclose(high, -other_low, atol=1e-9)
    value = (plus - minus) / n
    assert ((low <= value) & (value <= high)).all()
    assert (low >= -1).all()
    assert (high <= 1).all()


@pytest.mark.parametrize(("p", "q", "n"), [(0.02, 0.0, 200), (0.1, 0.05, 50), (0.5, 0.3, 20)])
def test_coverage(p, q, n):
    counts = np.random.default_rng(3).multinomial(n, [p, q, 1 - p - q], 20_000)
    low, high = matched_difference_interval(counts[:, 0], counts[:, 1], n)
    assert 0.925 <= np.mean((low <= p - q) & (p - q <= high)) <= 0.99


def test_no_instance_gives_nan():
    low, high = matched_difference_interval([0, 1], [0, 0], [0, 4])
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()


@pytest.mark.parametrize("counts", [(-1, 0, 4), (3, 2, 4)])
def test_counts_that_do_not_fit_are_refused(counts):
    with refuses("plus", "range"):
        matched_difference_interval(*counts)
