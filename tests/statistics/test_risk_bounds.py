"""Bounds of error rates and matched proportions: against SciPy, enumeration and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats
from tests.refusals import refuses

from uqassay.statistics import proportion_estimate
from uqassay.statistics.risk_bounds import (
    BETS,
    bet_pvalues,
    binomial_pvalues,
    chosen_bets,
    least_kept,
    log_growth,
    matched_difference_interval,
    most_errors,
    rates_given_difference,
    rejection_power,
    upper_error_rate,
    upper_rate_of_groups,
)

# Exact binomial tests, against scipy.stats and against sums of probabilities.

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


# Bets on groups: an expectation of at most 1 in every case, equality with the binomial test, bounds that meet the test.


def expectation(outcomes, chances, risk, bet, largest):
    """Mean of the product over all outcomes of independent groups, by enumeration; each outcome is (errors, kept)."""
    total = 0.0
    for which in itertools.product(*(range(len(group)) for group in outcomes)):
        chance = np.prod([p[i] for p, i in zip(chances, which, strict=True)])
        errors, kept = np.array([group[i] for group, i in zip(outcomes, which, strict=True)], dtype=float).T
        logs = log_growth(errors[:, np.newaxis], kept[:, np.newaxis], risk, np.array([bet]), largest)
        total += chance * np.exp(logs.sum())
    return total


@pytest.mark.parametrize("bet", [0.1, 0.6, 1.0])
def test_the_expectation_is_at_most_one_at_the_limit_against_enumeration(bet):
    # three groups of sizes 1, 2 and 4, whose errors come together; the error rate of all kept is 0.25 in expectation
    outcomes = [[(0, 1), (1, 1)], [(0, 2), (2, 2), (0, 0)], [(0, 4), (4, 4)]]
    chances = [[0.5, 0.5], [0.5, 0.25, 0.25], [0.8125, 0.1875]]
    errors = 0.5 + 2 * 0.25 + 4 * 0.1875
    kept = 1 + 2 * 0.75 + 4
    rate = errors / kept
    found = expectation(outcomes, chances, rate, bet, 4)
    assert 0.7 < found <= 1 + 1e-12
    assert expectation(outcomes, chances, rate * 1.2, bet, 4) > found  # a lower rate than the limit is evidence


def test_no_factor_is_negative():
    errors, kept = np.array([[4.0]]), np.array([[4.0]])
    assert np.exp(log_growth(errors, kept, 0.1, np.ones(1), 4.0)) == 0.0
    assert bet_pvalues(errors, kept, 0.1, np.ones(1), 4.0) == 1.0


@pytest.mark.parametrize("risk", [0.02, 0.3])
def test_without_errors_it_is_the_binomial_test_of_the_groups(risk):
    none = np.zeros((30, 1))
    assert bet_pvalues(none, none + 5, risk, np.ones(1), 5.0)[0] == pytest.approx((1 - risk) ** 30)


def test_bets_are_those_of_the_greatest_growth():
    rng = np.random.default_rng(0)
    kept = rng.integers(0, 5, (40, 3)).astype(float)
    errors = rng.binomial(kept.astype(int), [0.0, 0.05, 0.5]).astype(float)
    bets, growth = chosen_bets(errors, kept, 0.2, 4.0)
    mean = kept.mean(axis=0)
    for t in range(3):
        each = []
        for share in BETS:
            b = share / (0.8 * 4)
            logs = np.log(np.maximum(1 - b * (errors[:, t] - 0.2 * kept[:, t]), 1e-300)).sum()
            each.append((logs + 0.5 * np.log(max(1 - b * 0.8 * mean[t], 1e-300))) / 40.5)
        assert (bets[t], growth[t]) == (BETS[int(np.argmax(each))], pytest.approx(max(each)))
    assert bets[2] == BETS[0]  # nothing to win
    none = np.zeros((40, 1))
    assert chosen_bets(none, none + 4.0, 0.2, 4.0)[0] < 1.0  # a group that is wrong as a whole must not end it


def test_the_bound_meets_the_risk_where_the_test_rejects():
    rng = np.random.default_rng(1)
    for seed in range(30):
        kept = rng.integers(1, 4, 60).astype(float)
        errors = (rng.random(60) < 0.002 * seed) * kept
        p = bet_pvalues(errors[:, np.newaxis], kept[:, np.newaxis], 0.1, np.array([0.5]), 3.0)[0]
        high = upper_rate_of_groups(errors, kept, 0.1, 0.5, 3.0, 0.05)
        assert (high <= 0.1) == (p <= 0.05)
        assert high > errors.sum() / kept.sum()
    assert upper_rate_of_groups(np.ones(2), np.ones(2), 0.1, 0.5, 1.0, 0.05) == 1.0


# Rates of +1 and −1 under a given difference, and Tango's interval.


def log_likelihood(p, plus, minus, n, d):
    zero = n - plus - minus
    rates = (p + d, p, max(1 - 2 * p - d, 0.0))
    return sum(special.xlogy(count, max(rate, 0.0)) for count, rate in zip((plus, minus, zero), rates, strict=True))


@settings(deadline=None, max_examples=30)
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
    grid = np.linspace(low, high, 501)
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
