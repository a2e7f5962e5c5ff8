"""Intervals of errors and out-of-distribution inputs together: degenerate samples, runs, groups, weights."""

import numpy as np
import pytest
from tests.metrics.ood.sides import sides
from tests.metrics.ood.test_scod_error_rates import RATES, coverage, draw, rejections
from tests.notes import said

from uqassay.metrics.ood import SCOD_METRICS, augrc, aurc, risk_at, scod_estimate, scod_samples

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
    assert "1 out-of-distribution instance: no interval" in said(found)
    known = scod_estimate([scod_samples([0] * 5 + [1] * 5, [0] * 10, range(10), error_cost=0.0)], risk_at(1.0))
    assert (known.low, float(known), known.high) == (0.5, 0.5, 0.5)
    assert "the given share and costs decide this number" in said(known)


def test_few_errors_are_noted():
    is_out, errors, s, _ = draw(np.random.default_rng(0), 100, 100, -3.6)
    errors[:100] = 0
    assert "no errors among the in-distribution instances" in said(
        scod_estimate([scod_samples(is_out, errors, s)], aurc)
    )
    errors[3] = 1
    assert "only 1 error among the in-distribution instances" in said(
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
