"""Second derivatives against automatic differentiation, and what follows from them against linear algebra by hand."""

import numpy as np
import pytest
import torch

from uqassay.lab.methods.laplace import FullHessian, KroneckerHessian

N, D, K = 9, 4, 3


def layer(seed=0):
    """Features with a 1 last, weights (K, D), labels, probabilities."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.normal(size=(N, D - 1)), np.ones(N)])
    theta = rng.normal(size=(K, D))
    logits = features @ theta.T
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return features, theta, np.arange(N) % K, probs


def derivative(features, theta, codes):
    """H by automatic differentiation, (K D, K D)."""
    inputs, labels = torch.from_numpy(features), torch.from_numpy(codes)

    def loss(flat):
        return torch.nn.functional.cross_entropy(inputs @ flat.view(K, D).T, labels, reduction="sum")

    return torch.autograd.functional.hessian(loss, torch.from_numpy(theta.ravel())).numpy()


def by_hand(matrix, features, precision):
    covariance = np.linalg.inv(matrix + precision * np.eye(K * D))
    jacobians = np.stack([np.kron(np.eye(K), phi[None]) for phi in features])
    return jacobians @ covariance @ jacobians.transpose(0, 2, 1)


@pytest.mark.parametrize("precision", [0.01, 1.0, 50.0])
def test_full_against_automatic_differentiation(precision):
    features, theta, codes, probs = layer()
    expected = derivative(features, theta, codes)
    hessian = FullHessian.of(features, probs)
    np.testing.assert_allclose((hessian.vectors * hessian.eigenvalues) @ hessian.vectors.T, expected, atol=1e-10)
    found = hessian.logit_covariance(features, precision)
    np.testing.assert_allclose(found, by_hand(expected, features, precision), rtol=1e-8)


@pytest.mark.parametrize("precision", [0.01, 1.0, 50.0])
def test_kronecker_against_the_product(precision):
    features, _, _, probs = layer()
    curvature = np.mean([np.diag(p) - np.outer(p, p) for p in probs], axis=0)
    product = np.kron(curvature, features.T @ features)
    hessian = KroneckerHessian.of(features, probs)
    np.testing.assert_allclose(np.sort(hessian.eigenvalues), np.linalg.eigvalsh(product), atol=1e-10)
    found = hessian.logit_covariance(features, precision)
    np.testing.assert_allclose(found, by_hand(product, features, precision), rtol=1e-8)


def test_kronecker_is_exact_for_equal_probabilities():
    features, _, codes, _ = layer()
    theta = np.zeros((K, D))
    theta[:, -1] = [0.3, -1.0, 0.5]  # a bias alone
    probs = np.tile(np.exp(theta[:, -1]) / np.exp(theta[:, -1]).sum(), (N, 1))
    expected = by_hand(derivative(features, theta, codes), features, 0.7)
    np.testing.assert_allclose(
        KroneckerHessian.of(features, probs).logit_covariance(features, 0.7), expected, rtol=1e-8
    )


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_draws_have_the_covariance(kind):
    features, _, _, probs = layer()
    hessian = kind.of(features, probs)
    noise = np.random.default_rng(0).normal(size=(20_000, K, D))
    logits = hessian.deviations(noise, 0.5) @ features[0]  # (T, K)
    np.testing.assert_allclose(np.cov(logits.T), hessian.logit_covariance(features[:1], 0.5)[0], atol=0.03, rtol=0.06)
    # all standard unit vectors in turn give the covariance exactly
    units = np.eye(K * D).reshape(-1, K, D)
    exact = hessian.deviations(units, 0.5) @ features[0]
    np.testing.assert_allclose(exact.T @ exact, hessian.logit_covariance(features[:1], 0.5)[0], rtol=1e-8)


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_the_shift_of_all_logits_is_apart(kind):
    """Σ 1 is a multiple of 1, so that projecting on sum 0 and conditioning on it are the same."""
    features, _, _, probs = layer()
    sigma = kind.of(features, probs).logit_covariance(features, 0.3)
    ones = np.ones(K)
    np.testing.assert_allclose(sigma @ ones, (features**2).sum(axis=1)[:, None] / 0.3 * ones, rtol=1e-8)
    plane = np.eye(K) - 1 / K
    across = sigma @ ones
    conditioned = sigma - across[:, :, None] * across[:, None, :] / (across @ ones)[:, None, None]
    np.testing.assert_allclose(plane @ sigma @ plane, conditioned, atol=1e-8)


def matrix_of(hessian):
    """(H + 1)⁻¹ by its action on unit vectors."""
    return np.stack([hessian.solve(unit, 1.0).ravel() for unit in np.eye(K * D).reshape(-1, K, D)])


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_eigenvalues_solve_and_covariance_are_of_one_matrix(kind):
    features, _, _, probs = layer()
    hessian = kind.of(features, probs)
    inverse = matrix_of(hessian)
    np.testing.assert_allclose(np.sort(hessian.eigenvalues), np.sort(1 / np.linalg.eigvalsh(inverse) - 1), atol=1e-8)
    jacobians = np.stack([np.kron(np.eye(K), phi[None]) for phi in features])
    expected = jacobians @ inverse @ jacobians.transpose(0, 2, 1)
    np.testing.assert_allclose(hessian.logit_covariance(features, 1.0), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_deviations_of_logits_have_their_covariance(kind):
    features, _, _, probs = layer()
    hessian = kind.of(features, probs)
    roots = hessian.logit_deviations(features, np.tile(np.eye(K), (N, 1, 1)), 0.5)  # unit vectors in place of noise
    np.testing.assert_allclose(roots.swapaxes(1, 2) @ roots, hessian.logit_covariance(features, 0.5), rtol=1e-8)


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_deviations_of_logits_where_rounding_outgrows_the_least_variances(kind):
    """Variances of the logits 17 and more orders of magnitude apart, of which the greatest is that of their shift."""
    features, _, _, probs = layer()
    features = features * 1e5
    hessian = kind.of(features, probs)
    expected = hessian.logit_covariance(features, 1e-8)
    roots = hessian.logit_deviations(features, np.tile(np.eye(K), (N, 1, 1)), 1e-8)
    np.testing.assert_allclose(roots.swapaxes(1, 2) @ roots, expected, rtol=1e-12)


def test_sums_are_means_over_the_draws_of_an_instance():
    features, _, _, _ = layer()
    probs = np.random.default_rng(0).dirichlet(np.ones(K), (N, 5))
    curvature = np.mean([[np.diag(p) - np.outer(p, p) for p in draws] for draws in probs], axis=1)
    expected = sum(np.kron(c, np.outer(phi, phi)) for c, phi in zip(curvature, features, strict=True))
    np.testing.assert_allclose(FullHessian.summed(features, probs), expected, atol=1e-12)
    np.testing.assert_allclose(KroneckerHessian.summed(features, probs), curvature.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("kind", [FullHessian, KroneckerHessian])
def test_moving_goes_to_the_other_sum(kind):
    features, _, _, probs = layer()
    other = np.random.default_rng(1).dirichlet(np.ones(K), N)
    total = kind.summed(features, other[:, None])
    start, end = kind.of(features, probs), kind.of(features, other)
    np.testing.assert_allclose(matrix_of(start.moved(total, 1.0)), matrix_of(end), atol=1e-10)
    middle = np.linalg.inv(matrix_of(start)) / 4 + np.linalg.inv(matrix_of(end)) * 3 / 4
    np.testing.assert_allclose(np.linalg.inv(matrix_of(start.moved(total, 0.75))), middle, atol=1e-8)
