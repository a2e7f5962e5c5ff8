"""Rounds of refinement."""

import numpy as np
import pytest

from uqassay.calibration.search import RowNumbers, refined, step_lengths


@pytest.mark.parametrize("m", [2, 5])
def test_rounds_never_get_worse_and_reach_the_minimum_of_a_quadratic(m):
    rng = np.random.default_rng(m)
    aims, weights = rng.dirichlet(np.ones(m), 4)[:, None], rng.dirichlet(np.ones(m), (4, 2))

    def values_of(mixtures):
        return ((mixtures - aims[:, :, None]) ** 2).sum(axis=-1)

    values, last, numbers = (
        values_of(weights[:, :, None])[..., 0],
        np.zeros_like(weights),
        RowNumbers(rng, 4, np.arange(4)),
    )
    for r in range(6):
        before = values
        lengths = step_lengths(r // 2, numbers.random((4, 2, 16, 1)))
        weights, values, last = refined(values_of, weights, values, last, lengths, numbers)
        assert (values <= before).all()
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-12)
        np.testing.assert_allclose(values, values_of(weights[:, :, None])[..., 0], atol=1e-15)
    assert values.max() < 1e-2


def test_step_lengths_become_finer_from_round_to_round():
    for r in range(3):
        lengths = step_lengths(r, np.random.default_rng(r).random(500))
        assert 16.0 ** -(r + 1) <= lengths.min() < lengths.max() <= 16.0 ** -(r / 2)
