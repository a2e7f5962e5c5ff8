"""From latent Gaussians to predictions, for two classes and more."""

import numpy as np
import pytest
from scipy.special import expit, softmax

import uqassay as uq
from uqassay.lab.methods.gaussian_process import latent_prediction, latent_targets, unit_of
from uqassay.predictions.quadrature import softmax_normal


def latents(n=5, k=3):
    g = np.random.default_rng(k)
    return 2.0 * g.normal(size=(n, k)), g.gamma(2.0, size=(n, k))


def test_two_classes_are_logits_with_one_that_is_fixed():
    mean, variance = latents(k=1)
    said = latent_prediction(mean, variance, class_names=("no", "yes"))
    assert isinstance(said, uq.GaussianLogits)
    assert (said.variance_is, said.class_names) == ("epistemic", ("no", "yes"))
    np.testing.assert_array_equal(said.mean[:, 0, 0], 0.0)
    np.testing.assert_array_equal(said.mean[:, 0, 1], mean[:, 0])
    np.testing.assert_array_equal(said.variance[:, 0].sum(axis=1), variance[:, 0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)
    p = expit(mean + np.sqrt(variance) * nodes) @ weights / weights.sum()
    np.testing.assert_allclose(said.mean_probs()[:, 1], p, atol=1e-8)


def test_one_versus_rest_is_the_mean_of_normalised_probabilities():
    mean, variance = latents(k=4)
    said = latent_prediction(mean, variance, n_draws=256)
    assert said.probs.shape == (5, 256, 4)
    z = np.random.default_rng(0).normal(size=(400_000, 4))
    for row in range(5):
        p = expit(mean[row] + np.sqrt(variance[row]) * z)
        expected = (p / p.sum(axis=1, keepdims=True)).mean(axis=0)
        np.testing.assert_allclose(said.mean_probs()[row], expected, atol=6e-3)
    certain = latent_prediction(mean, np.zeros_like(mean), n_draws=3)
    np.testing.assert_allclose(
        certain.probs, (expit(mean) / expit(mean).sum(axis=1, keepdims=True))[:, None].repeat(3, 1)
    )
    assert uq.measures.entropy_decomposition(certain).epistemic.tolist() == [0.0] * 5


def test_members_do_not_depend_on_the_place_of_a_row():
    mean, variance = latents()
    whole = latent_prediction(mean, variance).probs
    np.testing.assert_array_equal(latent_prediction(mean[[3, 1]], variance[[3, 1]]).probs, whole[[3, 1]])


def test_extreme_latents_keep_probabilities():
    said = latent_prediction(np.array([[-800.0, -801.0, -900.0], [800.0, 0.0, -800.0]]), np.zeros((2, 3)), n_draws=1)
    np.testing.assert_allclose(said.mean_probs()[0, :2], expit([1.0, -1.0]), rtol=1e-12)
    np.testing.assert_allclose(said.mean_probs()[1], [2 / 3, 1 / 3, 0.0], rtol=1e-12)


def test_softmax_takes_latents_for_logits():
    mean, variance = latents()
    said = latent_prediction(mean, variance, multiclass="softmax")
    assert isinstance(said, uq.GaussianLogits)
    np.testing.assert_array_equal(said.mean[:, 0], mean)
    np.testing.assert_array_equal(said.variance[:, 0], variance)


@pytest.mark.parametrize("k", [3, 7])
def test_softmax_has_the_exact_mean_and_equal_points_for_equal_rows(k):
    mean, variance = latents(40, k)
    mean[20:], variance[20:] = mean[:20], variance[:20]
    variance[[0, 20]] = 0.0
    said = latent_prediction(mean, variance, multiclass="softmax", n_draws=64)
    points, probs = said.hull_points(), said.mean_probs()
    assert points.shape == (40, 64, k)
    np.testing.assert_array_equal(points[:20], points[20:])
    np.testing.assert_allclose(points.sum(axis=2), 1.0, atol=1e-12)
    assert points.min() >= 0.0
    z = np.random.default_rng(0).normal(size=(200_000, k))
    for row in (0, 1, 7):
        drawn = softmax(mean[row] + np.sqrt(variance[row]) * z, axis=1)
        np.testing.assert_allclose(
            probs[row], drawn.mean(axis=0), atol=5 * drawn.std(axis=0).max() / np.sqrt(len(z)) + 1e-12
        )
    np.testing.assert_allclose(probs, softmax_normal(mean, np.sqrt(variance)), atol=1e-12)
    uncertainty = uq.measures.entropy_decomposition(said)
    np.testing.assert_array_equal(uncertainty.epistemic[:20], uncertainty.epistemic[20:])
    assert uncertainty.epistemic[0] < 1e-12
    np.testing.assert_array_equal(said[[25, 3]].mean_probs(), probs[[25, 3]])


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_saved_prediction_has_the_scores_of_that_in_memory(tmp_path, suffix):
    mean, variance = latents(30, 4)
    said = latent_prediction(mean, variance, multiclass="softmax", class_names=("a", "b", "c", "d"))
    uq.save(said, tmp_path / f"gp{suffix}")
    back = uq.load(tmp_path / f"gp{suffix}")
    np.testing.assert_array_equal(back.hull_points(), said.hull_points())
    y = np.arange(30) % 4
    kept, read = (uq.assay({"gp": one}, y, calibration=())["gp"].columns for one in (said, back))
    assert set(kept) == set(read)
    for name, values in kept.items():
        np.testing.assert_array_equal(read[name], values, err_msg=name)


def test_units_are_powers_of_two():
    assert [unit_of(np.array([value])) for value in (0.0, 1.0, -3e70, 1e-70)] == [1.0] * 4
    for value in (1e100, -1e300, 5e-324, 1e-100):
        unit = unit_of(np.array([0.0, value]))
        assert 1 <= abs(value) / unit < 2
        assert np.frexp(unit)[0] == 0.5
    assert unit_of(np.empty((0, 2))) == 1.0


def test_targets():
    codes = np.array([0, 2, 1, 2])
    assert latent_targets(codes, 3).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert latent_targets(codes % 2, 2).tolist() == [[0], [0], [1], [0]]
    assert latent_targets(np.zeros(2, dtype=np.int64), 2).tolist() == [[0], [0]]
