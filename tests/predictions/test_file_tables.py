"""Roles and order of the columns of a table, the same for csv and parquet."""

import numpy as np
import pytest
from tests.sample_files import PACKAGES

import uqassay as uq
from uqassay.predictions.file_tables import probability_columns

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
