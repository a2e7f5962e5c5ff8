"""Cross-fitted maps: folds, maps and null draws against the steps one by one; levels in `test_epistemic_gain_error_rates`."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from tests.metrics.gain_worlds import skewed, zero_one
from tests.notes import codes
from tests.refusals import refuses
from uqassay.calibration import EpistemicMap, cross_fitted_map
from uqassay.calibration.epistemic_map import CrossRefit, rising_means


@pytest.fixture(scope="module")
def drawn():
    return zero_one(np.random.default_rng(0), 1200, mean=0.1)


@pytest.fixture(scope="module")
def found(drawn):
    return cross_fitted_map(drawn.gain, 3 * drawn.epistemic)


def test_each_fold_is_mapped_by_the_others(drawn, found):
    e = 3 * drawn.epistemic
    assert np.bincount(found.folds).tolist() == [240] * 5
    for k in range(5):
        own = found.folds == k
        fitted = EpistemicMap().fit(e[~own], drawn.gain[~own], evaluation=e)
        np.testing.assert_array_equal(found.mapped[own], fitted.transform(e[own]))
        np.testing.assert_array_equal(found.fold_maps[k].knots, fitted.knots)
    np.testing.assert_array_equal(found.gain_map.knots, EpistemicMap().fit(e, drawn.gain, evaluation=e).knots)
    order = np.argsort(e).reshape(-1, 5)
    assert (np.sort(found.folds[order], axis=1) == np.arange(5)).all()  # each five in a row are in five folds


def test_error_is_that_of_each_fold_by_itself(drawn, found):
    e, own = 3 * drawn.epistemic, found.calibration
    assert own.n_bins == 4
    place = np.searchsorted(own.edges[1:-1], e, side="right")
    errors = {}
    for name, values in (("mapped", found.mapped), ("before", e)):
        cells = [(found.folds == k) & (place == j) for k in range(5) for j in range(4)]
        errors[name] = sum(abs((drawn.gain - values)[rows].sum()) for rows in cells) / 1200
        assert min(rows.sum() for rows in cells) == 60
    assert float(own.error) == pytest.approx(errors["mapped"])
    assert float(found.before) == pytest.approx(errors["before"])
    np.testing.assert_array_equal(own.count, np.bincount(place))
    np.testing.assert_allclose(own.mean_epistemic, np.bincount(place, found.mapped) / 300)
    assert own.error < found.before / 3
    # over the folds together the deviations cancel, for any estimates
    assert np.abs(own.mean_gain - own.mean_epistemic).mean() < float(own.error) / 3


@pytest.mark.parametrize(("levels", "groups"), [(0, 0), (12, 0), (0, 40)])
def test_null_draws_repeat_the_cross_fitting(levels, groups, monkeypatch):
    """With the deviations that were observed in the place of drawn ones, the null gives the observed error."""
    one = zero_one(np.random.default_rng(1), 300, mean=0.2, levels=levels, groups=groups)
    kept = []
    plain = CrossRefit.deviations

    def observed(self, drawn):
        cells = self.cells
        means = np.bincount(cells.fine, one.gain) / cells.count
        kept.append((cells, plain(self, (means - self.expected)[None])[0]))
        return plain(self, drawn)

    monkeypatch.setattr(CrossRefit, "deviations", observed)
    found = cross_fitted_map(one.gain, one.epistemic, groups=one.groups)
    ((cells, again),) = kept
    np.testing.assert_allclose(again, np.bincount(cells.fine, one.gain - found.mapped) / cells.count, atol=1e-12)


def test_rising_means_against_scipy():
    rng = np.random.default_rng(2)
    means, count = rng.random((20, 9)), rng.random(9) + 0.1
    expected = [isotonic_regression(row, weights=count).x for row in means]
    np.testing.assert_allclose(rising_means(means, count), expected)
    np.testing.assert_array_equal(rising_means(means[:, :1], count[:1]), means[:, :1])


def test_groups_stay_whole():
    one = zero_one(np.random.default_rng(3), 500, mean=0.2, groups=30)
    found = cross_fitted_map(one.gain, one.epistemic, groups=one.groups, n_folds=4)
    assert len(set(zip(one.groups, found.folds, strict=True))) == len(set(one.groups))
    assert found.n_folds == 4
    assert np.bincount(found.folds).min() > 80
    few = cross_fitted_map(one.gain, one.epistemic, groups=one.groups % 3)
    assert few.n_folds == 3
    assert np.isnan([few.calibration.pvalue, *few.calibration.null_band]).all()
    assert "no-test" in codes(few.calibration)


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_rising_gains_are_accepted_and_falling_ones_refused(world):
    rng = np.random.default_rng(4)
    one = world(rng, 4000, mean=0.1)
    right, wrong = (cross_fitted_map(one.gain, slope * one.epistemic).calibration for slope in (2.0, -1.0))
    assert right.pvalue > 0.01
    assert right.null_band[0] <= right.error <= right.null_band[1]
    assert right.debiased.low <= 0.01
    assert wrong.reject(0.001)
    assert wrong.debiased > 0.05


@pytest.mark.parametrize("estimates", [np.zeros(40), np.arange(40) % 2, np.linspace(0, 1, 40, dtype=np.float16)])
def test_ties_and_odd_arrays(estimates):
    gains = np.tile([0, 1, 0, -1], 20)[::2]
    gains.flags.writeable = False
    found = cross_fitted_map(gains, estimates, bins=3)
    assert np.isfinite([found.mapped.min(), found.calibration.error, found.calibration.pvalue]).all()
    again = cross_fitted_map(gains, estimates, bins=3, rng=0)
    np.testing.assert_array_equal(found.mapped, again.mapped)
    assert cross_fitted_map([0, 1], [0.1, 0.2]).n_folds == 2


def test_bad_input():
    with refuses("n_folds", "range", got="1"):
        cross_fitted_map([0, 1, 0], [0.1, 0.2, 0.3], n_folds=1)
    with refuses("epistemic", "empty", got="1 instance"):
        cross_fitted_map([0], [0.1])
    with refuses("epistemic", "empty", got="1 group"):
        cross_fitted_map([0, 1], [0.1, 0.2], groups=[1, 1])
    with refuses("gain", "mismatch"):
        cross_fitted_map([0, 1, 0], [0.1, 0.2])
    with refuses("epistemic", "finite"):
        cross_fitted_map([0, 1], [0.1, np.nan])
    with refuses("level", "range"):
        cross_fitted_map([0, 1], [0.1, 0.2], level=2)
