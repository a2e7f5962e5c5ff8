"""Moments of Pólya-Gamma variables and the bound that they give, against series, quadrature and a search."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit

from uqassay.lab.methods.gaussian_process import expected_log_likelihood, log_two_cosh, polya_gamma_mean


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
