"""A name, a function, several of them, or a dict that names them."""

import pytest
from tests.refusals import refuses

from uqassay.experiments.named_options import named_options

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
