"""The result of a reproduction: its rows, its summary and its tables."""

import json

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers import PrintedCell, Reproduction, reproduce
from uqassay.lab.papers.reproduction import compared_with_runs, further_runs

NAN = float("nan")


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


def test_a_table_is_one_of_the_paper():
    result = reproduce("unified-tables")
    assert result.tables == tuple(f"table{i}" for i in range(1, 11))
    assert result.table(2) == result.table("2") == result.table("table2", format="text")
    assert result.table(2, format="csv").startswith("tradeoff,LB-BNN_rank_paper,LB-BNN_rank_ours,")
    with refuses("table", "choice", got="'figure1'"):
        result.table("figure1")
    with refuses("format", "choice", got="'html'"):
        result.table(2, format="html")
    nothing = Reproduction("demo", "a paper", ())
    assert nothing.tables == ()
    with refuses("table", "choice", got="has no printed table"):
        nothing.table(1)


@pytest.mark.parametrize("format", ["text", "csv", "latex"])
def test_every_table_is_made_without_numbers_of_ours(format):
    for name in ("unified", "credal-calibration", "epistemic-gain", "ranking-oasst2", "disentanglement"):
        empty = Reproduction(name, "a paper", ())
        for table in empty.tables:
            assert len(empty.table(table, format=format).splitlines()) > 2


# -- Printed means against the range of as many further runs.


def test_range_of_further_runs_holds_their_mean():
    """Type I error of the comparison: the mean of 5 runs lies outside the range of 20 or 5 runs in 5 % of the cases."""
    rng = np.random.default_rng(0)
    for n in (5, 20):
        inside = []
        for _ in range(2000):
            low, high = further_runs(rng.normal(0.4, 0.1, n), 5)
            inside.append(low <= rng.normal(0.4, 0.1, 5).mean() <= high)
        assert 0.935 < np.mean(inside) < 0.965
    assert np.isnan(further_runs(np.array([0.4]), 5)).all()


def test_range_is_cut_to_the_bounds_of_the_quantity():
    runs = np.array([0.001, 0.002, 0.006])
    low, high = further_runs(runs, 6)
    assert low < 0
    assert further_runs(runs, 6, bounds=(0.0, 1.0)) == (0.0, high)


@pytest.mark.parametrize(
    ("paper", "agrees", "note"), [(0.5, True, ""), (0.9, False, "5 further runs, from our 4 runs")]
)
def test_comparison_has_a_reason_where_it_disagrees(paper, agrees, note):
    cell = compared_with_runs("table1/a", paper, 0.5, (0.4, 0.6), runs=4, paper_runs=5)
    assert (cell.agrees, cell.paper, cell.ours) == (agrees, paper, 0.5)
    assert cell.note.endswith(note)
    assert bool(cell.note) == (not agrees)


def test_without_a_range_nothing_is_compared():
    assert compared_with_runs("table1/a", 0.9, 0.5, (np.nan, np.nan), runs=1, paper_runs=5).agrees is None
