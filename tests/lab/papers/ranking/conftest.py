"""Saved models of instances that people have labelled; the cheapest grid of networks, trained once."""

import numpy as np
import pytest

import uqassay as uq

N, K = 200, 3


@pytest.fixture(scope="session")
def small():
    """Every scoring of the smoke preset at its own Bayes error and seed."""
    from uqassay.lab.datasets.generated import TwoGaussians
    from uqassay.lab.papers.ranking.synthetic import run_grid

    return run_grid("smoke", TwoGaussians(0.15))


@pytest.fixture(scope="session")
def smoke(small):
    """The reproduction of the smoke preset with networks that are trained; `test_figures` compares it with one that trains."""
    from uqassay.lab.papers.ranking import synthetic

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(synthetic, "run_grid", lambda *_, **__: small)
        return synthetic.reproduce_ranking_synthetic(preset="smoke")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path):
    """Votes on 200 images of 3 classes, and three files with five models that know something of them."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.full(K, 0.4), N)
    labels = np.array([rng.choice(K, p=row) for row in q])
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "human_counts.npy", np.array([rng.multinomial(50, row) for row in q]))

    def model(noise: float) -> np.ndarray:
        logits = np.log(q + 0.02) + noise * rng.normal(size=(N, K))
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    uq.save(uq.Members(np.stack([model(0.3), model(0.6), model(1.0)], axis=1)), tmp_path / "three.npz")
    uq.save(uq.Point(model(1.5)), tmp_path / "single.npz")
    return tmp_path
