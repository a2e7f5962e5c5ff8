"""Toy data: their shapes, and their label probabilities against theory and against counting."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.refusals import refuses

from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.generated import CENTRES, TwoGaussians, blobs, gain_grid, triangle, two_gaussians, two_moons

ALL = [two_moons, blobs, triangle, two_gaussians]


@pytest.mark.parametrize("make", [*ALL, lambda **k: gain_grid(500, 300, **k)])
def test_sizes_seeds_and_probabilities(make):
    data = make(rng=3)
    assert data.content_hash == make(rng=3).content_hash != make(rng=4).content_hash
    assert data.X_train.shape[1] == data.X_test.shape[1] == data.n_classes == 2
    assert data.X_train.dtype == np.float64
    assert set(np.unique(data.y_test)) == {0, 1}
    if data.votes_test is not None:
        np.testing.assert_allclose(data.votes_test.sum(axis=1), 1.0, rtol=1e-12)
        assert (data.votes_test >= 0).all()


@pytest.mark.parametrize("make", ALL)
def test_half_of_each_part_is_of_each_class(make):
    data = make(100, 50)
    np.testing.assert_array_equal(np.bincount(data.y_train), [50, 50])
    np.testing.assert_array_equal(np.bincount(data.y_test), [25, 25])


@pytest.mark.parametrize("make", [blobs, triangle, two_gaussians, lambda n, m, **k: gain_grid(n, m, **k)])
def test_label_probabilities_are_calibrated(make):
    """Among test points whose p(1 | x) lies in an interval, the share of class 1 is the mean of p; 4 standard errors."""
    data = make(2, 40_000, rng=5)
    p = data.votes_test[:, 1]
    for low in np.arange(0.0, 1.0, 0.2):
        at = (p >= low) & (p <= low + 0.2)
        if at.sum() > 50:
            error = np.sqrt((p[at] * (1 - p[at])).sum()) / at.sum()
            assert abs(data.y_test[at].mean() - p[at].mean()) <= 4 * error + 1e-12


def test_moons_lie_on_their_half_circles():
    data = two_moons(2000, 10, noise=0.0, rng=1)
    x, y = data.X_train, data.y_train
    centre = np.where(y[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(x - centre, axis=1), 1.0, rtol=1e-12)
    assert (x[y == 0, 1] >= 0).all()
    assert (x[y == 1, 1] <= 0.5).all()
    noisy = two_moons(20_000, 10, noise=0.3, rng=1)
    assert abs(noisy.X_train[noisy.y_train == 0, 0].var() - (0.5 + 0.09)) < 0.02  # of cos t, and of the noise


def test_blobs_against_the_densities():
    data = blobs(10, 300, rng=2)
    density = np.stack([multivariate_normal(c).pdf(data.X_test) for c in CENTRES], axis=1)
    np.testing.assert_allclose(data.votes_test, density / density.sum(axis=1, keepdims=True), atol=1e-12)


def test_triangle_is_certain_outside_the_overlap():
    data = triangle(10, 20_000, rng=3)
    u, v = data.X_test.T
    assert ((u >= 0) & (u <= 1) & (np.abs(v) <= 1)).all()
    apart = np.abs(v) >= u
    np.testing.assert_array_equal(data.y_test[apart], v[apart] > 0)
    np.testing.assert_array_equal(data.votes_test[~apart], 0.5)
    # a class has the density 1/(1 + u) on the overlap of length 2u
    for low in (0.0, 0.3, 0.8):
        at = (u >= low) & (u < low + 0.1)
        middle = low + 0.05
        assert abs((~apart[at]).mean() - 2 * middle / (1 + middle)) < 0.05


def test_grid_as_printed():
    assert load_dataset("gain-grid").X_train.shape == (142_693, 2)


def test_two_gaussians_have_the_stated_bayes_error():
    data = two_gaussians(10, 40_000, bayes_error=0.1, rng=6)
    assert abs(data.votes_test.min(axis=1).mean() - 0.1) < 0.003


@pytest.mark.parametrize("make", ALL)
def test_too_few(make):
    with refuses("n_test", "range", got="got 1"):
        make(10, 1)


# -- The pair of Gaussians: exact label probabilities, the error of the best classifier, stratified samples.


@pytest.mark.parametrize("error", [0.02, 0.15, 0.4])
def test_label_probabilities_against_bayes_rule(error):
    data = TwoGaussians(error)
    x = np.random.default_rng(0).normal(size=(50, 2)) * 2
    density = np.stack([multivariate_normal(mean).pdf(x) for mean in data.means], axis=1)
    np.testing.assert_allclose(data.label_probs(x), density / density.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(data.means[1] - data.means[0]), data.separation, rtol=1e-12)


@pytest.mark.parametrize("error", [0.05, 0.15, 0.25])
def test_bayes_error_against_a_large_sample(error):
    sample = TwoGaussians(error).sample(200_000, np.random.default_rng(1))
    best = sample.label_probs.argmax(axis=1)
    expected = sample.label_probs.min(axis=1)
    assert abs(expected.mean() - error) < 5 * expected.std() / 200_000**0.5
    assert abs((best != sample.y).mean() - error) < 5 * (error / 200_000) ** 0.5


def test_samples_are_stratified_and_shuffled():
    sample = TwoGaussians().sample(401, np.random.default_rng(2))
    assert np.bincount(sample.y).tolist() == [200, 201]
    assert 0 < np.abs(np.diff(sample.y)).sum() < 400
    assert sample.x.shape == (401, 2)


@pytest.mark.parametrize("error", [0.0, 0.5, -1.0, float("nan")])
def test_an_impossible_bayes_error_is_refused(error):
    with refuses("bayes_error", "range", got=r"must lie strictly between 0 and 0\.5"):
        TwoGaussians(error)
