"""ClassSets: what is taken, what it says as a credal set, and the sets of MAPIE, crepes and TorchCP."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions.sets import NO_CLASS, empty_sets_note

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


@pytest.mark.parametrize("n_classes", ["3", 2.5, True, 1, -3])
def test_other_numbers_of_classes_are_refused(n_classes):
    with refuses("n_classes", "range"):
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
