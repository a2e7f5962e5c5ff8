"""Masses: beliefs, their repair, pignistic probability."""

import numpy as np
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq


def test_beliefs_round_trip_and_repair(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"], class_names=cifar10["classes"])
    assert rs.signed
    assert rs.masses.sum(axis=1).min() == pytest.approx(-0.0699, abs=1e-4)
    assert rs.masses.sum(axis=1).max() == pytest.approx(2.4017, abs=1e-4)
    with refuses("beliefs", "not-belief-functions"):
        rs.upper_probs()
    repaired = rs.repaired()
    assert not repaired.signed
    assert repaired.class_names == tuple(cifar10["classes"])
    assert repaired.notes[-1].code == "repaired"
    assert repaired.notes[-1].facts == {"rows": 2843, "n": 10_000}
    np.testing.assert_allclose(repaired.masses.sum(axis=1), 1)
    # belief functions stay unchanged
    same = uq.Masses([[0.5, 0.5]], [[0], [0, 1]], n_classes=2)
    assert same.repaired() is same


def test_pignistic_and_intersection_probability_against_their_formulas(random_generator):
    masses = random_prediction("Masses", random_generator, 4, 4)
    sizes = masses.focal_sets.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(masses.mean_probs(), masses.masses @ (masses.focal_sets / sizes))
    intervals = uq.Intervals([[0.1, 0.2, 0.3]], [[0.3, 0.4, 0.5]])
    np.testing.assert_allclose(
        intervals.mean_probs(), [[0.1 + 0.4 * 0.2 / 0.6, 0.2 + 0.4 * 0.2 / 0.6, 0.3 + 0.4 * 0.2 / 0.6]]
    )


def test_lists_of_class_indices_need_the_number_of_classes():
    """The remedy works as it stands."""
    masses, sets = [[0.5, 0.25, 0.25]], [[0], [1], [2]]
    with refuses("n_classes", "missing", got="pass n_classes=3 or a boolean array") as refusal:
        uq.Masses(masses, sets)
    assert uq.Masses(masses, sets, n_classes=refusal.value.facts["least"]).n_classes == 3
    assert uq.Masses(masses, np.eye(3, dtype=bool)).n_classes == 3


@pytest.mark.parametrize("sets", [None, 5, {}, [0, 1, 2]])
def test_other_focal_sets_are_refused_with_the_forms_that_work(sets):
    with refuses("n_classes" if isinstance(sets, list) else "focal_sets", got="boolean array"):
        uq.Masses([[0.5, 0.25, 0.25]], sets)
