"""Bands over all bins of a reliability diagram; their error rate is in `tests.metrics.calibration.test_error_coverage`."""

import numpy as np
import pytest
from scipy import stats

import uqassay as uq
from uqassay.metrics.bins import band_of_counts, ranges_sentence, reliability

EDGES = np.linspace(0, 1, 11)


def test_band_against_scipy():
    hits, count = np.array([0.0, 3.0, 0.0, 17.0, 5.0]), np.array([4.0, 10.0, 0.0, 20.0, 5.0])
    low, high = band_of_counts(hits, count, 0.9)
    each = 0.9 ** (1 / 4)  # of four filled bins
    for b in (0, 1, 3, 4):
        exact = stats.binomtest(int(hits[b]), int(count[b])).proportion_ci(each, method="exact")
        assert (low[b], high[b]) == pytest.approx((exact.low, exact.high))
    assert np.isnan([low[2], high[2]]).all()


def test_groups_of_one_are_nearly_independent(random_generator):
    confidence = random_generator.random(400)
    hits = (random_generator.random(400) < confidence).astype(float)
    alone = reliability(hits, confidence, n_bins=4)
    grouped = reliability(hits, confidence, n_bins=4, groups=np.arange(400))
    np.testing.assert_allclose(grouped.band_low, alone.band_low, atol=0.02)
    np.testing.assert_allclose(grouped.band_high, alone.band_high, atol=0.02)
    np.testing.assert_allclose(grouped.low, alone.low, atol=0.01)


def test_groups_that_agree_count_once(random_generator):
    confidence, hits = np.full(30, 0.7), np.repeat([1.0, 0.0], [20, 10])
    alone = reliability(hits, confidence)
    copies = reliability(np.repeat(hits, 10), np.repeat(confidence, 10), groups=np.repeat(np.arange(30), 10))
    b = int(np.flatnonzero(alone.count > 0)[0])
    assert copies.band_low[b] < alone.band_low[b] + 0.01
    assert copies.band_high[b] > alone.band_high[b] - 0.01
    wilson = uq.statistics.proportion_estimate(np.repeat(hits, 10), groups=np.repeat(np.arange(30), 10))
    assert (copies.low[b], copies.high[b]) == (wilson.low, wilson.high)


def test_one_group_in_a_bin_says_nothing():
    r = reliability([1, 1, 0, 1], [0.95, 0.95, 0.25, 0.25], groups=[0, 0, 0, 1])
    assert (r.band_low[9], r.band_high[9]) == (0, 1)
    assert np.isnan([r.low[9], r.high[9]]).all()
    assert not (r.over | r.under).any()


def test_over_and_under_are_where_the_band_excludes_the_confidence():
    confidence = np.repeat([0.95, 0.65, 0.55], 200)
    hits = np.concatenate([np.arange(200) < 150, np.arange(200) < 130, np.arange(200) < 180]).astype(float)
    r = reliability(hits, confidence)
    assert np.flatnonzero(r.over).tolist() == [9]
    assert np.flatnonzero(r.under).tolist() == [5]
    assert r.sentence() == "Overconfident where it states 90 to 100 %; underconfident where it states 50 to 60 %."


def test_a_calibrated_certain_classifier_is_not_accused():
    r = reliability(np.ones(50), np.ones(50))
    assert r.sentence() == "Nowhere shown to be overconfident or underconfident."


def test_ranges_of_neighbours_and_bins_of_equal_mass():
    over = np.isin(np.arange(10), (2, 3, 7))
    none = np.zeros(10, bool)
    assert ranges_sentence(EDGES, over, none) == (
        "Overconfident where it states 20 to 40 % and 70 to 80 %; nowhere shown to be underconfident."
    )
    assert ranges_sentence(EDGES, none, ~none) == (
        "Underconfident where it states 0 to 100 %; nowhere shown to be overconfident."
    )
    edges = np.array([0.2513, 0.6, 1.0, 1.0])
    assert ranges_sentence(edges, np.array([True, False, True]), none[:3]) == (
        "Overconfident where it states 25.1 to 60.0 % and 100.0 %; nowhere shown to be underconfident."
    )


def test_three_networks_on_cifar_10(cifar10):
    y, probs = cifar10["labels"], cifar10["three"]
    told = uq.metrics.reliability_diagram(y, probs).sentence()
    assert told == "Overconfident where it states 90 to 100 %; underconfident where it states 60 to 70 %."
