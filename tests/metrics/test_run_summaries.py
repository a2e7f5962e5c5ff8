"""Means and correlations over runs, sign flips and ranks; run as a module to print the measured coverage."""

import itertools
import sys

import numpy as np
import pytest
from scipy import stats
from tests.notes import codes
from tests.refusals import refuses

from uqassay.statistics.components import (
    correlation_over_runs,
    finite_array,
    mean_over_runs,
    midranks,
    sign_flip_pvalues,
    spearman,
)


def test_midranks_against_scipy(random_generator):
    for shape in ((7,), (3, 11), (2, 3, 50), (4, 1)):
        values = random_generator.integers(0, 6, shape)
        assert (midranks(values) == stats.rankdata(values, axis=-1)).all()


def test_spearman_against_scipy_with_ties(random_generator):
    x, y = random_generator.integers(0, 5, (2, 6, 40)) + 0.5
    y += 0.4 * x
    expected = [stats.spearmanr(a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(spearman(x, y), expected, atol=1e-14)
    assert np.isnan(spearman(np.ones(5), np.arange(5)))


def test_sign_flips_against_brute_force(random_generator):
    for values in (random_generator.normal(0.3, 1, 7), np.array([1.0, 1.0, -1.0, 0.0]), np.zeros(3)):
        sums = [float(np.dot(signs, values)) for signs in itertools.product((-1, 1), repeat=values.size)]
        below = np.mean([total <= values.sum() + 1e-9 for total in sums])
        above = np.mean([total >= values.sum() - 1e-9 for total in sums])
        assert sign_flip_pvalues(values) == pytest.approx((below, above))


def test_sign_flips_of_many_runs_are_drawn(random_generator):
    values = random_generator.normal(0.2, 1, 24)
    below, above = sign_flip_pvalues(values)
    halves = [np.zeros(1), np.zeros(1)]
    for i, value in enumerate(values):  # exact, by all sums of two halves
        halves[i % 2] = np.concatenate([halves[i % 2] + value, halves[i % 2] - value])
    second = np.sort(halves[1])
    exact = 1 - np.searchsorted(second, values.sum() - halves[0] - 1e-9).sum() / (second.size * halves[0].size)
    assert above == pytest.approx(exact, abs=0.004)
    assert below + above >= 1


def test_mean_over_runs_against_scipy(random_generator):
    values = random_generator.normal(0.9, 0.1, 6)
    found = mean_over_runs(values, level=0.9)
    expected = stats.t.interval(0.9, 5, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected)
    assert mean_over_runs(values, bounds=(0, 0.86)).high == 0.86
    assert codes(mean_over_runs([0.5])) == ["no-interval"]
    undefined = mean_over_runs([0.5, np.nan])
    assert np.isnan(undefined)
    assert codes(undefined) == ["undefined"]


def test_correlation_for_other_instances_is_wider_and_counts_both_variances():
    r = np.array([0.3, 0.35, 0.4])
    runs, both = correlation_over_runs(r), correlation_over_runs(r, n_instances=60)
    assert float(runs) == float(both) == pytest.approx(np.tanh(np.arctanh(r).mean()))
    assert both.low < runs.low < runs.high < both.high
    many = correlation_over_runs(r, n_instances=10**9)
    assert (many.low, many.high) == pytest.approx((runs.low, runs.high), abs=1e-6)


def test_correlations_at_the_edges():
    alone = correlation_over_runs([0.5], n_instances=50)
    assert float(alone) == pytest.approx(0.5)
    assert codes(alone) == ["no-interval"]
    assert np.isnan(alone.low)
    perfect = correlation_over_runs([1.0, 1.0, 1.0], n_instances=50)
    assert (float(perfect), perfect.low, perfect.high) == (1.0, 1.0, 1.0)
    assert codes(perfect) == ["no-width"]
    assert codes(correlation_over_runs([0.1, np.nan])) == ["undefined"]
    equal = correlation_over_runs([0.5, 0.5], n_instances=50)
    assert equal.low < 0.5 < equal.high
    assert codes(correlation_over_runs([0.5, 0.4], n_instances=3)) == ["no-interval"]


def test_refuses_infinite_values_and_other_shapes():
    with refuses("estimate", "finite", got="inf"):
        finite_array([[1.0, np.inf]], "estimate", "(R, n)")
    with refuses("estimate", "shape"):
        finite_array([1.0], "estimate", "(R, n)")


# -- coverage ---------------------------------------------------------------------------------------------------------------


def simulated(rng, rho, n_runs, n):
    """Two estimates (2, R, n) of correlation rho: 70 % of their variance is the instance's, 30 % is new in every run."""
    mix = np.linalg.cholesky([[1, rho], [rho, 1]])
    instance = mix @ rng.standard_normal((2, n))
    noise = np.einsum("ab,brn->arn", mix, rng.standard_normal((2, n_runs, n)))
    return 0.7**0.5 * instance[:, None] + 0.3**0.5 * noise


def coverage(rho, n_runs, n, n_sets, seed):
    """Share of intervals that hold the rank correlation for other runs and instances, for both scopes."""
    rng = np.random.default_rng(seed)
    truth = 6 / np.pi * np.arcsin(rho / 2)
    hits = np.zeros(2)
    for _ in range(n_sets):
        r = spearman(*simulated(rng, rho, n_runs, n))
        for k, count in enumerate((n, None)):
            found = correlation_over_runs(r, n_instances=count)
            hits[k] += found.low <= truth <= found.high
    return hits / n_sets


def coverage_for_these_instances(rho, n_runs, n, n_sets, seed):
    """Share of intervals over the runs that hold the mean of 300 other runs on the same instances, on Fisher's scale."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(n_sets):
        r = spearman(*simulated(rng, rho, n_runs + 300, n))
        found = correlation_over_runs(r[:n_runs])
        hits += found.low <= np.tanh(np.arctanh(r[n_runs:]).mean()) <= found.high
    return hits / n_sets


@pytest.mark.slow
def test_coverage_for_other_instances():
    for rho, n in ((0.0, 40), (0.8, 200)):
        both, runs = coverage(rho, 5, n, 400, seed=5)
        assert both > 0.93
        assert runs < both


@pytest.mark.slow
def test_coverage_for_other_runs_on_the_same_instances():
    n_sets = 400
    found = coverage_for_these_instances(0.5, 5, 36, n_sets, seed=9)
    assert abs(found - 0.95) <= 3 * np.sqrt(0.05 * 0.95 / n_sets) + 0.01


def print_tables(n_samples=2000):
    for rho, n_runs, n in itertools.product((0.0, 0.5, 0.9), (3, 5, 20), (36, 360)):
        both, runs = 100 * coverage(rho, n_runs, n, n_samples, seed=6)
        print(f"| {rho} | {n_runs} | {n} | {both:.1f} | {runs:.1f} |", flush=True)
    for rho, n_runs in itertools.product((0.0, 0.5, 0.9), (3, 5, 20)):
        same = 100 * coverage_for_these_instances(rho, n_runs, 36, n_samples // 4, seed=10)
        print(f"| {rho} | {n_runs} | 36 | {same:.1f} |", flush=True)


if __name__ == "__main__":
    sys.exit(print_tables())


def test_cut_intervals_say_so():
    cut = mean_over_runs([0.1, 0.9], bounds=(0.0, 1.0))
    assert (cut.low, cut.high, codes(cut)) == (0.0, 1.0, ["edge"])
    assert codes(mean_over_runs([0.4, 0.6, 0.5], bounds=(0.0, 1.0))) == []
