"""The map γ against scikit-learn's isotonic regression of every point, as epistemic gain writes it."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from tests.metrics.gain_worlds import skewed, zero_one
from tests.notes import codes, texts
from tests.refusals import refuses
from uqassay.calibration import EpistemicMap, cross_fitted_map
from uqassay.calibration.epistemic_map import CrossRefit, rising_means
from uqassay.errors import FileFormatError
from uqassay.metrics import epistemic_calibration_error, gain_bins

IsotonicRegression = pytest.importorskip("sklearn.isotonic").IsotonicRegression
seeds = st.integers(0, 2**32 - 1)


def of_the_paper(estimates, gains, edges):
    """Each point has its estimate as input and the mean gain of its interval as output; outer intervals are extended."""
    place = np.array([sum(e >= edge for edge in edges[1:-1]) for e in estimates])
    outputs = np.array([gains[place == m].mean() for m in place])
    return IsotonicRegression(out_of_bounds="clip").fit(estimates, outputs)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, n=st.integers(1, 80), levels=st.integers(1, 60), bins=st.sampled_from(["paper", "own"]))
def test_map_against_scikit_learn(seed, n, levels, bins):
    rng = np.random.default_rng(seed)
    estimates, gains = rng.integers(levels, size=n) / 40, rng.integers(-1, 2, n).astype(float)
    evaluation = rng.integers(levels, size=30) / 35 + 0.01 if bins == "paper" else None
    fitted = EpistemicMap(bins=bins, n_bins=8).fit(estimates, gains, evaluation=evaluation)
    edges = gain_bins(estimates if bins == "own" else evaluation, 8)
    np.testing.assert_array_equal(fitted.edges, edges)
    values = np.concatenate([estimates, np.linspace(-0.5, 2.5, 101)])
    np.testing.assert_allclose(
        fitted.transform(values), of_the_paper(estimates, gains, edges).predict(values), atol=1e-12
    )
    assert (np.diff(fitted.transform(np.sort(values))) >= 0).all()
    assert (np.abs(fitted.transform(values)) <= 1).all()
    place = np.searchsorted(edges[1:-1], estimates, side="right")
    assert fitted.n_empty == len(edges) - 1 - len(set(place))
    assert fitted.n_outside == ((estimates < edges[0]) | (estimates > edges[-1])).sum()


def test_calibration_mends_estimates_that_are_too_great():
    """γ learnt on one part makes entropies, which are far from the gain, as good as the truth on another part."""
    rng = np.random.default_rng(0)
    calibration, test = (zero_one(rng, 20_000, shift=0.3) for _ in range(2))
    fitted = EpistemicMap().fit(calibration.epistemic, calibration.gain, evaluation=test.epistemic)
    before = epistemic_calibration_error(test.gain, test.epistemic)
    after = epistemic_calibration_error(test.gain, fitted.transform(test.epistemic))
    assert before.error > 0.25
    assert after.error < 0.02
    assert np.abs(fitted.transform(test.epistemic) - test.true).mean() < 0.02


def test_empty_and_outer_intervals_are_counted():
    fitted = EpistemicMap(n_bins=4).fit([0.0, 0.9, 0.95], [0.0, 0.0, 1.0], evaluation=np.linspace(0.2, 0.8, 40))
    assert (fitted.n_empty, fitted.n_outside) == (2, 3)
    assert codes(fitted) == ["left-out", "assumption"]
    assert any(text.startswith("2 of 4 intervals") for text in texts(fitted))
    assert fitted.transform([0.0, 0.9, 0.95]).tolist() == [0.0, 0.5, 0.5]


def test_constant_and_falling_gains_give_a_constant_map():
    for gains in ([1.0, 0.0, -1.0], [0.0, 0.0, 0.0]):
        fitted = EpistemicMap(bins="own", n_bins=3).fit([0.1, 0.2, 0.3], gains)
        assert fitted.transform([-5.0, 0.2, 9.0]).tolist() == [0.0, 0.0, 0.0]
        assert "constant-scores" in codes(fitted)
    single = EpistemicMap(bins="own").fit([0.4], [1.0])
    assert single.transform([0.0, 1.0]).tolist() == [1.0, 1.0]
    assert single.knots.tolist() == [[0.4, 1.0]]


def test_infinite_estimates_have_the_end_values():
    fitted = EpistemicMap(bins="own", n_bins=2).fit([0.1, 0.9], [0.0, 1.0])
    assert fitted.transform([-np.inf, np.inf]).tolist() == [0.0, 1.0]


def test_saved_map_is_the_same(tmp_path):
    drawn = zero_one(np.random.default_rng(1), 500)
    fitted = EpistemicMap(n_bins=7).fit(drawn.epistemic, drawn.gain, evaluation=drawn.epistemic[:100] + 0.001)
    path = tmp_path / "map.json"
    fitted.save(path)
    loaded = EpistemicMap.load(path)
    for name in ("edges", "knots"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.n_instances, loaded.n_empty, loaded.n_outside) == (500, fitted.n_empty, fitted.n_outside)
    assert loaded.notes == fitted.notes
    np.testing.assert_array_equal(loaded.transform(drawn.epistemic), fitted.transform(drawn.epistemic))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"version": 2},
        {"knots": [[0.2, 0.0], [0.1, 0.5]]},
        {"knots": [[0.1, 0.5], [0.2, 0.0]]},
        {"knots": []},
        {"knots": [[0.1, None]]},
        {"edges": [0.5]},
        {"n_empty": None},
        None,
    ],
)
def test_damaged_files_are_refused(tmp_path, change):
    path = tmp_path / "map.json"
    EpistemicMap(bins="own").fit([0.1, 0.2], [0.0, 1.0]).save(path)
    if change is None:
        path.write_bytes(path.read_bytes()[:-5])
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with refuses("path", "unreadable", error=FileFormatError):
        EpistemicMap.load(path)


def test_scikit_learn_clones_it():
    from sklearn.base import clone

    copy = clone(EpistemicMap(bins="own", n_bins=5).fit([0.1, 0.2], [0.0, 1.0]))
    assert copy.get_params() == {"bins": "own", "n_bins": 5}
    assert not hasattr(copy, "knots")
    assert copy.set_params(n_bins=3).n_bins == 3
    assert repr(copy) == "EpistemicMap(bins='own', n_bins=3)"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_odd_arrays(dtype):
    estimates = np.arange(8).astype(dtype)[::-2]
    estimates.flags.writeable = False
    fitted = EpistemicMap(bins="own", n_bins=2).fit(estimates, np.array([1, 0, 0, 0], dtype=dtype))
    assert fitted.transform(estimates).tolist() == [0.5, 0.5, 0.0, 0.0]


def test_bad_input(tmp_path):
    with refuses("knots", "missing"):
        EpistemicMap().transform([0.1])
    with refuses("knots", "missing"):
        EpistemicMap().save(tmp_path / "map.json")
    with refuses("evaluation", "missing"):
        EpistemicMap().fit([0.1], [0.0])
    with refuses("evaluation", "conflict"):
        EpistemicMap(bins="own").fit([0.1], [0.0], evaluation=[0.1])
    with refuses("bins", "choice"):
        EpistemicMap(bins="ours").fit([0.1], [0.0])
    with refuses("bins", "range"):
        EpistemicMap(bins="own", n_bins=0).fit([0.1, 0.2], [0.0, 1.0])
    with refuses("gain", "mismatch"):
        EpistemicMap(bins="own").fit([0.1, 0.2], [0.0])
    with refuses("epistemic", "finite"):
        EpistemicMap(bins="own").fit([0.1, np.nan], [0.0, 1.0])
    with refuses("evaluation", "finite"):
        EpistemicMap().fit([0.1, 0.2], [0.0, 1.0], evaluation=[np.nan])
    with refuses("epistemic", "finite", got="row 1"):
        EpistemicMap(bins="own").fit([0.1, 0.2], [0.0, 1.0]).transform([0.1, np.nan])
    with refuses("params", "choice"):
        EpistemicMap().set_params(edges=3)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(tmp_path, make):
    make(tmp_path / "map.json")
    with refuses("path", "not-a-file", error=FileFormatError):
        EpistemicMap.load(tmp_path / "map.json")


# Cross-fitted maps: folds, maps and null draws against the steps one by one; levels in `test_epistemic_gain_error_rates`.


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
def test_ties_and_two_instances(estimates):
    gains = np.tile([0, 1, 0, -1], 20)[::2]
    found = cross_fitted_map(gains, estimates, bins=3)
    assert np.isfinite([found.mapped.min(), found.calibration.error, found.calibration.pvalue]).all()
    again = cross_fitted_map(gains, estimates, bins=3, rng=0)
    np.testing.assert_array_equal(found.mapped, again.mapped)
    assert cross_fitted_map([0, 1], [0.1, 0.2]).n_folds == 2


def test_bad_input_of_cross_fits():
    with refuses("n_folds", "range", got="1"):
        cross_fitted_map([0, 1, 0], [0.1, 0.2, 0.3], n_folds=1)
    with refuses("epistemic", "empty", got="1 instance"):
        cross_fitted_map([0], [0.1])
    with refuses("epistemic", "empty", got="1 group"):
        cross_fitted_map([0, 1], [0.1, 0.2], groups=[1, 1])
