"""Each check: what passes unchanged, what is refused, and by which code."""

import math

import numpy as np
import pytest

from tests.refusals import refuses
from uqassay import checks

REMEDY = "pass another one"


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.25), np.int8(1), np.array(0.75)])
def test_numbers_inside(value):
    found = checks.number(value, "x", REMEDY, low=0, high=1)
    assert type(found) is float
    assert found == value


@pytest.mark.parametrize(
    ("value", "ends", "code"),
    [
        (-1e-300, "[]", "range"), (0, "(]", "range"), (1, "[)", "range"), (math.nan, "[]", "range"),
        (math.inf, "[]", "range"), (True, "[]", "type"), ("0.5", "[]", "type"), (None, "[]", "type"),
        (np.array([0.5]), "[]", "type"), (0.5 + 0j, "[]", "type"),
    ],
)  # fmt: skip
def test_numbers_outside(value, ends, code):
    with refuses("x", code):
        checks.number(value, "x", REMEDY, low=0, high=1, ends=ends)


def test_infinite_numbers_need_an_infinite_end():
    assert checks.number(math.inf, "x", REMEDY, low=0) == math.inf
    with refuses("x", "range"):
        checks.number(math.inf, "x", REMEDY, low=0, ends="[)")
    with refuses("x", "range"):
        checks.number(math.nan, "x", REMEDY)


@pytest.mark.parametrize("value", [1, np.int64(2), np.uint8(3), 10**30])
def test_whole_numbers(value):
    found = checks.whole(value, "x", REMEDY, least=1)
    assert type(found) is int
    assert found == value


@pytest.mark.parametrize(
    ("value", "code"),
    [(0, "range"), (101, "range"), (True, "type"), (np.True_, "type"), (3.0, "type"), ("3", "type"), (None, "type")],
)
def test_other_numbers_are_no_whole_numbers(value, code):
    with refuses("x", code):
        checks.whole(value, "x", REMEDY, least=1, most=100)


@pytest.mark.parametrize("value", ["l1", None, 3, ["kl"], {}])
def test_names(value):
    assert checks.one_of("kl", "distance", ("kl", "js")) == "kl"
    with refuses("distance", "choice"):
        checks.one_of(value, "distance", ("kl", "js"))


def test_kinds():
    assert checks.a(str, "b", "x", REMEDY) == "b"
    assert checks.mapping({"b": 1}, "x", REMEDY) == {"b": 1}
    for check in (lambda: checks.a(str, 3, "x", REMEDY), lambda: checks.mapping([], "x", REMEDY)):
        with refuses("x", "type"):
            check()


def test_values_that_occur_twice():
    checks.different([], "x", "must differ", REMEDY)
    with refuses("x", "duplicate", "'a'"):
        checks.different(["a", "b", "a"], "x", "must differ", REMEDY)


@pytest.mark.parametrize("values", [[1, 2], np.array([1, 2], np.float16), [True, False], range(2)])
def test_vectors(values):
    found = checks.vector(values, "x", REMEDY, n=2)
    assert found.dtype == np.float64
    assert found.tolist() == list(values)


@pytest.mark.parametrize(
    ("values", "n", "code", "got"),
    [
        ([[1.0]], None, "shape", r"\(1, 1\)"), ([], None, "shape", r"\(0,\)"), (["a"], None, "shape", "dtype"),
        (3.0, None, "shape", r"\(\)"), ([1.0], 2, "mismatch", "1, not 2"), ([1, np.nan, np.inf], None, "finite", "row 1"),
    ],
)  # fmt: skip
def test_other_arrays_are_no_vectors(values, n, code, got):
    with refuses("x", code, got):
        checks.vector(values, "x", REMEDY, n=n)


def test_matrices_are_in_order_of_rows():
    found = checks.matrix(np.asfortranarray([[1, 2], [3, 4]]), "x", REMEDY, columns=2)
    assert found.flags.c_contiguous
    assert found.tolist() == [[1, 2], [3, 4]]
    for values, code in (
        ([[1.0]], "shape"),
        ([1.0, 2.0], "shape"),
        (np.empty((0, 2)), "shape"),
        ([[1, np.nan]], "finite"),
    ):
        with refuses("x", code):
            checks.matrix(values, "x", REMEDY, columns=2)


@pytest.mark.parametrize(
    ("values", "options", "got"),
    [
        ([0.0, 1.0], {}, None),
        ([0.5, 1.5], {}, "must lie between 0 and 1; row 1 is 1.5"),
        ([2.0, -1.0], {"of": "price"}, "price 0 is 2, the first of 2"),
        ([0.5, 0.0], {"ends": "(]"}, r"must lie in \(0, 1\]; row 1 is 0"),
        ([np.nan], {"low": -1.0}, "row 0 is nan"),
    ],
)
def test_numbers_between(values, options, got):
    if got is None:
        return checks.between(np.array(values), "x", REMEDY, **options)
    with refuses("x", "range", got):
        checks.between(np.array(values), "x", REMEDY, **options)


def test_a_rule_for_numbers_is_a_sentence():
    with refuses("x", "type", got="must be a number and be at least 0; got 'a'"):
        checks.number("a", "x", REMEDY, low=0)
    with refuses("x", "type", got="must be a number; got 'a'"):
        checks.number("a", "x", REMEDY)


@pytest.mark.parametrize("value", [True, np.bool_(False)])
def test_truth_values(value):
    assert checks.true_or_false(value, "x") is bool(value)


@pytest.mark.parametrize("value", ["False", 0, 1.0, None, np.array([True])])
def test_other_values_are_no_truth_values(value):
    with refuses("x", "type", got="must be True or False"):
        checks.true_or_false(value, "x")
