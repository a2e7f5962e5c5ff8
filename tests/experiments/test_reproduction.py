"""The rows every reproduction ends in, and the register of protocols."""

import json
import os
import subprocess
import sys

import pytest
from tests.refusals import refuses

from uqassay.cli import main
from uqassay.experiments import PROTOCOLS, PrintedCell, Reproduction, printed_table, reproduce
from uqassay.experiments.reproduction import options_of, steps_of

NAN = float("nan")


@pytest.mark.parametrize(
    ("paper", "low", "high", "agrees"),
    [(0.407, 0.4055, 0.407, True), (0.408, 0.4, 0.407, False), (NAN, 0.4, 0.5, None), (0.4, NAN, 0.5, None)],
)
def test_a_cell_agrees_within_its_interval(paper, low, high, agrees):
    assert PrintedCell.within("table1/A/e", paper, 0.4, low, high).agrees is agrees


def test_the_interval_survives_binary_rounding():
    assert PrintedCell.within("table1/A/e", 0.4, 0.3, 0.3 - 0.1, 0.1 + 0.2 + 0.1).agrees
    assert PrintedCell.within("table1/A/e", 0.3, 0.3, 0.0, 0.1 * 3 - 4e-17).agrees


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


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_every_protocol_names_its_options(name):
    assert steps_of(name) >= 1
    assert set(options_of(name)) <= {
        "backbone", "bayes_error", "convention", "data", "dataset", "figure", "figures", "null", "one_sample",
        "predictors", "preset", "progress", "resample", "resume", "runs", "seed", "sweep", "tables", "workers",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (
            ("unified-tables", "--data", "x"),
            "data: means nothing to unified-tables, which takes --preset; leave it out.",
        ),
        (
            ("unified-tables", "--seed", "1"),
            "seed: means nothing to unified-tables, which takes --preset; leave it out.",
        ),
        (
            ("ranking-intervals", "--sweep"),
            "sweep: means nothing to ranking-intervals, which takes --preset; leave it out.",
        ),
        (
            ("ranking-synthetic", "--data", "x"),
            "data: means nothing to ranking-synthetic, which takes --preset, --figures, --seed, --sweep; leave it out.",
        ),
        (
            ("ranking-cifar10h", "--data", "x", "--seed", "1"),
            "seed: means nothing to ranking-cifar10h, which takes --preset, --data, --figures; leave it out.",
        ),
        (("ranking-cifar10h",), "data: needs a folder; it must hold labels.npy"),
        (("ranking-cifar10h", "--data", "nowhere"), "data: nowhere is no folder; it must hold labels.npy"),
    ],
)
def test_options_that_mean_nothing_are_one_sentence(argv, sentence, capsys, needs):
    needs("typer")
    assert main(["reproduce", *argv]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


def test_the_command_takes_the_options_of_a_protocol(capsys, needs):
    needs("typer")
    assert main(["reproduce", "ranking-synthetic", "--preset", "smoke", "--seed", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == reproduce("ranking-synthetic", preset="smoke", seed=2).to_json()
    assert set(rows[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert main(["reproduce", "ranking-intervals", "--preset", "smoke"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == reproduce("ranking-intervals").summary()


def test_unknown_names_are_refused():
    with refuses("name", "type", got="'unify' is none"):
        reproduce("unify")
    with refuses("name", "type", got=r"'\.\./errors' is none"):
        printed_table("../errors")
    with refuses("options", "type", got="'speed' is not"):
        reproduce("unified-tables", speed=3)
    with refuses("name", "type", got="'unify' is none"):
        options_of("unify")


def test_the_register_loads_no_protocol():
    code = (
        "import sys, uqassay.experiments as e; assert 'unified-tables' in e.PROTOCOLS; "
        "print([m for m in sys.modules if m in ('pandas', 'sklearn', 'torch') or m.startswith('uqassay.experiments.') "
        "and m.split('.')[-1] not in ('reproduction', 'rounding')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert run.stdout.strip() == "[]"
    assert callable(PROTOCOLS["unified-tables"])
