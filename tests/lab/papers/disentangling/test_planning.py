"""From options to trainings: what is shared, what a convention trains anew, and how results become rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.lab.papers.disentangling.made import a_study
from tests.refusals import refuses

from uqassay.lab.papers.disentangling.choices import (
    CONVENTIONS,
    chosen_convention,
    chosen_datasets,
    chosen_decompositions,
)
from uqassay.lab.papers.disentangling.protocol import Asked, planned
from uqassay.lab.papers.given import GivenFiles

IT, GL = "information-theoretic", "gaussian-logits"


def asked(dataset="wine", method=None, decomposition=None, convention="exact", **more) -> Asked:
    return Asked(
        preset=more.pop("preset", "paper"),
        plans=tuple(chosen_datasets(dataset)),
        methods=method,
        decompositions=tuple(chosen_decompositions(decomposition)),
        decompositions_given=decomposition is not None,
        conventions=tuple(chosen_convention(convention)),
        where=more.pop("where", "printed"),
        data=more.pop("data", None),
        **more,
    )


def keys(rows) -> set[str]:
    return {training.key for row in rows for training in row.trainings}


def test_eight_rows_of_eight_trainings():
    rows, skipped = planned(asked(), None, 0)
    assert (len(rows), len(keys(rows)), skipped) == (8, 8, [])
    assert [(row.method.label, row.decomposition) for row in rows[:2]] == [("MC-Dropout", IT), ("MC-Dropout", GL)]
    assert all(row.compared for row in rows)
    (training,) = rows[0].trainings
    assert (training.seeds, dict(training.limits), training.decompositions) == ((0, 1, 2, 3, 4), {}, (IT,))


def test_decompositions_of_one_head_share_a_training():
    rows, _ = planned(asked(decomposition=["IT", "variance", "label-wise", "GL"], method=("mc-dropout",)), 2, 7)
    assert (len(rows), len(keys(rows))) == (4, 2)
    assert rows[0].own[0].decompositions == (IT, "variance", "label-wise")
    assert rows[3].own[0].decompositions == (GL,)
    assert rows[0].own[0].seeds == (7, 8)


def test_subjects_are_runs():
    rows, _ = planned(asked("bci", ("flipout",), ["IT"]), 3, 5)
    (row,) = rows
    assert [(t.source, t.seeds) for t in row.own] == [(f"bci-iv-2a:{k}", (k + 4,)) for k in (1, 2, 3)]
    with refuses("runs", "range", got="got 10"):
        planned(asked("bci"), 10, 0)


def test_a_convention_trains_only_what_it_changes():
    rows, _ = planned(asked(convention="each", method=("mc-dropout",), decomposition=["IT"]), None, 0)
    by_name = {row.convention.name: row for row in rows}
    assert set(by_name) == {"exact", "all-layers", "ten-levels", "data-code", "own-scale", "paper-code"}
    levels = by_name["ten-levels"]
    assert levels.base[0].key == by_name["exact"].own[0].key
    assert set(levels.own[0].conditions.values(3)) == {"label-noise"}
    assert len(levels.own[0].conditions.noise_levels) == 10
    assert set(by_name["data-code"].own[0].conditions.values(3)) == {"dataset-size", "left-out-class"}
    assert (by_name["all-layers"].base, by_name["all-layers"].own[0].options["where"]) == ((), "all")
    assert {name for name, row in by_name.items() if row.compared} == {"exact", "paper-code"}
    (alone,), _ = planned(asked(convention="ten-levels", method=("mc-dropout",), decomposition=["IT"]), None, 0)
    assert alone.base == ()
    assert len(alone.own[0].conditions.values(3)) == 3


def test_gaussian_logits_of_the_authors_reach_training_and_decomposition():
    (row,), _ = planned(asked(convention="gaussian-code", method=("flipout",)), None, 0)
    (training,) = row.own
    assert (training.options["convention"], training.convention) == ("paper-code", "paper-code")
    (plain, _), _ = planned(asked(convention="paper-code", method=("flipout",)), None, 0)
    assert plain.own[0].convention == "exact"  # softmax has no second head


def test_slices_keep_their_levels_under_every_convention():
    rows, _ = planned(asked(convention="each", preset="smoke", method=("mc-dropout",)), None, 0)
    for row in rows:
        levels = {len(t.conditions.noise_levels) for t in row.trainings if t.conditions.noise_levels}
        assert levels == ({3, 10} if row.convention.name == "ten-levels" else {3}), row.convention.name
        assert dict(row.own[0].limits) == {"train_limit": 300, "test_limit": 200}
        assert not row.compared


def test_given_data_and_other_layers_are_not_compared():
    rows, _ = planned(asked("cifar-10", data=GivenFiles(Path("/some/cifar_jpeg"))), None, 0)
    assert {row.dataset for row in rows} == {"cifar-10 from cifar_jpeg"}
    assert rows[0].own[0].source == "npz:/some/cifar_jpeg"
    assert not any(row.compared for row in rows)
    assert not any(row.compared for row in planned(asked(where="last"), None, 0)[0])


def test_methods_without_logits():
    rows, skipped = planned(asked("digits"), None, 0)
    assert [row.decomposition for row in rows if row.method.name == "random-forest"] == [IT]
    assert skipped == ["Random forest offers no gaussian-logits"]
    for method, decomposition in ((("random-forest",), ["GL"]), (("random-forest", "flipout"), ["GL", "IT"])):
        with refuses("decomposition", "conflict"):
            planned(asked("digits", method, decomposition), None, 0)
    with refuses("convention", "conflict", got="got gaussian-code"):
        planned(asked(decomposition=["IT"], convention="gaussian-code"), None, 0)


def test_rows_take_each_experiment_from_the_training_that_has_it():
    rows, _ = planned(asked(convention="each", method=("mc-dropout",), decomposition=["IT"]), 4, 0)
    row = next(row for row in rows if row.convention.name == "ten-levels")
    base, own = a_study(seed=1), a_study(seed=2)
    own = type(own)(own.method, own.dataset, own.seeds, own.class_names, {"label-noise": own.measured["label-noise"]})
    judged = row.judged({row.base[0].key: base, row.own[0].key: own})
    assert list(judged.study.measured) == ["dataset-size", "label-noise", "left-out-class"]
    assert judged.study.measured["label-noise"] is not base.measured["label-noise"]
    np.testing.assert_array_equal(judged.study.measured["label-noise"].labels, own.measured["label-noise"].labels)
    np.testing.assert_array_equal(judged.study.measured["dataset-size"].probs, base.measured["dataset-size"].probs)
    assert row.judged({row.own[0].key: own}) is None
    assert row.judged({row.base[0].key: base, row.own[0].key: a_study(runs=3)}) is None  # other runs
    assert (judged.convention, judged.printed_as, judged.method) == ("ten-levels", "wine", "MC-Dropout")


def test_subjects_without_a_result_are_left_out():
    (row,), _ = planned(asked("bci", ("mc-dropout",), ["IT"]), 3, 0)
    first, _, third = (replace(a_study(runs=1), seeds=(k,), dataset=f"bci-iv-2a:{k + 1}") for k in range(3))
    judged = row.judged({row.own[0].key: first, row.own[2].key: third})
    assert (judged.study.seeds, judged.study.dataset) == ((0, 2), "bci")
    assert row.judged({}) is None


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_has_a_sentence(name):
    assert len(CONVENTIONS[name].sentence) > 10
