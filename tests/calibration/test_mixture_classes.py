"""Errors of every class of mixtures: which probabilities are computed, and errors against the measures."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import ClassesOfEqualMass, ClassesOfEqualWidth
from uqassay.metrics.measures import calibration_measure

HOSMER_LEMESHOW = calibration_measure("hosmer-lemeshow").prepare
ERRORS = {
    "ece-classwise": lambda members: ClassesOfEqualWidth(members, 10),
    "ece-classwise-mass": lambda members: ClassesOfEqualMass(members, 10),
    "hosmer-lemeshow": lambda members: ClassesOfEqualMass(
        members, HOSMER_LEMESHOW.n_bins, least_expected=HOSMER_LEMESHOW.least_expected
    ),
}


def test_probabilities_that_stay_in_their_bin_are_left_out():
    members = np.array([[[0.65, 0.35], [0.68, 0.32]], [[0.65, 0.35], [0.75, 0.25]]])
    bins = 2 * 10
    assert ClassesOfEqualWidth(members[:1], 10).n_columns == bins
    assert ClassesOfEqualWidth(members, 10).n_columns == bins + 2
    assert ClassesOfEqualMass(members, 10).n_columns == 4  # all of them


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_formulas_against_the_measure(name):
    rng = np.random.default_rng(0)
    members, weights = rng.dirichlet(np.ones(4), (80, 3)), rng.dirichlet(np.ones(3), 6)
    labels = rng.integers(0, 4, (2, 80))
    errors, targets = ERRORS[name](members), np.array([0, 1, 1, 0, 1, 0])
    measure = calibration_measure(name)
    exact = measure.prepare(np.einsum("lm,nmk->lnk", weights, members)).values(labels[targets])
    np.testing.assert_allclose(errors.values(weights, errors.arranged(labels), targets), exact, rtol=1e-11)
    rough = errors.single().values(weights, errors.arranged(labels), targets)
    assert 0 < np.abs(rough / exact - 1).max() < 1e-4
