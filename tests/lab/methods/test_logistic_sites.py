"""Closed-form Pólya-Gamma inference against a plain iteration, numerical integration and draws from the prior."""

import numpy as np
import pytest
from scipy.special import expit, log_expit

from uqassay.lab.methods.gaussian_process import logistic_sites, precision, site_precisions
from uqassay.lab.methods.local_gaussian_process import rbf_kernel


def world(n=60, lengthscale=0.4, variance=9.0, seed=0):
    g = np.random.default_rng(seed)
    x = g.uniform(-2, 2, size=(n, 2))
    kernel = rbf_kernel(x, lengthscale, variance)
    latent = np.linalg.cholesky(kernel + 1e-8 * np.eye(n)) @ g.normal(size=n)
    return kernel, latent, (g.random(n) < expit(latent)).astype(float)


def plain(kernel, y, steps=2000):
    """The iteration as it is printed: c, then θ, then S and m by inverses."""
    c, inverse = np.ones(len(y)), np.linalg.inv(kernel + 1e-9 * np.eye(len(y)))
    for _ in range(steps):
        theta = np.tanh(c / 2) / (2 * c)
        covariance = np.linalg.inv(inverse + np.diag(theta))
        mean = covariance @ (y - 0.5)
        c = np.sqrt(mean**2 + np.diag(covariance))
    return theta, mean, np.diag(covariance)


@pytest.mark.parametrize(("variance", "seed"), [(1.0, 0), (9.0, 1), (100.0, 2)])
def test_same_fixpoint_as_the_plain_iteration(variance, seed):
    kernel, _, y = world(25, variance=variance, seed=seed)
    found = logistic_sites(kernel, y, tolerance=1e-10)
    for got, expected in zip(found[:3], plain(kernel, y), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    near = logistic_sites(kernel, y)
    np.testing.assert_allclose(near.precision, found.precision, rtol=0.01)
    assert near.n_steps < found.n_steps < 26  # Newton's method settles


def test_bound_is_below_the_evidence_and_near_it_for_one_instance():
    grid = np.linspace(-60, 60, 200_001)
    for variance in (0.01, 1.0, 9.0):
        found = logistic_sites(np.array([[variance]]), np.array([1.0]), tolerance=1e-10)
        assert found.log_evidence <= np.log(0.5)  # the evidence of one label, whatever the variance
        np.testing.assert_allclose(found.log_evidence, np.log(0.5), atol=0.13)
        # expected log-likelihood and divergence of N(m, S) by numerical integration
        m, s = found.mean[0], found.variance[0]
        density = np.exp(-0.5 * (grid - m) ** 2 / s) / np.sqrt(2 * np.pi * s)
        elbo = (density * log_expit(grid)).sum() * (grid[1] - grid[0])
        elbo -= 0.5 * (s / variance + m * m / variance - 1 - np.log(s / variance))
        assert found.log_evidence <= elbo <= np.log(0.5)


def test_bound_prefers_the_scales_of_the_world():
    kernels = {}
    g = np.random.default_rng(5)
    x = g.uniform(-2, 2, size=(250, 2))
    latent = np.linalg.cholesky(rbf_kernel(x, 0.6, 9.0) + 1e-8 * np.eye(250)) @ g.normal(size=250)
    y = (g.random(250) < expit(latent)).astype(float)
    for scale in (0.02, 0.6, 10.0):
        kernels[scale] = logistic_sites(rbf_kernel(x, scale, 9.0), y).log_evidence
    assert max(kernels, key=kernels.get) == 0.6


def test_duplicates_singular_kernels_and_single_instances():
    ones = np.ones((5, 5)) * 4.0
    found = logistic_sites(ones, np.array([1.0, 1, 1, 0, 1]), tolerance=1e-10)
    np.testing.assert_allclose(found.mean, found.mean[0])
    np.testing.assert_allclose(found.precision, found.precision[0])
    lone = logistic_sites(np.array([[4.0]]), np.array([0.0]), tolerance=1e-10)
    assert lone.mean[0] < 0 < lone.variance[0] < 4.0
    nothing = logistic_sites(np.zeros((3, 3)), np.array([0.0, 1, 1]))
    np.testing.assert_allclose(
        [*nothing.precision, *nothing.mean, *nothing.variance], [0.25] * 3 + [0.0] * 6, atol=1e-12
    )


def test_precision_at_both_ends():
    np.testing.assert_allclose(
        precision(np.array([0.0, 1e-5, 2.0, 1e8])), [0.25, 0.25, np.tanh(1.0) / 4, 5e-9], rtol=1e-9
    )


def test_labels_turned_round_turn_the_means_round():
    kernel, _, y = world()
    one, other = logistic_sites(kernel, y), logistic_sites(kernel, 1 - y)
    np.testing.assert_allclose(one.mean, -other.mean, atol=1e-9)
    np.testing.assert_allclose(one.precision, other.precision, rtol=1e-9)
    np.testing.assert_array_equal(site_precisions(kernel, y)[0], one.precision)


def test_coverage_of_the_latent_values_drawn_from_the_prior():
    inside = []
    for seed in range(40):
        kernel, latent, y = world(100, seed=seed)
        found = logistic_sites(kernel, y)
        inside.append(np.abs(latent - found.mean) < 1.645 * np.sqrt(found.variance))
    assert (
        0.80 < np.mean(inside) < 0.86
    )  # 90 % intervals; mean-field inference makes them too narrow. 0.831 over 200 worlds
