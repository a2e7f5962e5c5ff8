"""Point predictions as csv and parquet."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError


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
    assert prediction.notes == ("columns ignored: age",)
    assert uq.load_labels(path).tolist() == [1, 0]
    assert uq.load_labels(path, key="age").tolist() == [31, 40]


def test_table_of_calzone(tmp_path):
    """calzone writes proba_0, …, subgroup_1, …, label, the label often as a float."""
    text = "proba_0,proba_1,subgroup_1,label\n1.0e-01,9.0e-01,A,1.0e+00\n0.7,0.3,B,0.0e+00\n"
    prediction = uq.load(csv(tmp_path, text))
    assert prediction.class_names is None
    assert prediction.notes == ("columns ignored: subgroup_1",)
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [1, 0]


def test_quotes_spaces_blank_lines_and_byte_order_mark(tmp_path):
    text = '\ufeff"proba_a, b", proba_c, label \n\n"0.5", 0.5 ,"a, b"\n   \n0.1,0.9,c\n\n'
    prediction = uq.load(csv(tmp_path, text))
    assert prediction.class_names == ("a, b", "c")
    assert prediction.probs.tolist() == [[0.5, 0.5], [0.1, 0.9]]
    assert uq.load_labels(tmp_path / "t.csv").tolist() == [0, 1]


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_spaces_and_blank_lines_in_names_and_ids_are_kept(tmp_path, needs, extension):
    needs(*{"pyarrow" if extension == ".parquet" else "numpy"})
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


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_a_label_is_the_name_of_its_column_even_where_names_are_numbers(tmp_path, needs, extension):
    """With columns proba_2, proba_1 the label 1 is the second column, and so it is written."""
    needs(*{"pyarrow" if extension == ".parquet" else "numpy"})
    prediction = uq.Point([[0.3, 0.7], [0.6, 0.4]], class_names=("2", "1"))
    uq.save(prediction, tmp_path / f"t{extension}", labels=[1, 0])
    assert uq.load_labels(tmp_path / f"t{extension}").tolist() == [1, 0]
    assert uq.load_labels(csv(tmp_path, "proba_2,proba_1,label\n0.5,0.5,2\n0.5,0.5,2\n")).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("proba_a,proba_b\n0.5,0.5\n0.1,zero\n", "proba_b: every cell must be a number; row 1 holds 'zero'; repair or"),
        ("proba_a,proba_b\n0.5,\n", "proba_b: every cell must be a number; row 0 holds ''"),
        ("proba_a,proba_b\n0.5,0.5\n0.1\n", "row 1: must have 2 cells, as many as the header; it has 1"),
        (
            "proba_a,proba_b,label\n0.5,0.5,a, b\n",
            "row 0: must have 3 cells, .* it has 4; quote text that contains commas",
        ),
        ("proba_a,proba_b\n0.5,nan\n", "probs: values must be finite; row 0 holds nan"),
        ("a,b\n0.5,0.5\n", "columns: proba_0, proba_1, … .or proba_<name of the class>. are needed; found a, b"),
        ("proba_a,proba_b\n", "rows: at least one is needed below the header"),
        ("proba_a,proba_a\n0.5,0.5\n", "header: names must be unique; 'proba_a' occurs more than once"),
        ("\n0.5,0.5\n", "header: the first line must name the columns"),
        ("proba_0;proba_1\n0.5;0.5\n", "proba_0;proba_1: every cell must be a number; row 0 holds '0.5;0.5'"),
        ("proba_1\n0.5\n", "probs: needs at least two classes .*Members.from_binary"),
        ("proba_0,proba_1\n0.5,0.6\n", "probs: each row must sum to 1 .* row 0 sums to 1.1; pass normalise=True"),
    ],
)
def test_every_broken_table_is_named_with_its_place(tmp_path, text, match):
    with pytest.raises(FileFormatError, match=rf"^t.csv: {match}"):
        uq.load(csv(tmp_path, text))


def test_no_class_among_the_labels_is_refused_with_its_row(tmp_path):
    path = csv(tmp_path, "proba_a,proba_b,label\n0.5,0.5,a\n0.5,0.5,c\n")
    with refuses(
        "t.csv", "undefined", got="labels: .* row 1 holds 'c' and the class names are a, b", error=FileFormatError
    ):
        uq.load_labels(path)


def test_narrow_floats_that_text_cannot_hold_are_refused(tmp_path):
    third = np.full((2, 3), 1 / 3, dtype=np.float16)  # sums to 0.99976 when read as float64
    with refuses(
        "t.csv",
        "undefined",
        got="row 0 of this float16 prediction sums to 0.999756; save it as .parquet",
        error=FileFormatError,
    ):
        uq.save(uq.Point(third), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_names_that_cannot_be_columns_are_refused(tmp_path):
    with refuses(
        "t.csv", "undefined", got=r".csv holds one label per row; got labels of shape \(1, 2\)", error=FileFormatError
    ):
        uq.save(uq.Point([[0.5, 0.5]]), tmp_path / "t.csv", labels=[[3, 1]])


# -- parquet ----------------------------------------------------------------------------------------------------------


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
    assert prediction.notes == ("columns ignored: weight",)
    assert uq.load_labels(tmp_path / "t.parquet").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"proba_a": ["x", "y"], "proba_b": [0.5, 0.5]}, "proba_a: must hold numbers; got .*string"),
        ({"proba_a": [None, 0.5], "proba_b": [0.5, 0.5]}, "probs: values must be finite; row 0 holds nan"),
        ({"a": [1]}, "columns: proba_0, .* are needed; found a"),
    ],
)
def test_broken_parquet_is_named_with_its_place(tmp_path, needs, columns, match):
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match=rf"^t.parquet: {match}"):
        uq.load(tmp_path / "t.parquet")


def test_missing_labels_in_parquet_are_refused(tmp_path, needs):
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"proba_0": [0.5, 0.5], "proba_1": [0.5, 0.5], "label": [None, 1]}), tmp_path / "t.parquet")
    with refuses(
        "t.parquet", "undefined", got="label: must have a value in every row; 1 are missing", error=FileFormatError
    ):
        uq.load_labels(tmp_path / "t.parquet")
