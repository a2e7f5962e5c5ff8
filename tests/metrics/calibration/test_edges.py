"""Edges of bins in float16, bfloat16, float32 and float64: shares k / 10 share the bins of the exact numbers."""

from fractions import Fraction

import numpy as np
import pytest

from uqassay.arrays import as_bfloat16
from uqassay.metrics.bins import edges_of_equal_width, inner_edges
from uqassay.predictions import Members, Point

TYPES = (np.float16, np.float32, np.float64)


def bins_of(values, n_bins):
    return np.searchsorted(inner_edges(n_bins, values), values, side="left")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_bins", [2, 3, 7, 10, 15, 100, 300])
def test_shares_lie_in_the_bins_of_the_exact_numbers(dtype, n_bins):
    shares = [Fraction(k, n_bins) for k in range(n_bins + 1)]
    values = np.array([float(share) for share in shares]).astype(dtype).astype(float)
    assert bins_of(values, n_bins).tolist() == [max(k - 1, 0) for k in range(n_bins + 1)]


def test_bfloat16_is_compared_in_bfloat16():
    words = np.array([0.1, 0.2, 0.3, 0.6, 0.7], dtype=np.float32).view(np.uint32)
    rounded = as_bfloat16(((words + 0x7FFF + (words >> 16 & 1)) & 0xFFFF0000).view(np.float32))
    assert rounded[3] > 0.601
    assert bins_of(rounded.astype(float), 10).tolist() == [0, 1, 2, 5, 6]


def test_numbers_above_an_edge_lie_above_it():
    edges = edges_of_equal_width(10)[1:-1]
    assert bins_of(np.nextafter(edges, 1), 10).tolist() == list(range(1, 10))
    single = np.nextafter(np.nextafter(edges.astype(np.float32), np.float32(2)), np.float32(2))
    assert (bins_of(single.astype(float), 10) == np.arange(1, 10)).sum() >= 8  # two float32 numbers above the edge
    half = np.nextafter(edges.astype(np.float16), np.float16(2)).astype(float)
    assert bins_of(half, 10).tolist() == list(range(1, 10))


def test_means_of_single_precision_members_share_the_bins_of_double_precision():
    from uqassay.metrics import classwise_calibration_error, confidence_calibration_error

    rng = np.random.default_rng(0)
    first = rng.integers(1, 9, (400, 4)) / 10
    first = first[np.abs(first.mean(axis=1) - 0.5) > 0.01]  # no two classes that are equally probable
    probs, labels = np.stack([first, 1 - first], axis=2), rng.integers(2, size=len(first))
    for metric in (confidence_calibration_error, classwise_calibration_error):
        single, double = (float(metric(labels, Members(probs.astype(t)))) for t in (np.float32, np.float64))
        assert single == pytest.approx(double, abs=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_two_instances_by_hand(dtype):
    """.7 is wrong and .6 is right, in two bins: (.7 + .4) / 2."""
    from uqassay.metrics import confidence_calibration_error, expected_calibration_error

    probs = np.array([[0.7, 0.3], [0.6, 0.4]], dtype=dtype)
    assert float(confidence_calibration_error([1, 0], probs)) == pytest.approx(0.55, abs=1e-3)
    assert float(confidence_calibration_error([1, 0], Point(probs))) == pytest.approx(0.55, abs=1e-3)
    assert float(expected_calibration_error([0, 1], probs[:, 0])) == pytest.approx(0.55, abs=1e-3)


def test_float32_shares_have_the_error_of_float64():
    from uqassay.metrics import (
        calibration_error_estimate,
        classwise_calibration_error,
        confidence_calibration_error,
        hosmer_lemeshow_statistic,
        proper_score_parts,
        reliability_diagram,
    )

    rng = np.random.default_rng(0)
    top = rng.integers(5, 11, 3000) / 10
    probs = np.stack([top, 1 - top], axis=1)
    labels = (rng.random(3000) > top).astype(int)
    single, double = probs.astype(np.float32), probs
    for metric in (
        confidence_calibration_error,
        classwise_calibration_error,
        hosmer_lemeshow_statistic,
        lambda y, p: calibration_error_estimate(y, p),
        lambda y, p: proper_score_parts(y, p).calibration,
    ):
        assert float(metric(labels, single)) == pytest.approx(float(metric(labels, double)), rel=1e-4, abs=1e-6)
    np.testing.assert_array_equal(reliability_diagram(labels, single).count, reliability_diagram(labels, double).count)
