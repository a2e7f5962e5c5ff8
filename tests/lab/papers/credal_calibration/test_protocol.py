"""Error rates of the credal calibration test: kept, continued and shared out without a difference; and Table 1."""

import json

import pytest
from tests.refusals import refuses

from uqassay.cli import main
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration.error_rates import Plan
from uqassay.lab.papers.credal_calibration.protocol import steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.scenarios import CredalSetting

SMALL = Plan(CredalSetting(n_instances=20, n_members=3, n_classes=3, spread=0.1), n_draws=19)


# ---- data sets -------------------------------------------------------------------------------------------------------


# ---- cells and words -------------------------------------------------------------------------------------------------


def test_the_command_gives_the_rows_of_the_function(tmp_path, capsys, needs):
    needs("typer")
    words = ["--preset", "smoke", "--runs", "1", "--no-resample", "--seed", "3", "--resume", str(tmp_path), "--json"]
    assert main(["reproduce", "credal-calibration", *words]) == 0
    rows = json.loads(capsys.readouterr().out)
    again = reproduce("credal-calibration", preset="smoke", runs=1, resample=False, seed=3, resume=tmp_path)
    assert rows == again.to_json()
    assert rows[0]["name"] == "figure1/exact/S1/skce-ul/alpha=0.01"
    assert "the paper draws curves" in again.summary()
    assert [steps_of_credal_calibration(preset=p) for p in ("smoke", "cpu", "paper")] == [4, 200, 1000]
    assert steps_of_credal_calibration(preset="paper", convention="both", runs=7) == 14
    assert steps_of_credal_calibration(figure="table2") == 6


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"figure": "5"}, "figure", "choice", "'table1' or 'table2'; got '5'"),
        ({"preset": "big"}, "preset", "choice", "'gpu-hour' or 'paper'; got 'big'"),
        ({"convention": "paper"}, "convention", "choice", "'paper-code' or 'both'; got 'paper'"),
        ({"null": "berger-boos"}, "null", "choice", "'random' or 'minimised'; got 'berger-boos'"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"null": "minimised", "resample": True}, "resample", "conflict", "minimised null"),
        ({"convention": "paper-code", "resample": True}, "resample", "conflict", "authors' code"),
        ({"null": "minimised", "convention": "both"}, "null", "conflict", "got 'minimised' with 'both'"),
        ({"data": "x"}, "data", "conflict", "figure 1, which is synthetic"),
        ({"figure": "table1", "runs": 3}, "runs", "conflict", "table1"),
        ({"figure": "table1", "data": "x", "resume": "y"}, "resume", "conflict", "table1 with data"),
        ({"figure": "table1", "data": "nowhere"}, "data", "missing", "got nowhere"),
        ({"figure": "table2", "figures": "x"}, "figures", "conflict", "table2, which draws no data sets; got 'x'"),
        ({"figure": "table2", "null": "minimised"}, "null", "conflict", "table2, which tests nothing"),
        ({"figure": "table2", "convention": "both"}, "convention", "conflict", "table2, which tests nothing"),
        ({"figure": "table2", "data": "x"}, "data", "conflict", "table2, which tests nothing; got 'x'"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        reproduce("credal-calibration", **options)


# ---- Table 1 ---------------------------------------------------------------------------------------------------------
