"""Answers in files: which columns are taken, all formats, several models in one file."""

import json

import numpy as np
import pytest

import uqassay as uq
from uqassay.predictions.files import inspect_file

CSV = "question,correct,confidence,tokens\nq1,1,0.9,5\nq2,0,0.25,7\nq3,1,1,7\n"


@pytest.fixture
def write(tmp_path):
    def made(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return made


def test_columns_are_known_by_their_names(write):
    found = uq.load(write("a.csv", CSV))
    assert found.correct.tolist() == [True, False, True]
    assert found.confidence.tolist() == [0.9, 0.25, 1.0]
    assert found.keys["question"].tolist() == ["q1", "q2", "q3"]
    assert [note.text for note in found.notes] == ["columns left out: tokens; used: question may identify the rows"]
    alone = uq.load(write("b.csv", "id,correct\nq1,True\nq2,False\n"))
    assert alone.confidence is None
    assert alone.ids.tolist() == ["q1", "q2"]


def test_other_columns_by_name(write):
    path = write("a.csv", "id,is_right,p,correct,confidence\n1,0,0.5,1,0.9\n2,1,0.25,1,0.9\n")
    found = uq.load(path, correct="is_right", confidence="p")
    assert found.correct.tolist() == [False, True]
    assert found.confidence.tolist() == [0.5, 0.25]
    for options in ({"correct": "right"}, {"confidence": "sure"}):
        with pytest.raises(uq.InputError) as problem:
            uq.load(path, **options)
        assert problem.value.parameter == next(iter(options))
        assert problem.value.code == "choice"


def test_probabilities_stay_what_a_table_states(write):
    table = uq.load(write("p.csv", "proba_0,proba_1,correct,confidence\n0.7,0.3,1,0.7\n0.4,0.6,0,0.6\n"))
    assert isinstance(table, uq.Point)
    with pytest.raises(uq.InputError) as problem:
        uq.load(write("c.csv", "id,confidence\n1,0.5\n2,0.6\n"))
    assert "add a column correct" in problem.value.remedy


@pytest.mark.parametrize("suffix", ["npz", "csv", "tsv", "parquet", "jsonl", "json", "safetensors"])
@pytest.mark.parametrize("stated", [True, False])
def test_saved_and_read_in_every_format(suffix, stated, tmp_path):
    confidence = np.array([0.1, 1 / 3, 1.0]) if stated else None
    answers = uq.Answers([True, False, True], confidence, ids=["a", "b", "c"], groups=["x", "x", "y"])
    path = tmp_path / f"answers.{suffix}"
    uq.save(answers, path)
    again = uq.load(path)
    assert isinstance(again, uq.Answers)
    assert again.correct.tolist() == [True, False, True]
    assert again.ids.tolist() == ["a", "b", "c"]
    assert again.groups.tolist() == ["x", "x", "y"]
    assert (again.confidence is None) if not stated else np.array_equal(again.confidence, confidence)
    facts = inspect_file(path)
    assert (facts["kind"], facts["n_instances"], facts["problem"]) == ("answers", 3, None)


@pytest.mark.parametrize("text", ["1,\n", "1,nan\n"])
def test_missing_confidence_in_text(text, write):
    path = write("a.csv", f"correct,confidence\n1,0.5\n0,0.25\n{text}")
    with pytest.raises(uq.InputError) as problem:
        uq.load(path)
    assert (problem.value.parameter, problem.value.code, problem.value.facts["row"]) == ("confidence", "missing", 2)
    assert uq.load(path, missing=0).confidence.tolist() == [0.5, 0.25, 0.0]


def test_missing_confidence_in_json(write):
    lines = [{"id": "a", "correct": True, "confidence": 0.5}, {"id": "b", "correct": False, "confidence": None}]
    path = write("a.jsonl", "\n".join(map(json.dumps, lines)))
    with pytest.raises(uq.InputError) as problem:
        uq.load(path)
    assert problem.value.source == "a.jsonl, line 2"
    assert uq.load(path, missing=0.1).confidence.tolist() == [0.5, 0.1]
    with pytest.raises(uq.InputError) as problem:
        uq.load(write("p.csv", "proba_0,proba_1\n0.5,0.5\n"), missing=0)
    assert problem.value.parameter == "missing"


def test_one_file_of_several_models_is_matched_by_the_questions(write):
    text = "llm,qid,ok,p\nb,q2,1,0.7\nb,q1,0,0.2\na,q1,1,0.9\na,q2,0,0.4\n"
    found = uq.load_answers(write("all.csv", text), model_column="llm", correct="ok", confidence="p")
    assert list(found) == ["b", "a"]
    assert found["b"].keys["qid"].tolist() == ["q2", "q1"]
    assay = uq.assay(found, calibration=())
    assert assay["a"].columns["correct"][0].tolist() == [0.0, 1.0]  # in the order of the first model
    assert assay["b"].columns["correct"][0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_several_models_in_other_formats(suffix, tmp_path):
    rows = [{"model": m, "id": i, "correct": bool(i % 2), "confidence": 0.5} for m in ("a", "b") for i in range(4)]
    path = tmp_path / f"all.{suffix}"
    if suffix == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        import pandas

        pandas.DataFrame(rows).to_parquet(path)
    found = uq.load_answers(path)
    assert {name: answers.ids.tolist() for name, answers in found.items()} == {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3]}


@pytest.mark.parametrize(
    ("text", "options", "parameter", "code"),
    [
        ("model,correct\na,1\n", {"model_column": "llm"}, "model_column", "choice"),
        ("model,ok\na,1\n", {}, "correct", "missing"),
        ("model,id,correct\na,1,1\na,1,0\n", {}, "ids", "duplicate"),
        ("model,id,correct,confidence\na,1,1,85\n", {}, "confidence", "range"),
    ],
)
def test_what_is_no_table_of_several_models(text, options, parameter, code, write):
    with pytest.raises(uq.InputError) as problem:
        uq.load_answers(write("all.csv", text), **options)
    assert (problem.value.parameter, problem.value.code) == (parameter, code)


def test_mapping_of_arrays():
    found = uq.from_object({"correct": [1, 0], "confidence": [0.5, 0.25]})
    assert isinstance(found, uq.Answers)
    assert uq.assay({"m": found}).of_answers
