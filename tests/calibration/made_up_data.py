"""Made-up ensembles, labels and predictions that several test files of this room share."""

import numpy as np


def softmax(values):
    """Softmax over the last axis."""
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def draw_labels(generator, probs):
    """One label from each row of probabilities, (..., n, K) -> (..., n)."""
    return (generator.random((*probs.shape[:-1], 1)) > probs.cumsum(axis=-1)[..., :-1]).sum(axis=-1)


def given_of(members, labels):
    """Probability that each member gave to the label, (n, M)."""
    return np.take_along_axis(members, labels[:, None, None], axis=2)[..., 0]


def random_predictions(seed=0, n=300, k=3):
    """Probabilities that are uniform on the simplex, (n, K)."""
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


def random_ensemble(rng, n=40, m=3, k=3, truth=None):
    """Labels from member 0, or from another truth, and random members."""
    members = rng.dirichlet(np.ones(k), (n, m))
    return draw_labels(rng, members[:, 0] if truth is None else truth), members


def ensemble_with_a_calibrated_member(seed, n, k=4):
    """Labels from the first of three members; the second is underconfident, the third is sharper and wrong."""
    generator = np.random.default_rng(seed)
    z = 2 * generator.standard_normal((n, k))
    members = np.stack([softmax(z), softmax(z / 4), softmax(2 * z + generator.standard_normal((n, k)))], axis=1)
    return draw_labels(generator, members[:, 0]), members


def labelled_by_a_mixture(seed, n, m, k, concentration=1.0):
    """Random members, and labels from a random mixture of them with the same weights for every instance."""
    generator = np.random.default_rng(seed)
    members = generator.dirichlet(np.full(k, concentration), size=(n, m))
    truth = np.einsum("nmk,m->nk", members, generator.dirichlet(np.ones(m)))
    return members, draw_labels(generator, truth)


def labelled_by_weights_of_features(seed, n, m=3, k=4, slopes=2.0):
    """Labels of a mixture whose weights are the softmax of a linear function of two features."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((n, 2))
    matrix = slopes * generator.standard_normal((2, m))
    members = generator.dirichlet(np.full(k, 0.4), size=(n, m))
    shares = np.exp(x @ matrix)
    shares /= shares.sum(axis=1, keepdims=True)
    labels = draw_labels(generator, np.einsum("nm,nmk->nk", shares, members))
    return labels, members, x, shares


def grid_of_weights(m, steps):
    """Weights of two or three members on a regular grid, (L, M)."""
    if m == 2:
        share = np.linspace(0, 1, steps + 1)
        return np.stack([share, 1 - share], axis=1)
    first, second = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    kept = first + second <= steps
    return np.stack([first[kept], second[kept], steps - first[kept] - second[kept]], axis=1) / steps
