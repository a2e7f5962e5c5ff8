"""Names, functions, several of them or a dict that names them, and whole numbers."""

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.options import check_whole, known_names, named_options, taken_by

KNOWN = ("a", "b")


def mine(prediction):
    return prediction


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, None),
        ("a", {"a": "a"}),
        (mine, {"mine": mine}),
        (("b", mine), {"b": "b", "mine": mine}),
        ({"x": mine, "y": "a"}, {"x": mine, "y": "a"}),
    ],
)
def test_names_and_functions(given, found):
    assert named_options(given, "scores", KNOWN) == found


@pytest.mark.parametrize(
    ("wrong", "code", "got"),
    [
        ("c", "choice", "must be a or b, a function.*got 'c'"),
        (["a", 3], "choice", "got 3"),
        ({1: "a"}, "choice", "got the name 1"),
        ([mine, mine], "duplicate", "'mine' twice"),
        ([], "empty", "got none"),
        ({}, "empty", "got none"),
    ],
)
def test_refusals(wrong, code, got):
    with refuses("scores", code, got):
        named_options(wrong, "scores", KNOWN)


def test_known_names():
    assert known_names("b", "method", KNOWN) == ["b"]
    assert known_names(("b", "a"), "method", KNOWN) == ["b", "a"]


@pytest.mark.parametrize(
    ("wrong", "code", "got"),
    [
        ("c", "choice", "must be a or b.*got 'c'"),
        (["a", "c"], "choice", "got 'c'"),
        (["b", "b"], "duplicate", "got b twice"),
        ([], "empty", "got none"),
    ],
)
def test_names_that_are_not_known(wrong, code, got):
    with refuses("method", code, got):
        known_names(wrong, "method", KNOWN)
    with refuses("method", code, "must be mine" if code == "choice" else ""):
        known_names(wrong, "method", KNOWN, "must be mine")


@pytest.mark.parametrize(
    ("value", "code"), [(0, "range"), (2**40, "range"), (1.5, "type"), (True, "type"), ("2", "type")]
)
def test_numbers_must_be_whole(value, code):
    with refuses("runs", code):
        check_whole(1, runs=value)
    check_whole(0, seed=0, runs=None)


def test_options_that_a_function_takes():
    assert taken_by(check_whole, {"least": 2, "runs": 3}) == {"least": 2}
