"""The Flipout layer against weights drawn by hand and against bayesian-torch; the divergence against integration."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tests.lab.methods.made_up_data import blobs

from uqassay import GaussianLogits
from uqassay.lab.methods import Flipout, StandardNetwork
from uqassay.lab.methods.flipout import FlipoutDense, kl_to_prior
from uqassay.lab.methods.layers import Draws, Network
from uqassay.lab.methods.networks import GaussianHead
from uqassay.lab.methods.training import Batch


def draws(*seeds, rows=None):
    return Draws([torch.Generator().manual_seed(seed) for seed in seeds], rows)


def random_layer(inputs=5, outputs=3, seed=0):
    torch.manual_seed(seed)
    layer = FlipoutDense(inputs, outputs, initial_rho=-1.0)
    layer.rho.data += 0.3 * torch.randn_like(layer.rho)
    return layer


# -- the layer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[7], None])
def test_layer_against_the_weights_of_each_instance(rows):
    layer = random_layer()
    x = torch.randn(1, 7, 5)
    torch.testing.assert_close(layer(x)[0], x[0] @ layer.weight[0] + layer.bias[0])
    again = draws(9, rows=rows)
    deviation = torch.nn.functional.softplus(layer.rho[0]) * again.normal_weights(5, 3)[0]
    signs_in = again.sign_units(5)[0].expand(7, 5)
    signs_out = again.sign_units(3)[0].expand(7, 3)
    found = layer(x, draws(9, rows=rows))[0]
    for i in range(7):
        weights = layer.weight[0] + deviation * torch.outer(signs_in[i], signs_out[i])
        torch.testing.assert_close(found[i], x[0, i] @ weights + layer.bias[0, 0], atol=1e-5, rtol=1e-5)


def test_passes_have_the_mean_and_variance_of_the_posterior():
    layer = random_layer()
    x = torch.randn(1, 4, 5)
    passes = layer(x, draws(*range(4000))).detach()
    variance = (x[0].square() @ layer.scale[0].square()).detach()
    assert ((passes.mean(dim=0) - layer(x)[0].detach()).abs() < 5 * (variance / 4000).sqrt()).all()
    torch.testing.assert_close(passes.var(dim=0), variance, rtol=5 * (2 / 4000) ** 0.5, atol=0)


def test_instances_of_a_batch_are_uncorrelated_in_training_alone():
    layer = random_layer(outputs=1)
    x = torch.ones(1, 2, 5)
    seeds = range(2000)
    apart = torch.stack([layer(x, draws(seed, rows=[2]))[0, :, 0] for seed in seeds]).detach()
    assert abs(np.corrcoef(apart.numpy().T)[0, 1]) < 5 / 2000**0.5
    together = layer(x, draws(*seeds)).detach()[..., 0]
    torch.testing.assert_close(together[:, 0], together[:, 1])


def test_gradients():
    torch.manual_seed(0)
    mean = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    rho = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    for scales in ((2.0,), (5.0, 2.0)):
        assert torch.autograd.gradcheck(
            lambda m, r, s=scales: kl_to_prior(m, torch.nn.functional.softplus(r), s, draws(0, 1)), (mean, rho)
        )
    layer = random_layer().double()
    x = torch.randn(1, 4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: layer(x, draws(3, rows=[4])), x)


# -- the divergence -----------------------------------------------------------------------------------------------------


def test_divergence_from_one_gaussian_against_torch():
    torch.manual_seed(0)
    mean, scale = torch.randn(2, 4, 3), torch.rand(2, 4, 3) + 0.1
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(normal(mean, scale), normal(0.0, 1.7)).sum(dim=(1, 2))
    torch.testing.assert_close(kl_to_prior(mean, scale, (1.7,), draws(0, 1)), expected)


@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 0.05), (1.5, 1.0), (-8.0, 3.0)])
def test_divergence_from_the_mixture_against_integration(mu, sigma):
    def integrand(w):
        q = stats.norm.pdf(w, mu, sigma)
        return q * (stats.norm.logpdf(w, mu, sigma) - np.log((stats.norm.pdf(w, 0, 5) + stats.norm.pdf(w, 0, 2)) / 2))

    expected = quad(integrand, mu - 9 * sigma, mu + 9 * sigma, epsabs=1e-10, limit=200)[0]
    n = 40_000
    shape = (1, n, 1)  # n weights with the same posterior: their sum is n estimates of the same divergence
    each = [kl_to_prior(torch.full(shape, mu), torch.full(shape, sigma), (5.0, 2.0), draws(seed)) for seed in range(4)]
    found = float(torch.cat(each).mean()) / n
    drawn = stats.norm.rvs(mu, sigma, size=2000, random_state=0)
    spread = np.log((stats.norm.pdf(drawn, 0, 5) + stats.norm.pdf(drawn, 0, 2)) / 2).std()
    np.testing.assert_allclose(found, expected, atol=5 * spread / (4 * n) ** 0.5 + 1e-5)


def test_a_mixture_of_equals_is_one_gaussian_on_average():
    torch.manual_seed(0)
    mean, scale = torch.randn(1, 300, 200), torch.rand(1, 300, 200) + 0.1
    one = kl_to_prior(mean, scale, (2.0,), draws(0)) / mean.numel()
    two = kl_to_prior(mean, scale, (2.0, 2.0), draws(1)) / mean.numel()
    torch.testing.assert_close(one, two, atol=0.005, rtol=0)


def test_loss_adds_the_divergence_of_every_random_layer():
    x, y = blobs()
    net = Flipout(backbone=(4, 3), where="all", prior_scales=(2.0,), kl_weight=0.5, epochs=1).fit(x, y)
    layers = [module for module in net.network_.modules() if isinstance(module, FlipoutDense)]
    assert len(layers) == 3
    outputs = torch.randn(1, 6, 3, dtype=torch.float64)
    labels = torch.from_numpy(y[:6])[None]
    batch = Batch(labels, torch.zeros(1, 1), torch.tensor([[60.0]]), draws(0, rows=[6]))
    normal = torch.distributions.Normal
    kl = sum(torch.distributions.kl_divergence(normal(l.weight, l.scale), normal(0.0, 2.0)).sum() for l in layers)
    expected = torch.nn.functional.cross_entropy(outputs[0], labels[0], reduction="none") + 0.5 * kl / 60
    torch.testing.assert_close(net._loss(net.network_, outputs, batch)[0], expected)


# -- against bayesian-torch ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_layer_and_divergence_against_bayesian_torch(needs, monkeypatch):
    needs("bayesian_torch")
    from bayesian_torch.layers.flipout_layers.linear_flipout import LinearFlipout

    ours = random_layer(inputs=5, outputs=3)
    theirs = LinearFlipout(5, 3, prior_mean=0.0, prior_variance=1.7, bias=False)
    theirs.mu_weight.data = ours.weight.data[0].T.clone()
    theirs.rho_weight.data = ours.rho.data[0].T.clone()
    ours.bias.data.zero_()

    # the same numbers for both: theirs are drawn in place, the weights' noise first, then signs of inputs and outputs
    noise = draws(4, rows=[7])
    epsilon, signs_in, signs_out = noise.normal_weights(5, 3)[0], noise.sign_units(5)[0], noise.sign_units(3)[0]
    monkeypatch.setattr(torch.Tensor, "normal_", lambda self: self.copy_(epsilon.T))
    signs = {5: signs_in, 3: signs_out}
    monkeypatch.setattr(torch.Tensor, "uniform_", lambda self, low, high: self.copy_(signs[self.shape[-1]]))
    x = torch.linspace(-2, 2, 35).view(1, 7, 5)
    expected, kl = theirs(x[0])
    monkeypatch.undo()

    torch.testing.assert_close(ours(x, draws(4, rows=[7]))[0], expected)
    # "prior_variance" is used as a standard deviation there, and the divergence is the mean over weights, not their sum
    torch.testing.assert_close(kl_to_prior(ours.weight, ours.scale, (1.7,), draws(0))[0] / 15, kl)


# -- the method ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backbone", "where", "head", "random"),
    [
        ((8, 6), "hidden", "softmax", [False, True, False]),
        ((8, 6), "all", "softmax", [True, True, True]),
        ((8, 6), "all", "gaussian-logits", [True, True, True, True]),
        ("cnn", "hidden", "softmax", [True, False]),
        (torch.nn.Flatten(), "all", "softmax", [True]),
    ],
)
def test_which_layers_are_random(backbone, where, head, random):
    x, y = np.random.default_rng(0).normal(size=(20, 8, 8)), np.arange(20) % 2
    net = Flipout(backbone=backbone, where=where, head=head, epochs=1).fit(x, y)
    assert isinstance(net.network_, Network)
    last = net.network_.head
    heads = [last.mean, last.raw_variance] if isinstance(last, GaussianHead) else [last]
    layers = [layer for layer in (*net.network_.trunk, *heads) if hasattr(layer, "weight")]
    assert [isinstance(layer, FlipoutDense) for layer in layers] == random
    said = net.predict_uncertainty(x[:2])
    sample = said.mean if isinstance(said, GaussianLogits) else said.probs
    assert np.abs(sample[:, 0] - sample[:, 1]).max() > 1e-6


def test_without_noise_and_divergence_it_is_the_standard_network():
    x, y = blobs()
    options = {"backbone": (8, 6), "epochs": 4}
    plain = StandardNetwork(**options).fit(x, y).predict_proba(x)
    still = Flipout(n_samples=3, initial_rho=-20.0, kl_weight=0.0, **options).fit(x, y).predict_uncertainty(x).probs
    np.testing.assert_allclose(still, np.repeat(plain[:, None], 3, axis=1), atol=1e-5)


def test_learns_digits_and_is_less_sure_with_fewer_instances():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x, y, test_size=0.5, stratify=y, random_state=0)
    spread = []
    for n in (60, len(y)):
        net = Flipout(epochs=15 * len(y) // n, learning_rate=0.01, n_samples=20).fit(x[:n], y[:n])
        said = net.predict_uncertainty(test_x)
        scale = net.network_.trunk[2].scale
        spread.append((float(scale.mean()), said.probs.std(axis=1).mean()))
    assert (said.labels() == test_y).mean() > 0.93
    assert spread[0][0] > spread[1][0]
    assert spread[0][1] > spread[1][1]


def test_a_stronger_divergence_brings_the_posterior_to_the_prior():
    x, y = blobs(30)
    scales = []
    for weight in (0.0, 1.0, 100.0):
        net = Flipout(
            backbone=(6,), kl_weight=weight, prior_scales=(0.5,), initial_rho=-2.0, epochs=200, learning_rate=0.04
        ).fit(x, y)
        scales.append(net.network_.trunk[0].scale.mean().item())
    assert scales[0] < scales[1] < scales[2]
    np.testing.assert_allclose(scales[2], 0.5, atol=0.05)
