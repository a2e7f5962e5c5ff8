"""Metrics by name, in two steps, against the losses and scores they are made of."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics.streaming import HIGHER_IS_BETTER, PredictionMetric


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


@pytest.mark.parametrize("metric", HIGHER_IS_BETTER)
def test_whole_numbers_that_name_the_classes(metric, random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), 40), random_generator.integers(0, 3, 40)
    named, labels = uq.Point(probs, class_names=["2", "0", "1"]), np.array([2, 0, 1])[y]
    expected = uq.metrics.prediction_metric(y, probs, metric=metric)
    assert repr(uq.metrics.prediction_metric(labels, named, metric=metric)) == repr(expected)
    assert repr(uq.metrics.prediction_metric(labels, named, metric=metric, labels=[0, 1, 2])) == repr(expected)
    streamed = uq.metrics.StreamingMetric(metric)
    streamed.update(named, labels)
    assert repr(streamed.compute()) == repr(expected)


def test_unknown_distance():
    with refuses("distance", "choice"):
        PredictionMetric(distance="far")
