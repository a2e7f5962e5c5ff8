"""The paper's clipped masses against the steps of its code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import KINDS, masses_of_every_event, random_prediction

import uqassay as uq
from uqassay.measures import nonspecificity

seeds = st.integers(0, 2**32 - 1)


def sizes_of(n_classes):
    """Number of classes of every event, in binary order."""
    return np.array([a.bit_count() for a in range(2**n_classes)])


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "Point"])
@settings(deadline=None, max_examples=8)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_paper_convention_against_the_steps_of_the_authors_code(kind, seed, n_classes):
    prediction = random_prediction(kind, np.random.default_rng(seed), 3, n_classes)
    masses, sizes = np.maximum(masses_of_every_event(prediction), 0), sizes_of(n_classes)
    omega = np.maximum(0, 1 - masses.sum(axis=1))
    total = masses.sum(axis=1) + omega
    expected = (masses @ np.log(np.maximum(sizes, 1)) + omega * np.log(n_classes)) / total
    got = nonspecificity(prediction, convention="paper").values
    np.testing.assert_allclose(got, expected, atol=1e-10)
    family = uq.credal.all_focal_sets(n_classes)
    if kind != "Masses":
        given_family = nonspecificity(prediction, convention="paper", focal_sets=family).values
        np.testing.assert_allclose(given_family, expected, atol=1e-9)


def test_clipping_distorts_as_stated(random_generator):
    probs = random_generator.dirichlet(np.ones(10), (200, 12))
    exact = nonspecificity(uq.Members(probs[:, :2])).values
    clipped = nonspecificity(uq.Members(probs[:, :2]), convention="paper").values
    assert clipped.mean() > 2 * exact.mean()
    # not monotone: a set that holds another can have less
    larger = nonspecificity(uq.Members(probs), convention="paper").values
    smaller = nonspecificity(uq.Members(probs[:, :6]), convention="paper").values
    assert (larger < smaller - 0.01).any()
