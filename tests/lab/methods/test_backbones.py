"""Bodies of networks by name and by module."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses
from torch import nn

from uqassay.lab.methods import DeepEnsemble, StandardNetwork
from uqassay.lab.methods.backbones import make_backbone


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


@pytest.mark.parametrize(
    ("backbone", "shape", "parameter", "code", "got"),
    [
        ("vit", (5,), "backbone", "choice", "got 'vit'"),
        ((64, 0), (5,), "backbone", "type", r"got \(64, 0\)"),
        (3.5, (5,), "backbone", "type", "got 3.5"),
        ("cnn", (5,), "X", "shape", r"cnn.*got \(5,\)"),
        ("cnn", (3, 7, 8), "X", "shape", r"8 × 8; got \(3, 7, 8\)"),
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


def test_recordings_are_learnt():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    wave = np.sin(np.arange(100) * 0.8)
    x = rng.normal(size=(60, 3, 100)) + 2.0 * np.where(y[:, None, None] == [[[0]], [[0]], [[1]]][0], wave, 0)
    net = StandardNetwork(backbone="eeg", epochs=30, batch_size=16, learning_rate=0.003).fit(x[:40], y[:40])
    assert net.score(x[40:], y[40:]) > 0.9


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
