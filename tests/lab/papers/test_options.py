"""Names, functions, several of them or a dict that names them, and whole numbers."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.options import check_whole, known_names, named_options, option_value, protocol_options, taken_by

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


# -- Options of protocols: their meanings stand in the signature, and text becomes a value of the annotated type.


def sample(
    *,
    size: Annotated[int, "How many there are."] = 3,
    share: float | None = None,
    name: Annotated[str, "A name.", ("a", "b")] = "a",
    flag: bool = False,
    names: Sequence[str] | None = None,
    several: str | Sequence[str] | None = None,
    numbers: tuple[int, ...] = (),
    folder: str | os.PathLike[str] | None = None,
    place: Path | None = None,
    choice: Literal["x", "y"] = "x",
    table: Mapping[str, int] | None = None,
    anything: Any = None,
) -> None:
    """Do nothing."""


def test_meanings_come_from_the_signature():
    found = {option.name: option for option in protocol_options(sample)}
    assert (found["size"].text, found["size"].choices, found["size"].default) == ("How many there are.", (), 3)
    assert (found["name"].text, found["name"].choices) == ("A name.", ("a", "b"))
    assert (found["flag"].text, found["flag"].default) == ("", False)
    assert [option.name for option in protocol_options(len)] == ["obj"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("size", "7", 7),
        ("share", ".5", 0.5),
        ("share", "1e-3", 0.001),
        ("share", "2", 2),
        ("share", "null", None),
        ("name", "7", "7"),
        ("name", "null", "null"),
        ("name", "a,b", "a,b"),
        ("name", '"a"', "a"),
        ("flag", "true", True),
        ("names", "DE", ["DE"]),
        ("names", "DE, SNN", ["DE", "SNN"]),
        ("names", '["a,b"]', ["a,b"]),
        ("several", "DE", "DE"),
        ("several", "DE,SNN", ["DE", "SNN"]),
        ("numbers", "80,120", [80, 120]),
        ("numbers", "80", [80]),
        ("numbers", "[]", []),
        ("folder", "a/b", "a/b"),
        ("place", "7", "7"),
        ("choice", "y", "y"),
        ("table", '{"a": 1}', {"a": 1}),
        ("anything", '{"a": [1]}', {"a": [1]}),
        ("anything", "words", "words"),
    ],
)
def test_text_becomes_a_value_of_the_annotated_type(name, text, value):
    found = option_value(sample, name, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("size", "2.0", "must be a whole number;"),
        ("size", "true", "must be a whole number;"),
        ("size", "", "must be a whole number;"),
        ("share", "nan", "must be a number;"),
        ("share", "NaN", "must be a number;"),
        ("share", "1e999", "must be a number;"),
        ("share", "9" * 400, "must be a number;"),
        ("flag", "1", "must be true or false;"),
        ("flag", "yes", "must be true or false;"),
        ("numbers", "80,x", "must be a whole number or several with commas between;"),
        ("choice", "z", "must be x or y;"),
        ("table", "[" * 5000, "must be a JSON object;"),
        ("table", "3", "must be a JSON object;"),
    ],
)
def test_text_of_another_type_is_refused(name, text, rule):
    with refuses(name, "type", got=rule):
        option_value(sample, name, text)
