"""The rows every reproduction ends in, and the register of protocols."""

import json
import os
import subprocess
import sys

import pytest

from uqassay.errors import InputError
from uqassay.experiments import PROTOCOLS, Cell, Reproduction, printed_table, reproduce

NAN = float("nan")


@pytest.mark.parametrize(
    ("paper", "low", "high", "agrees"),
    [(0.407, 0.4055, 0.407, True), (0.408, 0.4, 0.407, False), (NAN, 0.4, 0.5, None), (0.4, NAN, 0.5, None)],
)
def test_a_cell_agrees_within_its_interval(paper, low, high, agrees):
    assert Cell.within("table1/A/e", paper, 0.4, low, high).agrees is agrees


def test_the_interval_survives_binary_rounding():
    assert Cell.within("table1/A/e", 0.4, 0.3, 0.3 - 0.1, 0.1 + 0.2 + 0.1).agrees
    assert Cell.within("table1/A/e", 0.3, 0.3, 0.0, 0.1 * 3 - 4e-17).agrees


def test_json_has_the_agreed_keys_and_no_nan():
    result = Reproduction("demo", "a paper", (Cell.within("t/a", NAN, NAN, 0.0, 1.0), Cell.within("t/b", 2.0, 1, 0, 1)))
    rows = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert [list(row) for row in rows] == [["name", "paper", "ours", "low", "high", "agrees", "note"]] * 2
    assert rows[0]["paper"] is None
    assert rows[0]["agrees"] is None
    assert [cell.name for cell in result.misprints] == ["t/b"]


def test_summary_counts_every_table():
    rows = (
        Cell.within("t1/a", 1, 1, 0, 2),
        Cell.within("t1/b", 9, 1, 0, 2, note="because"),
        Cell.within("t2/a", NAN, 1, 0, 2),
    )
    lines = Reproduction("demo", "a paper", rows, ("a remark",)).summary().splitlines()
    assert lines == [
        "demo: a paper",
        "t1: 2 cells, 1 agree, 1 disagrees",
        "  t1/b: paper 9, ours 1, allowed 0 to 2: because",
        "t2: 1 cell, 0 agree, 0 disagree, 1 not compared",
        "note: a remark",
    ]


def test_unknown_names_are_refused():
    with pytest.raises(
        InputError, match=r"name: must be a protocol; 'unified' is none; choose one of .*unified-tables"
    ):
        reproduce("unified")
    with pytest.raises(InputError, match=r"name: must be a printed table; '\.\./errors' is none"):
        printed_table("../errors")
    with pytest.raises(InputError, match="options: must be known to the protocol; 'speed' is not; it takes tables"):
        reproduce("unified-tables", speed=3)


def test_the_register_loads_no_protocol():
    code = (
        "import sys, uqassay.experiments as e; assert 'unified-tables' in e.PROTOCOLS; "
        "print([m for m in ('uqassay.experiments.unified_tables', 'pandas', 'sklearn', 'torch') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert run.stdout.strip() == "[]"
    assert callable(PROTOCOLS["unified-tables"])
