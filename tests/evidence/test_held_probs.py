"""Probabilities that runs keep: as long as they fit into memory, and without a change of a number."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.evidence import scoring as held_probs
from uqassay.evidence.scoring import able_to_hold, holding

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_large_predictions_are_not_kept_whole(monkeypatch, random_generator):
    models = {"m": (random_prediction("Members", random_generator, 50, 4),)}
    assert able_to_hold(models)["m"][0].remembers
    monkeypatch.setattr(held_probs, "PROBS_HELD_BYTES", 3 * 8 * 50 * 4 - 1)
    assert not able_to_hold(models)["m"][0].remembers


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_changes_no_number(kind, monkeypatch, random_generator):
    models = {"m": random_prediction(kind, random_generator, 60, 4)}
    y = random_generator.integers(4, size=60)
    kept = uq.assay(models, y, n_draws=20)
    monkeypatch.setattr(held_probs, "PROBS_HELD_BYTES", 0)
    again = uq.assay(models, y, n_draws=20)
    for name, column in kept["m"].columns.items():
        np.testing.assert_array_equal(column, again["m"].columns[name], err_msg=name)
    assert kept.classwise_error == again.classwise_error
    assert [t.pvalue for t in kept.calibration] == [t.pvalue for t in again.calibration]


def test_what_is_found_is_found_once_for_all_copies(random_generator):
    (run,) = able_to_hold({"m": (random_prediction("Members", random_generator, 50, 4),)})["m"]
    first = holding(run).mean_probs()
    assert run.mean_probs() is first
    assert holding(run).upper_probs() is run.upper_probs()


def test_masses_that_may_be_repaired_hold_nothing():
    sets = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    masses = uq.Masses([[0.8, 0.7, -0.5]], sets, signed=True)
    assert not able_to_hold({"m": (masses,)})["m"][0].remembers
    assert holding(masses) is masses
