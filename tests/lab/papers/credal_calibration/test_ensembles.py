"""Ensembles read from folders of prediction files."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.credal_calibration.protocol import steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.table1 import holds_training_data, read_ensembles


def test_every_ensemble_of_a_folder_is_read(ensembles):
    found, left_out = read_ensembles(ensembles)
    assert [(e.name, e.members.shape) for e in found] == [
        ("inner/questions, question 1", (60, 5, 2)),
        ("inner/questions, question 2", (60, 5, 2)),
        ("inner/single", (200, 1, 3)),
        ("three", (200, 3, 3)),
    ]
    assert found[3].member_names == ("true", "sharp", "flat")
    assert left_out == ["sets: Intervals is left out, because Table 1 is about ensembles"]


def test_what_cannot_be_read_is_one_sentence(tmp_path):
    with refuses("data", "missing"):
        read_ensembles(None)
    with refuses("data", "empty", got="has none"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5))
    with refuses("data", "empty", got="first a: left out, because no labels"):
        read_ensembles(tmp_path)
    np.save(tmp_path / "labels.npy", np.array([0, 1, 2, 0]))
    with refuses("data: labels of a", "range", got="holds 2"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5), gold=np.zeros((4, 2)))
    with refuses("arrays", "shape", source="a.npz"):
        read_ensembles(tmp_path)


def test_the_electrocardiograms_are_six_questions(shared):
    found, left_out = read_ensembles(shared / "data" / "ecg")
    assert [e.members.shape for e in found] == [(827, 10, 2)] * 6
    assert left_out == []
    accuracy = np.mean([(e.members.mean(axis=1).argmax(axis=1) == e.labels).mean() for e in found])
    assert accuracy == pytest.approx(0.988, abs=0.002)
    assert steps_of_credal_calibration(figure="table1", data=shared / "data" / "ecg") == 1


def test_text_is_not_said_to_be_pickled(tmp_path):
    (tmp_path / "probs.npz").write_text("0.1 0.9")
    with refuses("data", "unreadable", got="probs.npz does not"):
        holds_training_data(tmp_path)
