"""The map γ against scikit-learn's isotonic regression of every point, as paper 002 writes it."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.metrics.gain_worlds import zero_one
from tests.notes import codes, texts
from tests.refusals import refuses
from uqassay.calibration import EpistemicMap
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
