"""Tables and lines: csv, parquet, JSON Lines."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import PACKAGES, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import tables_on_disk
from uqassay.predictions.files import inspect_file, load_column, read_contents

# -- csv -----------------------------------------------------------------------------------------------------------------


def csv(folder, text: str):
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return folder / "t.csv"


def test_columns_are_taken_in_their_order_with_class_names(tmp_path):
    path = csv(tmp_path, "id,proba_dog,age,proba_cat,label,group\nx,0.25,31,0.75,cat,p1\ny,1,40,0,dog,p1\n")
    prediction = uq.load(path)
    assert prediction.probs.tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert prediction.class_names == ("dog", "cat")
    assert prediction.ids.tolist() == ["x", "y"]
    assert prediction.groups.tolist() == ["p1", "p1"]
    assert [(note.code, note.facts["columns"]) for note in prediction.notes] == [("columns-ignored", ("age",))]
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load_labels(path, key="age").tolist() == [31, 40]


def test_table_of_calzone(tmp_path):
    """calzone writes proba_0, …, subgroup_1, …, label, the label often as a float."""
    text = "proba_0,proba_1,subgroup_1,label\n1.0e-01,9.0e-01,A,1.0e+00\n0.7,0.3,B,0.0e+00\n"
    prediction = uq.load(csv(tmp_path, text))
    assert prediction.class_names is None
    assert list(prediction.keys) == ["subgroup_1"]
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [1, 0]


def test_quotes_spaces_blank_lines_and_byte_order_mark(tmp_path):
    text = '\ufeff"proba_a, b", proba_c, label \n\n"0.5", 0.5 ,"a, b"\n   \n0.1,0.9,c\n\n'
    prediction = uq.load(csv(tmp_path, text))
    assert prediction.class_names == ("a, b", "c")
    assert prediction.probs.tolist() == [[0.5, 0.5], [0.1, 0.9]]
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "20"], [1, 20]),
        (["007", "7"], ["007", "7"]),  # leading zeros tell patients apart
        (["1", "x"], ["1", "x"]),
        (["+1", "2"], ["+1", "2"]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
    ],
)
def test_ids_are_whole_numbers_only_where_spelt_as_such(tmp_path, cells, expected):
    text = "id,proba_0,proba_1\n" + "".join(f"{cell},0.5,0.5\n" for cell in cells)
    assert uq.load(csv(tmp_path, text)).ids.tolist() == expected


@pytest.mark.parametrize(
    ("text", "parameter", "code", "got"),
    [
        ("proba_a,proba_b\n0.5,0.5\n0.1,zero\n", "proba_b", "type", "row 1 holds 'zero'"),
        ("proba_a,proba_b\n0.5,\n", "proba_b", "type", "row 0 holds ''"),
        ("proba_a,proba_b\n0.5,NA\n", "proba_b", "type", "row 0 holds 'NA'"),
        ("proba_a,proba_b\n0.5,0.5\n1_0,0.5\n", "proba_a", "type", "row 1 holds '1_0'"),
        ("proba_a,proba_b\n0x1p-1,0.5\n", "proba_a", "type", "row 0 holds '0x1p-1'"),
        ('proba_a,proba_b\n"0,5","0,5"\n', "proba_a", "type", "row 0 holds '0,5'; write decimals with a point"),
        ('proba_a,proba_b\n"1,000.5",0\n', "proba_a", "type", "row 0 holds '1,000.5'"),
        ("proba_a,proba_b\n0.5,0.5\n0.1\n", "rows", "shape", "2 cells.*row 1 has 1"),
        ("proba_a,proba_b\n0,1,1,0\n0,1,1,0\n", "rows", "shape", "row 0 has 4.*decimals with a point"),
        ("proba_a,proba_b\n0.5,0.5\n0.5,0.5,\n", "rows", "shape", "row 1 has 3"),
        ("proba_a,proba_b,label\n0.5,0.5,a, b\n", "rows", "shape", "row 0 has 4; quote text"),
        ("proba_a,proba_b\n0.5,nan\n", "proba_b", "finite", "row 0 holds 'nan'"),
        ("a,b\n1,1\n", "columns", "missing", "look like counts.*normalise=True"),
        ("a,b\n50.5,49.5\n", "columns", "missing", "look like counts or per cent; a, b; row 0 sums to 100"),
        ("a,b\n0.5,\n0.5,0.5\n", "b", "type", "row 0 holds ''"),
        ("proba_a,proba_b\n", "rows", "empty", "found none"),
        ("proba_a,proba_a\n0.5,0.5\n", "header", "duplicate", "'proba_a'"),
        ("\n0.5,0.5\n", "header", "empty", ""),
        ("proba_0;proba_1\n0,5;0,6\n", "probs", "sum", "sums to 1.1"),
        ("proba_0;proba_1\n1.000,5;0\n", "proba_0", "type", "row 0 holds '1.000,5'"),
        ("id\tproba_0\tproba_1\na\t0.5\n", "rows", "shape", "quote text that contains"),
        ("0,5;0,5\n0,5;0,5\n", "header", "missing", "it holds numbers"),
        ("proba_1\n0.5\n", "columns", "missing", "y_prob.*positive="),
        ("proba_0,proba_1\n0.5,0.6\n", "probs", "sum", "row 0 sums to 1.1"),
        ("proba_0,proba_1\n" + "9" * 200_000 + ",0\n", None, None, ""),
        ('proba_0,proba_1,id\n0.5,0.5,"' + "x" * 200_000 + '"\n', "cells", "type", "limit"),
    ],
)
def test_every_broken_table_is_named_with_its_place(tmp_path, text, parameter, code, got):
    with pytest.raises(FileFormatError) as caught:
        uq.load(csv(tmp_path, text))
    problem = caught.value
    assert problem.source == "t.csv"
    assert parameter in (None, problem.parameter), str(problem)
    assert code in (None, problem.code), str(problem)
    assert re.search(got, str(problem)), str(problem)
    assert len(str(problem)) < 500


@pytest.mark.parametrize(
    ("content", "got", "encoding"),
    [
        ("proba_h\xfcnd,proba_kat\n0.5,0.5\n".encode("latin-1"), r"line 1 holds byte 0xfc.*'ü'", "latin-1"),
        (
            "proba_a,proba_b,label\n0.5,0.5,a\n0.5,0.5,\xe9\n".encode("latin-1"),
            "line 3 holds byte 0xe9.*'é'",
            "latin-1",
        ),
        ("proba_a,proba_b\n0.5,0.5\n".encode("utf-16"), "UTF-16", "utf-16"),
    ],
)
def test_another_encoding_is_named(tmp_path, content, got, encoding):
    (tmp_path / "t.csv").write_bytes(content)
    with refuses("encoding", "encoding", got=got, source="t.csv", error=FileFormatError) as refusal:
        uq.load(tmp_path / "t.csv")
    assert refusal.value.facts["encoding"] == encoding


def test_line_ends_of_windows_and_a_missing_last_one(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbfproba_0,proba_1,label\r\n"0.25",0.75,1\r\n1,0,0')
    assert uq.load(tmp_path / "t.csv").probs.tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [1, 0]


def test_one_long_text_does_not_make_all_rows_as_long(tmp_path):
    lines = "".join(f"0.5,0.5,{i}x\n" for i in range(5000))
    path = csv(tmp_path, f"proba_0,proba_1,id\n{lines}0.5,0.5,{'y' * 100_000}\n")
    with refuses("id", "size", got="2.00 GB", source="t.csv", error=FileFormatError):
        uq.load(path)


def test_narrow_floats_that_text_cannot_hold_are_refused(tmp_path):
    third = np.full((2, 3), 1 / 3, dtype=np.float16)  # sums to 0.99976 when read as float64
    with refuses("probs", "sum", got="row 0 .*float16.* sums to 0.999756", source="t.csv", error=FileFormatError):
        uq.save(uq.Point(third), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_votes_cannot_be_a_column(tmp_path):
    with refuses("labels", "format", got=r"got shape \(1, 2\)", source="t.csv", error=FileFormatError):
        uq.save(uq.Point([[0.5, 0.5]]), tmp_path / "t.csv", labels=[[3, 1]])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ('label\n0\n""\n1\n', 1),
        ("label\n0\n\n1\n", 1),
        ("label\n0\n1\n \n", 2),
        ('label\ncat\ndog\n""\n', 2),
        ('label\n""\n0\n', 0),
        ("proba_0,proba_1,label\n0.5,0.5,0\n0.5,0.5,\n0.5,0.5,1\n", 1),
        ("proba_a,proba_b,label\n0.5,0.5,\n0.5,0.5,b\n", 0),
        ("id,label\n7,0\n\n8,\n9,1\n", 1),
    ],
)
def test_an_empty_label_is_missing(tmp_path, text, row):
    path = csv(tmp_path, text)
    with refuses("label", "missing", got=f"row {row} is empty", source="t.csv", error=FileFormatError) as refusal:
        uq.load_labels(path)
    assert refusal.value.facts["row"] == row
    if "proba" in text:  # probabilities without labels
        assert uq.load(path).n_instances == len(text.split()) - 1


def test_blank_lines_at_the_end_are_no_rows(tmp_path):
    assert uq.load_labels(csv(tmp_path, "label\n0\n1\n\n\n")).tolist() == [0, 1]
    assert uq.load_labels(csv(tmp_path, "label\r\n0\r\n1\r\n\r\n")).tolist() == [0, 1]
    assert uq.load_labels(csv(tmp_path, "id,label\n\na,0\n\nb,1\n\n")).tolist() == [0, 1]


@pytest.mark.parametrize(
    "text", ['group\na\n""\nb\n', "group\na\n\nb\n", "id,group\n1,a\n2,\n3,b\n", "x,group\n1,4\n2,\n3,5\n"]
)
def test_an_empty_group_is_missing(tmp_path, text):
    with refuses("group", "missing", got="row 1 is empty", source="t.csv", error=FileFormatError):
        load_column(csv(tmp_path, text), ["groups"])


def test_labels_of_a_class_whose_name_is_empty_may_be_empty(tmp_path):
    path = csv(tmp_path, "proba_,proba_b,label\n0.5,0.5,\n0.5,0.5,b\n")
    assert uq.load_labels(path).tolist() == [0, 1]


@pytest.mark.parametrize("text", [".5,.5\n.2,.8\n", "0.7,0.3\n.2,.8\n", "0.5,0.5,cat\n.2,.8,dog\n"])
def test_a_file_without_a_header_says_so(tmp_path, text):
    with refuses("header", "missing", got="name the columns; .*such as 0?.[57]", source="t.csv", error=FileFormatError):
        uq.load(csv(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("proba_cat;proba_dog\n0,25;0,75\n", None),
        ("\ufeffid;proba_cat;proba_dog\r\na;0,25;0,75\r\n", ["a"]),
        ("id\tproba_cat\tproba_dog\na\t0.25\t0.75\n", ["a"]),
        ('id|proba_cat|proba_dog\n"a|b"|0.25|0.75\n', ["a|b"]),
    ],
)
def test_other_separators_and_decimal_commas_are_read(tmp_path, text, ids):
    found = uq.load(csv(tmp_path, text))
    assert found.probs.tolist() == [[0.25, 0.75]]
    assert found.class_names == ("cat", "dog")
    assert (found.ids if found.ids is None else found.ids.tolist()) == ids


def test_columns_of_decimal_numbers_are_the_classes_where_none_says_so(tmp_path):
    path = csv(tmp_path, ",image,cat,dog,age,label\n0,x.png,0.25,0.75,61,dog\n1,y.png,1.0,0.0,48,cat\n")
    found = uq.load(path)
    assert found.class_names == ("cat", "dog")
    assert found.probs.tolist() == [[0.25, 0.75], [1, 0]]
    assert [note.code for note in found.notes] == ["columns-ignored"]  # named like the labels
    assert (found.notes[0].text, list(found.keys)) == (
        "columns left out: age; used: label as label, image may identify the rows",
        ["image"],
    )
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load(csv(tmp_path, "0,1\n0.25,0.75\n")).class_names is None


def test_columns_taken_as_classes_can_be_read_by_their_names(tmp_path):
    path = csv(tmp_path, "patient,weight,height\np1,61.5,1.7\np2,70.2,1.8\n")
    assert load_column(path, ["weight"]).tolist() == [61.5, 70.2]
    with pytest.raises(FileFormatError, match="found patient, weight, height;"):
        uq.load_labels(path)


# -- parquet -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def write(tmp_path, needs):
    """Write columns to t.parquet."""
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    def table(columns, **options):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", **options)
        return tmp_path / "t.parquet"

    return table


def test_parquet_written_by_pandas(tmp_path, needs):
    needs("pyarrow")
    import pandas as pd

    frame = pd.DataFrame(
        {"proba_a.b": np.float32([0.25, 0.5]), "proba_c": [0.75, 0.5], "label": pd.Categorical(["c", "a.b"])},
        index=["r1", "r2"],
    )
    frame["weight"] = [1, 2]
    frame.to_parquet(tmp_path / "t.parquet")
    prediction = uq.load(tmp_path / "t.parquet")
    assert prediction.probs.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert prediction.class_names == ("a.b", "c")
    assert prediction.notes[0].facts["columns"] == ("weight",)
    assert uq.load_labels(tmp_path / "t.parquet").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("columns", "parameter", "code", "got"),
    [
        ({"proba_a": ["x", "y"], "proba_b": [0.5, 0.5]}, "proba_a", "type", "string"),
        ({"proba_a": [True, False], "proba_b": [0.5, 0.5]}, "proba_a", "type", "bool"),
        ({"proba_a": [[0.5], [0.5]], "proba_b": [0.5, 0.5]}, "proba_a", "type", "list"),
        ({"proba_a": [0.5, None], "proba_b": [0.5, 0.5]}, "proba_a", "missing", "row 1 has none"),
        ({"proba_a": [0.5, 0.5], "proba_b": [0.5, float("nan")]}, "proba_b", "finite", "row 1 holds nan"),
        ({"a": [1]}, "columns", "missing", "found a"),
    ],
)
def test_broken_parquet_is_named_with_its_place(write, columns, parameter, code, got):
    path = write(columns)
    with refuses(parameter, code, got=got, source="t.parquet", error=FileFormatError):
        uq.load(path)


@pytest.mark.parametrize(
    ("label", "code"), [([None, 1], "missing"), ([[1], [0, 1]], "type"), ([{"a": 1}, {"a": 0}], "type")]
)
def test_labels_that_are_missing_or_nested_are_refused(write, label, code):
    path = write({"proba_0": [0.5, 0.5], "proba_1": [0.5, 0.5], "label": label})
    with refuses("label", code, source="t.parquet", error=FileFormatError):
        uq.load_labels(path)


def test_columns_that_repeat_one_value_do_not_become_gigabytes(write, monkeypatch):
    n = 5_000_000
    path = write({"proba_0": np.zeros(n, np.float32), "proba_1": np.ones(n, np.float32)})
    assert path.stat().st_size < 500_000
    with refuses("probs", "size", got="80.0 MB", source="t.parquet", error=FileFormatError):
        uq.load(path)
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", str(10**9))
    assert uq.load(path).n_instances == n


def test_one_long_text_of_parquet_does_not_make_all_rows_as_long(write):
    path = write({"proba_0": [0.5] * 3000, "proba_1": [0.5] * 3000, "label": ["a"] * 2999 + ["x" * 100_000]})
    with refuses("label", "size", got="1.20 GB", source="t.parquet", error=FileFormatError):
        uq.load_labels(path)


# -- JSON Lines ----------------------------------------------------------------------------------------------------------


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
    assert list(prediction.keys) == ["question", "id"]
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load_labels(path, "group").tolist() == [7, 9]
    found = inspect_file(path)
    assert (found["kind"], found["n_instances"], found["labels"], found["ignored"]) == ("point", 2, True, [])
    assert found["columns"]["question"] == "may identify the rows"


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


def test_narrow_floats_that_lines_cannot_hold_are_refused(tmp_path):
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
    with pytest.raises(FileFormatError, match="one object to a line"):
        uq.load(path)


# -- columns of tables ---------------------------------------------------------------------------------------------------


TABLES = pytest.mark.parametrize("extension", [".csv", ".parquet"])


@TABLES
def test_columns_sorted_as_text_are_put_in_the_order_of_the_classes(tmp_path, needs, extension):
    """pandas sorts proba_10 before proba_2; labels inside the table, labels of their own and `labels()` must agree."""
    needs("pandas", *{PACKAGES.get(extension, "numpy")})
    import pandas as pd

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 300)
    probs = np.full((300, 12), 0.02)
    probs[np.arange(300), truth] = 0.78
    frame = pd.DataFrame(probs, columns=[f"proba_{k}" for k in range(12)]).sort_index(axis=1)
    frame["label"] = truth
    path = tmp_path / f"t{extension}"
    frame.to_csv(path, index=False) if extension == ".csv" else frame.to_parquet(path)
    prediction = uq.load(path)
    assert prediction.class_names is None
    np.testing.assert_array_equal(prediction.probs, probs)
    np.testing.assert_array_equal(prediction.labels(), truth)
    np.testing.assert_array_equal(uq.load_labels(path), truth)
    np.testing.assert_array_equal(uq.Point(frame.drop(columns="label")).probs, probs)  # in memory as in a file


@TABLES
def test_numbers_are_names_where_the_columns_are_named_by_numbers(tmp_path, needs, extension):
    """With columns proba_2, proba_1 the label 1 is the second column; they are read in the order of the numbers."""
    needs(*{PACKAGES.get(extension, "numpy")})
    prediction = uq.Point([[0.3, 0.7], [0.6, 0.4]], class_names=("2", "1"))
    path = tmp_path / f"t{extension}"
    uq.save(prediction, path, labels=[1, 2])
    assert uq.load_labels(path).tolist() == [1, 2]
    assert uq.load(path).class_names == ("1", "2")
    np.testing.assert_array_equal(uq.load(path).probs, prediction.probs[:, ::-1])


@TABLES
def test_spaces_and_blank_lines_in_names_and_ids_are_kept(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    ids = np.array([" s0 ", "n\n\n0", "c\rr", 'q"x,', "t\t"])
    groups = np.array(["", "a", " ", "b\n", "\n\nc"])
    prediction = uq.Point([[0.5, 0.5]] * 5, class_names=(" lead", "tail "), ids=ids, groups=groups)
    uq.save(prediction, tmp_path / f"t{extension}", labels=[0, 1, 0, 1, 1])
    back = uq.load(tmp_path / f"t{extension}")
    assert back.class_names == (" lead", "tail ")
    assert back.ids.tolist() == ids.tolist()
    assert back.groups.tolist() == groups.tolist()
    assert uq.load_labels(tmp_path / f"t{extension}").tolist() == [0, 1, 0, 1, 1]


# -- columns without roles ---------------------------------------------------------------------------------------------


def test_a_reader_returns_columns_with_their_types_and_says_nothing_of_their_roles(tmp_path):
    text = 'id,proba_a,age,"two\nlines",note,empty\n007,0.25,31,1.5,x,\n7,+.75,40,-2e-1,"y\n\nz",4.5\n'
    contents = read_contents(csv(tmp_path, text))
    assert contents.arrays == {}
    types = {name: column.dtype for name, column in contents.columns.items()}
    assert types == {
        "id": "str", "proba_a": "float64", "age": "int64", "two\nlines": "float64", "note": "str", "empty": "float64",
    }  # fmt: skip
    assert contents.columns["age"].read().tolist() == [31, 40]
    assert contents.columns["note"].read().tolist() == ["x", "y\n\nz"]
    assert contents.columns["proba_a"].written.read().tolist() == ["0.25", "+.75"]
    np.testing.assert_array_equal(contents.matrix(["two\nlines", "age"]), [[1.5, 31], [-0.2, 40]])
    with refuses("empty", "missing", got="row 0"):
        contents.columns["empty"].read()
    with refuses("note", "type", got="row 0 holds 'x'"):
        contents.matrix(["age", "note"])


def test_decimal_text_against_python(tmp_path, random_generator):
    bits = random_generator.integers(0, 2**63 - 1, 3000).view(np.float64)
    numbers = bits[np.isfinite(bits)]
    spelt = [form(x) for x, form in zip(numbers, [repr, "{:.17e}".format, "{:.3f}".format] * 1000, strict=False)]
    spelt = [text.removeprefix("np.float64(").removesuffix(")") for text in spelt]
    path = csv(tmp_path, "a,b\n" + "".join(f"{text},1\n" for text in spelt))
    found = read_contents(path).columns["a"].read()
    np.testing.assert_array_equal(found, [float(text) for text in spelt])


def test_cells_are_trimmed_like_names_where_the_separator_has_a_space(tmp_path):
    path = csv(tmp_path, " <=50K, >50K, label\n0.9,0.1, <=50K\n0.2,0.8, >50K\n0.3,0.7, >50K\n")
    assert uq.load(path).class_names == ("<=50K", ">50K")
    assert uq.load_labels(path).tolist() == [0, 1, 1]


def test_a_ragged_row_far_below_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tables_on_disk, "BLOCK_BYTES", 2**20)
    rows_of_text = 'a,0.5,0.5,"x\ny"\n' * 150_000
    path = csv(tmp_path, f"name,proba_0,proba_1,note\n{rows_of_text}   \n\nb,0.5,0.5\n")
    assert path.stat().st_size > 2**21
    with refuses("rows", "shape", got="row 150000 has 3", source="t.csv", error=FileFormatError):
        uq.load(path)
    (tmp_path / "t.csv").write_text(path.read_text().removesuffix("b,0.5,0.5\n"))
    assert uq.load(path).n_instances == 150_000


def test_tables_with_tabs(tmp_path):
    path = tmp_path / "t.tsv"
    prediction = uq.Point([[0.25, 0.75]], class_names=("a\tb", "c,d"), ids=np.array(["x;y"]))
    uq.save(prediction, path, labels=[1])
    assert path.read_text().splitlines()[1] == "0.25\t0.75\tc,d\tx;y"
    back = uq.load(path)
    assert (back.probs.tolist(), back.class_names, back.ids.tolist()) == ([[0.25, 0.75]], ("a\tb", "c,d"), ["x;y"])
    path.write_text("one column, with a comma\n1\n")
    assert list(read_contents(path).columns) == ["one column, with a comma"]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_that_pandas_writes_into_csv(tmp_path, name):
    import pandas as pd

    frame = pd.DataFrame({"cat": [0.25, 0.5], "dog": [0.75, 0.5]}, index=["r7", "r3"])
    frame.to_csv(tmp_path / "t.csv", index_label=name or None)
    columns = read_contents(tmp_path / "t.csv").columns
    assert {key: column.index for key, column in columns.items()} == {name: True, "cat": False, "dog": False}
    assert columns[name].read().tolist() == ["r7", "r3"]
    assert uq.load(tmp_path / "t.csv").class_names == ("cat", "dog")


@pytest.mark.parametrize(
    ("index", "name"),
    [(["r7", "r3", "r5"], None), ([4, 2, 9], "key"), (range(10, 13), None), (range(2, -1, -1), "row")],
)
def test_the_index_that_pandas_writes_into_parquet(tmp_path, needs, index, name):
    needs("pyarrow")
    import pandas as pd

    frame = pd.DataFrame({"cat": [0.25, 0.5, 1], "dog": [0.75, 0.5, 0]}, index=pd.Index(index, name=name))
    frame.to_parquet(tmp_path / "t.parquet")
    columns = read_contents(tmp_path / "t.parquet").columns
    (found,) = [key for key, column in columns.items() if column.index]
    assert found == (name or "__index_level_0__")
    assert columns[found].read().tolist() == list(index)
    assert uq.load(tmp_path / "t.parquet").class_names == ("cat", "dog")
    frame.reset_index(drop=True).to_parquet(tmp_path / "t.parquet")
    assert uq.load(tmp_path / "t.parquet").ids.tolist() == [0, 1, 2]  # the default index, which other indexes can meet


def test_class_names_of_columns_of_parquet_are_taken_as_those_of_csv(write):
    path = write(
        {"image": ["x", "y"], "cat": np.float32([0.25, 1]), "dog": np.float32([0.75, 0]), "label": ["dog", "cat"]}
    )
    found = uq.load(path)
    assert (found.class_names, found.probs.tolist()) == (("cat", "dog"), [[0.25, 0.75], [1, 0]])
    assert found.probs.dtype == np.float32
    assert list(found.keys) == ["image"]
    assert uq.load_labels(path).tolist() == [1, 0]


def test_text_of_every_type_of_arrow(write):
    import pyarrow as pa

    texts = ["b", "a", "b", "ä" * 40]
    columns = {
        "string": pa.array(texts),
        "large": pa.array(texts, pa.large_string()),
        "view": pa.array(texts, pa.string_view()),
        "narrow": pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        "unsigned": pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.uint32(), pa.large_string())),
        "chunks": pa.chunked_array([pa.array(texts[:1]).dictionary_encode(), pa.array(texts[1:]).dictionary_encode()]),
    }
    stored = read_contents(write(columns, row_group_size=1)).columns
    for name in columns:
        assert (stored[name].dtype, stored[name].read().tolist()) == ("str", texts), name


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize(
    ("ids", "code", "got"), [(["a", "a\0"], "type", r"row \d holds 'a"), (["a", "b", None], "missing", "row 2")]
)
def test_ids_are_not_cut_and_none_is_missing(write, encoded, ids, code, got):
    import pyarrow as pa

    column = pa.array(ids).dictionary_encode() if encoded else pa.array(ids)
    n = len(ids)
    with refuses("id", code, got=got, source="t.parquet", error=FileFormatError):
        uq.load(write({"proba_0": [0.5] * n, "proba_1": [0.5] * n, "id": column}))


# -- JSON --------------------------------------------------------------------------------------------------------------

RECORDS = [{"probs": {"b": 0.25, "a": 0.75}, "label": "a", "id": 7}, {"probs": {"a": 1.0}, "label": "b", "id": 9}]
LISTS = {"probs": {"b": [0.25, 0], "a": [0.75, 1]}, "label": ["a", "b"], "id": [7, 9]}


@pytest.mark.parametrize("value", [RECORDS, LISTS], ids=["records", "lists"])
def test_a_list_of_objects_and_an_object_of_lists(tmp_path, value):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(value))
    found = uq.load(path)
    assert (found.class_names, found.probs.tolist(), found.ids.tolist()) == (("b", "a"), [[0.25, 0.75], [0, 1]], [7, 9])
    assert uq.load_labels(path).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "parameter", "code", "got"),
    [
        ('[{"probs": [0.5, 0.5]}, {"probs": [0.5, 0.4]}]', "probs", "sum", "0.9"),
        ('[{"probs": [0.5, 0.5]}, 3]', "item 2", "unreadable", "it is 3"),
        ('{"probs": [[0.5, 0.5]], "label": [0, 1]}', "file", "ragged", "probs has 1 and label has 2"),
        ('{"cat": {"0": 0.5}, "dog": {"0": 0.5}}', "file", "type", "it is"),
        ("[]", "items", "empty", "none"),
        ("3", "file", "type", "it is 3"),
        ("[" * 100_000, "file", "unreadable", "."),
        ("{}", "file", "type", "it is {}"),
    ],
)
def test_every_broken_json_is_named(tmp_path, text, parameter, code, got):
    (tmp_path / "p.json").write_text(text)
    with refuses(parameter, code, got=got, error=FileFormatError) as refusal:
        uq.load(tmp_path / "p.json")
    assert refusal.value.source == ("p.json, item 2" if code == "sum" else "p.json")


def test_lines_named_json_and_lists_named_lines_are_read_when_the_remedy_is_obeyed(tmp_path):
    for text, name, told, right in (
        ('{"probs": [1, 0]}\n{"probs": [0.5, 0.5]}\n', "p.json", ".jsonl", "p.jsonl"),
        ('[{"probs": [1, 0]}, {"probs": [0.5, 0.5]}]', "q.jsonl", ".json", "q.json"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileFormatError) as caught:
            uq.load(tmp_path / name)
        assert told in caught.value.remedy
        (tmp_path / name).rename(tmp_path / right)
        assert uq.load(tmp_path / right).n_instances == 2


@pytest.mark.parametrize(
    ("names", "in_order", "order"),
    [
        (["C", "A", "B"], ["C", "A", "B"], "keys"),
        (["2", "0", "1"], None, ""),
        (["prob_10", "prob_2", "prob_1"], ["prob_1", "prob_2", "prob_10"], ""),
        (["3", "1", "2"], ["1", "2", "3"], ""),
        (["a1", "b2", "a3"], ["a1", "b2", "a3"], "keys"),
        (["a01", "a1", "a2"], ["a01", "a1", "a2"], "keys"),
    ],
)
def test_keys_have_no_order_but_for_their_numbers(tmp_path, names, in_order, order):
    values = dict(zip(names, (0.5, 0.25, 0.25), strict=True))
    contents = read_contents(lines(tmp_path, {"probs": values}))
    assert contents.class_order == order
    found = contents.arrays["class_names"].read().tolist() if in_order else None
    assert found == in_order
    expected = [values[name] for name in in_order or sorted(names)]
    assert contents.arrays["probs"].read().tolist() == [expected]


def test_large_ids_do_not_go_through_floats(tmp_path):
    ids = [2**63 + 1, 2**63 + 3, 5]
    path = lines(tmp_path, *({"probs": [1, 0], "id": i} for i in ids))
    assert [int(i) for i in uq.load(path).ids] == ids
    for bad in (-1, 0.5):
        with refuses("id", "range", got=f"line 1: holds {2**63 + 1}", error=FileFormatError):
            uq.load(lines(tmp_path, {"probs": [1, 0], "id": 2**63 + 1}, {"probs": [1, 0], "id": bad}))


def test_bounds_in_lines_are_intervals(tmp_path):
    path = lines(tmp_path, {"lower": [0.1, 0.2], "upper": [0.8, 0.9]}, {"lower": [0, 0], "upper": [1, 1]})
    assert uq.load(path).lower.tolist() == [[0.1, 0.2], [0, 0]]


def test_records_without_a_prediction_are_a_table(tmp_path):
    path = lines(tmp_path, {"cat": 0.25, "dog": 0.75, "label": "dog"}, {"cat": 1.0, "dog": 0.0, "label": "cat"})
    assert list(read_contents(path).columns) == ["cat", "dog", "label"]
    assert uq.load(path).probs.tolist() == [[0.25, 0.75], [1, 0]]
    assert uq.load_labels(path).tolist() == [1, 0]


@pytest.mark.parametrize("extension", [".json", ".tsv"])
def test_what_the_new_formats_write_is_read_back(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    prediction = uq.Point(rows(4, 3), class_names=("kat", "Hünd", "x\ty"), ids=np.array(list("abcd")))
    uq.save(prediction, tmp_path / f"p{extension}", labels=[2, 0, 1, 1])
    back = uq.load(tmp_path / f"p{extension}")
    np.testing.assert_array_equal(back.probs, prediction.probs)
    assert (back.class_names, back.ids.tolist()) == (prediction.class_names, list("abcd"))
    assert uq.load_labels(tmp_path / f"p{extension}").tolist() == [2, 0, 1, 1]
