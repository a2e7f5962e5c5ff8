"""Conclusions from results of the gain, and how often they are false where there is nothing to find."""

import numpy as np
import pytest
from scipy import stats
from tests.evidence.gain_claims import claim_rates
from tests.evidence.gain_data import made_sample, made_study

from uqassay.evidence import GainRun, GainSample, GainStudy
from uqassay.evidence.gain_words import read_gain, side_of
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
    """If each rate is 5 %, 5 or more of 20 are false with a chance of .3 %, and if one is 45 %, with one of 98 %."""
    rates = claim_rates(20, n_runs=n_runs, n=n, seed=1)
    for name in ("order", "delay", "not_calibrated", "size", "no_help"):
        assert getattr(rates, name) <= 4 / 20, rates


@pytest.mark.parametrize("n_runs", [1, 2, 3, 6])
def test_pvalues_of_runs_together_against_the_cauchy_distribution(n_runs):
    result = made_study("calibrated", n_runs=n_runs, n=60, calibration=False).result(bins=5, shares=(0.1,))
    each = np.array([run.raw.pvalue for run in result.runs])
    expected = stats.cauchy.sf(stats.cauchy.isf(np.minimum(each, 0.99)).mean()) if n_runs > 1 else each[0]
    assert read_gain(result).raw.pvalue == pytest.approx(expected)


@pytest.mark.slow
def test_calibration_over_runs_that_share_their_instances_is_seldom_refused():
    """Of 25 studies of equal runs 6 or more would be refused with a chance of .1 %, if 5 % are; if 45 % are, with one of 99 %.

    Each run has small bins.
    """
    refused = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        whole = made_sample("calibrated", rng, 300)
        parts = [rng.permutation(300)[:200] for _ in range(4)]
        runs = [GainRun(r, rows_of(whole, rows)) for r, rows in enumerate(parts)]
        refused += read_gain(GainStudy("m", "", runs).result(bins=20, shares=(0.1,), cross_fit=0)).raw.shown
    assert refused <= 5


def rows_of(sample, rows):
    gains = {name: values[rows] for name, values in sample.gain.items()}
    estimates = {"mutual-information": sample.epistemic["mutual-information"][rows]}
    return GainSample(gains, estimates, sample.correct_before[rows], sample.correct_after[rows])


def test_no_pvalue_for_one_instance():
    result = made_study("calibrated", n_runs=2, n=1, calibration=False).result(shares=(0.1,))
    found = read_gain(result).raw
    assert np.isnan(found.pvalue)
    assert not found.shown
