"""Sentences on single instances: names, problems, and what the triangle shows."""

import pytest

import uqassay as uq
from uqassay.report.sentences import instance_sentences, set_text

pytestmark = pytest.mark.usefixtures("without_calibration")


def one(prediction, y=(0,), **options):
    return uq.assay({"m": prediction}, y, n_draws=2, **options)


def test_names_and_votes():
    point = uq.Point([[0.9, 0.1], [0.8, 0.2]])
    assert instance_sentences(one(point, [0, 1]))["give"] == "Give a number from 0 to 1."
    named = instance_sentences(one(uq.Point([[0.9, 0.1], [0.8, 0.2]], ids=["a", "b"]), [0, 1]))
    assert named["give"] == "Give an id or a row number."
    assert named["picked"] == "Case {instance} (row {row}): {label}"
    votes = instance_sentences(one(point, [[0.5, 0.5], [1.0, 0.0]]))
    assert votes["picked"] == "Case {instance}: most often labelled {label} ({share})"
    assert "2 cases" in named["not_held"]


@pytest.mark.parametrize(
    ("prediction", "held", "not_held"),
    [
        (uq.Point([[0.9, 0.1]]), "a point", "a point"),
        (uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]]), "the intervals themselves", "the intervals themselves"),
        (
            uq.Members([[[0.9, 0.1], [0.8, 0.2]]]),
            "hull of 2 points",
            "the set's probability intervals, which contain it; its points are kept for the extreme cases only",
        ),
        (
            uq.Masses([[0.5, 0.3, 0.2]], [[0], [1], [0, 1]], n_classes=2),
            "the set's probability intervals, which contain it",
            "the set's probability intervals, which contain it",
        ),
    ],
)
def test_what_the_triangle_shows(prediction, held, not_held):
    assert set_text(one(prediction)["m"]) == {"held": held, "not_held": not_held}


def test_runs_are_told():
    assert (
        instance_sentences(one([uq.Point([[0.9, 0.1]])] * 2))["first_run"]
        == "Sets are those of the first training run."
    )
    assert instance_sentences(one(uq.Point([[0.9, 0.1]])))["first_run"] == ""
