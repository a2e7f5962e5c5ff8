"""The yardstick: as accurate as scikit-learn's network of the same size."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from tests.lab.methods.made_up_data import blobs
from tests.refusals import refuses

from uqassay import Members
from uqassay.lab.methods import DeepEnsemble, MCDropConnect, MCDropout, StandardNetwork
from uqassay.lab.methods.dropout import DropConnectDense
from uqassay.lab.methods.layers import Draws, Dropout
from uqassay.lab.methods.networks import GaussianHead


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)


def test_digits_against_scikit_learn(digits):
    x, test_x, y, test_y = digits
    ours = StandardNetwork(epochs=40, learning_rate=0.003).fit(x, y)
    scale = StandardScaler().fit(x)
    theirs = MLPClassifier((64, 64), batch_size=128, max_iter=40, learning_rate_init=0.003, tol=0, n_iter_no_change=99)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        theirs.set_params(random_state=0).fit(scale.transform(x), y)
    assert abs(ours.score(test_x, test_y) - theirs.score(scale.transform(test_x), test_y)) <= 0.02
    assert ours.training_[0].n_epochs == 40


def test_point_is_softmax_of_the_network(digits):
    x, _, y, _ = digits
    net = StandardNetwork(epochs=1).fit(x, y)
    said = net.predict_uncertainty(x[:7])
    inputs = torch.from_numpy(net._prepared(x[:7]))[None].double()
    logits = net.network_(inputs)[0]
    np.testing.assert_allclose(said.probs, torch.softmax(logits, 1).numpy(), atol=1e-12)
    np.testing.assert_allclose(said.log_partition, torch.logsumexp(logits, 1).numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "axes"), [((40, 3), (0,)), ((40, 2, 9, 8), (0, 2, 3)), ((40, 9, 8), (0, 1, 2)), ((40, 2, 60), (0, 2))]
)
def test_standardised_by_feature_channel_or_image(shape, axes):
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 5.0, size=shape)
    backbone = "eeg" if shape[-1] == 60 else (4,)
    net = StandardNetwork(backbone=backbone, epochs=1).fit(x, np.arange(40) % 2)
    expected = (x - x.mean(axis=axes, keepdims=True)) / x.std(axis=axes, keepdims=True)
    np.testing.assert_allclose(net._prepared(x), expected, atol=1e-5)
    plain = clone(net).set_params(standardise=False).fit(x, np.arange(40) % 2)
    np.testing.assert_allclose(plain._prepared(x), x, rtol=1e-6)


def test_constant_feature_is_left_at_zero():
    x = np.column_stack([np.arange(20.0), np.full(20, 0.1)])
    net = StandardNetwork(backbone=(4,), epochs=1).fit(x, np.arange(20) % 2)
    np.testing.assert_allclose(net._prepared(x)[:, 1], 0, atol=1e-6)
    np.testing.assert_allclose(net._prepared(x + np.array([0, 1]))[:, 1], 1, atol=1e-6)


def test_early_stopping_ends_before_the_last_epoch(digits):
    x, test_x, y, test_y = digits
    net = StandardNetwork(epochs=300, early_stopping=True, patience=5, learning_rate=0.01).fit(x, y)
    (went,) = net.training_
    assert went.n_epochs == went.best_epoch + 5 < 300
    assert went.validation_losses[went.best_epoch - 1] == min(went.validation_losses)
    assert net.score(test_x, test_y) > 0.94


def test_fitted_network_survives_pickling_and_copying(digits):
    x, _, y, _ = digits
    for backbone, shape in (("mlp", (64,)), ("cnn-small", (8, 8))):
        net = StandardNetwork(backbone=backbone, epochs=1).fit(x[:50].reshape(-1, *shape), y[:50])
        again = pickle.loads(pickle.dumps(net))
        inputs = x.reshape(-1, *shape)
        np.testing.assert_array_equal(net.predict_proba(inputs), again.predict_proba(inputs))
        np.testing.assert_array_equal(net.predict_proba(inputs), deepcopy(net).predict_proba(inputs))


# -- Members are independent networks, and better together.


def test_average_beats_its_members(digits):
    x, test_x, y, test_y = digits
    said = (
        DeepEnsemble(backbone=(32,), epochs=40, learning_rate=0.003, n_members=8).fit(x, y).predict_uncertainty(test_x)
    )
    assert isinstance(said, Members)
    assert said.probs.shape == (len(test_x), 8, 10)
    at_label = np.take_along_axis(said.probs, test_y[:, None, None], axis=2)[..., 0]  # (n, M)
    of_members = -np.log(at_label).mean(axis=0)
    of_average = -np.log(at_label.mean(axis=1)).mean()
    assert of_average < of_members.min()
    accuracies = (said.probs.argmax(axis=2) == test_y[:, None]).mean(axis=0)
    assert (said.labels() == test_y).mean() > accuracies.mean()


def test_members_do_not_depend_on_their_number(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16,), "epochs": 2, "random_state": 7}
    few, more = (DeepEnsemble(n_members=m, **options).fit(x, y).predict_uncertainty(test_x).probs for m in (2, 5))
    np.testing.assert_allclose(few, more[:, :2], atol=1e-6)
    single = StandardNetwork(**options).fit(x, y).predict_proba(test_x)
    np.testing.assert_allclose(few[:, 0], single, atol=1e-6)
    assert min(np.abs(more[:, a] - more[:, b]).max() for a in range(5) for b in range(a)) > 1e-3


def test_an_ensemble_in_parts(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16,), "epochs": 2, "random_state": 7, "early_stopping": True, "parallel": "sequential"}
    whole = DeepEnsemble(n_members=5, **options).fit(x, y).predict_uncertainty(test_x).probs
    for first, n in ((0, 2), (2, 3)):
        part = DeepEnsemble(first_member=first, n_members=n, **options).fit(x, y).predict_uncertainty(test_x).probs
        np.testing.assert_array_equal(part, whole[:, first : first + n])


def test_members_may_learn_with_dropout_before_the_head(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16, 8), "epochs": 3, "n_members": 2}
    plain, dropped = (DeepEnsemble(rate=rate, **options).fit(x, y) for rate in (0.0, 0.3))
    assert [type(layer).__name__ for layer in dropped.network_.trunk] == ["Dense", "ReLU", "Dense", "ReLU", "Dropout"]
    assert [type(layer).__name__ for layer in plain.network_.trunk] == ["Dense", "ReLU", "Dense", "ReLU"]
    first = dropped.predict_uncertainty(test_x).probs
    assert (first != plain.predict_uncertainty(test_x).probs).any()
    np.testing.assert_array_equal(first, dropped.predict_uncertainty(test_x).probs)  # predictions drop nothing
    one = MCDropout(where="last", rate=0.3, n_samples=2000, backbone=(16, 8), epochs=3).fit(x, y)  # trained alike
    np.testing.assert_allclose(one.predict_uncertainty(test_x).mean_probs(), first[:, 0], atol=0.2)
    with refuses("rate", "range", got="got 1"):
        DeepEnsemble(rate=1.0).fit(x, y)


def test_mean_of_members_is_predict_proba(digits):
    x, test_x, y, _ = digits
    ensemble = DeepEnsemble(backbone=(16,), epochs=2, n_members=3).fit(x, y)
    np.testing.assert_allclose(
        ensemble.predict_proba(test_x), ensemble.predict_uncertainty(test_x).probs.mean(axis=1), atol=1e-12
    )


# -- Dropout in prediction: passes are networks, and a higher rate spreads them.


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


# -- Weights dropped in prediction.


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


def test_spread_grows_with_the_rate_of_mc_dropconnect():
    x, y = blobs()
    spreads = []
    for rate in (0.0, 0.1, 0.3, 0.6):
        net = MCDropConnect(rate=rate, n_samples=20, backbone=(16, 16), epochs=60, learning_rate=0.005).fit(x, y)
        assert net.score(x, y) > 0.9
        spreads.append(net.predict_uncertainty(x).probs.std(axis=1).mean())
    assert spreads[0] < 1e-12
    assert spreads[0] < spreads[1] < spreads[2] < spreads[3]
