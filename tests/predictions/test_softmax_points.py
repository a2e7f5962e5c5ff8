"""Points of softmax(z) that all rows share, with the exact mean."""

import numpy as np
import pytest
from scipy.special import softmax

from uqassay.predictions.quadrature import normal_points, softmax_normal, softmax_points


def latents(n=5, k=3):
    g = np.random.default_rng(k)
    return 2.0 * g.normal(size=(n, k)), g.gamma(2.0, size=(n, k))


def test_softmax_points_are_moved_little():
    mean, variance = latents(60, 3)
    found, plain = softmax_points(mean, variance, 128), softmax_points(mean, variance, 4096)
    z = normal_points(128, 3)
    points = softmax(mean[:, None] + np.sqrt(variance)[:, None] * z, axis=2)
    assert 0 < np.abs(found - points).max() < 0.05
    for row in range(60):  # a common offset of the logits of each row
        offset = np.log(found[row]) - np.log(points[row])
        assert np.ptp(offset - offset[:, :1], axis=0).max() < 1e-5
    np.testing.assert_allclose(found.mean(axis=1), plain.mean(axis=1), atol=1e-12)


def test_rows_with_great_deviations_keep_the_mean_of_their_points():
    mean, variance = latents(4, 3)
    variance[2, 1] = 1e8
    found = softmax_points(mean, variance, 64)
    assert np.isfinite(found).all()
    deviation = np.sqrt(variance)
    plain = softmax(mean[2] + deviation[2] * normal_points(64, 3), axis=1).mean(axis=0)
    np.testing.assert_allclose(found[2].mean(axis=0), plain, atol=1e-12)
    others = [0, 1, 3]
    np.testing.assert_allclose(
        found[others].mean(axis=1), softmax_normal(mean, np.minimum(deviation, 32))[others], atol=1e-12
    )


def test_impossible_classes_have_probability_0():
    mean, variance = latents(6, 4)
    mean[:3, 2] = -np.inf
    found = softmax_points(mean, variance, 64)
    assert (found[:3, :, 2] == 0.0).all()
    possible = [0, 1, 3]
    expected = softmax_normal(mean[:3][:, possible], np.sqrt(variance[:3][:, possible]))
    np.testing.assert_allclose(found[:3][..., possible].mean(axis=1), expected, atol=1e-12)


def test_another_seed_has_other_points_and_the_same_mean():
    mean, variance = latents()
    a, b = (softmax_points(mean, variance, 64, seed=seed) for seed in (0, 1))
    assert np.abs(a - b).max() > 0.01
    np.testing.assert_allclose(a.mean(axis=1), b.mean(axis=1), atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(128, 2), (100, 47), (1, 3)])
def test_points_are_standard_normal(n, d):
    points = normal_points(n, d)
    assert points.shape == (n, d)
    np.testing.assert_array_equal(points, normal_points(n, d))
    if n >= 100:
        np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.06)
        np.testing.assert_allclose(points.std(axis=0), 1.0, atol=0.06)
        assert np.abs(np.corrcoef(points.T) - np.eye(d)).mean() < 0.08  # single pairs of 47 coordinates reach 0.5
