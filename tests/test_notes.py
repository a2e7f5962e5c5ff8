"""Notes: what they carry, how they are joined and kept, and that every code in the package is a stated one."""

import ast
import dataclasses
import json
import pickle
import re
from pathlib import Path

import pytest

import uqassay
from uqassay.notes import CODES, Note, distinct, has_note, reason

FEW, GROUPS = Note("few", "only 3 errors: a rough interval", {"count": 3}), Note("groups", "12 groups", {"groups": 12})
PACKAGE = Path(uqassay.__file__).parent
ROOMS = ("statistics", "metrics", "calibration")


def codes_in(path):
    """Codes of notes that a file makes with a constant name."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "Note(" in text else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Note":
            first = node.args[0]
            for choice in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                if isinstance(choice, ast.Constant):
                    yield choice.value


def test_texts_are_what_readers_see():
    assert str(FEW) == FEW.text
    assert repr(FEW) == "Note(code='few', text='only 3 errors: a rough interval')"


def test_facts_do_not_count_in_comparisons():
    assert Note("few", FEW.text) == FEW
    assert len({FEW, Note("few", FEW.text)}) == 1
    assert Note("none", FEW.text) != FEW


def test_a_note_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FEW.code = "other"


def test_notes_survive_json_and_copies():
    assert Note.from_dict(json.loads(json.dumps(FEW.to_dict()))) == FEW
    again = pickle.loads(pickle.dumps(FEW))
    assert (again, again.facts) == (FEW, {"count": 3})


def test_distinct_keeps_the_order_of_first_appearance():
    assert distinct([FEW, GROUPS], [], [GROUPS, FEW]) == (FEW, GROUPS)
    assert distinct() == ()


def test_notes_are_found_by_their_code():
    assert has_note([FEW, GROUPS], "groups")
    assert has_note([FEW], "groups", "few")
    assert not has_note([FEW], "groups")
    assert not has_note([], "groups")


def test_the_reason_is_that_of_the_undefined_value():
    nothing = Note("undefined", "no errors")
    assert reason([GROUPS, nothing, FEW]) == "no errors"
    assert reason([nothing, Note("no-test", "1 group: no test")]) == "no errors"
    assert reason([GROUPS, FEW]) == "12 groups"
    assert reason([]) == ""


def test_every_code_of_a_result_is_stated():
    used = {(code, path.name) for room in ROOMS for path in (PACKAGE / room).rglob("*.py") for code in codes_in(path)}
    assert len(used) > 20
    assert sorted(pair for pair in used if pair[0] not in CODES) == []


def test_codes_are_words_with_hyphens_and_each_is_explained_once():
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", code) for code in CODES)
    assert len(set(CODES.values())) == len(CODES)
    everywhere = {code for path in PACKAGE.rglob("*.py") for code in codes_in(path)}
    assert sorted(code for code in everywhere if not re.fullmatch("[a-z]+(-[a-z]+)*", code)) == []
