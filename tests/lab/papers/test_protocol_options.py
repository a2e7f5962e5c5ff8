"""Options of protocols: their meanings stand in the signature, and text becomes a value of the annotated type."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.options import option_value, protocol_options


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
