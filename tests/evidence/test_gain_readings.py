"""Conclusions from results of the gain, and how often they are false where there is nothing to find."""

import numpy as np
import pytest
from tests.evidence.gain_claims import claim_rates
from tests.evidence.gain_data import made_study

from uqassay.evidence.gain_readings import read_gain, side_of
from uqassay.statistics import Estimate


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [
        (0.1, 0.2, "above"),
        (-0.2, -0.1, "below"),
        (-0.1, 0.1, "unclear"),
        (0.0, 0.1, "unclear"),
        (np.nan, 1, "undefined"),
    ],
)
def test_sides_of_zero(low, high, side):
    assert side_of(Estimate(0.0, low=low, high=high, level=0.95, n=3, method="some")) == side


@pytest.mark.parametrize(
    ("kind", "order", "shown", "excess", "delay"),
    [
        ("calibrated", "above", False, "unclear", "above"),
        ("large", "above", True, "above", "above"),
        ("shuffled", "unclear", True, "unclear", "unclear"),
        ("reversed", "below", True, "above", "below"),
        ("constant", "undefined", False, "unclear", "unclear"),
    ],
)
@pytest.mark.parametrize("n_runs", [1, 5])
def test_what_studies_show(kind, order, shown, excess, delay, n_runs):
    found = read_gain(made_study(kind, n_runs=n_runs, n=2000, seed=5).result(bins=10, shares=(0.1,)))
    assert (found.order, found.raw.shown, found.raw.excess, found.delay.side) == (order, shown, excess, delay)
    assert found.gain == "above"
    assert found.delay.share == 0.1
    assert found.reduction == ("undefined" if n_runs == 1 else "above" if shown else found.reduction)
    assert found.raw.shown == (found.raw.pvalue <= 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "n"), [(1, 300), (3, 200)])
def test_claims_are_seldom_false(n_runs, n):
    """Each rate is at most 5 %; of 60 studies 9 or more would be false with a chance of .3 %."""
    rates = claim_rates(60, n_runs=n_runs, n=n, seed=1)
    for name in ("order", "delay", "not_calibrated", "size", "no_help"):
        assert getattr(rates, name) <= 8 / 60, rates


@pytest.mark.parametrize(("n_runs", "k"), [(1, 1), (2, 1), (3, 2), (6, 3)])
def test_pvalues_of_runs_that_may_depend_on_each_other(n_runs, k):
    """Rüger's bound: R/k times the k-th smallest; equal p-values of all runs are at most doubled."""
    result = made_study("calibrated", n_runs=n_runs, n=60, calibration=False).result(bins=5, shares=(0.1,))
    rising = sorted(run.raw.pvalue for run in result.runs)
    assert read_gain(result).raw.pvalue == pytest.approx(min(n_runs / k * rising[k - 1], 1.0))


def test_no_pvalue_for_one_instance():
    result = made_study("calibrated", n_runs=2, n=1, calibration=False).result(shares=(0.1,))
    found = read_gain(result).raw
    assert np.isnan(found.pvalue)
    assert not found.shown
