"""An ensemble whose members have cells of their own is that of one cell; it is left out if a member is missing."""

import numpy as np
import pytest
from tests.lab.papers.unified.made import images

from uqassay import Members, Point
from uqassay.lab.papers.given import GivenFiles
from uqassay.lab.papers.trainings import train_cells, trained_cells
from uqassay.lab.papers.unified.predictors import (
    incomplete_notes,
    joined,
    trained_data,
    training_cells,
    whole_predictions,
)


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def quiet(step):
    """Say nothing."""


def test_members_in_parts_are_the_ensemble(tmp_path):
    images(tmp_path / "data")
    changes = {"epochs": 1, "members": 3}
    (data,), _ = trained_data("cpu", "cifar-10", given=GivenFiles(tmp_path / "data"), changes=changes)
    apart = training_cells(data, predictors=["DE", "SNN"])
    assert [cell.method for cell in apart] == ["DE member 1", "DE member 2", "DE member 3", "SNN"]
    assert train_cells(apart, tmp_path / "run", workers=1, say=quiet) == {}
    found = {name: (said, kept) for name, said, kept in whole_predictions(apart, tmp_path / "run")}
    assert list(found) == ["DE", "SNN"]
    said, kept = found["DE"]
    assert isinstance(said, Members)
    assert said.probs.shape == (len(kept.labels), 3, 10)
    parts = [result.prediction.probs[:, 0] for _, result in trained_cells(apart[:3], tmp_path / "run")]
    np.testing.assert_array_equal(said.probs, np.stack(parts, axis=1))
    np.testing.assert_allclose(said.probs[:, 0], found["SNN"][0].probs, atol=1e-6)  # the first member is the SNN
    assert np.abs(parts[1] - parts[2]).max() > 1e-3

    assert [name for name, _, _ in whole_predictions([*apart[1:], apart[3]], tmp_path / "none")] == []
    lost = [*apart[:2], training_cells(data, predictors=["DE"], seed=1)[2], apart[3]]
    assert [name for name, _, _ in whole_predictions(lost, tmp_path / "run")] == ["DE", "SNN"]  # seed 1 is not whole
    assert incomplete_notes(apart, [apart[1].name, apart[3].name]) == [
        "DE with seed 0 on cifar-10 from data is left out, because 1 of its 3 parts failed"
    ]


def test_joined_members_keep_their_logits_only_if_all_have_them():
    p = np.array([[[0.6, 0.4]], [[0.5, 0.5]]])
    with_logits = Members(p, log_partition=np.array([[1.0], [2.0]]))
    both = joined([with_logits, with_logits])
    assert both.probs.shape == (2, 2, 2)
    np.testing.assert_array_equal(both.log_partition, [[1.0, 1.0], [2.0, 2.0]])
    assert joined([with_logits, Members(p)]).log_partition is None
    point = Point(p[:, 0])
    assert joined([point]) is point
