"""Rows and labels of each condition."""

from itertools import pairwise

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.papers.disentangling.trainings import Conditions, training_sets


def data(counts=(40, 61, 100), test=(5, 7, 9), seed=0):
    rng = np.random.default_rng(seed)
    y, y_test = (rng.permutation(np.repeat(np.arange(len(n)), n)) for n in (counts, test))
    x, x_test = (np.arange(len(labels), dtype=float)[:, None] for labels in (y, y_test))
    return Dataset("made", x, y, x_test, y_test, class_names=tuple("abcdef"[: len(counts)]))


def sets(conditions=None, seed=3, given=None):
    found = {}
    for one in training_sets(given or data(), conditions or Conditions(), seed):
        found.setdefault(one.experiment, []).append(one)
    return found


def test_the_papers_conditions():
    found = sets()
    assert [one.value for one in found["dataset-size"]] == [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
    np.testing.assert_allclose([one.value for one in found["label-noise"]], np.arange(11) / 10)
    assert [one.value for one in found["left-out-class"]] == [0, 1, 2]
    assert [one.epochs(100) for one in found["dataset-size"]] == [10_000, 2000, 1000, 400, 200, 133, 100]
    assert {one.epochs(100) for name in ("label-noise", "left-out-class") for one in found[name]} == {100}


def test_shares_hold_at_least_one_instance_of_each_class_and_are_nested():
    given = data()
    found = sets()["dataset-size"]
    expected = {
        0.01: (1, 1, 1),
        0.05: (2, 3, 5),
        0.1: (4, 6, 10),
        0.25: (10, 15, 25),
        0.75: (30, 45, 75),
        1.0: (40, 61, 100),
    }
    for one in found:
        np.testing.assert_array_equal(one.y_train, given.y_train[one.rows])
        np.testing.assert_array_equal(one.y_test, given.y_test)
        assert len(set(one.rows)) == len(one.rows)
        if one.value in expected:
            assert tuple(np.bincount(one.y_train)) == expected[one.value]
    for small, large in pairwise(found):
        assert set(small.rows) < set(large.rows)


def test_runs_have_their_own_subsets_noise_and_seeds_and_repeat():
    first, again, other = sets(seed=3), sets(seed=3), sets(seed=4)
    for name, ones in first.items():
        for one, same, different in zip(ones, again[name], other[name], strict=True):
            np.testing.assert_array_equal(one.rows, same.rows)
            np.testing.assert_array_equal(one.y_train, same.y_train)
            assert one.seed.generate_state(1) == same.seed.generate_state(1) != different.seed.generate_state(1)
    assert set(first["dataset-size"][1].rows) != set(other["dataset-size"][1].rows)
    assert (first["label-noise"][5].y_test != other["label-noise"][5].y_test).any()
    seeds = {int(one.seed.generate_state(1)[0]) for runs in (first, other) for ones in runs.values() for one in ones}
    assert len(seeds) == 2 * 21


def test_a_condition_does_not_depend_on_the_others():
    few = sets(Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.4, 1.0), left_out=(1,)))
    for name, ones in few.items():
        for one in ones:
            same = next(other for other in sets()[name] if other.value == one.value)
            np.testing.assert_array_equal(one.rows, same.rows)
            np.testing.assert_array_equal(one.y_train, same.y_train)
            assert one.seed.generate_state(1) == same.seed.generate_state(1)


def test_label_noise_permutes_labels_among_nested_rows_of_both_parts():
    n = 2000
    labels = np.arange(n) % 100  # so many classes that a permuted row keeps its label rarely
    x = np.zeros((n, 1))
    given = Dataset("made", x, labels, x, labels, class_names=tuple(map(str, range(100))))
    found = sets(Conditions(shares=(), left_out=()), given=given)["label-noise"]
    for part in ("y_train", "y_test"):
        changed = [set(np.flatnonzero(getattr(one, part) != labels)) for one in found]
        assert changed[0] == set()
        for one, rows in zip(found, changed, strict=True):
            np.testing.assert_array_equal(np.sort(getattr(one, part)), np.sort(labels))
            assert 0.95 * one.value * n - 10 <= len(rows) <= one.value * n + 1e-6
        order = [changed[i + 1] - changed[i] for i in range(10)]
        for i, later in enumerate(order):  # rows that change first at a level were not chosen before, but for chance
            assert len(later & changed[i]) == 0
            assert len(changed[i] - changed[i + 1]) < 0.05 * n
    assert (found[10].y_train != found[10].y_test).any()


def test_a_class_left_out_is_missing_in_training_alone():
    given = data()
    for one in sets()["left-out-class"]:
        assert set(one.y_train) == {0, 1, 2} - {one.left_out}
        np.testing.assert_array_equal(one.rows, np.flatnonzero(given.y_train != one.left_out))
        np.testing.assert_array_equal(one.y_test, given.y_test)


def test_the_authors_conventions():
    conditions = Conditions(convention="paper-code")
    np.testing.assert_allclose(conditions.noise_levels, np.linspace(0, 1, 10))
    given = data()
    for seed in (0, 1):
        for one in sets(conditions, seed=seed)["dataset-size"]:
            first = [np.flatnonzero(given.y_train == k) for k in range(3)]
            rows = np.concatenate([of_k[: max(1, int(one.value * len(of_k)))] for of_k in first])
            np.testing.assert_array_equal(one.rows, np.sort(rows))


def test_epochs_may_stay():
    found = sets(Conditions(epochs_by_share=False))["dataset-size"]
    assert {one.epochs(7) for one in found} == {7}


def test_two_classes_leave_none_out():
    two = data(counts=(20, 20), test=(4, 4))
    assert "left-out-class" not in sets(given=two)
    with refuses("left_out", "conflict", got="got 2"):
        sets(Conditions(left_out=(0,)), given=two)


def test_conditions_as_plain_values():
    for conditions in (Conditions(), Conditions(shares=(), left_out=(0, 2)), Conditions(convention="paper-code")):
        assert Conditions.from_dict(conditions.to_dict()) == conditions


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"shares": (0.1, 1.0)}, "shares", "empty", "2 conditions"),
        ({"noise_levels": (0.5,)}, "noise_levels", "empty", "1 condition"),
        ({"shares": (0.0, 0.5, 1.0)}, "shares", "range", "got 0.0"),
        ({"shares": (0.1, 0.5, 1.1)}, "shares", "range", "got 1.1"),
        ({"noise_levels": (0.0, 0.5, -0.1)}, "noise_levels", "range", "got -0.1"),
        ({"noise_levels": (0.0, 0.5, float("nan"))}, "noise_levels", "range", "got nan"),
        ({"shares": (0.1, 0.5, 0.5)}, "shares", "duplicate", "0.5 occurs more than once"),
        ({"shares": ("1", 0.5, 1.0)}, "shares", "type", "got '1'"),
        ({"shares": "all"}, "shares", "type", "got 'all'"),
        ({"left_out": (0, 0)}, "left_out", "duplicate", "0 occurs more than once"),
        ({"left_out": "some"}, "left_out", "choice", "got 'some'"),
        ({"left_out": (0.5,)}, "left_out", "type", "got 0.5"),
        ({"epochs_by_share": "no"}, "epochs_by_share", "type", "got 'no'"),
        ({"convention": "paper"}, "convention", "choice", "got 'paper'"),
        ({"shares": (), "noise_levels": (), "left_out": ()}, "shares", "empty", "all three"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        Conditions(**options)


def test_classes_that_vanish_are_refused():
    with refuses("y", "empty", got="'b' has none in 30 training instances"):
        sets(given=data(counts=(10, 0, 20)))
    with refuses("left_out", "empty", got="'c' has no test instance"):
        sets(given=data(test=(3, 3, 0)))
    assert len(sets(Conditions(left_out=(0, 1)), given=data(test=(3, 3, 0)))["left-out-class"]) == 2
    with refuses("left_out", "empty", got="'a' has all test instances"):
        sets(Conditions(left_out=(0,)), given=data(test=(3, 0, 0)))
    with refuses("left_out", "range", got="got 3"):
        sets(Conditions(left_out=(3,)))
    with refuses("X_test", "empty", got="none"):
        sets(given=data(test=(0, 0, 0)))
