"""Point predictions as comma-separated text."""

import re

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.files import load_column


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
        ("proba_a,proba_b\n0.5,nan\n", "probs", "finite", "row 0 holds nan"),
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
    parameter = "groups" if "," in text else "group"
    with refuses(parameter, "missing", got="row 1 is empty", source="t.csv", error=FileFormatError):
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
    assert load_column(path, ["weight"])[0].tolist() == ["61.5", "70.2"]
    with pytest.raises(FileFormatError, match="found patient, weight, height;"):
        uq.load_labels(path)
