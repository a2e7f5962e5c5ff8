"""Errors and out-of-distribution inputs together: areas by brute force, influences, intervals, invariances."""

import numpy as np
import pytest
from tests.metrics.ood.sides import sides
from tests.metrics.ood.test_scod_error_rates import RATES, coverage, draw, rejections
from tests.notes import said
from tests.refusals import refuses

from uqassay.metrics.ood import (
    SCOD_METRICS,
    augrc,
    aurc,
    risk_at,
    scod_augrc_loss,
    scod_aurc_loss,
    scod_estimate,
    scod_risk_loss,
    scod_samples,
    two_samples,
    with_errors,
)
from uqassay.metrics.risk import augrc_loss, aurc_loss, rank_errors, risk_coverage_curve

# Areas and risks of errors and out-of-distribution inputs together, against `aurc_loss` and invariances.

FUNCTIONS = {"scod-aurc": scod_aurc_loss, "scod-augrc": scod_augrc_loss, "scod-risk80": scod_risk_loss}


@pytest.fixture(params=[None, 5], ids=["continuous", "tied"])
def arrays(request):
    return draw(np.random.default_rng(4), 60, 40, -1.6, request.param)[:3]


def trapezoids_of_rows(losses, s, *, generalised=False):
    """The area as torch-uncertainty computes it: risks at k/n, trapezoids, over 1 − 1/n."""
    n = losses.size
    c = np.arange(1, n + 1) / n
    curve = np.cumsum(losses[np.argsort(s, kind="stable")]) / np.arange(1, n + 1) * (c if generalised else 1)
    return np.trapezoid(curve, c) / (1 - 1 / n)


def test_equal_costs_are_half_the_areas_of_all_mistakes(arrays):
    is_out, errors, s = arrays
    mistakes = np.where(is_out, 1.0, errors)
    assert float(scod_aurc_loss(*arrays)) == pytest.approx(float(aurc_loss(mistakes, s)) / 2)
    assert float(scod_augrc_loss(*arrays)) == pytest.approx(float(augrc_loss(mistakes, s)) / 2)
    risk = risk_coverage_curve(mistakes, s).at([0.8]).risk[0]
    assert float(scod_risk_loss(*arrays)) == pytest.approx(risk / 2)


def test_values_against_the_sums_of_torch_uncertainty():
    is_out, errors, s, _ = draw(np.random.default_rng(5), 3000, 2000, -1.6)
    losses = np.where(is_out, 0.3, 0.7 * errors)
    found = scod_aurc_loss(is_out, errors, s, error_cost=0.7)
    assert float(found) == pytest.approx(trapezoids_of_rows(losses, s), abs=1 / 5000)
    found = scod_augrc_loss(is_out, errors, s, error_cost=0.7)
    assert float(found) == pytest.approx(trapezoids_of_rows(losses, s, generalised=True), abs=1 / 5000)
    assert float(scod_risk_loss(is_out, errors, s, error_cost=0.7)) == pytest.approx(
        losses[np.argsort(s)[:4000]].mean()
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_scale_of_the_uncertainty_and_errors_outside_do_not_matter(name, arrays):
    is_out, errors, s = arrays
    score, expected = FUNCTIONS[name], FUNCTIONS[name](*arrays, share_out=0.2)
    found = score(is_out, errors, np.exp(s), share_out=0.2)
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    outside = np.where(is_out, np.nan, errors)
    assert repr(score(is_out, outside, s, share_out=0.2)) == repr(expected)


def test_the_registry_is_the_functions(arrays):
    is_out, errors, s = arrays
    samples = scod_samples(is_out, errors, s, error_cost=0.7)
    for name, metric in SCOD_METRICS.items():
        assert metric.name == name
        assert not metric.higher_is_better
        expected = FUNCTIONS[name](is_out, errors, s, error_cost=0.7, level=0.9)
        assert repr(metric.interval([samples], level=0.9)) == repr(expected)
        assert metric.statistic(samples).value == float(expected)


def test_options_are_checked(arrays):
    with refuses("coverage", "range", got="got 0"):
        scod_risk_loss(*arrays, coverage=0)


# Losses of errors and out-of-distribution inputs together: areas against brute force, influences against differences.

STATISTICS = {"aurc": aurc, "augrc": augrc, "risk": risk_at(0.7)}


def case(rng, m=30, n=20, levels=9, **options):
    is_out, s = sides(rng.integers(0, levels, m) / 2, rng.integers(1, levels + 2, n) / 2)
    errors = np.where(is_out, np.nan, rng.random(m + n) < 0.3)
    return scod_samples(is_out, errors, s, **options)


def curve_by_hand(samples, coverages):
    """Mean loss of all inputs that are kept, A(c), where every tie is kept in equal parts."""
    w = np.ones(samples.errors.size) if samples.mixed is None else samples.mixed
    w, s, loss = w / w.sum(), samples.samples.uncertainty, samples.losses
    found = []
    for c in coverages:
        kept = mass = 0.0
        for level in np.unique(s):
            here = s == level
            part = min(1.0, max(0.0, (c - kept) / w[here].sum()))
            mass += part * float((w[here] * loss[here]).sum())
            kept += float(w[here].sum())
        found.append(mass)
    return np.array(found)


@pytest.mark.parametrize("options", [{}, {"error_cost": 0.8, "share_out": 0.1}, {"error_cost": 0.0}])
def test_values_against_the_integral_of_the_curve(options, random_generator):
    samples = case(random_generator, **options)
    c = (np.arange(500) + 0.5) / 500
    mass = curve_by_hand(samples, c)
    assert samples.linearised(aurc).value == pytest.approx((mass / c).mean(), abs=1e-3)
    assert samples.linearised(augrc).value == pytest.approx(mass.mean(), abs=1e-5)
    assert samples.linearised(risk_at(0.7)).value == pytest.approx(curve_by_hand(samples, [0.7])[0] / 0.7)


def test_costs_and_shares(random_generator):
    samples = case(random_generator, error_cost=0.75)
    assert set(samples.losses[samples.samples.is_out]) == {0.25}
    assert set(samples.losses[~samples.samples.is_out]) == {0.0, 0.75}
    assert samples.share_out == 0.4
    assert samples.mixed is None
    mixed = case(random_generator, share_out=0.1).mixed
    assert mixed[30:].sum() / mixed.sum() == pytest.approx(0.1)
    weighted = case(random_generator, share_out=0.5, sample_weight=np.arange(1.0, 51.0)).mixed
    assert weighted[30:].sum() == pytest.approx(weighted[:30].sum())
    assert weighted[1] / weighted[0] == pytest.approx(2)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("options", [{}, {"error_cost": 0.8, "share_out": 0.1}])
def test_influences_against_finite_differences(name, options, random_generator):
    """One instance gains weight and its sample keeps its own. At the threshold a risk has a corner, and no derivative."""
    samples = case(random_generator, levels=5, **options)
    n, found = 50, samples.linearised(STATISTICS[name])
    for row in range(n):
        values = []
        for sign in (1, -1):
            w = np.ones(n)
            w[row] += sign * 1e-6
            side = samples.samples.is_out == samples.samples.is_out[row]
            w[side] *= side.sum() / w[side].sum()
            two = two_samples(samples.samples.is_out, samples.samples.uncertainty, sample_weight=w)
            values.append(with_errors(two, samples.errors, **options).linearised(STATISTICS[name]).value)
        expected = (values[0] - values[1]) / 2e-6
        if name == "risk":  # the mean loss near the threshold is measured in a window
            assert found.influence[row] / n == pytest.approx(expected, abs=0.01)
        else:
            assert found.influence[row] / n == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(found.parts[0] + found.parts[1], found.influence)


@pytest.mark.parametrize("name", STATISTICS)
def test_no_order_is_beyond_the_extremes(name, random_generator):
    for error_cost in (0.0, 0.3, 0.5, 0.9, 1.0):
        best = worst = None
        for _ in range(20):
            samples = case(random_generator, error_cost=error_cost, share_out=0.3)
            low, high = samples.extremes(STATISTICS[name])
            best, worst = (low, high) if best is None else (best, worst)
            assert (low, high) == (best, worst)
            assert low - 1e-12 <= samples.linearised(STATISTICS[name]).value <= high + 1e-12
    is_out, s = sides(np.zeros(30), np.ones(20))
    perfect = scod_samples(is_out, np.zeros(50), s)
    assert perfect.linearised(STATISTICS[name]).value == pytest.approx(perfect.extremes(STATISTICS[name])[0])
    reverse = scod_samples(is_out, np.ones(50), -s, error_cost=0.2)
    assert reverse.linearised(STATISTICS[name]).value == pytest.approx(reverse.extremes(STATISTICS[name])[1])


def test_a_replaced_share_is_one_more_instance(random_generator):
    samples = case(random_generator)
    found = samples.contaminated(aurc, 0.1, out=False, wrong=True, first=True)
    loss, s = np.append(samples.losses, 0.5), np.append(samples.samples.uncertainty, -1.0)
    w = np.r_[np.full(30, 0.9), np.ones(20), 3.0]
    assert found == pytest.approx(aurc(rank_errors(loss, s, w)).value)
    assert samples.contaminated(aurc, 0.0, out=True, wrong=False, first=False) == pytest.approx(
        samples.linearised(aurc).value
    )
    assert samples.without_errors.losses[:30].max() == 0


def test_bad_input_is_refused():
    is_out, errors, s = [0, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3]
    with refuses("error_cost", "range", got="got 2"):
        scod_samples(is_out, errors, s, error_cost=2)
    with refuses("share_out", "range", got="got 1"):
        scod_samples(is_out, errors, s, share_out=1)
    with refuses("errors", "mismatch", got="got 2, not 3"):
        scod_samples(is_out, [0, 1], s)
    with refuses("errors", "range", got="row 1 is 2"):
        scod_samples(is_out, [0, 2, 0], s)
    with refuses("errors", "finite"):
        scod_samples(is_out, [0, np.nan, 0], s)
    with refuses("is_out", "empty"):
        scod_samples([0, 0, 0], errors, s)


# Intervals of errors and out-of-distribution inputs together: degenerate samples, runs, groups, weights.

NAMES = tuple(SCOD_METRICS)


def test_coverage_without_many_errors():
    """An interval that covers in .8 is found with probability .97."""
    held = coverage("scod-aurc", 100, 100, RATES["1 %"], 80, 4, error_cost=0.9, share_out=0.1)[0]
    assert held >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 80)


def test_type_i_error_and_power():
    assert rejections("scod-aurc", 100, 100, -1.6, 100, 5) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 100)
    assert rejections("scod-aurc", 300, 300, -1.6, 10, 6, better=0.9) >= 0.6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("error_cost", [0.0, 0.5, 1.0])
def test_degenerate_samples_have_wide_intervals_inside_what_is_possible(name, error_cost):
    metric = SCOD_METRICS[name]
    for inside, outside, wrong in [
        (np.linspace(0, 1, 50), np.linspace(2, 3, 30), 0.0),
        (np.zeros(50), np.zeros(30), 0.0),
        (np.zeros(50), np.zeros(30), 1.0),
        (np.linspace(2, 3, 50), np.linspace(0, 1, 30), 1.0),
        (np.zeros(50), np.full(30, np.inf), 0.0),
    ]:
        is_out, s = sides(inside, outside)
        samples = scod_samples(is_out, np.full(80, wrong), s, error_cost=error_cost)
        found, (best, worst) = metric.interval([samples]), samples.extremes(metric.area)
        assert best - 1e-12 <= found.low <= found <= found.high <= worst + 1e-12
        # at coverage .8 without a price of errors the order inside a perfect separation does not matter
        assert found.high - found.low > 1e-3 or (name == "scod-risk80" and error_cost == 0.0)


def test_the_price_of_a_single_instance():
    found = scod_estimate([scod_samples([0, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3])], aurc)
    assert np.isnan([found.low, found.high]).all()
    assert "1 out-of-distribution case: no interval" in said(found)
    known = scod_estimate([scod_samples([0] * 5 + [1] * 5, [0] * 10, range(10), error_cost=0.0)], risk_at(1.0))
    assert (known.low, float(known), known.high) == (0.5, 0.5, 0.5)
    assert "the given share and costs decide this number" in said(known)


def test_few_errors_are_noted():
    is_out, errors, s, _ = draw(np.random.default_rng(0), 100, 100, -3.6)
    errors[:100] = 0
    assert "no errors among the in-distribution cases" in said(scod_estimate([scod_samples(is_out, errors, s)], aurc))
    errors[3] = 1
    assert "only 1 error among the in-distribution cases" in said(
        scod_estimate([scod_samples(is_out, errors, s)], aurc)
    )
    free = scod_estimate([scod_samples(is_out, errors, s, error_cost=0.0)], aurc)
    assert "error" not in said(free)


@pytest.mark.parametrize("name", NAMES)
def test_no_errors_have_the_upper_limit_of_errors_not_seen(name):
    """With errors that cost much, the interval of no errors reaches as far as that of Wilson's upper limit would."""
    rng = np.random.default_rng(1)
    is_out, errors, s, _ = draw(rng, 100, 400, -3.6)
    none = SCOD_METRICS[name].interval([scod_samples(is_out, errors * 0, s, error_cost=0.9, share_out=0.1)])
    few = errors * 0
    few[np.argsort(s[:100])[50]] = 1
    one = SCOD_METRICS[name].interval([scod_samples(is_out, few, s, error_cost=0.9, share_out=0.1)])
    assert none.high > float(one)
    assert none.high < one.high


def test_runs_are_averaged_and_groups_widen():
    rng = np.random.default_rng(2)
    is_out, errors, s, groups = draw(rng, 300, 200, -1.6, grouped=True)
    runs = [scod_samples(is_out, errors, s + rng.normal(size=500) / 3) for _ in range(3)]
    found = scod_estimate(runs, augrc)
    assert float(found) == pytest.approx(np.mean([scod_estimate([run], augrc) for run in runs]))
    assert "3 runs" in said(found)
    plain, grouped = (scod_estimate([scod_samples(is_out, errors, s, groups=g)], augrc) for g in (None, groups))
    assert float(plain) == float(grouped)
    assert grouped.high - grouped.low > 1.2 * (plain.high - plain.low)
