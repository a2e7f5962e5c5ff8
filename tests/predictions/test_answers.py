"""Answers with and without a stated confidence: what is accepted, refused, and kept."""

import numpy as np
import pandas as pd
import pytest

import uqassay as uq


def test_rows_metadata_and_two_classes():
    answers = uq.Answers([True, False, True], [0.9, 0.2, 1.0], ids=["a", "b", "c"], groups=[0, 0, 1])
    assert (answers.n_classes, answers.n_instances, answers.array_names()) == (2, 3, ("correct", "confidence"))
    part = answers[[2, 0]]
    assert part.correct.tolist() == [True, True]
    assert part.confidence.tolist() == [1.0, 0.9]
    assert list(part.ids) == ["c", "a"]
    point = answers.as_point()
    assert np.allclose(point.probs, [[0.1, 0.9], [0.8, 0.2], [0.0, 1.0]])
    assert point.class_names == ("wrong", "right")
    assert list(point.ids) == ["a", "b", "c"]
    assert list(point.groups) == [0, 0, 1]
    assert not answers.correct.flags.writeable
    assert not answers.confidence.flags.writeable
    assert uq.Answers([1, 0]).array_names() == ("correct",)


@pytest.mark.parametrize(
    "correct", [[1, 0], [1.0, 0.0], np.array([1, 0], np.uint8), ["True", "false"], [" 1", "0.0"], [b"1", b"0"]]
)
def test_right_and_wrong_in_every_spelling(correct):
    assert uq.Answers(correct).correct.tolist() == [True, False]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_confidence_keeps_its_type(dtype):
    given = np.array([0.25, 1.0], dtype)
    given.flags.writeable = False
    assert uq.Answers([1, 0], given).confidence.dtype == dtype


def test_series_align_by_their_index():
    correct = pd.Series([1, 0], index=["a", "b"])
    confidence = pd.Series([0.2, 0.9], index=["b", "a"])
    answers = uq.Answers(correct, confidence)
    assert list(answers.ids) == ["a", "b"]
    assert answers.confidence.tolist() == [0.9, 0.2]


@pytest.mark.parametrize(
    ("arguments", "parameter", "code", "remedy"),
    [
        (([1, 0], [85, 90]), "confidence", "range", "divide by 100"),
        (([1, 0], [0.5, 1.5e3]), "confidence", "range", "the probability that the answer is right"),
        (([1, 0], [-0.1, 0.5]), "confidence", "range", "the probability that the answer is right"),
        (([1, 0], ["high", "low"]), "confidence", "type", "give each word a number from 0 to 1"),
        (([1, 0], ["85%", "90%"]), "confidence", "type", "remove the sign and divide by 100"),
        (([1, 0], [0.5, float("nan")]), "confidence", "missing", "missing=0"),
        (([1, 0], [0.5]), "confidence", "mismatch", "leave confidence out"),
        (([1, 2], [0.5, 0.5]), "correct", "choice", "grade the answers first"),
        ((["A", "B"], [0.5, 0.5]), "correct", "choice", "grade the answers first"),
        (([0.5, 0.7], [1, 0]), "correct", "choice", "what was right first"),
        (([[1, 0]],), "correct", "shape", "grade the answers first"),
        (([],), "correct", "shape", "grade the answers first"),
        (([float("nan"), 1],), "correct", "choice", "grade the answers first"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_with_a_remedy(arguments, parameter, code, remedy):
    with pytest.raises(uq.InputError) as found:
        uq.Answers(*arguments)
    assert (found.value.parameter, found.value.code) == (parameter, code)
    assert remedy in found.value.remedy


def test_remedies_work_when_obeyed():
    assert uq.Answers([1, 0], np.array([85, 90]) / 100).confidence.tolist() == [0.85, 0.9]
    assert uq.Answers([1, 0], [0.5, 0.7]).correct.tolist() == [True, False]
    answers = uq.Answers([1, 0, 1], [0.5, None, float("nan")], missing=0)
    assert answers.confidence.tolist() == [0.5, 0.0, 0.0]
    (note,) = answers.notes
    assert note.code == "no-confidence"
    assert note.facts == {"missing": 2, "n": 3, "confidence": 0.0}
    assert note.text == "2 of 3 answers state no confidence and count as 0"


def test_missing_has_a_meaning_with_confidence_alone():
    assert uq.Answers([1], [0.5], missing=0.2).notes == ()
    with pytest.raises(uq.InputError) as found:
        uq.Answers([1], missing=0)
    assert found.value.code == "conflict"
    with pytest.raises(uq.InputError) as found:
        uq.Answers([1], [float("nan")], missing=50)
    assert found.value.parameter == "missing"
    assert found.value.code == "range"


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a.mean_probs(), lambda a: a.lower_probs(), lambda a: a.upper_probs(), lambda a: a.labels(),
        lambda a: a.one_versus_rest(1), lambda a: uq.losses.log_loss([1, 0], a),
        lambda a: uq.metrics.confidence_calibration_error([1, 0], a), lambda a: uq.measures.upper_entropy(a),
    ],
)  # fmt: skip
def test_answers_are_no_probabilities_of_classes(use):
    with pytest.raises(uq.InputError) as found:
        use(uq.Answers([1, 0], [0.9, 0.2]))
    assert found.value.code == "undefined"


def test_two_classes_need_a_confidence():
    with pytest.raises(uq.InputError) as found:
        uq.Answers([1]).as_point()
    assert found.value.parameter == "confidence"
    assert found.value.code == "missing"
