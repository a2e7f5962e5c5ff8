"""The toy grid: its law against theory and brute force, and the sample against its law."""

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.refusals import refuses

from uqassay.lab.datasets import cluster_grid, load_dataset
from uqassay.lab.datasets.discs import GainGrid


def by_all_clusters(points, centres, of_one, spread):
    """log p(1 | x) by log-sum-exp over all clusters."""
    exponent = -((points[:, None] - centres) ** 2).sum(axis=-1) / (2 * spread**2)
    with np.errstate(divide="ignore"):
        ones = np.log(of_one.astype(float))
    return logsumexp(exponent + ones, axis=1) - logsumexp(exponent, axis=1)


@pytest.mark.parametrize("spread", [0.1, 0.35, 1.0])
@pytest.mark.parametrize("size", [(38, 46), (5, 3), (1, 2)])
def test_probabilities_against_all_clusters(spread, size):
    toy = cluster_grid(60, spread=spread, columns=size[0], rows=size[1], rng=1)
    far = [[-30.0, 90.0], [20.5, 23.5]]  # where densities underflow, and amid four clusters
    points = np.concatenate([toy.X, far])
    expected = np.exp(by_all_clusters(points, toy.centres, toy.cluster_class == 1, spread))
    # far out the exponents are 10⁵, of which brute force keeps ten digits after the point
    np.testing.assert_allclose(toy.label_probs(points)[:, 1], expected, atol=1e-12 if spread > 0.1 else 1e-9)
    np.testing.assert_array_equal(toy.label_probs(toy.X), toy.probs)
    np.testing.assert_allclose(toy.probs.sum(axis=1), 1.0, rtol=1e-15)
    assert ((toy.probs >= 0) & (toy.probs <= 1)).all()
    np.testing.assert_allclose(toy.aleatoric, 1.0 - toy.probs.max(axis=1), atol=1e-15)


@pytest.mark.parametrize(("spread", "error"), [(1.0, 0.380), (0.5, 0.255), (0.35, 0.138), (0.25, 0.043), (0.1, 0.0)])
def test_stated_bayes_error(spread, error):
    """Mean of 1 − max p by spread; it varies with the drawn half, so three of them are averaged."""
    found = [cluster_grid(20_000, spread=spread, rng=seed).aleatoric.mean() for seed in range(3)]
    assert abs(np.mean(found) - error) < 0.008


def test_labels_are_those_of_the_clusters():
    toy = cluster_grid(20_000, spread=0.05, rng=2)
    nearest = (np.rint(toy.X) - 1).astype(int) @ [46, 1]
    np.testing.assert_array_equal(toy.y, toy.cluster_class[nearest])
    np.testing.assert_array_equal(toy.centres[nearest], np.rint(toy.X))
    counts = np.bincount(nearest, minlength=1748)  # every cluster has the same weight
    assert abs(((counts - 20_000 / 1748) ** 2).sum() * 1748 / 20_000 - 1747) < 5 * np.sqrt(2 * 1747)
    scatter = toy.X - toy.centres[nearest]
    np.testing.assert_allclose(np.cov(scatter.T), 0.05**2 * np.eye(2), atol=0.05**2 * 5 * np.sqrt(2 / 20_000))


def test_half_of_the_clusters_is_of_class_1_at_random():
    halves = np.array([GainGrid.drawn(rng=seed).of_class_1 for seed in range(200)])
    assert (halves.sum(axis=(1, 2)) == 874).all()
    shares = halves.mean(axis=0)
    assert abs(shares - 0.5).max() < 5 * np.sqrt(0.25 / 200)
    assert int(GainGrid.drawn(size=(3, 3)).of_class_1.sum()) == 4


def test_sample_as_printed():
    toy = cluster_grid()
    assert toy.X.shape == (142_693, 2)
    assert (len(toy.centres), toy.spread) == (1748, 0.35)
    assert toy.centres.min(axis=0).tolist() == [1.0, 1.0]
    assert toy.centres.max(axis=0).tolist() == [38.0, 46.0]
    again = cluster_grid(rng=0)
    np.testing.assert_array_equal(toy.X, again.X)
    assert not np.array_equal(toy.cluster_class, cluster_grid(10, rng=1).cluster_class)


def test_the_data_set_of_that_name_is_of_the_same_law():
    data = load_dataset("gain-grid", rng=4)
    grid = GainGrid.drawn(0.35, np.random.default_rng(4))
    np.testing.assert_allclose(data.votes_test, grid.label_probs(data.X_test), atol=1e-15)


def test_refusals():
    with refuses("spread", "range", got="got 0"):
        cluster_grid(10, spread=0)
    with refuses("spread", "range", got="got nan"):
        GainGrid.drawn(np.nan)
    with refuses("n", "range", got="got 0"):
        cluster_grid(0)
    with refuses("rows", "range", got="got 0"):
        cluster_grid(10, rows=0)
    with refuses("columns", "range", got="1 × 1"):
        cluster_grid(10, columns=1, rows=1)
    toy = cluster_grid(10)
    with refuses("X", "shape", got=r"\(4, 3\)"):
        toy.label_probs(np.zeros((4, 3)))
    with refuses("X", "finite", got="row 1"):
        toy.label_probs([[0.0, 1.0], [np.nan, 1.0]])


@pytest.mark.parametrize("far", [1e9, 1e17, 1e300])
def test_label_probs_far_from_the_grid_are_those_of_the_nearest_cluster(far):
    grid = GainGrid.drawn(0.35, 0)
    found = grid.label_probs([[-far, far], [far, far]])[:, 1]
    assert found.tolist() == [float(grid.of_class_1[0, -1]), float(grid.of_class_1[-1, -1])]


@pytest.mark.parametrize(
    ("options", "name"),
    [({"n": 1.5}, "n"), ({"n": True}, "n"), ({"columns": 2.5}, "columns"), ({"spread": "a"}, "spread")],
)
def test_values_of_another_type(options, name):
    with refuses(name, "type"):
        cluster_grid(**{"n": 10, **options})
