"""Columns on chosen runs and instances, and their means."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.data import ChosenColumns, sample_of_runs
from uqassay.statistics import mean_estimate


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=50)
    models = {
        "two": [uq.Point(rng.dirichlet(np.ones(3), 50)) for _ in range(2)],
        "one": uq.Point(np.full((50, 3), 1 / 3)),
    }
    return uq.assay(models, y, n_draws=20, calibration=(), groups=np.repeat(np.arange(25), 2))


def test_all_instances_of_one_run(runs):
    chosen = ChosenColumns(runs, runs["two"], run=1)
    assert chosen["distance"].tolist() == runs["two"].columns["distance"][1:].tolist()
    assert chosen.sample["groups"].tolist() == runs.groups.tolist()


def test_the_same_instances_of_every_run(runs):
    mask = np.tile(np.arange(50) < 9, (2, 1))
    chosen = ChosenColumns(runs, runs["two"], mask=mask)
    values = runs["two"].columns["distance"][:, :9]
    assert chosen["distance"].tolist() == values.tolist()
    (found,) = chosen.means([chosen["distance"]])
    assert found.to_dict() == mean_estimate(values, groups=runs.groups[:9], method="hall").to_dict()


def test_other_instances_of_every_run_count_as_one_run(runs):
    mask = np.stack([np.arange(50) < 9, np.arange(50) > 39])
    chosen = ChosenColumns(runs, runs["two"], mask=mask)
    values = runs["two"].columns["distance"][mask]
    assert chosen["distance"].tolist() == [values.tolist()]
    (found,) = chosen.means([chosen["distance"]], method="student-t")
    groups = np.concatenate([runs.groups[:9], runs.groups[40:]])
    assert found.to_dict() == mean_estimate(values, groups=groups).to_dict()


def test_units_of_several_runs():
    groups = np.array(["a", "b", "b"])
    assert sample_of_runs(None, 1, 3) == {"groups": None, "sample_weight": None}
    assert sample_of_runs(groups, 1, 3)["groups"] is groups
    assert sample_of_runs(None, 2, 3)["groups"].tolist() == [0, 1, 2, 0, 1, 2]
    assert sample_of_runs(groups, 2, 3)["groups"].tolist() == ["a", "b", "b", "a", "b", "b"]
    assert sample_of_runs(None, 2, 3, np.array([1.0, 2.0, 3.0]))["sample_weight"].tolist() == [1, 2, 3, 1, 2, 3]
