"""Labels and probabilities of calibration measures: arrays, batches and predictions."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import confidence_calibration_error, kernel_calibration_error, reliability_diagram
from uqassay.metrics.calibration.inputs import as_probs, calibration_batch, instance_weights


@pytest.mark.parametrize("kind", KINDS)
def test_a_prediction_stands_for_its_mean(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=30, n_classes=4)
    y, mean = random_generator.integers(0, 4, 30), prediction.mean_probs()
    assert confidence_calibration_error(y, prediction) == confidence_calibration_error(y, mean)
    assert kernel_calibration_error(y, prediction) == kernel_calibration_error(y, mean)
    np.testing.assert_array_equal(reliability_diagram(y, prediction).accuracy, reliability_diagram(y, mean).accuracy)


def test_labels_of_a_prediction_go_by_its_class_names():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    named = uq.Point(probs, class_names=("cat", "dog"))
    np.testing.assert_array_equal(calibration_batch(["dog", "cat"], named)[0], [1, 0])
    with refuses("y_true", got="row 1 .*'cow'|'cow' in row 1"):
        calibration_batch(["dog", "cow"], named)


def test_batches_broadcast(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 7))
    labels, p = calibration_batch(random_generator.integers(0, 3, (4, 1, 7)), probs)
    assert (labels.shape, p.shape) == ((4, 1, 7), (5, 7, 3))
    with refuses("y_true", "shape", got=r"\(2, 7\) and \(5, 7, 3\)"):
        calibration_batch(np.zeros((2, 7), int), probs)
    with refuses("y_true", "mismatch", got=r"\(6,\)"):
        calibration_batch(np.zeros(6, int), probs)


def test_classes_come_before_instances_in_memory_and_rounding_is_clipped():
    given = np.array([[1.0 + 5e-7, -5e-7], [0.25, 0.75]])
    given.flags.writeable = False
    p = as_probs(given)
    assert p.swapaxes(-1, -2).flags.c_contiguous
    assert (p.min(), p.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(p[1], given[1])


@pytest.mark.parametrize(
    ("probs", "code"),
    [
        (np.zeros(3), "shape"),
        (np.ones((3, 1)), "one-column"),
        (np.empty((0, 2)), "shape"),
        ([[0.5, 0.6]], "sum"),
        ([[np.nan, 0.5]], "finite"),
        (np.ma.masked_array([[0.5, 0.5]], [[0, 1]]), "masked"),
    ],
)
def test_what_is_not_a_distribution_is_refused(probs, code):
    with refuses("probs", code):
        as_probs(probs)


@pytest.mark.parametrize(
    ("y", "code", "got"),
    [([0.5], "type", "row 0 holds 0.5"), ([np.nan], "type", "nan"), ([2], "range", "2"), ([-1], "range", "-1")],
)
def test_labels_are_class_indices(y, code, got):
    with refuses("y_true", code, got=got):
        calibration_batch(y, [[0.5, 0.5]])


def test_weights_are_relative_to_the_greatest():
    assert instance_weights(None, 3) is None
    np.testing.assert_array_equal(instance_weights([1, 2, 4], 3), [0.25, 0.5, 1.0])
