"""Tasks of training: each gets its own networks back, in order, whatever it is trained with."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from uqassay.lab.methods import DeepEnsemble, StandardNetwork
from uqassay.lab.methods import networks as stacking
from uqassay.lab.methods.networks import train_tasks


def task(seed=0, n=24, **options):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    net = StandardNetwork(backbone=(4,), epochs=2, batch_size=7, random_state=seed, **options)
    return net._task(rng.normal(size=(n, 3)) + y[:, None], y)


def tensors(trained):
    network, _ = trained
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


def test_tasks_of_several_kinds_come_back_in_their_order():
    make = [
        lambda: task(0), lambda: task(1, learning_rate=0.1), lambda: task(2), lambda: task(3, n=9),
        lambda: task(4, learning_rate=0.1),
    ]  # fmt: skip
    together = train_tasks([one() for one in make])
    for one, found in zip(make, together, strict=True):
        (alone,) = train_tasks([one()])
        for name, tensor in tensors(alone).items():
            torch.testing.assert_close(tensors(found)[name], tensor, atol=1e-5, rtol=1e-5)
        assert found[1] == alone[1]


def test_tasks_are_not_changed_by_their_training():
    one, other = task(0), task(1)
    before = [(t.x.copy(), t.y.copy(), [job.rows.copy() for job in t.jobs]) for t in (one, other)]
    train_tasks([one, other])
    for t, (x, y, rows) in zip((one, other), before, strict=True):
        np.testing.assert_array_equal(t.x, x)
        np.testing.assert_array_equal(t.y, y)
        np.testing.assert_array_equal(t.jobs[0].rows, rows[0])


def test_no_tasks_have_no_results():
    assert train_tasks([]) == []


@pytest.mark.slow
@pytest.mark.parametrize(("backbone", "shape", "other"), [((4,), (3,), "stacked"), ("cnn-small", (8, 8), "sequential")])
def test_processes_train_the_same_networks(backbone, shape, other):
    """The only test that starts processes, each of which loads PyTorch."""
    x, y = np.random.default_rng(0).normal(size=(30, *shape)), np.arange(30) % 2
    options = {"n_members": 3, "backbone": backbone, "epochs": 2}
    apart, together = (DeepEnsemble(parallel=how, **options).fit(x, y) for how in ("processes", other))
    np.testing.assert_allclose(apart.predict_proba(x), together.predict_proba(x), atol=1e-6 if shape == (3,) else 1e-5)
    assert [t.n_epochs for t in apart.training_] == [2, 2, 2]


@pytest.mark.parametrize("options", [{"parallel": "processes"}, {"backbone": "cnn-small"}])
def test_a_daemonic_process_starts_no_others(monkeypatch, options):
    """Processes of Dask's workers are daemonic, and joblib warns there that it starts no processes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 1, 12, 12)), np.arange(8) % 2
    if options.get("parallel"):
        X = X[:, 0, 0]

    def ensemble(**further):
        small = {"backbone": (4,), "n_members": 2, "epochs": 1, "random_state": 0}
        return DeepEnsemble(**small | options | further)._task(X, y)

    (whole,) = train_tasks([ensemble(parallel="sequential")])
    started = []
    monkeypatch.setattr(stacking, "_in_processes", started.append)
    monkeypatch.setattr(stacking, "available_cores", lambda: 4)
    monkeypatch.setattr(stacking, "current_process", lambda: SimpleNamespace(daemon=True))
    (alone,) = train_tasks([ensemble()])
    assert not started
    for name, tensor in tensors(whole).items():
        torch.testing.assert_close(tensors(alone)[name], tensor, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("backbone", "device", "how"),
    [
        ("resnet50", "cuda", "sequential"),
        ("resnet50", "cpu", "processes"),
        ("cnn", "cuda", "stacked"),
        ("cnn", "cpu", "processes"),
        ("mlp", "cuda", "stacked"),
        ("mlp", "cpu", "stacked"),
    ],
)
def test_how_several_networks_are_trained(monkeypatch, backbone, device, how):
    monkeypatch.setattr(stacking, "available_cores", lambda: 2)
    x, y = np.random.default_rng(0).normal(size=(4, 3, 32, 32)), np.arange(4) % 2
    lead = StandardNetwork(backbone=backbone)._task(x, y)
    assert stacking._how(lead, 3, torch.device(device)) == how
