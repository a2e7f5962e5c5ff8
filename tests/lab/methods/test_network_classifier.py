"""What all methods with networks share: checks of options, the scale of the inputs, one thread for small networks."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses

from uqassay.lab.methods import RSNN, DeepEnsemble, Flipout, MCDropout, StandardNetwork
from uqassay.lab.methods.networks import dense_layers


def data(n=24, width=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, width)) + 3.0 * y[:, None], y


def test_options_are_checked_against_shape_and_classes_where_these_are_given():
    StandardNetwork(backbone="cnn").check_options()
    with refuses("X", "shape", got=r"got \(5,\)"):
        StandardNetwork(backbone="cnn").check_options((5,))
    StandardNetwork(backbone="cnn").check_options((3, 8, 8))
    Flipout(backbone=()).check_options()
    with refuses("where", "conflict"):
        Flipout(backbone=()).check_options((5,))
    RSNN(focal_sets=[[0], [1]]).check_options((5,), 2)
    with refuses("focal_sets", "missing", got="class 2"):
        RSNN(focal_sets=[[0], [1]]).check_options((5,), 3)


def test_check_leaves_no_trace():
    net = DeepEnsemble(backbone=torch.nn.Linear(5, 4))
    state = torch.get_rng_state()
    before = dict(vars(net))
    net.check_options((5,), 3)
    assert vars(net) == before
    assert torch.equal(torch.get_rng_state(), state)


def test_fit_checks_the_options_before_the_data():
    with refuses("epochs", "range"):
        StandardNetwork(epochs=0).fit([[np.nan]], None)


@pytest.mark.parametrize("shape", [(3,), (4, 5), (2, 4, 5)])
def test_scale_is_that_of_each_feature_or_channel(shape):
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 2.0, size=(40, *shape))
    net = StandardNetwork(backbone=(4,), epochs=1).fit(x, np.arange(40) % 2)
    axes = {1: (0,), 2: (0, 1, 2), 3: (0, 2, 3)}[len(shape)]
    np.testing.assert_allclose(np.squeeze(net.mean_), np.squeeze(x.mean(axis=axes)), rtol=1e-12)
    np.testing.assert_allclose(np.squeeze(net.spread_), np.squeeze(x.std(axis=axes)), rtol=1e-12)


def test_constant_features_are_not_divided_by_zero():
    x, y = data()
    x[:, 1] = 1e9 / 3.0
    net = StandardNetwork(backbone=(4,), epochs=1).fit(x, y)
    assert net.spread_[1] == 1.0
    assert np.isfinite(net.predict_proba(x)).all()


def test_pieces_of_an_evaluation_are_those_of_the_whole(monkeypatch):
    x, y = data(60)
    net = MCDropout(backbone=(6,), n_samples=5, epochs=2).fit(x, y)
    whole = net.predict_uncertainty(x).probs
    monkeypatch.setattr("uqassay.lab.methods.networks.CHUNK_BYTES", 1)
    np.testing.assert_allclose(net.predict_uncertainty(x).probs, whole, atol=1e-12)


def test_dense_layers_of_a_backbone_in_order():
    net = StandardNetwork(backbone=(8, 4), epochs=1).fit(*data())
    names = [type(layer).__name__ for layer in dense_layers(net.backbone_, lambda width: [torch.nn.Identity()])]
    assert names == ["Dense", "ReLU", "Identity"] * 2
