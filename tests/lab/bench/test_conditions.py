"""Conditions: what they do to the data, by seed and for all seeds, what their sets stand for, and what is refused."""

import itertools

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.bench.conditions import (
    changed_data,
    check_classes,
    conditions_of,
    epochs_at,
    left_out_index,
)
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.dataset import Dataset


@pytest.fixture
def iris(needs):
    needs("sklearn")
    return load_dataset("iris")


def rows_of(part, data):
    """Rows of the training instances of `part` in `data`; the instances are all different."""
    place = {x.tobytes(): i for i, x in enumerate(data.X_train)}
    return {place[x.tobytes()] for x in part.X_train}


@pytest.fixture
def toy():
    g = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [100, 60, 40])
    return Dataset("toy", g.normal(size=(200, 2)), y, g.normal(size=(90, 2)), np.arange(90) % 3, ("a", "b", "c"))


# -- what they do -----------------------------------------------------------------------------------------------------


def test_conditions_change_the_data_alike_every_time(iris):
    condition = {"train_limit": 60, "test_limit": 12, "train_share": 0.5, "label_noise": 0.5}
    found = [changed_data(iris, condition) for _ in range(2)]
    assert found[0].content_hash == found[1].content_hash == changed_data(iris, condition, seed=7).content_hash
    limited = changed_data(iris, {"train_limit": 60, "test_limit": 12})
    assert (len(limited.y_train), len(limited.y_test)) == (60, 12)
    rows = {row.tobytes(): label for row, label in zip(iris.X_train, iris.y_train, strict=True)}
    assert all(rows[row.tobytes()] == label for row, label in zip(limited.X_train, limited.y_train, strict=True))
    shared = changed_data(iris, {"train_share": 0.5})
    np.testing.assert_array_equal(np.bincount(shared.y_train), np.bincount(iris.y_train) // 2)
    noisy = changed_data(iris, {"label_noise": 0.5})
    assert 0 < (noisy.y_train != iris.y_train).sum() <= len(iris.y_train) / 2
    assert changed_data(iris, {}) is iris


def test_conditions_without_the_new_keys_are_as_they_were(toy):
    """The rows and labels that version 1 of this function drew, computed anew."""
    rng = np.random.default_rng(0)
    train = np.sort(rng.permutation(200)[:120])
    test = np.sort(rng.permutation(90)[:30])
    before = toy.subset(train, test).fraction(0.4, rng=0).with_label_noise(0.3, rng=0)
    condition = {"train_limit": 120, "test_limit": 30, "train_share": 0.4, "label_noise": 0.3}
    assert changed_data(toy, condition, seed=5).content_hash == before.content_hash
    assert conditions_of([condition, {}], toy) == [condition, {}]


def test_by_seed_each_seed_has_its_own_training_instances_and_all_have_the_same_test(toy):
    for condition in ({"train_share": 0.2}, {"train_limit": 100}, {"train_limit": 100, "test_limit": 20}):
        by_seed = condition | {"subsets_by_seed": True}
        parts = [changed_data(toy, by_seed, seed) for seed in range(4)]
        rows = [frozenset(rows_of(part, toy)) for part in parts]
        assert len(set(rows)) == 4
        assert {len(chosen) for chosen in rows} == {len(rows_of(changed_data(toy, condition), toy))}
        assert len({part.X_test.tobytes() for part in parts}) == 1
        assert changed_data(toy, by_seed, 2).content_hash == parts[2].content_hash


def test_votes_move_with_permuted_labels():
    votes = np.eye(2)[np.arange(40) % 2]
    data = Dataset(
        "d", np.zeros((4, 1)), [0, 1, 0, 1], np.zeros((40, 1)), np.arange(40) % 2, ("a", "b"), votes_test=votes
    )
    noisy = changed_data(data, {"label_noise": 1.0, "subsets_by_seed": True}, 3)
    assert (noisy.y_test != data.y_test).any()
    np.testing.assert_array_equal(noisy.votes_test.argmax(axis=1), noisy.y_test)


def test_class_left_out_with_a_share_keeps_one_instance_of_each_other_class(toy):
    condition = {"left_out_class": 0, "train_share": 0.01, "epochs_by_share": True, "subsets_by_seed": True}
    found = changed_data(toy, condition, 4)
    np.testing.assert_array_equal(np.bincount(found.y_train, minlength=3), [0, 1, 1])
    assert epochs_at(100, condition) == 10_000


# -- sets and forms ---------------------------------------------------------------------------------------------------


def test_the_set_is_that_of_the_paper(toy):
    found = conditions_of(["disentanglement"], toy)
    by_seed = {"subsets_by_seed": True}
    sizes = [{"train_share": s, "epochs_by_share": True} | by_seed for s in (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)]
    noise = [{"label_noise": level / 10} | by_seed for level in range(11)]
    assert found == [*sizes, *noise, *({"left_out_class": name} | by_seed for name in "abc")]
    assert conditions_of(["disentanglement", {"left_out_class": 2, "subsets_by_seed": True}, {}], toy) == [*found, {}]


def test_two_classes_have_no_class_left_out():
    data = load_dataset("two-moons")
    assert len(conditions_of(["disentanglement"], data)) == 18
    with refuses("condition.left_out_class", "size", got="two-moons has 2"):
        conditions_of([{"left_out_class": 0}], data)


def test_name_and_index_of_a_class_are_the_same_condition_and_switches_that_are_off_are_left_out(toy):
    asked = [{"left_out_class": 0}, {"left_out_class": "a", "subsets_by_seed": False}]
    assert conditions_of(asked, toy) == [{"left_out_class": "a"}]
    assert conditions_of([{"train_share": 0.5, "epochs_by_share": False}], toy) == [{"train_share": 0.5}]


def test_index_and_name_of_classes_that_are_numbers():
    data = Dataset("d", np.zeros((3, 1)), [0, 1, 2], np.zeros((3, 1)), [0, 1, 2], ("2", "5", "0"))
    assert left_out_index({"left_out_class": "2"}, data) == 0
    assert left_out_index({"left_out_class": 2}, data) == 2


# -- epochs -----------------------------------------------------------------------------------------------------------


def test_epochs_are_rounded_down_as_exact_fractions_are():
    for percent, epochs in itertools.product(range(1, 101), (1, 2, 7, 29, 43, 57, 100, 500)):
        found = epochs_at(epochs, {"train_share": percent / 100, "epochs_by_share": True})
        assert found == epochs * 100 // percent


def test_epochs_without_end_are_refused():
    with refuses("condition.epochs_by_share", "size", got="100 / 1e-09"):
        epochs_at(100, {"train_share": 1e-9, "epochs_by_share": True})


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "parameter", "code", "got"),
    [
        ({"train_shar": 0.5}, "condition", "choice", "got 'train_shar'.*train_share"),
        ({"train_share": 0}, "condition.train_share", "range", r"\(0, 1\]; got 0"),
        ({"label_noise": 1.5}, "condition.label_noise", "range", r"\[0, 1\]; got 1.5"),
        ({"label_noise": True}, "condition.label_noise", "range", "got True"),
        ({"test_limit": 0}, "condition.test_limit", "range", "got 0"),
        ({"train_limit": 2.5}, "condition.train_limit", "range", "got 2.5"),
        ({"left_out_class": -1}, "condition.left_out_class", "range", "got -1"),
        ({"left_out_class": 1.0}, "condition.left_out_class", "range", "got 1.0"),
        ({"left_out_class": True}, "condition.left_out_class", "range", "got True"),
        ({"left_out_class": ""}, "condition.left_out_class", "range", "got ''"),
        ({"left_out_class": 3}, "condition.left_out_class", "choice", "got 3; choose 0 … 2"),
        ({"left_out_class": "setos"}, "condition.left_out_class", "choice", "got 'setos'; did you mean setosa"),
        ({"epochs_by_share": True}, "condition.epochs_by_share", "conflict", "train_share"),
        ({"train_share": 0.5, "epochs_by_share": 1}, "condition.epochs_by_share", "range", "got 1"),
        ({"subsets_by_seed": "yes"}, "condition.subsets_by_seed", "range", "got 'yes'"),
        ({"left_out_class": 0, "label_noise": 0.1}, "condition.left_out_class", "conflict", "label_noise"),
    ],
)
def test_conditions_that_mean_nothing_are_refused(iris, condition, parameter, code, got):
    for call in (lambda: changed_data(iris, condition), lambda: conditions_of([condition], iris)):
        with refuses(parameter, code, got=got):
            call()


def test_unknown_set_is_refused(toy):
    with refuses("condition", "choice", got="did you mean disentanglement"):
        conditions_of(["disentanglment"], toy)


def test_class_left_out_without_noise_may_state_the_level_0(toy):
    assert len(changed_data(toy, {"left_out_class": 0, "label_noise": 0}).y_train) == 100


def test_class_that_vanishes_by_a_limit_is_refused_unless_it_is_left_out():
    y = np.array([0] * 50 + [1] * 49 + [2])
    data = Dataset("rare", np.arange(100.0)[:, None], y, np.zeros((3, 1)), [0, 1, 2], ("a", "b", "c"))
    vanished = [seed for seed in range(20) if 99 not in rows_of(_limited(data, seed), data)]
    assert 0 < len(vanished) < 20
    for seed in range(20):
        condition = {"train_limit": 50, "subsets_by_seed": True}
        if seed in vanished:
            with refuses("condition", "missing", got="class 'c' of rare"):
                check_classes(data, condition, seed)
        else:
            check_classes(data, condition, seed)
        check_classes(data, condition | {"left_out_class": "c"}, seed)


def _limited(data, seed):
    return changed_data(data, {"train_limit": 50, "subsets_by_seed": True}, seed)


def test_a_seed_has_the_subsets_and_permuted_rows_of_the_disentanglement_experiments(toy):
    from uqassay.lab.papers.disentangling.trainings import Conditions, training_sets

    levels = (0.0, 0.3, 1.0)
    sets = {(one.experiment, one.value): one for one in training_sets(toy, Conditions(noise_levels=levels), seed=3)}
    for share in (0.1, 0.5):
        part = changed_data(toy, {"train_share": share, "subsets_by_seed": True}, 3)
        assert np.array_equal(part.X_train, toy.X_train[sets["dataset-size", share].rows])
    for level in levels:
        noisy = changed_data(toy, {"label_noise": level, "subsets_by_seed": True}, 3)
        assert np.array_equal(noisy.y_train, sets["label-noise", level].y_train)
        assert np.array_equal(noisy.y_test, sets["label-noise", level].y_test)
