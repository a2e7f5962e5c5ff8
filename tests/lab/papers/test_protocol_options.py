"""Options of protocols: their meanings are those of the docstring, and text becomes a value of the annotated type."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.options import option_value, protocol_options


def sample(
    *,
    size: int = 3,
    share: float | None = None,
    name: str = "a",
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
    """Do nothing.

    Parameters
    ----------
    size, share : int, float, optional
        Of `what` there is,
        on two lines.
    name : {"a", "b"}
        A name : with a colon.

    Returns
    -------
    None
        Not an option : this.
    """


def test_meanings_come_from_the_section_on_parameters():
    found = {option.name: option for option in protocol_options(sample)}
    assert found["size"].text == found["share"].text == "Of what there is, on two lines."
    assert (found["size"].kind, found["share"].kind) == ("int", "float")
    assert (found["name"].kind, found["name"].text) == ('{"a", "b"}', "A name : with a colon.")
    assert (found["flag"].kind, found["flag"].text, found["flag"].default) == ("", "", False)
    assert "None" not in found
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
