"""What several test files of this room share."""

import numpy as np


def gated(seed, n, m=3, k=4, slopes=2.0):
    """Labels of a mixture whose weights are the softmax of a linear function of two features."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((n, 2))
    matrix = slopes * generator.standard_normal((2, m))
    members = generator.dirichlet(np.full(k, 0.4), size=(n, m))
    shares = np.exp(x @ matrix)
    shares /= shares.sum(axis=1, keepdims=True)
    truth = np.einsum("nm,nmk->nk", shares, members)
    labels = (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return labels, members, x, shares


LABELS, MEMBERS, X, _ = gated(12, 20)
