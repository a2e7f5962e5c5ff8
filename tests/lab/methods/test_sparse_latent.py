"""The latent process and its natural-gradient steps, against GPyTorch's automatic differentiation and plain linear algebra."""

import copy
import pickle

import numpy as np
import pytest
import torch

from uqassay.lab.methods import sparse_latent
from uqassay.lab.methods.gaussian_process import expected_log_likelihood
from uqassay.lab.methods.sparse_latent import SparseLatent

gpytorch = sparse_latent.gpytorch  # imported there without the warning of its own import
BOTH = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def process(m=12, d=2, *, dtype=torch.float64, lengthscale=1.0, signal_variance=3.0, inducing=None):
    points = numbers(m, d, dtype=dtype) if inducing is None else inducing
    return SparseLatent(points, torch.tensor([lengthscale]), signal_variance)


def labels(n, seed=1, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).integers(2, size=n) - 0.5).to(dtype)


@torch.no_grad()
def step(latent, x, target, *, scale=1.0, rate=1.0):
    a = latent.projection(x)
    _, weight = expected_log_likelihood(target, *latent.moments(x, a))
    return latent.natural_step(a, weight, target, scale=scale, rate=rate)


def precision(latent):
    return -2 * latent.natural.natural_mat


class PolyaGammaLikelihood(gpytorch.likelihoods.Likelihood):
    def forward(self, function_samples):
        raise NotImplementedError

    def expected_log_prob(self, observations, function_dist):
        return expected_log_likelihood(observations, function_dist.mean, function_dist.variance)[0]


@pytest.mark.parametrize("rate", [0.1, 0.7, 1.0])
def test_step_is_that_of_gpytorch_natural_gradient_descent(rate):
    latent, x, target = process(), numbers(40, 2, seed=2), labels(40)
    step(latent, x[:20], target[:20], scale=2.0)  # away from the prior
    theirs = copy.deepcopy(latent).train()
    theirs.variational_strategy.jitter_val = 3e-6  # 1e-6 of the signal variance, as ours
    natural = list(theirs.natural.parameters())
    for p in natural:
        p.requires_grad_(True)
    bound = gpytorch.mlls.VariationalELBO(PolyaGammaLikelihood(), theirs, num_data=400)
    (-bound(theirs(x), target)).backward()
    gpytorch.optim.NGD(natural, num_data=400, lr=rate).step()
    assert step(latent, x, target, scale=10.0, rate=rate) == rate
    scale = precision(latent).abs().max().item()
    torch.testing.assert_close(precision(latent), precision(theirs), rtol=0, atol=1e-4 * scale)
    torch.testing.assert_close(latent.natural.natural_vec, theirs.natural.natural_vec, rtol=0, atol=1e-4 * scale)


def test_moments_are_those_of_the_gpytorch_model():
    latent, x = process(), numbers(30, 2, seed=3)
    step(latent, x, labels(30), scale=3.0)
    latent.in_double()
    latent.variational_strategy.jitter_val = 3e-6
    with torch.no_grad():
        theirs = latent(x)
        mean, variance = latent.moments(x)
        torch.testing.assert_close(mean, theirs.mean, rtol=0, atol=1e-8)
        torch.testing.assert_close(variance, theirs.variance - 3e-6, rtol=0, atol=1e-8)
        far = latent.moments(torch.full((1, 2), 1e3, dtype=torch.float64))
    assert abs(far[0].item()) < 1e-12
    np.testing.assert_allclose(far[1].item(), 3.0)


def test_posterior_against_plain_linear_algebra():
    latent, x, target = process(), numbers(50, 2, seed=4), labels(50)
    step(latent, x, target)
    z, new = latent.inducing.detach().numpy(), numbers(7, 2, seed=5).numpy()

    def kernel(a, b):
        return 3.0 * np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2))

    # from the prior all weights are tanh(c/2) / (2c) with c² = 3
    weight = np.tanh(np.sqrt(3) / 2) / (2 * np.sqrt(3))
    kzz, kzx, kzn = kernel(z, z) + 3e-6 * np.eye(12), kernel(z, x.numpy()), kernel(z, new)
    inner = kzz + weight * kzx @ kzx.T
    mean = kzn.T @ np.linalg.solve(inner, kzx @ target.numpy())
    variance = 3.0 - np.einsum("mn,mn->n", kzn, np.linalg.solve(kzz, kzn) - np.linalg.solve(inner, kzn))
    found = latent.moments(torch.from_numpy(new))
    np.testing.assert_allclose(found[0].detach().numpy(), mean, atol=1e-6)
    np.testing.assert_allclose(found[1].detach().numpy(), variance, atol=1e-6)


@BOTH
@pytest.mark.parametrize("kind", ["plain", "flat kernel", "duplicates", "great variance", "one feature", "narrow"])
def test_steps_keep_the_precision_positive_definite(dtype, kind):
    m, d = 40, 1 if kind == "one feature" else 3
    points = numbers(m, d, dtype=dtype)
    if kind == "duplicates":
        points = points[:5].repeat(8, 1)
    scales = {"flat kernel": 1e4, "narrow": 1e-3}
    variance = 1e6 if kind == "great variance" else 3.0
    latent = process(dtype=dtype, inducing=points, lengthscale=scales.get(kind, 1.0), signal_variance=variance)
    for seed in range(20):
        x, target = numbers(25, d, seed=seed, dtype=dtype), labels(25, seed, dtype)
        if seed % 2:
            x, target = x[:1].expand(25, d), target[:1].expand(25)
        rate = (1.0, 0.1, 0.9)[seed % 3]
        assert step(latent, x, target, scale=1e4, rate=rate) == rate  # never halved
        least, greatest = torch.linalg.eigvalsh(precision(latent))[[0, -1]].tolist()
        assert least > 1 - 1e-14 * m * greatest
        assert all(torch.isfinite(one).all() for one in latent.moments(x))
        assert (latent.moments(x)[1] >= 0).all()


@BOTH
@pytest.mark.parametrize("rate", [1.5, 8.0, 1e6])
def test_steps_that_are_too_long_are_halved(dtype, rate):
    latent = process(dtype=dtype)
    x, target = numbers(60, 2, seed=6, dtype=dtype), labels(60, dtype=dtype)
    taken = [step(latent, x, target, scale=100.0, rate=rate)]
    for seed in range(10):  # another batch asks for less precision in some directions
        taken.append(step(latent, numbers(3, 2, seed=seed, dtype=dtype), target[:3], scale=1.0, rate=rate))
        assert torch.linalg.eigvalsh(precision(latent))[0] > 0
    assert taken[0] == rate  # a long step to greater precision harms nothing
    assert all(0 < one <= rate for one in taken)
    assert min(taken) < rate


def test_a_step_without_a_positive_definite_end_leaves_everything_as_it_is():
    latent = process()
    before = copy.deepcopy(latent.state_dict())
    nan = torch.full((12, 12), torch.nan, dtype=torch.float64)
    assert latent.move(nan[0], nan, 1.0) == 0.0
    for name, value in latent.state_dict().items():
        assert value.equal(before[name]), name


def test_rounding_errors_are_below_those_of_automatic_differentiation():
    points = numbers(40, 1, dtype=torch.float32)
    latent = process(dtype=torch.float32, inducing=points, signal_variance=100.0)
    x, target = numbers(200, 1, seed=7, dtype=torch.float32), labels(200, dtype=torch.float32)
    theirs = copy.deepcopy(latent).train()
    theirs.natural.float()
    natural = list(theirs.natural.parameters())
    for p in natural:
        p.requires_grad_(True)
    bound = gpytorch.mlls.VariationalELBO(PolyaGammaLikelihood(), theirs, num_data=10**6)
    descent = gpytorch.optim.NGD(natural, num_data=10**6, lr=1.0)
    error = []
    for _ in range(5):
        descent.zero_grad()
        (-bound(theirs(x), target)).backward()
        descent.step()
        step(latent, x, target, scale=10**6 / 200)
        # 200 instances in one dimension leave the least eigenvalue to the prior, where it is 1
        least = [
            torch.linalg.eigvalsh(one.double())[0].item()
            for one in (-2 * theirs.natural.natural_mat, precision(latent))
        ]
        error.append(np.abs(np.array(least) - 1))
    error = np.max(error, axis=0)
    assert error[1] < 1e-3
    assert error[0] > 30 * error[1]


def test_divergence_and_pieces_of_a_pass(monkeypatch):
    latent, x, target = process(), numbers(50, 2, seed=8), labels(50)
    np.testing.assert_allclose(latent.divergence().item(), 0.0, atol=1e-12)
    step(latent, x, target, scale=2.0)
    mean = torch.linalg.solve(precision(latent), latent.natural.natural_vec)
    q = torch.distributions.MultivariateNormal(mean, precision_matrix=precision(latent))
    prior = torch.distributions.MultivariateNormal(torch.zeros_like(mean), torch.eye(12, dtype=torch.float64))
    torch.testing.assert_close(latent.divergence(), torch.distributions.kl_divergence(q, prior))
    whole = latent.full_pass(x, target)
    monkeypatch.setattr("uqassay.lab.methods.sparse_latent.CHUNK_BYTES", 8 * 12 * 7)
    pieces = latent.full_pass(x, target)
    np.testing.assert_allclose(pieces[0], whole[0], rtol=1e-12)
    for one, other in zip(pieces[1:], whole[1:], strict=True):
        torch.testing.assert_close(one, other)


@BOTH
def test_copies_and_moves_keep_the_moments(dtype):
    latent, x = process(dtype=dtype), numbers(20, 2, seed=9)
    step(latent, x.to(dtype), labels(20, dtype=dtype))
    latent.in_double()
    expected = latent.moments(x)
    for other in (copy.deepcopy(latent), pickle.loads(pickle.dumps(latent)), latent.on("cpu")):
        for one, two in zip(other.moments(x), expected, strict=True):
            assert one.equal(two)
            assert one.dtype == torch.float64


def test_hyperparameters_stay_in_range():
    latent = process()
    for p in latent.kernel_parameters():
        p.data += 500.0
    latent.keep_in_range()
    np.testing.assert_allclose(latent.covar_module.base_kernel.lengthscale.item(), np.exp(10.0))
    np.testing.assert_allclose(latent.covar_module.outputscale.item(), 3 * np.exp(10.0))
