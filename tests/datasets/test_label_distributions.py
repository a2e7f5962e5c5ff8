"""Votes on CIFAR-10H, ReaL and OASST2, from files in their published forms."""

import gzip
import json

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.datasets.label_distributions import read_cifar10h, read_oasst2, read_real_labels, read_real_scores


def save_votes(folder, votes):
    (folder / "cifar-10h").mkdir(parents=True, exist_ok=True)
    np.save(folder / "cifar-10h" / "cifar10h-counts.npy", votes)
    (folder / "cifar-10h" / "cifar10h-counts.npy.checked.json").unlink(missing_ok=True)


def test_cifar_10h_against_the_real_votes(cifar10, own_cache):
    save_votes(own_cache, cifar10["human_counts"])
    votes = read_cifar10h()
    np.testing.assert_array_equal(votes.votes, cifar10["human_counts"])
    np.testing.assert_allclose(votes.probs().sum(axis=1), 1.0, rtol=1e-12)
    agreement = (votes.votes.argmax(axis=1) == cifar10["labels"]).mean()
    assert agreement == pytest.approx(0.992, abs=0.0005)  # as stated with the data
    assert votes.class_names[3] == "cat"


@pytest.mark.parametrize(
    ("votes", "code", "got"),
    [
        (np.ones((9999, 10), int), "shape", r"got int64 \(9999, 10\)"),
        (np.full((10000, 10), 0.1), "range", "smallest row has 1; get the counts, not shares"),
        (np.full((10000, 10), 2), "range", "smallest row has 20"),
        (np.where(np.arange(10) == 0, -1, 9) * np.ones((10000, 1), int), "range", "whole numbers"),
        (np.array([["a"] * 10] * 10000), "shape", "got <U1"),
    ],
)
def test_cifar_10h_that_is_not_what_it_should_be(votes, code, got, own_cache):
    save_votes(own_cache, votes)
    with refuses("votes", code, got=got, source="cifar10h-counts.npy"):
        read_cifar10h()


def save_real(folder, lists):
    (folder / "real").mkdir(parents=True, exist_ok=True)
    (folder / "real" / "real.json").write_text(json.dumps(lists))
    (folder / "real" / "real.json.checked.json").unlink(missing_ok=True)


def test_real_labels(own_cache):
    save_real(own_cache, [[3], [], [999, 0], [7, 8, 9]])
    real = read_real_labels()
    np.testing.assert_array_equal(real.ids, [0, 2, 3])  # the image without a label is left out
    assert real.votes.shape == (3, 1000)
    assert [np.flatnonzero(row).tolist() for row in real.votes] == [[3], [0, 999], [7, 8, 9]]
    np.testing.assert_allclose(real.probs()[2, 7], 1 / 3)


@pytest.mark.parametrize("lists", [{"a": 1}, [3], [[1000]], [[-1]], [["3"]], [[True]], [[]], []])
def test_real_labels_that_are_not_what_they_should_be(lists, own_cache):
    save_real(own_cache, lists)
    with refuses("labels", "type", got="0 … 999", source="real.json"):
        read_real_labels()


def test_real_scores_are_normalised_by_image(own_cache):
    (own_cache / "real").mkdir(parents=True)
    info = np.array(
        [["ILSVRC2012_val_02", "5"], ["ILSVRC2012_val_01", "7"], ["ILSVRC2012_val_02", "6"], ["val_03", "1"]]
    )
    path = own_cache / "real" / "scores.npz"
    np.savez(path, scores=np.array([0.9, 0.4, 0.3, 0.0]), info=info)
    real = read_real_scores()
    assert real.ids.tolist() == ["ILSVRC2012_val_01", "ILSVRC2012_val_02"]
    np.testing.assert_allclose(real.probs()[1, [5, 6]], [0.75, 0.25])
    np.testing.assert_allclose(real.probs()[0, 7], 1.0)
    path.with_name("scores.npz.checked.json").unlink()
    np.savez(path, scores=np.array([-0.9, 0.4]), info=info[:2])
    with refuses("arrays", "shape", got="negative scores", source="scores.npz"):
        read_real_scores()
    path.with_name("scores.npz.checked.json").unlink()
    np.savez(path, scores=np.array([0.9, 0.4]), info=np.array([["a", "5"], ["b", "1000"]]))
    with refuses("labels", "range", got="got 5 … 1000", source="scores.npz"):
        read_real_scores()


def save_messages(folder, lines):
    (folder / "oasst2").mkdir(parents=True, exist_ok=True)
    path = folder / "oasst2" / "mine.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    path.with_name("mine.jsonl.gz.checked.json").unlink(missing_ok=True)


def test_oasst2(own_cache):
    messages = [
        {"message_id": "m1", "labels": {"spam": {"value": 0.5, "count": 4}, "quality": {"value": 0.75, "count": 8}}},
        {"message_id": "m2", "labels": {"toxicity": {"value": 0.0, "count": 3}}},
        {"message_id": "m3", "labels": None},
        {"message_id": "m4", "labels": {"humor": {"value": 1.0, "count": 1}, "pii": {"value": 0.2, "count": 5}}},
    ]
    save_messages(own_cache, map(json.dumps, messages))
    votes = read_oasst2(file="mine.jsonl.gz")
    assert votes.ids.tolist() == ["m1", "m4"]
    np.testing.assert_allclose(votes.votes, [[2.0, 6.0], [1.0, 1.0]])
    np.testing.assert_allclose(votes.probs()[0], [0.25, 0.75])
    np.testing.assert_allclose(read_oasst2(file="mine.jsonl.gz", positive=("spam",)).votes[0], [6.0, 2.0])


@pytest.mark.parametrize(
    ("lines", "parameter", "code", "got"),
    [
        (['{"message_id": "a"}', "no json"], "line 2", "type", "JSONDecodeError"),
        (
            ['{"message_id": "a", "labels": {"spam": {"value": 2, "count": 1}}}'],
            "line 1",
            "type",
            "spam has value 2.0",
        ),
        (['{"labels": {"spam": {"value": 1, "count": 1}}}'], "line 1", "type", "message_id"),
        (["[1]"], "line 1", "type", "AttributeError"),
        (['{"message_id": "a", "labels": {}}'], "messages", "empty", "none has"),
    ],
)
def test_oasst2_that_is_not_what_it_should_be(lines, parameter, code, got, own_cache):
    save_messages(own_cache, lines)
    with refuses(parameter, code, got=got, source="mine.jsonl.gz"):
        read_oasst2(file="mine.jsonl.gz")


def test_oasst2_truncated_and_missing(own_cache):
    save_messages(own_cache, ['{"message_id": "a"}'] * 500)
    path = own_cache / "oasst2" / "mine.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with refuses("file", "unreadable", source="mine.jsonl.gz"):
        read_oasst2(file="mine.jsonl.gz")
    with refuses("oasst2/other.jsonl.gz", "missing"):
        read_oasst2(file="other.jsonl.gz")
