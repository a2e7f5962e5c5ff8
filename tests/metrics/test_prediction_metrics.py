"""Metrics by name, in two steps, against the losses and scores they are made of."""

import numpy as np
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics.prediction_metrics import PredictionMetric


def test_parts_hold_the_columns(random_generator):
    p, y = uq.Members(random_generator.dirichlet(np.ones(3), (9, 4))), random_generator.integers(0, 3, 9)
    loss = uq.losses.unified_loss(y, p, distance="tv")
    part = PredictionMetric(metric="unified", distance="tv").part(y, p)
    np.testing.assert_array_equal(part.columns[0], loss.distance)
    np.testing.assert_array_equal(part.sizes.values, loss.nonspecificity)
    for score in ("least-confidence", "nonspecificity"):
        errors, uncertainty = PredictionMetric(metric="uq-auc", score=score).part(y, p).columns
        np.testing.assert_array_equal(errors, uq.losses.prediction_errors(y, p))
        expected = loss.nonspecificity if score == "nonspecificity" else uq.measures.uncertainty_score(p, score)
        np.testing.assert_array_equal(uncertainty, expected)


def test_unknown_distance():
    with refuses("distance", "choice"):
        PredictionMetric(distance="far")
