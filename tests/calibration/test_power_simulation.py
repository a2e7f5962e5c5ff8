"""The curve of simulated powers against SciPy."""

import numpy as np
import pytest
from scipy import stats

import uqassay as uq
from tests.calibration.made_up_data import random_predictions
from uqassay.calibration.power import Miscalibration, calibration_power, fitted_probit


def test_data_sets_do_not_depend_on_their_number_or_the_kind_of_input():
    probs = random_predictions(4, 50)
    few = calibration_power(probs, Miscalibration.label_noise(0.2), 40, n_samples=5, rng=3)
    more = calibration_power(uq.Point(probs), Miscalibration.label_noise(0.2), 40, n_samples=9, rng=3)
    single = calibration_power(uq.Members(probs[:, None]), lambda p: 0.8 * p + 0.2 / 3, 40, n_samples=9, rng=3)
    assert np.array_equal(few.pvalues, more.pvalues[:5])
    assert np.array_equal(single.pvalues, more.pvalues)
    low = calibration_power(probs.astype(np.float32), Miscalibration.none(), 1, n_samples=3)
    assert low.pvalues.shape == (3,)


def test_fitted_curve_against_scipy():
    x, counts = np.array([0.5, 0.8, 1.0, 1.3]), np.array([4000.0, 4000, 4000, 4000])
    shares = stats.norm.cdf(-1.2 + 2.1 * x)
    a, b, covariance = fitted_probit(x, shares, counts)
    assert (a, b) == pytest.approx((-1.2, 2.1), abs=0.01)
    draws = np.random.default_rng(0).binomial(4000, shares, (200, 4)) / 4000
    found = np.array([fitted_probit(x, row, counts)[:2] for row in draws])
    assert found.std(axis=0) == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.2)
