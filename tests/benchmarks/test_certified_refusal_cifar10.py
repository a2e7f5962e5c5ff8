"""The halves of the benchmark: shares of a threshold that is never and one that is always above the limit."""

import numpy as np
import pytest
from benchmarks.certified_refusal_cifar10 import halves


def test_halves_of_data_without_doubt():
    errors = np.repeat([0.0, 1.0], [400, 100])
    found = halves(errors, errors, 0.05, n_splits=3)
    assert found == pytest.approx([0, 0.8, 0, 0.8], abs=0.06)
