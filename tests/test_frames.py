"""Tables and labelled arrays of other libraries, and rows of several inputs in one order."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import uqassay as uq
from tests.refusals import refuses
from uqassay.arrays import as_array
from uqassay.frames import as_frame, canonical_ids, columns_of, is_frame, moves, positions, rows_in_order
from uqassay.ids import aligned, in_one_order

# -- Tables and labelled arrays of four libraries come apart in one way; ids compare as what they mean -----------------


SHARES = [[0.7, 0.3], [0.2, 0.8]]
FRAME = pd.DataFrame(SHARES, columns=["cat", "dog"], index=["x", "y"])
TABLES = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    "arrow batch": pa.RecordBatch.from_pandas(FRAME),
    "xarray": xr.DataArray(SHARES, dims=("case", "class"), coords={"case": ["x", "y"], "class": ["cat", "dog"]}),
}


@pytest.mark.parametrize("library", TABLES)
def test_a_table_comes_apart(library):
    found = as_frame(TABLES[library])
    assert found.array.tolist() == SHARES
    assert found.columns.tolist() == ["cat", "dog"]
    assert library == "polars" or found.index.tolist() == ["x", "y"]
    point = uq.from_object(TABLES[library])
    assert point.class_names == ("cat", "dog")
    assert library == "polars" or point.ids.tolist() == ["x", "y"]
    assert uq.losses.is_correct(["cat", "cat"], TABLES[library]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "xarray"])
def test_numbered_columns_are_sorted(library):
    numbered = pd.DataFrame([[0.5, 0.2, 0.3]], columns=["proba_2", "proba_0", "proba_1"])
    table = {
        "pandas": numbered,
        "polars": pl.from_pandas(numbered),
        "arrow": pa.Table.from_pandas(numbered),
        "xarray": xr.DataArray(numbered.to_numpy(), dims=("a", "b"), coords={"b": list(numbered.columns)}),
    }[library]
    assert uq.Point(table).probs.tolist() == [[0.2, 0.3, 0.5]]
    assert uq.metrics.confidence_calibration_error([2], table, batched=True) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "labels",
    [
        pl.Series(["dog", "cat"]),
        pl.Series(["dog", "cat"], dtype=pl.Categorical),
        pa.array(["dog", "cat"]),
        pa.array(["dog", "cat"]).dictionary_encode(),
        pa.chunked_array([["dog"], ["cat"]]).dictionary_encode(),
        xr.DataArray(["dog", "cat"]),
        pd.Series(["dog", "cat"], dtype="category"),
    ],
    ids=lambda labels: f"{type(labels).__module__}.{type(labels).__name__}",
)
def test_labels_in_any_column(labels):
    assert as_array(labels, "labels").tolist() == ["dog", "cat"]
    assert uq.losses.is_correct(labels, uq.Point(SHARES, class_names=["cat", "dog"])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([0.5, None]),
        pl.DataFrame({"a": [0.5, None], "b": [0.5, 1.0]}),
        pa.array([0.5, None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.table({"a": [0.5, None], "b": [0.5, 1.0]}),
        xr.DataArray(np.array(["a", None], dtype=object)),
        pd.Series(["a", None], dtype=object),
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_missing_values_are_refused(values):
    with refuses("values", "missing", got="row 1"):
        as_frame(values)


def test_queries_and_columns_of_one_name_are_refused():
    with refuses("probs", "type", got="LazyFrame"):
        uq.Point(pl.LazyFrame({"a": [1.0]}))
    with refuses("probs", "duplicate", got="'a' occurs twice"):
        uq.Point(pa.table([[0.5], [0.5]], names=["a", "a"]))


def test_a_column_of_lists_is_an_array_of_rows():
    for column in (pa.array(SHARES), pl.Series(SHARES), pa.chunked_array([SHARES[:1], SHARES[1:]])):
        assert uq.Point(column).probs.tolist() == SHARES
    assert as_frame(pa.array([[0.5], [0.5, 0.5]])).dtype == object
    with refuses("probs", "type", got="'p' holds lists"):
        uq.Point(pa.table({"id": [1, 2], "p": SHARES}))
    assert uq.Point(pa.table({"id": [1, 2], "p": SHARES})["p"]).probs.tolist() == SHARES  # obeyed


def test_nothing_else_is_a_table():
    for values in (np.zeros(2), [1, 2], "text", uq.Point(SHARES), pd.Index([1]), None):
        assert not is_frame(values)
        assert as_frame(values) is None


def test_a_list_of_tables_is_put_into_the_order_of_the_first():
    other = FRAME.loc[["y", "x"], ["dog", "cat"]]
    members = uq.Members([FRAME, other], member_axis=0)
    assert members.probs[:, 0].tolist() == members.probs[:, 1].tolist() == SHARES
    assert (members.class_names, members.ids.tolist()) == (("cat", "dog"), ["x", "y"])
    same = uq.from_object([FRAME, other], member_axis=0)
    assert np.array_equal(same.probs, members.probs)
    with refuses("probs[1]", "ids", got="'x' first"):
        uq.Members([FRAME, FRAME.set_axis(["z", "y"])], member_axis=0)
    with refuses("probs[2]", "ids"):
        uq.Members([FRAME, other, np.array(SHARES)], member_axis=0)


def test_columns_keep_their_dtypes():
    mixed = pd.DataFrame({"age": [31, 62], "site": ["north", "south"]}, index=["x", "y"])
    for table in (mixed, pl.from_pandas(mixed), pa.Table.from_pandas(mixed)):
        found = columns_of(table, "subgroups")
        assert list(found) == ["age", "site"]
        assert found["age"].dtype.kind == "i"
        assert found["site"].array.tolist() == ["north", "south"]
    assert columns_of(mixed["age"], "subgroups") is None


@pytest.mark.parametrize("ids", [[7, 12, -3], [7.0, 12.0, -3.0], ["7", "12", "-3"], np.array([b"7", b"12", b"-3"])])
def test_whole_numbers_are_one_id_in_any_form(ids):
    assert canonical_ids(ids).tolist() == [7, 12, -3]
    assert positions(ids, [-3, 7, 12], "labels").tolist() == [2, 0, 1]


def test_other_ids_stay_apart():
    assert canonical_ids(["007", "7", "7.0", "7.00", "-0.5", "+7", "٧"]).tolist() == [
        "007",
        7,
        7,
        "7.00",
        -0.5,
        "+7",
        "٧",
    ]
    moments = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    assert np.array_equal(canonical_ids(moments), canonical_ids(moments.astype("datetime64[us]")))
    with refuses("labels", "ids", got="'007' first"):
        positions([7, 8], ["007", "8"], "labels")
    with refuses("labels", "ids", got="repeated"):
        positions([7, 7], [7, 7], "labels")


def test_a_default_index_says_nothing_beside_names():
    names = np.array(["b", "a", "c"])
    assert rows_in_order(np.arange(3), names, "labels") is None
    assert rows_in_order(names, np.arange(3), "labels") is None
    assert rows_in_order(np.arange(3), np.array(["2", "0", "1"]), "labels").tolist() == [2, 0, 1]
    with refuses("labels", "ids"):
        rows_in_order(np.array([2, 0, 1]), names, "labels")


def test_values_without_labels_stand_by_position_in_one_order_only():
    a, b = np.array(["x", "y"]), np.array(["y", "x"])
    assert [None if place is None else place.tolist() for place in moves("pqr", [None, a, b[::-1]])] == [None] * 3
    assert moves("pq", [a, b])[1].tolist() == [1, 0]
    with refuses("p", "ids"):
        moves("pqr", [None, a, b])
    undefined = np.array([np.nan, 1.0])  # equal indexes need no unique entries
    assert moves("pq", [undefined, undefined.copy()]) == [None, None]


# -- Rows of several inputs are brought into one order, or refused -----------------------------------------------------


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
