"""Confidences of mixtures: which classes are computed, and errors against the measures."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import BinsOfConfidence, CumulatedConfidence, Predicted
from uqassay.metrics.measures import calibration_measure

ERRORS = {
    "ece-confidence": lambda predicted: BinsOfConfidence(predicted, 10, False),
    "ece-confidence-mass": lambda predicted: BinsOfConfidence(predicted, 10, True),
    "kuiper-confidence": lambda predicted: CumulatedConfidence(predicted, "kuiper"),
    "ks-confidence": lambda predicted: CumulatedConfidence(predicted, "ks"),
}


def test_classes_that_no_mixture_predicts_are_left_out():
    agree, differ = [[0.6, 0.3, 0.1], [0.7, 0.1, 0.2]], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]
    assert Predicted(np.array([agree, agree])).n_columns == 2
    assert Predicted(np.array([agree, differ])).n_columns == 4  # every class of the second may win: 0.3 against 0.2
    assert Predicted(np.array([[[1 / 3] * 3]])).n_columns == 3  # ties


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_formulas_against_the_measure(name):
    rng = np.random.default_rng(0)
    members, weights = rng.dirichlet(np.ones(4), (40, 3)), rng.dirichlet(np.ones(3), 6)
    labels = rng.integers(0, 4, (2, 40))
    errors, targets = ERRORS[name](Predicted(members)), np.array([0, 1, 1, 0, 1, 0])
    exact = calibration_measure(name).prepare(np.einsum("lm,nmk->lnk", weights, members)).values(labels[targets])
    np.testing.assert_allclose(errors.values(weights, errors.arranged(labels), targets), exact, rtol=1e-11)
    rough = errors.single().values(weights, errors.arranged(labels), targets)  # after the other precision
    assert 0 < np.abs(rough - exact).max() < 1e-5
