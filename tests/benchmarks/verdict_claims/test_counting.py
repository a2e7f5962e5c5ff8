"""Results on disc and their rates: torn lines, continued runs, exact intervals, tables."""

import pytest
import scipy.stats
from benchmarks.verdict_claims.cells import CELLS, NOT_HELD
from benchmarks.verdict_claims.counting import Rate, any_false, append, former_false, results, share_told
from benchmarks.verdict_claims.table import BEGIN, END, lines
from benchmarks.verdict_claims.truth import definition
from benchmarks.verdict_claims.worlds import Cell, Kind

from benchmarks.verdict_claims import __main__ as command

CELL = Cell("small", (Kind(2),), n=60)


def row(seed, *false, told=0):
    return {
        "cell": definition(CELL),
        "seed": seed,
        "made": dict.fromkeys(false, 1),
        "false": dict.fromkeys(false, 1),
        "former": {"false": int("best" in false), "told": told, "true": 2},
        "rivals": [told, 2],
        "top": 1,
        "said": [],
    }


@pytest.mark.parametrize(("count", "of"), [(0, 20), (3, 20), (20, 20)])
def test_rate_against_scipy(count, of):
    interval = scipy.stats.binomtest(count, of).proportion_ci(method="exact")
    rate = Rate(count, of)
    assert (rate.value, rate.low, rate.high) == pytest.approx((count / of, interval.low, interval.high))


def test_torn_lines_are_left_out_and_not_continued(tmp_path):
    path = tmp_path / "small.jsonl"
    append(path, row(0))
    path.write_text(path.read_text() + '{"cell": "torn')
    append(path, row(1))
    append(path, row(1, "best"))
    append(path, {**row(2), "cell": "another definition"})
    assert [(r["seed"], list(r["false"])) for r in results(CELL, tmp_path)] == [(0, []), (1, [])]
    assert results(Cell("other", (Kind(2),)), tmp_path) == []


def test_counts_of_false_sentences_and_of_what_is_told():
    rows = [row(0), row(1, "best", told=1), row(2, "rank sets of accuracy", told=2)]
    assert any_false(rows) == Rate(1, 3)  # rank sets of accuracy are looked at apart
    assert any_false(rows, ["rank sets of accuracy", "best"]) == Rate(2, 3)
    assert former_false(rows) == Rate(1, 3)
    assert share_told(rows, "rivals") == share_told(rows, "former") == 0.5


def test_a_stopped_run_goes_on_and_gives_the_same(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command.run([CELL], whole, 3, workers=1, samples=500)
    command.run([CELL], parts, 1, workers=1, samples=500)
    path = parts / "small.jsonl"
    path.write_text(path.read_text() + '{"cell": "' + definition(CELL))
    command.run([CELL], parts, 3, workers=1, samples=500)
    assert results(CELL, whole) == results(CELL, parts)
    assert [r["seed"] for r in results(CELL, whole)] == [0, 1, 2]
    assert command.work([CELL], whole, 3) == []
    assert command.work([CELL], whole, 25) == [
        (CELL, list(range(3, 13))),
        (CELL, list(range(13, 23))),
        (CELL, [23, 24]),
    ]
    assert next(command.report([CELL], whole)).startswith("small: 3 data sets, any false sentence ")


def test_tables_are_written_between_their_marks(tmp_path, capsys):
    cell = CELLS["equal-2-100"]
    for seed in range(20):
        made = {**row(seed, *["best"] * (seed == 0)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
        append(tmp_path / f"{cell.name}.jsonl", {**made, "cell": definition(cell)})
    pages = tmp_path / "page.md", tmp_path / "cells.md"
    for page, names in zip(pages, (("kinds", "not held", "quotes"), ("cells",)), strict=True):
        page.write_text("".join(f"{BEGIN.format(name)}\nan earlier table\n{END}\ntext\n" for name in names))
    command.main(["--table", "--folder", str(tmp_path)])
    printed = capsys.readouterr().out
    command.main(["--table", "--folder", str(tmp_path), "--into", *map(str, pages)])
    first, second = (page.read_text() for page in pages)
    assert "an earlier table" not in first + second
    assert (first.count("text\n"), second.count("text\n")) == (3, 1)
    assert "| 20 | 5.0 (0.1-24.9) | best: 5.0 |" in second
    assert all(line in first + second for line in printed.splitlines())
    assert set(lines(tmp_path)) == {"kinds", "not held", "quotes", "cells"}
    before = pages[1].read_text()
    pages[0].write_text("no place")
    with pytest.raises(SystemExit, match="no place for the table 'kinds'"):
        command.main(["--table", "--folder", str(tmp_path), "--into", *map(str, pages)])
    assert pages[1].read_text() == before


def test_cells_that_are_not_held_have_a_table_of_their_own(tmp_path):
    for name in (NOT_HELD[0], "equal-2-100"):
        for seed in range(20):
            made = {**row(seed, *["best"] * (seed < 9)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
            append(tmp_path / f"{name}.jsonl", {**made, "cell": definition(CELLS[name])})
    found = lines(tmp_path)
    assert "| 1 | 45.0 |" in found["kinds"][2]
    (lost,) = found["not held"][2:]
    assert f"(`{NOT_HELD[0]}`)" in lost
    assert lost.endswith("| best: 45.0 |")
