"""EECE (gain), its debiased forms and its test, against brute force and closed-form worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.metrics.gain_worlds import skewed, zero_one
from tests.notes import codes
from tests.refusals import refuses

from uqassay.metrics import epistemic_calibration_error, gain, gain_bins, true_uncertainty
from uqassay.notes import reason
from uqassay.statistics import matched_difference_interval

seeds = st.integers(0, 2**32 - 1)


def by_hand(gains, estimates, edges):
    """Σ n_m |mean gain − mean estimate| with a loop over bins and instances."""
    last, total = len(edges) - 2, 0.0
    for m in range(last + 1):
        inside = [
            i for i, e in enumerate(estimates) if edges[m] <= e < edges[m + 1] or (m == last and e == edges[m + 1])
        ]
        if inside:
            total += len(inside) * abs(np.mean([gains[i] for i in inside]) - np.mean([estimates[i] for i in inside]))
    return total


@settings(deadline=None, max_examples=25)
@given(seed=seeds, n=st.integers(1, 60), levels=st.integers(1, 80), bins=st.integers(1, 25))
def test_error_with_ties_against_brute_force(seed, n, levels, bins):
    rng = np.random.default_rng(seed)
    gains, estimates = rng.integers(-1, 2, n).astype(float), rng.integers(levels, size=n) / 80
    for binning in ("equal-mass", "equal-width"):
        found = epistemic_calibration_error(gains, estimates, bins=bins, binning=binning)
        np.testing.assert_array_equal(found.edges, gain_bins(estimates, bins, binning))
        assert float(found.error) == pytest.approx(by_hand(gains, estimates, found.edges) / n, abs=1e-12)
        assert found.count.sum() == n
        assert found.n_empty == (found.count == 0).sum()
        order = rng.permutation(n)
        again = epistemic_calibration_error(gains[order], estimates[order], bins=bins, binning=binning)
        assert float(again.error) == pytest.approx(float(found.error), abs=1e-12)


@pytest.mark.parametrize("bins", [1, 7, 20])
def test_printed_normalisation_differs_by_points_over_bins(bins):
    drawn = zero_one(np.random.default_rng(0), 300)
    points, printed = (
        epistemic_calibration_error(drawn.gain, drawn.epistemic, bins=bins, normalisation=name)
        for name in ("points", "printed")
    )
    factor = 300 / points.n_bins
    for name in ("error", "debiased", "null_mean"):
        assert float(getattr(printed, name)) == pytest.approx(factor * float(getattr(points, name)), rel=1e-12)
    assert printed.null_band == pytest.approx([factor * end for end in points.null_band])
    assert printed.pvalue == points.pvalue
    assert float(printed.error) == pytest.approx(by_hand(drawn.gain, drawn.epistemic, printed.edges) / bins)
    assert (printed.error.low, printed.error.high) == pytest.approx(
        (factor * points.error.low, factor * points.error.high)
    )


def test_closed_form_world_of_labels():
    """Estimates that equal the true EU lie in the null band; halved ones do not."""
    rng = np.random.default_rng(1)
    n = 6000
    p = rng.beta(0.4, 0.4, n)
    true = np.stack([1 - p, p], axis=1)
    predicted = np.where(rng.random(n) < 0.8, true.argmax(1), 1 - true.argmax(1))
    y = (rng.random(n) < p).astype(int)
    eu = true_uncertainty(true, predicted).epistemic
    # EU is not known before `predicted`, so the estimate is its mean given x
    estimate = 0.2 * np.abs(2 * p - 1)
    gains = gain(y, predicted, true.argmax(1))
    assert eu.mean() == pytest.approx(estimate.mean(), abs=0.02)
    right = epistemic_calibration_error(gains, estimate)
    assert right.null_band[0] <= right.error <= right.null_band[1]
    assert not right.reject()
    assert right.debiased.low <= 0 <= right.debiased.high
    half = epistemic_calibration_error(gains, estimate / 2)
    assert half.reject()
    assert half.error > half.null_band[1]
    assert half.debiased.low <= estimate.mean() / 2 <= half.debiased.high


def test_null_band_needs_the_rates_of_both_signs():
    """The same estimates, but more gains of +1 and −1 by chance: the band is wider."""
    rng = np.random.default_rng(2)
    few, many = (zero_one(rng, 2000, changes=changes) for changes in (1.0, 6.0))
    bands = [epistemic_calibration_error(one.gain, one.epistemic).null_band for one in (few, many)]
    assert bands[1][1] > 1.8 * bands[0][1]


def test_debiased_square_against_pairs():
    rng = np.random.default_rng(3)
    drawn = zero_one(rng, 60, mean=0.2)
    groups = rng.integers(12, size=60)
    for codes_of in (np.arange(60), groups):
        found = epistemic_calibration_error(
            drawn.gain, drawn.epistemic, bins=3, groups=None if codes_of is not groups else groups
        )
        place = np.searchsorted(found.edges[1:-1], drawn.epistemic, side="right")
        d, total = drawn.gain - drawn.epistemic, 0.0
        for m in range(3):
            rows = np.flatnonzero(place == m)
            pairs = [d[i] * d[j] for i in rows for j in rows if codes_of[i] != codes_of[j]]
            total += len(rows) / 60 * np.mean(pairs)
        assert found.debiased_square == pytest.approx(total)


def test_intervals_of_the_bins():
    drawn = zero_one(np.random.default_rng(4), 500, mean=0.1)
    found = epistemic_calibration_error(drawn.gain, drawn.epistemic, bins=4)
    place = np.searchsorted(found.edges[1:-1], drawn.epistemic, side="right")
    plus, minus = (np.bincount(place[drawn.gain == sign], minlength=4) for sign in (1, -1))
    low, high = matched_difference_interval(plus, minus, found.count)
    np.testing.assert_allclose((found.gain_low, found.gain_high), (low, high))
    other = skewed(np.random.default_rng(4), 500)
    found = epistemic_calibration_error(other.gain, other.epistemic, bins=1)
    expected = stats.ttest_1samp(other.gain, 0).confidence_interval()
    assert (found.gain_low[0], found.gain_high[0]) == pytest.approx((expected.low, expected.high))


def test_given_edges_and_empty_bins():
    gains, estimates = [0, 1, 0, 1, 0], [0.0, 0.05, 0.9, 0.95, 1.0]
    found = epistemic_calibration_error(gains, estimates, bins=np.linspace(0, 1, 11))
    assert found.binning == "given"
    assert found.count.tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 3]
    assert found.n_empty == 8
    assert np.isnan(found.mean_gain[1:9]).all()
    assert np.isnan(found.gain_low[1:9]).all()
    assert "left-out" in codes(found)
    assert float(found.error) == pytest.approx((2 * abs(0.5 - 0.025) + 3 * abs(1 / 3 - 0.95)) / 5)
    printed = epistemic_calibration_error(gains, estimates, bins=np.linspace(0, 1, 11), normalisation="printed")
    assert float(printed.error) == pytest.approx(float(found.error) * 5 / 10)  # M counts the empty bins
    open_ended = epistemic_calibration_error(gains, estimates, bins=[-np.inf, 0.5, np.inf])
    assert open_ended.count.tolist() == [2, 3]


# -- odd input ---------------------------------------------------------------------------------------------------------


def test_constant_estimates_are_one_bin():
    found = epistemic_calibration_error([0, 1, 0, 0], [0.25] * 4)
    assert found.n_bins == 1
    assert float(found.error) == 0.0
    assert found.pvalue == 1.0
    assert "constant-scores" in codes(found)


def test_one_instance_and_one_group():
    found = epistemic_calibration_error([1], [0.3])
    assert float(found.error) == pytest.approx(0.7)
    assert np.isnan([found.error.low, found.debiased.high, found.pvalue, *found.null_band]).all()
    assert not found.reject()
    assert "no-interval" in codes(found)
    alone = epistemic_calibration_error([1, 0, 0], [0.1, 0.2, 0.3], groups=["a"] * 3)
    assert np.isnan(alone.pvalue)


def test_gains_of_few_groups_give_no_test():
    """Forty gains in two of ten groups are two events."""
    groups = np.repeat(np.arange(10), 20)
    gains = np.where(groups < 2, 1.0, 0.0)
    found = epistemic_calibration_error(gains, np.linspace(0.01, 0.1, 200), groups=groups)
    assert np.isnan([found.pvalue, found.null_mean, *found.null_band]).all()
    assert not found.reject()
    assert "they count like 2.0" in reason(found.notes)
    assert np.isfinite([found.error.high, found.debiased.high]).all()
    spread = epistemic_calibration_error(
        np.where(np.arange(200) % 20 == 0, 1.0, 0.0), np.full(200, 0.05), groups=groups
    )
    assert spread.pvalue > 0.5


def test_estimates_above_1_cannot_be_calibrated():
    """Entropies in bits of many classes."""
    found = epistemic_calibration_error(np.ones(40), np.full(40, 2.0))
    assert float(found.error) == pytest.approx(1.0)
    assert found.pvalue < 0.01
    assert "edge" in codes(found)


def test_no_gain_at_all():
    found = epistemic_calibration_error(np.zeros(100), np.full(100, 0.01))
    assert float(found.error) == pytest.approx(0.01)
    assert not found.reject()  # 0 of 100 is possible with P(+1) = .01
    assert "none" in codes(found)
    assert epistemic_calibration_error(np.zeros(2000), np.full(2000, 0.01)).reject()


def test_same_seed_same_numbers_and_levels():
    drawn = zero_one(np.random.default_rng(5), 400)
    a, b = (epistemic_calibration_error(drawn.gain, drawn.epistemic, rng=3) for _ in range(2))
    assert (a.null_band, a.pvalue) == (b.null_band, b.pvalue)
    narrow = epistemic_calibration_error(drawn.gain, drawn.epistemic, level=0.5)
    assert narrow.error.high < a.error.high
    assert narrow.null_band[1] < a.null_band[1]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_odd_arrays(dtype):
    gains = np.tile([0, 1, 0, -1], 20).astype(dtype)[::2]
    estimates = np.linspace(0, 1, 80, dtype=np.float32)[::2]
    gains.flags.writeable = False
    found = epistemic_calibration_error(gains, estimates, bins=4)
    assert found.error.n == 40


def test_bad_input():
    with refuses("gain", "mismatch", got="3"):
        epistemic_calibration_error([0, 1, 0], [0.1, 0.2])
    with refuses("epistemic", "finite"):
        epistemic_calibration_error([0, 1], [0.1, np.nan])
    with refuses("gain", "finite"):
        epistemic_calibration_error([0, np.inf], [0.1, 0.2])
    with refuses("epistemic", "range", got="row 1 is 1.2"):
        epistemic_calibration_error([0, 1], [0.1, 1.2], bins=np.linspace(0, 1, 21))
    with refuses("bins", "range"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], bins=0)
    with refuses("bins", "type"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], bins=None)
    with refuses("normalisation", "choice"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], normalisation="bins")
    with refuses("binning", "choice"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], binning="mass")
    with refuses("level", "range"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], level=0)
    with refuses("groups", "shape"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], groups=[1])
