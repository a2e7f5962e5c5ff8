"""The reproduction of paper 002 from its options to its cells; the command line's form of it is in tests/cli."""

import json

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.experiments import reproduce
from uqassay.experiments.gain.protocol import progress_steps, reproduce_epistemic_gain

SMALL = {"preset": "smoke", "method": "random-forest", "spread": 0.25}


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("sklearn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def result(folder):
    return reproduce("epistemic-gain", dataset="toy-mismatch-1", resume=folder, **SMALL)


def test_rows_and_reading_of_a_smoke_run(result):
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names)
    assert {name.split("/")[1] for name in names} == {"toy", "toy-mismatch-1"}
    assert all(cell.agrees is None for cell in result.rows)  # never evidence
    assert all(np.isfinite(cell.ours) for cell in result.rows)
    text = result.summary()
    for part in (
        "a smoke run only checks",
        "not compared with the paper",
        "compared with toy, spread 0.25",
        "True uncertainty",
    ):
        assert part in text
    assert json.dumps(result.to_json(), allow_nan=False)


def test_mismatch_of_the_calibration_leaves_the_evaluation_as_it_is(result):
    cells = {cell.name: cell.ours for cell in result.rows}
    for column in ("correlation", "eece", "truth"):
        names = (f"table1/{name}/spread=0.25/random-forest/entropy/{column}" for name in ("toy", "toy-mismatch-1"))
        first, second = (cells[name] for name in names)
        assert first == second
    assert any("ρ unchanged" in line for line in result.reading)


def test_finished_runs_are_not_run_again(result, folder):
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    said = []
    again = reproduce_epistemic_gain(dataset="toy-mismatch-1", resume=folder, progress=said.append, **SMALL)
    assert again == result
    assert before == sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    assert said == ["trained 4 of 4", "judging"]


def test_steps_of_the_progress(tmp_path):
    said = []
    reproduce_epistemic_gain(dataset="toy", runs=1, progress=said.append, **SMALL)
    assert len(said) == progress_steps(dataset="toy", runs=1, **SMALL)


def test_a_failed_run_is_named_and_left_out(monkeypatch):
    from uqassay.methods.wrapped_forests import RandomForest

    def broken(self, *_):
        raise ValueError("no luck")

    monkeypatch.setattr(RandomForest, "fit", broken)
    found = reproduce_epistemic_gain(preset="smoke", method=["local-gp", "random-forest"], spread=0.25, runs=1)
    assert {cell.name.split("/")[3] for cell in found.rows} == {"local-gp"}
    assert any("random-forest" in note and "no luck" in note for note in found.notes)
    with refuses("method", "all-failed", got="no luck"):
        reproduce_epistemic_gain(runs=1, **SMALL)


@pytest.mark.parametrize(
    ("options", "parameter"), [({"runs": 0}, "runs"), ({"workers": 0}, "workers"), ({"seed": -1}, "seed")]
)
def test_numbers_out_of_range(options, parameter):
    with refuses(parameter, "range"):
        reproduce_epistemic_gain(**options)
