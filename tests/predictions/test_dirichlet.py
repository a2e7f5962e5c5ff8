"""Dirichlet predictions: draws against theory, extreme concentrations."""

import numpy as np

import uqassay as uq


def test_dirichlet_draws_against_theory():
    alpha = np.array([[4.0, 2.0, 1.0], [0.05, 0.03, 0.02], [1e-4, 1e-4, 1e-4]])
    draws = uq.Dirichlet(alpha).sample(40_000, rng=1)
    assert np.isfinite(draws).all()
    mean = alpha / alpha.sum(axis=1, keepdims=True)
    variance = mean * (1 - mean) / (alpha.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - mean), 5 * np.sqrt(variance / 40_000) + 1e-12)
    np.testing.assert_allclose(draws.var(axis=1), variance, rtol=0.05)


def test_unit_concentration_keeps_the_mean_and_spreads_the_draws():
    raw = uq.Dirichlet([[50.0, 30.0, 20.0]])
    unit = uq.Dirichlet([[50.0, 30.0, 20.0]], unit_concentration=True)
    np.testing.assert_allclose(raw.mean_probs(), unit.mean_probs())
    assert uq.measures.generalised_hartley(unit).values > 2 * uq.measures.generalised_hartley(raw).values


def test_draws_for_the_greatest_and_least_concentrations():
    for alpha in ([[1e300, 1e300]], [[1e-300, 1e-300]], [[1e300, 1e-300]]):
        dirichlet = uq.Dirichlet(alpha)
        np.testing.assert_allclose(dirichlet.mean_probs().sum(axis=1), 1)
        np.testing.assert_allclose(dirichlet.sample(20, rng=0).sum(axis=2), 1)
