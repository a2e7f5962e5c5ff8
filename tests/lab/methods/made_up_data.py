"""Made-up instances and classes that several test files of this room share."""

import numpy as np
from scipy.special import expit


def world(n=150, seed=0, d=2):
    """Two classes in a square, with probabilities between 0 and 1 that wave along the first and the last axis."""
    g = np.random.default_rng(seed)
    x = g.uniform(-2, 2, size=(n, d))
    return x, (g.random(n) < expit(6 * np.sin(2 * x[:, 0]) * np.cos(2 * x[:, -1]))).astype(int)


def blobs(n=60):
    """Three classes in four dimensions, three standard deviations apart."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 3.0 * (y[:, None] == np.arange(4)), y


def rbf(a, b, lengthscale, variance):
    """The squared exponential kernel, (n, d) and (m, d) -> (n, m)."""
    return variance * np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2) / lengthscale**2)
