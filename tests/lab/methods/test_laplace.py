"""Gaussians of a last layer: Hessians, posteriors, the bridge to a Dirichlet; by automatic differentiation and draws."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.refusals import refuses
from threadpoolctl import threadpool_limits

from uqassay import Dirichlet, Members
from uqassay.lab.datasets import load_dataset
from uqassay.lab.methods import LaplaceBridge, StandardNetwork
from uqassay.lab.methods import laplace as last_layer_laplace
from uqassay.lab.methods.laplace import (
    KINDS,
    FullHessian,
    KroneckerHessian,
    LastLayerPosterior,
    bridge_to_dirichlet,
    log_evidence,
    mode,
)
from uqassay.metrics import expected_calibration_error

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


# -- Gaussians of a last layer -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Where cores are shared, several threads wait for each other at each of many small steps."""
    with threadpool_limits(1):
        yield


def separable(n=60, k=3, d=4, gap=4.0, seed=0):
    """Features with a 1 last whose classes a plane separates, so that no weights have the greatest likelihood."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    centres = gap * np.eye(max(k, d))[:k, :d]
    return np.column_stack([centres[codes] + rng.uniform(-1, 1, (n, d)), np.ones(n)]), codes


def blurred(n=80, k=3, d=4, seed=0):
    return separable(n, k, d, gap=1.0, seed=seed)


def fit(features, codes, k=None, **options):
    k = codes.max() + 1 if k is None else k
    return LastLayerPosterior.fit(np.zeros((k, features.shape[1])), features, codes, **options)


# -- the evidence -------------------------------------------------------------------------------------------------------


def test_evidence_against_the_exact_one_of_a_gaussian_model():
    """For squared errors of unit variance the approximation is exact: y ~ N(0, I + φ φᵀ / τ)."""
    rng = np.random.default_rng(1)
    phi, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    for tau in (0.1, 1.0, 10.0):
        hessian = phi.T @ phi
        theta = np.linalg.solve(hessian + tau * np.eye(2), phi.T @ y)
        log_likelihood = stats.norm.logpdf(y, phi @ theta).sum()
        found = log_evidence(np.array([tau]), np.linalg.eigvalsh(hessian), log_likelihood, theta @ theta)
        expected = stats.multivariate_normal.logpdf(y, np.zeros(6), np.eye(6) + phi @ phi.T / tau)
        np.testing.assert_allclose(found, [expected])


@pytest.mark.filterwarnings("default")  # of the packages that it imports
@pytest.mark.parametrize("kronecker", [False, True])
def test_laplace_at_the_mode_against_laplace_torch(needs, kronecker):
    """Evidence and Gaussian of the logits; its Kronecker product differs by the mean over instances alone."""
    needs("laplace")
    import laplace

    features, codes = blurred()
    ours = fit(features, codes, kind="laplace", kronecker=kronecker, precision=0.7)
    layer = torch.nn.Linear(4, 3)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(ours.mean[:, :-1]))
        layer.bias.copy_(torch.from_numpy(ours.mean[:, -1]))
    model = torch.nn.Sequential(torch.nn.Identity(), layer).double()
    x = torch.from_numpy(features[:, :-1])
    theirs = laplace.Laplace(
        model, "classification", subset_of_weights="last_layer",
        hessian_structure="kron" if kronecker else "full", prior_precision=0.7,
    )  # fmt: skip
    data = torch.utils.data.TensorDataset(x, torch.from_numpy(codes))
    theirs.fit(torch.utils.data.DataLoader(data, batch_size=len(codes)))
    # its prior has the constant of ln det τ as ours; and its samples of the logits are of the same Gaussian
    tolerance = 0.05 if kronecker else 1e-4
    np.testing.assert_allclose(ours.log_evidence, float(theirs.log_marginal_likelihood()), rtol=tolerance)
    if not kronecker:
        mean, covariance = theirs._glm_predictive_distribution(x[:7])
        found = ours.logits(features[:7])
        np.testing.assert_allclose(found[0], mean.detach().numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[1], covariance.detach().numpy(), rtol=1e-4, atol=1e-6)


# -- "trained" ----------------------------------------------------------------------------------------------------------


def test_trained_weights_are_kept_and_the_grid_is_searched():
    features, codes = blurred()
    theta = np.random.default_rng(0).normal(size=(3, 5))
    chosen = LastLayerPosterior.fit(theta, features, codes, kind="trained")
    for tau in (1e-4, chosen.precision / 2, chosen.precision * 2, 1e4):
        other = LastLayerPosterior.fit(theta, features, codes, kind="trained", precision=tau)
        assert other.log_evidence < chosen.log_evidence
    mean, covariance = chosen.logits(features)
    np.testing.assert_allclose(mean, features @ theta.T)
    assert covariance.shape == (80, 3, 3)


# -- "laplace" ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [separable, blurred])
@pytest.mark.parametrize("precision", [1e-3, 1.0, 100.0])
def test_gradient_of_the_penalised_loss_is_zero_at_the_mode(make, precision):
    features, codes = make()
    theta = torch.tensor(fit(features, codes, kind="laplace", precision=precision).mean, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(
        torch.from_numpy(features) @ theta.T, torch.from_numpy(codes), reduction="sum"
    )
    (loss + precision * (theta**2).sum() / 2).backward()
    np.testing.assert_allclose(theta.grad.numpy(), 0.0, atol=2e-5)


def test_mode_against_logistic_regression():
    features, codes = blurred()
    for tau in (0.05, 2.0):
        expected = LogisticRegression(C=1 / tau, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(features, codes)
        start = np.random.default_rng(0).normal(size=(3, 5)) * 10
        np.testing.assert_allclose(mode(start, features, codes, tau), expected.coef_, atol=1e-5)


@pytest.mark.parametrize("kronecker", [False, True])
@pytest.mark.parametrize("make", [separable, blurred])
def test_precision_of_the_greatest_evidence_at_its_own_mode(make, kronecker):
    features, codes = make()
    chosen = fit(features, codes, kind="laplace", kronecker=kronecker)
    grid = [fit(features, codes, kind="laplace", kronecker=kronecker, precision=t) for t in np.logspace(-4, 4, 33)]
    best = max(grid, key=lambda posterior: posterior.log_evidence)
    assert chosen.log_evidence >= best.log_evidence - 1e-3
    assert abs(np.log(chosen.precision / best.precision)) < 0.6  # a step of the grid


# -- "variational" ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_ones", "n"), [(5, 9), (8, 8), (1, 2)])
def test_variational_against_the_closest_gaussian_by_quadrature(n_ones, n):
    """Two classes and a bias alone: the difference of both is one number with prior N(0, 2 / τ)."""
    tau = 0.5
    codes = (np.arange(n) < n_ones).astype(np.int64)
    found = fit(np.ones((n, 1)), codes, k=2, precision=tau)
    covariance = found.hessian.logit_covariance(np.ones((1, 1)), tau)[0]
    centre = found.mean[1, 0] - found.mean[0, 0]
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()

    def minus_bound(at):
        m, s = at[0], np.exp(at[1])
        z = m + s * nodes
        expected = weights @ (n_ones * log_expit(z) + (n - n_ones) * log_expit(-z))
        return -expected + (m**2 + s**2) * tau / 4 - np.log(s) + 0.5 * np.log(2 / tau) - 0.5

    exact = minimize(minus_bound, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    np.testing.assert_allclose(centre, exact.x[0], atol=0.05)
    np.testing.assert_allclose(variance, np.exp(2 * exact.x[1]), rtol=0.06)
    np.testing.assert_allclose(found.log_evidence, -exact.fun, atol=0.02)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_variational_against_the_exact_posterior_where_classes_are_separable(seed):
    """A feature and a bias, two classes: the posterior of the differences on a grid."""
    rng, tau = np.random.default_rng(seed), 0.05
    codes = np.arange(12) % 2
    x = 3.0 * (2 * codes - 1) + rng.uniform(-2, 2, 12)
    features = np.column_stack([x, np.ones(12)])
    points = np.linspace(-40, 40, 401)
    slope, bias = np.meshgrid(points, points, indexing="ij")
    z = slope[..., None] * x + bias[..., None]
    log_joint = log_expit(np.where(codes, z, -z)).sum(axis=-1) + stats.norm.logpdf(slope, scale=(2 / tau) ** 0.5)
    log_joint += stats.norm.logpdf(bias, scale=(2 / tau) ** 0.5)
    density = np.exp(log_joint) * (points[1] - points[0]) ** 2
    evidence = np.log(density.sum())
    density /= density.sum()
    at = np.array([-5.0, -2.0, -0.5, 0.0, 1.0, 4.0])
    exact = np.array([(density * expit(slope * a + bias)).sum() for a in at])

    def stated(kind):
        posterior = fit(features, codes, kind=kind, precision=tau)
        layers = posterior.sampled_logits(np.column_stack([at, np.ones(6)]), 20_000, np.random.default_rng(0))
        return posterior, softmax(layers, axis=2)[:, :, 1].mean(axis=1)

    variational, close = stated("variational")
    _, laplace = stated("laplace")
    assert np.abs(close - exact).max() < 0.09
    assert np.abs(close - exact)[[0, 1, 5]].max() < 0.3 * np.abs(laplace - exact)[[0, 1, 5]].max()
    assert evidence - 0.5 < variational.log_evidence < evidence + 0.02


@pytest.mark.parametrize("kronecker", [False, True])
def test_mean_gradient_is_zero_and_the_curvature_its_own_mean(kronecker):
    """By other draws than those of the fit."""
    features, codes = separable(n=90)
    found = fit(features, codes, precision=0.5, kronecker=kronecker)
    logits = found.sampled_logits(features, 4000, np.random.default_rng(5))
    probs = softmax(logits, axis=2)
    gradient = (probs.mean(axis=1) - np.eye(3)[codes]).T @ features + 0.5 * found.mean
    step = found.hessian.solve(gradient, 0.5)
    spread = np.sqrt(np.diagonal(found.hessian.logit_covariance(features, 0.5), axis1=1, axis2=2))
    assert (np.abs(features @ step.T) / spread).max() < 0.35  # of the standard deviation of that logit
    own = found.hessian.summed(features, probs)
    assert np.linalg.norm(own - found.hessian.total) < 0.15 * np.linalg.norm(own)


def test_variational_precision_has_the_greatest_bound():
    features, codes = blurred()
    chosen = fit(features, codes)
    bounds = {t: fit(features, codes, precision=t).log_evidence for t in np.logspace(-2, 3, 11)}
    assert chosen.log_evidence > max(bounds.values()) - 0.3
    assert 0.1 < chosen.precision / max(bounds, key=bounds.get) < 10


def test_seed_start_and_chunks(monkeypatch):
    monkeypatch.setattr(last_layer_laplace, "ALL_DRAWS", 2**13)
    features, codes = separable(n=45)
    first = fit(features, codes, seed=3)
    again = fit(features, codes, seed=3)
    np.testing.assert_array_equal(again.mean, first.mean)
    assert again.precision == first.precision
    elsewhere = LastLayerPosterior.fit(np.random.default_rng(0).normal(size=(3, 5)) * 20, features, codes, seed=3)
    np.testing.assert_allclose(elsewhere.mean, first.mean, atol=0.02 * np.abs(first.mean).max())
    other = fit(features, codes, seed=4)
    assert not np.array_equal(other.mean, first.mean)
    np.testing.assert_allclose(other.log_evidence, first.log_evidence, atol=0.5)
    monkeypatch.setattr(last_layer_laplace, "row_chunks", lambda n, size: (slice(i, i + 7) for i in range(0, n, 7)))
    np.testing.assert_allclose(fit(features, codes, seed=3).mean, first.mean, rtol=1e-6, atol=1e-8)


# -- odd data -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kronecker", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        separable(n=60, gap=100.0),
        separable(n=2, k=2),
        (np.ones((3, 1)), np.array([0, 1, 2])),
        (separable(n=40, k=2)[0], (np.arange(40) == 0).astype(np.int64)),  # one instance of a class
        separable(n=12, k=3, d=60),  # more features than instances
        (np.column_stack([np.zeros((20, 3)), np.ones(20)]), np.arange(20) % 2),
        (np.random.default_rng(0).normal(size=(50, 4)) * 1e4, np.arange(50) % 2),
    ],
    ids=["far apart", "two instances", "bias alone", "one of a class", "many features", "constant", "large"],
)
def test_odd_data_give_finite_positive_gaussians(kind, kronecker, data):
    features, codes = data
    found = fit(features, codes, kind=kind, kronecker=kronecker)
    mean, covariance = found.logits(features)
    assert np.isfinite(mean).all()
    assert np.isfinite(found.log_evidence)
    assert 1e-4 <= found.precision <= 1e4 * (1 + 1e-12)
    assert (np.linalg.eigvalsh(covariance) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kronecker", [False, True])
@pytest.mark.parametrize("precision", [1e-8, 1e20])
@pytest.mark.parametrize(
    "data",
    [separable(), blurred(), separable(n=12, k=3, d=60), (separable()[0] * 1e4, separable()[1])],
    ids=["separable", "blurred", "many features", "large"],
)
def test_extreme_precisions(kind, kronecker, precision, data):
    features, codes = data
    found = fit(features, codes, kind=kind, kronecker=kronecker, precision=precision)
    mean, covariance = found.logits(features)
    logits = found.sampled_logits(features, 3, np.random.default_rng(0))
    assert np.isfinite(logits).all()
    assert np.isfinite(found.log_evidence)
    if precision == 1e20 or features.max() < 100:  # else eigenvalues of 0 are rounded to more than τ
        shift = covariance.sum(axis=(1, 2)) / 3  # variance along 1 / √K, of which data say nothing
        np.testing.assert_allclose(shift, (features**2).sum(axis=1) / precision, rtol=1e-3)
    if precision == 1e20:
        np.testing.assert_allclose(mean, 0.0, atol=1e-6)
    elif kind != "trained":
        assert (mean.argmax(axis=1) == codes).mean() > 0.7


def test_only_the_variational_posterior_is_sure_of_what_it_was_trained_on():
    features, codes = separable(n=200, k=4, d=6)
    right = {}
    for kind in ("laplace", "variational"):
        found = fit(features, codes, kind=kind)
        logits = found.sampled_logits(features, 400, np.random.default_rng(0))
        right[kind] = np.exp(log_softmax(logits, axis=2)).mean(axis=1)[np.arange(200), codes].mean()
    assert right["laplace"] < 0.9
    assert right["variational"] > 0.97


# -- bridge to a Dirichlet ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def one_thread_laplace_bridge():
    """Where cores are shared, several threads wait for each other at each of many small steps: ten times as long."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module", autouse=True)
def fewer_draws():
    """A quarter of the draws of the variational posterior for each instance."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("uqassay.lab.methods.laplace.N_DRAWS", 8)
        patched.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 2**13)
        yield


@pytest.fixture(scope="module")
def fitted(digits):
    x, _, y, _ = digits
    return LaplaceBridge(random_state=0).fit(x, y)


@pytest.fixture(scope="module")
def printed(digits):
    """The procedure of the paper."""
    x, _, y, _ = digits
    return LaplaceBridge(posterior="trained", bridge="plain", random_state=0).fit(x, y)


@pytest.fixture(scope="module")
def network(digits):
    x, _, y, _ = digits
    return StandardNetwork(random_state=0).fit(x, y)


def drawn_mean(mean, covariance, n=200):
    """Mean probabilities by draws from Gaussian logits."""
    roots = np.linalg.cholesky(covariance)
    noise = np.random.default_rng(0).normal(size=(n, *mean.shape))
    logits = mean[:, None] + np.einsum("nkl,tnl->ntk", roots, noise)
    return np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)).mean(axis=1)


def entropy(p):
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)


def ece(p, y):
    return expected_calibration_error(p.argmax(axis=1) == y, p.max(axis=1))


def gaussians(n, k, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, k, k)) * spread
    return rng.normal(size=(n, k)) * 3, root @ root.transpose(0, 2, 1)


# -- the bridge ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("bridge", ["plain", "norm", "capped"])
@pytest.mark.parametrize("size", [0.1, 3.0, 20.0])
def test_formula_in_extended_precision(needs, k, bridge, size):
    needs("mpmath")
    import mpmath

    mean, covariance = gaussians(5, k, seed=k, spread=0.3 if size < 1 else 2.0)
    mean *= size
    found = bridge_to_dirichlet(mean, covariance, bridge=bridge)
    with mpmath.workdps(60):
        for i in range(5):
            plane = mpmath.matrix(k, k)
            for a in range(k):
                for b in range(k):
                    plane[a, b] = mpmath.mpf(a == b) - mpmath.mpf(1) / k
            mu = plane * mpmath.matrix(mean[i].tolist())
            sigma = plane * mpmath.matrix(covariance[i].tolist()) * plane
            v = sum(sigma[c, c] for c in range(k)) / k / mpmath.sqrt(mpmath.mpf(k) / 2)
            v = {"plain": mpmath.mpf(1), "norm": v, "capped": max(v, mpmath.mpf(1))}[bridge]
            mu, sigma = mu / mpmath.sqrt(v), sigma / v
            total = sum(mpmath.exp(-m) for m in mu)
            expected = [(1 - mpmath.mpf(2) / k + mpmath.exp(mu[c]) / k**2 * total) / sigma[c, c] for c in range(k)]
            np.testing.assert_allclose(found[i], [float(e) for e in expected], rtol=1e-10)


def test_it_returns_the_dirichlet_whose_gaussian_it_is_given():
    """Mean and covariance of the Gaussian of Dir(α) in the softmax basis, equations 6 and 7 of Hobbhahn et al."""
    alpha = np.array([[3.0, 0.7, 12.0, 1.5], [40.0, 40.0, 0.2, 5.0]])
    k = alpha.shape[1]
    mean = np.log(alpha) - np.log(alpha).mean(axis=1, keepdims=True)
    inverse = 1 / alpha
    covariance = np.einsum("nk,kl->nkl", inverse, np.eye(k)) - (inverse[:, :, None] + inverse[:, None, :]) / k
    covariance += inverse.sum(axis=1)[:, None, None] / k**2
    np.testing.assert_allclose(bridge_to_dirichlet(mean, covariance, bridge="plain"), alpha, rtol=1e-10)
    shift = 7.0 + 5.0 * np.ones((k, k))  # a common shift of the logits, of any size and variance, changes nothing
    np.testing.assert_allclose(bridge_to_dirichlet(mean + 2.0, covariance + shift, bridge="plain"), alpha, rtol=1e-9)


def test_large_logits_keep_the_ratio_of_the_alphas():
    mean = np.array([[800.0, 790.0, -800.0], [1e6, 0.0, -1e6], [0.0, 0.0, 0.0]])
    covariance = np.repeat(np.eye(3)[None], 3, axis=0)
    alpha = bridge_to_dirichlet(mean, covariance, bridge="plain")
    assert np.isfinite(alpha).all()
    np.testing.assert_allclose(alpha[0, 0] / alpha[0, 1], np.exp(10.0))
    np.testing.assert_allclose(alpha[2], bridge_to_dirichlet(np.zeros((1, 3)), np.eye(3)[None], bridge="plain")[0])
    np.testing.assert_allclose(Dirichlet(alpha).mean_probs()[1], [1, 0, 0], atol=1e-300)


def test_odd_inputs_of_the_bridge():
    mean, covariance = gaussians(4, 3)
    expected = bridge_to_dirichlet(mean, covariance)
    mean.flags.writeable = covariance.flags.writeable = False
    np.testing.assert_array_equal(bridge_to_dirichlet(mean, covariance), expected)
    strided = np.repeat(mean, 2, axis=0)[::2], np.repeat(covariance, 2, axis=0)[::2]
    np.testing.assert_allclose(bridge_to_dirichlet(*strided), expected, rtol=1e-12)
    half = bridge_to_dirichlet(mean.astype(np.float16), covariance.astype(np.float16))
    assert half.dtype == np.float64
    np.testing.assert_allclose(half, expected, rtol=0.05)
    assert (bridge_to_dirichlet(mean, np.zeros_like(covariance)) > 0).all()


@pytest.mark.parametrize(
    ("mean", "covariance", "bridge", "parameter", "code"),
    [
        (np.zeros((2, 3)), np.zeros((2, 3)), "plain", "covariance", "shape"),
        (np.zeros((2, 3)), np.zeros((2, 2, 2)), "plain", "covariance", "shape"),
        (np.full((1, 2), np.nan), np.eye(2)[None], "plain", "mean and covariance", "finite"),
        (np.zeros((1, 2)), np.eye(2)[None], "none", "bridge", "choice"),
    ],
)
def test_refusals_of_the_bridge(mean, covariance, bridge, parameter, code):
    with refuses(parameter, code):
        bridge_to_dirichlet(mean, covariance, bridge=bridge)


# -- the method ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_network_is_the_standard_one(digits, fitted, printed, network):
    _, test_x, _, _ = digits
    for net in (fitted, printed):
        for mine, theirs in zip(net.network_.parameters(), network.network_.parameters(), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
    mean, covariance = printed.logit_distribution(test_x)
    assert covariance.shape == (len(test_x), 10, 10)
    np.testing.assert_allclose(torch.softmax(torch.from_numpy(mean), 1), network.predict_proba(test_x), atol=1e-10)


@pytest.mark.slow
def test_as_accurate_as_the_network_and_calibrated(digits, fitted, printed, network):
    _, test_x, _, test_y = digits
    said = fitted.predict_uncertainty(test_x)
    assert isinstance(said, Dirichlet)
    assert (said.labels() == test_y).mean() > network.score(test_x, test_y) - 0.02
    drawn = drawn_mean(*fitted.logit_distribution(test_x))
    assert ece(said.mean_probs(), test_y) < 0.06
    assert ece(drawn, test_y) < 0.04
    assert ece(network.predict_proba(test_x), test_y) < 0.04
    assert ece(drawn_mean(*printed.logit_distribution(test_x)), test_y) > 0.15  # what "trained" is known for


@pytest.mark.slow
def test_less_sure_of_noise(digits, fitted):
    x, test_x, _, _ = digits
    noise = np.random.default_rng(0).normal(x.mean(axis=0), x.std(axis=0), test_x.shape)
    inside, outside = fitted.predict_uncertainty(test_x), fitted.predict_uncertainty(noise)
    for unsure in (lambda said: entropy(said.mean_probs()), lambda said: 10 / said.alpha.sum(axis=1)):
        assert (unsure(inside)[:, None] < unsure(outside)).mean() > 0.85  # the area under the ROC curve
        assert unsure(outside).mean() > 3 * unsure(inside).mean()


@pytest.mark.slow
def test_dirichlet_against_draws_of_the_same_gaussian(digits, fitted, printed):
    """Errors on digits: 0.02 in total variation of the means, 0.09 nats in their entropy.

    For "trained" they are 0.15 and 0.43, and with the formula as printed 0.17 and 0.71.
    """
    _, test_x, _, _ = digits
    error = {}
    for name, net, bridge in (
        ("default", fitted, "capped"),
        ("plain", fitted, "plain"),
        ("trained", printed, "capped"),
        ("printed", printed, "plain"),
    ):
        mean, covariance = net.logit_distribution(test_x)
        drawn = drawn_mean(mean, covariance)
        alpha = bridge_to_dirichlet(mean, covariance, bridge=bridge)
        stated = alpha / alpha.sum(axis=1, keepdims=True)
        variation = np.abs(stated - drawn).sum(axis=1).mean() / 2
        error[name] = (variation, np.abs(entropy(stated) - entropy(drawn)).mean())
    assert error["default"][0] < 0.04
    assert error["default"][1] < 0.15
    for other in ("plain", "trained", "printed"):
        assert error["default"][0] < error[other][0]
        assert error["default"][1] < error[other][1]


@pytest.mark.slow
def test_mnist_images(shared, monkeypatch):
    monkeypatch.setenv("UQASSAY_DATA", str(shared / "data" / "mnist_t10k"))
    data = load_dataset("mnist-10k", rng=0)
    x, y = data.X_train[:1500], data.y_train[:1500]
    test_x, test_y = data.X_test[:800], data.y_test[:800]
    options = {"epochs": 10, "random_state": 0}
    plain = StandardNetwork(**options).fit(x, y)
    net = LaplaceBridge(**options).fit(x, y)
    said = net.predict_uncertainty(test_x)
    assert (said.labels() == test_y).mean() > plain.score(test_x, test_y) - 0.02
    assert ece(said.mean_probs(), test_y) < 0.04
    drawn = drawn_mean(*net.logit_distribution(test_x), n=100)
    assert np.abs(said.mean_probs() - drawn).sum(axis=1).mean() / 2 < 0.04
    noise = np.random.default_rng(0).uniform(size=test_x[:500].shape)
    outside = net.predict_uncertainty(noise)
    assert np.median(10 / outside.alpha.sum(axis=1)) > 100 * np.median(10 / said.alpha.sum(axis=1))
    assert entropy(outside.mean_probs()).mean() > 3 * entropy(said.mean_probs()).mean()


def test_capped_is_plain_where_variances_are_small_and_norm_where_large():
    mean, covariance = gaussians(6, 4)
    for factor, other in ((1e-3, "plain"), (1e3, "norm")):
        capped = bridge_to_dirichlet(mean, covariance * factor, bridge="capped")
        np.testing.assert_array_equal(capped, bridge_to_dirichlet(mean, covariance * factor, bridge=other))


@pytest.mark.slow
def test_members_are_draws_of_the_same_gaussian(digits, fitted):
    x, test_x, y, _ = digits
    few = clone(fitted).set_params(output="members", n_samples=4000, epochs=15, backbone=(16,))
    few.fit(x[:300], y[:300])
    said = few.predict_uncertainty(test_x[:20])
    assert isinstance(said, Members)
    assert said.n_members == 4000
    mean, covariance = few.logit_distribution(test_x[:20])
    # differences of logits are what the softmax keeps
    logits = np.log(said.probs)
    gaps, expected = logits[:, :, 1:] - logits[:, :, :1], mean[:, 1:] - mean[:, :1]
    variance = np.diagonal(covariance, axis1=1, axis2=2)[:, 1:] + covariance[:, :1, 0] - 2 * covariance[:, 0, 1:]
    assert (np.abs(gaps.mean(axis=1) - expected) < 5 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(gaps.var(axis=1), variance, rtol=5 * (2 / 4000) ** 0.5)
    np.testing.assert_allclose(few.predict_uncertainty(test_x[5:9]).probs, said.probs[5:9], atol=1e-10)


def test_covariance_shrinks_with_the_number_of_instances():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1000)
    x = rng.normal(size=(1000, 2)) + np.array([[0, 0], [1, 1], [-1, 1]])[y]
    traces = []
    for n in (50, 200, 1000):
        net = LaplaceBridge(backbone=(8,), prior_precision=1.0, epochs=4000 // n, batch_size=32).fit(x[:n], y[:n])
        covariance = net.logit_distribution(x)[1]
        plane = np.eye(3) - 1 / 3
        traces.append(np.trace(plane @ covariance @ plane, axis1=1, axis2=2).mean())
    assert traces[0] > 2 * traces[1] > 4 * traces[2]


def test_prior_precision_and_kind_of_hessian(digits):
    x, test_x, y, _ = (part[:400] for part in digits)
    base = LaplaceBridge(epochs=10, backbone=(16,))
    chosen = clone(base).fit(x, y).posterior_
    tried = [clone(base).set_params(prior_precision=tau).fit(x, y).posterior_ for tau in (0.01, 1000.0)]
    assert chosen.log_evidence > max(other.log_evidence for other in tried)
    assert [other.precision for other in tried] == [0.01, 1000.0]
    spread = [
        np.trace(p.logits(np.ones((1, 17)))[1][0]) for p in (tried[0], tried[1])
    ]  # the covariance of one instance falls with τ
    assert spread[0] > spread[1]
    auto, full, kronecker = (
        clone(base).set_params(hessian=kind, prior_precision=1.0).fit(x, y).logit_distribution(test_x)[1]
        for kind in ("auto", "full", "kronecker")
    )
    np.testing.assert_array_equal(auto, full)
    ratio = np.trace(kronecker, axis1=1, axis2=2) / np.trace(full, axis1=1, axis2=2)
    assert 0.3 < np.median(ratio) < 1.5


@pytest.mark.parametrize("posterior", ["variational", "laplace", "trained"])
@pytest.mark.parametrize("hessian", ["full", "kronecker"])
@pytest.mark.parametrize("precision", [1e-8, 1e20])
def test_extreme_precisions_of_laplace_bridge(posterior, hessian, precision):
    """The least leaves the classes to the data; the greatest leaves a Dirichlet that knows no class."""
    x, y = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8), [0, 0, 1, 1] * 8
    net = LaplaceBridge(
        posterior=posterior, hessian=hessian, prior_precision=precision, backbone=(8,), epochs=60, learning_rate=0.02
    ).fit(x, y)
    mean, covariance = net.logit_distribution(x)
    probs, variance = net.predict_proba(x), np.diagonal(covariance, axis1=1, axis2=2)
    labels = net.predict(x)
    drawn = net.set_params(output="members", n_samples=5).predict_uncertainty(x)
    assert np.isfinite(probs).all()
    assert np.isfinite(drawn.probs).all()
    assert np.isfinite(net.posterior_.log_evidence)
    if precision < 1:
        assert (labels == y).all()
        assert (variance > 1e6).all()  # of the shift of all logits, which data do not bound
    else:
        assert (variance < 1e-16).all()
        if posterior != "trained":
            np.testing.assert_allclose(mean, 0.0, atol=1e-12)
            np.testing.assert_allclose(probs, 0.5, atol=1e-12)
