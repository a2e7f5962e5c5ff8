"""Cells of Tables 1 and 2 for runs that are made, not trained."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.lab.papers.gain.made import row

from uqassay.lab.papers.gain.tables import ESTIMATORS, gain_cells
from uqassay.lab.papers.reproduction import further_runs
from uqassay.metrics import epistemic_calibration_error


@pytest.fixture(scope="module")
def one():
    return row(4)


@pytest.fixture(scope="module")
def cells(one):
    return {cell.name: cell for cell in gain_cells([one])}


def test_numbers_against_scipy_and_the_definition(one):
    for estimator in ESTIMATORS:
        for r, run in enumerate(one.study.runs):
            gain, stated = run.test.gain["zero-one"], run.test.epistemic[estimator]
            assert one.values[estimator, "correlation"].per_run[r] == pytest.approx(stats.spearmanr(stated, gain)[0])
            bins = np.array_split(np.argsort(stated), 20)
            for column, factor in (("eece", 1.0), ("eece-bits", 1 / math.log(2))):
                gaps = [len(b) / len(gain) * abs(gain[b].mean() - factor * stated[b].mean()) for b in bins]
                assert one.values[estimator, column].per_run[r] == pytest.approx(sum(gaps), abs=1e-3)
            again = epistemic_calibration_error(gain, stated / math.log(2))
            assert one.values[estimator, "eece-bits"].per_run[r] == pytest.approx(float(again.error))


def test_a_printed_number_agrees_if_six_further_runs_may_give_it(one, cells):
    name = "table1/toy/spread=0.35/local-gp/entropy/eece"
    per_run = one.values["entropy", "eece"].per_run
    cell = cells[name]
    assert (cell.paper, cell.ours) == (0.393, pytest.approx(per_run.mean()))
    assert (cell.low, cell.high) == further_runs(per_run, 6, bounds=(0, math.inf))
    assert cell.agrees is False
    assert cell.note == (
        "outside the range of 6 further runs, from our 4 runs; spread, discs, their shares and the kernel are not printed"
    )
    interval = cells[f"{name}/interval"]
    assert interval.agrees is None
    assert (interval.low, interval.high) == pytest.approx(stats.t.interval(0.95, 3, per_run.mean(), stats.sem(per_run)))
    assert (cells[f"{name}/sd"].paper, cells[f"{name}/sd"].ours) == (0.014, pytest.approx(per_run.std(ddof=1)))


def test_perfect_estimates_are_known_as_such(one, cells):
    """The made mutual information is the true uncertainty: its debiased EECE is 0 within error, its correlation with EU 1."""
    name = "table1/toy/spread=0.35/local-gp/mutual-information"
    debiased = cells[f"{name}/debiased"]
    assert debiased.low < 0.005
    assert cells[f"{name}/truth"].ours == pytest.approx(1)
    assert math.isnan(cells[f"{name}/truth"].paper)


def test_what_is_not_compared_has_no_verdict():
    for other in (row(3, compared=False), row(3, dataset="digits"), row(3, dataset="toy-mismatch-1")):
        found = gain_cells([other])
        assert all(cell.agrees is None for cell in found)
        assert not any(cell.name.endswith("/interval") for cell in found)
    letters = {cell.name: cell for cell in gain_cells([row(3, dataset="emnist-balanced", compared=False)])}
    assert letters["table2/emnist-balanced/local-gp/entropy/correlation"].paper == 0.108


def test_a_share_is_part_of_the_names():
    one = row(1)
    other = replace(one, plan=one.plan.with_train_share(0.05))
    assert (other.label, other.place) == ("toy, spread 0.35, p = 0.05", "toy/spread=0.35/p=0.05")
    assert gain_cells([other])[0].name.startswith("table1/toy/spread=0.35/p=0.05/local-gp/")
    assert gain_cells([other])[0].paper == 0.108


def test_one_run_has_no_standard_deviation():
    found = {cell.name.rpartition("local-gp/")[2]: cell for cell in gain_cells([row(1)])}
    cell = found["entropy/eece"]
    assert cell.agrees is None
    assert math.isnan(cell.low)
    assert math.isnan(found["entropy/eece/sd"].ours)


def test_without_truth_there_is_no_correlation_with_it():
    assert ("entropy", "truth") not in row(2, truth=False).values
