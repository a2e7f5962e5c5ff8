"""A network that keeps distances, and what the density of its features tells that the softmax does not."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.metrics import roc_auc_score

import uqassay as uq
from uqassay.lab.methods import DDU, StandardNetwork, fit_together
from uqassay.lab.methods.ddu import FLOOR, ClassGaussians
from uqassay.lab.methods.layers import ResidualBlock, SpectralDense, SpectralLayer


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 4.0 * (y[:, None] == np.arange(4)), y


@pytest.mark.parametrize("coefficient", [0.9, 3.0])
def test_every_layer_is_within_the_bound_after_training(coefficient):
    x, y = blobs()
    net = DDU(backbone=(8, 8, 5), coefficient=coefficient, epochs=60, learning_rate=0.05).fit(x, y)
    trunk = net.network_.trunk
    layers = [layer for layer in trunk.modules() if isinstance(layer, SpectralDense)]
    norms = [float(torch.linalg.matrix_norm(layer.normalised_weight()[0], ord=2)) for layer in layers]
    assert len(norms) == 3
    assert max(norms) <= coefficient * (1 + 1e-9)
    if coefficient < 1:
        np.testing.assert_allclose(max(norms), coefficient)  # the bound is active
    assert [isinstance(layer, ResidualBlock) for layer in trunk] == [False, False, True, False, False]
    plain = DDU(backbone=(8, 8, 5), residual=False, epochs=1).fit(x, y)
    assert not any(isinstance(layer, ResidualBlock) for layer in plain.network_.trunk)


def test_learns_digits_as_well_as_a_standard_network(digits):
    x, test_x, y, test_y = digits
    net = DDU(epochs=60).fit(x, y)
    assert net.score(test_x, test_y) > StandardNetwork(epochs=60).fit(x, y).score(test_x, test_y) - 0.02
    assert isinstance(net.predict_uncertainty(test_x), uq.Point)


@pytest.mark.parametrize(("left_out", "least"), [(1, 0.82), (3, 0.86)])
def test_density_separates_a_left_out_digit(digits, left_out, least):
    """AUROC of 0.90 for the ones and 0.92 for the threes, with 100 epochs."""
    x, test_x, y, test_y = digits
    net = DDU().fit(x[y != left_out], y[y != left_out])
    scores = net.uncertainty_scores(test_x)
    assert list(scores) == ["negative-log-density"]
    density = net.feature_density(test_x)
    np.testing.assert_array_equal(scores["negative-log-density"], -density)
    assert roc_auc_score(test_y == left_out, -density) > least
    far = net.feature_density(np.full((1, 64), 1000.0))
    assert far[0] < density.min()


def test_density_is_that_of_the_features(digits):
    x, test_x, y, _ = digits
    net = DDU(backbone=(6,), epochs=5).fit(x, y)
    inputs = torch.from_numpy(net._prepared(test_x)).double()[None]
    features = net.network_.features(inputs)[0].numpy()
    parts = [
        np.mean(y == c)
        * stats.multivariate_normal.pdf(features, net.gaussians_.means[c], net.gaussians_.covariances[c])
        for c in range(10)
    ]
    np.testing.assert_allclose(net.feature_density(test_x), np.log(np.sum(parts, axis=0)), rtol=1e-8)
    of_training = net.network_.features(torch.from_numpy(net._prepared(x)).double()[None])[0].numpy()
    np.testing.assert_allclose(net.gaussians_.means[3], of_training[y == 3].mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(net.feature_density(test_x[4:9]), net.feature_density(test_x)[4:9], rtol=1e-10)


def test_density_enters_an_assay():
    x, y = blobs()
    net = DDU(backbone=(8,), epochs=40, learning_rate=0.01).fit(x, y)
    result = uq.assay({"ddu": net.predict_uncertainty(x)}, y, uncertainties={"ddu": net.uncertainty_scores(x)})
    rows = result.scores().query("model == 'ddu'")
    np.testing.assert_array_equal(rows["negative-log-density"], -net.feature_density(x))


def test_convolutions_are_normalised_and_stack():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 8, 8)), np.arange(30) % 2
    options = {"backbone": "cnn-small", "coefficient": 0.9, "epochs": 3, "batch_size": 10, "learning_rate": 0.01}
    nets = [DDU(parallel="stacked", random_state=seed, **options) for seed in range(2)]
    fit_together(nets, [(x, y)] * 2)
    template = nets[0].network_.extractor._template[0]
    assert sum(isinstance(layer, SpectralLayer) for layer in template.modules()) == 3
    for seed, net in enumerate(nets):
        alone = DDU(parallel="sequential", random_state=seed, **options).fit(x, y)
        np.testing.assert_allclose(net.predict_proba(x), alone.predict_proba(x), atol=1e-4)
    assert np.isfinite(nets[0].feature_density(x)).all()


def test_given_module():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 6)), np.arange(30) % 2
    module = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh())
    before = module[0].weight.clone()
    net = DDU(backbone=module, epochs=2, coefficient=0.5).fit(x, y)
    torch.testing.assert_close(module[0].weight, before)
    assert clone(net).fit(x, y).feature_density(x[:1]).shape == (1,)


# -- Class Gaussians against scipy.stats, and with too few instances to have a covariance.


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
