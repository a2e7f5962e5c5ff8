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
from tests.refusals import refuses

from uqassay.lab.methods import StandardNetwork


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


def test_pieces_of_an_evaluation_change_nothing(digits, monkeypatch):
    x, _, y, _ = digits
    net = StandardNetwork(epochs=1).fit(x, y)
    whole = net.predict_proba(x)
    monkeypatch.setattr("uqassay.lab.methods.networks.CHUNK_BYTES", 20_000)
    np.testing.assert_allclose(net.predict_proba(x), whole, atol=1e-12)


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


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"epochs": 0}, "epochs", "range", "got 0"),
        ({"batch_size": 2.5}, "batch_size", "type", "got 2.5"),
        ({"patience": True}, "patience", "type", "got True"),
        ({"learning_rate": 0.0}, "learning_rate", "range", "got 0.0"),
        ({"weight_decay": -1.0}, "weight_decay", "range", "got -1.0"),
        ({"validation_fraction": 1.0}, "validation_fraction", "range", "got 1.0"),
        ({"parallel": "threads"}, "parallel", "choice", "got 'threads'"),
        ({"device": "gpu"}, "device", "choice", ""),
        ({"early_stopping": "False"}, "early_stopping", "type", "got 'False'"),
        ({"standardise": 0}, "standardise", "type", "got 0"),
        ({"learning_rate": "0.1"}, "learning_rate", "type", "got '0.1'"),
        ({"learning_rate": True}, "learning_rate", "type", "got True"),
        ({"weight_decay": None}, "weight_decay", "type", "got None"),
    ],
)
def test_options_out_of_range(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        StandardNetwork(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        StandardNetwork(**options).check_options((1,), 2)  # without training
