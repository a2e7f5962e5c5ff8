"""Runs as results of cells, and back."""

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Nearest, stripes
from tests.refusals import refuses

from uqassay.lab.bench.cell import Cell
from uqassay.lab.papers.gain.trainings import chosen_estimates, measured_run, packed_run, run_of, study_of
from uqassay.lab.papers.gain.worlds import GainTask, divided_run
from uqassay.lab.papers.trainings import stored_result


def a_run(seed=0, *, calibration=True, truth=True):
    X, y = stripes()
    task = GainTask(
        X=X,
        y=y,
        class_names=("a", "b", "c"),
        split=Corner(),
        calibration=Corner(edge=0.9) if calibration else None,
        label_probs=0.1 + 0.7 * np.eye(3)[y] if truth else None,
    )
    division = divided_run(task, seed)
    losses = ("zero-one", "log")
    return measured_run(Nearest(), task, division, estimates=chosen_estimates(None), losses=losses)


def same_sample(one, other):
    if one is None or other is None:
        assert one is other
        return
    for part in ("gain", "epistemic"):
        assert list(getattr(one, part)) == list(getattr(other, part))
        for name, values in getattr(one, part).items():
            np.testing.assert_array_equal(values, getattr(other, part)[name])
    np.testing.assert_array_equal(one.correct_before, other.correct_before)
    np.testing.assert_array_equal(one.correct_after, other.correct_after)
    assert (one.truth is None) == (other.truth is None)
    if one.truth is not None:
        for part in ("total", "aleatoric", "epistemic"):
            np.testing.assert_array_equal(getattr(one.truth, part), getattr(other.truth, part))


@pytest.mark.parametrize("options", [{}, {"calibration": False}, {"truth": False}])
def test_a_stored_run_comes_back(tmp_path, options):
    measured = a_run(**options)
    facts = {"method": "Nearest", "dataset": "stripes"}
    cell = Cell("json:dumps", dataset="stripes", method="Nearest", seed=0)
    stored = stored_result(tmp_path, cell, lambda: packed_run(measured, facts))
    for result in (packed_run(measured, facts), stored):
        back = run_of(result)
        same_sample(back.test, measured.run.test)
        same_sample(back.calibration, measured.run.calibration)
        assert (back.seed, back.sizes, back.notes) == (measured.run.seed, measured.run.sizes, measured.run.notes)


def test_a_study_of_several_results():
    results = [packed_run(a_run(seed), {"method": "Nearest", "dataset": "stripes"}) for seed in (3, 1)]
    study = study_of(results)
    assert (study.method, study.dataset, study.seeds) == ("Nearest", "stripes", (3, 1))
    renamed = study_of(results, method="nearest neighbour", dataset="S")
    assert (renamed.method, renamed.dataset) == ("nearest neighbour", "S")
    with refuses("results", "empty"):
        study_of([])
