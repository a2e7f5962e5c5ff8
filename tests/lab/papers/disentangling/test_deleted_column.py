"""The authors' deletion of a column, against the definition."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.lab.papers.disentangling.trainings import WITHOUT_COLUMN


def entropy(p):
    return -sum(value * np.log(value) for value in p if value > 0)


@pytest.mark.parametrize("k", [0, 2])
def test_information_theoretic_against_brute_force(k):
    probs = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5))
    probs[0, 0] = [1, 0, 0]
    found = WITHOUT_COLUMN["information-theoretic"](uq.Members(probs), k, "exact")
    for i, members in enumerate(probs):
        others = np.delete(members, k, axis=1)
        total, aleatoric = entropy(others.mean(axis=0)), np.mean([entropy(p) for p in others])
        np.testing.assert_allclose(
            [found.total[i], found.aleatoric[i], found.epistemic[i]], [total, aleatoric, total - aleatoric], atol=1e-12
        )
    assert (found.epistemic >= 0).all()


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
def test_gaussian_logits_against_many_draws(convention):
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(size=(2, 6, 3)), rng.uniform(0.1, 2, size=(2, 6, 3))
    said = uq.GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=20_000)
    found = WITHOUT_COLUMN["gaussian-logits"](said, 1, convention)
    noise = np.sqrt(variance).mean(axis=1) ** 2 if convention == "paper-code" else variance.mean(axis=1)
    for part, of in (("aleatoric", noise), ("epistemic", mean.var(axis=1)), ("total", noise + mean.var(axis=1))):
        for i in range(2):
            z = mean[i].mean(axis=0) + np.sqrt(of[i]) * rng.normal(size=(200_000, 3))
            p = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)).mean(axis=0)
            np.testing.assert_allclose(getattr(found, part)[i], entropy(np.delete(p, 1)), atol=0.01)


def test_nothing_changes_where_the_class_has_probability_0():
    probs = np.random.default_rng(2).dirichlet(np.ones(2), size=(4, 5))
    wide = np.concatenate([probs[..., :1], np.zeros((4, 5, 1)), probs[..., 1:]], axis=2)
    found = WITHOUT_COLUMN["information-theoretic"](uq.Members(wide), 1, "exact")
    same = uq.measures.entropy_decomposition(uq.Members(probs))
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(found, part), getattr(same, part), atol=1e-12)
