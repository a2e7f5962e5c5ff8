"""Estimators fitted together are those fitted one by one, and nothing global is touched."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from tests.refusals import refuses

from uqassay.lab.methods import (
    DDU,
    ECNN,
    RSNN,
    CreINN,
    DeepEnsemble,
    Evidential,
    Flipout,
    LaplaceBridge,
    MCDropConnect,
    MCDropout,
    RandomForest,
    StandardNetwork,
    fit_together,
)


def data(n=60, seed=0, width=3, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, width)) + 2.0 * (y[:, None] == np.arange(width)), y


def same_networks(a, b, atol=1e-6):
    for (name, p), q in zip(a.network_.state_dict().items(), b.network_.state_dict().values(), strict=True):
        torch.testing.assert_close(p, q, atol=atol, rtol=1e-5, msg=name)


METHODS = [
    StandardNetwork(),
    DeepEnsemble(n_members=2),
    DeepEnsemble(n_members=2, head="gaussian-logits"),
    MCDropout(n_samples=4),
    MCDropout(n_samples=4, where="last", head="gaussian-logits", convention="paper-code"),
    MCDropConnect(n_samples=4, where="all"),
    Evidential(),
    CreINN(),
    ECNN(n_prototypes=7),
    RSNN(),
    Flipout(n_samples=4),
    Flipout(n_samples=4, where="all", head="gaussian-logits", prior_scales=(1.0,)),
    LaplaceBridge(),
    DDU(coefficient=0.9),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_together_is_one_by_one(method, early_stopping, monkeypatch):
    monkeypatch.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 400)
    method = clone(method).set_params(
        backbone=(8, 6), batch_size=16, learning_rate=0.01, early_stopping=early_stopping, patience=2
    )
    x, y = data()
    noisy = np.random.default_rng(1).permutation(y)
    conditions = [(x, y, 4, 0), (x[:20], y[:20], 7, 1), (x, noisy, 4, 2), (x[:6], y[:6], 9, 0)]
    alone = [clone(method).set_params(epochs=e, random_state=r).fit(x, y) for x, y, e, r in conditions]
    together = fit_together([clone(a) for a in alone], [(x, y) for x, y, _, _ in conditions])
    for a, b in zip(alone, together, strict=True):
        same_networks(a, b, atol=1e-4)  # Adam makes much of rounding where a gradient is nearly 0
        assert [t.n_epochs for t in a.training_] == [t.n_epochs for t in b.training_]
        np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), atol=1e-5)


@pytest.mark.parametrize(
    "method", [StandardNetwork(), DeepEnsemble(n_members=2), MCDropout(), MCDropConnect()], ids=str
)
def test_equal_sizes_are_equal_bit_for_bit(method):
    method = clone(method).set_params(backbone=(8, 6), batch_size=16, epochs=3)
    x, y = data()
    alone = [clone(method).set_params(random_state=r).fit(x, y) for r in range(4)]
    together = fit_together([clone(a) for a in alone], [(x, y)] * 4)
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.predict_proba(x), b.predict_proba(x))


def test_estimators_that_cannot_share_a_stack_are_still_fitted():
    x, y = data()
    two = (x[y < 2], y[y < 2])
    wide = data(width=5)
    estimators = [
        StandardNetwork(backbone=(4,), epochs=3),
        StandardNetwork(backbone=(4,), epochs=3),
        StandardNetwork(backbone=(5,), epochs=3),
        Evidential(backbone=(4,), epochs=3),
        StandardNetwork(backbone=(4,), epochs=3),
    ]
    datasets = [(x, y), two, (x, y), (x, y), wide]
    fit_together(estimators, datasets)
    for estimator, (x, y) in zip(estimators, datasets, strict=True):
        np.testing.assert_allclose(estimator.predict_proba(x), clone(estimator).fit(x, y).predict_proba(x), atol=1e-6)


def test_refusals():
    x, y = data()
    net = StandardNetwork()
    with refuses("datasets", "mismatch", got="got 2 for 1"):
        fit_together([net], [(x, y)] * 2)
    with refuses("estimators", "duplicate"):
        fit_together([net, net], [(x, y)] * 2)


@pytest.mark.parametrize("backbone", ["cnn-small", "eeg"])
def test_convolutional_members_stacked_and_sequential(backbone):
    shape = (1, 8, 8) if backbone != "eeg" else (2, 60)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, *shape)), np.arange(30) % 2
    options = {"backbone": backbone, "n_members": 2, "epochs": 2, "batch_size": 9}
    sequential = DeepEnsemble(parallel="sequential", **options).fit(x, y)
    stacked = DeepEnsemble(parallel="stacked", **options).fit(x, y)
    np.testing.assert_allclose(stacked.predict_proba(x), sequential.predict_proba(x), atol=1e-4)
    single = StandardNetwork(backbone=backbone, epochs=2, batch_size=9).fit(x, y)
    first = sequential.predict_uncertainty(x).probs[:, 0]
    np.testing.assert_allclose(single.predict_proba(x), first, atol=1e-5)


@pytest.mark.parametrize("parallel", ["stacked", "sequential"])
def test_batch_norm_sees_no_batch_that_was_filled_up(parallel):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 2, 60)), np.arange(20) % 2
    nets = [StandardNetwork(backbone="eeg", epochs=2, parallel=parallel, random_state=r) for r in range(2)]
    fit_together(nets, [(x, y), (x[:7], y[:7])])
    alone = StandardNetwork(backbone="eeg", epochs=2, random_state=1).fit(x[:7], y[:7])
    np.testing.assert_allclose(nets[1].predict_proba(x), alone.predict_proba(x), atol=1e-4)


@pytest.mark.parametrize("method", [StandardNetwork(), DeepEnsemble(n_members=3), MCDropout(n_samples=5)], ids=str)
def test_global_state_is_untouched_and_without_influence(method):
    x, y = data()
    method = clone(method).set_params(backbone=(8,), epochs=3)
    n_threads = torch.get_num_threads()
    torch.manual_seed(0)
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002 - it must not move
    first = clone(method).fit(x, y).predict_proba(x)
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
    assert torch.get_num_threads() == n_threads
    assert torch.is_grad_enabled()
    torch.manual_seed(1)
    try:
        torch.set_num_threads(n_threads + 1)
        second = clone(method).fit(x, y).predict_proba(x)
        assert torch.get_num_threads() == n_threads + 1
    finally:
        torch.set_num_threads(n_threads)
    np.testing.assert_array_equal(first, second)


def test_together_only_what_has_networks():
    with refuses("estimators[1]", "type", got="got RandomForest"):
        fit_together([StandardNetwork(), RandomForest()], [([[0.0], [1.0]], [0, 1])] * 2)


def test_options_of_prediction_and_numbers_of_members_share_a_stack(monkeypatch):
    from uqassay.lab.methods import networks as stacking

    x, y = data()
    common = {"backbone": (6,), "epochs": 3, "progress": False}
    nets = [MCDropout(n_samples=n, random_state=n, **common) for n in (3, 9)]
    nets += [DeepEnsemble(n_members=n, random_state=n, **common) for n in (2, 3)]
    nets += [MCDropout(n_samples=3, rate=0.1, **common), DeepEnsemble(n_members=2, learning_rate=0.05, **common)]
    stacks, train = [], stacking.train
    monkeypatch.setattr(
        stacking, "train", lambda net, jobs, *rest: (stacks.append(len(jobs)), train(net, jobs, *rest))[1]
    )
    fitted = fit_together(nets, [(x, y)] * len(nets))
    assert stacks == [2, 5, 1, 2]
    assert fitted == nets
    for net in fitted:
        alone = clone(net).fit(x, y)
        np.testing.assert_allclose(net.predict_proba(x), alone.predict_proba(x), atol=1e-6)
        assert len(net.training_) == len(alone.training_)
