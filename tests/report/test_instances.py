"""Single instances for the page: their scores and credal sets, quantised."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.report.cases import HOSTILE, hostile_assay, softmax, unpack

import uqassay as uq
from uqassay.report.page import render
from uqassay.report.sections import InstancePacker, packed, packed_decimals, probability_codes, single_instances

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def hostile():
    return hostile_assay(subgroups={"<b>site": np.where(np.arange(120) < 50, "<i>A", "B & C")})


@pytest.mark.parametrize(("bits", "error"), [(8, 0.0035), (16, 1.3e-5)])
def test_probability_codes_round_trip(bits, error):
    p = np.linspace(0, 1, 5001)
    back = np.sin(probability_codes(p, bits) / (2**bits - 1) * np.pi / 2) ** 2
    np.testing.assert_allclose(back, p, atol=error)
    assert back[0] == 0
    assert back[-1] == 1


def test_instances_against_the_assay(hostile):
    held = single_instances(hostile)
    rows = unpack(held["rows"])
    for model in hostile.candidates:
        column = held["columns"][model.name]
        np.testing.assert_allclose(unpack(column["distance"]), model.columns["distance"][0][rows].round(3))
        np.testing.assert_array_equal(unpack(column["label"]), model.columns["label"][0][rows])
        sample, stored = hostile.sets[model.name], held["sets"][model.name]
        places = unpack(held["set_rows"])
        codes = unpack(stored["mean"])
        back = np.sin(codes / (2 ** held["bits"] - 1) * np.pi / 2) ** 2
        at = [int(np.flatnonzero(sample.rows == row)[0]) for row in rows[places]]
        np.testing.assert_allclose(back, sample.mean[at], atol=2e-5)
        for side, sign, ends in (("below", -1, sample.lower), ("above", 1, sample.upper)):
            if side in stored:
                moved = codes.astype(int) + sign * unpack(stored[side]).astype(int)
                own = np.sin(moved % 2 ** held["bits"] / (2 ** held["bits"] - 1) * np.pi / 2) ** 2
                np.testing.assert_allclose(own, ends[at], atol=2e-5)
    for kind, found in hostile.extreme_instances(20).items():
        assert rows[held["extremes"][kind]].tolist() == found.tolist()


def test_projected_points_against_the_sets(hostile):
    held = single_instances(hostile)
    three, codes = unpack(held["top_three"]), unpack(held["sets"][HOSTILE]["points"])
    points = hostile.sets[HOSTILE].points
    assert codes.shape == (*points.shape[:2], 2)
    chosen = np.take_along_axis(points, three[:, None, :].astype(int), axis=2)
    np.testing.assert_allclose(codes / 65534, (chosen / chosen.sum(axis=2, keepdims=True))[..., :2], atol=1e-5)


def test_the_label_is_a_corner_of_every_triangle():
    a = hostile_assay(n=60, k=8, names=None)
    held = single_instances(a)
    three = unpack(held["top_three"])
    rows = unpack(held["rows"])[unpack(held["set_rows"])][: len(three)]
    np.testing.assert_array_equal(three[:, 0], a.labels[rows])
    for corners, row in zip(three, rows, strict=True):
        upper = np.max([s.upper[s.rows == row][0] for s in a.sets.values()], axis=0)
        others = [c for c in np.argsort(-upper, kind="stable") if c != a.labels[row]]
        assert corners[1:].tolist() == others[:2]


def test_point_predictions_are_held_once(hostile):
    assert set(single_instances(hostile)["sets"]["%{x} {{js}}"]) == {"mean"}


def test_instances_fit_the_budget(monkeypatch):
    a = hostile_assay(n=2000, names=None)
    assert single_instances(a)["bits"] == 16
    monkeypatch.setattr("uqassay.report.sections.LEAST_SHOWN", 90_000)
    held = single_instances(a, taken=10**9)
    assert held["bits"] == 8
    assert held["set_rows"]["shape"][0] < 2000
    assert packed_size(held) <= 90_000
    assert set(unpack(held["sample"])) <= set(range(held["rows"]["shape"][0]))


def packed_size(tree):
    if not isinstance(tree, dict):
        return 0
    return len(tree["zlib"]) if "zlib" in tree else sum(map(packed_size, tree.values()))


def test_ids_and_other_data_count_towards_the_budget(monkeypatch):
    a = hostile_assay(n=2000, names=None)
    monkeypatch.setattr("uqassay.report.sections.LEAST_SHOWN", 0)
    monkeypatch.setattr("uqassay.report.sections.BUDGET", packed_size(single_instances(a)))
    assert single_instances(a)["bits"] == 16
    assert single_instances(a, taken=1)["bits"] == 8
    named = replace(a, ids=np.array([f"{i:040}" for i in range(2000)]))
    assert single_instances(named)["bits"] == 8


def test_decimals_round_trip_with_what_is_not_finite():
    for values in ([0.0, 0.0004, 1.2345, np.inf, np.nan], [70.0004, np.inf, np.nan, 0.1]):
        np.testing.assert_array_equal(unpack(packed_decimals(np.array(values))), np.round(values, 3))


def test_packed_is_little_endian_whatever_the_input():
    big = np.arange(5, dtype=">u2")
    np.testing.assert_array_equal(unpack(packed(big)), big)


def test_label_distributions():
    rng = np.random.default_rng(3)
    votes = rng.multinomial(20, [0.5, 0.3, 0.2], size=50)
    a = uq.assay({"m": uq.Members(softmax(rng.normal(size=(50, 4, 3))))}, votes)
    held = single_instances(a)
    shares = unpack(held["shares"])
    np.testing.assert_allclose(np.sin(shares / 65535 * np.pi / 2) ** 2, a.labels[unpack(held["rows"])], atol=1e-4)


@pytest.mark.parametrize("budget", [10**6, 60_000, 1])
def test_what_is_packed_ahead_is_the_same(monkeypatch, budget):
    a = hostile_assay()
    monkeypatch.setattr("uqassay.report.sections.BUDGET", budget)
    monkeypatch.setattr("uqassay.report.sections.LEAST_SHOWN", 1)
    expected = [single_instances(a, taken=taken) for taken in (20_000, 0)]
    for cores in (1, 2):
        monkeypatch.setattr("uqassay.report.sections.available_cores", lambda cores=cores: cores)
        with InstancePacker(a) as packer:
            packer.start()
            assert [packer.at(taken) for taken in (20_000, 0)] == expected


def test_a_page_that_fails_leaves_no_thread_behind(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    a, before = hostile_assay(), threading.active_count()
    monkeypatch.setattr("uqassay.report.page.payload", fail)
    with pytest.raises(ZeroDivisionError):
        render(a)
    assert threading.active_count() == before
