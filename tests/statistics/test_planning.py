"""Plans from a pilot: against the interval and test of the pilot, large-sample formulas, and simulation."""

import numpy as np
import pytest
from scipy import special, stats
from tests.notes import codes, texts
from tests.refusals import refuses

from uqassay.notes import Note
from uqassay.statistics import (
    Linearised,
    auc_estimate,
    auc_influence,
    kendall_tau_influence,
    linearised_estimate,
    plan_difference,
    plan_precision,
)
from uqassay.statistics.correlation import concordance_linearised
from uqassay.statistics.linearised import spread_of
from uqassay.statistics.units import make_units

NO_VARIANCE = Linearised(0.5, np.zeros(9))
UNDEFINED = Linearised(np.nan, np.zeros(9), notes=(Note("undefined", "x is constant"),))
SIMPLE = Linearised(1.5, np.linspace(-1, 1, 9))
ERRORS = np.repeat([1.0, 0.0], [10, 90])
AREA = auc_influence(ERRORS, np.sin(np.arange(100)) + ERRORS)


def binormal(rng, n, rate, auc):
    e = rng.random(n) < rate
    return e.astype(float), rng.normal(size=n) + special.ndtri(auc) * np.sqrt(2) * e


def correlated_scores(rng, n, rate, first, second, r):
    e = (rng.random(n) < rate).astype(float)
    a = rng.normal(size=n)
    b = r * a + np.sqrt(1 - r**2) * rng.normal(size=n)
    return e, a + special.ndtri(first) * np.sqrt(2) * e, b + special.ndtri(second) * np.sqrt(2) * e


# -- widths -----------------------------------------------------------------------------------------------------------


def test_pilot_at_its_own_size_gives_its_own_interval(random_generator):
    gap, u = random_generator.random(500), random_generator.random(500)
    u += gap
    statistic = concordance_linearised(gap, u, None)
    expected = linearised_estimate(statistic, scale="logit")
    plan = plan_precision(statistic, n=500)
    np.testing.assert_allclose([plan.low, plan.high], [expected.low, expected.high], rtol=1e-12)


@pytest.mark.parametrize("method", ["delong", "adjusted"])
def test_small_pilot_of_an_area_gives_its_own_interval(random_generator, method):
    e, s = binormal(random_generator, 60, 0.1, 0.8)
    groups = np.arange(60) // 3
    for options in ({}, {"groups": groups}):
        expected = auc_estimate(e, s, method=method, **options)
        plan = plan_precision(auc_influence(e, s, method=method, **options), n=60, **options)
        np.testing.assert_allclose([plan.low, plan.high], [expected.low, expected.high], rtol=1e-9)


@pytest.mark.parametrize("auc", [0.6, 0.8, 0.95])
def test_large_pilot_of_an_area_against_the_binormal_variance(random_generator, auc):
    e, s = binormal(random_generator, 200_000, 0.2, auc)
    pilot = auc_influence(e, s)
    # Var V = P(two others below one error) − A²: the orthant probability of a bivariate normal with correlation ½
    orthant = stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]).cdf(np.full(2, special.ndtri(auc)))
    n, rate = 10**7, 0.2
    variance = (orthant - auc**2) * (1 / (n * rate) + 1 / (n * (1 - rate)))
    assert plan_precision(pilot, n=n).width == pytest.approx(2 * special.ndtri(0.975) * np.sqrt(variance), rel=0.02)


@pytest.mark.parametrize("width", [0.3, 0.1, 0.02])
def test_planned_n_is_the_least_that_reaches_the_width(width):
    plan = plan_precision(AREA, width=width)
    assert plan.width <= width
    assert plan_precision(AREA, n=plan.n) == plan
    assert plan_precision(AREA, n=plan.n - 1).width > width


def test_width_falls_with_n_and_grows_with_the_level():
    widths = [plan_precision(AREA, n=n).width for n in range(20, 3000, 37)]
    assert (np.diff(widths) < 0).all()
    assert plan_precision(AREA, width=0.1, level=0.99).n > plan_precision(AREA, width=0.1).n


def test_few_expected_errors_have_a_note():
    (pilot, few) = texts(plan_precision(AREA, n=100))
    assert pilot == "from a pilot of 100 instances"
    assert few == "only 10 in the smaller sample expected: the interval is rough"
    assert codes(plan_precision(AREA, n=1000)) == ["pilot"]


def test_pilot_with_groups_plans_for_groups_of_the_same_kind(random_generator):
    groups = np.arange(400) // 4
    effect = random_generator.normal(size=100)[groups]
    x, y = effect + 0.3 * random_generator.normal(size=(2, 400))
    tau = kendall_tau_influence(x, y)
    alone = plan_precision(tau, width=0.05, scale="identity")
    grouped = plan_precision(tau, width=0.05, scale="identity", groups=groups)
    assert grouped.n > 1.5 * alone.n
    assert texts(grouped) == ["from a pilot of 400 instances in 100 groups, 4 each"]
    expected = linearised_estimate(tau, groups=groups)
    plan = plan_precision(tau, n=400, scale="identity", groups=groups)
    assert plan.width == pytest.approx(expected.high - expected.low)


# -- powers -----------------------------------------------------------------------------------------------------------


def test_small_pilot_of_two_areas_gives_the_error_of_their_test(random_generator):
    e = np.repeat([1.0, 0.0], [6, 54])
    first, second = random_generator.normal(size=(2, 60)) + [[1.5], [0.5]] * e
    pilot = auc_influence(e, first) - auc_influence(e, second)
    plan = plan_difference(pilot, n=60)
    assert plan.standard_error == pytest.approx(spread_of(pilot, make_units(60, None, None)).standard_error, rel=1e-12)


def test_power_against_the_normal_formula(random_generator):
    e, s, _ = correlated_scores(random_generator, 4000, 0.2, 0.85, 0.85, 0.0)
    first, second = auc_influence(e, s), auc_influence(e, s + 0.5 * random_generator.normal(size=4000))
    plan = plan_difference(first - second, power=0.8)
    shift = special.ndtri(0.975) + special.ndtri(0.8)
    assert plan.difference == pytest.approx(first.value - second.value)
    assert plan.difference / plan.standard_error == pytest.approx(shift, rel=0.02)
    assert plan.power >= 0.8 > plan_difference(first - second, n=plan.n - 1).power
    assert plan_difference(second - first, n=plan.n).power == pytest.approx(plan.power)
    smaller = plan_difference(first - second, power=0.8, difference=plan.difference / 2)
    assert smaller.n == pytest.approx(4 * plan.n, rel=0.03)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pilot", "options", "parameter", "code", "got"),
    [
        (0.8, {"n": 90}, "pilot", "type", r"0\.8"),
        (NO_VARIANCE, {"n": 90}, "pilot", "undefined", "9 instances"),
        (UNDEFINED, {"n": 90}, "pilot", "finite", "x is constant"),
        (SIMPLE, {"n": 9, "groups": ["a"] * 9}, "pilot", "undefined", "1 instances or groups"),
        (SIMPLE, {"n": 90, "scale": "logit"}, "scale", "undefined", r"pilot's is 1\.5"),
        (SIMPLE, {"n": 90, "scale": "log"}, "scale", "choice", "got 'log'"),
        (SIMPLE, {"n": 1}, "n", "range", "got 1"),
        (AREA, {"n": 19}, "n", "range", "at least 20.*got 19"),
        (SIMPLE, {"n": 50.0}, "n", "type", r"got 50\.0"),
        (SIMPLE, {"n": True}, "n", "type", "got True"),
        (SIMPLE, {}, "width", "missing", "got none"),
        (SIMPLE, {"width": 0.1, "n": 90}, "width", "conflict", "got both"),
        (SIMPLE, {"width": -0.1}, "width", "range", r"got -0\.1"),
        (SIMPLE, {"width": np.nan}, "width", "range", "got nan"),
        (SIMPLE, {"width": 1e-12}, "width", "size", r"1e\+15"),
        (SIMPLE, {"n": 90, "level": 2}, "level", "range", "got 2"),
    ],
)
def test_plans_of_a_width_refuse(pilot, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        plan_precision(pilot, **{"scale": "identity"} | options)


@pytest.mark.parametrize(
    ("pilot", "options", "parameter", "code", "got"),
    [
        (SIMPLE, {"n": 9, "difference": 0}, "difference", "range", r"got 0\.0"),
        (NO_VARIANCE, {"n": 90}, "pilot", "undefined", "9 instances or groups have variance 0"),
        (UNDEFINED, {"n": 90}, "pilot", "finite", "x is constant"),
        (SIMPLE, {"power": 1.0}, "power", "range", r"got 1\.0"),
        (SIMPLE, {}, "power", "missing", "got none"),
        (SIMPLE, {"power": 0.8, "n": 90}, "power", "conflict", "got both"),
    ],
)
def test_plans_of_a_power_refuse(pilot, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        plan_difference(pilot, **options)


# -- simulation -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_mean_width_of_the_c_index_at_the_n_planned_from_a_pilot():
    rng = np.random.default_rng(1)

    def sample(n):
        gap = rng.beta(0.5, 2.0, size=n)
        return gap, gap + 0.4 * rng.normal(size=n)

    plan = plan_precision(concordance_linearised(*sample(20_000), None), width=0.05)
    found = [linearised_estimate(concordance_linearised(*sample(plan.n), None), scale="logit") for _ in range(300)]
    assert np.mean([e.high - e.low for e in found]) == pytest.approx(0.05, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("auc", "rate", "width"), [(0.7, 0.05, 0.1), (0.7, 0.5, 0.2), (0.85, 0.2, 0.05), (0.95, 0.2, 0.05)]
)
def test_mean_width_of_an_area_at_the_n_planned_from_a_large_pilot(auc, rate, width):
    rng = np.random.default_rng(0)
    plan = plan_precision(auc_influence(*binormal(rng, 100_000, rate, auc)), width=width)
    found = [auc_estimate(*binormal(rng, plan.n, rate, auc)) for _ in range(300)]
    assert np.nanmean([e.high - e.low for e in found]) == pytest.approx(width, rel=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "r"), [(0.2, 0.0), (0.5, 0.7)])
def test_power_at_the_planned_n(rate, r):
    first, second = 0.85, 0.78
    e, a, b = correlated_scores(np.random.default_rng(2), 100_000, rate, first, second, r)
    plan = plan_difference(auc_influence(e, a) - auc_influence(e, b), power=0.8, difference=first - second)
    rng, found = np.random.default_rng(3), 0
    for _ in range(500):
        e, a, b = correlated_scores(rng, plan.n, rate, first, second, r)
        estimate = linearised_estimate(auc_influence(e, a) - auc_influence(e, b))
        found += not estimate.low <= 0 <= estimate.high
    assert abs(found / 500 - 0.8) < 0.06
