"""Stored tables of the guide: what they keep, when they are older than the code that they measure, and the register of them."""

import json
import re

import pytest
from benchmarks.keyed_lines import append, read_lines
from benchmarks.measured import __main__ as command
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
from benchmarks.source_digests import code_version
from benchmarks.stored_tables import Source, Table, store, stored_results
from tests.refusals import refuses

# -- Stored tables: what they keep, and when they are older than the code that they measure ----------------------------


SOURCE = Source("python -m measuring --store", "json:dumps", ("json.decoder",), cost="a minute")


def test_what_is_stored_is_read(tmp_path):
    table = Table(("model", "share"), [("a", ".5"), ("b", "1")], ["Beneath."])
    store("shares", table, SOURCE, root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert (stored.name, stored.source.command, stored.source.cost) == ("shares", SOURCE.command, "a minute")
    assert stored.code == code_version("json:dumps", ("json.decoder",)) == SOURCE.code()
    assert stored.table.markdown() == [
        "| model | share |",
        "|---|---|",
        "| a | .5 |",
        "| b | 1 |",
        "",
        "Beneath.",
    ]
    assert not stored.is_older
    assert set(stored.modules) == {"json", "json.decoder", "json.encoder", "json.scanner"}
    store("shares", table, SOURCE, code="of a former source", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.changed == []  # the modules of that source are not known


def test_an_older_table_names_the_modules_that_changed(tmp_path):
    store("shares", Table(text=["words"]), SOURCE, root=tmp_path)
    path = tmp_path / "docs" / "results" / "shares.json"
    held = json.loads(path.read_text())
    held["modules"] |= {"json.scanner": "0123", "json.gone": "4567"}
    del held["modules"]["json.encoder"]
    path.write_text(json.dumps(held | {"code": "of another version of the package"}))
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.changed == ["json.encoder", "json.gone", "json.scanner"]
    held["modules"] = SOURCE.modules()
    path.write_text(json.dumps(held | {"code": "of another version of the package"}))
    assert not stored_results(tmp_path)[0].is_older


def test_a_transcribed_table_is_older(tmp_path):
    store("shares", Table(text=["words"]), SOURCE, transcribed="commit 0123 (2026-01-01)", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert (stored.code, stored.modules, stored.changed) == ("not recorded", {}, [])


def test_a_table_whose_code_is_gone_is_older(tmp_path):
    store("gone", Table(text=["words"]), Source("x", "uqassay.no_such:measure"), code="abc", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.table.markdown() == ["words"]


def test_what_cannot_be_kept_is_refused(tmp_path):
    with pytest.raises(ValueError, match="one cell for each column"):
        store("shares", Table(("a", "b"), [("1",)]), SOURCE, root=tmp_path)
    with pytest.raises(ValueError, match="letters, digits and hyphens"):
        store("two words", Table(), SOURCE, root=tmp_path)
    with refuses("function", "missing", got=r"uqassay\.no_such"):
        store("shares", Table(), Source("x", "uqassay.no_such:measure"), root=tmp_path)
    assert not (tmp_path / "docs").exists()
    store("shares", Table(), SOURCE, root=tmp_path)
    path = tmp_path / "docs" / "results" / "shares.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "name": "other"}))
    with pytest.raises(ValueError, match="not a stored table"):
        stored_results(tmp_path)


# -- Registered tables: every one has a stored result, and its function makes rows as those of the guide ---------------


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


# -- Lines of results by the code that made them; torn lines are skipped and not continued -----------------------------


def test_lines_of_other_code_are_counted_and_not_used(tmp_path):
    path = tmp_path / "folder" / "lines.jsonl"
    assert read_lines(path, "a") == ([], 0)
    append(path, {"seed": 0}, "a")
    path.write_text(path.read_text() + '{"seed": 5}\n')  # of the time before lines had a code
    append(path, {"seed": 1}, "b")
    assert read_lines(path, "a") == ([{"seed": 0}], 2)
    assert read_lines(path, "b") == ([{"seed": 1}], 2)
    assert read_lines(path, "c") == ([], 3)


def test_a_torn_line_is_skipped_and_not_continued(tmp_path):
    path = tmp_path / "lines.jsonl"
    append(path, {"seed": 0}, "a")
    path.write_text(path.read_text() + '{"code": "a", "se')
    assert read_lines(path, "a") == ([{"seed": 0}], 0)
    append(path, {"seed": 1}, "a")
    path.write_text(path.read_text() + "[1]\n\n")
    assert read_lines(path, "a") == ([{"seed": 0}, {"seed": 1}], 0)
