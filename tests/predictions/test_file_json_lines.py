"""JSON Lines: one instance a line."""

import json
import tracemalloc

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.files import inspect_file


def lines(folder, *objects, name: str = "p.jsonl"):
    texts = [item if isinstance(item, str) else json.dumps(item) for item in objects]
    (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder / name


def test_a_point_with_everything_beside_it(tmp_path):
    path = lines(
        tmp_path,
        {"probs": [0.25, 0.75], "label": 1, "id": "a", "group": 7, "question": "?"},
        "",
        {"id": "b", "label": 0, "group": 9, "probs": [1, 0], "question": "!"},
    )
    prediction = uq.load(path)
    assert prediction.probs.tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert (prediction.ids.tolist(), prediction.groups.tolist()) == (["a", "b"], [7, 9])
    assert prediction.notes[0].facts["columns"] == ("question",)
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load_labels(path, "group").tolist() == [7, 9]
    found = inspect_file(path)
    assert (found["kind"], found["n_instances"], found["labels"], found["ignored"]) == ("point", 2, True, ["question"])


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("kind", ["point", "members", "weighted"])
def test_round_trip(tmp_path, kind, named):
    names = {"class_names": ("kat", "Hünd", "x\ny")} if named else {}
    carried = names | {"ids": np.array(["1", "b"]), "groups": np.array([3, 3])}
    prediction = {
        "point": lambda: uq.Point(rows(2, 3), **carried),
        "members": lambda: uq.Members(rows(2, 4, 3), **carried),
        "weighted": lambda: uq.Members(rows(2, 2, 3), [0.25, 0.75], **carried),
    }[kind]()
    path = tmp_path / "p.jsonl"
    uq.save(prediction, path, labels=[2, 0])
    back = uq.load(path)
    assert type(back) is type(prediction)
    np.testing.assert_array_equal(back.probs, prediction.probs)
    np.testing.assert_array_equal(back.mean_probs(), prediction.mean_probs())
    assert back.class_names == prediction.class_names
    assert (back.ids.tolist(), back.groups.tolist(), back.notes) == (["1", "b"], [3, 3], ())
    assert uq.load_labels(path).tolist() == [2, 0]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_narrow_floats_that_text_cannot_hold_are_refused(tmp_path):
    third = np.full((2, 4, 3), 1 / 3, dtype=np.float16)
    with refuses("probs", "sum", got="row 0", source="p.jsonl", error=FileFormatError):
        uq.save(uq.Members(third), tmp_path / "p.jsonl")


# -- rows with different numbers of options ---------------------------------------------------------------------------


def test_options_that_a_row_lacks_have_probability_0(tmp_path):
    path = lines(
        tmp_path,
        {"probs": [0.2, 0.3, 0.5], "label": 2},
        {"probs": [0.1, 0.2, 0.3, 0.4], "label": 3},
        {"probs": [0.1, 0.1, 0.1, 0.1, 0.6], "label": 4},
    )
    prediction = uq.load(path)
    assert prediction.probs.tolist() == [[0.2, 0.3, 0.5, 0, 0], [0.1, 0.2, 0.3, 0.4, 0], [0.1, 0.1, 0.1, 0.1, 0.6]]
    (note,) = prediction.notes
    assert (note.code, note.facts) == ("padded-options", {"rows": 2, "options": 5})
    assert uq.load_labels(path).tolist() == [2, 3, 4]
    members = uq.load(lines(tmp_path, {"probs": [[0.5, 0.5], [1, 0]]}, {"probs": [[0.2, 0.3, 0.5]] * 2}))
    assert members.probs.tolist() == [[[0.5, 0.5, 0], [1, 0, 0]], [[0.2, 0.3, 0.5]] * 2]


def test_logits_of_options_that_a_row_lacks_are_minus_infinity(tmp_path):
    prediction = uq.load(lines(tmp_path, {"logits": [1.0, 1.0]}, {"logits": [0.0, 0.0, 0.0, 0.0]}))
    np.testing.assert_allclose(prediction.probs, [[0.5, 0.5, 0, 0], [0.25] * 4])


def test_options_by_name(tmp_path):
    path = lines(
        tmp_path,
        {"probs": {"A": 0.25, "B": 0.75}, "label": "B"},
        {"probs": {"C": 0.5, "A": 0.5}, "label": "C"},
        {"probs": {"B": 1.0}, "label": "B"},
    )
    assert uq.load(path).class_names == ("A", "B", "C")
    assert uq.load(path).probs.tolist() == [[0.25, 0.75, 0], [0.5, 0, 0.5], [0, 1, 0]]
    assert uq.load_labels(path).tolist() == [1, 2, 1]
    digits = uq.load(lines(tmp_path, {"probs": {"1": 0.25, "0": 0.75}}, {"probs": {"2": 1.0}}))
    assert digits.class_names is None
    assert digits.probs.tolist() == [[0.75, 0.25, 0], [0, 0, 1]]


# -- what is refused --------------------------------------------------------------------------------------------------

GOOD = {"probs": [0.5, 0.5], "label": 0}


@pytest.mark.parametrize(
    ("bad", "parameter", "code", "got"),
    [
        ("{", "line 2", "unreadable", "Expecting"),
        ("[0.5, 0.5]", "line 2", "unreadable", r"it is \[0\.5, 0\.5\]"),
        ("[" * 100_000, "line 2", "unreadable", "."),
        ('{"probs": [0.5, 0.5], "label": 0, "probs": [1, 0]}', "line 2", "unreadable", "twice"),
        ({"probs": [0.5, "0.5"], "label": 0}, "probs", "type", 'line 2: holds "0.5"'),
        ({"probs": [0.5, None], "label": 0}, "probs", "type", "line 2: holds null"),
        ({"probs": [True, False], "label": 0}, "probs", "type", "line 2: holds true"),
        ({"probs": [], "label": 0}, "probs", "type", "line 2: it is empty"),
        ({"probs": 0.5, "label": 0}, "probs", "type", "line 2: has 0.5"),
        ({"probs": {"a": 0.5, "b": 0.5}, "label": 0}, "probs", "type", 'line 2: has ."a": 0.5'),
        ({"probs": [[0.5, 0.5]], "label": 0}, "probs", "shape", "line 2: has 1 members"),
        ({"probs": [10**400, 0], "label": 0}, "probs", "range", "line 2"),
        ({"logits": [0.5, 0.5], "label": 0}, "line 2", "missing", "logits"),
        ({"probs": [0.5, 0.5], "logits": [0, 0], "label": 0}, "line 2", "conflict", "probs and logits"),
        ({"probs": [0.5, 0.5]}, "label", "missing", "1 line of 2"),
        ({"probs": [0.5, 0.5], "label": 0, "id": 3}, "id", "missing", "line 2"),
        ({"probs": [0.5, 0.5], "label": None}, "label", "type", "line 2: holds null"),
        ({"probs": [0.5, 0.5], "label": "0"}, "label", "type", 'line 2: holds "0"'),
        ({"probs": [0.2, 0.2, 0.6], "label": 3}, "label", "range", "line 2: it is 3 and the options are 0 … 2"),
        ({"probs": [0.5, 0.6], "label": 0}, "probs", "sum", "sums to 1.1"),
        ('{"probs": [NaN, 1], "label": 0}', "probs", "finite", "nan"),
    ],
)
def test_every_broken_line_is_named(tmp_path, bad, parameter, code, got):
    path = lines(tmp_path, GOOD, bad)
    with refuses(parameter, code, got=got, error=FileFormatError) as refusal:
        uq.load(path)
    assert refusal.value.source == ("p.jsonl, line 2" if code in ("sum", "finite") else "p.jsonl")


def test_lines_are_counted_with_the_blank_ones(tmp_path):
    with refuses("probs", "sum", source="p.jsonl, line 5", error=FileFormatError):
        uq.load(lines(tmp_path, "", GOOD, "", "", {"probs": [0.5, 0.4], "label": 1}))
    (tmp_path / "q.jsonl").write_bytes(b'{"probs": [0.5, 0.5]}\n{"probs": [0.5, 0.5], "id": "\xe9"}\n')
    with refuses("line 2", "encoding", got="0xe9", source="q.jsonl", error=FileFormatError):
        uq.load(tmp_path / "q.jsonl")
    (tmp_path / "r.jsonl").write_text(" \n\n")
    with refuses("lines", "empty", source="r.jsonl", error=FileFormatError):
        uq.load(tmp_path / "r.jsonl")


def test_one_wide_row_does_not_widen_all_without_a_limit(tmp_path):
    wide = {"probs": [1e-5] * 100_000}
    with refuses("probs", "size", got="8.00 GB", source="p.jsonl", error=FileFormatError):
        uq.load(lines(tmp_path, *[{"probs": [1.0]}] * 9_999, wide))


def test_reading_takes_memory_for_the_arrays_and_not_for_the_text(tmp_path):
    n, k = 4000, 50
    path = tmp_path / "p.jsonl"
    uq.save(uq.Point(rows(n, k)), path)
    tracemalloc.start()
    try:
        uq.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (
        peak < 8 * 8 * n * k
    )  # the values, where each belongs, and the array; objects of Python would take 30 words a value


@pytest.mark.parametrize("text", ['[{"probs": [0.5, 0.5]}]', '{\n"probs": [0.5, 0.5]}'])
def test_a_file_that_is_one_value_is_answered_by_how_to_split_it(tmp_path, text):
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="write one object to a line"):
        uq.load(path)
