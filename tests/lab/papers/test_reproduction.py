"""A reproduction: its rows, summary and tables, the register of protocols, and printed cells."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.cli import main
from uqassay.lab.papers import PROTOCOLS, PrintedCell, Reproduction, printed_table, reproduce
from uqassay.lab.papers.paper_tables import tables_by_name
from uqassay.lab.papers.register import (
    PAPERS,
    described_options,
    layouts_of,
    options_of,
    presets_of,
    purpose_of,
    steps_of,
    typed_option,
)
from uqassay.lab.papers.reproduction import compared_with_runs, further_runs

NAN = float("nan")


def test_json_has_the_agreed_keys_and_no_nan():
    result = Reproduction(
        "demo", "a paper", (PrintedCell.within("t/a", NAN, NAN, 0.0, 1.0), PrintedCell.within("t/b", 2.0, 1, 0, 1))
    )
    rows = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert [list(row) for row in rows] == [["name", "paper", "ours", "low", "high", "agrees", "note"]] * 2
    assert rows[0]["paper"] is None
    assert rows[0]["agrees"] is None
    assert [cell.name for cell in result.misprints] == ["t/b"]


def test_summary_counts_every_table():
    rows = (
        PrintedCell.within("t1/a", 1, 1, 0, 2),
        PrintedCell.within("t1/b", 9, 1, 0, 2, note="because"),
        PrintedCell.within("t2/a", NAN, 1, 0, 2),
    )
    lines = Reproduction("demo", "a paper", rows, ("a remark",)).summary().splitlines()
    assert lines == [
        "demo: a paper",
        "t1: 2 cells, 1 agree, 1 disagrees",
        "  t1/b: paper 9, ours 1, allowed 0 to 2: because",
        "t2: 1 cell, 0 agree, 0 disagree, 1 not compared",
        "note: a remark",
    ]


def test_a_listed_summary_shows_every_cell_then_notes_then_the_reading():
    rows = (PrintedCell.within("t1/a", 1.5, 1, 0, 2), PrintedCell.within("t1/bb", 9, 1, 0, 2, note="because"))
    result = Reproduction("demo", "a paper", rows, ("a remark",), ("more", "and more"), listed=True)
    assert result.summary().splitlines() == [
        "demo: a paper",
        "t1: 2 cells, 1 agree, 1 disagrees",
        "  cell   paper  ours   low  high  agrees",
        "  t1/a    1.50  1.00  0.00  2.00     yes",
        "  t1/bb   9.00  1.00  0.00  2.00      no",
        "  t1/bb: because",
        "note: a remark",
        "more",
        "and more",
    ]


def test_a_table_is_one_of_the_paper():
    result = reproduce("unified-tables")
    assert result.tables == tuple(f"table{i}" for i in range(1, 11))
    assert result.table(2) == result.table("2") == result.table("table2", format="text")
    assert result.table(2, format="csv").startswith("tradeoff,LB-BNN_rank_paper,LB-BNN_rank_ours,")
    with refuses("table", "choice", got="'figure1'"):
        result.table("figure1")
    with refuses("format", "choice", got="'html'"):
        result.table(2, format="html")
    nothing = Reproduction("demo", "a paper", ())
    assert nothing.tables == ()
    with refuses("table", "choice", got="has no printed table"):
        nothing.table(1)


@pytest.mark.parametrize("format", ["text", "csv", "markdown", "latex"])
def test_every_table_is_made_without_numbers_of_ours(format):
    for name in ("unified", "credal-calibration", "epistemic-gain", "ranking-oasst2", "disentanglement"):
        empty = Reproduction(name, "a paper", (), layouts=layouts_of(name))
        for table in empty.tables:
            assert len(empty.table(table, format=format).splitlines()) > 2


ROOT = Path(__file__).parents[3]
NUMBERED = re.compile(r"\b[Pp]apers? (00)?[0-5](?![\d.])|[(| ]00[0-4](?![\d.])")


def test_papers_are_called_by_their_short_titles():
    """No numbers, which differ between a list that counts from 1 and files that count from 0."""
    texts = [*(ROOT / "src/uqassay/lab/papers").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    found = [f"{path.name}: {line}" for path in texts if path.name != "house.md"
             for line in path.read_text(encoding="utf-8").splitlines() if NUMBERED.search(line)]  # fmt: skip
    assert not found
    titles = [paper.title.partition(" (")[0] for paper in PAPERS]
    headings = re.findall(r"^## (.*)$", (ROOT / "docs/reproduction.md").read_text(encoding="utf-8"), flags=re.M)
    assert headings[: len(titles)] == titles


# -- Printed means against the range of as many further runs.


def test_range_of_further_runs_holds_their_mean():
    """Type I error of the comparison: the mean of 5 runs lies outside the range of 20 or 5 runs in 5 % of the cases."""
    rng = np.random.default_rng(0)
    for n in (5, 20):
        inside = []
        for _ in range(2000):
            low, high = further_runs(rng.normal(0.4, 0.1, n), 5)
            inside.append(low <= rng.normal(0.4, 0.1, 5).mean() <= high)
        assert 0.935 < np.mean(inside) < 0.965
    assert np.isnan(further_runs(np.array([0.4]), 5)).all()


def test_range_is_cut_to_the_bounds_of_the_quantity():
    runs = np.array([0.001, 0.002, 0.006])
    low, high = further_runs(runs, 6)
    assert low < 0
    assert further_runs(runs, 6, bounds=(0.0, 1.0)) == (0.0, high)


@pytest.mark.parametrize(
    ("paper", "agrees", "note"), [(0.5, True, ""), (0.9, False, "5 further runs, from our 4 runs")]
)
def test_comparison_has_a_reason_where_it_disagrees(paper, agrees, note):
    cell = compared_with_runs("table1/a", paper, 0.5, (0.4, 0.6), runs=4, paper_runs=5)
    assert (cell.agrees, cell.paper, cell.ours) == (agrees, paper, 0.5)
    assert cell.note.endswith(note)
    assert bool(cell.note) == (not agrees)


def test_without_a_range_nothing_is_compared():
    assert compared_with_runs("table1/a", 0.9, 0.5, (np.nan, np.nan), runs=1, paper_runs=5).agrees is None


# -- register of protocols ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_every_option_of_a_protocol_has_a_sentence(name):
    assert steps_of(name) >= 1
    described = described_options(name)
    assert tuple(option.name for option in described) == options_of(name)
    for option in described:
        assert option.text, f"{name}, {option.name}"


def test_every_protocol_belongs_to_one_paper():
    assert [name for paper in PAPERS for name in paper.makes] == sorted(
        PROTOCOLS, key=[name for paper in PAPERS for name in paper.makes].index
    )
    assert sum(len(paper.makes) for paper in PAPERS) == len(PROTOCOLS)


def test_values_that_are_typed_fit_the_signature():
    assert typed_option("ranking-synthetic", "bayes_error", ".2") == 0.2
    assert typed_option("unified", "predictors", "DE,SNN") == ["DE", "SNN"]
    with refuses("bayes_error", "type", got="a number; got 'x'"):
        typed_option("ranking-synthetic", "bayes_error", "x")


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_purpose_of_a_protocol_is_one_sentence(name):
    assert purpose_of(name).endswith(".")
    assert "\n" not in purpose_of(name)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("unified-tables", "--data", "x"), "--data: means nothing to unified-tables, which takes --preset"),
        (("ranking-intervals", "--sweep"), "--sweep: means nothing to ranking-intervals, which takes --preset"),
        (
            ("ranking-synthetic", "--data", "x"),
            "which takes --preset, --method, --figures, --seed, --sweep, --set bayes_error=, --set one_sample=",
        ),
        (("ranking-cifar10h", "--seed", "1"), "--seed: means nothing to ranking-cifar10h"),
        (("ranking-cifar10h",), "--data: must be a folder; got none"),
        (("ranking-cifar10h", "--data", "nowhere"), "--data: must be a folder; got nowhere"),
    ],
)
def test_options_that_mean_nothing_are_one_sentence(argv, sentence, capsys):
    assert main(["reproduce", *argv]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_every_protocol_names_its_presets(name):
    assert set(presets_of(name)) - {"gpu-hour"} == {"smoke", "cpu", "paper"}


def test_every_protocol_is_found():
    for name, place in PROTOCOLS.items():
        assert place.startswith("uqassay.lab.papers.")
        assert place.partition(":")[2].replace("_", "-").startswith("reproduce-"), name


def test_the_command_takes_the_options_of_a_protocol(capsys, monkeypatch):
    from uqassay.lab.papers.ranking import synthetic

    few = synthetic.grid("smoke")[::5]
    monkeypatch.setattr(synthetic, "grid", lambda preset: few)
    assert main(["reproduce", "ranking-synthetic", "--preset", "smoke", "--seed", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == reproduce("ranking-synthetic", preset="smoke", seed=2).to_json()
    assert set(rows[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert main(["reproduce", "ranking-intervals", "--preset", "smoke"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == reproduce("ranking-intervals").summary()


def test_unknown_names_are_refused():
    with refuses("name", "choice", got="got 'unify'"):
        reproduce("unify")
    with refuses("name", "choice", got=r"got '\.\./errors'"):
        printed_table("../errors")
    with refuses("options", "choice", got="got 'speed'"):
        reproduce("unified-tables", speed=3)
    with refuses("name", "choice", got="got 'unify'"):
        options_of("unify")


def test_the_register_loads_no_protocol():
    code = (
        "import sys, uqassay.lab.papers as e; assert 'unified-tables' in e.PROTOCOLS; "
        "print([m for m in sys.modules if m in ('pandas', 'sklearn', 'torch') or m.startswith('uqassay.lab.papers.') "
        "and m.count('.') > 3 or m.endswith(('trainings', 'identity', 'estimators'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert run.stdout.strip() == "[]"


# -- printed cells -----------------------------------------------------------------------------------------------------


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
