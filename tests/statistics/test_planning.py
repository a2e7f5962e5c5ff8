"""Planned widths: against simulation, integration and each other.

Run as a script, this file prints the table that stands in the docstring of `plan_auc`.
"""

import re

import numpy as np
import pytest
from scipy import integrate, special, stats
from tests.notes import said, texts

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.correlation import kendall_tau_influence
from uqassay.statistics.delong import auc_estimate, auc_linearised
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.planning import plan_auc, plan_auc_from_pilot, plan_from_pilot
from uqassay.statistics.u_statistics import concordance_linearised

# ------------------------------------------------------------------------------------------------ variances, solving


@pytest.mark.parametrize("auc", [0.2, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("model", ["binormal", "hanley-mcneil"])
def test_large_sample_width_against_variances_by_integration(auc, model):
    # placement variances: P(two others below one error) − A², P(one other below two errors) − A²
    if model == "binormal":
        shift = special.ndtri(auc) * np.sqrt(2)
        error, other = stats.norm(shift), stats.norm()
    else:  # exponential scores with P(other < error) = A
        error, other = stats.expon(scale=auc / (1 - auc)), stats.expon()
    ends = other.ppf(1e-14), error.ppf(1 - 1e-14)
    of_errors = integrate.quad(lambda t: error.pdf(t) * other.cdf(t) ** 2, *ends, limit=500)[0] - auc**2
    of_others = integrate.quad(lambda t: other.pdf(t) * error.sf(t) ** 2, *ends, limit=500)[0] - auc**2
    n, rate = 10**7, 0.2
    plan = plan_auc(auc, rate, n=n, model=model)
    expected = 2 * special.ndtri(0.975) * np.sqrt(of_errors / (n * rate) + of_others / (n * (1 - rate)))
    assert plan.width == pytest.approx(expected, rel=1e-3)
    assert plan.low < auc < plan.high


@pytest.mark.parametrize(
    ("auc", "rate", "width"), [(0.8, 0.05, 0.1), (0.95, 0.5, 0.02), (0.6, 0.9, 0.3), (0.9, 0.3, 1.9)]
)
def test_planned_n_is_the_least_that_reaches_the_width(auc, rate, width):
    plan = plan_auc(auc, rate, width=width)
    assert plan.width <= width
    assert plan_auc(auc, rate, n=plan.n) == plan
    least = int(np.ceil(2 / min(rate, 1 - rate)))
    assert plan.n >= least
    if plan.n > least:
        assert plan_auc(auc, rate, n=plan.n - 1).width > width
    assert plan.n_errors == pytest.approx(plan.n * rate)


def test_width_falls_with_n_and_grows_with_the_level():
    widths = [plan_auc(0.85, 0.1, n=n).width for n in range(20, 3000, 7)]
    assert (np.diff(widths) < 0).all()
    assert plan_auc(0.85, 0.1, width=0.1, level=0.99).n > plan_auc(0.85, 0.1, width=0.1).n


def test_notes_say_where_few_errors_are_to_be_expected():
    assert texts(plan_auc(0.9, 0.01, n=1000)) == ["only 10 errors to expect: the interval is rough"]
    assert texts(plan_auc(0.9, 0.99, n=1000)) == ["only 10 instances without error to expect: the interval is rough"]
    assert texts(plan_auc(0.9, 0.5, n=1000)) == []


# --------------------------------------------------------------------------------------------------------- pilots


def binormal(rng, n, rate, auc):
    e = rng.random(n) < rate
    return e.astype(float), rng.normal(size=n) + special.ndtri(auc) * np.sqrt(2) * e


def test_large_pilot_agrees_with_the_model_it_comes_from(random_generator):
    e, s = binormal(random_generator, 200_000, 0.1, 0.85)
    stated = plan_auc(auc_estimate(e, s), 0.1, width=0.05)
    pilot = plan_auc_from_pilot(e, s, error_rate=0.1, width=0.05)
    assert pilot.n == pytest.approx(stated.n, rel=0.02)
    assert plan_auc_from_pilot(e, s, width=0.05).n == pytest.approx(stated.n, rel=0.03)
    generic = plan_from_pilot(auc_linearised(e, s, None), width=0.05)
    assert generic.n == pytest.approx(stated.n, rel=0.03)
    assert said(pilot).startswith("from a pilot with ")


def test_pilot_at_its_own_size_gives_its_own_interval(random_generator):
    e, s = binormal(random_generator, 3000, 0.2, 0.8)
    found = auc_estimate(e, s)
    plan = plan_auc_from_pilot(e, s, n=3000)
    np.testing.assert_allclose([plan.value, plan.low, plan.high], [found, found.low, found.high], rtol=2e-3)
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


def test_pilot_with_groups_plans_for_such_groups(random_generator):
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


# -------------------------------------------------------------------------------------------------------- refusals

NO_VARIANCE = Linearised(0.5, np.zeros(9))
UNDEFINED = Linearised(np.nan, np.zeros(9), notes=(Note("undefined", "x is constant"),))
SIMPLE = Linearised(1.5, np.linspace(-1, 1, 9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan_auc(0.8, 0.1), "width: give either width or n, one of the two; got none"),
        (lambda: plan_auc(0.8, 0.1, width=0.1, n=9), "width: give either width or n, one of the two; got both"),
        (lambda: plan_auc(1.0, 0.1, n=900), "auc: must lie strictly between 0 and 1; got 1.0"),
        (lambda: plan_auc(0.8, 0.0, n=900), "error_rate: must lie strictly between 0 and 1; got 0.0"),
        (lambda: plan_auc(0.8, np.nan, n=900), "error_rate: must lie strictly between 0 and 1; got nan"),
        (lambda: plan_auc(0.8, 0.1, n=19), "n: must be at least 20, so that two errors and two others"),
        (lambda: plan_auc(0.8, 0.1, n=50.0), "n: must be a whole number of at least 1; got 50.0"),
        (lambda: plan_auc(0.8, 0.1, width=-0.1), "width: must be positive and finite; got -0.1"),
        (lambda: plan_auc(0.8, 0.1, width=1e-12), r"width: takes more than 1e\+15 instances"),
        (lambda: plan_auc(0.8, 0.1, n=90, model="t"), "model: must be one of 'binormal', 'hanley-mcneil'; got 't'"),
        (lambda: plan_auc(0.8, 0.1, n=90, level=2), "level: must lie strictly"),
        (lambda: plan_auc_from_pilot([0, 1, 0], [1, 2, 3], n=90), "errors: a pilot needs at least two errors and two"),
        (lambda: plan_auc_from_pilot([0, 1, 0, 1], [1, 2, 1, 2], n=90), "uncertainty: a pilot must say how"),
        (lambda: plan_auc_from_pilot([0, 1, 0, 0.5], [1, 2, 1, 2], n=90), "errors: must be 0 or 1; row 3 is 0.5"),
        (lambda: plan_auc_from_pilot([0, 1], [1, 2, 1], n=90), "uncertainty: needs one value for each of the 2 errors"),
        (lambda: plan_from_pilot(NO_VARIANCE, n=90), "pilot: must say how the statistic varies; 9 instances"),
        (lambda: plan_from_pilot(UNDEFINED, n=90), r"pilot: must be defined; it is nan \(x is constant\)"),
        (lambda: plan_from_pilot(SIMPLE, n=90), 'scale: "logit" takes a statistic in .*; the pilot\'s is 1.5'),
        (lambda: plan_from_pilot(SIMPLE, n=1, scale="identity"), "n: must be at least 2; got 1"),
        (
            lambda: plan_from_pilot(SIMPLE, n=9, scale="identity", groups=["a"] * 9),
            "pilot: must say how .* 1 instances or",
        ),
    ],
)
def test_plans_refuse(call, message):
    with pytest.raises(InputError, match=re.compile(message)):
        call()


# ------------------------------------------------------------------------------------------------------ simulation


def width_ratio(auc, rate, width, n_samples, seed=0):
    """Mean width of `auc_estimate` at the planned n over the wanted width, and the plan."""
    plan = plan_auc(auc, rate, width=width)
    rng = np.random.default_rng(seed)
    found = [auc_estimate(*binormal(rng, plan.n, rate, auc)) for _ in range(n_samples)]
    widths = [estimate.high - estimate.low for estimate in found]
    return float(np.nanmean(widths)) / width, plan


@pytest.mark.slow
@pytest.mark.parametrize(
    ("auc", "rate", "width"),
    [(0.7, 0.05, 0.1), (0.7, 0.5, 0.2), (0.85, 0.05, 0.1), (0.85, 0.2, 0.05), (0.95, 0.05, 0.1), (0.95, 0.2, 0.05)],
)
def test_mean_width_at_the_planned_n_is_the_wanted_one(auc, rate, width):
    ratio, _ = width_ratio(auc, rate, width, 300)
    assert ratio == pytest.approx(1.0, abs=0.04)


@pytest.mark.slow
def test_mean_width_of_the_c_index_at_the_n_planned_from_a_pilot():
    rng = np.random.default_rng(1)

    def sample(n):
        gap = rng.beta(0.5, 2.0, size=n)
        return gap, gap + 0.4 * rng.normal(size=n)

    plan = plan_from_pilot(concordance_linearised(*sample(20_000), None), width=0.05)
    found = [linearised_estimate(concordance_linearised(*sample(plan.n), None), scale="logit") for _ in range(300)]
    assert np.mean([e.high - e.low for e in found]) == pytest.approx(0.05, rel=0.03)


def print_table():
    widths = (0.2, 0.1, 0.05)
    for rate in (0.05, 0.2, 0.5):
        for auc in (0.7, 0.85, 0.95):
            cells = [width_ratio(auc, rate, width, 2000) for width in widths]
            print(f"{rate:5.2f} {auc:5.2f}", "  ".join(f"{r:.2f} ({p.n_errors:.0f})" for r, p in cells), flush=True)


if __name__ == "__main__":
    print_table()
