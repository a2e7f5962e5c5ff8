"""Tables and Series: columns name the classes, the index the instances."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq


def test_a_data_frame_names_classes_and_instances():
    frame = pd.DataFrame({"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, index=["x", "y"])
    point = uq.Point(frame)
    assert point.class_names == ("cat", "dog")
    assert point.ids.tolist() == ["x", "y"]


@pytest.mark.parametrize("columns", [["proba_2", "proba_0", "proba_1"], ["2", "0", "1"], [2, 0, 1]])
def test_columns_that_are_indices_are_put_in_order(columns):
    point = uq.Point(pd.DataFrame([[0.5, 0.2, 0.3]], columns=columns))
    assert point.probs.tolist() == [[0.2, 0.3, 0.5]]
    assert point.class_names is None


def test_other_numbers_name_the_classes():
    point = uq.Point(pd.DataFrame([[0.5, 0.2, 0.3]], columns=[1, 2, 3]))
    assert point.class_names == ("1", "2", "3")
    assert uq.losses.is_correct([1], point).tolist() == [True]
    named = uq.Point(pd.DataFrame([[0.5, 0.5]], columns=["proba_cat", "proba_dog"]))
    assert named.class_names == ("cat", "dog")


def test_two_columns_of_one_name_are_refused():
    with refuses("probs", "duplicate", got="'a' occurs twice"):
        uq.Point(pd.DataFrame([[0.5, 0.5]], columns=["a", "a"]))


def test_both_tables_of_intervals_are_put_in_one_order():
    lower = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]], columns=["a", "b"], index=["x", "y"])
    upper = pd.DataFrame([[0.6, 0.5], [0.9, 0.8]], columns=["b", "a"], index=["y", "x"])
    intervals = uq.Intervals(lower, upper)
    assert intervals.upper.tolist() == [[0.8, 0.9], [0.5, 0.6]]
    with refuses("upper", "ids", got="index entries must match those of lower; .*'y' first"):
        uq.Intervals(lower, upper.loc[["x"]])


def test_missing_values_of_pandas_are_refused_and_nullable_numbers_taken():
    whole = pd.DataFrame({"a": pd.array([0.5, 0.25], dtype="Float64"), "b": [0.5, 0.75]})
    assert uq.Point(whole).probs.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    with refuses("probs", "missing", got="row 1"):
        uq.Point(whole.assign(a=pd.array([0.5, None], dtype="Float64")))
    with refuses("probs", "finite", got="row 1 holds nan"):
        uq.Point(pd.DataFrame({"a": [0.5, 0.25], "b": [0.5, np.nan]}))
