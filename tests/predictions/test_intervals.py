"""Intervals: labels, prediction sets, empty sets."""

import numpy as np
from tests.refusals import refuses

import uqassay as uq


def test_interval_labels_follow_the_upper_bounds():
    intervals = uq.Intervals([[0.35, 0.0, 0.1]], [[0.4, 0.5, 0.5]])
    assert intervals.mean_probs().argmax() == 0
    assert intervals.labels().tolist() == [1]


def test_prediction_sets_as_intervals():
    sets = np.array([[True, True, False], [False, True, False], [True, True, True]])
    for upper in (sets, sets.astype(int), sets.astype(np.float32)):
        intervals = uq.Intervals(0, upper)
        np.testing.assert_array_equal(intervals.upper_probs(), sets)
        assert intervals.lower_probs().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    np.testing.assert_allclose(uq.Intervals([[0.1, 0.2]], 1).upper_probs(), [[0.8, 0.9]], atol=1e-15)
    assert intervals[1:].n_instances == 2


def test_empty_sets_and_swapped_places_are_refused():
    with refuses("upper", "bounds", got="row 1 sums to 0; .*ClassSets"):
        uq.Intervals(0, [[1, 0], [0, 0]])
    with refuses("lower", "class-sets"):
        uq.Intervals(np.array([[True, False]]), 1)
    with refuses("lower", "range", got="got nan"):
        uq.Intervals(float("nan"), [[1, 0]])


def test_bounds_of_coarse_numbers_keep_their_tolerance():
    lower = np.array([[0.2998046875, 0.7001953125 + 0.00048828125]], np.float16)  # sums to 1.0005
    assert uq.Intervals(lower, np.ones((1, 2))).n_classes == 2
    for cast in (lower.astype(np.float32), lower.astype(float), [[0.3, 0.7005]]):
        with refuses("lower", "bounds"):
            uq.Intervals(cast, [[1.0, 1.0]])
