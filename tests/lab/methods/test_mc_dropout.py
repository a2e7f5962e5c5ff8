"""Dropout in prediction: passes are networks, and a higher rate spreads them."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses

from uqassay.lab.methods import MCDropout, StandardNetwork
from uqassay.lab.methods.layers import Draws, Dropout


@pytest.mark.parametrize("where", ["all", "last"])
def test_spread_grows_with_the_rate(digits, where):
    x, test_x, y, test_y = digits
    spreads = []
    for rate in (0.0, 0.1, 0.3, 0.6):
        net = MCDropout(rate=rate, where=where, n_samples=20, epochs=20, learning_rate=0.003).fit(x, y)
        said = net.predict_uncertainty(test_x)
        spreads.append(said.probs.std(axis=1).mean())
        assert (said.labels() == test_y).mean() > 0.93
    assert spreads[0] < 1e-12
    assert spreads[0] < spreads[1] < spreads[2] < spreads[3]


def test_rate_zero_is_the_standard_network(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16,), "epochs": 2}
    plain = StandardNetwork(**options).fit(x, y).predict_proba(test_x)
    dropped = MCDropout(rate=0.0, n_samples=2, **options).fit(x, y).predict_uncertainty(test_x).probs
    np.testing.assert_allclose(dropped, np.repeat(plain[:, None], 2, axis=1), atol=1e-9)


def test_numbers_of_numpy_are_numbers():
    x, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    net = MCDropout(backbone=(np.int64(4),), epochs=np.int64(1), n_samples=np.int32(3), rate=np.float32(0.2)).fit(x, y)
    assert net.predict_uncertainty(x).n_members == 3


def test_layers_with_dropout():
    x, y = np.random.default_rng(0).normal(size=(20, 8, 8)), np.arange(20) % 2
    for backbone, where, expected in (
        ((6, 5), "all", [False, False, True, False, False, True]),
        ((6, 5), "last", [False, False, False, False, True]),
        ("cnn", "all", [False, False, True]),
        (torch.nn.Flatten(), "all", [True]),
    ):
        net = MCDropout(backbone=backbone, where=where, epochs=1, rate=0.5).fit(x, y)
        assert [isinstance(layer, Dropout) for layer in net.network_.trunk] == expected
        members = net.predict_uncertainty(x[:2]).probs
        assert np.abs(members[:, 0] - members[:, 1]).max() > 1e-6


def test_a_member_is_one_network_for_all_instances(digits):
    """A pass against the same network with the units it dropped taken out by hand."""
    x, test_x, y, _ = digits
    net = MCDropout(backbone=(12,), rate=0.4, n_samples=6, epochs=2).fit(x, y)
    hidden = net.network_.trunk[:2]
    inputs = torch.from_numpy(net._prepared(test_x)).double()[None]
    features = hidden[1](hidden[0](inputs))[0]
    probs = net.predict_uncertainty(test_x).probs
    seeds = net._seeds("passes").generate_state(6)
    for t, seed in enumerate(seeds):
        mask = Draws([torch.Generator().manual_seed(int(seed))]).keep_units(0.4, 12)[0]
        logits = (features * mask) @ net.network_.head.weight[0] + net.network_.head.bias[0]
        np.testing.assert_allclose(probs[:, t], torch.softmax(logits, 1).numpy(), atol=1e-6)
    np.testing.assert_allclose(net.predict_uncertainty(test_x[5:9]).probs, probs[5:9], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"rate": 1.0}, "rate", "range", "got 1.0"),
        ({"rate": -0.1}, "rate", "range", "got -0.1"),
        ({"n_samples": 0}, "n_samples", "range", "got 0"),
        ({"where": "first"}, "where", "choice", "got 'first'"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        MCDropout(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        MCDropout(**options).check_options((1,), 2)  # without training
