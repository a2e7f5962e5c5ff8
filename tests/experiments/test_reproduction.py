"""The rows every reproduction ends in, and the register of protocols."""

import json

import pytest
from tests.refusals import refuses

from uqassay.experiments import PrintedCell, Reproduction
from uqassay.experiments.reproduction import printed_table, tables_by_name

NAN = float("nan")


@pytest.mark.parametrize(
    ("paper", "low", "high", "agrees"),
    [(0.407, 0.4055, 0.407, True), (0.408, 0.4, 0.407, False), (NAN, 0.4, 0.5, None), (0.4, NAN, 0.5, None)],
)
def test_a_cell_agrees_within_its_interval(paper, low, high, agrees):
    assert PrintedCell.within("table1/A/e", paper, 0.4, low, high).agrees is agrees


def test_the_interval_survives_binary_rounding():
    assert PrintedCell.within("table1/A/e", 0.4, 0.3, 0.3 - 0.1, 0.1 + 0.2 + 0.1).agrees
    assert PrintedCell.within("table1/A/e", 0.3, 0.3, 0.0, 0.1 * 3 - 4e-17).agrees


def test_json_has_the_agreed_keys_and_no_nan():
    result = Reproduction(
        "demo", "a paper", (PrintedCell.within("t/a", NAN, NAN, 0.0, 1.0), PrintedCell.within("t/b", 2.0, 1, 0, 1))
    )
    rows = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert [list(row) for row in rows] == [["name", "paper", "ours", "low", "high", "agrees", "note"]] * 2
    assert rows[0]["paper"] is None
    assert rows[0]["agrees"] is None
    assert [cell.name for cell in result.misprints] == ["t/b"]


def test_summary_counts_every_table():
    rows = (
        PrintedCell.within("t1/a", 1, 1, 0, 2),
        PrintedCell.within("t1/b", 9, 1, 0, 2, note="because"),
        PrintedCell.within("t2/a", NAN, 1, 0, 2),
    )
    lines = Reproduction("demo", "a paper", rows, ("a remark",)).summary().splitlines()
    assert lines == [
        "demo: a paper",
        "t1: 2 cells, 1 agree, 1 disagrees",
        "  t1/b: paper 9, ours 1, allowed 0 to 2: because",
        "t2: 1 cell, 0 agree, 0 disagree, 1 not compared",
        "note: a remark",
    ]


def test_a_listed_summary_shows_every_cell_then_notes_then_the_reading():
    rows = (PrintedCell.within("t1/a", 1.5, 1, 0, 2), PrintedCell.within("t1/bb", 9, 1, 0, 2, note="because"))
    result = Reproduction("demo", "a paper", rows, ("a remark",), ("more", "and more"), listed=True)
    assert result.summary().splitlines() == [
        "demo: a paper",
        "t1: 2 cells, 1 agree, 1 disagrees",
        "  cell   paper  ours   low  high  agrees",
        "  t1/a    1.50  1.00  0.00  2.00     yes",
        "  t1/bb   9.00  1.00  0.00  2.00      no",
        "  t1/bb: because",
        "note: a remark",
        "more",
        "and more",
    ]


def test_given_tables_take_the_place_of_those_in_the_package():
    known = {"table1": "unified_table1", "table2": "unified_table2_cifar10_ranking"}
    found = tables_by_name(known, {"table2": [{"a": "1"}]})
    assert found["table1"] == printed_table("unified_table1")
    assert found["table2"] == [{"a": "1"}]
    with refuses("tables", "choice", got="'table3'"):
        tables_by_name(known, {"table3": []})
