"""Principal components against scikit-learn; two classes out of many."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets import Dataset
from uqassay.lab.datasets import dataset as preparation
from uqassay.lab.datasets.dataset import even_or_odd, fit_components, principal_components


@pytest.fixture
def images():
    g = np.random.default_rng(0)
    x = g.normal(size=(80, 12)) @ g.normal(size=(12, 12)) + 3
    y = np.arange(80) % 5
    votes = g.multinomial(9, np.full(5, 0.2), 30) + 1
    return Dataset("d", x[:50].reshape(50, 1, 3, 4), y[:50], x[50:].reshape(30, 1, 3, 4), y[50:], "abcde", votes)


def test_principal_components_against_scikit_learn(images, needs):
    needs("sklearn")
    from sklearn.decomposition import PCA

    ours = principal_components(images, 5)
    theirs = PCA(5).fit(images.X_train.reshape(50, -1))
    for part in ("X_train", "X_test"):
        expected = theirs.transform(getattr(images, part).reshape(-1, 12))
        signs = np.sign((getattr(ours, part) * expected).sum(axis=0))
        np.testing.assert_allclose(getattr(ours, part), signs * expected, atol=1e-9)
    with refuses("n_components", "range", got="got 13"):
        principal_components(images, 13)


def test_components_of_several_parts_in_chunks(images, monkeypatch):
    """Parts, chunks and bytes change nothing but the rounding."""
    whole = (np.random.default_rng(1).random((90, 3, 4)) * 255).astype(np.uint8)
    expected = fit_components([whole.astype(np.float64)], 6)
    monkeypatch.setattr(preparation, "CHUNK_BYTES", 7 * 8 * 12)
    found = fit_components([whole[:35], whole[35:36], whole[36:]], 6)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.loadings, expected.loadings, atol=1e-9)
    np.testing.assert_allclose(found.loadings.T @ found.loadings, np.eye(6), atol=1e-12)
    assert (found.loadings.max(axis=0) >= -found.loadings.min(axis=0)).all()
    scores = found.scores(whole, unit=255.0, dtype=np.float32)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, (whole.reshape(90, 12) - expected.mean) @ expected.loadings / 255, atol=1e-6)


def test_even_or_odd(images):
    data = even_or_odd(images)
    np.testing.assert_array_equal(data.y_test, images.y_test % 2)
    assert data.class_names == ("even", "odd")
    np.testing.assert_array_equal(data.votes_test[:, 0], images.votes_test[:, [0, 2, 4]].sum(axis=1))
    np.testing.assert_array_equal(data.votes_test.sum(axis=1), images.votes_test.sum(axis=1))
