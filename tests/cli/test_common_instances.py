import json

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.common_instances import only_common_instances
from uqassay.errors import InputError


def point(ids):
    return uq.Point(np.full((len(ids), 2), 0.5), ids=ids)


def test_rows_of_all_models_in_the_order_of_the_first(tmp_path):
    first = uq.Point([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], ids=["a", "b", "c"])
    second = uq.Point([[0.4, 0.6], [0.5, 0.5]], ids=["c", "a"])
    found = only_common_instances({"x": ["x.npz"], "y": ["y.npz"]}, {"x": [first], "y": [second]})
    assert found["x"][0].ids.tolist() == found["y"][0].ids.tolist() == ["a", "c"]
    assert found["x"][0].probs[:, 0].tolist() == [0.1, 0.3]
    assert found["y"][0].probs[:, 0].tolist() == [0.5, 0.4]
    assert found["x"][0].notes == ()
    (note,) = found["y"][0].notes
    assert note.facts == {"instances": 2, "every": 3, "common": 2}
    assert note.text.startswith("has 2 of 3 instances; the 2 that every model has are judged")


def test_complete_files_stay_as_they_are():
    run = point(["a", "b"])
    assert only_common_instances({"x": ["x.npz"]}, {"x": [run]})["x"][0] is run


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (uq.Point([[0.5, 0.5]]), "y.npz has none"),
        (point(["c"]), "they have none"),
    ],
)
def test_ids_that_cannot_tell_are_refused(tmp_path, other, words):
    paths = {"x": [tmp_path / "x.npz"], "y": [tmp_path / "y.npz"]}
    with pytest.raises(InputError, match=words):
        only_common_instances(paths, {"x": [point(["a", "b"])], "y": [other]})


def test_a_model_without_an_answer_is_judged_on_the_others(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [
        {"id": f"q{i}", "probs": {"A": int(rng.integers(1, 9)), "B": int(rng.integers(1, 9))}, "label": "AB"[i % 2]}
        for i in range(40)
    ]
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    whole.write_text("\n".join(map(json.dumps, rows)))
    part.write_text("\n".join(map(json.dumps, reversed(rows[3:]))))
    command = ("rank", str(whole), str(part), "--normalise")
    refused = run(*command)
    assert refused.code == 2
    assert "part.jsonl: ids" in refused.err
    assert "--common-instances" in refused.err
    found = run(*command, "--common-instances")
    assert found.code == 0
    assert "part: has 37 of 40 instances; the 37 that every model has are judged" in " ".join(found.out.split())
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"q{i},{'AB'[i % 2]}\n" for i in range(40)))
    assert run(*command, "--common-instances", "--labels", str(labels)).code == 0
