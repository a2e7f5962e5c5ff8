"""What several test files of this room share."""

import numpy as np

from uqassay.calibration.score_weights import brier_weights, log_loss_weights

SOLVERS = {"log-loss": log_loss_weights, "brier": brier_weights}


def drawn(seed, n, m, k, concentration=1.0):
    generator = np.random.default_rng(seed)
    members = generator.dirichlet(np.full(k, concentration), size=(n, m))
    truth = np.einsum("nmk,m->nk", members, generator.dirichlet(np.ones(m)))
    return members, (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)


def grid(m, steps):
    if m == 2:
        share = np.linspace(0, 1, steps + 1)
        return np.stack([share, 1 - share], axis=1)
    first, second = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    kept = first + second <= steps
    return np.stack([first[kept], second[kept], steps - first[kept] - second[kept]], axis=1) / steps
