"""The rules of a division: parts without a common row, the account of balls, and what is refused."""

import numpy as np
import pytest
from tests.notes import codes, texts
from tests.refusals import refuses

from uqassay.lab.datasets.ball_split import ADDED, TEST, TRAIN, TakenBalls, division_of


@pytest.fixture
def two_balls():
    taken = TakenBalls(8)
    taken.take(np.array([0.0]), 0, np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool), 1)
    taken.take(np.array([1.0]), 1, np.array([0, 0, 1, 1, 1, 0, 0, 0], dtype=bool), 1)
    return taken


def test_the_first_ball_keeps_its_points(two_balls):
    assert two_balls.ball.tolist() == [0, 0, 0, 0, 1, -1, -1, -1]
    assert two_balls.n_overlapping == 2
    two_balls.take(np.array([2.0]), 2, np.array([0, 0, 1, 0, 0, 1, 0, 0], dtype=bool), 2)
    assert (two_balls.n_skipped, two_balls.fullest, len(two_balls.centres)) == (1, 4, 2)
    assert two_balls.ball[5] == -1


def test_account(two_balls):
    place = np.array([TRAIN, TEST, ADDED, ADDED, TEST, TRAIN, TRAIN, TRAIN], dtype=np.int8)
    found = division_of(place, two_balls, 1.5, None, [])
    assert found.train.tolist() == [0, 5, 6, 7]
    assert found.test.tolist() == [1, 4]
    assert found.augmented.tolist() == [0, 2, 3, 5, 6, 7]
    assert found.counts.tolist() == [[1, 1, 2], [0, 1, 0]]
    assert found.sizes == {"train": 4, "test": 2, "augmented": 6, "balls": 2, "overlapping": 2}
    assert codes(found) == ["parts", "overlap"]
    assert texts(found)[0].startswith("2 balls with 5 of 8 points: 1 in the training set, 2 in the test set, 2 only")


def test_parts_that_are_empty(two_balls):
    with refuses("train_share", "empty", got="training set"):
        division_of(np.array([TEST, ADDED] * 4, dtype=np.int8), two_balls, 1.0, None, [])
    with refuses("train_share", "empty", got="augmented set"):
        division_of(np.array([TEST, TRAIN] * 4, dtype=np.int8), two_balls, 1.0, None, [])


def test_a_class_that_the_balls_exhaust_is_named(two_balls):
    place = np.array([TRAIN, TEST, ADDED, ADDED, TEST, TRAIN, TRAIN, TRAIN], dtype=np.int8)
    labels = np.array(["a", "b", "c", "b", "b", "a", "a", "d"])
    with refuses("y", "empty", got=r"2 classes: b \(3 instances\) and c \(1 instance\)") as refusal:
        division_of(place, two_balls, 1.0, labels, [])
    assert refusal.value.facts["classes"] == ["b", "c"]
    labels[[5, 6]] = ["b", "c"]
    assert division_of(place, two_balls, 1.0, labels, []).sizes["train"] == 4
