"""Coverage at a risk: definition, inversion of the bands, ends, influences."""

import numpy as np
import pytest
from tests.notes import said
from tests.refusals import refuses

from uqassay.metrics.risk import accuracy_at_coverage_score, coverage_at_risk_score, risk_coverage_curve


def random_case(seed, n=100, levels=10**6):
    rng = np.random.default_rng(seed)
    errors = (rng.random(n) < 0.3).astype(float)
    return errors, rng.integers(0, levels, n) + 0.5 * levels * errors, rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("levels", [2, 5, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("risk", [0.05, 0.1, 0.2])
def test_value_against_a_fine_grid(levels, weighted, risk):
    errors, uncertainty, weights = random_case(1, levels=levels)
    w = weights if weighted else None
    found = coverage_at_risk_score(errors, uncertainty, risk=risk, sample_weight=w)
    grid = np.arange(1, 100_001) / 100_000
    met = risk_coverage_curve(errors, uncertainty, sample_weight=w).at(grid).risk <= risk
    assert found == pytest.approx(grid[met].max() if met.any() else 0.0, abs=2e-5)
    if 0 < found < 1:
        accuracy = accuracy_at_coverage_score(errors, uncertainty, coverage=float(found), sample_weight=w)
        assert accuracy == pytest.approx(1 - risk, abs=1e-12)
        assert found.low < found < found.high


def test_a_risk_that_a_threshold_meets_exactly_counts_as_met():
    errors = np.zeros(30)
    errors[[9, 19, 29]] = 1  # 1 of 10, 2 of 20, 3 of 30
    assert coverage_at_risk_score(errors, np.arange(30), risk=0.1) == 1.0
    errors[20] = 1
    assert coverage_at_risk_score(errors, np.arange(30), risk=0.1) == pytest.approx(2 / 3)


def test_the_interval_inverts_the_bands():
    errors, uncertainty, _ = random_case(2, n=500)
    found = coverage_at_risk_score(errors, uncertainty, risk=0.1)
    curve, step = risk_coverage_curve(errors, uncertainty), 1 / 500
    above = curve.coverage > found.high + step
    assert (curve.low[above] > 0.1).all()
    assert curve.low[~above][-2] <= 0.1
    between = (curve.coverage > found.low + step) & (curve.coverage <= found)
    assert (curve.high[between] >= 0.1).all()
    assert curve.high[curve.coverage <= found.low][-1] < 0.1
    wider = coverage_at_risk_score(errors, uncertainty, risk=0.1, level=0.99)
    assert wider.low < found.low
    assert wider.high > found.high


@pytest.mark.parametrize("greatest", [1e6, 1e8, 1e14])
def test_a_weight_that_dominates_gives_a_wide_interval(greatest):
    errors, uncertainty = np.tile([0.0, 0.0, 1.0], 10), np.tile([1.0, 2.0, 3.0], 10) + np.arange(30) / 40
    weights = np.ones(30)
    weights[4] = greatest
    found = coverage_at_risk_score(errors, uncertainty, risk=0.2, sample_weight=weights)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize("risk", [None, [0.1, 0.2], "0.1", np.nan])
def test_invalid_risks_are_refused(risk):
    with refuses("risk", "range" if isinstance(risk, float) else "type"):
        coverage_at_risk_score([0, 1], [1, 2], risk=risk)


def test_coverages_0_and_1_have_notes():
    errors, uncertainty, _ = random_case(3)
    every = coverage_at_risk_score(errors, uncertainty, risk=0.9)
    assert (every, every.low, every.high) == (1.0, 1.0, 1.0)
    assert "all instances together have a risk of 0.9 or less" in said(every)
    unsure = coverage_at_risk_score(errors, uncertainty, risk=float(errors.mean()))
    assert unsure == 1.0
    assert unsure.low < 1.0
    # the most certain instance is wrong, and so are all others
    none = coverage_at_risk_score(np.ones(50), np.arange(50), risk=0.1)
    assert none == 0.0
    assert "no threshold has a risk of 0.1 or less" in said(none)
    assert "no right predictions" in said(none)
    small = coverage_at_risk_score(errors, uncertainty, risk=0.001)
    assert small.low == 0.0
    assert "no coverage is shown to have a lower risk" in said(small)
    assert coverage_at_risk_score(np.zeros(50), np.arange(50), risk=0.0) == 1.0
    one = coverage_at_risk_score([0], [0.5], risk=0.1)
    assert one == 1.0
    assert np.isnan(one.low)
    assert "1 instance: no interval" in said(one)
    constant = coverage_at_risk_score(errors, np.zeros(100), risk=0.05)
    assert constant == 0.0
    assert "all scores are equal: nothing is ranked" in said(constant)


def test_weights_are_repetitions_and_row_order_does_not_matter():
    errors, uncertainty, weights = random_case(4)
    one = coverage_at_risk_score(errors, uncertainty, risk=0.15, sample_weight=weights)
    copies = weights.astype(int)
    groups = np.repeat(np.arange(100), copies)
    other = coverage_at_risk_score(np.repeat(errors, copies), np.repeat(uncertainty, copies), risk=0.15, groups=groups)
    assert (one, one.low, one.high) == pytest.approx((other, other.low, other.high), abs=1e-9)
    order = np.random.default_rng(4).permutation(100)
    third = coverage_at_risk_score(errors[order], uncertainty[order], risk=0.15, sample_weight=weights[order])
    assert third == one
    assert (third.low, third.high) == pytest.approx((one.low, one.high), abs=1e-9)


def test_bad_input_is_refused():
    for risk in (-0.1, 1.5, np.nan):
        with refuses("risk", "range" if isinstance(risk, float) else "type"):
            coverage_at_risk_score([0, 1], [1, 2], risk=risk)
    with refuses("uncertainty", "finite"):
        coverage_at_risk_score([0, 1], [1, np.nan], risk=0.1)


@pytest.mark.parametrize(("seed", "coverage", "risk"), [(363, 0.8, 0.1), (189, 0.5, 0.05), (1, 0.7, 0.2)])
def test_a_common_factor_of_the_weights_changes_nothing(seed, coverage, risk):
    """Also where all that are kept or refused are right or wrong, and only rounding is left of a variance."""
    from uqassay.metrics import accuracy_at_coverage_score, selective_gain

    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    errors, uncertainty = (rng.random(n) < 0.3).astype(int), rng.random(n).round(int(rng.integers(1, 3)))
    weights = rng.random(n) + 0.1

    def intervals(weight):
        for found in (
            selective_gain(errors, uncertainty, coverage=coverage, sample_weight=weight).gain,
            accuracy_at_coverage_score(errors, uncertainty, coverage=coverage, sample_weight=weight),
            coverage_at_risk_score(errors, uncertainty, risk=risk, sample_weight=weight),
        ):
            yield float(found), found.low, found.high

    for factor in (3, 1 / 3, 0.1, 7.3, 1e-5):
        np.testing.assert_allclose(list(intervals(factor * weights)), list(intervals(weights)), atol=1e-9)
