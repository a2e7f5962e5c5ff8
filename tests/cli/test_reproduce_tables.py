"""`reproduce --table`: the tables of the library, chosen and refused before anything is computed."""

import pytest
from tests.refusals import refuses

from uqassay.lab.cli_reproduce import chosen_tables, selected_by, table_lines
from uqassay.lab.papers import Reproduction, reproduce
from uqassay.lab.papers.register import layouts_of


def test_a_table_on_the_command_line_is_that_of_the_library(run):
    expected = reproduce("disentanglement-tables")
    ran = run("reproduce", "disentanglement-tables", "--table", "2", "--format", "csv")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == expected.table(2, format="csv") + "\n"
    both = run("reproduce", "disentanglement-tables", "--table", "table1,3", "--format", "latex")
    assert both.out == "\n\n".join(expected.table(i, format="latex") for i in (1, 3)) + "\n"
    text = run("reproduce", "disentanglement-tables", "--table", "all").out
    assert all(expected.table(i) in text for i in range(1, 6))
    assert text.endswith("".join(f"note: {note}\n" for note in expected.notes))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["unified-tables", "--table", "11"],
            "--table: must be a table of the paper of unified-tables, 1, 2, 3, 4, 5, 6",
        ),
        (
            ["unified-tables", "--table", ","],
            "--table: must be a table of the paper of unified-tables, 1, 2, 3, 4, 5, 6",
        ),
        (["unified-tables", "--table", "1,table1"], "--table: must be named once; got table1 twice"),
        (["unified-tables", "--table", "all,1"], "--table: all stands alone; got all and 1; leave the others out."),
        (["unified-tables", "--table", "1", "--json"], "--table: excludes --json"),
        (
            ["unified-tables", "--table", "1", "--format", "html"],
            "--format: must be 'text', 'csv', 'markdown' or 'latex'",
        ),
        (["unified-tables", "--format", "csv"], "--format: is of --table; got 'csv' without it"),
        (
            ["credal-calibration", "--table", "1", "--figure", "2"],
            "--table: excludes --figure; got --figure 2 and --table 1",
        ),
        (
            ["ranking-intervals", "--table", "2"],
            "--table: must be a table of the paper of ranking-intervals, 1; got '2'",
        ),
    ],
)
def test_what_cannot_be_printed_is_refused_in_one_sentence(words, sentence, run):
    ran = run("reproduce", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(sentence)


def test_a_table_selects_the_run_that_makes_its_numbers():
    tables = chosen_tables("credal-calibration", ["1"], None, as_json=False)
    assert selected_by(tables, {}) == selected_by(tables, {"figure": "table1"}) == {"figure": "table1"}
    assert selected_by(chosen_tables("unified", ["all"], "csv", as_json=False), {"figure": "2"}) == {}
    with refuses("--table", "conflict", got="--figure 2 and --table 1"):
        selected_by(tables, {"figure": "2"})


def test_notes_stand_with_text_alone():
    result = Reproduction("ranking-oasst2", "a paper", (), ("a remark",), layouts=layouts_of("ranking-oasst2"))
    assert table_lines(result, ["1"], "text").endswith("\n\nnote: a remark")
    assert table_lines(result, ["1"], "csv") == result.table(1, format="csv")
