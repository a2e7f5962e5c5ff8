"""Labels and probabilities of calibration measures: arrays, batches and predictions."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from tests.kinds import PREDICTING, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import confidence_calibration_error, kernel_calibration_error, reliability_diagram
from uqassay.metrics.bins import as_probs, classes_apart, instance_weights, labels_and_probs
from uqassay.metrics.kernel_error import kernel_bandwidth


@pytest.mark.parametrize("kind", PREDICTING)
def test_a_prediction_stands_for_its_mean(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=30, n_classes=4)
    y, mean = random_generator.integers(0, 4, 30), prediction.mean_probs()
    assert confidence_calibration_error(y, prediction) == confidence_calibration_error(y, mean)
    assert kernel_calibration_error(y, prediction) == kernel_calibration_error(y, mean)
    np.testing.assert_array_equal(reliability_diagram(y, prediction).accuracy, reliability_diagram(y, mean).accuracy)


DOOR = {
    "confidence_calibration_error": uq.metrics.confidence_calibration_error,
    "classwise_calibration_error": uq.metrics.classwise_calibration_error,
    "proper_score_parts": uq.metrics.proper_score_parts,
    "kernel_calibration_error": uq.metrics.kernel_calibration_error,
    "kernel_bandwidth": lambda y, probs: kernel_bandwidth(probs),
    "hosmer_lemeshow_statistic": uq.metrics.hosmer_lemeshow_statistic,
    "reliability_diagram": uq.metrics.reliability_diagram,
    "hosmer_lemeshow_test": uq.calibration.hosmer_lemeshow_test,
    "kernel_calibration_estimate": uq.calibration.kernel_calibration_estimate,
    "skce_pvalue": partial(uq.calibration.skce_pvalue, n_draws=19),
    "calibration_test": partial(uq.calibration.calibration_test, n_draws=19),
}


def plain(result):
    return dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result


@pytest.mark.parametrize("name", DOOR)
@pytest.mark.parametrize(("n", "m"), [(12, 12), (12, 4), (20, 1)])
def test_an_array_means_the_same_as_its_prediction(name, n, m, random_generator):
    """(n, K) is a point and (n, M, K) members, which stand for their mean, also where n = M."""
    members, y = random_generator.dirichlet(np.ones(3), (n, m)), random_generator.integers(0, 3, n)
    mean = uq.Members(members).mean_probs()
    wanted = plain(DOOR[name](y, uq.Point(mean)))
    for same in (mean, {"probs": mean}, uq.Members(members), members, {"probs": members}):
        np.testing.assert_equal(plain(DOOR[name](y, same)), wanted)


def test_members_are_no_batch(random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), (5, 7)), random_generator.integers(0, 3, (5, 7))
    with refuses("y_true", "shape", got="batched=True"):
        confidence_calibration_error(y, probs)
    each = [confidence_calibration_error(*one) for one in zip(y, probs, strict=True)]
    np.testing.assert_array_equal(confidence_calibration_error(y, probs, batched=True), each)
    with refuses("y_true", "mismatch"):
        confidence_calibration_error(y[0], probs)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_of_low_precision_are_accepted_from_all_kinds(dtype, random_generator):
    members = random_generator.dirichlet(np.ones(9), (30, 4)).astype(dtype)
    y = random_generator.integers(0, 9, 30)
    of_array = confidence_calibration_error(y, members)
    assert of_array == confidence_calibration_error(y, uq.Members(members))
    assert confidence_calibration_error(y, members[:, 0]) == confidence_calibration_error(y, uq.Point(members[:, 0]))


def test_labels_of_a_prediction_go_by_its_class_names():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    named = uq.Point(probs, class_names=("cat", "dog"))
    np.testing.assert_array_equal(labels_and_probs(["dog", "cat"], named)[0], [1, 0])
    with refuses("y_true", got="row 1 .*'cow'|'cow' in row 1"):
        labels_and_probs(["dog", "cow"], named)


def test_batches_broadcast(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 7))
    labels, p = labels_and_probs(random_generator.integers(0, 3, (4, 1, 7)), probs, batched=True)
    assert (labels.shape, p.shape) == ((4, 1, 7), (5, 7, 3))
    with refuses("y_true", "shape", got=r"\(2, 7\) and \(5, 7, 3\)"):
        labels_and_probs(np.zeros((2, 7), int), probs, batched=True)
    with refuses("y_true", "mismatch", got=r"\(6,\)"):
        labels_and_probs(np.zeros(6, int), probs, batched=True)


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
    with refuses("probs", code):
        as_probs(probs, batched=True)


@pytest.mark.parametrize(
    ("y", "code", "got"),
    [([0.5], "type", "row 0 holds 0.5"), ([np.nan], "type", "nan"), ([2], "range", "2"), ([-1], "range", "-1")],
)
def test_labels_are_class_indices(y, code, got):
    with refuses("y_true", code, got=got):
        labels_and_probs(y, [[0.5, 0.5]])


def test_weights_are_relative_to_the_greatest():
    assert instance_weights(None, 3) is None
    np.testing.assert_array_equal(instance_weights([1, 2, 4], 3), [0.25, 0.5, 1.0])


def test_classes_lie_apart_in_memory_with_the_same_values(random_generator):
    for probs in (random_generator.dirichlet(np.ones(3), 7), random_generator.dirichlet(np.ones(3), (2, 7))):
        found = classes_apart(probs)
        np.testing.assert_array_equal(found, probs)
        assert np.swapaxes(found, -1, -2).flags.c_contiguous
        assert np.shares_memory(classes_apart(found), found)
        assert not np.shares_memory(found, probs)
