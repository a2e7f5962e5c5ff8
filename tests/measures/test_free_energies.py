"""Free energy against log-sum-exp."""

import numpy as np
import pytest
from scipy import special
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures.logits import free_energy


@pytest.mark.parametrize("temperature", [1.0, 0.3, 2, 10.0])
def test_free_energy_against_log_sum_exp(temperature, random_generator):
    z = random_generator.normal(0, 6, (50, 4, 7))
    z[0], z[1, 0, 0] = 300.0, -600.0

    def energy(logits):
        return -temperature * special.logsumexp(logits / temperature, axis=-1)

    point = uq.Point.from_logits(z[:, 0])
    np.testing.assert_allclose(free_energy(point, temperature=temperature), energy(z[:, 0]), rtol=1e-12, atol=1e-12)
    members = uq.Members.from_logits(z)
    mean = energy(z).mean(axis=1)
    np.testing.assert_allclose(free_energy(members, temperature=temperature), mean, rtol=1e-12, atol=1e-12)
    weights = random_generator.random((50, 4))
    weighted = uq.Members.from_logits(z.swapaxes(0, 1), weights, member_axis=0)
    mean = np.average(energy(z), axis=1, weights=weights)
    np.testing.assert_allclose(free_energy(weighted, temperature=temperature), mean, rtol=1e-12, atol=1e-12)


def test_free_energy_where_probabilities_are_zero():
    z = np.array([[800.0, 0.0, -5000.0], [-900.0, 100.0, 0.0]])
    point = uq.Point.from_logits(z)
    assert (point.probs == 0).sum() == 3
    for temperature in (1.0, 0.5, 3.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=1)
        np.testing.assert_allclose(free_energy(point, temperature=temperature), expected, rtol=1e-14)


def test_free_energy_differs_where_probabilities_agree():
    z = np.array([[1.0, 2.0, 3.0], [11.0, 12.0, 13.0]])
    point = uq.Point.from_logits(z)
    np.testing.assert_allclose(point.probs[0], point.probs[1], rtol=1e-14)
    assert np.diff(free_energy(point))[0] == pytest.approx(-10.0, abs=1e-12)


def test_log_probabilities_have_one_free_energy_and_no_ranking_of_rounding_errors(random_generator):
    p = random_generator.dirichlet(np.ones(9), 500)
    for dtype in (np.float32, np.float64):
        values = free_energy(uq.Point.from_logits(np.log(p).astype(dtype)))
        assert (values == 0.0).all()
        assert not np.signbit(values).any()


def test_free_energy_of_gaussian_logits(random_generator):
    mean, variance = random_generator.normal(0, 2, (6, 3, 4)), random_generator.uniform(0, 2, (6, 3, 4))
    # the passes have 2, 1 and 1 draws and count alike
    g = uq.GaussianLogits(mean, 0 * variance, variance_is="epistemic", n_draws=4)
    np.testing.assert_allclose(free_energy(g), -special.logsumexp(mean, axis=2).mean(axis=1), rtol=1e-13)
    many = uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=30_000)
    z = mean[:, None] + np.sqrt(variance)[:, None] * random_generator.standard_normal((6, 10_000, 3, 4))
    for temperature in (1.0, 2.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=3).mean(axis=(1, 2))
        np.testing.assert_allclose(free_energy(many, temperature=temperature), expected, atol=0.04)
    drawn = uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=7)
    np.testing.assert_array_equal(free_energy(drawn.with_draws()), free_energy(drawn))
    np.testing.assert_array_equal(free_energy(drawn[[4, 1]]), free_energy(drawn)[[4, 1]])
    logits = drawn.sample_logits(7, drawn.seed)
    np.testing.assert_allclose(special.softmax(logits, axis=2), drawn.hull_points(), rtol=1e-12)


def test_free_energy_of_passes_is_the_mean_over_passes_and_draws(random_generator):
    mean, variance = random_generator.normal(0, 2, (6, 3, 4)), random_generator.uniform(0, 2, (6, 3, 4))
    certain = uq.GaussianLogits(mean, 0 * variance, variance_is="aleatoric", n_draws=4)
    np.testing.assert_allclose(free_energy(certain), -special.logsumexp(mean, axis=2).mean(axis=1), rtol=1e-13)
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=20_000)
    z = mean[:, None] + np.sqrt(variance)[:, None] * random_generator.standard_normal((6, 10_000, 3, 4))
    for temperature in (1.0, 2.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=3).mean(axis=(1, 2))
        np.testing.assert_allclose(free_energy(passes, temperature=temperature), expected, atol=0.04)
    np.testing.assert_array_equal(free_energy(passes.with_draws()), free_energy(passes))
    np.testing.assert_array_equal(free_energy(passes[[4, 1]]), free_energy(passes)[[4, 1]])
    order = [2, 0, 1]
    shuffled = uq.GaussianLogits(mean[:, order], variance[:, order], variance_is="aleatoric", n_draws=20_000)
    np.testing.assert_array_equal(free_energy(shuffled), free_energy(passes))


@pytest.mark.parametrize("temperature", [0, -1.0, np.inf, np.nan, "1", True, None])
def test_a_temperature_is_a_positive_number(temperature):
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    with refuses("temperature", "range" if is_number else "type"):
        free_energy(uq.Point.from_logits([[0.0, 1.0]]), temperature=temperature)
