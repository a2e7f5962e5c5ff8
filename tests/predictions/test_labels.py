"""Labels by name and by number."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.predictions import class_indices, labels_for, portable_labels
from uqassay.predictions.labels import MOST_VOTES, vote_totals

NAMES = ("cat", "dog", "owl")


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([2, 0], NAMES, [2, 0]),
        ([2.0, 0.0], None, [2, 0]),
        (["owl", "cat"], NAMES, [2, 0]),
        ([b"owl", b"cat"], NAMES, [2, 0]),
        (np.array(["owl", "cat"], dtype=object), NAMES, [2, 0]),
        (np.array([2, 0], dtype=object), NAMES, [2, 0]),
        (pd.Series(["owl", "cat"], dtype="category"), NAMES, [2, 0]),
        (pd.Series([2, 0], dtype="Int64"), NAMES, [2, 0]),
        (["2", "0"], None, [2, 0]),  # a column of numbers read as text
        ([1, 2], ("1", "2", "3"), [0, 1]),  # by name
        (["1", "2"], ("1", "2", "3"), [0, 1]),
        ([3.0, 1.0], ("3", "1"), [0, 1]),
        ([0, 2], ("2", "1", "0"), [2, 0]),
        ([-1, 1], ("-1", "1"), [0, 1]),
        ([1, 10], ("01", "10"), [0, 1]),
        ([True, False], ("False", "True"), [1, 0]),
        ([True, False], NAMES, [1, 0]),
        ([2, 0], ("0", "1", "other"), [2, 0]),  # every number is the index of its class
        (np.array([2, 0], np.uint64), None, [2, 0]),
    ],
)
def test_labels_by_name_and_by_number(labels, names, expected):
    found = class_indices(labels, names)
    assert found.tolist() == expected
    assert found.dtype == np.int64
    portable = portable_labels(labels, names)
    assert class_indices(portable, names).tolist() == expected


@pytest.mark.parametrize(
    ("labels", "names", "code", "got"),
    [
        ([0, 1], ("1", "2", "3"), "class-names", "row 0 holds 0"),
        ([1, 2], ("1", "other", "2"), "ambiguous", "1, other, 2"),
        (["fox", "cat"], NAMES, "class-names", "row 0 holds 'fox'"),
        (["cat", "0"], NAMES, "class-names", "row 1 holds '0'"),
        (["cat"], None, "class-names", "there are no class names"),
        (["1_0"], None, "class-names", "'1_0'"),
        (["1e1"], None, "class-names", "'1e1'"),
        (["１"], None, "class-names", "row 0"),  # a full-width digit
        ([0.5], NAMES, "type", r"row 0 holds 0\.5"),
        ([np.nan, 1], ("0", "1"), "type", "row 0 holds nan"),
        (["cat", None], NAMES, "type", "row 1 holds None"),
        (["cat", 1], None, "class-names", ""),  # NumPy makes text of both
        (pd.Series(["cat", None]), NAMES, "missing", "row 1"),
        (pd.Series([1, None], dtype="Int64"), NAMES, None, "row 1"),  # NA or nan, by the version of pandas
        (np.ma.masked_array([0, 1], [True, False]), NAMES, "masked", ""),
        ([[0, 1]], NAMES, "shape", ""),
    ],
)
def test_ambiguous_and_unknown_labels_are_refused(labels, names, code, got):
    with refuses("y", code, got=got):
        class_indices(labels, names, name="y")


def test_text_among_partly_numeric_names_stays_text():
    names = ("1", "other", "2")
    assert portable_labels(["2", "other"], names).tolist() == ["2", "other"]
    assert class_indices(["2", "other"], names).tolist() == [2, 1]


def test_numbers_beyond_64_bits_are_out_of_range():
    for huge in ([10**30, 0], [1e300, 0], np.array([2**64 - 1, 0], np.uint64)):
        with refuses("y_true", "range", got="row 0"):
            labels_for(huge, n_instances=2, n_classes=3)


def test_a_series_is_aligned_to_the_ids_and_a_table_to_the_classes():
    ids = np.array(["a", "b"])
    series = pd.Series(["dog", "cat"], index=["b", "a"])
    assert labels_for(series, n_instances=2, n_classes=3, ids=ids, class_names=NAMES).tolist() == [0, 1]
    votes = pd.DataFrame([[3, 0, 1], [0, 4, 0]], columns=["owl", "cat", "dog"], index=["b", "a"])
    found = labels_for(votes, n_instances=2, n_classes=3, ids=ids, class_names=NAMES)
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 0.25, 0.75]])
    digits = pd.DataFrame([[1, 0, 3]], columns=["proba_2", "proba_0", "proba_1"])
    np.testing.assert_allclose(labels_for(digits, n_instances=1, n_classes=3), [[0, 0.75, 0.25]])


def test_as_many_labels_as_members_name_the_member_axis():
    with refuses("y_true", "member-axis", got="member_axis=0"):
        labels_for(np.zeros(20, int), n_instances=5, n_classes=3, n_members=20)
    with refuses("y_true", "mismatch"):
        labels_for(np.zeros(20, int), n_instances=5, n_classes=3, n_members=7)


def test_columns_out_of_order_are_scored_by_name():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(12, 0.1), 200)
    y = np.array([rng.choice(12, p=p) for p in probs])
    order = sorted(range(12), key=str)  # 0, 1, 10, 11, 2, …
    expected = (uq.Point(probs).labels() == y).mean()
    for column in ("proba_{}", "{}"):
        point = uq.Point(pd.DataFrame(probs[:, order], columns=[column.format(k) for k in order]))
        assert (point.labels() == y).mean() == expected
        np.testing.assert_array_equal(uq.losses.is_correct(y, point), point.labels() == y)
    by_name = uq.Point(pd.DataFrame(probs, columns=[str(k + 1) for k in range(12)]))
    np.testing.assert_array_equal(uq.losses.is_correct(y + 1, by_name), uq.losses.is_correct(y, uq.Point(probs)))


def test_labels_that_are_none_are_missing():
    with refuses("y_true", "missing", got="it is None"):
        uq.assay({"m": [[0.5, 0.5]]}, None)


@pytest.mark.parametrize(
    ("labels", "names"), [([99], range(1, 13)), ([1], [*range(1, 10), "a"]), (["z"], "abcdefghijkl")]
)
def test_a_list_of_class_names_that_is_cut_says_so(labels, names):
    with refuses("y_true", got=r"the class names are [\w, ]+ …"):
        class_indices(labels, [str(name) for name in names])


def test_a_column_of_labels_is_no_table_of_votes():
    assert labels_for([[1], [0]], n_instances=2, n_classes=2).tolist() == [1, 0]
    names = labels_for([["b"], ["a"]], n_instances=2, n_classes=2, class_names=("a", "b"))
    assert names.tolist() == [1, 0]


def test_labels_that_count_from_one_are_recognised():
    with pytest.raises(InputError, match=r"row 0 holds 2; subtract 1 .* name the classes 1 … 2"):
        labels_for([2, 1], n_instances=2, n_classes=2)
    with pytest.raises(InputError, match="recode the labels"):
        labels_for([2, 3, 0], n_instances=3, n_classes=2)
    with pytest.raises(InputError, match=r"leave such rows out, in uq\.assay by ignore_label=-1"):
        labels_for([-1, 1, 0], n_instances=3, n_classes=2)


def test_numbers_of_votes_are_whole_and_have_a_column_for_each_class():
    assert vote_totals(np.array([[200, 100], [100, 100]], dtype=np.uint8)).tolist() == [300, 200]
    assert vote_totals([[3.0, 0.0], [0.0, 1.0]]).tolist() == [3, 1]
    assert vote_totals([[3, 0.5], [1, 1]]) is None
    assert vote_totals([0, 1, 1]) is None
    assert vote_totals([[1], [0]]) is None
    assert vote_totals(["a", "b"]) is None
    assert vote_totals([[MOST_VOTES, MOST_VOTES], [1, 1]]) is None


def test_numbers_of_votes_follow_the_ids():
    table = pd.DataFrame({"a": [1, 2], "b": [3, 7]}, index=["x", "y"])
    assert vote_totals(table, ids=np.array(["y", "x"])).tolist() == [9, 4]


@pytest.mark.parametrize("names", [None, ("0", "1"), ("False", "True")])
def test_truth_values_are_labels_of_two_classes_that_are_numbers(names):
    found = labels_for([True, False], n_instances=2, n_classes=2, class_names=names)
    assert found.astype(int).tolist() == [1, 0]
    for other, n_classes in ((("cat", "dog"), 2), (("1", "0"), 2), (None, 3)):
        with refuses("y_true", "ambiguous"):
            labels_for([True, False], n_instances=2, n_classes=n_classes, class_names=other)
