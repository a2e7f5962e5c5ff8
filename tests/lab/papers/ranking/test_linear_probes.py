"""Linear probes: their training against PyTorch's, their folds, and the protocol on made features."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers import reproduce
from uqassay.lab.papers.ranking import linear_probes
from uqassay.lab.papers.ranking.linear_probes import (
    BATCH_SIZE,
    EPOCHS,
    MOMENTUM,
    RATE,
    probe_logits,
    reproduce_ranking_cifar10h_probes,
    steps_of_ranking_cifar10h_probes,
    train_probe,
)


def made(n: int = 90, d: int = 4, k: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return 2.0 * np.eye(k, d)[y] + rng.normal(size=(n, d)), y


def test_training_against_pytorchs_sgd():
    import torch

    x, y = made()
    weights, bias = train_probe(x, y, 3, seed=[5, 1])
    rng = np.random.default_rng([5, 1])
    start = rng.uniform(-0.5, 0.5, (3, 5))  # 1/√4
    layer = torch.nn.Linear(4, 3, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(start[:, :-1]))
        layer.bias.copy_(torch.tensor(start[:, -1]))
    sgd = torch.optim.SGD(layer.parameters(), lr=0.002, momentum=0.9)
    for _ in range(10):
        for rows in np.split(rng.permutation(90), [32, 64]):
            sgd.zero_grad()
            torch.nn.functional.cross_entropy(layer(torch.tensor(x[rows])), torch.tensor(y[rows])).backward()
            sgd.step()
    np.testing.assert_allclose(weights, layer.weight.detach().numpy(), rtol=1e-9)
    np.testing.assert_allclose(bias, layer.bias.detach().numpy(), rtol=1e-9)
    assert (RATE, MOMENTUM, EPOCHS, BATCH_SIZE) == (0.002, 0.9, 10, 32)


def test_no_instance_is_predicted_by_a_probe_that_saw_it(monkeypatch):
    x, y = made()
    x[:, 0] = np.arange(90)  # names the row
    seen = []

    def remembered(features, labels, n_classes, *, seed):
        rows = features[:, 0].astype(int)
        seen.append(set(rows.tolist()))
        np.testing.assert_array_equal(labels, y[rows])
        return np.zeros((n_classes, 4)), np.full(n_classes, float(len(seen)))

    monkeypatch.setattr(linear_probes, "train_probe", remembered)
    logits = probe_logits(x, y, 3, seed=0)
    assert len(seen) == 5
    for i in range(90):
        assert i not in seen[int(logits[i, 0]) - 1]
    for part in (sorted(set(range(90)) - rows) for rows in seen):
        assert (np.abs(np.bincount(y[part], minlength=3) - np.bincount(y) / 5) < 1).all()


def test_probes_learn_and_depend_on_the_seed_alone():
    x, y = made(n=600)
    logits = probe_logits(x, y, 3, seed=1)
    assert (logits.argmax(axis=1) == y).mean() > 0.7
    np.testing.assert_array_equal(logits, probe_logits(x, y, 3, seed=1))
    assert not np.array_equal(logits, probe_logits(x, y, 3, seed=2))


@pytest.fixture
def features(folder):
    """Features of five networks for the images of `folder`, which know more or less of the votes."""
    rng = np.random.default_rng(0)
    q = np.load(folder / "human_counts.npy") / 50
    for path in folder.glob("*.npz"):
        path.unlink()
    for i, noise in enumerate((0.2, 0.5, 0.8, 1.1, 1.5)):
        np.save(
            folder / f"net{i}.npy",
            (3 * q @ rng.normal(size=(3, 6)) + noise * rng.normal(size=(200, 6))).astype(np.float32),
        )
    return folder


def test_the_protocol(features):
    said: list[str] = []
    found = reproduce_ranking_cifar10h_probes(data=features, progress=said.append)
    assert [cell.paper for cell in found.rows] == [65.18, 54.01, -0.04, 95.61]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    assert found.name == "ranking-cifar10h-probes"
    assert len(said) == steps_of_ranking_cifar10h_probes(data=features) == 15
    assert said[0] == "training the probe of net0"
    assert any("learning rate 0.002, momentum 0.9, 10 epochs, batches of 32" in note for note in found.notes)
    assert reproduce("ranking-cifar10h-probes", data=features, seed=0) == found


@pytest.mark.parametrize(
    ("array", "code", "got"),
    [
        (np.ones((199, 6)), "shape", r"\(199, 6\)"),
        (np.ones(200), "shape", r"\(200,\)"),
        (np.full((200, 6), np.nan), "shape", "nan or infinite"),
        (np.full((200, 2), "a"), "shape", "got <U1"),
        (np.full((200, 2), 1e200), "range", "became infinite; standardise"),
    ],
)
def test_features_that_are_none(array, code, got, features):
    np.save(features / "a.npy", array)
    with refuses("features", code, got=got, source="a.npy"):
        reproduce_ranking_cifar10h_probes(data=features)


def test_what_is_missing_is_named(features):
    with refuses("data", "missing", got="got none; .*penultimate features"):
        reproduce_ranking_cifar10h_probes()
    with refuses("seed", "range", got="got -1"):
        reproduce_ranking_cifar10h_probes(data=features, seed=-1)
