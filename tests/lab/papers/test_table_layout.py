"""Layouts: which cell stands where, and which printed digits stand with it."""

import math

import pytest

from uqassay.lab.papers.layouts import CellPart, Layout, LayoutColumn, filled
from uqassay.lab.papers.printed_cells import PrintedCell

NAN = float("nan")
WIDE = Layout(
    "Wide",
    "unified_table1",
    {"dataset": "Dataset", "convention": "", "model": "Model"},
    (LayoutColumn("kl", "KL", ("kl_mean", "kl_sd")), LayoutColumn("e", "E", ("e_mean", "e_sd"))),
    (
        CellPart(("table1/{dataset}/{model}/{column}", "table1/{dataset}/{convention:exact|paper}/{model}/{column}")),
        CellPart(("table1/{dataset}/{model}/{column}_sd",), "sd"),
    ),
    "{} ± {}",
)
LONG = Layout(
    "Long",
    "disentanglement_table2_error",
    {"method": "Method"},
    (LayoutColumn("wine", "Wine"),),
    (
        CellPart(
            ("table2/{dataset}/{method}/{decomposition:IT}/pooled", "table2/{dataset}/{method}/{decomposition:IT}")
        ),
    ),
    column="{dataset}",
    values=("error",),
    renamed={"Wine": "wine"},
    only={"decomposition": ("IT",)},
    open=True,
)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("table1/CIFAR-10/DE/kl", ((("CIFAR-10", "", "DE"), "kl", 0), 0)),
        ("table1/CIFAR-10/DE/kl_sd", ((("CIFAR-10", "", "DE"), "kl", 1), 0)),
        ("table1/digits/paper/DE/e", ((("digits", "paper", "DE"), "e", 0), 1)),
        ("table1/CIFAR-10/DE/ns", None),
        ("table1/CIFAR-10/DE/kl/interval", None),
        ("table10/CIFAR-10/DE/kl", None),
        ("table1/digits/other/DE/e", None),
    ],
)
def test_a_name_has_one_place(name, place):
    assert WIDE.place(name) == place


def test_printed_digits_are_kept():
    assert WIDE.printed[("CIFAR-10", "", "EDL"), "e", 0] == "2.270"
    assert WIDE.printed[("CIFAR-100", "", "DDU"), "kl", 1] == "2.260"
    assert LONG.printed[("MC-Dropout",), "wine", 0] == "0.645"
    assert len(LONG.printed) == 20  # four methods on five data sets, one of the two decompositions


def test_our_numbers_stand_with_the_printed_ones():
    cells = [
        PrintedCell.within("table1/CIFAR-10/DE/e", 0.415, 0.4, 0.3, 0.5),
        PrintedCell.within("table1/CIFAR-10/DE/kl", 0.031, 0.1, 0.05, 0.2),
        PrintedCell("table1/CIFAR-10/DE/kl/interval", NAN, 0.1, 0.09, 0.11, None),
        PrintedCell.within("table2/x/DE/e", 1.0, 1.0, 1.0, 1.0),
    ]
    table = filled(WIDE, cells)
    assert len(table.rows) == 30
    row = next(row for row in table.rows if row.labels == ("CIFAR-10", "", "DE"))
    kl, e = (cell.values[0] for cell in row.cells)
    assert (e.printed, e.ours, e.low, e.high, e.agrees, e.decimals) == ("0.415", 0.4, 0.3, 0.5, True, 3)
    assert (kl.ours, kl.low, kl.high, kl.agrees) == (0.1, 0.09, 0.11, False)
    other = table.rows[0].cells[0].values
    assert other[0].printed == "0.243"
    assert other[1].printed == "1.315"
    assert math.isnan(other[0].ours)
    assert other[0].agrees is None


def test_rows_that_the_paper_has_not_stand_alone_with_their_printed_numbers():
    near = filled(WIDE, [PrintedCell("table1/digits/exact/EDL/e", 2.27, 0.1, NAN, NAN, None)])
    assert [row.labels for row in near.rows] == [("digits", "exact", "EDL")]
    assert near.rows[0].cells[1].values[0].printed == "2.270"  # as printed, not 2.27
    odd = filled(WIDE, [PrintedCell("table1/digits/exact/EDL/e", 2.2712, 0.1, NAN, NAN, None)])
    assert odd.rows[0].cells[1].values[0].printed == "2.2712"


def test_rows_without_printed_numbers_stand_under_the_printed_ones():
    table = filled(WIDE, [PrintedCell("table1/digits/exact/EDL/e", NAN, 0.1, NAN, NAN, None)])
    assert [row.labels for row in table.rows[-2:]] == [("CIFAR-100", "", "DDU"), ("digits", "exact", "EDL")]


def test_the_preferred_name_counts_in_any_order():
    plain = PrintedCell.within("table2/wine/MC-Dropout/IT", 0.645, 1.0, 0.0, 2.0)
    pooled = PrintedCell.within("table2/wine/MC-Dropout/IT/pooled", 0.645, 2.0, 0.0, 3.0)
    for cells in ([plain, pooled], [pooled, plain]):
        assert filled(LONG, cells).rows[0].cells[0].values[0].ours == 2.0


def test_an_open_layout_has_columns_that_are_not_printed():
    table = filled(LONG, [PrintedCell("table2/digits/MC-Dropout/IT", NAN, 0.3, NAN, NAN, None)])
    assert table.columns_shown == ("Wine", "digits")
    assert table.rows[0].cells[1].values[0].ours == 0.3
