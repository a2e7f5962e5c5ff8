"""Tables in the terminal: their columns at any width, sets, votes, sources of variance."""

import numpy as np
import pytest
from rich.cells import cell_len

import uqassay as uq
from uqassay.cli.report import print_sets, print_variance, print_votes
from uqassay.cli.screen import explained, fitted_table, open_console

pytestmark = [pytest.mark.usefixtures("without_calibration")]


# -- Tables on terminals of any width ----------------------------------------------------------------------------------


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


# -- The table of sets in the terminal ---------------------------------------------------------------------------------


def printed(models, y, capsys):
    print_sets(uq.assay(models, y, n_draws=10))
    return capsys.readouterr().out


def test_one_line_for_each_model_with_sets(capsys, narrow):
    pair = np.tile([[0.6, 0.4], [0.4, 0.6]], (20, 1, 1))
    sure = np.tile([[0.9, 0.1], [0.8, 0.2]], (20, 1, 1))
    y = np.array([0] * 15 + [1] * 5)
    text = printed({"pair": pair, "sure": sure, "point": pair[:, 0]}, y, capsys)
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "point" not in lines
    assert "100.0 %" in lines["pair"]
    assert lines["pair"].split()[-2:] == ["0.650", "0.800"]
    assert lines["sure"].split()[-2:] == ["0.750", "0.750"]
    narrow(50)
    text = printed({"pair": pair}, y, capsys)
    assert "No room for" in text
    assert "u65, u80:" not in text


def test_nothing_without_sets(capsys):
    assert printed({"point": [[0.9, 0.1], [0.2, 0.8]]}, [0, 1], capsys) == ""


# -- The table of votes in the terminal --------------------------------------------------------------------------------


VOTES = np.tile([[6, 4], [4, 6]], (15, 1))


def printed_votes(models, y, capsys):
    print_votes(uq.assay(models, y, n_draws=10, scales=()))
    return capsys.readouterr().out


def test_one_line_for_each_model(capsys):
    pair = np.tile([[0.9, 0.1], [0.1, 0.9]], (30, 1, 1))
    text = printed_votes({"pair": pair, "wrong": np.tile([[0.999, 0.001]], (30, 1))}, VOTES, capsys)
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "votes of 30 cases" in lines["Could"]
    assert float(lines["pair"].split()[1]) > 80
    assert lines["wrong"].split()[1:4] == ["–", "0.0", "%"]
    assert "a test of level 10 %, divided by 90 %" in text


def test_points_alone_have_no_column_for_sets(capsys):
    text = printed_votes({"even": np.full((30, 2), 0.5)}, VOTES, capsys)
    assert "from its set" not in text
    assert "from its mean" in text


def test_nothing_without_numbers_of_votes(capsys):
    assert printed_votes({"even": np.full((30, 2), 0.5)}, VOTES / 10, capsys) == ""


# -- The table of the sources of variance, where there are training runs -----------------------------------------------


def judged(n_runs, groups=None):
    rng = np.random.default_rng(4)
    runs = [uq.Point(rng.dirichlet([4, 1], 60)) for _ in range(n_runs)]
    return uq.assay({"m": runs}, np.zeros(60, int), groups=groups, calibration=(), scales=(), n_draws=5)


def test_runs_have_a_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    print_variance(judged(2, groups=np.arange(60) // 3))
    out = capsys.readouterr().out
    assert "Where the variance of the log loss comes from" in out
    assert "from groups" in out
    assert "few runs say little about the variance between runs, see its interval: m" in out


@pytest.mark.parametrize("n_runs", [1])
def test_one_run_has_none(capsys, n_runs):
    print_variance(judged(n_runs))
    assert capsys.readouterr().out == ""
