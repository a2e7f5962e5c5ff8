"""Box: what probability intervals and class sets share."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.credal import intersection_probability
from uqassay.predictions import Box


@pytest.mark.parametrize("prediction", [uq.Intervals([[0.1, 0.3, 0.0]], [[0.5, 0.8, 0.4]]), uq.ClassSets([[1, 0, 1]])])
def test_the_bounds_are_what_is_said_of_every_class(prediction):
    assert isinstance(prediction, Box)
    lower, upper = prediction.bounds()
    np.testing.assert_array_equal(prediction.lower_probs(), lower)
    np.testing.assert_array_equal(prediction.upper_probs(), upper)
    np.testing.assert_allclose(prediction.mean_probs(), intersection_probability(lower, upper), atol=1e-15)
