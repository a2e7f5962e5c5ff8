"""Generated predictions, labels and studies with fixed seeds."""

from functools import cache
from typing import Any

import numpy as np

import uqassay as uq

Models = dict[str, Any]


def exact(values: np.ndarray) -> np.ndarray:
    """Multiples of 2⁻²⁰: the last digits of `exp` and of random numbers depend on the processor, and texts must not."""
    return np.round(values * 2.0**20) / 2.0**20


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of logits, of which the last takes what the others leave."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = exact(e / e.sum(axis=-1, keepdims=True))
    p[..., -1] = 1.0 - p[..., :-1].sum(axis=-1)
    return p


@cache
def raw(n: int = 60, k: int = 3, seed: int = 0, skill: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) and the logits of six members (n, 6, K)."""
    g = np.random.default_rng(seed)
    y = g.integers(0, k, n)
    common = skill * np.eye(k)[y] + g.normal(size=(n, k))
    spread = g.gamma(2.0, 0.25, (n, 1, 1))
    return y, exact(common[:, None] + spread * g.normal(size=(n, 6, k)))


def labels(n: int = 60, k: int = 3, seed: int = 0) -> np.ndarray:
    """The labels of the same instances."""
    return raw(n, k, seed)[0].copy()


def members(n: int = 60, k: int = 3, seed: int = 0, skill: float = 1.5) -> np.ndarray:
    """Probabilities of six members, (n, 6, K)."""
    return softmax(raw(n, k, seed, skill)[1])


def prediction(kind: str, n: int = 60, k: int = 3, seed: int = 0, skill: float = 1.5, **more: Any) -> uq.Prediction:
    """One prediction of each kind about the same instances."""
    logits = raw(n, k, seed, skill)[1]
    p = softmax(logits)
    mean = p.mean(axis=1)
    match kind:
        case "Point":
            return uq.Point(p[:, 0], **more)
        case "Members":
            return uq.Members(p, **more)
        case "weighted":
            return uq.Members(p[:, :4], [0.4, 0.3, 0.2, 0.1], **more)
        case "Dirichlet":
            return uq.Dirichlet(0.3 + 12 * mean, n_draws=20, seed=1, **more)
        case "Intervals":
            return uq.Intervals(p.min(axis=1), p.max(axis=1), **more)
        case "ClassSets":
            return uq.ClassSets(mean > 0.25, **more)
        case "Masses":
            sets = np.vstack([np.eye(k), np.ones(k)]).astype(bool)
            width = (p.max(axis=1) - p.min(axis=1)).max(axis=1, keepdims=True)
            return uq.Masses(np.hstack([(1 - width) * mean, width]), sets, **more)
        case "Vertices":
            return uq.Vertices(p[:, :4], **more)
        case "GaussianLogits":
            moments = logits.mean(axis=1), logits.var(axis=1)
            return uq.GaussianLogits(*moments, variance_is="epistemic", n_draws=20, seed=1, **more)
        case "passes":
            return uq.GaussianLogits(logits, 0.1 + logits**2 / 9, variance_is="aleatoric", n_draws=20, seed=1, **more)
    raise ValueError(kind)


KINDS = (
    *("Point", "Members", "weighted", "Dirichlet", "Intervals", "ClassSets", "Masses", "Vertices", "GaussianLogits"),
    "passes",
)


def all_kinds(n: int = 60, k: int = 3, names: tuple[str, ...] = KINDS) -> Models:
    """A model of each kind."""
    return {kind: prediction(kind, n, k) for kind in names}


def rivals(n: int = 60, k: int = 3, n_models: int = 3, kind: str = "Members") -> Models:
    """Models of unequal skill about the same instances."""
    y, _ = raw(n, k)
    found: Models = {}
    for j in range(n_models):
        g = np.random.default_rng(100 + j)
        logits = (2.2 - 0.5 * j) * np.eye(k)[y][:, None] + g.normal(size=(n, 1, k)) + 0.5 * g.normal(size=(n, 5, k))
        p = softmax(logits)
        made = {"Members": uq.Members, "Vertices": uq.Vertices, "Point": lambda q: uq.Point(q[:, 0])}[kind]
        found["abcdef"[j]] = made(p)
    return found


def runs(n: int = 60, k: int = 3, n_runs: int = 3) -> list[uq.Prediction]:
    """Training runs of one model."""
    return [uq.Members(members(n, k, skill=1.2 + 0.2 * r)[:, r : r + 3]) for r in range(n_runs)]


def votes(n: int = 60, k: int = 3, per_instance: int = 5, seed: int = 5) -> np.ndarray:
    """Numbers of votes for each class, (n, K)."""
    g = np.random.default_rng(seed)
    return np.array([g.multinomial(per_instance, q) for q in members(n, k).mean(axis=1)])


def groups(n: int = 60, size: int = 4) -> np.ndarray:
    """Patients of some instances each."""
    return np.arange(n) // size


def weights(n: int = 60) -> np.ndarray:
    """Importance weights that differ tenfold, one of them 0."""
    found = np.random.default_rng(6).lognormal(0.0, 0.6, n)
    found[n // 3] = 0.0
    return found


def sites(n: int = 60) -> np.ndarray:
    """A subgroup's name for each instance."""
    return np.array(["north", "south", "west"])[np.random.default_rng(4).integers(0, 3, n)]


@cache
def errors(n: int = 150, seed: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors (n,), an uncertainty that ranks them, with ties, and one that does less."""
    g = np.random.default_rng(seed)
    u = g.beta(2.0, 3.0, n).round(2)
    return g.random(n) < u, u, (u + 0.4 * g.random(n)).round(3)


def gains(n: int = 300, seed: int = 3) -> dict[str, np.ndarray]:
    """Gains from more data, estimates of them, and whether the predictions before and after are right."""
    g = np.random.default_rng(seed)
    expected = exact(0.4 * g.beta(1.0, 3.0, n))
    u = g.random(n)
    won, lost = u < expected + 0.03, u > 0.97
    before = ~won & (lost | (g.random(n) < 0.85))
    after = won | (before & ~lost)
    return {"gain": after.astype(float) - before, "epistemic": expected, "before": before, "after": after}
