"""The state of a cell, from fields that anybody may have written."""

import pytest

from uqassay.lab.bench.store import CellState, named


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"dataset": "toy", "method": "a", "seed": 2}, ("toy", "a", 2)), ({"seed": "2"}, ("", "", None)),
        (None, ("", "", None)), ([1], ("", "", None)), ({"dataset": 5}, ("5", "", None)),
    ],
)  # fmt: skip
def test_names_of_malformed_cells_are_empty(cell, expected):
    assert tuple(named(cell).values()) == expected


def test_open_cells_are_queued_or_running():
    states = ("queued", "running", "done", "failed")
    assert [CellState(key="k", state=state).is_open for state in states] == [True, True, False, False]


@pytest.mark.parametrize(
    ("traceback", "reason"),
    [
        ("Traceback\n  x\nValueError: no\n\n", "ValueError: no"),
        ("Traceback\n  x\nValueError: no\nIn run 3.\n", "ValueError: no (In run 3.)"),
        ("Traceback\n  x\nValueError: no\n  indented", "indented"),
        ("KeyError", "KeyError"),
        ("", ""),
    ],
)
def test_reason_is_the_exception_with_its_notes(traceback, reason):
    assert CellState(key="k", state="failed", traceback=traceback).reason == reason
