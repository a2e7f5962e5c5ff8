"""Planned widths and powers for areas, given or of a pilot: against simulation, integration and each other.

Run as a script, this file prints the table of `plan_auc` in docs/measured-coverage.md.
"""

import numpy as np
import pytest
from scipy import integrate, special, stats
from tests.notes import codes, said, texts
from tests.refusals import refuses

from uqassay.statistics.auc import auc_estimate, auc_linearised
from uqassay.statistics.planning import plan_auc, plan_auc_difference, plan_auc_from_pilot, plan_from_pilot


def binormal(rng, n, rate, auc):
    e = rng.random(n) < rate
    return e.astype(float), rng.normal(size=n) + special.ndtri(auc) * np.sqrt(2) * e


# -- widths -----------------------------------------------------------------------------------------------------------


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


def test_large_pilot_agrees_with_its_model(random_generator):
    e, s = binormal(random_generator, 200_000, 0.1, 0.85)
    stated = plan_auc(auc_estimate(e, s), 0.1, width=0.05)
    pilot = plan_auc_from_pilot(e, s, error_rate=0.1, width=0.05)
    assert pilot.n == pytest.approx(stated.n, rel=0.02)
    assert plan_auc_from_pilot(e, s, width=0.05).n == pytest.approx(stated.n, rel=0.03)
    generic = plan_from_pilot(auc_linearised(e, s, None), width=0.05)
    assert generic.n == pytest.approx(stated.n, rel=0.03)
    assert said(pilot).startswith("from a pilot with ")


def test_pilot_of_errors_at_its_own_size_gives_the_interval_of_the_area(random_generator):
    e, s = binormal(random_generator, 3000, 0.2, 0.8)
    found = auc_estimate(e, s)
    plan = plan_auc_from_pilot(e, s, n=3000)
    np.testing.assert_allclose([plan.value, plan.low, plan.high], [found, found.low, found.high], rtol=2e-3)


def test_few_expected_errors_have_a_note():
    assert texts(plan_auc(0.9, 0.01, n=1000)) == ["only 10 errors expected: the interval is rough"]
    assert texts(plan_auc(0.9, 0.99, n=1000)) == ["only 10 right predictions expected: the interval is rough"]
    assert texts(plan_auc(0.9, 0.5, n=1000)) == []
    assert (
        codes(plan_auc(0.9, 0.01, n=1000))
        == codes(plan_auc_difference(0.9, 0.8, 0.01, correlation=0, n=1000))
        == ["few"]
    )


# -- powers -----------------------------------------------------------------------------------------------------------


def test_power_against_the_normal_formula():
    plan = plan_auc_difference(0.9, 0.85, 0.3, correlation=0.4, power=0.8)
    shift = special.ndtri(0.975) + special.ndtri(0.8)
    assert plan.difference / plan.standard_error == pytest.approx(shift, rel=0.02)
    assert 0.8 <= plan.power < 0.81
    assert plan_auc_difference(0.85, 0.9, 0.3, correlation=0.4, n=plan.n).power == pytest.approx(plan.power)


def test_power_grows_with_n_and_with_the_correlation():
    powers = [plan_auc_difference(0.85, 0.8, 0.1, correlation=0.5, n=n).power for n in range(20, 6000, 7)]
    assert (np.diff(powers) > 0).all()
    assert powers[0] < 0.2 < 0.99 < powers[-1]
    by_correlation = [plan_auc_difference(0.85, 0.8, 0.1, correlation=r, power=0.8).n for r in (-0.5, 0.0, 0.5, 0.9)]
    assert by_correlation == sorted(by_correlation, reverse=True)
    assert said(plan_auc_difference(0.9, 0.8, 0.01, correlation=0, n=1000)).startswith("only 10 errors expected")


@pytest.mark.parametrize("power", [0.3, 0.8, 0.99])
def test_planned_n_is_the_least_that_reaches_the_power(power):
    plan = plan_auc_difference(0.8, 0.7, 0.3, correlation=0.2, power=power)
    assert plan.power >= power > plan_auc_difference(0.8, 0.7, 0.3, correlation=0.2, n=plan.n - 1).power


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({}, "width", "missing", "got none"),
        ({"width": 0.1, "n": 90}, "width", "conflict", "got both"),
        ({"auc": 1.0, "n": 900}, "auc", "range", r"got 1\.0"),
        ({"rate": 0.0, "n": 900}, "error_rate", "range", r"got 0\.0"),
        ({"rate": np.nan, "n": 900}, "error_rate", "range", "got nan"),
        ({"rate": True, "n": 900}, "error_rate", "range", "got True"),
        ({"n": 19}, "n", "range", "at least 20.*got 19"),
        ({"n": 50.0}, "n", "range", r"got 50\.0"),
        ({"n": True}, "n", "range", "got True"),
        ({"width": -0.1}, "width", "range", r"got -0\.1"),
        ({"width": np.nan}, "width", "range", "got nan"),
        ({"width": 1e-12}, "width", "size", r"1e\+15"),
        ({"n": 90, "model": "t"}, "model", "choice", "got 't'"),
        ({"n": 90, "level": 2}, "level", "range", "got 2"),
    ],
)
def test_plan_auc_refuses(options, parameter, code, got):
    options = {"auc": 0.8, "rate": 0.1} | options
    with refuses(parameter, code, got=got):
        plan_auc(options.pop("auc"), options.pop("rate"), **options)


@pytest.mark.parametrize(
    ("errors", "scores", "parameter", "code", "got"),
    [
        ([0, 1, 0], [1, 2, 3], "errors", "empty", "got 1 and 2"),
        ([0, 1, 0, 1], [1, 2, 1, 2], "uncertainty", "undefined", "area is 1 with variance 0"),
        ([0, 1, 0, 0.5], [1, 2, 1, 2], "errors", "range", r"row 3 is 0\.5"),
        ([0, 1], [1, 2, 1], "uncertainty", "mismatch", "the 2 errors; got 3"),
        ([0, 1, np.nan], [1, 2, 1], "errors", "finite", "row 2"),
    ],
)
def test_pilots_of_errors_refuse(errors, scores, parameter, code, got):
    with refuses(parameter, code, got=got):
        plan_auc_from_pilot(errors, scores, n=90)


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"second": 0.8, "n": 90}, "second", "mismatch", r"both are 0\.8"),
        ({"correlation": 2, "n": 90}, "correlation", "range", "got 2"),
        ({"correlation": np.nan, "n": 90}, "correlation", "range", "got nan"),
        ({"power": 1.0}, "power", "range", r"got 1\.0"),
        ({}, "power", "missing", "got none"),
        ({"power": 0.8, "n": 90}, "power", "conflict", "got both"),
        ({"n": 19}, "n", "range", "got 19"),
    ],
)
def test_plan_auc_difference_refuses(options, parameter, code, got):
    options = {"second": 0.7, "correlation": 0} | options
    with refuses(parameter, code, got=got):
        plan_auc_difference(0.8, options.pop("second"), 0.1, **options)


# -- simulation -------------------------------------------------------------------------------------------------------


def width_ratio(auc, rate, width, n_samples, seed=0):
    """Mean width of `auc_estimate` at the planned n, divided by the requested width, and the plan."""
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
def test_mean_width_at_the_planned_n_is_the_requested_width(auc, rate, width):
    ratio, _ = width_ratio(auc, rate, width, 300)
    assert ratio == pytest.approx(1.0, abs=0.04)


def print_table(n_samples=2000):
    widths = (0.2, 0.1, 0.05)
    for rate in (0.05, 0.2, 0.5):
        for auc in (0.7, 0.85, 0.95):
            cells = [width_ratio(auc, rate, width, n_samples) for width in widths]
            print(f"{rate:5.2f} {auc:5.2f}", "  ".join(f"{r:.2f} ({p.n_errors:.0f})" for r, p in cells), flush=True)


if __name__ == "__main__":
    print_table()
