"""Kernels on probabilities and their bandwidths."""

import itertools

import numpy as np
import pytest
from tests.metrics.calibration.kernel_definitions import FORMULAS, defined, predictions

from uqassay.metrics.kernel_error import kernel_bandwidth, kernel_calibration_error, settle_kernel


def test_default_bandwidths_against_formulas():
    rng = np.random.default_rng(2)
    probs, labels = predictions(rng, 9, 3), rng.integers(0, 3, 9)
    for kernel, h in (("tv", 1.0), ("tv-squared", 2.0)):  # the printed kernel, and that of the authors' code
        want = defined(labels, probs, lambda p, q, kernel=kernel, h=h: FORMULAS[kernel](p, q, h), "quadratic")
        assert kernel_calibration_error(labels, probs, kernel=kernel) == pytest.approx(want, abs=1e-13)
    distances = [np.linalg.norm(p - q) for p, q in itertools.combinations(probs, 2)]
    want = defined(labels, probs, lambda p, q: FORMULAS["rbf"](p, q, np.median(distances)), "quadratic")
    assert kernel_calibration_error(labels, probs, kernel="rbf") == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize("kernel", FORMULAS)
def test_kernels_symmetric_and_pairs_equal_table(kernel):
    rng = np.random.default_rng(10)
    probs = predictions(rng, 12, 4, lead=(3,))
    settled = settle_kernel(kernel, 0.4, None)
    table = settled.table(probs, probs)
    assert table == pytest.approx(np.swapaxes(table, -1, -2), abs=1e-15)
    assert np.einsum("...ii->...i", table) == pytest.approx(1.0, abs=1e-15)
    want = [[[FORMULAS[kernel](p, q, 0.4) for q in some] for p in some] for some in probs]
    assert table == pytest.approx(np.array(want), abs=1e-14)
    pairs = settled.pairs(probs, np.roll(probs, 1, axis=1))
    assert pairs == pytest.approx(np.array([[row[i, i - 1] for i in range(12)] for row in table]), abs=1e-14)


@pytest.mark.parametrize("kernel", ["tv", "laplacian", "exponential", "rbf"])
def test_kernels_are_positive_definite(kernel):
    rng = np.random.default_rng(11)
    for n_classes, h in itertools.product((2, 3, 10), (0.05, 0.5, 2.0)):
        probs = rng.dirichlet(np.full(n_classes, 0.5), 25)
        assert np.linalg.eigvalsh(settle_kernel(kernel, h, None).table(probs, probs)).min() > -1e-12


def test_squared_total_variation_is_not_positive_definite():
    """So the biased estimate with the kernel of the authors' code can be negative: two classes are fine, three not."""
    grid = np.array([[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)]) / 4
    values, vectors = np.linalg.eigh(settle_kernel("tv-squared", None, None).table(grid, grid))
    assert values[0] < -0.05
    direction = vectors[:, 0]
    assert direction @ settle_kernel("tv", None, None).table(grid, grid) @ direction > 0
    two = np.stack([np.linspace(0, 1, 25), 1 - np.linspace(0, 1, 25)], axis=1)
    assert np.linalg.eigvalsh(settle_kernel("tv-squared", None, None).table(two, two)).min() > -1e-12


def test_bandwidth_against_brute_force_and_subsample():
    rng = np.random.default_rng(12)
    probs = predictions(rng, 15, 3, lead=(2,))
    for kernel, size in (
        ("tv", lambda p, q: np.abs(p - q).sum() / 2),
        ("tv-squared", lambda p, q: (np.abs(p - q).sum() / 2) ** 2),
        ("laplacian", lambda p, q: np.abs(p - q).sum()),
        ("exponential", lambda p, q: np.linalg.norm(p - q)),
        ("rbf", lambda p, q: np.linalg.norm(p - q)),
    ):
        want = [np.median([size(p, q) for p, q in itertools.combinations(some, 2)]) for some in probs]
        assert kernel_bandwidth(probs, kernel=kernel, batched=True) == pytest.approx(want, abs=1e-14)
    many = rng.dirichlet([0.5] * 3, 900)  # 404,550 pairs
    i, j = np.triu_indices(900, 1)
    exact = np.median(np.linalg.norm(many[i] - many[j], axis=1))
    assert kernel_bandwidth(many) == pytest.approx(exact, rel=0.01)
    assert kernel_bandwidth(many) == kernel_bandwidth(many)
    tied = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    assert kernel_bandwidth(tied, kernel="tv") == 1.0  # the positive distances
    assert kernel_bandwidth(np.full((4, 2), 0.5), kernel="tv") == 1.0
