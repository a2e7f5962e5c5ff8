"""Gaussian logits: draws divided among the passes, impossible classes."""

import numpy as np
from tests.refusals import refuses

import uqassay as uq


def test_gaussian_logits_without_variance_are_softmaxes():
    logits = np.array([[1.0, 2.0, 3.0]])
    g = uq.GaussianLogits(logits, np.zeros_like(logits), variance_is="epistemic")
    np.testing.assert_allclose(g.mean_probs(), uq.Point.from_logits(logits).probs, atol=1e-12)
    np.testing.assert_allclose(g.lower_probs(), g.upper_probs(), atol=1e-12)


def test_draws_are_divided_evenly_among_the_passes():
    mean = np.array([[[10.0, -10.0], [-10.0, 10.0]]])
    g = uq.GaussianLogits(mean, np.zeros_like(mean), n_draws=10, variance_is="epistemic")
    np.testing.assert_allclose(g.mean_probs(), [[0.5, 0.5]], atol=1e-6)


def test_passes_have_equal_weights_for_any_number_of_draws():
    passes = np.tile([[[10.0, -10.0]] * 100 + [[-10.0, 10.0]] * 100], (1, 1, 1))
    with refuses("n_draws", "range", got="got 100"):
        uq.GaussianLogits(passes, np.zeros_like(passes), variance_is="epistemic")
    np.testing.assert_allclose(
        uq.GaussianLogits(passes, 0 * passes, n_draws=200, variance_is="epistemic").mean_probs(),
        [[0.5, 0.5]],
        atol=1e-6,
    )
    three = np.array([[[9.0, 0, 0], [0, 9.0, 0], [0, 0, 9.0]]])
    mean = uq.GaussianLogits(three, np.zeros_like(three), n_draws=4, variance_is="epistemic").mean_probs()
    np.testing.assert_allclose(mean, [[1 / 3] * 3], atol=1e-12)


def test_a_mean_of_minus_infinity_is_an_impossible_class():
    mean = np.array([[0.0, 1.0, -np.inf]])
    g = uq.GaussianLogits(mean, np.full((1, 3), 0.5), n_draws=20)
    assert (g.hull_points()[..., 2] == 0).all()
    assert g.upper_probs()[0, 2] == 0
    np.testing.assert_allclose(g.mean_probs().sum(), 1)
    with refuses("mean", "finite", got="row 0 holds −inf alone"):
        uq.GaussianLogits([[-np.inf, -np.inf]], [[1.0, 1.0]], variance_is="epistemic")
    with refuses("variance", "finite", got="row 0 holds inf"):
        uq.GaussianLogits(mean, [[1.0, 1.0, np.inf]], variance_is="epistemic")


def test_numbers_whose_draws_could_overflow_are_refused():
    with refuses("mean", "range", got="row 0"):
        uq.GaussianLogits([[1e308, 0.0]], [[1.0, 1.0]], variance_is="epistemic")
    with refuses("variance", "range", got="row 0"):
        uq.GaussianLogits([[0.0, 0.0]], [[1e308, 1.0]], variance_is="epistemic")
    greatest = uq.GaussianLogits([[1e300, -1e300]], [[1e300, 1e300]], variance_is="epistemic")
    np.testing.assert_allclose(greatest.mean_probs(), [[1.0, 0.0]], atol=1e-12)
