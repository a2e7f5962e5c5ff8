"""Moments of folded and debiased absolute values, against simulation."""

import numpy as np
import pytest

from uqassay.statistics.components import (
    bias_of_debiased,
    debiased_absolute,
    excess_scale,
    folded_mean,
    greatest_bias,
    variance_of_absolute,
    variance_of_debiased,
)

TRUE = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 6.0])


@pytest.fixture(scope="module")
def draws():
    return TRUE + np.random.default_rng(0).standard_normal((400_000, TRUE.size))


def test_moments_against_simulation(draws):
    debiased = debiased_absolute(draws, np.ones(TRUE.size))
    np.testing.assert_allclose(np.abs(draws).mean(axis=0), folded_mean(TRUE, 1.0), atol=0.01)
    np.testing.assert_allclose(np.abs(draws).var(axis=0), variance_of_absolute(TRUE), atol=0.02)
    np.testing.assert_allclose(debiased.mean(axis=0) - TRUE, bias_of_debiased(TRUE), atol=0.01)
    np.testing.assert_allclose(debiased.var(axis=0), variance_of_debiased(TRUE), atol=0.02)


def test_bias_is_0_at_0_and_far_away():
    assert bias_of_debiased(np.array([0.0]))[0] == pytest.approx(0.0, abs=1e-12)
    assert bias_of_debiased(np.array([8.0]))[0] == pytest.approx(0.0, abs=1e-6)
    dense = np.linspace(0, 10, 10_001)
    bias = bias_of_debiased(dense)
    assert (bias <= 1e-12).all()
    for estimate in (0.0, 2.0, 3.5, 5.0, 7.0):
        near = bias[np.abs(dense - estimate) <= 2.0]
        assert greatest_bias(np.array([estimate]))[0] == pytest.approx(-near.min(), abs=1e-3) or estimate < 1


def test_values_scale_with_their_errors():
    values, errors = np.array([0.2, -1.0]), np.array([0.5, 0.5])
    np.testing.assert_allclose(debiased_absolute(10 * values, 10 * errors), 10 * debiased_absolute(values, errors))
    assert debiased_absolute(np.array([-0.3]), np.zeros(1)).tolist() == [0.3]


def test_scale_makes_the_mean_of_skewed_errors_0():
    rng = np.random.default_rng(1)
    counts = rng.binomial(10, 0.02, (100_000, 1)) / 10 - 0.02
    scale = excess_scale(counts)
    assert debiased_absolute(counts, np.sqrt((counts**2).mean(axis=0)), scale).mean() == pytest.approx(0.0, abs=1e-12)
    assert scale[0] < 0.95  # rare events have a smaller mean deviation than normal ones
    assert excess_scale(rng.standard_normal((200_000, 1)))[0] == pytest.approx(1.0, abs=0.01)
    assert excess_scale(np.zeros((5, 1))).tolist() == [0.0]
