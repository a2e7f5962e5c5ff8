"""Class names, ids, groups and notes."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.notes import Note
from uqassay.predictions import per_instance

PROBS = [[0.5, 0.5], [0.2, 0.8]]


@pytest.mark.parametrize("names", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]), [b"a", "b"]])
def test_class_names_in_any_sequence(names):
    assert uq.Point(PROBS, class_names=names).class_names == ("a", "b")


def test_class_names_are_text():
    assert uq.Point(PROBS, class_names=np.array([3, 7])).class_names == ("3", "7")
    assert uq.Point(PROBS, class_names=[np.int64(3), 7]).class_names == ("3", "7")


@pytest.mark.parametrize(
    "names", [5, "ab", {"a": 0, "b": 1}, {"a", "b"}, [None, "a"], [["a"], ["b"]], [float("nan"), "a"]]
)
def test_other_objects_are_no_class_names(names):
    with refuses("class_names", "type"):
        uq.Point(PROBS, class_names=names)


def test_names_and_ids_differ_from_each_other():
    with refuses("class_names", "duplicate", got="'a' occurs twice"):
        uq.Point(PROBS, class_names=["a", "a"])
    with refuses("ids", "duplicate", got="7 occurs 2 times"):
        uq.Point(PROBS, ids=[7, 7])


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        [1, 2],
        np.array(["a", "b"], dtype=object),
        np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]).to_numpy(),
        pd.Series(["a", "b"]),
        pd.Series([1, 2], dtype="Int64"),
    ],
)
def test_ids_and_groups_are_numbers_text_dates_or_tuples(values):
    point = uq.Point(PROBS, ids=values, groups=values)
    assert len(set(point.ids.tolist())) == 2
    np.testing.assert_array_equal(point.groups, point.ids)


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        ([1.0, np.nan], "missing", "row 1 holds nan"),
        ([None, "a"], "missing", "row 0 holds None"),
        (pd.Series(["a", None]), "missing", "row 1"),
        (pd.Series([1, None], dtype="Int64"), "missing", "row 1"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), "missing", "row 1"),
        ([{}, {}], "type", "row 0 holds a dict"),
        (np.ma.masked_array([1, 2], [True, False]), "masked", ""),
        ([1], "mismatch", r"got shape \(1,\)"),
        ([1 + 1j, 2], "type", "complex"),
    ],
)
def test_missing_and_odd_groups_are_refused(values, code, got):
    for name in ("ids", "groups"):
        with refuses(name, code, got=got):
            uq.Point(PROBS, **{name: values})
    with refuses("subgroups", code, got=got):
        per_instance(values, "subgroups", 2)


def test_notes_are_data():
    note = Note("repaired", "2 rows repaired", {"rows": 2})
    point = uq.Point(PROBS, notes=(note, "read from a file"))
    assert point.notes == (note, Note("stated", "read from a file"))
    assert point[:1].notes == point.notes
    with refuses("notes", "type", got="got int"):
        uq.Point(PROBS, notes=(5,))
