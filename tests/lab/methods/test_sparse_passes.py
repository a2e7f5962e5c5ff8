"""Passes by neighbourhoods against passes with all inducing points, and against plain linear algebra."""

import numpy as np
import pytest
import torch

from uqassay.lab.methods.sparse_latent import SparseLatent
from uqassay.lab.methods.sparse_training import DenseAscent, LocalAscent, ascent, neighbourhoods


def process(lengthscale=0.05, signal_variance=4.0, m=150, seed=0):
    points = torch.from_numpy(np.random.default_rng(seed).uniform(size=(m, 2)))
    return SparseLatent(points, torch.tensor([lengthscale]), signal_variance).in_double()


def world(n=600, seed=1):
    g = np.random.default_rng(seed)
    x = g.uniform(-0.1, 1.1, size=(n, 2))
    return torch.from_numpy(x), torch.from_numpy(np.where(np.sin(12 * x[:, 0]) + g.normal(size=n) > 0, 0.5, -0.5))


@pytest.fixture
def in_small_cells(monkeypatch):
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.CELL", 20)
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.WORTHWHILE", 0.9)


@pytest.mark.usefixtures("in_small_cells")
@pytest.mark.parametrize("lengthscale", [0.01, 0.03, 0.05])
@pytest.mark.parametrize("signal_variance", [1.0, 1e4])
def test_neighbourhoods_and_all_inducing_points_take_the_same_steps(lengthscale, signal_variance):
    one, other = (process(lengthscale, signal_variance) for _ in range(2))
    x, target = world()
    parts = neighbourhoods(one, x)
    local, dense = LocalAscent(one, x, target, parts), DenseAscent(other, x, target)
    for _ in range(5):
        (bound, mean), (expected, expected_mean) = local.measure(), dense.measure()
        np.testing.assert_allclose(bound, expected, rtol=1e-10)
        torch.testing.assert_close(mean, expected_mean, rtol=1e-7, atol=1e-7)
        local.step()
        dense.step()
    local.finish()
    dense.finish()
    for found, wanted in zip(one.moments(x), other.moments(x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(float(one.divergence()), float(other.divergence()), rtol=1e-8)


@pytest.mark.usefixtures("in_small_cells")
def test_ascent_starts_from_any_q_and_raises_the_bound():
    latent = process(0.04)
    x, target = world()
    first = ascent(latent, x, target)
    assert isinstance(first, LocalAscent)
    bounds = []
    for _ in range(6):
        bounds.append(first.measure()[0])
        first.step()
    first.finish()
    again = ascent(latent, x, target)
    bounds.append(again.measure()[0])
    np.testing.assert_allclose(again.measure()[0], DenseAscent(latent, x, target).measure()[0], rtol=1e-10)
    assert (np.diff(bounds) > 0).all()


@pytest.mark.usefixtures("in_small_cells")
def test_neighbourhoods_hold_each_instance_once_and_all_inducing_points_in_reach():
    latent = process(0.03)
    x, _ = world(200)
    parts = neighbourhoods(latent, x)
    assert sorted(torch.cat([part.rows for part in parts]).tolist()) == list(range(200))
    distance = torch.cdist(x, latent.inducing) / 0.03
    for part in parts:
        left_out = np.setdiff1d(np.arange(150), part.near)
        assert (distance[part.rows][:, left_out] > 8.0).all()
    assert 5 < np.mean([len(part.near) for part in parts]) < 100


def test_kernels_that_reach_everything_use_all_inducing_points():
    x, target = world(100)
    assert neighbourhoods(process(1.0), x) is None
    assert isinstance(ascent(process(1.0), x, target), DenseAscent)


@pytest.mark.usefixtures("in_small_cells")
def test_instances_far_from_all_inducing_points():
    latent = process(0.03)
    x, target = world(200)
    x[:30] += 50.0
    passes = ascent(latent, x, target)
    passes.measure()
    passes.step()
    assert passes.measure()[1][:30].abs().max() == 0.0
    passes.finish()
    torch.testing.assert_close(latent.moments(x[:30])[1], torch.full((30,), 4.0, dtype=torch.float64))


def test_finish_without_a_step_leaves_everything_as_it_is():
    latent = process()
    before = latent.root.clone()
    x, target = world(50)
    for passes in (LocalAscent(latent, x, target, []), DenseAscent(latent, x, target)):
        passes.finish()
        assert latent.root.equal(before)
