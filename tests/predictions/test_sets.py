"""Intervals, class sets, masses and vertices."""

import numpy as np
import pandas as pd
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import intersection_probability
from uqassay.predictions import Box
from uqassay.predictions.sets import NO_CLASS, empty_sets_note

# Intervals: labels, prediction sets, empty sets.


def test_interval_labels_follow_the_upper_bounds():
    intervals = uq.Intervals([[0.35, 0.0, 0.1]], [[0.4, 0.5, 0.5]])
    assert intervals.mean_probs().argmax() == 0
    assert intervals.labels().tolist() == [1]


def test_prediction_sets_as_intervals():
    sets = np.array([[True, True, False], [False, True, False], [True, True, True]])
    for upper in (sets, sets.astype(int), sets.astype(np.float32)):
        intervals = uq.Intervals(0, upper)
        np.testing.assert_array_equal(intervals.upper_probs(), sets)
        assert intervals.lower_probs().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    np.testing.assert_allclose(uq.Intervals([[0.1, 0.2]], 1).upper_probs(), [[0.8, 0.9]], atol=1e-15)
    assert intervals[1:].n_instances == 2


def test_empty_sets_and_swapped_places_are_refused():
    with refuses("upper", "bounds", got="row 1 sums to 0; .*ClassSets"):
        uq.Intervals(0, [[1, 0], [0, 0]])
    with refuses("lower", "class-sets"):
        uq.Intervals(np.array([[True, False]]), 1)
    with refuses("lower", "range", got="got nan"):
        uq.Intervals(float("nan"), [[1, 0]])


def test_bounds_of_coarse_numbers_keep_their_tolerance():
    lower = np.array([[0.2998046875, 0.7001953125 + 0.00048828125]], np.float16)  # sums to 1.0005
    assert uq.Intervals(lower, np.ones((1, 2))).n_classes == 2
    for cast in (lower.astype(np.float32), lower.astype(float), [[0.3, 0.7005]]):
        with refuses("lower", "bounds"):
            uq.Intervals(cast, [[1.0, 1.0]])


# Box: what probability intervals and class sets share.


@pytest.mark.parametrize("prediction", [uq.Intervals([[0.1, 0.3, 0.0]], [[0.5, 0.8, 0.4]]), uq.ClassSets([[1, 0, 1]])])
def test_the_bounds_are_what_is_said_of_every_class(prediction):
    assert isinstance(prediction, Box)
    lower, upper = prediction.bounds()
    np.testing.assert_array_equal(prediction.lower_probs(), lower)
    np.testing.assert_array_equal(prediction.upper_probs(), upper)
    np.testing.assert_allclose(prediction.mean_probs(), intersection_probability(lower, upper), atol=1e-15)


# ClassSets: what is taken, what it says as a credal set, and the sets of MAPIE, crepes and TorchCP.


SETS = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)


@pytest.mark.parametrize("dtype", [bool, np.uint8, int, np.float16, np.float32])
def test_truth_values_and_numbers_of_0_and_1(dtype):
    given = SETS.astype(dtype)
    given.flags.writeable = False
    for sets in (given, given[:, :, None], given.tolist(), np.asfortranarray(given), given[::-1][::-1]):
        assert uq.ClassSets(sets).sets.dtype == bool
        np.testing.assert_array_equal(uq.ClassSets(sets).sets, SETS)


def test_torch_tensors_and_tables(needs):
    needs("torch")
    import torch

    np.testing.assert_array_equal(uq.ClassSets(torch.tensor(SETS).int()).sets, SETS)  # as of TorchCP
    table = pd.DataFrame(SETS, columns=["ant", "bee", "cow"], index=list("wxyz"))
    for found in (uq.ClassSets(table), uq.from_object(table)):
        assert found.class_names == ("ant", "bee", "cow")
        assert found.ids.tolist() == list("wxyz")
        np.testing.assert_array_equal(found.sets, SETS)


def test_arrays_of_truth_values_are_class_sets_everywhere():
    for array in (SETS, SETS.tolist(), SETS[:, :, None]):
        assert isinstance(uq.from_object(array), uq.ClassSets)
    y = [0, 1, 2, 0]
    given, stated = (uq.losses.unified_loss(y, sets).total for sets in (SETS, uq.ClassSets(SETS)))
    np.testing.assert_array_equal(given, stated)


@pytest.mark.parametrize(
    ("sets", "code", "got"),
    [
        ([[1, 0], [0.5, 0]], "range", "row 1 holds 0.5 for class 0"),
        ([[1, 0], [np.nan, 0]], "range", "row 1 holds nan"),
        ([[2, 0]], "range", "holds 2"),
        (np.ones((3, 2, 2), bool), "shape", r"\(3, 2, 2\).*sets\[:, :, 0\]"),
        (np.ones(3, bool), "shape", ""),
        (np.ones((3, 1), bool), "few-classes", ""),
        ([["a", "b"]], "type", ""),
    ],
)
def test_other_values_are_refused(sets, code, got):
    with refuses("sets", None if code in ("few-classes", "type", "shape") else code, got=got):
        uq.ClassSets(sets)


def test_lists_of_classes():
    lists = [[0, 1], [1], [], [2, 0, 1]]
    np.testing.assert_array_equal(uq.ClassSets.from_lists(lists, 3).sets, SETS)
    np.testing.assert_array_equal(uq.ClassSets.from_lists([np.array(s, int) for s in lists], 3).sets, SETS)
    names = ["ant", "bee", "cow"]
    named = uq.ClassSets.from_lists([[names[k] for k in s] for s in lists], class_names=names, groups=[1, 1, 2, 2])
    np.testing.assert_array_equal(named.sets, SETS)
    assert named.class_names == tuple(names)
    assert named.groups.tolist() == [1, 1, 2, 2]
    assert uq.ClassSets.from_lists([[], []], 2).is_empty().all()
    np.testing.assert_array_equal(uq.ClassSets.from_lists([set(s) for s in lists], 3).sets, SETS)
    with refuses("n_classes", "missing"):
        uq.ClassSets.from_lists(lists)
    with refuses("sets", "range", got="row 3 holds 2"):
        uq.ClassSets.from_lists(lists, 2)


@pytest.mark.parametrize(
    ("sets", "parameter", "code", "got"),
    [
        ([0, 1], "sets", "type", "row 0 holds 0"),
        (["cat"], "sets", "type", "row 0 holds 'cat'"),
        (None, "sets", "type", "NoneType"),
        ({0: [1]}, "sets", "type", "dict"),
        ([[0], [True, False]], "sets", "type", "row 1 holds True; .*ClassSets"),  # truth values are no class numbers
        (np.eye(3, dtype=bool), "sets", "type", "row 0 holds"),
        (np.eye(3, dtype=int), "sets", "duplicate", r"row 0 has 3 entries of 2 classes; .*ClassSets\(sets\)"),
        ([[0], [[1]]], "sets", "type", "row 1"),
        ([[0], [1.5]], "sets[1]", None, "1.5"),
        ([[0], ["a"]], "sets[1]", None, "'a'"),
    ],
)
def test_other_lists_are_refused(sets, parameter, code, got):
    with refuses(parameter, code, got=got):
        uq.ClassSets.from_lists(sets, 3)


@pytest.mark.parametrize(
    ("n_classes", "code"), [("3", "type"), (2.5, "type"), (True, "type"), (1, "range"), (-3, "range")]
)
def test_other_numbers_of_classes_are_refused(n_classes, code):
    with refuses("n_classes", code):
        uq.ClassSets.from_lists([[0]], n_classes)
    with refuses("n_classes", "mismatch"):
        uq.ClassSets.from_lists([[0]], 5, class_names=["a", "b"])


def test_what_judges_probabilities_or_mistakes_refuses_class_sets():
    """Sizes would rank errors of 1 − 1/s by construction, and a uniform mean was never stated."""
    y, prediction = [0, 1, 2, 0], uq.ClassSets(SETS)
    for judge in (uq.metrics.calibration_error_estimate, uq.calibration.calibration_test):
        with refuses("probs", "undefined"):
            judge(y, prediction)
    with refuses("members", "undefined"):
        uq.calibration.credal_calibration_test(y, prediction)
    with refuses("prediction", "undefined"):
        uq.losses.prediction_errors(y, prediction)
    assert uq.losses.prediction_errors([0, 1, 1], uq.ClassSets(np.eye(3, dtype=bool))).tolist() == [0, 0, 1]
    from uqassay.metrics.streaming import PredictionMetric

    with refuses("prediction", "undefined"):
        PredictionMetric(metric="uq-c-index").part(y, prediction)


def test_the_credal_set_is_that_of_all_distributions_on_the_classes():
    prediction = uq.ClassSets(SETS)
    filled = SETS | ~SETS.any(axis=1, keepdims=True)
    box = uq.Intervals(np.zeros(SETS.shape), filled.astype(float))
    for name in ("lower_probs", "upper_probs", "mean_probs"):
        np.testing.assert_allclose(getattr(prediction, name)(), getattr(box, name)(), atol=1e-15)
    masses = uq.Masses(np.eye(4)[[0, 1, 2, 2]], [[0, 1], [1], [0, 1, 2], [0]], n_classes=3)
    y = np.array([2, 1, 0, 1])
    for distance in ("js", "tv", "brier"):
        ours, theirs = (uq.losses.unified_loss(y, p, distance=distance) for p in (prediction, masses))
        np.testing.assert_allclose(ours.total, theirs.total, atol=1e-12)
    for name in ("upper_entropy", "lower_entropy"):
        found = getattr(uq.measures, name)(prediction)
        np.testing.assert_allclose(found, np.log([2, 1, 3, 3]) if name == "upper_entropy" else 0, atol=1e-12)


def test_a_single_class_is_predicted_and_several_are_not():
    certain = uq.ClassSets(np.eye(3, dtype=bool))
    assert certain.labels().tolist() == [0, 1, 2]
    assert uq.losses.is_correct([0, 1, 1], certain).tolist() == [1, 1, 0]
    prediction = uq.ClassSets(SETS)
    assert prediction.only_classes().tolist() == [NO_CLASS, 1, NO_CLASS, NO_CLASS]
    with refuses("prediction", "undefined", got="row 0 has 2"):
        prediction.labels()
    # discounted accuracy: 1/s if the label is one of the s classes
    np.testing.assert_allclose(uq.losses.is_correct([0, 0, 0, 0], prediction), [1 / 2, 0, 1 / 3, 1 / 3])


def test_rows_keep_their_sets_and_one_class_against_the_rest():
    prediction = uq.ClassSets(SETS, ids=list("wxyz"))
    np.testing.assert_array_equal(prediction[[3, 0]].sets, SETS[[3, 0]])
    binary = prediction.one_versus_rest(0)
    np.testing.assert_allclose(binary.upper_probs(), [[1, 1], [1, 0], [1, 1], [1, 1]])
    np.testing.assert_allclose(binary.lower_probs(), [[0, 0], [1, 0], [0, 0], [0, 0]])


def test_the_note_counts_empty_sets():
    assert empty_sets_note(2, 9).text.startswith("2 of 9 class sets are empty")


# -- other libraries ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """A classifier of handwritten digits, and images that it was not trained on in two parts."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order] / 16, y[order]
    model = LogisticRegression(max_iter=60, C=0.003).fit(x[:600], y[:600])
    return model, (x[600:1100], y[600:1100]), (x[1100:], y[1100:])


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_coverage_and_width_are_those_of_mapie(needs, fitted, score):
    needs("mapie")
    from mapie import classification
    from mapie.metrics.classification import classification_coverage_score, classification_mean_width_score

    model, (x, y), (x_test, y_test) = fitted
    conformal = classification.SplitConformalClassifier(
        model, confidence_level=[0.8, 0.95], conformity_score=score, prefit=True, random_state=1
    ).conformalize(x, y)
    _, sets = conformal.predict_set(x_test)  # (n, K, 2)
    with refuses("sets", "shape"):
        uq.from_object(sets)
    for level in range(2):
        found = uq.metrics.class_set_scores(y_test, uq.ClassSets(sets[:, :, level]))
        np.testing.assert_allclose(found.coverage, classification_coverage_score(y_test, sets)[level], atol=1e-12)
        np.testing.assert_allclose(found.size, classification_mean_width_score(sets)[level], atol=1e-12)
    assert score != "lac" or uq.ClassSets(sets[:, :, 0]).is_empty().any()


def test_error_size_and_single_sets_are_those_of_crepes(needs, fitted):
    needs("crepes")
    import crepes

    model, (x, y), (x_test, y_test) = fitted
    wrapped = crepes.WrapClassifier(model)
    wrapped.calibrate(x, y)
    sets = uq.ClassSets.from_lists(wrapped.predict_set(x_test, confidence=0.95, seed=3), 10)
    found = uq.metrics.class_set_scores(y_test, sets)
    theirs = wrapped.evaluate(x_test, y_test, confidence=0.95, seed=3, metrics=["error", "avg_c", "one_c", "empty"])
    np.testing.assert_allclose(1 - found.coverage, theirs["error"], atol=1e-12)
    np.testing.assert_allclose(found.size, theirs["avg_c"], atol=1e-12)
    np.testing.assert_allclose(found.determinacy, theirs["one_c"], atol=1e-12)
    np.testing.assert_allclose(sets.is_empty().mean(), theirs["empty"], atol=1e-12)


def test_tensors_of_truth_values_are_class_sets(needs):
    needs("torch")
    import torch

    given = torch.tensor(SETS)
    found = uq.losses.unified_loss([0, 1, 2, 0], given).total
    np.testing.assert_array_equal(found, uq.losses.unified_loss([0, 1, 2, 0], SETS).total)
    np.testing.assert_array_equal(uq.measures.upper_entropy(given), uq.measures.upper_entropy(SETS))


# Masses: beliefs, their repair, pignistic probability.


def test_beliefs_round_trip_and_repair(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"], class_names=cifar10["classes"])
    assert rs.signed
    assert rs.masses.sum(axis=1).min() == pytest.approx(-0.0699, abs=1e-4)
    assert rs.masses.sum(axis=1).max() == pytest.approx(2.4017, abs=1e-4)
    with refuses("beliefs", "not-belief-functions"):
        rs.upper_probs()
    repaired = rs.repaired()
    assert not repaired.signed
    assert repaired.class_names == tuple(cifar10["classes"])
    assert repaired.notes[-1].code == "repaired"
    assert repaired.notes[-1].facts == {"rows": 2843, "n": 10_000}
    np.testing.assert_allclose(repaired.masses.sum(axis=1), 1)
    # belief functions stay unchanged
    same = uq.Masses([[0.5, 0.5]], [[0], [0, 1]], n_classes=2)
    assert same.repaired() is same


def test_pignistic_and_intersection_probability_against_their_formulas(random_generator):
    masses = random_prediction("Masses", random_generator, 4, 4)
    sizes = masses.focal_sets.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(masses.mean_probs(), masses.masses @ (masses.focal_sets / sizes))
    intervals = uq.Intervals([[0.1, 0.2, 0.3]], [[0.3, 0.4, 0.5]])
    np.testing.assert_allclose(
        intervals.mean_probs(), [[0.1 + 0.4 * 0.2 / 0.6, 0.2 + 0.4 * 0.2 / 0.6, 0.3 + 0.4 * 0.2 / 0.6]]
    )


def test_lists_of_class_indices_need_the_number_of_classes():
    """The remedy works as it stands."""
    masses, sets = [[0.5, 0.25, 0.25]], [[0], [1], [2]]
    with refuses("n_classes", "missing", got="pass n_classes=3 or a boolean array") as refusal:
        uq.Masses(masses, sets)
    assert uq.Masses(masses, sets, n_classes=refusal.value.facts["least"]).n_classes == 3
    assert uq.Masses(masses, np.eye(3, dtype=bool)).n_classes == 3


@pytest.mark.parametrize("sets", [None, 5, {}, [0, 1, 2]])
def test_other_focal_sets_are_refused_with_the_forms_that_work(sets):
    with refuses("n_classes" if isinstance(sets, list) else "focal_sets", got="boolean array"):
        uq.Masses([[0.5, 0.25, 0.25]], sets)


# Vertices: padding.


def test_padding_a_vertex_list_changes_nothing():
    plain = uq.Vertices([[[0.6, 0.4], [0.3, 0.7]]])
    padded = uq.Vertices([[[0.6, 0.4], [0.3, 0.7], [0.6, 0.4], [0.6, 0.4]]])
    np.testing.assert_allclose(padded.mean_probs(), plain.mean_probs())
    assert padded.labels().tolist() == plain.labels().tolist() == [1]


def test_order_and_repeats_change_no_mean(random_generator):
    vertices = random_generator.dirichlet(np.ones(3), (20, 5))
    vertices[:, 3] = vertices[:, 1]
    expected = uq.Vertices(vertices[:, [0, 1, 2, 4]]).mean_probs()
    np.testing.assert_allclose(expected, vertices[:, [0, 1, 2, 4]].mean(axis=1), rtol=1e-14)
    for _ in range(5):
        order = random_generator.permutation(5)
        np.testing.assert_array_equal(uq.Vertices(vertices[:, order]).mean_probs(), expected)
