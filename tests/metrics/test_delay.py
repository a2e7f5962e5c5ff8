"""Delay curve against brute force over all orders of tied cases, and in closed-form worlds."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.gain_worlds import skewed, zero_one
from tests.notes import codes
from tests.refusals import refuses

from uqassay.metrics import delay_curve, delay_curve_of_gains, gain
from uqassay.statistics import matched_difference_interval

seeds = st.integers(0, 2**32 - 1)


def expected_gain(gains, estimates, k):
    """Mean over all orders of the cases of the gain if the first k wait, sorted by estimate with that order of ties."""
    n = len(gains)
    found = []
    for order in permutations(range(n)):
        ranked = sorted(order, key=lambda i: -estimates[i])
        found.append(sum(gains[i] for i in ranked[:k]) / n)
    return np.mean(found)


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n=st.integers(1, 6), levels=st.integers(1, 4))
def test_curve_with_ties_against_brute_force(seed, n, levels):
    rng = np.random.default_rng(seed)
    gains, estimates = rng.integers(-1, 2, n).astype(float), rng.integers(levels, size=n).astype(float)
    curve = delay_curve_of_gains(gains, estimates, shares=np.arange(n + 1) / n)
    expected = [expected_gain(gains, estimates, k) for k in range(n + 1)]
    np.testing.assert_allclose(curve.gained, expected, atol=1e-12)
    np.testing.assert_allclose(curve.random, np.arange(n + 1) / n * gains.mean(), atol=1e-12)


def test_accuracy_is_that_of_the_answers_given():
    rng = np.random.default_rng(0)
    n, k = 200, 4
    y, before, after = rng.integers(k, size=n), rng.dirichlet(np.ones(k), n), rng.dirichlet(np.ones(k), n)
    estimates = rng.permutation(n).astype(float)
    for loss in ("zero-one", "log", "brier"):
        curve = delay_curve(y, before, after, estimates, loss=loss)
        assert len(curve.shares) == 21
        for share, accuracy, gained in zip(curve.shares, curve.accuracy, curve.gained, strict=True):
            waits = estimates >= n - round(share * n)
            assert accuracy == pytest.approx(np.mean(np.where(waits, after.argmax(1), before.argmax(1)) == y))
            assert gained == pytest.approx((gain(y, before, after, loss=loss) * waits).mean())
    labels = delay_curve(y, before.argmax(1), after.argmax(1), estimates)
    np.testing.assert_allclose(labels.accuracy - labels.accuracy[0], labels.gained, atol=1e-12)


def test_order_of_rows_and_relabelling_change_nothing():
    rng = np.random.default_rng(1)
    drawn = zero_one(rng, 300, levels=5, groups=30)
    order = rng.permutation(300)
    a = delay_curve_of_gains(drawn.gain, drawn.epistemic, groups=drawn.groups)
    b = delay_curve_of_gains(drawn.gain[order], drawn.epistemic[order] * 7 - 1, groups=drawn.groups[order])
    for name in ("gained", "low", "high", "random"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9)


def test_ends_of_the_curve():
    drawn = zero_one(np.random.default_rng(2), 400)
    curve = delay_curve_of_gains(drawn.gain, drawn.epistemic)
    assert (curve.gained[0], curve.low[0], curve.high[0]) == (0.0, 0.0, 0.0)
    assert curve.gained[-1] == pytest.approx(drawn.gain.mean())
    # if all wait, nothing depends on the threshold: Tango's interval of the mean gain
    plus, minus = (drawn.gain == 1).sum(), (drawn.gain == -1).sum()
    low, high = matched_difference_interval(plus, minus, 400)
    assert (curve.low[-1], curve.high[-1]) == pytest.approx((float(low), float(high)), rel=0.02)
    everyone = curve.above_random(1.0)
    assert float(everyone) == pytest.approx(0.0, abs=1e-12)


def test_estimates_beat_a_random_choice_and_constant_ones_equal_it():
    drawn = zero_one(np.random.default_rng(3), 5000)
    good = delay_curve_of_gains(drawn.gain, drawn.epistemic)
    assert good.above_random(0.2).low > 0
    assert float(good.above_random(0.2)) == pytest.approx(good.at(0.2) - 0.2 * drawn.gain.mean())
    constant = delay_curve_of_gains(drawn.gain, np.zeros(5000))
    np.testing.assert_allclose(constant.gained, constant.random, atol=1e-12)
    assert "constant-scores" in codes(constant)
    assert float(constant.above_random(0.3)) == pytest.approx(0.0, abs=1e-12)
    worst = delay_curve_of_gains(drawn.gain, -drawn.epistemic)
    assert worst.above_random(0.2).high < 0


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_standard_error_against_the_bootstrap(world):
    rng = np.random.default_rng(4)
    drawn = world(rng, 2000, mean=0.15)
    curve = delay_curve_of_gains(drawn.gain, drawn.epistemic, shares=[0.3])
    draws = []
    for _ in range(150):
        rows = rng.integers(2000, size=2000)
        draws.append(delay_curve_of_gains(drawn.gain[rows], drawn.epistemic[rows], shares=[0.3]).gained[0])
    assert curve.high[0] - curve.low[0] == pytest.approx(2 * 1.96 * np.std(draws), rel=0.25)


def test_few_gains_have_an_interval():
    curve = delay_curve_of_gains(np.zeros(100), np.arange(100.0), shares=[0.5])
    assert curve.low[0] < 0 < curve.high[0]
    assert "none" in codes(curve)
    one = np.zeros(100)
    one[99] = 1.0
    assert "few" in codes(delay_curve_of_gains(one, np.arange(100.0)))


def test_one_case_and_one_group_have_no_interval():
    for curve in (
        delay_curve_of_gains([1], [0.5], shares=[1.0]),
        delay_curve_of_gains([1, 0], [0.5, 0.1], shares=[0.5], groups=["a", "a"]),
    ):
        assert np.isnan([curve.low[0], curve.high[0]]).all()
        assert "no-interval" in codes(curve.at(1.0))
        assert np.isnan(curve.above_random(0.5).low)


def test_accuracy_is_nan_where_predictions_are_unknown():
    assert np.isnan(delay_curve_of_gains([0, 1], [0.1, 0.2]).accuracy).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_odd_arrays(dtype):
    gains = np.array([0, 1, 0, -1, 1, 0], dtype=dtype)[::2]
    gains.flags.writeable = False
    assert delay_curve_of_gains(gains, np.arange(3, dtype=np.float16)[::-1]).gained[-1] == pytest.approx(1 / 3)


def test_bad_input():
    for share in (-0.1, 1.1, np.nan):
        with refuses("share", "range"):
            delay_curve_of_gains([0, 1], [0.1, 0.2]).at(share)
    with refuses("share", "range"):
        delay_curve_of_gains([0, 1], [0.1, 0.2]).above_random(2)
    with refuses("shares", "range"):
        delay_curve_of_gains([0, 1], [0.1, 0.2], shares=[0.5, 1.5])
    with refuses("epistemic", "mismatch"):
        delay_curve_of_gains([0, 1], [0.1])
    with refuses("epistemic", "finite"):
        delay_curve_of_gains([0, 1], [0.1, np.inf])
    with refuses("correct_before", "mismatch"):
        delay_curve_of_gains([0, 1], [0.1, 0.2], correct_before=[1])
    with refuses("level", "range"):
        delay_curve_of_gains([0, 1], [0.1, 0.2], level=2)
    with refuses("after", "mismatch"):
        delay_curve([0, 1], [0, 1], [0], [0.1, 0.2])
