"""Class Gaussians against scipy.stats, and with too few instances to have a covariance."""

import numpy as np
import pytest
from scipy import stats
from sklearn.covariance import ledoit_wolf

from uqassay.lab.methods.ddu import FLOOR, ClassGaussians


def features(n=200, d=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * codes[:, None], codes


@pytest.mark.parametrize("d", [1, 3])
def test_density_against_scipy(d):
    x, codes = features(d=d)
    fitted = ClassGaussians.fit(x, codes, 3)
    points = np.vstack([x[:20], x[:5] + 40])
    shares = np.bincount(codes) / len(codes)
    expected = np.zeros(len(points))
    for c in range(3):
        expected += shares[c] * stats.multivariate_normal.pdf(points, x[codes == c].mean(axis=0), fitted.covariances[c])
    near = expected > 1e-250
    assert near.sum() >= 20
    np.testing.assert_allclose(fitted.log_density(points)[near], np.log(expected[near]), rtol=1e-9)
    logs = [stats.multivariate_normal.logpdf(points, fitted.means[c], fitted.covariances[c]) for c in range(3)]
    np.testing.assert_allclose(fitted.log_joint(points), np.transpose(logs) + np.log(shares), rtol=1e-9)


@pytest.mark.parametrize("nu", [0.0, 5.0, 1e9])
def test_covariances_by_hand(nu):
    x, codes = features(n=50)
    fitted = ClassGaussians.fit(x, codes, 3, prior_instances=nu)
    residuals = np.vstack([x[codes == c] - x[codes == c].mean(axis=0) for c in range(3)])
    shared = ledoit_wolf(residuals, assume_centered=True)[0]
    for c in range(3):
        own = x[codes == c]
        expected = (len(own) * np.cov(own.T, bias=True) + nu * shared) / (len(own) + nu)
        expected += FLOOR * x.var(axis=0).mean() * np.eye(3)
        np.testing.assert_allclose(fitted.covariances[c], expected, rtol=1e-9)


def test_few_instances_and_collapsed_features():
    x, codes = features(n=41, d=30)
    x, codes = np.vstack([x, x[:1] + 9]), np.append(codes, 3)  # a class of one instance
    fitted = ClassGaussians.fit(x, codes, 4)
    assert np.isfinite(fitted.log_density(x)).all()
    assert fitted.log_density(x[-1:] + 100)[0] < fitted.log_density(x[-1:])[0] - 50
    constant = x.copy()
    constant[:, 4] = 2.0
    constant[:, 7] = constant[:, 6]
    assert np.isfinite(ClassGaussians.fit(constant, codes, 4, prior_instances=0.0).log_density(x)).all()
    collapsed = np.repeat(np.eye(3), 5, axis=0)  # nothing varies within a class
    fitted = ClassGaussians.fit(collapsed, np.repeat(np.arange(3), 5), 3)
    assert fitted.log_density(np.eye(3)).min() > fitted.log_density(np.full((1, 3), 0.5))[0] + 100
    same = ClassGaussians.fit(np.ones((4, 2)), np.array([0, 0, 1, 1]), 2)
    assert np.isfinite(same.log_density(np.ones((1, 2)))).all()


def test_far_away_is_low_and_falls_with_the_square_of_the_distance():
    x, codes = features()
    fitted = ClassGaussians.fit(x, codes, 3)
    away = np.array([1.0, -1.0, 2.0])
    far, farther = fitted.log_density(np.stack([1e4 * away, 2e4 * away]))
    assert far < fitted.log_density(x).min()
    np.testing.assert_allclose(farther / far, 4.0, rtol=0.01)
    assert np.isfinite(fitted.log_density(1e100 * away[None])).all()
