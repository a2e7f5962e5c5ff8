"""What several test files of this room share."""

import numpy as np

from uqassay.calibration.kernel_hypothesis import kernel_calibration_estimate, skce_pvalue
from uqassay.metrics.calibration.kernels import settle_kernel

FORMULAS = {  # k(p, q, h), written from the definitions
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


def draw_labels(rng, probs):
    return (probs.cumsum(axis=-1)[..., :-1] < rng.random(probs.shape[:-1])[..., np.newaxis]).sum(axis=-1)


def term(p, y, q, z, k):
    """h of two instances, from the definition with vectors."""
    e = np.eye(len(p))
    return k(p, q) * float((p - e[y]) @ (q - e[z]))


LEVELS = np.array([0.01, 0.05, 0.1, 0.2])


TESTS = {
    "quadratic": {"n_draws": 199},
    "quadratic, h = 0.2": {"n_draws": 199, "bandwidth": 0.2},
    "block": {"estimator": "block"},
    "linear": {"estimator": "linear"},
    "quadratic, bound": {"method": "bound"},
    "biased, bound": {"estimator": "biased", "method": "bound"},
}


def sharpened(truth):
    """Overconfident predictions: temperature ½."""
    probs = truth**2
    return probs / probs.sum(axis=-1, keepdims=True)


def rejections(n, n_classes, calibrated, tests, *, n_sets, seed):
    """Share of data sets in which each test rejects, (tests, levels); truths are uniform on the simplex."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((len(tests), len(LEVELS)))
    for _ in range(n_sets):
        truth = rng.dirichlet(np.ones(n_classes), n)
        probs, labels = truth if calibrated else sharpened(truth), draw_labels(rng, truth)
        for row, options in zip(counts, tests.values(), strict=True):
            row += skce_pvalue(labels, probs, rng=rng, **options).pvalue <= LEVELS
    return counts / n_sets


def coverage(n, n_classes, calibrated, sizes, *, n_sets, seed):
    """Share of 95 % intervals that hold the true error, for blocks of several sizes."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), 2000)
    probs = truth if calibrated else sharpened(truth)
    products = settle_kernel("tv", None, None).table(probs, probs) * ((probs - truth) @ (probs - truth).T)
    aim = (products.sum() - np.trace(products)) / (2000 * 1999)
    covered = np.zeros(len(sizes))
    for _ in range(n_sets):
        truth = rng.dirichlet(np.ones(n_classes), n)
        probs, labels = truth if calibrated else sharpened(truth), draw_labels(rng, truth)
        for i, size in enumerate(sizes):
            found = kernel_calibration_estimate(labels, probs, block_size=size)
            covered[i] += found.low <= aim <= found.high
    return covered / n_sets
