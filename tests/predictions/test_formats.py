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
from uqassay.predictions.files import inspect_file, load_column
from uqassay.predictions.keys import probability_columns

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
    assert prediction.notes[0].facts["columns"] == ("subgroup_1",)
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
        ("a,b\n1,0\n", "columns", "missing", "found a, b; name the columns of probabilities"),
        ("a,b\n50.5,49.5\n", "probs", "not-probabilities", "row 0 holds 50.5 at .*, in the columns a, b"),
        ("a,b\n0.5,\n0.5,0.5\n", "b", "type", "row 0 holds ''"),
        ("proba_a,proba_b\n", "rows", "empty", "found none"),
        ("proba_a,proba_a\n0.5,0.5\n", "header", "duplicate", "'proba_a'"),
        ("\n0.5,0.5\n", "header", "empty", ""),
        ("proba_0;proba_1\n0,5;0,6\n", "probs", "sum", "sums to 1.1"),
        ("proba_0;proba_1\n1.000,5;0\n", "proba_0", "type", "row 0 holds '1.000,5'"),
        ("id\tproba_0\tproba_1\na\t0.5\n", "rows", "shape", "quote text that contains"),
        ("0,5;0,5\n0,5;0,5\n", "header", "missing", "it holds numbers"),
        ("proba_1\n0.5\n", "probs", None, "from_binary"),
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
    assert [note.code for note in found.notes] == ["columns-by-type", "columns-ignored"]
    assert "cat, dog" in found.notes[0].text
    assert "image" in found.notes[1].text
    assert "cat" not in found.notes[1].text
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load(csv(tmp_path, "0,1\n0.25,0.75\n")).class_names is None


def test_columns_taken_as_classes_can_be_read_by_their_names(tmp_path):
    path = csv(tmp_path, "patient,weight,height\np1,61.5,1.7\np2,70.2,1.8\n")
    assert load_column(path, ["weight"])[0].tolist() == [61.5, 70.2]
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
    needs("pandas", "pyarrow")
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
    """With columns proba_2, proba_1 the label 1 is the second column, and so it is written."""
    needs(*{PACKAGES.get(extension, "numpy")})
    prediction = uq.Point([[0.3, 0.7], [0.6, 0.4]], class_names=("2", "1"))
    path = tmp_path / f"t{extension}"
    uq.save(prediction, path, labels=[1, 2])
    assert uq.load_labels(path).tolist() == [1, 2]
    assert uq.load(path).class_names == ("2", "1")
    np.testing.assert_array_equal(uq.load(path).probs, prediction.probs)


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


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["proba_1", "proba_0"], [1, 0]),
        (["proba_2", "proba_1"], [0, 1]),  # no class 0: names, in the order of the columns
        (["proba_01", "proba_00"], [0, 1]),
        (["proba_1", "id", "proba_0", "label", "proba_2"], [2, 0, 4]),
        (["id"], []),
    ],
)
def test_only_the_indices_of_all_classes_are_put_in_order(header, expected):
    assert probability_columns(header) == expected
