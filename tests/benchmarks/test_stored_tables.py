"""Stored tables of the guide: what they keep, when they are stale, and the register of them."""

import json
import re
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.keyed_lines import append, read_lines
from benchmarks.measured import __main__ as command
from benchmarks.measured import registry
from benchmarks.measured.registry import MEASURED, joined, measured, numbers, percents, printed, printed_rows
from benchmarks.stored_tables import Source, Table, golden_numbers, store, stored_results

from uqassay.statistics import mean_estimate

# -- Stored tables: what they keep, and when they are stale ------------------------------------------------------------

SOURCE = Source("python -m measuring --store", "tests.measuring:golden", "a minute", "gain", "Shares")
MOVED = 0.0


def golden():
    """Intervals of three samples, and whether they hold the mean."""
    rng = np.random.default_rng(0)
    found = [mean_estimate(rng.normal(MOVED, size=20)) for _ in range(3)]
    return [e.low <= 0 <= e.high for e in found]


@pytest.fixture(autouse=True)
def measuring(monkeypatch):
    """A module that measures, with the function of the package that it measures."""
    module = types.ModuleType("tests.measuring")
    module.golden, module.mean_estimate = golden, mean_estimate
    monkeypatch.setitem(sys.modules, "tests.measuring", module)
    monkeypatch.setitem(sys.modules, "tests.of_this_file", sys.modules[__name__])
    return module


def kept(tmp_path):
    (stored,) = stored_results(tmp_path)
    return stored


def test_what_is_stored_is_read(tmp_path):
    table = Table(("model", "share"), [("a", ".5"), ("b", "1")], ["Beneath."])
    store("shares", table, SOURCE, root=tmp_path)
    stored = kept(tmp_path)
    assert (stored.name, stored.source) == ("shares", SOURCE)
    assert stored.table.markdown() == ["| model | share |", "|---|---|", "| a | .5 |", "| b | 1 |", "", "Beneath."]
    assert stored.why_stale() == ""


def test_a_golden_run_keeps_what_the_package_returned_to_the_modules_that_measure():
    rng = np.random.default_rng(0)
    low = [mean_estimate(rng.normal(size=20)).low for _ in range(3)]
    numbers = golden_numbers(SOURCE)
    assert numbers["mean_estimate.low"] == pytest.approx([3, np.mean(low), np.sqrt(np.mean(np.square(low)))], rel=1e-6)
    assert numbers["golden run"] == [3, 1, 1]
    assert mean_estimate.__module__.startswith("uqassay")  # as it was before


def test_a_table_is_stale_only_if_its_golden_run_gives_other_numbers(tmp_path, monkeypatch):
    store("shares", Table(text=["words"]), SOURCE, root=tmp_path)

    fast = mean_estimate

    def slower(*arguments, **options):  # another function and name, the same numbers
        return fast(*arguments, **options)

    slower.__module__ = "uqassay.statistics.slower"
    monkeypatch.setattr(sys.modules[__name__], "mean_estimate", slower)
    assert kept(tmp_path).why_stale() == ""
    monkeypatch.setattr(sys.modules[__name__], "MOVED", 0.01)  # every share stays as it is
    assert kept(tmp_path).why_stale().startswith("mean_estimate.high was 0.")
    monkeypatch.setattr(sys.modules[__name__], "MOVED", 1e-7)  # another machine
    assert kept(tmp_path).why_stale() == ""


def test_a_table_without_golden_numbers_or_whose_golden_run_fails_is_stale(tmp_path, measuring):
    store("shares", Table(), SOURCE, golden={}, root=tmp_path)
    assert kept(tmp_path).why_stale() == "no golden run of the code that made it"
    store("shares", Table(), SOURCE, root=tmp_path)
    del measuring.golden
    assert kept(tmp_path).why_stale().startswith("its golden run fails: AttributeError: ")


def test_times_are_never_stale(tmp_path):
    store("times", Table(), Source("x", ""), root=tmp_path)
    assert (kept(tmp_path).golden, kept(tmp_path).why_stale()) == ({}, "")


def test_what_cannot_be_kept_is_refused(tmp_path):
    with pytest.raises(ValueError, match="one cell for each column"):
        store("shares", Table(("a", "b"), [("1",)]), SOURCE, root=tmp_path)
    with pytest.raises(ValueError, match="letters, digits and hyphens"):
        store("two words", Table(), SOURCE, root=tmp_path)
    assert not (tmp_path / "docs").exists()
    store("shares", Table(), SOURCE, root=tmp_path)
    path = tmp_path / "docs" / "results" / "shares.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "name": "other"}))
    with pytest.raises(ValueError, match="not a stored table"):
        stored_results(tmp_path)


# -- Registered tables: every one has a stored result, and its function makes rows as those of the guide ---------------

STORED = {stored.name: stored for stored in stored_results()}
QUICK = ("direction-of-miscalibration", "swap-test", "below-chance", "paired-disentanglement")


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
        measured("new", name, page="gain")(two_tables)
    assert "new" not in MEASURED
    with pytest.raises(ValueError, match="needs a line of its docstring for each table"):
        measured("new", page="gain")(lambda size=1: Table())


def two_tables(size=3):
    """The first.

    The second.
    """
    return Table(("n",), [[str(size)]]), Table(text=["words"])


def test_tables_are_stored_with_their_golden_run_and_time(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.measured.registry.MEASURED", {})
    measured("one", "two", page="gain")(two_tables)
    made = registry.MEASURED["one"]
    made.store(tmp_path)
    one, two = stored_results(tmp_path)
    assert (one.name, one.table.rows, two.table.text) == ("one", [["3"]], ["words"])
    assert (one.source.title, two.source.title, one.source.page) == ("The first", "The second", "gain")
    assert one.golden == {"golden run": [1, 1, 1]}  # one sample
    assert not one.why_stale()
    assert one.source.cost == "size 3: seconds"
    assert made.tables(5)["one"].rows == [["5"]]
    with pytest.raises(ValueError, match="longer"):
        replace(made, names=("one",)).tables()


def test_every_table_has_a_stored_result_made_by_its_command():
    for name, measurement in MEASURED.items():
        stored = STORED[name].source
        title = dict(zip(measurement.names, measurement.titles, strict=True))[name]
        assert replace(stored, cost="") == replace(measurement.source, title=title), name


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
    assert "swap-test: Test of the names: rejections at 5 %" in capsys.readouterr().out
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
