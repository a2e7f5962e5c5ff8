"""The choice of sets from features: known overlaps, two balls in closed form, brute force by Monte Carlo."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.decomposition import PCA

from uqassay.credal.budget import ellipsoid_cells, overlaps
from uqassay.lab.methods import StandardNetwork
from uqassay.lab.methods.random_sets import budget_from_network, principal_components


def ball(n=20_000, dimension=3, seed=0):
    """A cloud whose mean and covariance are exactly 0 and 1, so that its ellipsoid is a known ball."""
    x = np.random.default_rng(seed).normal(size=(n, dimension))
    x -= x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(x.T))
    return x @ vectors / np.sqrt(values)


def test_components_are_those_of_scikit_learn():
    x = np.random.default_rng(0).normal(size=(50, 6)) * [1, 5, 2, 0.1, 3, 1]
    found, expected = principal_components(x, 3), PCA(3).fit_transform(x)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)
    assert principal_components(x[:, :2], 3).shape == (50, 2)


@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_overlap_of_two_balls_against_closed_form(distance):
    """Lens of two balls of radius r: π (4r + d)(2r − d)² / 12."""
    x = np.concatenate([ball(), ball(seed=1) + np.array([distance, 0, 0])])
    labels = np.repeat([0, 1], len(x) // 2)
    inside, volumes = ellipsoid_cells(x, labels, 2, 0.95, 200_000, np.random.default_rng(0))
    found = overlaps(inside, volumes, np.array([[0, 1]]))[0]
    r = np.sqrt(chi2.ppf(0.95, 3))
    lens = np.pi * (4 * r + distance) * (2 * r - distance) ** 2 / 12
    np.testing.assert_allclose(found, lens / (2 * 4 / 3 * np.pi * r**3 - lens), rtol=0.02)


def test_overlap_of_ellipsoids_against_brute_force():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    shapes = rng.normal(size=(3, 3, 3))
    x = np.einsum("nd,nde->ne", rng.normal(size=(600, 3)), shapes[y]) + 1.5 * rng.normal(size=(3, 3))[y]
    cells, volumes = ellipsoid_cells(x, y, 3, 0.95, 200_000, np.random.default_rng(0))
    points = rng.uniform(x.min(axis=0) - 5, x.max(axis=0) + 5, (1_000_000, 3))  # the whole box, evenly
    inside = []
    for c in range(3):
        off = points - x[y == c].mean(axis=0)
        squared = np.einsum("nd,de,ne->n", off, np.linalg.inv(np.cov(x[y == c].T)), off)
        inside.append(squared <= chi2.ppf(0.95, 3))
    for pair in ([0, 1], [0, 2], [1, 2]):
        a, b = (inside[c] for c in pair)
        found = overlaps(cells, volumes, np.array([pair]))[0]
        np.testing.assert_allclose(found, (a & b).sum() / (a | b).sum(), atol=0.01)


def identity_features(n_classes, width):
    """A fitted network without hidden layers: its features are the instances themselves."""
    rng = np.random.default_rng(0)
    y = np.arange(10 * n_classes) % n_classes
    return StandardNetwork(backbone=(), epochs=1, standardise=False).fit(rng.normal(size=(len(y), width)), y)


def test_classes_that_overlap_make_the_sets():
    """Classes 0, 1 lie together, 2 beside them, 3 and 4 touch each other, 5 stands alone; two columns are mere noise."""
    at = np.array([0.0, 0.3, 2.5, 100.0, 104.5, 200.0])
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 6
    x = rng.normal(size=(6000, 5)) * [1, 1, 1, 0.01, 0.01]
    x[:, 0] += at[y]
    sets, how = budget_from_network(identity_features(6, 5), x.astype(np.float32), y, 10)
    assert how == "ellipsoids"
    np.testing.assert_array_equal(sets[:6], np.eye(6))
    chosen = [tuple(np.flatnonzero(s)) for s in sets[6:]]
    assert chosen[0] == (0, 1)
    assert set(chosen[1:4]) == {(1, 2), (0, 2), (0, 1, 2)}
    assert chosen[1] == (1, 2)
    assert chosen[4:] == [(3, 4)]  # and no more, since no other sets overlap
    few, _ = budget_from_network(identity_features(6, 5), x.astype(np.float32), y, 2)
    assert [tuple(np.flatnonzero(s)) for s in few[6:]] == [(0, 1), (1, 2)]


def test_flat_clouds_fall_back_on_the_probabilities():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    x = np.zeros((60, 3), dtype=np.float32)
    x[:, 0] = rng.normal(size=60) + y
    sets, how = budget_from_network(identity_features(3, 3), x, y, 2)
    assert how == "confusion"
    assert sets.shape == (5, 3)
    sets, how = budget_from_network(identity_features(3, 1), x[:, :1], y, 2)
    assert how == "ellipsoids"  # intervals, in one dimension
