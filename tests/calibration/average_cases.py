"""What several test files of this room share."""

import numpy as np


def softmax(values):
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def drawn(truth, generator):
    return (generator.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, truth.shape[1] - 1)


def ensemble(seed, n, k=4):
    """The first member is calibrated, the second is underconfident, the third is sharper and wrong."""
    generator = np.random.default_rng(seed)
    z = 2 * generator.standard_normal((n, k))
    members = np.stack([softmax(z), softmax(z / 4), softmax(2 * z + generator.standard_normal((n, k)))], axis=1)
    return drawn(members[:, 0], generator), members


LABELS, MEMBERS = ensemble(6, 20)
