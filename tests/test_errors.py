"""Errors carry fields; the sentence is made from them in one place."""

import copy
import pickle

import pytest

from uqassay.errors import (
    CODES,
    FileFormatError,
    InputError,
    MissingDependencyError,
    TooManyClassesError,
    UqassayError,
)

FIELDS = ("parameter", "rule", "got", "remedy", "code", "source", "facts")


def fields(problem):
    return {name: getattr(problem, name) for name in FIELDS}


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (
            InputError("level", "must be positive", "got -1", "write 0.95"),
            "level: must be positive; got -1; write 0.95.",
        ),
        (InputError("level", "must be positive", remedy="write 0.95"), "level: must be positive; write 0.95."),
        (InputError("level", "must be positive"), "level: must be positive."),
        (InputError("", "must be positive"), "must be positive."),
        (InputError("level", "is this 95 %?"), "level: is this 95 %?"),
        (InputError("level", "must be positive", source="a.toml"), "a.toml: level: must be positive."),
        (InputError("level", "ends by itself."), "level: ends by itself."),
    ],
)
def test_the_sentence_is_made_of_the_fields(problem, sentence):
    assert str(problem) == sentence


def test_every_error_is_of_the_tree_and_of_the_builtin_that_callers_expect():
    assert issubclass(InputError, UqassayError)
    assert issubclass(InputError, ValueError)
    assert issubclass(TooManyClassesError, InputError)
    assert issubclass(FileFormatError, InputError)
    assert issubclass(MissingDependencyError, ImportError)
    assert not issubclass(MissingDependencyError, InputError)


def test_replace_changes_the_fields_named_and_no_others():
    problem = FileFormatError("probs", "rule", "got", "remedy", code="sum", source="a.npz", facts={"row": 3})
    other = problem.replace(parameter="--models", remedy="pass --normalise")
    assert type(other) is FileFormatError
    assert fields(other) == fields(problem) | {"parameter": "--models", "remedy": "pass --normalise"}
    assert problem.parameter == "probs"
    other.facts["row"] = 4
    assert problem.facts == {"row": 3}
    with pytest.raises(TypeError, match="rules"):
        problem.replace(rules="typing error")


def test_inside_names_the_owner():
    problem = InputError("probs", "rule", code="sum")
    assert problem.inside("models['DE']").parameter == "models['DE'].probs"
    assert problem.inside("b").inside("a").parameter == "a.b.probs"
    assert InputError("", "rule").inside("models['DE']").parameter == "models['DE']"
    assert problem.inside("m").code == "sum"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_every_field(again):
    """Errors travel between processes: workers of a cluster send them back."""
    problem = FileFormatError("probs", "rule", "got", "remedy", code="sum", source="a.npz", facts={"row": 3})
    found = again(problem)
    assert type(found) is FileFormatError
    assert fields(found) == fields(problem)
    assert str(found) == str(problem)


def test_codes_are_words_with_their_meaning():
    assert CODES
    for code, meaning in CODES.items():
        assert code == code.lower()
        assert " " not in code
        assert meaning
