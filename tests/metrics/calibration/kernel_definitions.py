"""Kernels and kernel calibration errors written out from their definitions, and predictions to try them on."""

import itertools

import numpy as np

ESTIMATORS = ("quadratic", "linear", "block", "biased")

FORMULAS = {  # k(p, q, h)
    "tv": lambda p, q, h: np.exp(-np.abs(p - q).sum() / 2 / h),
    "tv-squared": lambda p, q, h: np.exp(-((np.abs(p - q).sum() / 2) ** 2) / h),
    "laplacian": lambda p, q, h: np.exp(-np.abs(p - q).sum() / h),
    "exponential": lambda p, q, h: np.exp(-np.sqrt(((p - q) ** 2).sum()) / h),
    "rbf": lambda p, q, h: np.exp(-((p - q) ** 2).sum() / (2 * h * h)),
}


def predictions(rng, n, n_classes, *, lead=(), alpha=0.7):
    """Probabilities with ties among the instances."""
    probs = rng.dirichlet(np.full(n_classes, alpha), (*lead, n))
    probs[..., n // 2, :] = probs[..., 0, :]
    return probs


def term(p, y, q, z, k):
    """h of two instances, from the definition with vectors."""
    e = np.eye(len(p))
    return k(p, q) * float((p - e[y]) @ (q - e[z]))


def defined(labels, probs, k, estimator, block=2):
    """The estimators as loops over pairs."""
    n = len(labels)
    h = [[term(probs[i], labels[i], probs[j], labels[j], k) for j in range(n)] for i in range(n)]
    if estimator == "biased":
        return float(np.mean(h))
    block = {"quadratic": n, "linear": 2, "block": block}[estimator]
    means = []
    for start in range(0, n - block + 1, block):
        inside = itertools.combinations(range(start, start + block), 2)
        means.append(np.mean([h[i][j] for i, j in inside]))
    return float(np.mean(means))
