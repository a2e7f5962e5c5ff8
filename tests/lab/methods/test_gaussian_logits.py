"""The head of Gaussian logits: its loss against integration, and its variance against noise that was put in."""

import numpy as np
import pytest
import torch

from uqassay import GaussianLogits
from uqassay.lab.methods import DeepEnsemble, MCDropout
from uqassay.lab.methods import networks as gaussian_logits
from uqassay.lab.methods.layers import Dense, Draws
from uqassay.lab.methods.networks import LEAST_VARIANCE, GaussianHead, sampled_logits_loss


def draws(*seeds, rows):
    return Draws([torch.Generator().manual_seed(seed) for seed in seeds], rows)


def test_loss_against_integration_over_the_difference_of_two_logits():
    mean = torch.tensor([[[0.5, -0.2], [1.0, 2.0]]], dtype=torch.float64)
    spread = torch.tensor([[[0.7, 1.1], [0.0, 2.0]]], dtype=torch.float64)
    y = torch.tensor([[0, 1]])
    found = sampled_logits_loss(mean, spread, y, draws(0, rows=[2]), n_draws=200_000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    for i, (label, other) in enumerate([(0, 1), (1, 0)]):
        gap = float(mean[0, i, label] - mean[0, i, other])
        width = float((spread[0, i] ** 2).sum() ** 0.5)
        expected = (weights / (1 + np.exp(-(gap + width * nodes)))).sum() / weights.sum()
        np.testing.assert_allclose(float(found[0, i]), -np.log(expected), atol=0.01)


def test_without_spread_it_is_the_cross_entropy():
    torch.manual_seed(0)
    mean, y = torch.randn(2, 5, 3), torch.randint(3, (2, 5))
    found = sampled_logits_loss(mean, torch.zeros_like(mean), y, draws(0, 1, rows=[5, 5]))
    expected = torch.nn.functional.cross_entropy(mean.flatten(0, 1), y.flatten(), reduction="none").view(2, 5)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_gradients():
    torch.manual_seed(0)
    mean = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    spread = (torch.rand(2, 3, 4, dtype=torch.float64) + 0.1).requires_grad_()
    y = torch.tensor([[0, 1, 2], [3, 0, 1]])

    def loss(mean, spread):
        return sampled_logits_loss(mean, spread, y, draws(0, 1, rows=[3, 3]), n_draws=7)

    assert torch.autograd.gradcheck(loss, (mean, spread))


def test_head_has_positive_variance_and_a_finite_gradient():
    torch.manual_seed(0)
    head = GaussianHead(Dense(2, 3), Dense(2, 3))
    head.raw_variance.bias.data[:] = -500.0
    x = torch.randn(1, 4, 2)
    mean, variance = head(x)
    torch.testing.assert_close(mean, head.mean(x))
    torch.testing.assert_close(variance, torch.full_like(variance, LEAST_VARIANCE))
    variance.sqrt().sum().backward()
    assert torch.isfinite(head.raw_variance.bias.grad).all()


def noisy(n, seed):
    """Two classes; the label says nothing where the second feature is 1."""
    rng = np.random.default_rng(seed)
    y, noise = rng.integers(2, size=n), rng.integers(2, size=n)
    x = np.column_stack([2.0 * y - 1.0 + 0.3 * rng.normal(size=n), noise])
    return x, np.where(noise == 1, rng.integers(2, size=n), y), noise


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
@pytest.mark.parametrize("method", [DeepEnsemble(n_members=3), MCDropout(n_samples=7, rate=0.1)], ids=str)
def test_variance_is_greater_where_labels_are_noise(method, convention):
    from sklearn.base import clone

    net = clone(method).set_params(
        head="gaussian-logits", convention=convention, backbone=(16,), epochs=60, learning_rate=0.01
    )
    x, y, noise = noisy(300, 0)
    said = net.fit(x, y).predict_uncertainty(x)
    assert isinstance(said, GaussianLogits)
    n_members = getattr(method, "n_members", 7)
    assert said.mean.shape == said.variance.shape == (300, n_members, 2)
    # what the spread does to the softmax is relative to the distance of the means
    gap = np.abs(said.mean[..., 0] - said.mean[..., 1])
    relative = np.sqrt(said.variance.sum(axis=2)) / (gap + 1.0)
    assert relative[noise == 1].mean() > relative[noise == 0].mean()
    clean = noise == 0
    assert (said.labels()[clean] == y[clean]).mean() > 0.95


def test_stated_variance_is_the_output_of_the_head():
    x, y, _ = noisy(60, 1)
    net = DeepEnsemble(n_members=2, head="gaussian-logits", backbone=(4,), epochs=2).fit(x, y)
    said = net.predict_uncertainty(x[:5])
    mean, variance = net.network_(torch.from_numpy(net._prepared(x[:5]))[None].double())
    np.testing.assert_allclose(said.mean, mean.transpose(0, 1), atol=1e-12)
    np.testing.assert_allclose(said.variance, variance.transpose(0, 1), atol=1e-12)
    assert (said.variance_is, said.n_draws) == ("aleatoric", 100)
    assert said.members().n_members == 2  # the networks span the set, not the draws
    many = MCDropout(n_samples=120, head="gaussian-logits", backbone=(4,), epochs=1).fit(x, y).predict_uncertainty(x)
    assert (many.n_draws, many.members().n_members) == (100, 120)


@pytest.mark.parametrize(("rows", "k", "n_draws", "scale"), [((3, 2), 3, 100, 1.0), ((5, 5, 5), 10, 7, 50.0)])
def test_the_closed_gradient_against_autograd_and_few_networks_at_a_time(monkeypatch, rows, k, n_draws, scale):
    def draws():
        return Draws([torch.Generator().manual_seed(m) for m in range(len(rows))], rows)

    torch_rng = torch.Generator().manual_seed(0)
    shape = (len(rows), max(rows), k)
    mean = (scale * torch.randn(shape, generator=torch_rng)).requires_grad_()
    spread = (scale * torch.rand(shape, generator=torch_rng)).requires_grad_()
    y = torch.randint(k, shape[:2], generator=torch_rng)
    outer = torch.randn(shape[:2], generator=torch_rng)
    noise = draws().normal_units(k * n_draws).view(*shape, n_draws)
    log_probs = torch.log_softmax(mean[..., None] + spread[..., None] * noise, dim=2)
    at_label = log_probs.gather(2, y[..., None, None].expand(*shape[:2], 1, n_draws))[:, :, 0]
    expected = np.log(n_draws) - torch.logsumexp(at_label, dim=-1)
    gradients = torch.autograd.grad((expected * outer).sum(), (mean, spread))
    for cache in (1, 2**30):
        monkeypatch.setattr(gaussian_logits, "CACHE_BYTES", cache)
        loss = gaussian_logits.sampled_logits_loss(mean, spread, y, draws(), n_draws)
        torch.testing.assert_close(loss, expected, atol=1e-5 * scale, rtol=1e-5)
        ours = torch.autograd.grad((loss * outer).sum(), (mean, spread))
        torch.testing.assert_close(ours, gradients, atol=1e-5 * scale, rtol=1e-4)
