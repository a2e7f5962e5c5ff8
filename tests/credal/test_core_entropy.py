"""Upper and lower entropy over the core of a belief function: all vertices, their hull, closed forms."""

from itertools import permutations

import numpy as np
import pytest
from tests.credal.random_sets import entropy
from tests.refusals import refuses

from uqassay.credal import all_focal_sets, permutation_vertices
from uqassay.credal.entropy import (
    box_lower_entropy,
    box_upper_entropy,
    core_lower_entropy,
    core_upper_entropy,
    hull_upper_entropy,
)
from uqassay.predictions import Masses


def random_masses(rng, n, k, sparse=0.3):
    sets = all_focal_sets(k)
    return rng.dirichlet(np.full(len(sets), sparse), n), sets


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_least_entropy_against_all_vertices(k, random_generator):
    masses, sets = random_masses(random_generator, 60, k)
    vertices = permutation_vertices(masses, sets, permutations=np.array(list(permutations(range(k)))))
    np.testing.assert_allclose(core_lower_entropy(masses, sets), entropy(vertices).min(axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_largest_entropy_against_the_hull_of_all_vertices(k, random_generator):
    masses, sets = random_masses(random_generator, 60, k)
    vertices = permutation_vertices(masses, sets, permutations=np.array(list(permutations(range(k)))))
    found = hull_upper_entropy(vertices, 1e-10)
    assert (found.gap <= 1e-10).all()
    np.testing.assert_allclose(core_upper_entropy(masses, sets), found.values, rtol=0, atol=2e-10)


def test_three_classes_have_the_entropies_of_their_box_and_four_less(random_generator):
    spread = []
    for k in (3, 4):
        masses, sets = random_masses(random_generator, 200, k, sparse=1.0)
        said = Masses(masses, sets)
        l, u = said.lower_probs(), said.upper_probs()
        spread.append(
            (
                box_upper_entropy(l, u) - core_upper_entropy(masses, sets),
                core_lower_entropy(masses, sets) - box_lower_entropy(l, u).values,
            )
        )
    np.testing.assert_allclose(spread[0], 0.0, atol=1e-9)  # every event or its complement is a single class
    assert (np.array(spread[1]) >= -1e-9).all()
    assert np.max(spread[1]) > 1e-3


def test_every_distribution_of_the_core_lies_between(random_generator):
    masses, sets = random_masses(random_generator, 30, 6)
    orders = np.array([random_generator.permutation(6) for _ in range(200)])
    vertices = permutation_vertices(masses, sets, permutations=orders)
    mixtures = random_generator.dirichlet(np.full(200, 0.05), (30, 300)) @ vertices
    h = np.concatenate([entropy(vertices), entropy(mixtures)], axis=1)
    assert (h >= core_lower_entropy(masses, sets)[:, None] - 1e-12).all()
    assert (h <= core_upper_entropy(masses, sets)[:, None] + 1e-12).all()


def test_extremes_against_theory():
    for k in (2, 3, 10, 16):
        vacuous = np.ones((1, 1)), np.ones((1, k), dtype=bool)
        np.testing.assert_allclose(core_upper_entropy(*vacuous), np.log(k), rtol=1e-13)
        np.testing.assert_array_equal(core_lower_entropy(*vacuous), [0.0])
    p = np.array([[0.5, 0.3, 0.2]])
    np.testing.assert_allclose(core_upper_entropy(p, np.eye(3, dtype=bool)), entropy(p), rtol=1e-14)
    np.testing.assert_allclose(core_lower_entropy(p, np.eye(3, dtype=bool)), entropy(p), rtol=1e-14)


def test_rows_do_not_depend_on_each_other_and_many_classes_are_refused(random_generator, monkeypatch):
    masses, sets = random_masses(random_generator, 25, 4)
    for measure in (core_lower_entropy, core_upper_entropy):
        whole = measure(masses, sets)
        monkeypatch.setattr("uqassay.credal.entropy.CORE_CHUNK_BYTES", 1)
        np.testing.assert_array_equal(measure(masses, sets), whole)
        monkeypatch.undo()
        np.testing.assert_array_equal(measure(masses[::-1], sets), whole[::-1])
        with refuses("focal_sets", "size"):
            measure(np.ones((1, 1)), np.ones((1, 17), dtype=bool))
