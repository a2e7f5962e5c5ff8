"""The pair of Gaussians: exact label probabilities, the error of the best classifier, stratified samples."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.refusals import refuses

from uqassay.lab.datasets.generated import TwoGaussians


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
