"""Divisions of the data of a run, and those inside D_train."""

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Rows, stripes
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.gain.worlds import GainTask, check_splitter, divided_run


def task(split, calibration=None, k=3):
    X, y = stripes(k=k)
    return GainTask(X=X, y=y, class_names=tuple("abcdef"[:k]), split=split, calibration=calibration)


def test_the_calibration_lies_inside_the_training_part():
    split, inner = Corner(), Corner(edge=0.9, train_share=0.2)
    found = divided_run(task(split, inner), 7)
    outer, inside = found.evaluation, found.calibration
    assert set(inside.test) | set(inside.augmented) == set(outer.train)
    assert not set(inside.test) & set(inside.augmented)
    assert set(inside.train) < set(inside.augmented)
    X = stripes()[0]
    assert (X[outer.test] > 0.4).all()
    assert (X[inside.test] > 0.1).all()
    assert found.sizes == {
        "D_train": len(outer.train),
        "D_aug": len(outer.augmented),
        "D_test": len(outer.test),
        "D_train2": len(inside.train),
        "D_aug2": len(inside.augmented),
        "D_test2": len(inside.test),
    }
    assert (found.n_trainings, divided_run(task(split), 7).n_trainings) == (4, 2)


def test_seeds_decide_and_the_calibration_has_its_own():
    one, again, other = (divided_run(task(Corner(), Corner()), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.calibration.test, again.calibration.test)
    assert set(one.evaluation.test) != set(other.evaluation.test)
    alone = divided_run(task(Corner()), 1)
    np.testing.assert_array_equal(alone.evaluation.test, one.evaluation.test)
    assert alone.calibration is None


def test_balls_with_their_notes():
    split = uq.lab.datasets.BallSplit(0.3, centres=[[0.5, 0.5]], train_share=0.2, test_share=0.4)
    found = divided_run(task(split), 0)
    assert [note.code for note in found.evaluation.notes] == ["parts"]
    X = stripes()[0]
    assert (np.linalg.norm(X[found.evaluation.test] - 0.5, axis=1) <= 0.3).all()
    with refuses("split.radius", "size"):
        divided_run(task(uq.lab.datasets.BallSplit(3.0, centres=[[0.5, 0.5]])), 0)
    with refuses("split.radius", "empty"):
        divided_run(task(uq.lab.datasets.BallSplit(0.1, centres=[[5.0, 5.0]])), 0)
    twice = divided_run(task(split, uq.lab.datasets.BallSplit(0.2, centres=[[0.2, 0.2]])), 0)
    assert twice.calibration.notes[0].text.startswith("inside D_train: 1 ball with")
    inside = uq.lab.datasets.BallSplit(0.3, centres=[[5.0, 5.0]])
    with refuses("calibration.radius", "empty"):
        divided_run(task(split, inside), 0)


EVERY = np.arange(240)


@pytest.mark.parametrize(
    ("train", "test", "augmented", "code", "got"),
    [
        (EVERY[:100], [], EVERY, "empty", "must give test instances; got none in the run of seed 3"),
        ([], EVERY[:10], EVERY[10:], "empty", "must give train instances"),
        (EVERY[:100], EVERY[100:], EVERY[:100], "empty", "and more instances; got none"),
        (EVERY[:100], EVERY[200:], EVERY[1:200], "empty", "1 row of D_train is missing"),
        (EVERY[:100], EVERY[100:], EVERY, "conflict", "140 rows in both"),
        (EVERY[:100], EVERY[99:], EVERY[:99], "conflict", "1 row in both"),
        (EVERY[:100], [240], EVERY, "range", "0 … 239 at most once; got test rows from 240"),
        (EVERY[:100], [-1], EVERY, "range", "rows from -1"),
        (EVERY[:100], [200, 200], EVERY[:200], "range", "at most once"),
        (EVERY[:100], [0.5], EVERY, "shape", "float64 for test"),
        (EVERY[:100], EVERY[:, None], EVERY, "shape", r"\(240, 1\)"),
        (EVERY[:100], None, EVERY, "shape", "got none for test"),
        (EVERY[:100], EVERY > 200, EVERY, "shape", "bool for test; take np.flatnonzero"),
        (EVERY[:100], [[200], [201, 202]], EVERY[:200], "ragged", "for test"),
    ],
)
def test_parts_that_are_refused(train, test, augmented, code, got):
    with refuses("split", code, got):
        divided_run(task(Rows(train, test, augmented)), 3)


def test_classes_of_the_training_part():
    y = stripes()[1]
    none, ones, twos = (np.flatnonzero(y == k) for k in range(3))
    with refuses("split", "empty", got="only 'a' in the run of seed 0"):
        divided_run(task(Rows(none, ones, np.r_[none, twos])), 0)
    split = Rows(np.r_[none, ones], twos[:20], np.r_[none, ones, twos[20:]])
    assert len(divided_run(task(split), 0).evaluation.test) == 20
    with refuses("split", "empty", got="D_train lacks 'c' in the run of seed 0"):
        divided_run(task(split), 0, losses=("zero-one", "log"))
    with refuses("calibration", "empty", got="D_train of the run of seed 0"):
        divided_run(task(Corner(), Rows([0, 1], [], [0, 1, 2])), 0)


def test_objects_without_divide():
    for wrong in (3, None, Corner, object()):
        with refuses("split", "type", got="divide"):
            check_splitter(wrong, "split")
