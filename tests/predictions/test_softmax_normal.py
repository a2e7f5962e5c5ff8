"""Expectations of softmax over Gaussian logits against the integrals of two classes, tensor quadrature and draws."""

import numpy as np
import pytest
from scipy.special import softmax
from tests.refusals import refuses

from uqassay.predictions.quadrature import softmax_normal, two_class_probs


def worlds(n, k, seed=0):
    g = np.random.default_rng(seed)
    return 3.0 * g.normal(size=(n, k)), np.minimum(np.exp(1.2 * g.normal(size=(n, k))), 32.0)


def test_two_classes_against_exact_integrals():
    mean, deviation = worlds(1000, 2)
    deviation[:100, 0] = 0.0
    deviation[50:150, 1] = 0.0
    exact = two_class_probs(mean[:, 1] - mean[:, 0], np.hypot(*deviation.T))
    np.testing.assert_allclose(softmax_normal(mean, deviation), exact, atol=1e-9)  # measured: 3e-11


@pytest.mark.parametrize("s", [0.05, 0.374, 0.376, 0.499, 0.501, 1.0, 3.0, 20.0])
def test_two_classes_at_the_ends_of_the_rules(s):
    mean = 3.0 * np.random.default_rng(0).normal(size=(200, 2))
    deviation = np.full((200, 2), s)
    exact = two_class_probs(mean[:, 1] - mean[:, 0], np.hypot(*deviation.T))
    np.testing.assert_allclose(softmax_normal(mean, deviation), exact, atol=1e-9)


def test_three_classes_against_tensor_quadrature():
    node, weight = np.polynomial.hermite_e.hermegauss(70)
    weight /= weight.sum()
    weights = weight[:, None, None] * weight[:, None] * weight
    g = np.random.default_rng(0)
    for deviation in g.uniform(0.02, 1.2, size=(4, 3)):
        mean = 2.0 * g.normal(size=3)
        z = np.stack(np.meshgrid(*(m + s * node for m, s in zip(mean, deviation, strict=True)), indexing="ij"), axis=-1)
        exact = (softmax(z, axis=-1) * weights[..., None]).sum(axis=(0, 1, 2))
        np.testing.assert_allclose(softmax_normal([mean], [deviation])[0], exact, atol=1e-9)  # measured: 4e-13


def test_many_classes_against_draws():
    mean, deviation = worlds(3, 12, seed=1)
    z = mean[:, None] + deviation[:, None] * np.random.default_rng(0).normal(size=(3, 200_000, 12))
    p = softmax(z, axis=2)
    error = p.std(axis=1) / np.sqrt(200_000)
    assert (np.abs(softmax_normal(mean, deviation) - p.mean(axis=1)) < 4.5 * error + 1e-6).all()


def test_without_deviation_it_is_the_softmax():
    mean, _ = worlds(20, 4)
    np.testing.assert_allclose(softmax_normal(mean, np.zeros((20, 4))), softmax(mean, axis=1), atol=1e-11)


def test_symmetries():
    mean, deviation = worlds(30, 5)
    found = softmax_normal(mean, deviation)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)
    order = [3, 0, 4, 1, 2]
    np.testing.assert_allclose(softmax_normal(mean[:, order], deviation[:, order]), found[:, order], atol=1e-12)
    np.testing.assert_allclose(softmax_normal(mean + 7.3, deviation), found, atol=1e-11)
    np.testing.assert_allclose(softmax_normal(np.full((1, 4), 9.0), np.full((1, 4), 2.0)), 0.25, atol=1e-14)


def test_equal_rows_have_equal_results_in_any_company(monkeypatch):
    mean, deviation = worlds(60, 3)
    whole = softmax_normal(mean, deviation)
    np.testing.assert_array_equal(softmax_normal(mean[[7, 7, 50]], deviation[[7, 7, 50]]), whole[[7, 7, 50]])
    monkeypatch.setattr("uqassay.predictions.quadrature.SOFTMAX_CHUNK", 1)
    np.testing.assert_array_equal(softmax_normal(mean, deviation), whole)
    assert softmax_normal(np.empty((0, 3)), np.empty((0, 3))).shape == (0, 3)


def test_logits_far_apart():
    mean = [[0.0, -300.0, 5.0], [0.0, -800.0, -900.0], [1e6, 0.0, 3.0]]
    deviation = [[0.0, 9.0, 0.0], [0.0, 0.0, 30.0], [0.0, 0.0, 1.0]]
    found = softmax_normal(mean, deviation)
    np.testing.assert_allclose(found[0], [1 / (1 + np.exp(5)), 0.0, 1 / (1 + np.exp(-5))], atol=1e-11)
    np.testing.assert_allclose(found[1:], [[1.0, 0.0, 0.0]] * 2, atol=1e-11)


def test_deviations_that_are_too_great_are_refused():
    with refuses("deviation", "range", got="at most 32; got 33"):
        softmax_normal([[0.0, 1.0]], [[1.0, 33.0]])
