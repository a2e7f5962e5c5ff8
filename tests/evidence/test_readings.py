"""Three readings of one ensemble: each number is the metric of its own name, and averaging gains by Jensen's inequality."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import three_readings
from uqassay.evidence.sets import DEFINITIONS


def test_every_number_against_loops(random_generator):
    p = random_generator.dirichlet(np.ones(3), size=(50, 4))
    y = random_generator.integers(3, size=50)
    found = three_readings(y, p, tradeoff=0.3)
    mean, of_label = p.mean(axis=1), p[np.arange(50), :, y]
    entropy = -(p * np.log(p)).sum(axis=2).mean(axis=1)
    a = uq.assay({"m": p, "mean": mean}, y, tradeoffs=(0.3,), calibration=(), n_draws=10)
    table = a.table("findings").set_index(["model", "metric"])["estimate"]
    expected = {
        "unified": table["m", "unified"],
        "distance": np.mean(-np.log(of_label.max(axis=1))),
        "nonspecificity": table["m", "nonspecificity"],
        "coverage": float(uq.metrics.set_coverage_score(y, p)),
        "size": float(uq.metrics.mean_set_size(p)),
        "member_log_loss": np.mean(-np.log(of_label)),
        "member_accuracy": np.mean(p.argmax(axis=2) == y[:, None]),
        "mutual_information": np.mean(-(mean * np.log(mean)).sum(axis=1) - entropy),
        "log_loss": table["mean", "log-loss"],
        "brier": table["mean", "brier"],
        "accuracy": table["mean", "accuracy"],
        "ece": table["mean", "ece"],
    }
    expected["gain_of_averaging"] = expected["member_log_loss"] - expected["log_loss"]
    assert {name: float(getattr(found, name)) for name in DEFINITIONS} == pytest.approx(expected)
    assert found.gain_of_averaging > 0
    assert [row["metric"] for row in found.rows()] == [name.replace("_", "-") for name in DEFINITIONS]
    assert found.to_dict()["n_members"] == 4
    assert "4 members as set, as distribution and as mean" in found.summary()


def test_one_member_is_the_same_in_all_readings_and_groups_count():
    p = np.tile([[[0.7, 0.3]], [[0.4, 0.6]]], (5, 1, 1))
    found = three_readings([0, 0] * 5, p, groups=np.repeat(np.arange(5), 2))
    assert float(found.unified) == pytest.approx(float(found.log_loss))
    assert float(found.member_log_loss) == pytest.approx(float(found.log_loss))
    assert float(found.gain_of_averaging) == pytest.approx(0, abs=1e-12)
    assert float(found.member_accuracy) == float(found.coverage) == float(found.accuracy) == 0.5
    assert found.notes[0].code == "groups"


def test_whole_numbers_that_name_the_classes(random_generator):
    members, y = random_generator.dirichlet(np.ones(3), (30, 4)), random_generator.integers(0, 3, 30)
    named = uq.Members(members, class_names=["2", "0", "1"])
    assert repr(three_readings(np.array([2, 0, 1])[y], named)) == repr(three_readings(y, members))


def test_draws_of_second_order_distributions_and_refusals():
    drawn = three_readings([0, 1], uq.Dirichlet([[5.0, 1.0], [2.0, 2.0]]))
    assert drawn.n_members > 1
    with refuses("members", "no-members", "Point"):
        three_readings([0], [[0.5, 0.5]])
    with refuses("y_true", "shape"):
        three_readings([[1, 2]], [[[0.5, 0.5]]])
    with refuses("tradeoff"):
        three_readings([0], [[[0.5, 0.5]]], tradeoff=-1)
