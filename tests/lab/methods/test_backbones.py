"""Bodies of networks by name and by module."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses
from tests.small_resnet50 import shrink_resnet50
from torch import nn
from torch.nn.functional import batch_norm, conv2d

from uqassay.lab.methods import DeepEnsemble, StandardNetwork, build_method
from uqassay.lab.methods.backbones import N_FEATURES, Bottleneck, ResNet50, make_backbone


@pytest.mark.parametrize(
    ("backbone", "shape", "n_inputs", "hidden"),
    [
        ("mlp", (5,), 5, (64, 64)),
        ((32, 32, 16), (13,), 13, (32, 32, 16)),
        ([7], (2, 3), 6, (7,)),
        ((), (5,), 5, ()),
        ("cnn", (3, 32, 32), 64 * 4 * 4, (64,)),
        ("cnn", (28, 28), 64 * 3 * 3, (64,)),
        ("cnn", (8, 8), 64, (64,)),
        ("cnn-small", (1, 28, 28), 64 * 7 * 7, (64,)),
        ("cnn-valid", (3, 32, 32), 64 * 4 * 4, (64,)),
        ("cnn-valid", (18, 18), 64, (64,)),
        ("eeg-max-norm", (22, 513), 40 * ((513 - 12 - 35) // 7 + 1), (32,)),
        ("eeg", (22, 768), 40 * ((768 - 12 - 35) // 7 + 1), (32,)),
        ("eeg", (4, 47), 40, (32,)),
        (nn.Flatten(), (3, 4), 12, ()),
        (nn.Flatten, (3, 4), 12, ()),
    ],
)
def test_sizes(backbone, shape, n_inputs, hidden):
    made = make_backbone(backbone, shape)
    assert (made.n_inputs, made.hidden) == (n_inputs, hidden)
    assert made.n_features == (hidden[-1] if hidden else n_inputs)
    assert made.convolutional == (not isinstance(backbone, (tuple, list)) and backbone != "mlp")
    x = torch.zeros(1, 2, *shape)
    out = x.flatten(2) if made.extractor() is None else made.extractor()(x)
    assert out.shape == (1, 2, n_inputs)


def n_parameters(backbone, shape):
    made = make_backbone(backbone, shape)
    return sum(p.numel() for p in made.extractor().parameters())


def test_parameters_against_counts_by_hand():
    assert n_parameters("cnn", (3, 32, 32)) == (27 * 64 + 64) + 2 * (576 * 64 + 64)
    assert n_parameters("cnn-small", (3, 32, 32)) == (27 * 32 + 32) + (288 * 64 + 64) + (576 * 64 + 64)
    # 1 × 13 temporal, 22 × 1 spatial, scale and shift of the batch norm
    assert n_parameters("eeg", (22, 768)) == (13 * 40 + 40) + (40 * 22 * 40 + 40) + 80
    assert n_parameters("cnn-valid", (3, 32, 32)) == n_parameters("cnn-small", (3, 32, 32))
    assert n_parameters("eeg-max-norm", (22, 768)) == n_parameters("eeg", (22, 768)) - 40


@pytest.mark.parametrize(
    ("backbone", "shape", "parameter", "code", "got"),
    [
        ("vit", (5,), "backbone", "choice", "got 'vit'"),
        ((64, 0), (5,), "backbone", "type", r"got \(64, 0\)"),
        (3.5, (5,), "backbone", "type", "got 3.5"),
        ("cnn", (5,), "X", "shape", r"cnn.*got \(5,\)"),
        ("cnn", (3, 7, 8), "X", "shape", r"8 × 8; got \(3, 7, 8\)"),
        ("cnn-valid", (17, 18), "X", "shape", r"18 × 18; got \(17, 18\)"),
        ("eeg-max-norm", (22, 46), "X", "shape", r"47 .*; got \(22, 46\)"),
        ("eeg", (22, 46), "X", "shape", r"47 .*; got \(22, 46\)"),
        (nn.Linear(4, 3), (5,), "backbone", "shape", r"\(2, 5\); .* RuntimeError"),
        (nn.Identity(), (2, 5), "backbone", "shape", r"returned \(2, 2, 5\)"),
        (nn.LSTM(5, 3), (5,), "backbone", "shape", "returned tuple"),
        (lambda: 3, (5,), "backbone", "type", "returned int"),
    ],
)
def test_refusals(backbone, shape, parameter, code, got):
    with refuses(parameter, code, got=got):
        make_backbone(backbone, shape)


def images(n=40, seed=0):
    """A bright half, upper or lower."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 1, 8, 8))
    x[np.arange(n)[y == 0], :, :4] += 2
    x[np.arange(n)[y == 1], :, 4:] += 2
    return x, y


@pytest.mark.parametrize("backbone", ["cnn", "cnn-small", "mlp"])
@pytest.mark.parametrize("channels", [True, False])
def test_images_are_learnt(backbone, channels):
    x, y = images()
    x = x if channels else x[:, 0]
    net = StandardNetwork(backbone=backbone, epochs=8, batch_size=16, learning_rate=0.003).fit(x, y)
    test_x, test_y = images(seed=1)
    assert net.score(test_x if channels else test_x[:, 0], test_y) > 0.9
    np.testing.assert_allclose(net.predict_proba(x[:1]), net.predict_proba(x)[:1], atol=1e-5)


@pytest.mark.parametrize("backbone", ["eeg", "eeg-max-norm"])
def test_recordings_are_learnt(backbone):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    wave = np.sin(np.arange(100) * 0.8)
    x = rng.normal(size=(60, 3, 100)) + 2.0 * np.where(y[:, None, None] == [[[0]], [[0]], [[1]]][0], wave, 0)
    net = StandardNetwork(backbone=backbone, epochs=30, batch_size=16, learning_rate=0.003).fit(x[:40], y[:40])
    assert net.score(x[40:], y[40:]) > 0.9


def test_filters_keep_a_norm_of_at_most_two():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3, 60)), np.arange(30) % 2
    options = {"epochs": 20, "batch_size": 10, "learning_rate": 0.5}
    nets = [StandardNetwork(backbone=name, **options).fit(x, y) for name in ("eeg", "eeg-max-norm")]
    free, bounded = (
        [p.flatten(2).norm(dim=2) for p in net.network_.extractor.parameters() if p.ndim == 5] for net in nets
    )
    assert max(float(lengths.max()) for lengths in free) > 4
    slow = StandardNetwork(backbone="eeg-max-norm", epochs=1, learning_rate=1e-6).fit(x, y).network_.extractor
    assert all(float(p.flatten(2).norm(dim=2).max()) < 1.5 for p in slow.parameters() if p.ndim == 5)  # as they began
    for lengths in bounded:
        assert lengths.shape[1] == 40
        assert float(lengths.max()) == pytest.approx(2, abs=1e-5)  # some reach it, none exceeds it


class WithDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.dropout = nn.Linear(64, 6), nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(torch.relu(self.layer(x.flatten(1))))


def test_given_module_is_copied_and_the_fit_repeatable():
    x, y = images()
    module = WithDropout()
    before = {k: v.clone() for k, v in module.state_dict().items()}
    state = torch.get_rng_state()
    first = StandardNetwork(backbone=module, epochs=3, learning_rate=0.01).fit(x, y)
    second = StandardNetwork(backbone=module, epochs=3, learning_rate=0.01).fit(x, y)
    np.testing.assert_array_equal(first.predict_proba(x), second.predict_proba(x))
    assert all(torch.equal(before[k], v) for k, v in module.state_dict().items())
    assert module.training
    assert torch.equal(state, torch.get_rng_state())
    trained = dict(first.network_.named_parameters())["extractor.layer/weight"][0]
    assert not torch.equal(trained, before["layer.weight"])


def test_module_in_double_precision():
    x, y = images(n=10)
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)).double()
    net = StandardNetwork(backbone=module, epochs=1).fit(x, y)
    assert next(net.network_.parameters()).dtype == torch.float32
    assert module[1].weight.dtype == torch.float64


def test_members_start_from_the_given_weights_or_from_their_own():
    x, y = images(n=10)
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    options = {"n_members": 2, "epochs": 1, "learning_rate": 1e-9, "parallel": "sequential"}
    kept = DeepEnsemble(backbone=module, **options).fit(x, y)
    own = DeepEnsemble(backbone=lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), **options).fit(x, y)
    for ensemble, same in ((kept, True), (own, False)):
        weights = dict(ensemble.network_.named_parameters())["extractor.1/weight"]
        assert torch.allclose(weights[0], weights[1], atol=1e-6) == same
    torch.testing.assert_close(
        dict(kept.network_.named_parameters())["extractor.1/weight"][0], module[1].weight.detach(), atol=1e-6, rtol=0
    )


# -- ResNet-50 against its published shapes and numbers of parameters, and one bottleneck against its operations.


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
