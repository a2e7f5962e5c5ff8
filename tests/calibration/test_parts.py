"""Two disjoint parts of the instances."""

import numpy as np
import pytest

from tests.calibration.average_cases import LABELS, MEMBERS, ensemble
from tests.refusals import refuses
from uqassay.calibration.weighted_average import weighted_average_effect


def test_labels_have_no_say_in_the_parts():
    labels, members = ensemble(4, 100)
    first = weighted_average_effect(labels, members, null="random", n_draws=10)
    again = weighted_average_effect((labels + 1) % 4, members, null="random", n_draws=10)
    assert np.array_equal(first.calibration_rows, again.calibration_rows)
    third = weighted_average_effect(labels, members, null="random", n_draws=10, fraction=0.3)
    assert len(third.calibration_rows) == pytest.approx(30, abs=1)


def test_a_single_instance_is_named():
    with refuses("y_true", "range", got="got 1"):
        weighted_average_effect(LABELS[:1], MEMBERS[:1])
