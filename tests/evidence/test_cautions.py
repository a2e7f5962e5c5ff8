"""Warnings of an assay: codes that programs know, facts that another door can word, one whole sentence each."""

import numpy as np
import pandas as pd
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.cautions import CAUTIONS


def judged(models, y, **options):
    return uq.assay(models, y, n_draws=20, **options)


def note_of(assay, code):
    return next((note for note in assay.warnings if note.code == code), None)


@pytest.fixture
def large(random_generator):
    """150 instances, so that nothing is said about few of them."""
    return random_prediction("Point", random_generator, 150, 3), np.arange(150) % 3


def test_every_code_is_described_and_every_text_is_a_sentence(random_generator):
    models = {
        "few": random_prediction("Members", random_generator, 12, 3),
        "many": random_prediction("Members", random_generator, 12, 3, n_members=7),
        "sharp": uq.Point(np.eye(3)[np.arange(12) % 3]),
    }
    for y, options in (
        (np.zeros(12, dtype=int), {"groups": np.arange(12) // 2}),
        (random_generator.dirichlet(np.ones(3), 12), {}),
        (np.zeros(12, dtype=int), {"convention": "paper", "nonspecificity": "korner"}),
    ):
        found = judged(models, y, **options)
        assert found.warnings
        for note in found.warnings:
            assert note.code in CAUTIONS
            assert note.text.endswith(".")
            assert "\n" not in note.text


def test_nothing_is_said_where_nothing_is_to_be_said(large):
    p, y = large
    assert [n.code for n in judged({"m": p}, y, prior=np.ones(3) / 3).warnings] == []
    assert [n.code for n in judged({"m": p}, y).warnings] == []
    assert [n.code for n in judged({"m": [p, p], "k": [p, p]}, y).warnings] == []


def test_different_numbers_of_members_give_the_common_one(large, random_generator):
    _, y = large
    models = {m: random_prediction("Members", random_generator, 150, 3, n_members=k) for m, k in (("a", 5), ("b", 9))}
    note = note_of(judged(models, y), "different-numbers-of-members")
    assert note.facts == {"members": {"a": 5, "b": 9}, "common_members": 5}
    assert note_of(judged(models, y, common_members=5), "different-numbers-of-members") is None


def test_few_instances_groups_and_classes(random_generator):
    p = random_prediction("Point", random_generator, 12, 3)
    found = judged({"m": p}, np.zeros(12, dtype=int), groups=np.arange(12) // 3)
    assert note_of(found, "few-instances").facts == {"instances": 12}
    assert note_of(found, "few-groups").facts == {"groups": 4, "worth": pytest.approx(4.0)}
    assert note_of(found, "few-groups").text == "Only 4 groups: intervals and tests over groups are rough."
    assert note_of(found, "absent-classes").facts == {"absent": 2, "classes": 3}
    assert note_of(found, "dependent-labels") is None  # the test of a single distribution knows the groups
    members = random_prediction("Members", random_generator, 12, 3)
    assert note_of(judged({"m": members}, np.zeros(12, dtype=int), groups=np.arange(12) // 3), "dependent-labels")
    one = judged({"m": p[:1]}, [0])
    assert "1 case:" in note_of(one, "few-instances").text


def test_groups_of_unequal_sizes_count_like_fewer(random_generator):
    """Satterthwaite's degrees of freedom, against the closed form (Σ n_g²)² / Σ n_g⁴ of correlated groups, to a fifth."""
    sizes = np.maximum(1, np.round(60 * 0.75 ** np.arange(30))).astype(int)
    groups = np.repeat(np.arange(30), sizes)
    confidence = np.clip(0.7 + 0.25 * random_generator.standard_normal(30)[groups], 0.51, 0.99)
    p = uq.Point(np.column_stack([confidence, 1 - confidence]))
    y = np.zeros(groups.size, dtype=int)
    note = note_of(judged({"m": p}, y, groups=groups), "few-groups")
    expected = (sizes**2.0).sum() ** 2 / (sizes**4.0).sum()
    assert note.facts["groups"] == 30
    assert note.facts["worth"] == pytest.approx(expected, rel=0.5)
    assert note.facts["worth"] < 8
    assert (
        f"The 30 groups are so unequal in size that they count like {round(note.facts['worth'])} equal ones"
        in note.text
    )
    shuffled = random_generator.permutation(groups)
    assert note_of(judged({"m": p}, y, groups=shuffled), "few-groups").facts["worth"] < 20
    equal = np.arange(groups.size) % 30
    assert note_of(judged({"m": p}, y, groups=equal), "few-groups") is None
    one = note_of(judged({"m": p}, y, groups=np.zeros(groups.size)), "few-groups")
    assert one.text == "Only 1 group: no interval and no test."


def test_unequal_numbers_of_runs_are_named(large, random_generator):
    p, y = large
    runs = [random_prediction("Point", random_generator, 150, 3) for _ in range(5)]
    note = note_of(judged({"five": runs, "one": p}, y), "different-runs")
    assert note.facts == {"runs": {"five": 5, "one": 1}}
    assert note.text == (
        "The models have different numbers of training runs (five 5 and one 1): a single run (one) stands for itself, and "
        "the next training may turn out otherwise."
    )
    both = note_of(judged({"five": runs, "two": runs[:2]}, y), "different-runs")
    assert both.text.endswith("(five 5 and two 2): means of fewer runs are less certain.")


def test_zeros_under_the_label_are_counted():
    p = np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 1.0]])
    found = judged({"double": uq.Point(p), "single": uq.Point(p.astype(np.float32))}, [0, 1, 0])
    rows = {n.facts["model"]: n.facts["rows"] for n in found.warnings if n.code == "floored"}
    assert rows == {"double": 2, "single": 2}
    assert found["double"].floor == found["single"].floor
    assert note_of(judged({"m": uq.Point(p)}, [0, 1, 0], floor=0), "floored").facts["floor"] == 0


def test_estimated_nonspecificity_and_a_part_of_the_instances(random_generator, monkeypatch):
    from uqassay.evidence import calibration as calibration_cost

    monkeypatch.setattr(calibration_cost, "FEWEST", 20)
    monkeypatch.setattr(calibration_cost, "SET_WORK", 30_000)
    members = random_prediction("Members", random_generator, 120, 18)
    found = judged({"m": members}, np.arange(120) % 18, tolerance=0.05)
    assert note_of(found, "estimated-nonspecificity").facts["standard_error"] == found["m"].nonspecificity_error > 0
    sample = note_of(found, "calibration-sample")
    assert sample.facts == {"tested": {"m": found.calibration[0].n_tested}, "instances": 120}
    assert 20 <= sample.facts["tested"]["m"] < 120


def test_notes_of_predictions_name_their_model(random_generator):
    beliefs = np.c_[np.full((4, 3), 0.6), np.ones(4)]
    masses = uq.Masses.from_beliefs(beliefs, [[0], [1], [2], [0, 1, 2]], n_classes=3)
    found = judged({"RS": masses}, [0, 1, 2, 0], convention="paper")
    note = note_of(found, "prediction")
    assert note.facts["model"] == "RS"
    assert note.text.startswith("RS: 4 of 4 rows of masses were repaired")


def test_they_are_saved_with_their_facts(tmp_path, random_generator):
    models = {m: random_prediction("Members", random_generator, 12, 3, n_members=k) for m, k in (("a", 2), ("b", 3))}
    found = judged(models, np.arange(12) % 3)
    again = uq.Assay.load(found.save(tmp_path / "kept"))
    assert [(n.code, n.text, dict(n.facts)) for n in again.warnings] == [
        (n.code, n.text, dict(n.facts)) for n in found.warnings
    ]
    assert again["a"].notes == found["a"].notes


def test_labels_by_the_order_of_columns_are_said():
    """Numbers mean the columns of tables by their order; a model without names beside one with names is refused."""
    table = pd.DataFrame([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], columns=["c", "b", "a"])
    a = uq.assay({"m": table}, [0, 1, 2], n_draws=10)
    (note,) = (note for note in a.warnings if note.code == "labels-by-columns")
    assert note.text == "The labels are taken by the order of the columns: 0 = c, 1 = b and 2 = a."
    for labels, names in ((["c", "b", "a"], None), ([2, 1, 0], ["a", "b", "c"])):
        clear = uq.assay({"m": table}, labels, class_names=names, n_draws=10)
        assert not [note for note in clear.warnings if note.code == "labels-by-columns"]
        np.testing.assert_array_equal(clear.loss("m", 0.5), a.loss("m", 0.5))
    with refuses("models['plain'].class_names", "class-order"):
        uq.assay({"named": table, "plain": table.to_numpy()}, ["c", "b", "a"])
