"""Risk-coverage curves, coverage at a risk, selective accuracy: from their definitions; ties, weights, groups, bands."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.metrics.risk import (
    Bands,
    Refusals,
    accuracy_at_coverage_score,
    coverage_at_risk_score,
    kept_parts,
    once,
    once_for_errors,
    rank_errors,
    risk_coverage_curve,
    selective_gain,
)
from uqassay.statistics import proportion_estimate
from uqassay.statistics.units import make_units

# Errors in the order of their uncertainty: blocks of ties, running sums, places of coverages, notes.


@pytest.mark.parametrize("weighted", [False, True])
def test_running_sums_against_their_definition(weighted, random_generator):
    errors, s = random_generator.random(40).round(1), random_generator.integers(0, 7, 40)
    w = random_generator.integers(0, 3, 40) if weighted else np.ones(40)
    found = rank_errors(errors, s, w if weighted else None)
    thresholds = np.unique(s[w > 0])
    np.testing.assert_array_equal(found.thresholds, thresholds)
    kept = np.array([w[s <= t].sum() for t in thresholds])
    wrong = np.array([(w * errors)[s <= t].sum() for t in thresholds])
    np.testing.assert_allclose(found.coverage, kept / kept[-1], rtol=1e-12)
    np.testing.assert_allclose(found.wrong / found.kept, wrong / kept, rtol=1e-12)
    assert found.error_rate == pytest.approx(np.average(errors, weights=w))


def test_values_by_order_go_back_to_their_rows(random_generator):
    s = random_generator.normal(size=20)
    found = rank_errors(np.zeros(20), s)
    np.testing.assert_array_equal(found.unranked(s[found.order]), s)
    assert found.block is None
    absent = rank_errors([0, 1, 0], [3, 2, 1], [1, 0, 1])
    assert absent.unranked(np.ones(2)).tolist() == [1, 0, 1]


def test_a_coverage_ends_in_a_block_and_takes_a_share_of_it():
    found = rank_errors([0, 1, 0, 1], [1, 2, 2, 2])
    k, share = found.place(np.array([0.25, 0.5, 0.999999999999999, 1.0]))
    assert k.tolist() == [0, 1, 1, 1]
    np.testing.assert_allclose(share, [1, 1 / 3, 1, 1])
    assert found.of_rows(np.array([10.0, 20.0])).tolist() == [10, 20, 20, 20]


def test_the_rate_near_a_threshold_is_that_of_its_neighbours():
    errors = np.repeat([0.0, 1.0, 0.0], 1000)
    found = rank_errors(errors, np.arange(3000))
    assert found.local_rate(np.array([0.1, 0.5, 0.9])).tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.local_rate(np.array([1 / 3])), 0.5, atol=0.02)


@pytest.mark.parametrize(
    ("errors", "scores", "groups", "expected"),
    [
        ([0] * 30, range(30), None, ["none"]),
        ([1] * 30, range(30), None, ["none"]),
        ([0] * 30 + [1], range(31), None, ["few"]),
        ([0] * 30 + [1] * 30, range(60), None, []),
        ([0] * 30 + [1] * 30, [7] * 60, None, ["constant-scores"]),
        ([0] * 30 + [1] * 30, range(60), [0] * 30 + [1] * 30, ["few", "few"]),
    ],
)
def test_notes_by_their_codes(errors, scores, groups, expected):
    units = make_units(len(errors), groups, None)
    assert [note.code for note in rank_errors(errors, list(scores)).notes(units)] == expected


def test_refusals():
    with refuses("uncertainty", "mismatch", got="got 2"):
        rank_errors([0, 1, 1], [1, 2])
    with refuses("errors", "range", got="row 2 is 2"):
        rank_errors([0, 1, 2], [1, 2, 3])
    with refuses("uncertainty", "finite", got="row 0"):
        rank_errors([0, 1], [np.nan, 2])


def test_what_is_computed_once_is_computed_once_for_each_ranking():
    calls = []

    @once
    def total(ranked):
        calls.append(ranked)
        return ranked.wrong[-1]

    first, second = rank_errors([1, 0], [1, 2]), rank_errors([1, 1], [1, 2])
    assert [total(first), total(second), total(first)] == [1, 2, 1]
    assert [one is two for one, two in zip(calls, (first, second), strict=True)] == [True, True]


def test_what_no_order_changes_is_computed_once_for_all_orders_of_the_errors():
    calls = []

    @once_for_errors
    def number(ranked):
        calls.append(ranked)
        return ranked.errors.sum()

    first = rank_errors([1, 0, 1], [1, 2, 3])
    second, third = rank_errors([1, 0, 1], [3, 2, 1], like=first), rank_errors([1, 0, 0], [1, 2, 3])
    assert [number(one) for one in (first, second, third)] == [2, 2, 1]
    assert [one is two for one, two in zip(calls, (first, third), strict=True)] == [True, True]
    assert second.memberships is first.memberships
    np.testing.assert_array_equal(second.memberships[0], [1, 0, 1])


# Risk-coverage curves from their definition; ties, weights, groups, bands on a grid.


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
    assert "1 case: no interval" in said(one)
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
    with refuses("errors", "range", got="row 1 is 2, the first of 2"):
        risk_coverage_curve([0, 2, -1], [1, 2, 3])
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


# Coverage at a risk: definition, inversion of the bands, ends, influences.


def weighted_case(seed, n=100, levels=10**6):
    rng = np.random.default_rng(seed)
    errors = (rng.random(n) < 0.3).astype(float)
    return errors, rng.integers(0, levels, n) + 0.5 * levels * errors, rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("levels", [2, 5, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("risk", [0.05, 0.1, 0.2])
def test_value_against_a_fine_grid(levels, weighted, risk):
    errors, uncertainty, weights = weighted_case(1, levels=levels)
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
    errors, uncertainty, _ = weighted_case(2, n=500)
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
    errors, uncertainty, _ = weighted_case(3)
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
    assert "1 case: no interval" in said(one)
    constant = coverage_at_risk_score(errors, np.zeros(100), risk=0.05)
    assert constant == 0.0
    assert "all scores are equal: nothing is ranked" in said(constant)


def test_bad_risks_are_refused():
    for risk in (-0.1, 1.5, np.nan):
        with refuses("risk", "range" if isinstance(risk, float) else "type"):
            coverage_at_risk_score([0, 1], [1, 2], risk=risk)


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


# Accuracy at a coverage and the gain of refusing: definitions, influences, intervals, degenerate cases.


def selective_case(seed, n=60, levels=4):
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
    errors, uncertainty, weights, _ = selective_case(1, levels=levels)
    w = weights if weighted else np.ones(60)
    kept = w * share_kept(uncertainty, w, coverage)
    found = accuracy_at_coverage_score(
        errors, uncertainty, coverage=coverage, sample_weight=weights if weighted else None
    )
    assert found == pytest.approx(1 - (kept * errors).sum() / kept.sum(), abs=1e-13)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_interval_is_that_of_the_curve(grouped):
    errors, uncertainty, _, _ = selective_case(2, n=200)
    groups = np.repeat(np.arange(40), 5) if grouped else None  # of one size
    curve = risk_coverage_curve(errors, uncertainty, groups=groups).at([0.35, 0.8])
    for c, low, high in zip((0.35, 0.8), curve.low, curve.high, strict=True):
        found = accuracy_at_coverage_score(errors, uncertainty, coverage=c, groups=groups)
        assert (found.low, found.high) == pytest.approx((1 - high, 1 - low), abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("coverage", [0.05, 0.4, 0.8, 1.0])
def test_interval_is_that_of_the_curve_with_weights_and_groups(weighted, grouped, coverage):
    errors, uncertainty, weights, groups = selective_case(11)
    groups = np.where(groups < 6, 0, groups)  # one large group
    options = {"sample_weight": weights if weighted else None, "groups": groups if grouped else None}
    found = accuracy_at_coverage_score(errors, uncertainty, coverage=coverage, **options)
    curve = risk_coverage_curve(errors, uncertainty, **options).at([coverage])
    expected = (1 - curve.risk[0], 1 - curve.high[0], 1 - curve.low[0])
    assert (found, found.low, found.high) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_at_coverage_1_both_accuracies_are_equal(weighted, grouped):
    errors, uncertainty, weights, groups = (column[:20] for column in selective_case(12))
    options = {"sample_weight": weights if weighted else None, "groups": groups if grouped else None}
    found = selective_gain(errors, uncertainty, coverage=1, **options)
    kept, every = found.accuracy_kept, found.accuracy_all
    assert (kept, kept.low, kept.high) == (every, every.low, every.high)
    assert every.low < every < every.high


@pytest.mark.parametrize("greatest", [1e6, 1e10, 1e14])
def test_a_weight_that_dominates_gives_a_wide_gain(greatest):
    errors, uncertainty, _, _ = selective_case(13)
    weights = np.ones(60)
    weights[7] = greatest
    for coverage in (1e-300, 0.5, 1.0):
        found = selective_gain(errors, uncertainty, coverage=coverage, sample_weight=weights)
        assert found.accuracy_kept.high - found.accuracy_kept.low > 0.9
        assert found.gain.low <= found.gain <= found.gain.high


def test_gain_is_the_difference_of_the_accuracies():
    errors, uncertainty, weights, groups = selective_case(4, n=300, levels=10**6)
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
    errors, uncertainty, _, _ = selective_case(5, n=400, levels=10**6)
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


def test_several_runs_are_averaged():
    cases = [selective_case(seed, n=200, levels=10**6)[:2] for seed in range(3)]
    ranked = [rank_errors(e, s) for e, s in cases]
    runs = Refusals(ranked)
    found, gain = runs.accuracy(0.8), runs.gain(0.8)
    singles = [selective_gain(e, s, coverage=0.8) for e, s in cases]
    assert found == pytest.approx(np.mean([s.accuracy_kept for s in singles]))
    assert gain == pytest.approx(np.mean([s.gain for s in singles]))
    assert "3 runs" in said(found)
    same = Refusals([ranked[0]] * 3).accuracy(0.8)
    assert (same.low, same.high) == pytest.approx((singles[0].accuracy_kept.low, singles[0].accuracy_kept.high))


def test_degenerate_gains_have_notes():
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
    assert "1 case: no interval" in said(one.gain)
    none = selective_gain(np.zeros(50), np.arange(50), coverage=0.5)
    assert none.gain == pytest.approx(0.0, abs=1e-12)
    assert none.gain.low < 0 < none.gain.high
    assert "no errors" in said(none.gain)
    few = selective_gain(np.arange(100) < 7, np.arange(100), coverage=0.5)
    assert "only 7 errors: a rough interval" in said(few.accuracy_kept)


def test_bad_coverages_are_refused():
    for coverage in (0.0, 1.5, -1, np.nan, None, [0.5, 0.6], "0.5"):
        with refuses("coverage", "range" if isinstance(coverage, int | float) else "type"):
            accuracy_at_coverage_score([0, 1], [1, 2], coverage=coverage)


# Influences on the error rate of the instances kept and of those refused.


def test_influence_against_finite_differences_where_the_window_is_the_tie():
    # five ties of a fifth each: the window around the middle of one sees that tie alone
    rng = np.random.default_rng(3)
    errors, uncertainty = (rng.random(100) < 0.4).astype(float), np.repeat(np.arange(5), 20)
    (found,) = kept_parts(rank_errors(errors, uncertainty), [0.5])
    assert found.influence.sum() == pytest.approx(0.0, abs=1e-12)
    for i in range(0, 100, 7):
        step = np.zeros(100)
        step[i] = 1e-5
        up, down = (kept_parts(rank_errors(errors, uncertainty, 1 + s), [0.5])[0].risk for s in (step, -step))
        assert found.influence[i] == pytest.approx(100 * (up - down) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("shares", [False, True])
def test_influences_against_the_formula(random_generator, levels, shares):
    # of an instance with error e, of which the share m is kept: (e m − A + ε (c − m)) / c
    errors = random_generator.random(57) if shares else (random_generator.random(57) < 0.3).astype(float)
    ranked = rank_errors(errors, random_generator.integers(levels, size=57))
    block = np.arange(57) if ranked.block is None else ranked.block
    coverages = (0.01, 1 / 57, 0.5, 0.83, 0.999)
    for coverage, found in zip(coverages, kept_parts(ranked, coverages), strict=True):
        k, f = ranked.place(np.array([coverage]))
        m = ranked.unranked(np.where(block < k, 1.0, np.where(block == k, f, 0.0)))
        assert m.mean() == pytest.approx(coverage)
        mass = (errors * m).mean()
        assert found.risk == pytest.approx(mass / coverage)
        np.testing.assert_allclose(
            found.influence, (errors * m - mass + found.rate * (coverage - m)) / coverage, atol=1e-12
        )
        assert found.refused_risk == pytest.approx((errors * (1 - m)).sum() / (1 - m).sum())
        refused = (ranked.residuals - coverage * found.influence) / (1 - coverage)
        sums = [float((x * y).sum()) for x, y in ((found.influence,) * 2, (refused,) * 2, (found.influence, refused))]
        np.testing.assert_allclose(found.products, sums, rtol=1e-9, atol=1e-9)
