"""The numbers of one run against the metrics they are made of, and against sums over intervals by hand."""

import numpy as np
import pytest
from tests.evidence.gain_data import made_study

from uqassay.calibration import cross_fitted_map
from uqassay.calibration.epistemic_map import EpistemicMap
from uqassay.evidence.gain import GainOptions, gain_of_run
from uqassay.metrics.epistemic_gain import (
    delay_curve_of_gains,
    epistemic_calibration_error,
    epistemic_correlation_score,
)


@pytest.fixture(scope="module")
def run():
    return made_study("large", n_runs=1, n=400, groups=4, truth=True).runs[0]


@pytest.fixture(scope="module")
def found(run):
    return gain_of_run(run, GainOptions("mutual-information", bins=10))


def test_numbers_against_the_metrics(run, found):
    g, e, groups = run.test.gain["zero-one"], run.test.epistemic["mutual-information"], run.test.groups
    assert float(found.correlation) == float(epistemic_correlation_score(g, e, groups=groups))
    raw = epistemic_calibration_error(g, e, bins=10, groups=groups)
    assert (float(found.raw.error), found.raw.pvalue) == (float(raw.error), raw.pvalue)
    delay = delay_curve_of_gains(g, e, shares=[0.1], groups=groups)
    at = int(np.flatnonzero(np.isclose(found.delay.shares, 0.1))[0])
    assert found.delay.gained[at] == pytest.approx(float(delay.gained[0]))
    assert float(found.above_random[at]) == pytest.approx(float(delay.above_random(0.1)))
    assert float(found.excess) == pytest.approx((e - g).mean())


def test_mapped_estimates_stay_in_the_intervals_of_the_estimates(run, found):
    g, e = run.test.gain["zero-one"], run.test.epistemic["mutual-information"]
    own = run.calibration
    fitted = EpistemicMap(n_bins=10).fit(own.epistemic["mutual-information"], own.gain["zero-one"], evaluation=e)
    mapped = fitted.transform(e)
    order = np.argsort(e, kind="stable").reshape(10, 40)  # ten intervals of forty instances, without ties
    error = np.mean([abs(g[rows].mean() - mapped[rows].mean()) for rows in order])
    assert float(found.calibrated.error) == pytest.approx(error, abs=1e-14)
    np.testing.assert_allclose(found.means["calibrated"], [mapped[rows].mean() for rows in order])
    np.testing.assert_allclose(found.means["gain"], [g[rows].mean() for rows in order])
    np.testing.assert_allclose(found.means["true"], [run.test.truth.epistemic[rows].mean() for rows in order])


def test_a_run_without_calibration_has_no_map():
    run = made_study(n_runs=1, n=100, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", cross_fit=0))
    assert found.gain_map is found.calibrated is found.excess_calibrated is None
    assert "calibrated" not in found.means


def test_without_calibration_the_map_is_cross_fitted():
    run = made_study(n_runs=1, n=400, groups=4, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=10, cross_fit=4))
    g, e = run.test.gain["zero-one"], run.test.epistemic["entropy"]
    expected = cross_fitted_map(g, e, bins=10, n_folds=4, groups=run.test.groups)
    assert float(found.calibrated.error) == float(expected.calibration.error)
    assert found.excess_calibrated is None
    assert found.gain_map.n_instances == 400
    place = np.searchsorted(found.raw.edges[1:-1], e, side="right")
    np.testing.assert_allclose(found.means["calibrated"], np.bincount(place, expected.mapped) / np.bincount(place))


def test_few_groups_are_not_cross_fitted():
    run = made_study(n_runs=1, n=90, groups=10, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=3))
    assert found.gain_map is found.cross_fit is found.calibrated is None
    assert any("9 groups for 5 folds" in note.text for note in found.notes)


def test_a_map_in_its_own_intervals():
    run = made_study(n_runs=1, n=400).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=10, map_bins="own"))
    fitted = EpistemicMap(bins="own", n_bins=10)
    fitted.fit(run.calibration.epistemic["entropy"], run.calibration.gain["zero-one"])
    np.testing.assert_array_equal(found.gain_map.transform([0.1, 0.5]), fitted.transform([0.1, 0.5]))
