"""Wrong or right, and the gap, against their definitions."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, zero_one_loss
from tests.kinds import PREDICTING, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.losses import is_correct, prediction_errors, probability_gap


@pytest.mark.parametrize("kind", PREDICTING)
def test_labels_against_another_library(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=40, n_classes=4)
    y = random_generator.integers(0, 4, 40)
    assert is_correct(y, prediction).mean() == accuracy_score(y, prediction.labels())
    assert prediction_errors(y, prediction).mean() == zero_one_loss(y, prediction.labels())
    np.testing.assert_allclose(
        probability_gap(y, prediction), 1 - prediction.mean_probs()[np.arange(40), y], atol=1e-15
    )


def test_votes_are_labels_drawn_by_their_shares(random_generator):
    probs, votes = random_generator.dirichlet(np.ones(3), 30), random_generator.integers(0, 5, (30, 3)) + 1
    shares = votes / votes.sum(axis=1, keepdims=True)
    each = [[is_correct(np.full(30, c), probs), probability_gap(np.full(30, c), probs)] for c in range(3)]
    np.testing.assert_allclose(is_correct(votes, probs), np.einsum("nc,cn->n", shares, [e[0] for e in each]))
    np.testing.assert_allclose(probability_gap(votes, probs), np.einsum("nc,cn->n", shares, [e[1] for e in each]))
    np.testing.assert_allclose(prediction_errors(votes, probs), 1 - is_correct(votes, probs))


def test_arrays_are_taken_as_points_and_members(random_generator):
    members, y = random_generator.dirichlet(np.ones(3), (9, 4)), random_generator.integers(0, 3, 9)
    for function in (is_correct, prediction_errors, probability_gap):
        np.testing.assert_array_equal(function(y, members), function(y, uq.Members(members)))
        np.testing.assert_array_equal(function(y, members[:, 0]), function(y, uq.Point(members[:, 0])))


def test_one_instance_and_certainty():
    assert probability_gap([0], [[1.0, 0.0]]).tolist() == [0.0]
    assert prediction_errors([1], [[1.0, 0.0]]).tolist() == [1.0]
    with refuses("y_true", "range", got="row 0 holds 2"):
        is_correct([2], [[1.0, 0.0]])
