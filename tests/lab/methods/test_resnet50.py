"""ResNet-50 against its published shapes and numbers of parameters, and one bottleneck against its operations."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses
from tests.small_resnet50 import shrink_resnet50
from torch.nn.functional import batch_norm, conv2d

from uqassay.lab.methods import build_method
from uqassay.lab.methods.backbones import N_FEATURES, Bottleneck, ResNet50, make_backbone


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return ResNet50()


def test_parameters_and_places_are_those_published(network):
    """25,557,032 with a head for 1,000 classes."""
    n = sum(p.numel() for p in network.parameters())
    assert n == 23_508_032
    assert n + (N_FEATURES + 1) * 1000 == 25_557_032
    with torch.no_grad():
        x = network.eval().stem(torch.zeros(1, 3, 224, 224))
        assert x.shape == (1, 64, 56, 56)
        shapes = []
        for stage in network.stages:
            x = stage(x)
            shapes.append(tuple(x.shape[1:]))
    assert shapes == [(256, 56, 56), (512, 28, 28), (1024, 14, 14), (2048, 7, 7)]
    assert (
        sum(isinstance(m, torch.nn.Conv2d) for m in network.modules()) == 49 + 4
    )  # 50 layers with the head; shortcuts


def test_initial_weights(network):
    for module in network.modules():
        if isinstance(module, torch.nn.Conv2d):
            fan_out = module.weight[:, 0].numel()
            assert module.bias is None
            np.testing.assert_allclose(float(module.weight.detach().std()), (2 / fan_out) ** 0.5, rtol=0.05)
        if isinstance(module, torch.nn.BatchNorm2d):
            assert bool((module.weight == 1).all())
            assert bool((module.bias == 0).all())


@pytest.mark.parametrize(("inputs", "stride", "projected"), [(16, 1, False), (8, 1, True), (16, 2, True)])
def test_a_bottleneck_by_its_operations(inputs, stride, projected):
    torch.manual_seed(1)
    block, x = Bottleneck(inputs, 4, stride), torch.randn(3, inputs, 6, 6)
    convolutions = [m.weight for m in block.residual if isinstance(m, torch.nn.Conv2d)]
    assert [tuple(w.shape) for w in convolutions] == [(4, inputs, 1, 1), (4, 4, 3, 3), (16, 4, 1, 1)]

    def normalised(x):
        return batch_norm(x, None, None, training=True)

    a = torch.relu(normalised(conv2d(x, convolutions[0])))
    b = torch.relu(normalised(conv2d(a, convolutions[1], stride=stride, padding=1)))
    c = normalised(conv2d(b, convolutions[2]))
    shortcut = normalised(conv2d(x, block.shortcut[0].weight, stride=stride)) if projected else x
    torch.testing.assert_close(block.train()(x), torch.relu(c + shortcut), atol=1e-5, rtol=1e-5)


def test_grey_images_fill_all_channels(network):
    x = torch.randn(2, 32, 32)
    with torch.no_grad():
        network.eval()
        expected = network(torch.stack([x, x, x], dim=1))
        assert expected.shape == (2, N_FEATURES)
        torch.testing.assert_close(network(x), expected)
        torch.testing.assert_close(network(x[:, None]), expected)


@pytest.mark.parametrize("shape", [(31, 32), (3, 32, 31), (2, 32, 32), (5,), (1, 3, 32, 32)])
def test_instances_that_do_not_fit(shape):
    with refuses("X", "shape", got="resnet50"):
        make_backbone("resnet50", shape)


def test_small_images_fit_where_they_are_resized():
    made = make_backbone("resnet50", (28, 28), 32)
    assert (made.n_features, made.hidden, made.image_size, made.convolutional) == (N_FEATURES, (), 32, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("snn", {"optimiser": "sgd", "momentum": 0.9, "augmentation": "shift-flip"}),
        ("deep-ensemble", {"n_members": 2, "parallel": "stacked"}),
        ("mc-dropout", {"n_samples": 3}),
        ("evidential", {}),
        ("laplace-bridge", {}),
        ("ddu", {}),
        ("creinn", {}),
        ("e-cnn", {"n_prototypes": 4}),
        ("rs-nn", {"n_sets": 1}),
    ],
)
def test_every_method_trains_it(method, options, monkeypatch):
    """All in narrow layers: the standard network at its whole depth, the others with one bottleneck in each stage."""
    monkeypatch.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 40)
    shrink_resnet50(monkeypatch, shallow=method != "snn")
    x = np.random.default_rng(0).normal(size=(8, 3, 32, 32))
    net = build_method(method, backbone="resnet50", epochs=1, batch_size=4, **options).fit(x, np.arange(8) % 2)
    probs = net.predict_proba(x)
    np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-5)
    buffers = dict(net.network_.named_buffers())
    means = [value for name, value in buffers.items() if name.endswith("running_mean")]
    assert len(means) == (53 if method == "snn" else 1 + 4 * 4)
    assert all(bool((mean != 0).any()) for mean in means)
