"""Prediction files that are made once, and again for other code, models or instances."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.ranking.made_predictions import FileJob, digest_of, make_missing, place_of

IDS = np.array(["a", "b"])


def job(name, made, **facts):
    def make():
        made.append(name)
        return {"logits": np.array([[0.0, 1.0], [2.0, 0.0]]), "ids": IDS}

    return FileJob(name, {"code": "x", **facts}, make)


def test_files_are_made_once_and_again_when_something_changes(tmp_path):
    made, said = [], []
    assert make_missing(tmp_path, [job("one", made), job("two", made)], said.append) == []
    assert made == ["one", "two"]
    assert said == ["making one.npz", "making two.npz"]
    prediction = uq.load(tmp_path / "one.npz")
    np.testing.assert_allclose(prediction.mean_probs()[0], [1 / (1 + np.e), np.e / (1 + np.e)])
    assert prediction.ids.tolist() == ["a", "b"]
    assert make_missing(tmp_path, [job("one", made), job("three", made)], said.append) == []
    assert made == ["one", "two", "three"]
    (note,) = make_missing(tmp_path, [job("one", made, code="y"), job("two", made)], said.append)
    assert made == ["one", "two", "three", "one"]
    assert note.endswith("one.npz")


def test_a_file_of_the_user_is_used_as_it_is(tmp_path):
    uq.save(uq.Point([[0.5, 0.5], [0.1, 0.9]], ids=IDS), tmp_path / "one.npz")
    before, made = (tmp_path / "one.npz").read_bytes(), []
    (note,) = make_missing(tmp_path, [job("one", made)], lambda step: None)
    assert note == "not made here and used as they are: one.npz"
    assert not made
    assert (tmp_path / "one.npz").read_bytes() == before


def test_an_interrupted_file_leaves_nothing(tmp_path):
    def stop():
        raise KeyboardInterrupt

    made = []
    with pytest.raises(KeyboardInterrupt):
        make_missing(tmp_path, [job("one", made), FileJob("two", {}, stop)], lambda step: None)
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]
    (tmp_path / "three.npz").write_bytes(b"damaged")
    with refuses("file", "unreadable", source="three.npz"):
        make_missing(tmp_path, [job("three", made)], lambda step: None)


def test_digests_and_folders(tmp_path):
    assert digest_of(["a", "bc"]) != digest_of(["ab", "c"])
    assert place_of(tmp_path / "new").is_dir()
    assert place_of(tmp_path) == tmp_path
    with refuses("data", "unwritable", got="No such file"):
        place_of(tmp_path / "a" / "b")
