"""Weights, verdicts and names in the tables of calibration tests."""

from types import SimpleNamespace

import numpy as np

from uqassay.cli import calibration_tables


def test_many_weights_are_shortened():
    many = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.06, 0.04, 0.0])
    test = SimpleNamespace(weights=many)
    assert calibration_tables._weights(test) == (
        "0.30 on 1, 0.20 on 2, 0.10 on 3, 0.10 on 4, 0.10 on 5, 0.10 on 6, 0.10 on the other 3"
    )
    test.weights = np.eye(9)[7]
    assert calibration_tables._weights(test) == "1.00 on 8"
    test.weights = np.array([0.25, 0.75])
    assert calibration_tables._weights(test) == "0.25 0.75"
