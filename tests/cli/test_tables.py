"""Tables on terminals of any width."""

import pytest
from rich.cells import cell_len

from uqassay.cli.screen import explained, fitted_table, open_console

COLUMNS = {"model": ["a", "b" * 30], "mean E": ["0.25", "0.50"], "x": ["1", "2"], "x ": ["3", "4"]}


def headers(table):
    return [str(column.header) for column in table.columns]


@pytest.mark.parametrize(
    ("width", "kept"), [(80, ["model", "mean E", "x", "x"]), (24, ["model", "mean E", "x"]), (20, ["model", "mean E"])]
)
def test_the_last_spare_column_goes_first(width, kept):
    assert headers(fitted_table(COLUMNS, width=width, spare=["x", "x "])) == kept


def test_columns_that_are_not_spare_stay_and_are_folded(capsys, narrow):
    narrow(20)
    open_console().print(fitted_table(COLUMNS, width=20))
    out = capsys.readouterr().out
    assert max(map(cell_len, out.splitlines())) <= 20
    assert "…" not in out
    assert out.replace("\n", "").replace(" ", "").count("b") == 30


def test_rows_keep_their_styles():
    table = fitted_table(COLUMNS, width=80, styles=["bold", "dim"], words=("mean E",))
    assert [row.style for row in table.rows] == ["bold", "dim"]
    assert [column.justify for column in table.columns][:3] == ["left", "left", "right"]


def test_no_rows():
    assert headers(fitted_table({"model": [], "p": []}, width=10)) == ["model", "p"]


def test_only_shown_columns_are_explained():
    table = fitted_table({"model": ["a"], "p (Holm)": ["1.00"], "plain": ["2"]}, width=80)
    assert explained({"p (Holm)": "adjusted", "wins": "share", "pl": "no header"}, table) == "adjusted"
    assert explained({"p": "paired", "plain": "same weights"}, table) == "paired; same weights"
