"""Draws that span a set: they depend on row and seed, and can be kept."""

import numpy as np
import pytest
from tests.kinds import random_prediction

import uqassay as uq


@pytest.mark.parametrize("kind", ["Members", "Dirichlet", "GaussianLogits"])
def test_draws_are_distributions_keyed_by_row_and_seed(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 4)
    draws = prediction.sample(9, rng=3)
    assert draws.shape == (7, 9, 4)
    np.testing.assert_allclose(draws.sum(axis=2), 1, atol=1e-9)
    np.testing.assert_array_equal(prediction[[5, 2]].sample(9, rng=3), draws[[5, 2]])
    np.testing.assert_array_equal(
        prediction.sample(9, rng=np.random.default_rng(1)), prediction.sample(9, rng=np.random.default_rng(1))
    )
    assert (prediction.sample(9, rng=4) != draws).any()


def test_held_draws_are_the_same_draws():
    d = uq.Dirichlet(np.ones((4, 3)) * 2)
    np.testing.assert_array_equal(d.with_draws().lower_probs(), d.lower_probs())
    np.testing.assert_array_equal(d.with_draws()[2:].lower_probs(), d[2:].lower_probs())
