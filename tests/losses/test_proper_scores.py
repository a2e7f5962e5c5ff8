"""Log loss and Brier loss against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.losses import brier_loss, log_loss


@pytest.mark.parametrize("kind", KINDS)
def test_means_against_another_library(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=60, n_classes=3)
    y, p = random_generator.integers(0, 3, 60), prediction.mean_probs()
    assert log_loss(y, prediction).mean() == pytest.approx(metrics.log_loss(y, p, labels=[0, 1, 2]), rel=1e-9)
    brier = metrics.brier_score_loss(y, p, labels=[0, 1, 2], scale_by_half=False)
    assert brier_loss(y, prediction).mean() == pytest.approx(brier, rel=1e-9)


def test_label_distributions_are_averages_over_labels(random_generator):
    probs, shares = random_generator.dirichlet(np.ones(4), (2, 20))
    by_class = [log_loss(np.full(20, c), probs) for c in range(4)]
    np.testing.assert_allclose(log_loss(shares, probs), np.einsum("nc,cn->n", shares, by_class))
    np.testing.assert_allclose(brier_loss(shares, probs), ((probs - shares) ** 2).sum(axis=1))


def test_a_zero_costs_the_same_in_all_number_types():
    for dtype in (np.float16, np.float32, np.float64):
        sure = uq.Point(np.array([[1.0, 0.0]], dtype=dtype))
        assert log_loss([1], sure)[0] == pytest.approx(52 * np.log(2))
    assert np.isinf(log_loss([1], [[1.0, 0.0]], floor=0.0)[0])
    assert log_loss([1], [[1.0, 0.0]], floor=1e-3)[0] == pytest.approx(-np.log(1e-3))
    assert brier_loss([1], [[1.0, 0.0]]).tolist() == [2.0]
