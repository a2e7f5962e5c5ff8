"""Two disjoint parts of the instances."""

import numpy as np
import pytest

from tests.calibration.made_up_data import ensemble_with_a_calibrated_member
from tests.refusals import refuses
from uqassay.calibration.weighted_average import weighted_average_effect


def test_parts_do_not_depend_on_the_labels():
    labels, members = ensemble_with_a_calibrated_member(4, 100)
    first = weighted_average_effect(labels, members, null="random", n_draws=10)
    again = weighted_average_effect((labels + 1) % 4, members, null="random", n_draws=10)
    assert np.array_equal(first.calibration_rows, again.calibration_rows)
    third = weighted_average_effect(labels, members, null="random", n_draws=10, fraction=0.3)
    assert len(third.calibration_rows) == pytest.approx(30, abs=1)


def test_a_single_instance_is_refused():
    with refuses("y_true", "range", got="got 1"):
        weighted_average_effect(*ensemble_with_a_calibrated_member(6, 1))
