"""Lipschitz constants of normalised layers, of which the exact one comes from the matrix of the whole layer."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from uqassay.lab.methods.layers import (
    Lifted,
    ResidualBlock,
    SpectralDense,
    SpectralLayer,
    largest_singular_value,
    patches_of_one_value,
    spectrally_normalised,
)


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
