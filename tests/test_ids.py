"""Rows of several inputs are brought into one order, or refused."""

import inspect

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import uqassay as uq
from tests.refusals import refuses
from uqassay.ids import aligned, in_one_order

X = pd.Series([1.0, 2.0, 3.0], index=["x", "y", "z"])
SHUFFLED = X.loc[["z", "x", "y"]]


@in_one_order("a", "b", "weight")
def difference(a, b, *, weight=None, other=None):
    return (np.asarray(a) - np.asarray(b)) * (1 if weight is None else np.asarray(weight))


def test_arguments_are_aligned_to_the_first_with_an_index():
    assert difference(X, SHUFFLED).tolist() == [0, 0, 0]
    assert difference(a=X, b=SHUFFLED, weight=SHUFFLED).tolist() == [0, 0, 0]
    assert difference(np.ones(3), SHUFFLED).tolist() == [-2, 0, -1]  # one index alone says nothing
    coordinates = xr.DataArray([3.0, 1.0, 2.0], dims="case", coords={"case": ["z", "x", "y"]})
    assert difference(X, coordinates).tolist() == [0, 0, 0]
    assert list(inspect.signature(difference).parameters) == ["a", "b", "weight", "other"]
    with pytest.raises(TypeError, match="positional"):
        difference(X, X, X)


def test_other_rows_and_unknown_orders_are_refused():
    with refuses("b", "ids", got="'x' first"):
        difference(X, X.set_axis(["w", "y", "z"]))
    with refuses("weight", "ids"):
        difference(X, SHUFFLED, weight=np.ones(3))
    with refuses("b", "ids"):
        difference(X, X[:2])
    # obeyed: the same index for all
    assert difference(X, SHUFFLED, weight=pd.Series(1.0, index=X.index)).tolist() == [0, 0, 0]


def test_a_default_index_stands_by_position_beside_names():
    assert difference(X.reset_index(drop=True), X).tolist() == [0, 0, 0]
    shuffled = pd.Series([3.0, 1.0, 2.0], index=[2, 0, 1])
    assert difference(X.reset_index(drop=True), shuffled).tolist() == [0, 0, 0]


def test_predictions_and_nested_values_are_aligned():
    point = uq.Point(np.eye(3), ids=["x", "y", "z"])
    found = aligned({"a": point, "b": {"one": (SHUFFLED, [X, SHUFFLED])}, "c": point[[2, 0, 1]], "d": "text"})
    assert found["a"] is point
    assert np.asarray(found["b"]["one"][0]).tolist() == [1, 2, 3]
    assert [np.asarray(one).tolist() for one in found["b"]["one"][1]] == [[1, 2, 3], [1, 2, 3]]
    assert found["c"].ids.tolist() == ["x", "y", "z"]
    assert found["c"].row_numbers.tolist() == [0, 1, 2]
    assert found["d"] == "text"
    with refuses("b['one']", "ids"):
        aligned({"a": point, "b": {"one": X.set_axis(list("abc"))}})


def test_runs_have_their_instances_on_the_last_axis():
    runs = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], columns=X.index)
    found = aligned({"a": SHUFFLED, "b": runs}, axes={"b": -1})
    assert np.asarray(found["b"]).tolist() == [[3, 1, 2], [6, 4, 5]]


def test_missing_index_of_a_prediction_is_no_refusal():
    point = uq.Point(np.eye(3))
    assert aligned({"a": point, "b": X})["b"] is X
