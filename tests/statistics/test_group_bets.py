"""Bets on groups: an expectation of at most 1 in every case, equality with the binomial test, bounds that meet the test."""

import itertools

import numpy as np
import pytest

from uqassay.statistics.risk_bounds import BETS, bet_pvalues, chosen_bets, log_growth, upper_rate_of_groups


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
