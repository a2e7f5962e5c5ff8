"""Planned powers: against simulation, the normal formula and each other."""

import re

import numpy as np
import pytest
from scipy import special
from tests.notes import said

from uqassay.errors import InputError
from uqassay.statistics.delong import auc_linearised
from uqassay.statistics.linearised import Linearised, linearised_estimate, spread_of
from uqassay.statistics.power import plan_auc_difference, plan_difference_from_pilot
from uqassay.statistics.samples import make_units


def test_power_against_the_normal_formula():
    plan = plan_auc_difference(0.9, 0.85, 0.3, correlation=0.4, power=0.8)
    shift = special.ndtri(0.975) + special.ndtri(0.8)
    assert plan.difference / plan.standard_error == pytest.approx(shift, rel=0.02)
    assert 0.8 <= plan.power < 0.81
    assert plan_auc_difference(0.85, 0.9, 0.3, correlation=0.4, n=plan.n).power == pytest.approx(plan.power)


def test_small_pilot_of_two_samples_gives_the_error_of_its_test(random_generator):
    e = np.repeat([1.0, 0.0], [6, 54])
    first, second = random_generator.normal(size=(2, 60)) + [[1.5], [0.5]] * e
    pilot = auc_linearised(e, first, None) - auc_linearised(e, second, None)
    plan = plan_difference_from_pilot(pilot, n=60)
    assert plan.standard_error == pytest.approx(spread_of(pilot, make_units(60, None, None)).standard_error, rel=1e-12)


def test_power_grows_with_n_and_with_the_correlation():
    powers = [plan_auc_difference(0.85, 0.8, 0.1, correlation=0.5, n=n).power for n in range(20, 6000, 7)]
    assert (np.diff(powers) > 0).all()
    assert powers[0] < 0.2 < 0.99 < powers[-1]
    by_correlation = [plan_auc_difference(0.85, 0.8, 0.1, correlation=r, power=0.8).n for r in (-0.5, 0.0, 0.5, 0.9)]
    assert by_correlation == sorted(by_correlation, reverse=True)
    assert said(plan_auc_difference(0.9, 0.8, 0.01, correlation=0, n=1000)).startswith("only 10 errors to expect")


@pytest.mark.parametrize("power", [0.3, 0.8, 0.99])
def test_planned_n_is_the_least_that_reaches_the_power(power):
    plan = plan_auc_difference(0.8, 0.7, 0.3, correlation=0.2, power=power)
    assert plan.power >= power > plan_auc_difference(0.8, 0.7, 0.3, correlation=0.2, n=plan.n - 1).power


def test_difference_from_pilot_counts_what_is_shared(random_generator):
    e, s, _ = correlated_scores(random_generator, 4000, 0.2, 0.85, 0.85, 0.0)
    noise = random_generator.normal(size=4000)
    first, second = auc_linearised(e, s, None), auc_linearised(e, s + 0.5 * noise, None)
    paired = plan_difference_from_pilot(first - second, power=0.9)
    unpaired = plan_auc_difference(first.value, second.value, 0.2, correlation=0.0, power=0.9)
    assert paired.n < 0.5 * unpaired.n
    assert paired.difference == pytest.approx(first.value - second.value)
    smaller = plan_difference_from_pilot(first - second, power=0.9, difference=paired.difference / 2)
    assert smaller.n == pytest.approx(4 * paired.n, rel=0.03)


SIMPLE = Linearised(1.5, np.linspace(-1, 1, 9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan_auc_difference(0.8, 0.8, 0.1, correlation=0, n=90), "second: must differ from first"),
        (lambda: plan_auc_difference(0.8, 0.7, 0.1, correlation=2, n=90), r"correlation: must lie in \[-1, 1\]; got 2"),
        (lambda: plan_auc_difference(0.8, 0.7, 0.1, correlation=0, power=1.0), "power: must lie strictly"),
        (lambda: plan_auc_difference(0.8, 0.7, 0.1, correlation=0), "power: give either power or n"),
        (
            lambda: plan_difference_from_pilot(SIMPLE, n=9, difference=0),
            "difference: must be finite and not 0; got 0.0",
        ),
        (lambda: plan_difference_from_pilot(Linearised(0.5, np.zeros(9)), n=90), "pilot: must say how the statistic"),
    ],
)
def test_plans_refuse(call, message):
    with pytest.raises(InputError, match=re.compile(message)):
        call()


def correlated_scores(rng, n, rate, first, second, r):
    e = (rng.random(n) < rate).astype(float)
    a = rng.normal(size=n)
    b = r * a + np.sqrt(1 - r**2) * rng.normal(size=n)
    return e, a + special.ndtri(first) * np.sqrt(2) * e, b + special.ndtri(second) * np.sqrt(2) * e


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
