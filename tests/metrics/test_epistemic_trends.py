"""Epistemic uncertainty against the size of the training set; run as a module to print the table of measured error rates."""

import itertools
import sys

import numpy as np
import pytest
from scipy import stats
from tests.notes import codes
from tests.refusals import refuses

from uqassay.metrics import epistemic_trend_test

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)


def simulated(rng, n_runs, slope, n=50, hole=0.0):
    """Estimates (R, 7, n): a level of each instance, an effect of each run and training, noise, and a slope per step.

    `hole` raises the step from the first to the second share.
    """
    instance = rng.gamma(2.0, 0.1, n)
    training = 0.02 * rng.standard_normal((n_runs, 7, 1))  # shared by all instances of one training
    values = instance + training + 0.05 * rng.standard_normal((n_runs, 7, n)) + slope * np.arange(7)[:, None]
    values[:, 0] -= hole
    return values


def test_kendall_against_scipy(random_generator):
    values = random_generator.normal(size=(3, 7, 20))
    found = epistemic_trend_test(values, SHARES)
    expected = [[stats.kendalltau(SHARES, values[r, :, i]).statistic for i in range(20)] for r in range(3)]
    np.testing.assert_allclose(found.tau, expected, atol=1e-14)
    np.testing.assert_allclose(found.change, values[:, -1] - values[:, 0])
    assert float(found.mean_tau) == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(found.quantiles[2], [np.median(values[:, c]) for c in range(7)], atol=1e-14)
    assert float(found.rising) == pytest.approx(np.mean(np.array(expected) > 0))


def test_kendall_with_ties_against_brute_force(random_generator):
    values = random_generator.integers(0, 3, (2, 5, 30)).astype(float)
    found = epistemic_trend_test(values, SHARES[:5])
    for r, i in itertools.product(range(2), range(30)):
        signs = [np.sign(values[r, b, i] - values[r, a, i]) for a, b in itertools.combinations(range(5), 2)]
        assert found.tau[r, i] == pytest.approx(sum(signs) / 10)


def test_falling_estimates(random_generator):
    found = epistemic_trend_test(simulated(random_generator, 5, slope=-0.1), SHARES)
    assert found.pvalue_falls == 1 / 32
    assert found.pvalue_rises == 1
    assert found.mean_tau.high < -0.8
    assert found.mean_change.high < 0
    assert float(found.rising) < 0.05
    assert found.holes == ()
    assert [row["start"] for row in found.rows()] == list(SHARES[:-1])


def test_a_hole_is_found_at_its_step(random_generator):
    found = epistemic_trend_test(simulated(random_generator, 10, slope=-0.05, hole=0.2), SHARES)
    (hole,) = found.holes
    assert (hole.start, hole.end) == (0.01, 0.05)
    assert hole.change.low > 0
    assert hole.pvalue_holm < 0.001
    assert float(hole.change) == pytest.approx((found.means[:, 1] - found.means[:, 0]).mean())


def test_steps_against_scipy(random_generator):
    found = epistemic_trend_test(simulated(random_generator, 6, slope=0.0), SHARES)
    for k, step in enumerate(found.steps):
        change = found.means[:, k + 1] - found.means[:, k]
        assert step.pvalue == pytest.approx(stats.ttest_1samp(change, 0, alternative="greater").pvalue)


def test_order_of_shares_and_layout_do_not_matter(random_generator):
    values = simulated(random_generator, 3, slope=-0.02)
    found = epistemic_trend_test(values, SHARES)
    order = random_generator.permutation(7)
    shuffled = np.asfortranarray(values[:, order])
    shuffled.setflags(write=False)
    again = epistemic_trend_test(shuffled, np.array(SHARES)[order])
    assert (again.tau == found.tau).all()
    assert again.pvalue_falls == found.pvalue_falls
    assert again.shares.tolist() == list(SHARES)
    half = epistemic_trend_test(values.astype(np.float16), SHARES)
    assert float(half.mean_tau) == pytest.approx(float(found.mean_tau), abs=0.02)


def test_constant_instances_count_as_neither():
    values = np.ones((5, 3, 4))
    values[:, :, 0] = [3.0, 2.0, 1.0]
    found = epistemic_trend_test(values, SHARES[:3])
    assert found.constant == 0.75
    assert (found.tau[:, 1:] == 0).all()
    assert float(found.mean_tau) == -0.25
    assert float(found.rising) == 0
    assert "assumption" in codes(found)
    still = epistemic_trend_test(np.ones((5, 3, 4)), SHARES[:3])
    assert (still.pvalue_falls, still.pvalue_rises) == (1.0, 1.0)
    assert "constant-scores" in codes(still)


def test_one_run_has_no_interval():
    found = epistemic_trend_test([[[0.3], [0.2]]], [0.1, 1.0])
    assert np.isnan(found.mean_tau.low)
    assert np.isnan(found.steps[0].pvalue)
    assert codes(found) == ["runs", "few"]
    assert found.pvalue_falls == 0.5


def test_refusals():
    values = np.ones((2, 3, 4))
    with refuses("shares", "mismatch", got="got 2, not 3"):
        epistemic_trend_test(values, [0.1, 1.0])
    with refuses("shares", "duplicate"):
        epistemic_trend_test(values, [0.1, 0.1, 1.0])
    with refuses("shares", "empty"):
        epistemic_trend_test(values[:, :1], [1.0])
    with refuses("epistemic", "shape"):
        epistemic_trend_test(values[0], [0.1, 0.5, 1.0])
    with refuses("epistemic", "finite", got="inf"):
        epistemic_trend_test(np.full((2, 2, 2), np.inf), [0.1, 1.0])


# -- error rates ------------------------------------------------------------------------------------------------------------


def rates(n_runs, slope, hole, n_sets, seed):
    """Shares of data sets: falls at .05, any step's Holm-adjusted rise at .05, coverage of the mean change at 95 %."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(3)
    for _ in range(n_sets):
        found = epistemic_trend_test(simulated(rng, n_runs, slope, hole=hole), SHARES)
        covered = found.mean_change.low <= 6 * slope + hole <= found.mean_change.high
        counts += (
            found.pvalue_falls <= 0.05,
            any(step.pvalue_holm <= 0.05 for step in found.steps),
            covered,
        )
    return counts / n_sets


@pytest.mark.slow
def test_type_one_error_power_and_coverage():
    n_sets = 200
    reach = 3 * np.sqrt(0.05 * 0.95 / n_sets)
    falls, rises, covered = rates(5, 0.0, 0.0, n_sets, seed=1)
    assert falls <= 0.05 + reach
    assert rises <= 0.05 + reach
    assert abs(covered - 0.95) <= reach
    assert rates(5, -0.01, 0.0, n_sets, seed=2)[0] > 0.9
    assert rates(10, -0.01, 0.06, n_sets, seed=3)[1] > 0.8


def print_tables(n_samples=2000):
    for n_runs, (slope, hole) in itertools.product(
        (3, 5, 10, 20), ((0.0, 0.0), (-0.003, 0.0), (-0.01, 0.0), (-0.01, 0.06))
    ):
        falls, rises, covered = 100 * rates(n_runs, slope, hole, n_samples, seed=4)
        print(f"| {n_runs} | {slope} | {hole} | {falls:.1f} | {rises:.1f} | {covered:.1f} |", flush=True)


if __name__ == "__main__":
    sys.exit(print_tables())


def test_equal_rises_are_not_certain():
    values = np.array([[[0.1, 0.2], [0.3, 0.4]]] * 3)
    (step,) = epistemic_trend_test(values, [0.5, 1.0]).steps
    assert step.pvalue == 2.0**-3
    assert epistemic_trend_test(values[:, ::-1], [0.5, 1.0]).steps[0].pvalue == 1
