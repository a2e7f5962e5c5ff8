"""The register of protocols: their options, refusals, and that nothing is imported before it is called."""

import json
import os
import subprocess
import sys

import pytest
from tests.refusals import refuses

from uqassay.cli import main
from uqassay.lab.papers import PROTOCOLS, printed_table, reproduce
from uqassay.lab.papers.register import (
    PAPERS,
    described_options,
    options_of,
    presets_of,
    purpose_of,
    steps_of,
    typed_option,
)


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
            "which takes --preset, --figures, --seed, --sweep, --set bayes_error=, --set one_sample=",
        ),
        (("ranking-cifar10h", "--seed", "1"), "--seed: means nothing to ranking-cifar10h"),
        (("ranking-cifar10h",), "--data: must be a folder; got none"),
        (("ranking-cifar10h", "--data", "nowhere"), "--data: must be a folder; got nowhere"),
    ],
)
def test_options_that_mean_nothing_are_one_sentence(argv, sentence, capsys, needs):
    needs("typer")
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


def test_the_command_takes_the_options_of_a_protocol(capsys, needs, monkeypatch):
    needs("typer", "torch", "sklearn")
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
