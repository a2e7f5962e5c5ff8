"""The three Gaussians of a last layer: against automatic differentiation, scikit-learn, laplace-torch and exact posteriors."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from uqassay.lab.methods import laplace as last_layer_laplace
from uqassay.lab.methods.laplace import KINDS, LastLayerPosterior, log_evidence, mode


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
