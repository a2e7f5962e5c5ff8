"""Bins and sums of several mixtures at once."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import bins_of_equal_width, numbers, of_targets, sums_of_bins


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_against_edges_with_rounding(dtype):
    """A probability on an edge, or above it by rounding, lies in the bin below."""
    edges = np.arange(1, 10) / 10
    probs = np.concatenate([edges, np.nextafter(edges.astype(dtype), 2), edges + 1e-4, [1e-6, 1.0]]).astype(dtype)
    below = np.arange(9)
    expected = np.concatenate([below, below, below + 1, [0, 9]])
    found = bins_of_equal_width(np.stack([probs, probs[::-1]]), 10, None, 10)
    np.testing.assert_array_equal(found, np.stack([expected, expected[::-1] + 10]))


def test_bins_of_classes_are_counted_on():
    first_bin = np.array([0, 5, 10])
    found = bins_of_equal_width(np.array([[0.0, 0.3, 1.0], [0.5, 0.0, 0.1]]), 5, first_bin, 15)
    np.testing.assert_array_equal(found, [[0, 6, 14], [17, 20, 25]])


def test_sums_against_a_loop():
    rng = np.random.default_rng(0)
    at, amounts = rng.integers(0, 4, (3, 20)), rng.random((3, 20))
    expected = np.array([[row[bins == b].sum() for b in range(4)] for bins, row in zip(at, amounts, strict=True)])
    np.testing.assert_allclose(sums_of_bins(at + 4 * numbers(3), 3, 4, amounts), expected, rtol=1e-14)
    counts = sums_of_bins(at + 4 * numbers(3), 3, 4)
    np.testing.assert_array_equal(counts, [[(row == b).sum() for b in range(4)] for row in at])


def test_labels_of_targets():
    labels = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(of_targets(labels, np.array([1, 0, 1])), labels[[1, 0, 1]])
    assert of_targets(labels[:1], np.array([0, 0])).shape == (1, 3)
