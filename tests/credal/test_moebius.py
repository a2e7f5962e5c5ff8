"""Möbius and zeta transforms against their definitions."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.credal import event_sizes, family_moebius, moebius_transform, zeta_transform

seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 6))
def test_transforms_against_their_definitions(seed, n_classes):
    masses = np.random.default_rng(seed).normal(size=(2**n_classes, 2))
    beliefs = np.zeros_like(masses)
    for a in range(2**n_classes):
        for b in range(2**n_classes):
            if b & ~a == 0:
                beliefs[a] += masses[b]
    np.testing.assert_allclose(zeta_transform(masses), beliefs, atol=1e-12)
    np.testing.assert_allclose(moebius_transform(beliefs), masses, atol=1e-10)


def test_family_inverse_equals_the_lattice_inverse_where_other_masses_are_zero(random_generator):
    family = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
    masses = random_generator.dirichlet(np.ones(5), 4)
    lattice = np.zeros((8, 4))
    lattice[family @ [1, 2, 4]] = masses.T
    beliefs = zeta_transform(lattice)[family @ [1, 2, 4]].T
    np.testing.assert_allclose(family_moebius(beliefs, family), masses, atol=1e-12)


def test_event_sizes_against_combinations():
    sizes = event_sizes(5)
    for k in range(6):
        assert (sizes == k).sum() == len(list(combinations(range(5), k)))


def test_a_lattice_of_another_length_is_refused():
    with refuses("values", "shape", got="got length 3"):
        zeta_transform(np.zeros((3, 1)))
