"""Stacked layers against one network at a time, and random numbers that know of no neighbours."""

import numpy as np
import pytest
import torch
from torch import nn

from uqassay.lab.methods.layers import Dense, Draws, Dropout, Lifted, Network, ReLU, affine


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
