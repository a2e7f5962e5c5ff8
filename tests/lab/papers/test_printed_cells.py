"""A printed cell agrees within its interval; the printed tables of the package, or given ones."""

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.printed_cells import PrintedCell, printed_table, tables_by_name

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


def test_given_tables_take_the_place_of_those_in_the_package():
    known = {"table1": "unified_table1", "table2": "unified_table2_cifar10_ranking"}
    found = tables_by_name(known, {"table2": [{"a": "1"}]})
    assert found["table1"] == printed_table("unified_table1")
    assert found["table2"] == [{"a": "1"}]
    with refuses("tables", "choice", got="'table3'"):
        tables_by_name(known, {"table3": []})
