"""Intervals of binned calibration errors; their coverage is in `tests.metrics.calibration.test_error_coverage`."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import calibration_error_estimate, confidence_calibration_error
from uqassay.metrics.calibration import error_estimate_of_hits


@pytest.fixture
def data(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 300)
    return random_generator.integers(0, 4, 300), probs


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_values_are_those_of_the_measures_without_intervals(data, binning):
    options = {"binning": binning, "n_bins": 7}
    found = {norm: calibration_error_estimate(*data, norm=norm, **options) for norm in ("l1", "l2", "squared")}
    assert found["l1"] == pytest.approx(confidence_calibration_error(*data, **options), abs=1e-14)
    squared = confidence_calibration_error(*data, norm="squared", debiased=True, **options)
    assert found["squared"] == pytest.approx(squared, abs=1e-14)
    assert found["l2"] == pytest.approx(squared**0.5, abs=1e-14)
    for e in found.values():
        assert e.low <= e <= e.high
        assert (e.n, e.level) == (300, 0.95)
        assert "7 equal-" in e.method
    assert found["l2"].low == pytest.approx(found["squared"].low ** 0.5)
    assert found["l2"].high == pytest.approx(found["squared"].high ** 0.5)


def test_grouped_value_against_a_loop_over_pairs(data, random_generator):
    y, probs = data
    groups = random_generator.integers(0, 9, 300)
    d = probs.max(axis=1) - (probs.argmax(axis=1) == y)
    place = np.ceil(probs.max(axis=1) * 10).astype(int)
    wanted = 0.0
    for b in np.unique(place):
        rows = np.flatnonzero(place == b)
        pairs = [d[i] * d[j] for i in rows for j in rows if groups[i] != groups[j]]
        wanted += len(rows) / 300 * np.mean(pairs) if pairs else 0.0
    found = calibration_error_estimate(y, probs, norm="squared", groups=groups)
    assert found == pytest.approx(wanted, abs=1e-12)
    assert [note.text for note in found.notes] == ["9 groups"]
    alone = calibration_error_estimate(y, probs, norm="squared", groups=np.arange(300))
    assert alone == pytest.approx(calibration_error_estimate(y, probs, norm="squared"), abs=1e-12)


def test_one_bin_against_the_exact_interval_of_a_share():
    hits = np.repeat([1.0, 0.0], [60, 40])
    found = error_estimate_of_hits(hits, np.full(100, 0.9), n_bins=1)
    exact = uq.statistics.proportion_estimate(hits)
    assert found == pytest.approx(0.3)
    assert (found.low, found.high) == pytest.approx((0.9 - exact.high, 0.9 - exact.low), abs=0.02)


def test_note_on_the_value_of_a_calibrated_classifier_against_theory():
    confidence = np.full(400, 0.75)
    found = error_estimate_of_hits(np.repeat([1.0, 0.0], [300, 100]), confidence)
    assert (found, found.low) == (0, 0)
    (note,) = found.notes
    assert note.code == "bias"
    assert note.facts["calibrated"] == pytest.approx((2 / np.pi * 0.75 * 0.25 / 400) ** 0.5, rel=0.05)
    assert 0.04 < found.high < 0.07  # gaps that are 0 by luck


def test_certain_and_right_leaves_the_rule_of_three():
    found = error_estimate_of_hits(np.ones(100), np.ones(100))
    assert (found, found.low) == (0, 0)
    assert found.high == pytest.approx(-np.log(0.025) / 100, rel=0.15)


def test_few_groups_widen_the_interval(data):
    y, probs = data
    widths = [
        (e.low, e.high) for g in (2, 30, 300) for e in [calibration_error_estimate(y, probs, groups=np.arange(300) % g)]
    ]
    assert widths[0][0] == 0
    assert widths[0][1] > widths[1][1]
    one = calibration_error_estimate(y, probs, groups=np.zeros(300))
    assert np.isnan(one.low)
    assert [note.code for note in one.notes] == ["groups", "no-interval"]


def test_draws_do_not_depend_on_the_order_of_rows_or_names_of_groups(data):
    y, probs = data
    order = np.random.default_rng(3).permutation(300)
    for groups in (None, np.arange(300) // 10):
        first = calibration_error_estimate(y, probs, groups=groups)
        names = None if groups is None else np.array([f"g{g}" for g in groups])
        again = calibration_error_estimate(y, probs, groups=names)
        assert (first.low, first.high) == (again.low, again.high)
    moved = calibration_error_estimate(y[order], probs[order])
    first = calibration_error_estimate(y, probs)
    assert (moved.low, moved.high) == pytest.approx((first.low, first.high), abs=1e-9)


@pytest.mark.parametrize("norm", ["l1", "l2", "squared"])
def test_ordinary_inputs(norm):
    one = calibration_error_estimate([1], [[0.25, 0.75]], norm=norm)
    if norm == "l1":
        assert one == 0.25
        assert one.high > 0.7
    else:
        assert np.isnan([one, one.low, one.high]).all()
        assert one.notes[0].code == "undefined"
    half = np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]], np.float16)
    half.flags.writeable = False
    assert calibration_error_estimate([0, 0, 1, 1], half[[0, 1, 2, 2]][::-1], norm=norm).high <= 1
    flat = calibration_error_estimate([0] * 8, np.full((8, 2), 0.5), norm=norm)
    assert flat.high == pytest.approx(0.25 if norm == "squared" else 0.5)
    soft = error_estimate_of_hits([0.5, 1.0, 0.25, 0.75], [0.9, 0.95, 0.1, 0.9], norm=norm, n_bins=2)
    assert soft.low <= soft <= soft.high


def test_members_are_judged_by_their_mean(data):
    y, probs = data
    members = np.stack([probs, probs[:, ::-1]], axis=1)
    assert calibration_error_estimate(y, uq.Members(members)) == calibration_error_estimate(y, members.mean(axis=1))


def test_refuses():
    y, probs = [0, 1], [[0.5, 0.5], [0.2, 0.8]]
    with refuses("norm", "choice"):
        calibration_error_estimate(y, probs, norm="max")
    with refuses("level", "range"):
        calibration_error_estimate(y, probs, level=95)
    with refuses("groups", "shape"):
        calibration_error_estimate(y, probs, groups=[1])
    with refuses("n_bins", "range"):
        calibration_error_estimate(y, probs, n_bins=0)


def test_three_networks_on_cifar_10(cifar10):
    probs = cifar10["three"]
    found = calibration_error_estimate(cifar10["labels"], probs.mean(axis=1))
    assert 0.005 < found.low < 0.0132 < found.high < 0.02
