"""Accuracy at a coverage and the gain of refusing: definitions, influences, intervals, degenerate cases."""

import numpy as np
import pytest
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.metrics.risk import Refusals, accuracy_at_coverage_score, rank_errors, risk_coverage_curve, selective_gain
from uqassay.statistics import proportion_estimate


def random_case(seed, n=60, levels=4):
    rng = np.random.default_rng(seed)
    errors = (rng.random(n) < 0.3).astype(float)
    return (
        errors,
        rng.integers(0, levels, n) + 0.5 * errors,
        rng.integers(0, 4, n).astype(float),
        rng.integers(0, 12, n),
    )


def share_kept(uncertainty, weights, coverage):
    """Kept share of every instance by definition: 1 below the threshold, an even share of the tie at the threshold."""
    kept, left = np.zeros(uncertainty.size), coverage * weights.sum()
    for threshold in sorted(set(uncertainty)):
        tie = uncertainty == threshold
        kept[tie] = min(1.0, left / weights[tie].sum()) if weights[tie].sum() else 0.0
        left = max(0.0, left - weights[tie].sum())
    return kept


@pytest.mark.parametrize("levels", [1, 4, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("coverage", [0.01, 0.3, 0.5, 0.9, 1.0])
def test_value_against_brute_force(levels, weighted, coverage):
    errors, uncertainty, weights, _ = random_case(1, levels=levels)
    w = weights if weighted else np.ones(60)
    kept = w * share_kept(uncertainty, w, coverage)
    found = accuracy_at_coverage_score(
        errors, uncertainty, coverage=coverage, sample_weight=weights if weighted else None
    )
    assert found == pytest.approx(1 - (kept * errors).sum() / kept.sum(), abs=1e-13)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_interval_is_that_of_the_curve(grouped):
    errors, uncertainty, _, _ = random_case(2, n=200)
    groups = np.repeat(np.arange(40), 5) if grouped else None  # of one size
    curve = risk_coverage_curve(errors, uncertainty, groups=groups).at([0.35, 0.8])
    for c, low, high in zip((0.35, 0.8), curve.low, curve.high, strict=True):
        found = accuracy_at_coverage_score(errors, uncertainty, coverage=c, groups=groups)
        assert (found.low, found.high) == pytest.approx((1 - high, 1 - low), abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("coverage", [0.05, 0.4, 0.8, 1.0])
def test_interval_is_that_of_the_curve_with_weights_and_groups(weighted, grouped, coverage):
    errors, uncertainty, weights, groups = random_case(11)
    groups = np.where(groups < 6, 0, groups)  # one large group
    options = {"sample_weight": weights if weighted else None, "groups": groups if grouped else None}
    found = accuracy_at_coverage_score(errors, uncertainty, coverage=coverage, **options)
    curve = risk_coverage_curve(errors, uncertainty, **options).at([coverage])
    expected = (1 - curve.risk[0], 1 - curve.high[0], 1 - curve.low[0])
    assert (found, found.low, found.high) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_at_coverage_1_both_accuracies_are_equal(weighted, grouped):
    errors, uncertainty, weights, groups = (column[:20] for column in random_case(12))
    options = {"sample_weight": weights if weighted else None, "groups": groups if grouped else None}
    found = selective_gain(errors, uncertainty, coverage=1, **options)
    kept, every = found.accuracy_kept, found.accuracy_all
    assert (kept, kept.low, kept.high) == (every, every.low, every.high)
    assert every.low < every < every.high


@pytest.mark.parametrize("greatest", [1e6, 1e10, 1e14])
def test_a_weight_that_dominates_gives_wide_intervals(greatest):
    errors, uncertainty, _, _ = random_case(13)
    weights = np.ones(60)
    weights[7] = greatest
    for coverage in (1e-300, 0.5, 1.0):
        found = selective_gain(errors, uncertainty, coverage=coverage, sample_weight=weights)
        assert found.accuracy_kept.high - found.accuracy_kept.low > 0.9
        assert found.gain.low <= found.gain <= found.gain.high


def test_gain_is_the_difference_of_the_accuracies():
    errors, uncertainty, weights, groups = random_case(4, n=300, levels=10**6)
    for options in ({}, {"sample_weight": weights[:1].repeat(300) + 1}, {"groups": groups}, {"level": 0.8}):
        found = selective_gain(errors, uncertainty, coverage=0.7, **options)
        assert found.gain == pytest.approx(found.accuracy_kept - found.accuracy_all, abs=1e-13)
        assert found.accuracy_all == proportion_estimate(1 - errors, **options)
        assert found.accuracy_kept == accuracy_at_coverage_score(errors, uncertainty, coverage=0.7, **options)
        assert found.gain.low < found.gain < found.gain.high
        kept = uncertainty <= found.threshold
        assert kept.mean() == pytest.approx(0.7)
        assert found.coverage == 0.7


def test_gain_accounts_for_the_correlation_of_the_accuracies():
    errors, uncertainty, _, _ = random_case(5, n=400, levels=10**6)
    found = selective_gain(errors, uncertainty, coverage=0.9)
    width = found.gain.high - found.gain.low
    assert width < 0.7 * (found.accuracy_kept.high - found.accuracy_kept.low)


def test_a_random_uncertainty_gains_nothing():
    rng = np.random.default_rng(6)
    errors, uncertainty = (rng.random(1000) < 0.2).astype(float), rng.random(1000)
    gain = selective_gain(errors, uncertainty, coverage=0.8).gain
    assert gain.low < 0 < gain.high
    constant = selective_gain(errors, np.zeros(1000), coverage=0.8)
    assert constant.gain == pytest.approx(0.0, abs=1e-12)
    assert "all scores are equal: nothing is ranked" in said(constant.gain)
    better = selective_gain(errors, uncertainty + errors, coverage=0.8).gain
    assert better.low > 0


def test_weights_are_repetitions_and_row_order_does_not_matter():
    errors, uncertainty, weights, _ = random_case(7, levels=10**6)
    one = selective_gain(errors, uncertainty, coverage=0.63, sample_weight=weights)
    copies = weights.astype(int)
    groups = np.repeat(np.arange(60), copies)
    e, s = np.repeat(errors, copies), np.repeat(uncertainty, copies)
    other = selective_gain(e, s, coverage=0.63, groups=groups)
    for name in ("accuracy_all", "accuracy_kept", "gain"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a, a.low, a.high) == pytest.approx((b, b.low, b.high), abs=1e-10), name
    order = np.random.default_rng(7).permutation(60)
    third = selective_gain(errors[order], uncertainty[order], coverage=0.63, sample_weight=weights[order])
    assert third.accuracy_kept == one.accuracy_kept
    assert third.gain.low == pytest.approx(one.gain.low, abs=1e-12)


def test_several_runs_are_averaged():
    cases = [random_case(seed, n=200, levels=10**6)[:2] for seed in range(3)]
    ranked = [rank_errors(e, s) for e, s in cases]
    runs = Refusals(ranked)
    found, gain = runs.accuracy(0.8), runs.gain(0.8)
    singles = [selective_gain(e, s, coverage=0.8) for e, s in cases]
    assert found == pytest.approx(np.mean([s.accuracy_kept for s in singles]))
    assert gain == pytest.approx(np.mean([s.gain for s in singles]))
    assert "3 runs" in said(found)
    same = Refusals([ranked[0]] * 3).accuracy(0.8)
    assert (same.low, same.high) == pytest.approx((singles[0].accuracy_kept.low, singles[0].accuracy_kept.high))


def test_degenerate_cases_have_notes():
    errors = np.repeat([0.0, 1.0], [80, 20])
    perfect = accuracy_at_coverage_score(errors, np.arange(100), coverage=0.5)
    assert perfect == 1.0
    assert perfect.high == 1.0
    assert perfect.low == pytest.approx(1 - 0.0730, abs=0.002)  # Wilson for 0 of 50, Student's quantile
    assert "no error among the 50 kept" in said(perfect)
    nothing = selective_gain(errors, np.arange(100), coverage=1.0)
    assert (nothing.gain, nothing.gain.low, nothing.gain.high) == (0, 0, 0)
    assert texts(nothing.gain) == ["nothing is refused"]
    one = selective_gain([1], [0.2], coverage=0.5)
    assert one.accuracy_kept == 0.0
    assert np.isnan(one.accuracy_kept.low)
    assert np.isnan(one.gain.low)
    assert "1 instance: no interval" in said(one.gain)
    none = selective_gain(np.zeros(50), np.arange(50), coverage=0.5)
    assert none.gain == pytest.approx(0.0, abs=1e-12)
    assert none.gain.low < 0 < none.gain.high
    assert "no errors" in said(none.gain)
    few = selective_gain(np.arange(100) < 7, np.arange(100), coverage=0.5)
    assert "only 7 errors: a rough interval" in said(few.accuracy_kept)


def test_bad_input_is_refused():
    for coverage in (0.0, 1.5, -1, np.nan, None, [0.5, 0.6], "0.5"):
        with refuses("coverage", "range" if isinstance(coverage, int | float) else "type"):
            accuracy_at_coverage_score([0, 1], [1, 2], coverage=coverage)
    with refuses("errors", "finite"):
        selective_gain([np.nan, 1], [1, 2], coverage=0.5)
