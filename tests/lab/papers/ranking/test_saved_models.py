"""Models of a folder: members and their means, and the instances that each file holds."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.ranking.human_labels import HumanLabels, check_folder, each_model, model_files, sub_ensembles

N, K = 200, 3


@pytest.fixture
def human(folder):
    votes = np.load(folder / "human_counts.npy")
    ids = np.array([f"i{i:03d}" for i in range(N)])
    return HumanLabels("CIFAR10-H", np.load(folder / "labels.npy"), votes, np.arange(N), N, ids=ids)


def test_members_give_each_and_their_mean(folder, human):
    repaired: list[str] = []
    models = {model.name: model for model in each_model(folder, human, repaired)}
    assert list(models) == ["single", "three, member 1", "three, member 2", "three, member 3", "three, mean"]
    assert repaired == []
    members = uq.load(folder / "three.npz")
    np.testing.assert_array_equal(models["three, member 2"].prediction.mean_probs(), members.probs[:, 1])
    mean = models["three, mean"]
    np.testing.assert_allclose(mean.prediction.mean_probs(), members.probs.mean(axis=1), rtol=1e-12)
    assert [m.name for m in sub_ensembles(mean)] == [f"three, members {a} and {b}" for a, b in ((1, 2), (1, 3), (2, 3))]
    assert list(sub_ensembles(models["single"])) == []
    assert [path.name for path in model_files(folder)] == ["single.npz", "three.npz"]


def test_beliefs_that_are_none_are_repaired(folder, human):
    beliefs = np.tile([0.6, 0.5, 0.2, 1.0], (N, 1))  # singletons sum to more than 1
    np.savez(folder / "raw.npz", beliefs=beliefs, focal_sets=np.vstack([np.eye(3), np.ones(3)]).astype(bool))
    repaired: list[str] = []
    models = {model.name: model for model in each_model(folder, human, repaired)}
    assert repaired[0].startswith(f"raw: {N} of {N} rows of masses were repaired")
    np.testing.assert_allclose(models["raw"].prediction.mean_probs().sum(axis=1), 1.0)


def test_ids_name_some_of_the_instances_in_any_order(folder, human):
    assert human.ids is not None
    logits = np.random.default_rng(0).normal(size=(4, K))
    ids = np.array([human.ids[7], "unknown", human.ids[2], human.ids[5]])
    np.savez(folder / "a_part.npz", logits=logits, ids=ids)
    part = next(each_model(folder, human, []))
    assert part.name == "a_part"
    np.testing.assert_array_equal(part.labels, human.labels[[2, 5, 7]])
    np.testing.assert_array_equal(part.votes, human.votes[[2, 5, 7]])
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(part.prediction.mean_probs(), expected[[2, 3, 0]])
    np.savez(folder / "a_part.npz", logits=logits, ids=np.array(list("abcd")))
    with refuses("ids", "ids", got="none of the 4 does, such as a; name them as i000", source="a_part.npz"):
        next(each_model(folder, human, []))


def test_files_without_ids_hold_every_instance(folder, human):
    places = np.array([3, 1, 8])
    some = HumanLabels("CIFAR10-H", human.labels[places], human.votes[places], places, N, ids=None)
    model = next(each_model(folder, some, []))
    np.testing.assert_array_equal(model.prediction.mean_probs(), uq.load(folder / "single.npz").mean_probs()[places])
    uq.save(uq.Point(np.full((N - 1, K), 1 / K)), folder / "a_short.npz")
    with refuses("prediction", "mismatch", got="200 instances and 3 classes .*; got 199 and 3", source="a_short.npz"):
        next(each_model(folder, human, []))


def test_the_folder_must_be_there(tmp_path):
    assert check_folder(tmp_path, "files") == tmp_path
    for place in (None, tmp_path / "nowhere"):
        with refuses("data", "missing", got="; files"):
            check_folder(place, "files")
