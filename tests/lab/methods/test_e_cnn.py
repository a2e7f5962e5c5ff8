"""The evidential classifier by prototypes: its loss by hand, where the prototypes start, what it says of what it never saw."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tests.refusals import refuses

from uqassay import Masses
from uqassay.lab.methods import ECNN, StandardNetwork
from uqassay.lab.methods.evidential import balanced_sample, hurwicz_cross_entropy, masses_of_evidence


def blobs(n=90, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 2)) + 4.0 * np.array([[0, 0], [1, 1], [-1, 1]])[y], y


@pytest.mark.parametrize("nu", [0.0, 0.5, 0.9])
def test_loss_is_the_worth_of_the_label(nu):
    evidence = torch.rand(2, 6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 10
    y = torch.tensor([[0, 1, 2, 3, 0, 1], [3, 2, 1, 0, 3, 2]])
    masses = masses_of_evidence(evidence)
    worth = masses[..., :-1] + (1 - nu) * masses[..., -1:]
    expected = -worth.gather(-1, y[..., None])[..., 0].log()
    torch.testing.assert_close(hurwicz_cross_entropy(evidence, y, nu), expected)
    assert torch.autograd.gradcheck(lambda e: hurwicz_cross_entropy(e, y, nu), evidence.requires_grad_())


def test_loss_of_hopeless_instances_is_finite():
    evidence = torch.tensor([[[0.0, 5000.0], [0.0, 0.0]]], requires_grad=True)
    loss = hurwicz_cross_entropy(evidence, torch.zeros(1, 2, dtype=torch.int64), 0.9)
    torch.testing.assert_close(loss, torch.tensor([[5000 - np.log(0.1), -np.log(0.1)]], dtype=torch.float32))
    loss.sum().backward()
    assert torch.isfinite(evidence.grad).all()


def test_worths_sum_to_one_where_the_notes_say_so():
    masses = masses_of_evidence(torch.rand(5, 10) * 3)
    worth = masses[:, :-1] + (1 - 0.9) * masses[:, -1:]
    torch.testing.assert_close(worth.sum(-1), torch.ones(5))


def test_states_masses_of_singletons_and_everything():
    x, y = blobs()
    net = ECNN(n_prototypes=12, backbone=(16,), epochs=40, learning_rate=0.01).fit(x, y)
    said = net.predict_uncertainty(x)
    assert isinstance(said, Masses)
    np.testing.assert_array_equal(said.focal_sets, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    assert not said.signed
    np.testing.assert_allclose(said.masses.sum(axis=1), 1, atol=1e-12)
    assert (said.masses >= 0).all()
    assert net.score(x, y) > 0.95
    far = net.predict_uncertainty(1000 * np.array([[1.0, 0], [0, -1], [-1, -1]]))
    np.testing.assert_allclose(far.masses[:, -1], 1, atol=1e-6)
    np.testing.assert_allclose(far.mean_probs(), 1 / 3, atol=1e-6)


def test_pieces_of_a_long_input_are_put_together():
    x, y = blobs(n=2100)
    net = ECNN(n_prototypes=6, backbone=(4,), epochs=1).fit(x, y)
    whole = net.predict_uncertainty(x).masses
    np.testing.assert_allclose(net.predict_uncertainty(x[2000:]).masses, whole[2000:], atol=1e-12)


def test_prototypes_start_at_training_instances():
    x, y = blobs()
    net = ECNN(n_prototypes=9, backbone=(5,), epochs=1, learning_rate=1e-12).fit(x, y)
    np.testing.assert_array_equal(np.bincount(net.start_labels_), [3, 3, 3])
    features = net._evaluate(net.start_instances_, lambda network, x, draws: network.features(x))[:, 0]
    head = net.network_.head
    np.testing.assert_allclose(head.prototypes[0], features, atol=1e-5)
    h = head.memberships()[0].numpy()
    np.testing.assert_allclose(h[np.arange(9), net.start_labels_], 0.9, atol=1e-6)
    np.testing.assert_allclose(h.sum(axis=1), 1)
    np.testing.assert_allclose(1 / head.eta[0, 0] ** 2, ((features - features.mean(0)) ** 2).sum(1).mean(), rtol=1e-4)


def test_balanced_sample():
    y = np.array([0] * 50 + [1] * 3 + [2] * 10)
    rows = balanced_sample(y, 21, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(y[rows]), [7, 7, 7])
    times = np.bincount(rows, minlength=63)
    assert times[:50].max() == 1
    assert set(times[50:53]) == {2, 3}
    np.testing.assert_array_equal(balanced_sample(np.array([0, 1]), 2, np.random.default_rng(0)) < 2, True)


def test_more_prototypes_than_instances_and_a_constant_input():
    x, y = blobs(n=9)
    net = ECNN(n_prototypes=40, backbone=(5,), epochs=30, learning_rate=0.02).fit(x, y)
    assert net.network_.head.prototypes.shape == (1, 40, 5)
    assert net.score(x, y) > 0.8
    same = ECNN(n_prototypes=4, backbone=(5,), epochs=3).fit(np.ones((6, 2)), [0, 1] * 3)
    assert np.isfinite(same.predict_proba(np.ones((2, 2)))).all()


def test_convolutions():
    images = np.random.default_rng(0).normal(size=(20, 8, 8))
    net = ECNN(n_prototypes=10, backbone="cnn-small", epochs=2).fit(images, np.arange(20) % 2)
    np.testing.assert_allclose(net.predict_proba(images).sum(axis=1), 1)


def test_digits_within_two_points_of_the_standard_network_and_doubt_of_unknown_ones():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 20, "learning_rate": 0.006}
    net = ECNN(n_prototypes=100, **options).fit(x, y)
    assert net.score(test_x, test_y) >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02
    noise = np.random.default_rng(0).normal(size=test_x.shape)
    doubt, known = (net.predict_uncertainty(z).masses[:, -1].mean() for z in (noise, test_x))
    assert doubt > 0.5 > 0.1 > known


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"n_prototypes": 0}, "n_prototypes", "range", "got 0"),
        ({"n_prototypes": 2.0}, "n_prototypes", "type", "got 2.0"),
        ({"nu": 1.0}, "nu", "range", "got 1.0"),
        ({"nu": np.nan}, "nu", "range", "got nan"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        ECNN(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        ECNN(**options).check_options((1,), 2)  # without training


def test_prototypes_of_a_network_with_batch_norm_start_where_its_features_are_in_training():
    """With the running statistics of a new network, mean 0 and variance 1, they would start near 100 here."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    layers = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)
    layers[0].weight.data *= 100.0
    net = ECNN(backbone=torch.nn.Sequential(*layers), n_prototypes=12, batch_size=6, learning_rate=1e-9, epochs=1)
    prototypes = net.fit(x, y).network_.head.prototypes[0]
    torch.testing.assert_close(prototypes[:6].mean(dim=0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(prototypes[6:].std(dim=0, correction=0), torch.ones(3), atol=1e-2, rtol=0)
