"""Means over runs against Student's formula; one run keeps its own interval."""

import numpy as np
import pytest
from scipy import stats

from uqassay.evidence.over_runs import OVER_RUNS, curve_over_runs, estimate_over_runs
from uqassay.notes import Note
from uqassay.statistics import Estimate


def plain(value, **more):
    return Estimate(value, **({"low": np.nan, "high": np.nan, "level": 0.95, "n": 9, "method": "some"} | more))


def test_mean_and_interval_against_scipy():
    values = [0.1, 0.3, 0.25, 0.4]
    found = estimate_over_runs([plain(v) for v in values], level=0.9)
    expected = stats.t.interval(0.9, 3, np.mean(values), stats.sem(values))
    assert float(found) == pytest.approx(np.mean(values))
    assert (found.estimate.low, found.estimate.high) == pytest.approx(expected)
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    assert (found.estimate.method, found.estimate.n) == (OVER_RUNS, 4)
    cut = estimate_over_runs([plain(v) for v in values], bounds=(0.0, 1.0)).estimate
    assert cut.low >= 0


def test_one_run_keeps_its_interval():
    found = estimate_over_runs([plain(0.2, low=0.1, high=0.3)])
    assert (found.estimate.low, found.estimate.high) == (0.1, 0.3)
    assert found.estimate.method == "some over instances, 1 run"
    assert np.isnan(found.sd)


def test_an_undefined_run_is_told():
    runs = [plain(0.2), plain(np.nan, notes=[Note("undefined", "all gains are equal")])]
    found = estimate_over_runs(runs).estimate
    assert np.isnan(found)
    assert [note.text for note in found.notes] == ["all gains are equal", "undefined in 1 of 2 runs"]


def test_curves_against_scipy():
    values = np.random.default_rng(0).normal(size=(5, 3))
    found = curve_over_runs(values)
    low, high = stats.t.interval(0.95, 4, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(found.mean, values.mean(axis=0))
    np.testing.assert_allclose(found.sd, values.std(axis=0, ddof=1))
    np.testing.assert_allclose([found.low, found.high], [low, high])
    alone = curve_over_runs(values[:1], ends=(values[0] - 1, values[0] + 1))
    np.testing.assert_allclose(alone.high, values[0] + 1)
    assert np.isnan(alone.sd).all()
    assert np.isnan(curve_over_runs([[np.nan, 1.0]]).mean).tolist() == [True, False]
