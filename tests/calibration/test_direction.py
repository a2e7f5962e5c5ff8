import math

import numpy as np
import pytest

from uqassay.calibration.direction import confidence_gap


def test_the_gap_is_mean_confidence_minus_accuracy():
    probs = np.tile([0.7, 0.3], (100, 1))
    for share, word in ((0.2, "overconfident"), (0.7, ""), (0.95, "underconfident")):
        labels = (np.arange(100) >= 100 * share).astype(int)
        gap = confidence_gap(labels, probs)
        assert gap.value == pytest.approx(0.7 - share)
        assert gap.low < gap.value < gap.high
        assert gap.direction() == word


def test_no_error_among_few_instances_tells_no_direction():
    # all deviations are equal: Student's t would be infinite
    probs = np.tile([0.99, 0.01], (100, 1))
    assert confidence_gap(np.zeros(100, dtype=int), probs).direction() == ""


def test_one_group_has_no_direction():
    gap = confidence_gap(np.zeros(20, dtype=int), np.tile([0.6, 0.4], (20, 1)), np.zeros(20))
    assert math.isnan(gap.pvalue)
    assert gap.direction() == ""
