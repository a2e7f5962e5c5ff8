"""Plans of linearised statistics from a pilot: against the interval and test of the pilot, plans of areas, and simulation."""

import numpy as np
import pytest
from scipy import special
from tests.notes import texts
from tests.refusals import refuses
from tests.statistics.test_planning_auc import binormal

from uqassay.notes import Note
from uqassay.statistics.auc import auc_linearised
from uqassay.statistics.correlation import concordance_linearised, kendall_tau_influence
from uqassay.statistics.linearised import Linearised, linearised_estimate, spread_of
from uqassay.statistics.planning import (
    plan_auc_difference,
    plan_auc_from_pilot,
    plan_difference_from_pilot,
    plan_from_pilot,
)
from uqassay.statistics.units import make_units

NO_VARIANCE = Linearised(0.5, np.zeros(9))
UNDEFINED = Linearised(np.nan, np.zeros(9), notes=(Note("undefined", "x is constant"),))
SIMPLE = Linearised(1.5, np.linspace(-1, 1, 9))


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
    plan = plan_from_pilot(statistic, n=500)
    np.testing.assert_allclose([plan.low, plan.high], [expected.low, expected.high], rtol=1e-12)
    assert np.isnan(plan.n_errors)


@pytest.mark.parametrize("imaginary", [0.0, 0.3])
def test_small_pilot_of_two_samples_gives_its_own_interval(random_generator, imaginary):
    e, s = binormal(random_generator, 60, 0.1, 0.8)
    groups = np.arange(60) // 3
    statistic = auc_linearised(e, s, None, imaginary=imaginary)
    for options in ({}, {"groups": groups}):
        expected = linearised_estimate(statistic, scale="logit", **options)
        plan = plan_from_pilot(statistic, n=60, **options)
        np.testing.assert_allclose([plan.low, plan.high], [expected.low, expected.high], rtol=1e-12)
    assert plan_from_pilot(statistic, n=6000).width == pytest.approx(plan_auc_from_pilot(e, s, n=6000).width, rel=0.25)


def test_pilot_with_groups_plans_for_groups_of_the_same_kind(random_generator):
    groups = np.arange(400) // 4
    effect = random_generator.normal(size=100)[groups]
    x, y = effect + 0.3 * random_generator.normal(size=(2, 400))
    tau = kendall_tau_influence(x, y)
    alone = plan_from_pilot(tau, width=0.05, scale="identity")
    grouped = plan_from_pilot(tau, width=0.05, scale="identity", groups=groups)
    assert grouped.n > 1.5 * alone.n
    assert texts(grouped) == ["from a pilot of 400 instances in 100 groups, 4 each"]
    expected = linearised_estimate(tau, groups=groups)
    assert plan_from_pilot(tau, n=400, scale="identity", groups=groups).width == pytest.approx(
        expected.high - expected.low
    )


# -- powers -----------------------------------------------------------------------------------------------------------


def test_small_pilot_of_two_samples_gives_the_error_of_its_test(random_generator):
    e = np.repeat([1.0, 0.0], [6, 54])
    first, second = random_generator.normal(size=(2, 60)) + [[1.5], [0.5]] * e
    pilot = auc_linearised(e, first, None) - auc_linearised(e, second, None)
    plan = plan_difference_from_pilot(pilot, n=60)
    assert plan.standard_error == pytest.approx(spread_of(pilot, make_units(60, None, None)).standard_error, rel=1e-12)


def test_difference_from_pilot_uses_the_correlation_of_the_scores(random_generator):
    e, s, _ = correlated_scores(random_generator, 4000, 0.2, 0.85, 0.85, 0.0)
    noise = random_generator.normal(size=4000)
    first, second = auc_linearised(e, s, None), auc_linearised(e, s + 0.5 * noise, None)
    paired = plan_difference_from_pilot(first - second, power=0.9)
    unpaired = plan_auc_difference(first.value, second.value, 0.2, correlation=0.0, power=0.9)
    assert paired.n < 0.5 * unpaired.n
    assert paired.difference == pytest.approx(first.value - second.value)
    smaller = plan_difference_from_pilot(first - second, power=0.9, difference=paired.difference / 2)
    assert smaller.n == pytest.approx(4 * paired.n, rel=0.03)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pilot", "options", "parameter", "code", "got"),
    [
        (NO_VARIANCE, {"n": 90}, "pilot", "undefined", "9 instances"),
        (UNDEFINED, {"n": 90}, "pilot", "finite", "x is constant"),
        (SIMPLE, {"n": 90}, "scale", "undefined", r"pilot's is 1\.5"),
        (SIMPLE, {"n": 1, "scale": "identity"}, "n", "range", "got 1"),
        (SIMPLE, {"n": 9, "scale": "identity", "groups": ["a"] * 9}, "pilot", "undefined", "1 instances or groups"),
        (SIMPLE, {"scale": "identity"}, "width", "missing", "got none"),
    ],
)
def test_pilots_of_statistics_refuse(pilot, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        plan_from_pilot(pilot, **options)


def test_pilots_of_differences_refuse():
    with refuses("difference", "range", got=r"got 0\.0"):
        plan_difference_from_pilot(SIMPLE, n=9, difference=0)
    with refuses("pilot", "undefined", got="9 instances or groups have variance 0"):
        plan_difference_from_pilot(NO_VARIANCE, n=90)
    with refuses("pilot", "finite", got="x is constant"):
        plan_difference_from_pilot(UNDEFINED, n=90)


# -- simulation -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_mean_width_of_the_c_index_at_the_n_planned_from_a_pilot():
    rng = np.random.default_rng(1)

    def sample(n):
        gap = rng.beta(0.5, 2.0, size=n)
        return gap, gap + 0.4 * rng.normal(size=n)

    plan = plan_from_pilot(concordance_linearised(*sample(20_000), None), width=0.05)
    found = [linearised_estimate(concordance_linearised(*sample(plan.n), None), scale="logit") for _ in range(300)]
    assert np.mean([e.high - e.low for e in found]) == pytest.approx(0.05, rel=0.03)


def share_found(plan, rate, first, second, r, n_samples, seed):
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(n_samples):
        e, a, b = correlated_scores(rng, plan.n, rate, first, second, r)
        estimate = linearised_estimate(auc_linearised(e, a, None) - auc_linearised(e, b, None))
        found += not estimate.low <= 0 <= estimate.high
    return found / n_samples


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "r"), [(0.2, 0.0), (0.2, 0.7), (0.5, 0.4)])
def test_power_at_the_planned_n(rate, r):
    first, second = 0.85, 0.78
    # correlation of the placements, from a large pilot
    e, a, b = correlated_scores(np.random.default_rng(2), 100_000, rate, first, second, r)
    one, other = auc_linearised(e, a, None), auc_linearised(e, b, None)
    correlation = np.corrcoef(one.influence[e == 1], other.influence[e == 1])[0, 1]
    stated = plan_auc_difference(first, second, rate, correlation=correlation, power=0.8)
    assert abs(share_found(stated, rate, first, second, r, 1000, 3) - 0.8) < 0.05
    measured = plan_difference_from_pilot(one - other, power=0.8, difference=first - second)
    assert measured.n == pytest.approx(stated.n, rel=0.05)
