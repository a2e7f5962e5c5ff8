"""Risk-coverage curves from their definition; ties, weights, groups, bands on a grid."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.metrics.risk import Bands, rank_errors, risk_coverage_curve
from uqassay.statistics import proportion_estimate
from uqassay.statistics.units import make_units


def random_case(seed, n=40, levels=5, soft=False, weighted=False, grouped=False):
    rng = np.random.default_rng(seed)
    errors = rng.random(n).round(1) if soft else (rng.random(n) < 0.3).astype(float)
    uncertainty = rng.integers(0, levels, n) + errors
    weights = rng.integers(0, 4, n).astype(float) if weighted else None
    groups = rng.integers(0, 8, n) if grouped else None
    return errors, uncertainty, weights, groups


CASES = [(soft, weighted, levels) for soft in (False, True) for weighted in (False, True) for levels in (1, 4, 10**6)]


@pytest.mark.parametrize(("soft", "weighted", "levels"), CASES)
def test_curve_against_brute_force(soft, weighted, levels):
    errors, uncertainty, weights, _ = random_case(1, levels=levels, soft=soft, weighted=weighted)
    w = np.ones(40) if weights is None else weights
    curve = risk_coverage_curve(errors, uncertainty, sample_weight=weights)
    thresholds = sorted(set(uncertainty[w > 0]))
    assert curve.thresholds.tolist() == thresholds
    for k, threshold in enumerate(thresholds):
        kept = (uncertainty <= threshold) & (w > 0)
        assert curve.coverage[k] == pytest.approx(w[kept].sum() / w.sum(), abs=1e-14)
        assert curve.risk[k] == pytest.approx((w * errors)[kept].sum() / w[kept].sum(), abs=1e-14)
        assert curve.generalised_risk[k] == pytest.approx((w * errors)[kept].sum() / w.sum(), abs=1e-14)
        assert curve.n_kept[k] == kept.sum()
        assert curve.low[k] <= curve.risk[k] <= curve.high[k]
    assert curve.coverage[-1] == 1.0
    at = curve.at(curve.coverage)
    for name in ("coverage", "risk", "low", "high", "thresholds", "n_kept"):
        np.testing.assert_allclose(getattr(at, name), getattr(curve, name), atol=1e-12, err_msg=name)


def test_a_coverage_inside_a_tie_is_the_mean_over_random_orders():
    rng = np.random.default_rng(2)
    errors, uncertainty, risks = (rng.random(20) < 0.4).astype(float), rng.integers(0, 3, 20), []
    for _ in range(4000):
        order = np.lexsort((rng.random(20), uncertainty))
        risks.append(errors[order][:9].mean())
    curve = risk_coverage_curve(errors, uncertainty).at([9 / 20])
    spread = np.std(risks)
    assert spread > 0.02
    assert curve.risk[0] == pytest.approx(np.mean(risks), abs=4 * spread / np.sqrt(4000))
    assert curve.n_kept[0] == pytest.approx(9)


@pytest.mark.parametrize("soft", [False, True])
def test_row_order_does_not_matter_bit_for_bit(soft):
    errors, uncertainty, weights, _ = random_case(3, n=200, levels=6, soft=soft)
    weights = np.random.default_rng(3).random(200)
    for w in (None, weights):
        one = risk_coverage_curve(errors, uncertainty, sample_weight=w)
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(200)
            other = risk_coverage_curve(
                errors[order], uncertainty[order], sample_weight=None if w is None else w[order]
            )
            np.testing.assert_array_equal(other.risk, one.risk)
            np.testing.assert_array_equal(other.coverage, one.coverage)
            np.testing.assert_allclose(other.low, one.low, rtol=0, atol=1e-12)
            np.testing.assert_allclose(other.high, one.high, rtol=0, atol=1e-12)


@pytest.mark.parametrize("levels", [4, 10**6])
def test_an_integer_weight_equals_copies(levels):
    errors, uncertainty, weights, _ = random_case(4, levels=levels, weighted=True)
    copies = weights.astype(int)
    one = risk_coverage_curve(errors, uncertainty, sample_weight=weights)
    # copies carry no more information than one instance, so they are one group
    other = risk_coverage_curve(
        np.repeat(errors, copies), np.repeat(uncertainty, copies), groups=np.repeat(np.arange(40), copies)
    )
    for name in ("coverage", "risk", "low", "high", "thresholds"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("levels", [4, 10**6])
def test_variance_against_the_sum_over_groups(weighted, grouped, levels, monkeypatch):
    errors, uncertainty, weights, groups = random_case(
        5, n=60, levels=levels, soft=True, weighted=weighted, grouped=grouped
    )
    w = np.ones(60) if weights is None else weights
    ranked, units = rank_errors(errors, uncertainty, weights), make_units(60, groups, weights)
    labels = np.arange(60) if groups is None else groups
    seen = {}

    def catch(risk, rate, coverage, variance, **options):
        seen.update(rate=rate[0], variance=variance[0])
        return risk, risk

    monkeypatch.setattr("uqassay.metrics.risk.risk_interval", catch)
    bands = Bands.of(ranked, units)
    thresholds = np.unique(uncertainty[w > 0])
    for c in (0.03, 0.3, 0.52, 0.9, 1.0):
        bands.curve(np.array([c]), 0.95, "")
        k, f = (x[0] for x in ranked.place(np.array([c])))
        m = np.where(uncertainty < thresholds[k], 1.0, np.where(uncertainty == thresholds[k], f, 0.0))
        assert (w * m).sum() / w.sum() == pytest.approx(c)
        a = (w * errors * m).sum() / w.sum()
        influence = w * ((errors * m - a) + seen["rate"] * (c - m)) / c / w.sum()
        expected = sum(influence[labels == g].sum() ** 2 for g in np.unique(labels))
        assert seen["variance"] / bands.factor == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_at_coverage_1_the_interval_is_that_of_the_error_rate():
    errors, uncertainty, weights, groups = random_case(6, n=60, weighted=True, grouped=True)
    for w, g in ((None, None), (None, groups), (weights, None), (weights, groups)):
        curve = risk_coverage_curve(errors, uncertainty, sample_weight=w, groups=g)
        rate = proportion_estimate(errors, sample_weight=w, groups=g)
        assert curve.risk[-1] == pytest.approx(float(rate), abs=1e-14)
        for found in (curve, curve.at([1.0])):
            assert (found.low[-1], found.high[-1]) == pytest.approx((rate.low, rate.high), abs=1e-12)


@pytest.mark.parametrize("greatest", [1e6, 1e8, 1e10, 1e14])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_weight_that_dominates_gives_wide_intervals(greatest, grouped):
    # pytest takes any overflow as an error
    errors, uncertainty, _, groups = random_case(8, grouped=grouped)
    for row in (int(uncertainty.argmin()), int(uncertainty.argmax()), int(errors.argmax())):
        weights = np.ones(40)
        weights[row] = greatest
        curve = risk_coverage_curve(errors, uncertainty, sample_weight=weights, groups=groups if grouped else None)
        for found in (curve, curve.at([1e-300, 0.1, 0.5, 0.9, 1.0])):
            assert (found.high - found.low > 0.9).all()
            assert ((found.low <= found.risk) & (found.risk <= found.high)).all()


def test_tiny_coverages_have_the_widest_interval():
    found = risk_coverage_curve([0, 0, 1, 0], [0.1, 0.2, 0.2, 0.9]).at([1e-300, 1e-100])
    assert found.low.tolist() == [0.0, 0.0]
    assert found.high.tolist() == [1.0, 1.0]


def test_levels_near_1_do_not_overflow():
    curve = risk_coverage_curve([0, 0, 1, 0], [0.1, 0.2, 0.2, 0.9], level=np.nextafter(1.0, 0.0)).at([0.5, 0.75])
    assert (curve.high - curve.low > 0.99).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e160, 1e307])
def test_the_scale_of_the_weights_does_not_matter(scale):
    errors, uncertainty, _, groups = random_case(9, soft=True, grouped=True)
    weights = 2.0 ** (np.arange(40) % 4)
    one = risk_coverage_curve(errors, uncertainty, sample_weight=weights, groups=groups)
    other = risk_coverage_curve(errors, uncertainty, sample_weight=scale * weights, groups=groups)
    for name in ("coverage", "risk", "low", "high", "thresholds", "n_kept"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-12, err_msg=name)


def test_notes_use_the_singular_for_one():
    assert texts(risk_coverage_curve(np.arange(100) == 3, np.arange(100))) == ["only 1 error: a rough interval"]
    nearly = np.where(np.arange(100) == 3, 0.9999, 0.0)
    assert texts(risk_coverage_curve(nearly, np.arange(100))) == ["only 1 error: a rough interval"]
    found = risk_coverage_curve(np.arange(100) != 3, np.arange(100), groups=np.arange(100) // 2)
    assert texts(found) == ["50 groups", "only 1 right prediction in different groups: a rough interval"]


def test_without_a_kept_error_the_interval_follows_from_the_number_kept():
    errors = np.repeat([0.0, 1.0], [900, 100])
    curve = risk_coverage_curve(errors, np.arange(1000.0)).at([0.1, 0.5])
    for c, low, high in zip((100, 500), curve.low, curve.high, strict=True):
        wilson = binomtest(0, c).proportion_ci(0.95, method="wilson")
        assert low == 0.0
        assert high == pytest.approx(wilson.high, rel=0.01)


def test_influence_of_groups_widens_the_bands():
    rng = np.random.default_rng(7)
    errors, uncertainty = np.repeat((rng.random(60) < 0.5).astype(float), 5), np.repeat(rng.random(60), 5)
    groups = np.repeat(np.arange(60), 5)
    one, other = risk_coverage_curve(errors, uncertainty), risk_coverage_curve(errors, uncertainty, groups=groups)
    middle = slice(10, 60)
    ratio = (other.high - other.low)[middle] / (one.high - one.low)[middle]
    assert (ratio > 1.7).all()
    assert (ratio < 2.6).all()
    assert texts(other) == ["60 groups"]


def test_chunks_do_not_change_a_curve_of_a_million_rows(monkeypatch):
    errors, uncertainty, _, groups = random_case(8, n=500, levels=10**6, grouped=True)
    whole = risk_coverage_curve(errors, uncertainty, groups=groups)
    monkeypatch.setattr("uqassay.metrics.risk.CHUNK", 7)
    parts = risk_coverage_curve(errors, uncertainty, groups=groups)
    for name in ("coverage", "risk", "low", "high", "thresholds", "n_kept"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize(
    ("errors", "uncertainty"),
    [
        ([True, False, True], [1, 2, 3]),
        (np.array([1, 0, 1], dtype=np.float16), np.array([0.1, 0.2, 0.3], dtype=np.float16)),
        (np.array([1, 9, 0, 9, 1, 9])[::2], np.array([0.1, 9, 0.2, 9, 0.3, 9])[::2]),
        ([1, 0, 1], [-np.inf, 0.0, np.inf]),
    ],
)
def test_ordinary_inputs(errors, uncertainty):
    errors, uncertainty = np.asarray(errors), np.asarray(uncertainty)
    errors.setflags(write=False)
    uncertainty.setflags(write=False)
    curve = risk_coverage_curve(errors, uncertainty, groups=["a", "b", "b"])
    assert curve.risk.tolist() == pytest.approx([1.0, 0.5, 2 / 3])
    assert curve.coverage.tolist() == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_degenerate_cases_have_notes():
    one = risk_coverage_curve([1], [0.3])
    assert one.risk.tolist() == [1.0]
    assert np.isnan(one.low).all()
    assert "1 instance: no interval" in said(one)
    assert "no right predictions" in said(one)
    assert "1 group: no interval" in said(risk_coverage_curve([1, 0], [1, 2], groups=["a", "a"]))
    constant = risk_coverage_curve([0, 1, 0, 1], [2, 2, 2, 2])
    assert constant.risk.tolist() == [0.5]
    assert "all scores are equal: nothing is ranked" in said(constant)
    none = risk_coverage_curve(np.zeros(50), np.arange(50))
    assert "no errors" in said(none)
    assert (none.high > 0).all()
    assert (np.diff(none.high) < 0).all()
    few = risk_coverage_curve(np.arange(100) < 7, np.arange(100))
    assert texts(few) == ["only 7 errors: a rough interval"]
    assert texts(risk_coverage_curve(np.arange(100) < 40, np.arange(100))) == []
    half = risk_coverage_curve(np.full(50, 0.3), np.arange(50))
    assert half.risk == pytest.approx(np.full(50, 0.3))
    assert (half.low < 0.3).all()


def test_bad_input_is_refused():
    with refuses("errors", "finite", got="2 of 3 values are nan, the first at row 0"):
        risk_coverage_curve([np.nan, 0, np.nan], [1, 2, 3])
    with refuses("uncertainty", "finite", got="1 of 3 values are nan, the first at row 2"):
        risk_coverage_curve([0, 0, 1], [1, 2, np.nan])
    with refuses("errors", "range", got="row 1 is 2, the first of 2"):
        risk_coverage_curve([0, 2, -1], [1, 2, 3])
    with refuses("uncertainty", "mismatch", got="got 2"):
        risk_coverage_curve([0, 0, 1], [1, 2])
    with refuses("sample_weight", "finite"):
        risk_coverage_curve([0, 1], [1, 2], sample_weight=[1, -1])
    with refuses("level", "range", got="must lie strictly between 0 and 1"):
        risk_coverage_curve([0, 1], [1, 2], level=95)
    with refuses("coverage", "range", got="entry 1 is 1.5"):
        risk_coverage_curve([0, 1], [1, 2]).at([0.5, 1.5])


@pytest.mark.parametrize(("wrong", "kept"), [(0, 100), (1, 100), (3, 150), (8, 150), (20, 100)])
def test_both_limits_are_wilsons_where_the_threshold_is_known(wrong, kept):
    errors = np.zeros(200)
    errors[:wrong] = 1
    scores = np.where(np.arange(200) < kept, 0.0, 1.0)
    found = risk_coverage_curve(errors, scores).at([kept / 200])
    wilson = binomtest(wrong, kept).proportion_ci(0.95, method="wilson")
    assert (found.low[0], found.high[0]) == pytest.approx((wilson.low, wilson.high), rel=0.05, abs=1e-12)
