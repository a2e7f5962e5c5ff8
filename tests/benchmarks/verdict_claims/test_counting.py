"""Results on disc and their rates: torn lines, continued runs, exact intervals, tables."""

import pytest
import scipy.stats
from benchmarks.docs_numbers import PLACE, ROOT
from benchmarks.keyed_lines import append
from benchmarks.verdict_claims.cells import CELLS, NOT_HELD
from benchmarks.verdict_claims.counting import Rate, any_false, former_false, present_code, results, share_told
from benchmarks.verdict_claims.table import tables
from benchmarks.verdict_claims.truth import definition
from benchmarks.verdict_claims.worlds import Cell, Kind

from benchmarks.verdict_claims import __main__ as command
from benchmarks.verdict_claims import counting

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


def test_data_sets_of_other_code_and_other_cells_are_not_used(tmp_path, monkeypatch):
    path, code = tmp_path / "small.jsonl", present_code()
    append(path, row(0), code)
    path.write_text(path.read_text() + '{"cell": "torn')
    append(path, row(1), code)
    append(path, row(1, "best"), code)
    append(path, {**row(2), "cell": "another definition"}, code)
    append(path, row(3), "of a former source")
    rows, others = results(CELL, tmp_path)
    assert ([(r["seed"], list(r["false"])) for r in rows], others) == ([(0, []), (1, [])], 1)
    assert [r["seed"] for r in results(CELL, tmp_path, "of a former source")[0]] == [3]
    assert results(Cell("other", (Kind(2),)), tmp_path) == ([], 0)
    monkeypatch.setattr(counting, "code_version", lambda function: "of a changed source")
    assert results(CELL, tmp_path) == ([], 5)


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
    rows, others = results(CELL, whole)
    assert (rows, others) == results(CELL, parts)
    assert ([r["seed"] for r in rows], others) == ([0, 1, 2], 0)
    assert command.work([CELL], whole, 3) == []
    assert command.work([CELL], whole, 25) == [
        (CELL, list(range(3, 13))),
        (CELL, list(range(13, 23))),
        (CELL, [23, 24]),
    ]
    assert next(command.report([CELL], whole)).startswith("small: 3 data sets, any false sentence ")


def test_tables_are_printed_and_kept_with_the_code_that_judged(tmp_path, capsys, monkeypatch):
    cell, kept = CELLS["equal-2-100"], {}
    for seed in range(20):
        made = {**row(seed, *["best"] * (seed == 0)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
        append(tmp_path / f"{cell.name}.jsonl", {**made, "cell": definition(cell)}, "of a former source")
    monkeypatch.setattr(command, "store", lambda name, table, source, code: kept.update({name: (table, code)}))
    with pytest.raises(SystemExit):
        command.main(["--table", "--folder", str(tmp_path)])
    assert "20 data sets of other code not in the tables" in capsys.readouterr().err
    command.main(["--table", "--store", "--code", "of a former source", "--folder", str(tmp_path)])
    assert "| 20 | 5.0 (0.1-24.9) | best: 5.0 |" in capsys.readouterr().out
    assert {code for _, code in kept.values()} == {"of a former source"}
    places = {match[1] for page in (ROOT / "docs").glob("*.md") for match in PLACE.finditer(page.read_text())}
    assert set(kept) <= places
    with pytest.raises(SystemExit):
        command.main(["--code", "of a former source", "--folder", str(tmp_path)])


def test_cells_that_are_not_held_have_a_table_of_their_own(tmp_path):
    for name in (NOT_HELD[0], "equal-2-100"):
        for seed in range(20):
            made = {**row(seed, *["best"] * (seed < 9)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
            append(tmp_path / f"{name}.jsonl", {**made, "cell": definition(CELLS[name])}, present_code())
    found = tables(tmp_path)
    assert found["verdict-claims-kinds"].rows[0][2:4] == ("1", "45.0")
    rates = {says: rate for says, _, rate, _ in found["verdict-claims-chosen"].rows}
    assert rates['"A is the best of the models"'].startswith("45.0; worst cell 45.0 (")
    assert rates['"is not calibrated"'] == "not measured"
    assert rates['"in 97 % of resamples"'] == "no test"
    (lost,) = found["verdict-claims-not-held"].rows
    assert f"(`{NOT_HELD[0]}`)" in lost[0]
    assert lost[-1] == "best: 45.0"
