"""Sentences on the ranking of mistakes: reasons, remarks and notes follow from the estimates."""

import numpy as np
import pytest
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.notes import Note
from uqassay.report.sentences import comparison_note, few_scores, remarks, undefined_text, view_sentences, why_absent
from uqassay.statistics import Estimate

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def assay():
    return ranked_assay(n=60)


def estimate(*notes, value=0.5):
    return Estimate(value, low=0.4, high=0.6, level=0.95, n=9, method="", notes=notes)


def test_remarks_are_told_once_with_their_models(assay):
    few, counted = Note("few", "only 3 errors: a rough interval"), Note("groups", "12 groups")
    first, second, *_ = assay.model_names
    found = {(first, "a"): estimate(few, counted), (first, "b"): estimate(few), (second, "a"): estimate(counted)}
    assert remarks(assay, found) == [f"Only 3 errors: a rough interval ({first})."]
    everyone = {(model, ""): estimate(few) for model in assay.model_names}
    assert remarks(assay, everyone) == ["Only 3 errors: a rough interval (every model)."]
    assert remarks(assay, everyone, ["edge"]) == []
    alone = uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0], n_draws=5)
    assert remarks(alone, {("m", ""): estimate(few)}) == ["Only 3 errors: a rough interval."]


def test_undefined_estimates_say_why():
    assert (
        undefined_text(estimate(Note("groups", "2 groups"), Note("undefined", "no errors"), value=np.nan))
        == "no errors"
    )
    assert undefined_text(estimate(Note("groups", "2 groups"), value=np.nan)) == "undefined"


@pytest.mark.parametrize(
    ("made", "score", "constant", "first", "words"),
    [
        ("no mistake", "margin", [], None, "it makes no mistake on these cases"),
        ("", "margin", ["margin"], None, "the score is the same in every case: nothing to choose by"),
        ("", "margin", [], None, "it has no such score"),
        ("", "", ["margin"], None, "no score of it differs between cases: nothing to choose by"),
        ("", "", [], None, "it has no score"),
        ("", "", [], estimate(Note("undefined", "no errors"), value=np.nan), "no errors"),
    ],
)
def test_a_model_that_is_absent_says_why(made, score, constant, first, words):
    assert why_absent(made, score, constant, first) == words


def test_sentences_of_a_view(assay):
    view = view_sentences(assay, "total-entropy", {"m": "it has no such score"}, ["A remark."])
    assert view["absent"] == "Not shown: m (it has no such score)."
    assert view["by"] == "total entropy"
    assert view["metrics_note"] == "A remark."
    best = view_sentences(assay, "", {}, [])
    assert best["by"] == "each model's best score"
    assert best["absent"].startswith("The best score of a model")


def test_names_with_braces_are_no_places(assay):
    view = view_sentences(assay, "{share}", {"{by}": "why"}, [])
    assert view["by"] == "{share}"


def test_notes_of_matrices(assay):
    two = comparison_note(assay, "uq-auc", 2, best=False, absent=[])
    assert "adjusted" not in two
    three = comparison_note(assay, "uq-auc", 3, best=True, absent=[("m", estimate(Note("undefined", "no errors")))])
    assert "adjusted by Shaffer for the 3 pairs" in three
    assert "Best scores were chosen on the same cases" in three
    assert three.endswith("Not compared: m (no errors).")
    assert few_scores("m", "") == "Fewer than two scores of m have this metric."
