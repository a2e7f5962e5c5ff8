"""From latent Gaussians to predictions, for two classes and more."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, softmax

import uqassay as uq
from uqassay.lab.methods.gaussian_process import latent_prediction, latent_targets, unit_of
from uqassay.lab.methods.local_gaussian_process import rbf_kernel
from uqassay.lab.methods.polya_gamma import (
    expected_log_likelihood,
    log_two_cosh,
    logistic_sites,
    polya_gamma_mean,
    precision,
    site_precisions,
)
from uqassay.predictions.quadrature import softmax_normal


def latents(n=5, k=3):
    g = np.random.default_rng(k)
    return 2.0 * g.normal(size=(n, k)), g.gamma(2.0, size=(n, k))


def test_two_classes_are_logits_with_one_that_is_fixed():
    mean, variance = latents(k=1)
    said = latent_prediction(mean, variance, class_names=("no", "yes"))
    assert isinstance(said, uq.GaussianLogits)
    assert (said.variance_is, said.class_names) == ("epistemic", ("no", "yes"))
    np.testing.assert_array_equal(said.mean[:, 0, 0], 0.0)
    np.testing.assert_array_equal(said.mean[:, 0, 1], mean[:, 0])
    np.testing.assert_array_equal(said.variance[:, 0].sum(axis=1), variance[:, 0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)
    p = expit(mean + np.sqrt(variance) * nodes) @ weights / weights.sum()
    np.testing.assert_allclose(said.mean_probs()[:, 1], p, atol=1e-8)


def test_one_versus_rest_is_the_mean_of_normalised_probabilities():
    mean, variance = latents(k=4)
    said = latent_prediction(mean, variance, n_draws=256)
    assert said.probs.shape == (5, 256, 4)
    z = np.random.default_rng(0).normal(size=(400_000, 4))
    for row in range(5):
        p = expit(mean[row] + np.sqrt(variance[row]) * z)
        expected = (p / p.sum(axis=1, keepdims=True)).mean(axis=0)
        np.testing.assert_allclose(said.mean_probs()[row], expected, atol=6e-3)
    certain = latent_prediction(mean, np.zeros_like(mean), n_draws=3)
    np.testing.assert_allclose(
        certain.probs, (expit(mean) / expit(mean).sum(axis=1, keepdims=True))[:, None].repeat(3, 1)
    )
    assert uq.measures.entropy_decomposition(certain).epistemic.tolist() == [0.0] * 5


def test_members_do_not_depend_on_the_place_of_a_row():
    mean, variance = latents()
    whole = latent_prediction(mean, variance).probs
    np.testing.assert_array_equal(latent_prediction(mean[[3, 1]], variance[[3, 1]]).probs, whole[[3, 1]])


def test_extreme_latents_keep_probabilities():
    said = latent_prediction(np.array([[-800.0, -801.0, -900.0], [800.0, 0.0, -800.0]]), np.zeros((2, 3)), n_draws=1)
    np.testing.assert_allclose(said.mean_probs()[0, :2], expit([1.0, -1.0]), rtol=1e-12)
    np.testing.assert_allclose(said.mean_probs()[1], [2 / 3, 1 / 3, 0.0], rtol=1e-12)


def test_softmax_takes_latents_for_logits():
    mean, variance = latents()
    said = latent_prediction(mean, variance, multiclass="softmax")
    assert isinstance(said, uq.GaussianLogits)
    np.testing.assert_array_equal(said.mean[:, 0], mean)
    np.testing.assert_array_equal(said.variance[:, 0], variance)


@pytest.mark.parametrize("k", [3, 7])
def test_softmax_has_the_exact_mean_and_equal_points_for_equal_rows(k):
    mean, variance = latents(40, k)
    mean[20:], variance[20:] = mean[:20], variance[:20]
    variance[[0, 20]] = 0.0
    said = latent_prediction(mean, variance, multiclass="softmax", n_draws=64)
    points, probs = said.hull_points(), said.mean_probs()
    assert points.shape == (40, 64, k)
    np.testing.assert_array_equal(points[:20], points[20:])
    np.testing.assert_allclose(points.sum(axis=2), 1.0, atol=1e-12)
    assert points.min() >= 0.0
    z = np.random.default_rng(0).normal(size=(200_000, k))
    for row in (0, 1, 7):
        drawn = softmax(mean[row] + np.sqrt(variance[row]) * z, axis=1)
        np.testing.assert_allclose(
            probs[row], drawn.mean(axis=0), atol=5 * drawn.std(axis=0).max() / np.sqrt(len(z)) + 1e-12
        )
    np.testing.assert_allclose(probs, softmax_normal(mean, np.sqrt(variance)), atol=1e-12)
    uncertainty = uq.measures.entropy_decomposition(said)
    np.testing.assert_array_equal(uncertainty.epistemic[:20], uncertainty.epistemic[20:])
    assert uncertainty.epistemic[0] < 1e-12
    np.testing.assert_array_equal(said[[25, 3]].mean_probs(), probs[[25, 3]])


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_saved_prediction_has_the_scores_of_that_in_memory(tmp_path, suffix):
    mean, variance = latents(30, 4)
    said = latent_prediction(mean, variance, multiclass="softmax", class_names=("a", "b", "c", "d"))
    uq.save(said, tmp_path / f"gp{suffix}")
    back = uq.load(tmp_path / f"gp{suffix}")
    np.testing.assert_array_equal(back.hull_points(), said.hull_points())
    y = np.arange(30) % 4
    kept, read = (uq.assay({"gp": one}, y, calibration=())["gp"].columns for one in (said, back))
    assert set(kept) == set(read)
    for name, values in kept.items():
        np.testing.assert_array_equal(read[name], values, err_msg=name)


def test_units_are_powers_of_two():
    assert [unit_of(np.array([value])) for value in (0.0, 1.0, -3e70, 1e-70)] == [1.0] * 4
    for value in (1e100, -1e300, 5e-324, 1e-100):
        unit = unit_of(np.array([0.0, value]))
        assert 1 <= abs(value) / unit < 2
        assert np.frexp(unit)[0] == 0.5
    assert unit_of(np.empty((0, 2))) == 1.0


def test_targets():
    codes = np.array([0, 2, 1, 2])
    assert latent_targets(codes, 3).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert latent_targets(codes % 2, 2).tolist() == [[0], [0], [1], [0]]
    assert latent_targets(np.zeros(2, dtype=np.int64), 2).tolist() == [[0], [0]]


# -- Moments of Pólya-Gamma variables and the bound that they give, against series, quadrature and a search.


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_mean_against_the_series_of_gamma_variables():
    c = np.array([0.0, 1e-9, 1e-3, 9.99e-3, 1.01e-2, 0.5, 3.0, 40.0, 700.0])
    k = np.arange(1, 2_000_001) - 0.5  # PG(1, c) = Σ Gamma(1, 1) / (2π² ((k − ½)² + c² / 4π²))
    series = [(1 / (2 * np.pi**2 * (k**2 + one**2 / (4 * np.pi**2)))).sum() for one in c]
    rest = 1 / (2 * np.pi**2 * k[-1])
    np.testing.assert_allclose(polya_gamma_mean(torch.from_numpy(c)).numpy(), np.array(series) + rest, rtol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mean_and_log_two_cosh_at_the_ends(dtype):
    c = torch.tensor([0.0, 1e-30, 1e4, 1e30], dtype=dtype)
    torch.testing.assert_close(polya_gamma_mean(c), torch.tensor([0.25, 0.25, 5e-5, 5e-31], dtype=dtype))
    torch.testing.assert_close(log_two_cosh(c), torch.tensor([np.log(2), np.log(2), 1e4, 1e30], dtype=dtype))
    assert log_two_cosh(-c).equal(log_two_cosh(c))


def lower(xi, sign, mean, variance):
    """E of the bound of Jaakkola and Jordan at ξ: ln σ(ξ) + (s g − ξ) / 2 − λ (g² − ξ²)."""
    slope = np.tanh(xi / 2) / (4 * xi)
    return log_expit(xi) + (sign * mean - xi) / 2 - slope * (mean**2 + variance - xi**2)


@pytest.mark.parametrize(("mean", "variance"), [(0.3, 0.2), (-2.0, 4.0), (5.0, 0.01), (0.0, 100.0), (1.5, 0.0)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_bound_is_the_best_of_its_family_and_below_the_integral(mean, variance, sign):
    bound, weight = expected_log_likelihood(tensor(sign / 2), tensor(mean), tensor(variance))
    best = minimize_scalar(
        lambda xi: -lower(xi, sign, mean, variance), bounds=(1e-6, 50), method="bounded", options={"xatol": 1e-10}
    )
    np.testing.assert_allclose(bound.item(), -best.fun, rtol=1e-9)
    np.testing.assert_allclose(weight.item(), np.tanh(best.x / 2) / (2 * best.x), rtol=1e-4)
    nodes, shares = np.polynomial.hermite_e.hermegauss(200)
    integral = shares @ log_expit(sign * (mean + np.sqrt(variance) * nodes)) / shares.sum()
    assert bound.item() <= integral + 1e-12
    assert variance > 0 or bound.item() > integral - 1e-12  # without variance the bound is exact


def test_gradient_is_that_of_the_whole_bound():
    mean, variance = tensor(-1.0, 0.0, 2.5).requires_grad_(), tensor(0.5, 2.0, 0.1).requires_grad_()
    target = tensor(0.5, -0.5, 0.5)
    expected_log_likelihood(target, mean, variance)[0].sum().backward()
    step = 1e-6
    for value, gradient in ((mean, mean.grad), (variance, variance.grad)):
        for i in range(3):
            ends = []
            for sign in (1, -1):
                moved = value.detach().clone()
                moved[i] += sign * step
                pair = (moved, variance.detach()) if value is mean else (mean.detach(), moved)
                ends.append(expected_log_likelihood(target, *pair)[0].sum().item())
            np.testing.assert_allclose(gradient[i].item(), (ends[0] - ends[1]) / (2 * step), atol=1e-8)


def test_weights_are_at_most_a_quarter_and_labels_are_symmetric():
    rng = np.random.default_rng(0)
    mean, variance = torch.from_numpy(3 * rng.normal(size=500)), torch.from_numpy(rng.exponential(size=500))
    half = torch.full((500,), 0.5, dtype=torch.float64)
    bound, weight = expected_log_likelihood(half, mean, variance)
    other, same = expected_log_likelihood(-half, -mean, variance)
    assert bound.equal(other)
    assert weight.equal(same)
    assert ((weight > 0) & (weight <= 0.25)).all()
    assert (bound <= np.log(0.5) + np.logaddexp(0, 0)).all()
    assert (bound <= torch.from_numpy(np.log(expit(mean.numpy()))) + 1e-12).all()  # Jensen: ln σ is concave


# -- Closed-form Pólya-Gamma inference against a plain iteration, numerical integration and draws from the prior.


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
