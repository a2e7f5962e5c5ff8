"""Least confidence and margin against sorting."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.measures import least_confidence, margin_uncertainty


@pytest.mark.parametrize("kind", KINDS)
def test_largest_probabilities_against_sorting(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20, n_classes=5)
    top = np.sort(prediction.mean_probs(), axis=1)
    np.testing.assert_array_equal(least_confidence(prediction), 1 - top[:, -1])
    np.testing.assert_array_equal(margin_uncertainty(prediction), 1 - (top[:, -1] - top[:, -2]))


def test_ties_and_certainty_with_two_classes():
    probs = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert least_confidence(probs).tolist() == [0.5, 0.0]
    assert margin_uncertainty(probs).tolist() == [1.0, 0.0]
    assert margin_uncertainty(uq.Point(probs.astype(np.float16))).tolist() == [1.0, 0.0]
