"""The state of a cell, from fields that anybody may have written."""

import json
from pathlib import Path

import numpy as np
import pytest

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.report import read_status
from uqassay.lab.bench.store import CellState, Store, count_older, named, older_notes, older_sentence


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


# -- What is said of results of another version: one sentence, for one and for several, and their number.


RESULT = CellResult(uq.Point([[0.9, 0.1]]), np.array([0]))


@pytest.fixture
def cells(tmp_path):
    """Three cells, two of which are done in tmp_path."""
    cells = [Cell("json:dumps", dataset="toy", method="constant", seed=seed, source="here") for seed in range(3)]
    store = Store(tmp_path)
    store.add(cells)
    for cell in (cells[0], cells[2]):
        assert store.claim(cell.key)
        assert store.finish(cell, RESULT, seconds=0.5)
    return cells


def test_one_and_several():
    assert older_sentence(2, "data set", Path("a/run")) == (
        "2 data sets in a/run were made by another version of uqassay and are not used; "
        "they are made again, and the older files may be deleted"
    )
    assert older_sentence(1, "line", "a", "other code").startswith(
        "1 line in a was made by other code and is not used; it is made again"
    )


def test_the_same_cells_of_other_code_are_told(cells, tmp_path, monkeypatch):
    assert older_notes(cells, tmp_path) == []
    assert count_older(tmp_path) == 0
    monkeypatch.setattr("uqassay.__version__", "0.0")
    (tmp_path / "cells" / "ab").mkdir(exist_ok=True)
    (note,) = older_notes(cells, tmp_path)
    assert note.startswith(f"2 trainings in {tmp_path} were made by another version of uqassay and are not used")
    assert older_notes(cells[:1], tmp_path, noun="cell")[0].startswith("1 cell ")
    assert older_notes(cells[1:2], tmp_path) == older_notes(cells, tmp_path / "none") == []
    other = Cell("json:dumps", dataset="toy", method="constant", seed=0, params={"a": 1})
    assert older_notes([other], tmp_path) == []  # another cell, not one of another version
    assert count_older(tmp_path) == 2


def test_the_status_counts_what_other_code_made(cells, tmp_path):
    assert read_status(tmp_path).older == 0
    (path,) = (tmp_path / "cells").glob(f"??/{cells[0].key}/metadata.json")
    held = json.loads(path.read_text())
    for change in ({"function": "no_such:work"}, {"further": 1}):
        path.write_text(json.dumps(held | {"cell": held["cell"] | change}))
        status = read_status(tmp_path)
        assert status.older == 1
        assert status.sentences()[1].endswith("1 of the done.")
