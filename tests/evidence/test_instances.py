"""The instances worth looking at, against sorting by hand."""

import numpy as np
from tests.kinds import random_prediction

import uqassay as uq


def columns(assay, name):
    return np.stack([m.columns[name].mean(axis=0) for m in assay.candidates])


def test_extremes_against_sorting(random_generator):
    models = {name: random_prediction("Members", random_generator, 40, 3) for name in "abc"}
    found = uq.assay(models, np.arange(40) % 3, n_draws=20, calibration=())
    d, ns = columns(found, "distance"), columns(found, "nonspecificity")
    picks = found.extreme_instances(5)
    for name, value in (
        ("most epistemic", ns.max(axis=0)),
        ("most wrong", d.mean(axis=0)),
        ("most disputed", d.max(axis=0) - d.min(axis=0)),
    ):
        assert len(set(picks[name].tolist())) == 5
        assert value[picks[name]].tolist() == sorted(value.tolist(), reverse=True)[:5]


def test_ties_come_in_the_order_of_the_rows():
    found = uq.assay({"m": uq.Point(np.full((6, 2), 0.5))}, [0] * 6, n_draws=20, calibration=())
    assert found.extreme_instances(3)["most wrong"].tolist() == [0, 1, 2]
    assert len(found.extreme_instances(50)["most wrong"]) == 6


def test_a_single_model_has_no_dispute_and_infinite_distances_come_first():
    p = np.array([[0.5, 0.5], [0.0, 1.0], [0.9, 0.1]])
    one = uq.assay({"m": uq.Point(p)}, [0, 0, 0], floor=0, n_draws=20, calibration=())
    assert set(one.extreme_instances(2)) == {"most epistemic", "most wrong"}
    assert one.extreme_instances(2)["most wrong"].tolist() == [1, 0]
    two = uq.assay(
        {"m": uq.Point(p), "n": uq.Point(np.full((3, 2), 0.5))}, [0, 0, 0], floor=0, n_draws=20, calibration=()
    )
    assert two.extreme_instances(1)["most disputed"].tolist() == [1]
