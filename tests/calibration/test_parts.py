"""Two disjoint parts of the instances."""

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import ensemble_with_a_calibrated_member
from tests.refusals import refuses
from uqassay.calibration.credal import credal_calibration_test
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


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, uq.Members])
def test_members_on_the_first_axis_are_named(kind):
    members = np.moveaxis(np.full((30, 4, 3), 1 / 3), 1, 0)  # (M, n, K)
    with refuses("y_true", "member-axis", got="30, which is the number of members") as refusal:
        credal_calibration_test(np.arange(30) % 3, kind(members))
    assert "Members(probs, member_axis=0)" in refusal.value.remedy
    with refuses("y_true", "member-axis") as refusal:
        uq.losses.unified_loss(np.arange(30) % 3, kind(members))
    assert "Members(probs, member_axis=0)" in refusal.value.remedy
