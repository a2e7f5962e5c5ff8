"""Mean and variance of label probabilities, against plain formulas and draws."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import probability_moments, variance_decomposition


def test_members_against_numpy(random_generator):
    p = random_generator.dirichlet([1, 2, 3], (7, 4))
    found = probability_moments(uq.Members(p))
    np.testing.assert_allclose(found.mean, p.mean(axis=1))
    np.testing.assert_allclose(found.variance, p.var(axis=1))
    np.testing.assert_allclose(found.epistemic, p.var(axis=1).sum(axis=1))


def test_weights_are_repetitions(random_generator):
    p = random_generator.dirichlet([1, 2, 3], (7, 3))
    weighted = probability_moments(uq.Members(p, weights=[2, 1, 3]))
    repeated = probability_moments(uq.Members(np.repeat(p, [2, 1, 3], axis=1)))
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    np.testing.assert_allclose(weighted.variance, repeated.variance, atol=1e-15)


def test_dirichlet_against_theory():
    alpha = np.array([[2.0, 3.0, 5.0], [0.1, 0.1, 0.2]])
    total = alpha.sum(axis=1, keepdims=True)
    found = probability_moments(uq.Dirichlet(alpha))
    np.testing.assert_allclose(found.variance, alpha * (total - alpha) / (total**2 * (total + 1)))


@pytest.mark.parametrize("kind", ["members", "dirichlet", "gaussian", "point"])
def test_the_sum_is_the_epistemic_part_of_the_variance(kind, random_generator):
    p = random_generator.dirichlet([1, 2, 3], (9, 4))
    prediction = {
        "members": lambda: uq.Members(p),
        "dirichlet": lambda: uq.Dirichlet(3 * p[:, 0] + 0.1),
        "gaussian": lambda: uq.GaussianLogits(np.log(p[:, 0]), p[:, 1], variance_is="epistemic", n_draws=64),
        "point": lambda: uq.Point(p[:, 0]),
    }[kind]()
    found = probability_moments(prediction)
    np.testing.assert_allclose(found.epistemic, variance_decomposition(prediction).epistemic, atol=1e-15)
    np.testing.assert_allclose(found.mean, prediction.mean_probs(), atol=1e-12)


def test_agreeing_members_have_exactly_no_variance():
    found = probability_moments(np.repeat([[[0.1, 0.2, 0.7]]], 7, axis=1))
    assert found.variance.tolist() == [[0.0, 0.0, 0.0]]


def test_sets_are_refused():
    with refuses("prediction", "no-distribution", "Intervals"):
        probability_moments(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))


def test_two_class_gaussian_logits_against_numerical_integration():
    mean, variance = np.array([[0.0, 1.0], [0.5, -2.0]]), np.array([[0.5, 1.5], [0.0, 9.0]])
    found = probability_moments(uq.GaussianLogits(mean, variance, variance_is="epistemic"))
    for i in range(2):
        density = norm(mean[i, 1] - mean[i, 0], np.sqrt(variance[i].sum()))
        first, second = (
            quad(lambda z, k=k, density=density: density.pdf(z) * expit(z) ** k, -60, 60, limit=400)[0] for k in (1, 2)
        )
        np.testing.assert_allclose(found.mean[i], [1 - first, first], atol=1e-9)
        np.testing.assert_allclose(found.variance[i], second - first**2, atol=1e-9)
