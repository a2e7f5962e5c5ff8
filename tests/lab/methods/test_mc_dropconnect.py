"""Weights dropped in prediction."""

import numpy as np
import pytest
import torch
from tests.lab.methods.made_up_data import blobs
from tests.refusals import refuses

from uqassay.lab.methods import MCDropConnect
from uqassay.lab.methods.ensembles import DropConnectDense
from uqassay.lab.methods.layers import Draws
from uqassay.lab.methods.networks import GaussianHead


def test_layer_against_weights_dropped_by_hand():
    torch.manual_seed(0)
    layer = DropConnectDense(5, 3, rate=0.4)
    x = torch.randn(1, 7, 5)
    torch.testing.assert_close(layer(x)[0], x[0] @ layer.weight[0] + layer.bias[0])
    for rows in ([7], None):
        (mask,) = Draws([torch.Generator().manual_seed(9)]).keep_weights(0.4, 5, 3)
        assert (mask == 0).any()
        found = layer(x, Draws([torch.Generator().manual_seed(9)], rows))
        torch.testing.assert_close(found[0], x[0] @ (layer.weight[0] * mask) + layer.bias[0])


def test_mean_over_many_passes_is_the_layer_without_drops():
    torch.manual_seed(1)
    layer = DropConnectDense(5, 3, rate=0.3)
    x = torch.randn(1, 4, 5)
    draws = Draws([torch.Generator().manual_seed(seed) for seed in range(4000)])
    passes = layer(x, draws)
    error = passes.std(dim=0) / 4000**0.5
    assert ((passes.mean(dim=0) - layer(x)[0]).abs() < 5 * error).all()


@pytest.mark.parametrize(
    ("backbone", "where", "head", "dropping"),
    [
        ((8, 6), "hidden", "softmax", [False, True, False]),
        ((8, 6), "all", "softmax", [False, True, True]),
        ((8, 6), "all", "gaussian-logits", [False, True, True, True]),
        ("cnn", "hidden", "softmax", [True, False]),
        (torch.nn.Flatten(), "all", "softmax", [True]),
    ],
)
def test_which_layers_drop(backbone, where, head, dropping):
    x, y = np.random.default_rng(0).normal(size=(20, 8, 8)), np.arange(20) % 2
    net = MCDropConnect(backbone=backbone, where=where, head=head, epochs=1, rate=0.5).fit(x, y)
    last = net.network_.head
    heads = [last.mean, last.raw_variance] if isinstance(last, GaussianHead) else [last]
    layers = [layer for layer in (*net.network_.trunk, *heads) if hasattr(layer, "weight")]
    assert [isinstance(layer, DropConnectDense) for layer in layers] == dropping


def test_spread_grows_with_the_rate():
    x, y = blobs()
    spreads = []
    for rate in (0.0, 0.1, 0.3, 0.6):
        net = MCDropConnect(rate=rate, n_samples=20, backbone=(16, 16), epochs=60, learning_rate=0.005).fit(x, y)
        assert net.score(x, y) > 0.9
        spreads.append(net.predict_uncertainty(x).probs.std(axis=1).mean())
    assert spreads[0] < 1e-12
    assert spreads[0] < spreads[1] < spreads[2] < spreads[3]


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"rate": 1.0}, "rate", "range", "got 1.0"),
        ({"n_samples": 2.0}, "n_samples", "type", "got 2.0"),
        ({"where": "last"}, "where", "choice", "got 'last'"),
        ({"backbone": torch.nn.Flatten()}, "where", "conflict", ""),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        MCDropConnect(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        MCDropConnect(**options).check_options((1,), 2)  # without training
