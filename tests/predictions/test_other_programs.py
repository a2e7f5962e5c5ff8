"""Layouts of other programs, with fixtures after their documentation."""

import json

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import other_programs
from uqassay.predictions.files import inspect_file, open_contents
from uqassay.predictions.keys import TableReading
from uqassay.predictions.other_programs import option_bounds

LOGITS = np.random.default_rng(0).normal(0, 3, size=(6, 4))
LABELS = np.array([0, 3, 1, 2, 2, 0])
SETS = np.array([0, 0, 1, 1, 1, 5])


def softmax(values: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(values - values.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_logits_labels_and_data_sets_come_apart(tmp_path, dtype):
    table = np.column_stack([LOGITS, LABELS, SETS]).astype(dtype)
    np.savez_compressed(tmp_path / "raw_logits.npz", table)
    prediction = uq.load(tmp_path / "raw_logits.npz")
    assert isinstance(prediction, uq.Point)
    np.testing.assert_allclose(prediction.probs, softmax(table[:, :4].astype(float), 1), rtol=1e-12)
    labels = uq.load_labels(tmp_path / "raw_logits.npz")
    dataset_idx = uq.load_labels(tmp_path / "raw_logits.npz", key="dataset_idx")
    assert labels.tolist() == LABELS.tolist()
    assert dataset_idx.tolist() == SETS.tolist()
    (note,) = prediction.notes
    assert (note.code, note.facts["rows"]) == ("data-sets", {0: 2, 1: 3, 5: 1})
    assert prediction[dataset_idx == 1].n_instances == 3


def test_one_data_set_needs_no_note(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([LOGITS, LABELS, np.zeros(6)]))
    assert uq.load(tmp_path / "raw_logits.npz").notes == ()


def test_softmax_outputs_of_older_versions(tmp_path):
    probs = softmax(LOGITS, 1)
    np.savez(tmp_path / "raw_output.npz", np.column_stack([probs, LABELS, SETS]))
    np.testing.assert_array_equal(uq.load(tmp_path / "raw_output.npz").probs, probs)


@pytest.mark.parametrize("name", ["raw_logits_dist.npz", "raw_output_dist.npz"])
def test_dropout_passes_become_members(tmp_path, name):
    passes = np.random.default_rng(1).normal(0, 3, size=(6, 4, 10))  # (N, C, M)
    probs = softmax(passes, 1)
    np.savez(tmp_path / name, passes if "logits" in name else probs)
    prediction = uq.load(tmp_path / name)
    assert prediction.probs.shape == (6, 10, 4)
    np.testing.assert_allclose(prediction.probs[2, 7], probs[2, :, 7], rtol=1e-12)
    with refuses("key", "missing", source=name, error=FileFormatError):
        uq.load_labels(tmp_path / name)


def test_only_the_name_or_the_kind_makes_it_one(tmp_path):
    table = np.column_stack([LOGITS, LABELS, SETS])
    np.savez(tmp_path / "other.npz", table)
    with refuses("probs", "not-probabilities", got="row 0 holds", source="other.npz", error=FileFormatError):
        uq.load(tmp_path / "other.npz")
    np.testing.assert_allclose(uq.load(tmp_path / "other.npz", kind="fd-shifts").probs, softmax(LOGITS, 1), rtol=1e-12)
    np.savez(tmp_path / "raw_logits.npz", probs=softmax(LOGITS, 1))  # named keys speak for themselves
    np.testing.assert_array_equal(uq.load(tmp_path / "raw_logits.npz").probs, softmax(LOGITS, 1))


@pytest.mark.parametrize(
    ("arrays", "parameter", "code", "got"),
    [
        ({"arr_0": LOGITS + 0.5}, "arr_0", "type", "row 0 holds .* as label"),
        ({"arr_0": np.column_stack([LOGITS, LABELS, SETS + 0.5])}, "arr_0", "type", "row 0 holds 0.5 as dataset_idx"),
        (
            {"arr_0": np.column_stack([LOGITS, LABELS, SETS + 1e300])},
            "arr_0",
            "type",
            "row 0 holds 1e.300 as dataset_idx",
        ),
        ({"arr_0": LOGITS[:, :3]}, "arr_0", "shape", r"got shape \(6, 3\)"),
        ({"arr_0": LOGITS, "arr_1": LOGITS}, "kind", "missing", "found arr_0, arr_1"),
    ],
)
def test_what_is_not_of_that_form_is_refused(tmp_path, arrays, parameter, code, got):
    np.savez(tmp_path / "raw_logits.npz", **arrays)
    with refuses(parameter, code, got=got, source="raw_logits.npz", error=FileFormatError):
        uq.load(tmp_path / "raw_logits.npz", kind="fd-shifts")


def test_inspection_tells_the_parts(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([LOGITS, LABELS, SETS]))
    found = inspect_file(tmp_path / "raw_logits.npz")
    assert (found["kind"], found["n_instances"], found["n_classes"], found["labels"]) == ("point", 6, 4, True)
    assert found["ignored"] == ["dataset_idx"]


# -- records -------------------------------------------------------------------------------------------------------------


def lines(folder, *objects):
    (folder / "p.jsonl").write_text("".join(json.dumps(item) + "\n" for item in objects), encoding="utf-8")
    return folder / "p.jsonl"


def test_zip_maps_of_onnx(tmp_path):
    """By sklearn-onnx: a list of {class: probability}, for classes 10, 12 and 14 in its documentation."""
    maps = [{"10": 0.25, "12": 0.5, "14": 0.25}, {"10": 0.0, "12": 0.0, "14": 1.0}]
    (tmp_path / "p.json").write_text(json.dumps(maps))
    for path in (tmp_path / "p.json", lines(tmp_path, *maps)):
        found = uq.load(path)
        assert (found.class_names, found.probs.tolist()) == (("10", "12", "14"), [[0.25, 0.5, 0.25], [0, 0, 1]])


SCORES = [
    [{"label": "POSITIVE", "score": 0.75}, {"label": "NEGATIVE", "score": 0.25}],
    [{"label": "NEGATIVE", "score": 0.9}, {"label": "POSITIVE", "score": 0.1}],
]


def test_scores_of_hugging_face_pipelines(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(SCORES))
    inside = [{"text": "good", "predictions": each, "label": "NEGATIVE"} for each in SCORES]
    for path in (tmp_path / "p.json", lines(tmp_path, *SCORES), lines(tmp_path, *inside)):
        contents = open_contents(path)
        assert contents.class_order == "keys"
        found = uq.load(path)
        assert (found.class_names, found.probs.tolist()) == (("POSITIVE", "NEGATIVE"), [[0.75, 0.25], [0.1, 0.9]])
    assert uq.load_labels(path).tolist() == [1, 1]


def test_the_score_of_one_class_alone_is_no_distribution(tmp_path):
    with refuses("scores", "shape", got="line 1.*top_k=None", error=FileFormatError):
        uq.load(lines(tmp_path, *(each[0] for each in SCORES)))
    with refuses("scores", "type", got="line 1.*'a'", error=FileFormatError):
        uq.load(lines(tmp_path, [{"label": "a", "score": 0.5}] * 2))


@pytest.mark.parametrize("as_text", [False, True])
def test_samples_of_lm_evaluation_harness(tmp_path, as_text):
    """Its tracker writes every value as text since version 0.4.3; the target is the index of an option."""
    answers = [[[-3.0, True], [-4.0, False]], [[-1.0, True], [-1.0, False], [-2.5, False]]]
    targets = [1, 0]
    samples = []
    for i, (answer, target) in enumerate(zip(answers, targets, strict=True)):
        written = [[str(value) for value in pair] for pair in answer] if as_text else answer
        target = str(target) if as_text else target
        samples.append({"doc_id": i + 5, "doc": {"question": "?"}, "target": target, "arguments": [["q", " a"]],
                        "resps": [[pair] for pair in written], "filtered_resps": written, "acc": 1.0})  # fmt: skip
    path = lines(tmp_path, *samples)
    found = uq.load(path)
    for row, answer in enumerate(answers):
        expected = softmax(np.array([pair[0] for pair in answer]), 0)
        np.testing.assert_allclose(found.probs[row, : len(answer)], expected, rtol=1e-12)
    assert found.probs[0, 2] == 0
    assert (found.ids.tolist(), uq.load_labels(path).tolist()) == ([5, 6], targets)


@pytest.mark.parametrize("answer", [["text"], [["-1.0", "maybe"], ["-2.0", "True"]], [[-1.0, True]], "A"])
def test_samples_that_are_no_multiple_choice_are_refused(tmp_path, answer):
    sample = {"doc_id": 0, "target": "0", "filtered_resps": answer}
    with refuses("filtered_resps", got="line 1.*multiple_choice", error=FileFormatError):
        uq.load(lines(tmp_path, sample))


# -- log-probabilities of OpenAI -----------------------------------------------------------------------------------------


def completion(tokens: dict, form: str = "completion", **own) -> dict:
    """The object of a chat completion, as OpenAI's API reference describes it."""
    top = [{"token": t, "logprob": float(np.log(p)), "bytes": list(t.encode())} for t, p in tokens.items()]
    choice = {"index": 0, "message": {"role": "assistant", "content": next(iter(tokens))},
              "logprobs": {"content": [top[0] | {"top_logprobs": top}], "refusal": None}, "finish_reason": "stop"}  # fmt: skip
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
    return {
        "completion": whole | own,
        "choice": choice | own,
        "batch": {"id": "batch_req_1", "custom_id": "q1", "response": {"status_code": 200, "body": whole}} | own,
    }[form]


@pytest.mark.parametrize("form", ["completion", "choice", "batch"])
def test_options_that_are_all_listed_are_a_distribution(tmp_path, form):
    path = lines(
        tmp_path,
        completion({"A": 0.5, " A": 0.1, "B": 0.2, "x": 0.1}, form, label="B"),
        completion({"B": 0.6, "A": 0.2}, form, label="A") | ({"custom_id": "q2"} if form == "batch" else {}),
    )
    found = uq.load(path)
    assert found.class_names == ("A", "B")
    np.testing.assert_allclose(found.probs, [[0.75, 0.25], [0.25, 0.75]], rtol=1e-12)
    assert (found.ids is None) == (form != "batch")
    assert uq.load_labels(path).tolist() == [1, 0]


def test_options_that_are_not_listed_are_intervals_against_all_distributions(random_generator):
    """The answers' probabilities are drawn among all that agree with the list; the bounds hold them and are attained."""
    options = list("ABCDE")
    for left in (0.02, 0.3):
        listed = {"A": 0.5, "x": 0.3 - left / 2, "C": 0.2 - left / 2}
        lower, upper = option_bounds({t: float(np.log(p)) for t, p in listed.items()}, options)
        hidden = random_generator.dirichlet(np.full(4, 0.3), 20_000) * left  # B, D, E and all other tokens
        corners = np.vstack([np.zeros(4), left * np.eye(4), left * np.array([[1, 1, 0, 0], [1, 1, 1, 0]]) / [[2], [3]]])
        most = min(listed.values())
        corners = np.minimum(np.vstack([corners, np.full((1, 4), most)]), most)
        hidden = np.vstack([hidden, corners])
        hidden = hidden[(hidden.max(axis=1) <= most) & (hidden[:, :3].sum(axis=1) <= left + 1e-12)]
        p = np.stack(
            [np.full(len(hidden), 0.5), hidden[:, 0], np.full(len(hidden), listed["C"]), *hidden[:, 1:3].T], axis=1
        )
        p /= p.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(p.min(axis=0), lower, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(p.max(axis=0), upper, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stated", ["argument", "key"])
def test_the_options_are_stated_or_asked_for(tmp_path, stated):
    tokens = {"A": 0.5, "x": 0.3, "C": 0.1}
    with refuses("options", "missing", got='"options": ', error=FileFormatError):
        uq.load(lines(tmp_path, completion(tokens)))
    own = {"options": ["C", "A", "B"]} if stated == "key" else {}
    contents = open_contents(
        lines(tmp_path, completion(tokens, **own)), reading=TableReading(like=() if own else ("C", "A", "B"))
    )
    assert contents.arrays["class_names"].read().tolist() == ["C", "A", "B"]
    lower, upper = contents.arrays["lower"].read(), contents.arrays["upper"].read()
    np.testing.assert_allclose([lower[0], upper[0]], [[1 / 7, 5 / 7, 0], [1 / 6, 5 / 6, 1 / 7]], rtol=1e-12)
    if own:
        found = uq.load(tmp_path / "p.jsonl")
        assert isinstance(found, uq.Intervals)
        assert found.class_names == ("C", "A", "B")


def test_no_option_in_the_list_says_nothing():
    assert option_bounds({"x": -0.1}, ["A", "B"]) == ([0, 0], [1, 1])


def test_broken_log_probabilities_are_named(tmp_path):
    broken = completion({"A": 0.5, "B": 0.5}, label="A")
    broken["choices"][0]["logprobs"]["content"][0]["top_logprobs"][1]["logprob"] = 0.5
    with refuses("top_logprobs", "type", got="line 2", error=FileFormatError):
        uq.load(lines(tmp_path, completion({"A": 0.5, "B": 0.5}, label="B"), broken))
    with refuses("logprobs", "missing", got="line 2", error=FileFormatError):
        uq.load(lines(tmp_path, completion({"A": 0.5, "B": 0.5}, label="B"), {"choices": [], "label": "A"}))


# -- tables --------------------------------------------------------------------------------------------------------------


def csv(folder, text: str):
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return folder / "t.csv"


@pytest.mark.parametrize("quoted", [False, True])
def test_predictions_of_weka(tmp_path, needs, quoted):
    """doPrintHeader of weka.classifiers.evaluation.output.prediction.CSV writes one comma more for each further class."""
    needs("pyarrow")
    rows = [
        ("1:no", "1:no", "", "*0.75,0.25,0"),
        ("3:yes", "1:no", "+", "*0.5,0.25,0.25"),
        ("3:yes", "3:yes", "", "0,0,*1"),
    ]
    cell = '"{}"' if quoted else "{}"
    text = f"inst#,actual,predicted,error,distribution{'' if quoted else ',,'},age\n" + "".join(
        f"{i},{a},{p},{e},{cell.format(d)},{30 + i}\n" for i, (a, p, e, d) in enumerate(rows, 1)
    )
    found = uq.load(csv(tmp_path, text))
    assert found.class_names == ("no", "class 2", "yes")  # the name of a class that no instance has is not in the file
    assert found.probs.tolist() == [[0.75, 0.25, 0], [0.5, 0.25, 0.25], [0, 0, 1]]
    assert found.ids.tolist() == [1, 2, 3]
    assert found.notes[0].facts["columns"] == ("age",)
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [0, 2, 2]
    unlabelled = csv(tmp_path, text.replace("1:no,1:no", "1:?,1:no"))
    assert uq.load(unlabelled).n_instances == 3
    with refuses("key", "missing", error=FileFormatError):
        uq.load_labels(unlabelled)
    with refuses("distribution", "type", got="row 1", error=FileFormatError):
        uq.load(csv(tmp_path, text.replace("*0.5,0.25,0.25", "?,,")))


def test_probabilities_of_one_of_two_classes(tmp_path, needs):
    needs("pyarrow")
    found = uq.load(csv(tmp_path, "y_true,y_prob,site\n1,0.75,a\n0,0.25,b\n"))
    assert (found.probs.tolist(), found.class_names) == ([[0.25, 0.75], [0.75, 0.25]], None)
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [1, 0]
    named = csv(tmp_path, "y_true,y_prob\nyes,0.75\nno,0.25\n")
    with refuses("positive", "missing", got="row 0 holds 'yes'", error=FileFormatError):
        uq.load(named)
    assert uq.load_labels(named).tolist() == ["yes", "no"]
    assert uq.load(named, positive="no").probs.tolist() == [[0.25, 0.75], [0.75, 0.25]]
    found = uq.load_labels(named, positive="yes")
    assert (found.tolist(), found.class_names) == ([1, 0], ("no", "yes"))
    contents = open_contents(named, positive="yes")
    assert contents.arrays["class_names"].read().tolist() == ["no", "yes"]
    assert contents.arrays["labels"].read().tolist() == ["yes", "no"]
    with refuses("positive", "choice", got="no and yes"):
        open_contents(named, positive="Yes")
    with refuses("y_prob", "type", got="row 1 holds ''", error=FileFormatError):
        uq.load(csv(tmp_path, "y_true,y_prob\n1,0.75\n0,\n"))


@pytest.mark.parametrize(
    "cells",
    [
        ["[0.7 0.2 0.1]", "[0.25 0.5\n 0.25]"],
        ["[0.7, 0.2, 0.1]", "[2.5e-1, .5, 0.25]"],
        ["0.7;0.2;0.1", "0.25;0.5;0.25"],
        ["0.7 0.2 0.1", "0.25 0.5 0.25"],
    ],
)
@pytest.mark.parametrize("extension", [".csv", ".parquet", ".jsonl"])
def test_vectors_as_text(tmp_path, needs, cells, extension):
    needs("pyarrow")
    import pandas as pd

    frame = pd.DataFrame({"id": ["a", "b"], "prediction": cells, "label": [0, 1]})
    path = tmp_path / f"t{extension}"
    if extension == ".csv":
        frame.to_csv(path, index=False)
    elif extension == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    found = uq.load(path)
    assert found.probs.tolist() == [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25]]
    assert found.ids.tolist() == ["a", "b"]
    assert uq.load_labels(path).tolist() == [0, 1]


def test_vectors_of_unequal_lengths_name_their_row(tmp_path, needs):
    needs("pyarrow")
    with refuses("p", "type", got="3 numbers.*row 1 holds '.0.5 0.5.'", error=FileFormatError):
        uq.load(csv(tmp_path, "p,label\n[0.7 0.2 0.1],0\n[0.5 0.5],1\n"))
    assert uq.load(csv(tmp_path, "logits,label\n[0 0],0\n[1 1],1\n")).probs.tolist() == [[0.5, 0.5]] * 2


def test_every_layout_states_its_source():
    for layout in (*other_programs.RECORD_LAYOUTS, *other_programs.FILE_LAYOUTS):
        assert f"* `{layout.name}`: " in other_programs.__doc__
