"""Registered tables: every one has a stored result, and its function makes rows as those of the guide."""

import re

import pytest
from benchmarks.measured.registry import (
    MEASURED,
    Measurement,
    joined,
    measured,
    numbers,
    percents,
    printed,
    printed_rows,
)
from benchmarks.stored_tables import Source, Table, stored_results

from benchmarks.measured import __main__ as command

STORED = {stored.name: stored for stored in stored_results()}
QUICK = ("direction-of-miscalibration", "swap-test", "epistemic-trends", "paired-disentanglement")


def show(n):
    print("a title")
    print("| a | .5 |")
    print("|---|---|")
    for i in range(n):
        print(f"| b {i} | {i / 2:.1f} / 3 |")


def test_what_is_printed_is_read():
    assert printed(show, 1) == ["a title", "| a | .5 |", "|---|---|", "| b 0 | 0.0 / 3 |"]
    assert printed_rows(show, 2) == [["a", ".5"], ["b 0", "0.0 / 3"], ["b 1", "0.5 / 3"]]
    assert numbers("n = 50  0.9 / 5.1  -1") == ["50", "0.9", "5.1", "-1"]
    assert numbers("no number here") == []
    assert percents([0.051, 1.0]) == "5.1 / 100.0"
    assert percents([0.051, 1.0], 0) == "5 / 100"
    assert list(joined(["1", "2", "3", "4"], 2)) == ["1 / 2", "3 / 4"]


def test_names_are_registered_once():
    name = next(iter(MEASURED))
    with pytest.raises(ValueError, match=f"registered twice: {name}"):
        measured("new", name, function="json:dumps")(lambda size=1: Table())
    assert "new" not in MEASURED


def test_tables_are_stored_with_code_and_time(tmp_path):
    made = Measurement(
        ("one", "two"),
        lambda size=3: (Table(("n",), [[str(size)]]), Table(text=["words"])),
        Source("python -m benchmarks.measured one", "json:dumps"),
    )
    made.store(tmp_path)
    one, two = stored_results(tmp_path)
    assert (one.name, one.table.rows, two.table.text) == ("one", [["3"]], ["words"])
    assert not one.is_older
    assert one.source.cost == "seconds"
    assert made.tables(5)["one"].rows == [["5"]]
    with pytest.raises(ValueError, match="longer"):
        Measurement(("one",), lambda: (Table(), Table()), made.source).tables()


def test_every_table_has_a_stored_result_made_by_its_command():
    for name in MEASURED.keys() & STORED:
        assert STORED[name].source.command == MEASURED[name].source.command
    for measurement in MEASURED.values():
        assert measurement.source.code(), measurement.names


def without_numbers(cells):
    return [re.sub(r"[-−]?\d*\.?\d+", "#", cell) for cell in cells]


@pytest.mark.parametrize("name", QUICK)
def test_the_function_makes_rows_as_those_of_the_guide(name):
    table, guide = MEASURED[name].tables(4)[name], STORED[name].table
    assert list(table.columns) == list(guide.columns)
    assert [row[0] for row in table.rows] == [row[0] for row in guide.rows]
    assert list(map(without_numbers, table.rows)) == list(map(without_numbers, guide.rows))


def test_the_command_lists_prints_and_refuses(capsys):
    assert command.main([]) == 0
    assert "swap-test: tests.metrics.test_disentanglement_error_rates:swap_rates" in capsys.readouterr().out
    assert command.main(["swap-test", "--size", "2"]) == 0
    assert "| good |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["no-such-table"])
    assert "no such table: no-such-table" in capsys.readouterr().err
