"""Stacked layers against one network at a time; Lipschitz constants against the matrix of the whole layer."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from uqassay.lab.methods.layers import (
    Dense,
    Draws,
    Dropout,
    Lifted,
    Network,
    ReLU,
    ResidualBlock,
    SpectralDense,
    SpectralLayer,
    affine,
    largest_singular_value,
    patches_of_one_value,
    spectrally_normalised,
)


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def joined(layers):
    """Layers of one network each as one layer of all."""
    for name, p in dict(layers[0].named_parameters()).items():
        p.data = torch.cat([dict(layer.named_parameters())[name].data for layer in layers])
    for name, b in dict(layers[0].named_buffers()).items():
        b.data = torch.cat([dict(layer.named_buffers())[name].data for layer in layers])
    return layers[0]


def test_dense_against_linear_layers():
    torch.manual_seed(0)
    layers = [Dense(3, 2) for _ in range(4)]
    plain = []
    for layer in layers:
        linear = nn.Linear(3, 2)
        linear.weight.data, linear.bias.data = layer.weight.data[0].T, layer.bias.data[0, 0]
        plain.append(linear)
        assert layer.weight.abs().max() <= 3**-0.5
    x = torch.randn(4, 5, 3)
    expected = torch.stack([linear(part) for linear, part in zip(plain, x, strict=True)])
    torch.testing.assert_close(joined(layers)(x), expected)


@pytest.mark.parametrize(("of_x", "of_weight"), [(3, 3), (1, 3), (3, 1), (1, 1)])
def test_affine_with_one_input_or_one_network_for_all(of_x, of_weight):
    torch.manual_seed(1)
    x, w, b = torch.randn(of_x, 5, 4), torch.randn(of_weight, 4, 2), torch.randn(of_weight, 1, 2)
    expected = torch.stack([x[m % of_x] @ w[m % of_weight] + b[m % of_weight] for m in range(max(of_x, of_weight))])
    torch.testing.assert_close(affine(x, w, b), expected)


def drawn(draws, what):
    return {
        "keep_units": lambda: draws.keep_units(0.3, 7),
        "sign_units": lambda: draws.sign_units(7),
        "normal_units": lambda: draws.normal_units(7),
        "keep_weights": lambda: draws.keep_weights(0.3, 7, 3),
        "normal_weights": lambda: draws.normal_weights(7, 3),
    }[what]()


KINDS = ("keep_units", "sign_units", "normal_units", "keep_weights", "normal_weights")


@pytest.mark.parametrize("what", KINDS)
def test_draws_of_a_network_whoever_stands_beside_it(what):
    alone = Draws(generators(7), [3])
    beside = Draws(generators(5, 7, 9), [8, 3, 2])
    before = None
    for _ in range(2):  # what was drawn before must not differ either
        mine, ours = drawn(alone, what)[0], drawn(beside, what)[1]
        assert torch.equal(mine, ours[: len(mine)])
        assert before is None or not torch.equal(mine, before)
        before = mine


@pytest.mark.parametrize("what", KINDS)
def test_distribution_of_draws(what):
    draws = Draws(generators(*range(4)), [5000] * 4)
    values = torch.cat([drawn(draws, what).flatten() for _ in range(1 if "units" in what else 400)]).numpy()
    n = len(values)
    if what.startswith("keep"):
        np.testing.assert_allclose(np.unique(values), [0, 1 / 0.7], rtol=1e-6)
        assert abs((values == 0).mean() - 0.3) < 5 * np.sqrt(0.21 / n)
    else:
        assert abs(values.mean()) < 5 / np.sqrt(n)
        assert abs(values.var() - 1) < 8 / np.sqrt(n)
    if what.startswith("sign"):
        np.testing.assert_array_equal(np.unique(values), [-1, 1])


def test_draws_without_rows_are_shared_by_all_instances():
    draws = Draws(generators(0, 1))
    assert draws.keep_units(0.5, 6).shape == (2, 1, 6)
    x = torch.ones(1, 4, 6)
    dropped = Dropout(0.5)(x, Draws(generators(0, 1)))
    assert dropped.shape == (2, 4, 6)
    assert torch.equal(dropped, dropped[:, :1].expand(2, 4, 6))
    assert Dropout(0.5)(x) is x


def small_cnn():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 5))


@pytest.mark.parametrize("vectorised", [False, True, None])
@pytest.mark.parametrize("training", [False, True])
def test_lifted_module_against_the_module(vectorised, training):
    torch.manual_seed(2)
    modules = [small_cnn() for _ in range(3)]
    lifted = joined([Lifted(module, vectorised=vectorised) for module in modules]).train(training)
    x = torch.randn(3, 6, 1, 6, 6)
    before = [module[0].weight.detach().clone() for module in modules]
    expected = torch.stack([module.train(training)(part) for module, part in zip(modules, x, strict=True)])
    found = lifted(x)
    torch.testing.assert_close(found, expected)
    found.square().sum().backward()
    expected.square().sum().backward()
    of_conv = dict(lifted.named_parameters())["0/weight"]
    torch.testing.assert_close(of_conv.grad, torch.stack([m[0].weight.grad for m in modules]), rtol=1e-4, atol=1e-4)
    running = dict(lifted.named_buffers())["1/running_mean"]
    torch.testing.assert_close(running, torch.stack([m[1].running_mean for m in modules]))
    counted = dict(lifted.named_buffers())["1/num_batches_tracked"]
    assert counted.tolist() == [int(training)] * 3
    assert all(torch.equal(a, m[0].weight) for a, m in zip(before, modules, strict=True))


def test_one_input_for_all_lifted_networks():
    torch.manual_seed(3)
    modules = [small_cnn().eval() for _ in range(2)]
    x = torch.randn(1, 4, 1, 6, 6)
    expected = torch.stack([module(x[0]) for module in modules])
    for vectorised in (False, True):
        lifted = joined([Lifted(module, vectorised=vectorised).eval() for module in modules])
        torch.testing.assert_close(lifted(x), expected)


def test_lifted_module_keeps_frozen_parameters_frozen():
    module = small_cnn()
    module[0].requires_grad_(False)
    frozen = {name for name, p in Lifted(module).named_parameters() if not p.requires_grad}
    assert frozen == {"0/weight", "0/bias"}


def test_network_is_head_of_features():
    torch.manual_seed(4)
    network = Network(None, [Dense(4, 3), ReLU(), Dropout(0.5)], Dense(3, 2))
    x = torch.randn(1, 5, 2, 2)
    features = torch.relu(x.flatten(2)[0] @ network.trunk[0].weight[0] + network.trunk[0].bias[0])
    torch.testing.assert_close(network.features(x)[0], features)
    torch.testing.assert_close(network(x)[0], features @ network.head.weight[0] + network.head.bias[0])
    assert network.n_networks == 1
    assert (network.features(x, Draws(generators(0), [5])) == 0).float().mean() > 0.2


# -- Lipschitz constants of normalised layers --------------------------------------------------------------------------


def matrix_of(layer, shape):
    """The linear map of a layer on inputs of a shape, (values of the output, values of the input)."""
    size = int(np.prod(shape))
    with torch.no_grad():
        return (layer(torch.eye(size).view(size, *shape)) - layer(torch.zeros(1, *shape))).flatten(1).T


def norm_of(matrix):
    return float(torch.linalg.matrix_norm(matrix.detach(), ord=2))


@pytest.mark.parametrize("scale", [0.1, 10.0])
@pytest.mark.parametrize("coefficient", [0.9, 3.0])
def test_dense_layer(scale, coefficient):
    torch.manual_seed(0)
    layer = SpectralDense(7, 5, coefficient=coefficient)
    layer.weight.data *= scale
    before = norm_of(layer.weight[0])
    layer.eval()
    used = layer.normalised_weight()[0]
    np.testing.assert_allclose(norm_of(used), min(before, coefficient), rtol=1e-5)
    if before <= coefficient:
        torch.testing.assert_close(used, layer.weight[0])  # a layer within the bound is left alone
    x, other = torch.randn(2, 1, 50, 7)
    moved = ((layer(x) - layer(other)).norm(dim=-1) / (x - other).norm(dim=-1)).detach()
    assert float(moved.max()) <= coefficient * (1 + 1e-5)
    torch.testing.assert_close(layer(x)[0], x[0] @ used + layer.bias[0])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Linear(6, 4), (6,)),
        (nn.Conv1d(2, 3, 5, padding=2), (2, 12)),
        (nn.Conv2d(2, 4, 3, padding=1), (2, 7, 7)),
        (nn.Conv2d(2, 4, 3, stride=2, padding=1), (2, 8, 8)),
        (nn.Conv2d(3, 2, (1, 5), stride=(1, 2), dilation=(1, 2)), (3, 3, 14)),
        (nn.Conv2d(4, 4, 3, groups=2, padding=2, dilation=2), (4, 6, 6)),
        (nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular"), (2, 5, 5)),
        (nn.Conv3d(1, 2, 2), (1, 4, 4, 4)),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("ones", [False, True])
def test_layer_of_one_network_against_its_whole_matrix(layer, shape, ones):
    torch.manual_seed(0)
    with torch.no_grad():  # kernels of ones come nearest to the bound
        layer.weight.copy_(torch.ones_like(layer.weight) if ones else 5 * torch.randn_like(layer.weight))
    normed = spectrally_normalised(layer, 0.8).eval()
    assert isinstance(normed, SpectralLayer)
    found = norm_of(matrix_of(normed, shape))
    assert found <= 0.8 * (1 + 1e-5)
    assert found > 0.8 / patches_of_one_value(layer) * (1 - 1e-5)
    bare = norm_of(matrix_of(layer, shape))
    assert bare <= norm_of(layer.weight.flatten(1)) * patches_of_one_value(layer) ** 0.5 * (1 + 1e-5)


def test_power_iteration_finds_the_singular_value_and_its_gradient():
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(2, 6, 4))
    direction = torch.nn.functional.normalize(torch.randn(2, 4), dim=-1)
    for _ in range(200):
        sigma = largest_singular_value(weight, direction, exact=False)
    expected = torch.linalg.svdvals(weight)[:, 0]
    torch.testing.assert_close(sigma, expected, rtol=1e-5, atol=0)
    (found,) = torch.autograd.grad(sigma.sum(), weight)
    (true,) = torch.autograd.grad(torch.linalg.svdvals(weight)[:, 0].sum(), weight)
    torch.testing.assert_close(found, true, rtol=1e-3, atol=1e-4)


def test_against_the_one_of_torch():
    """A layer far above the bound has then the singular value 1 in both."""
    torch.manual_seed(0)
    layer = nn.Linear(6, 4)
    layer.weight.data *= 20
    ours = spectrally_normalised(layer, 1.0)
    theirs = spectral_norm(layer, n_power_iterations=200)
    x = torch.randn(5, 6)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours.train()(x), theirs(x), rtol=1e-2, atol=1e-2)


def test_all_layers_inside_a_module_and_the_given_one_untouched():
    given = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    )
    normed = spectrally_normalised(given, 2.0)
    assert [type(layer).__name__ for layer in normed] == ["SpectralLayer", "BatchNorm2d", "Sequential"]
    assert isinstance(normed[2][2], SpectralLayer)
    assert isinstance(given[0], nn.Conv2d)
    assert isinstance(given[2][2], nn.Linear)
    assert normed[0].layer.weight is not given[0].weight


@pytest.mark.parametrize("vectorised", [False, True])
def test_lifted_layers_keep_a_direction_for_each_network(vectorised):
    torch.manual_seed(0)
    modules = [spectrally_normalised(nn.Conv2d(1, 2, 3), 0.5) for _ in range(2)]
    x = torch.randn(2, 3, 1, 5, 5)
    stack = Lifted(modules[0], vectorised=vectorised)
    for (name, tensor), other in zip(
        [*stack.named_parameters(), *stack.named_buffers()],
        [*modules[1].parameters(), *modules[1].buffers()],
        strict=True,
    ):
        assert len(tensor) == 1, name
        tensor.data = torch.cat([tensor.data, other.detach()[None]])
    stack.train()
    found = stack(x)
    for m, module in enumerate(modules):
        torch.testing.assert_close(found[m], module.train()(x[m]), rtol=1e-4, atol=1e-5)
        kept = next(buffer for name, buffer in stack.named_buffers())
        torch.testing.assert_close(kept[m], module.direction, rtol=1e-4, atol=1e-5)


def test_residual_block_keeps_distances():
    torch.manual_seed(0)
    layer = SpectralDense(5, 5, coefficient=0.7)
    layer.weight.data *= 30
    block = ResidualBlock(layer).eval()
    x, other = torch.randn(2, 1, 200, 5)
    moved = ((block(x) - block(other)).norm(dim=-1) / (x - other).norm(dim=-1)).detach()
    assert float(moved.min()) >= 0.3 - 1e-5
    assert float(moved.max()) <= 1.7 + 1e-5
