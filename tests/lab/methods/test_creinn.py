"""Interval networks: what they state, that no radius is the plain network, and that they learn."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tests.refusals import refuses

from uqassay import Intervals
from uqassay.lab.methods import CreINN, StandardNetwork
from uqassay.lab.methods.layers import Draws
from uqassay.lab.methods.training import Batch


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 3.0 * np.array([[0, 0], [1, 1], [-1, 1]])[y], y


def test_no_radius_is_the_plain_network():
    x, y = blobs()
    plain = StandardNetwork(backbone=(8, 6), epochs=20, learning_rate=0.01).fit(x, y)
    net = CreINN(backbone=(8, 6), epochs=1, batch_norm=False).fit(x, y)
    theirs = dict(plain.network_.named_parameters())
    own = [name for name, _ in net.network_.named_parameters() if "raw" not in name]
    assert own == list(theirs)
    for name, parameter in net.network_.named_parameters():
        parameter.data = torch.full_like(parameter, -torch.inf) if "raw" in name else theirs[name].data
    said = net.predict_uncertainty(x)
    probs = plain.predict_proba(x)
    np.testing.assert_allclose(said.lower, probs, atol=1e-12)
    np.testing.assert_allclose(said.upper, probs, atol=1e-12)
    np.testing.assert_allclose(net.predict_proba(x), probs, atol=1e-12)
    np.testing.assert_array_equal(net.predict(x), plain.predict(x))


def test_loss_without_radius_is_the_cross_entropy_and_of_odd_outputs_finite():
    net = CreINN()
    logits = torch.tensor([[[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [-300.0, 300.0, 0.0]]], requires_grad=True)
    batch = Batch(torch.tensor([[0, 1, 0]]), torch.zeros(1, 1), torch.ones(1, 1), Draws([]))
    loss = net._loss(None, (logits, logits), batch)
    expected = -logits.detach().log_softmax(-1)[0, [0, 1], [0, 1]]
    torch.testing.assert_close(loss[0, :2], expected)
    assert torch.isfinite(loss).all()
    loss.sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_loss_by_hand():
    """Two classes: l = σ(lo − mid of the other), u alike; l, u made reachable; −ln(l + α (u − l))."""
    lo, hi = np.array([0.0, -1.0]), np.array([1.0, 1.0])
    mid = (lo + hi) / 2
    l, u = 1 / (1 + np.exp(mid[::-1] - lo)), 1 / (1 + np.exp(mid[::-1] - hi))
    l, u = np.maximum(l, 1 - u[::-1]), np.minimum(u, 1 - l[::-1])
    p = l + (1 - l.sum()) / (u - l).sum() * (u - l)
    batch = Batch(torch.tensor([[1]]), torch.zeros(1, 1), torch.ones(1, 1), Draws([]))
    loss = CreINN()._loss(None, (torch.tensor(lo)[None, None], torch.tensor(hi)[None, None]), batch)
    np.testing.assert_allclose(loss, -np.log([[p[1]]]))


@pytest.mark.parametrize("batch_norm", [True, False])
def test_intervals_are_reachable_and_hold_the_middle_prediction(batch_norm):
    x, y = blobs()
    net = CreINN(backbone=(8,), epochs=30, learning_rate=0.02, batch_norm=batch_norm).fit(x, y)
    far = np.concatenate([x, 50 * x])
    said = net.predict_uncertainty(far)
    assert isinstance(said, Intervals)
    assert (said.lower <= said.upper).all()
    assert (said.upper > said.lower).any()
    assert (said.lower.sum(axis=1) <= 1 + 1e-12).all()
    assert (said.upper.sum(axis=1) >= 1 - 1e-12).all()
    for made, given in zip(said.bounds(), (said.lower, said.upper), strict=True):
        np.testing.assert_allclose(made, given, atol=1e-12)
    lower, upper = net._evaluate(net._prepared(far), lambda network, x, draws: network(x))
    middle = torch.from_numpy(lower + upper)[:, 0].div(2).softmax(-1).numpy()
    assert (said.lower <= middle + 1e-12).all()
    assert (said.upper >= middle - 1e-12).all()
    assert net.score(x, y) > 0.9


def test_wider_weights_wider_intervals():
    x, y = blobs()
    net = CreINN(backbone=(8,), epochs=5).fit(x, y)
    before = net._evaluate(net._prepared(x), lambda network, x, draws: network(x))
    for name, parameter in net.network_.named_parameters():
        if "raw" in name:
            parameter.data += 1.0
    after = net._evaluate(net._prepared(x), lambda network, x, draws: network(x))
    assert (after[0] < before[0]).all()
    assert (after[1] > before[1]).all()


def test_no_hidden_layer():
    x, y = blobs()
    said = CreINN(backbone=(), epochs=5).fit(x, y).predict_uncertainty(x)
    assert (said.upper > said.lower).all()


@pytest.mark.parametrize(("backbone", "shape"), [("cnn", (1, 8, 8)), ("cnn-small", (8, 8)), ("eeg", (2, 60))])
def test_convolutions(backbone, shape):
    """Convolutions of images have radii, those of recordings have not."""
    x = np.random.default_rng(0).normal(size=(20, *shape))
    net = CreINN(backbone=backbone, epochs=2).fit(x, np.arange(20) % 2)
    radii = [name for name, _ in net.network_.extractor.named_parameters() if "raw" in name]
    assert len(radii) == (0 if backbone == "eeg" else 6)
    said = net.predict_uncertainty(x)
    assert (said.upper >= said.lower).all()
    assert (said.upper > said.lower).any()


def test_images_of_digits():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = x[:600].reshape(-1, 8, 8), x[600:1000].reshape(-1, 8, 8), y[:600], y[600:1000]
    options = {"backbone": "cnn-small", "epochs": 5, "learning_rate": 0.005}
    accuracy = CreINN(**options).fit(x, y).score(test_x, test_y)
    assert accuracy >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02


def test_digits_within_two_points_of_the_standard_network():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 15, "learning_rate": 0.01}
    net = CreINN(**options).fit(x, y)
    assert net.score(test_x, test_y) >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02
    said = net.predict_uncertainty(test_x)
    right = net.predict(test_x) == test_y
    width = (said.upper - said.lower).mean(axis=1)
    assert width[~right].mean() > 2 * width[right].mean()


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
def test_refusals(value):
    with refuses("initial_radius", "range"):
        CreINN(initial_radius=value).fit([[0.0], [1.0]], [0, 1])


def test_batch_norm_needs_batches():
    with refuses("batch_size", "range", got="got 1"):
        CreINN(batch_size=1).fit([[0.0], [1.0]], [0, 1])
    CreINN(batch_size=1, batch_norm=False, epochs=1).fit([[0.0], [1.0]], [0, 1])
