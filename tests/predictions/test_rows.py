"""Rows, labels and classes that are put into one order, or refused."""

import inspect

import numpy as np
import pandas as pd
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.frames import FromFile
from uqassay.predictions.keys import classes_in_order, label_columns, values_of_classes
from uqassay.predictions.rows import Known, check_moved, check_positions, counts_up, in_rows_of, order_like

# Which rows are the same instance.


IDS = np.array(["a", "b", "c", "d"])
TURN = np.array([2, 0, 3, 1])


def known(ids=None, place="m", **keys):
    return Known(ids, keys, place)


def test_ids_align_however_they_are_written():
    assert order_like(known(IDS[TURN]), known(IDS)).tolist() == np.argsort(TURN).tolist()
    assert order_like(known(IDS), known(IDS)) is None
    assert order_like(known(np.array(["1", "0"])), known(np.array([0.0, 1.0]))).tolist() == [1, 0]
    with refuses("m", "ids", got="missing"):
        order_like(known(IDS), known(np.array(["a", "b", "c", "z"])))
    with refuses("m", "ids", got="repeated"):
        order_like(known(np.array(["a", "b", "b", "d"])), known(np.array(["a", "b", "d", "d"])))


def test_keys_of_one_name_align_and_others_say_nothing():
    assert order_like(known(image=IDS[TURN]), known(image=IDS)).tolist() == np.argsort(TURN).tolist()
    assert order_like(known(image=IDS[TURN]), known(file=IDS)) is None
    assert order_like(known(), known(image=IDS)) is None
    assert order_like(known(IDS[TURN]), known(image=IDS)).tolist() == np.argsort(TURN).tolist()  # the ids are in image
    with refuses("m", "ids", got="'d'") as refusal:
        order_like(known(image=np.array(["a", "b", "c", "z"])), known(image=IDS, place="n"))
    assert refusal.value.facts == {"column": "image"}
    # two keys agree, or are refused
    both = known(image=IDS[TURN], number=np.arange(4)[TURN])
    assert order_like(both, known(image=IDS, number=np.arange(4))).tolist() == np.argsort(TURN).tolist()
    with refuses("m", "ids", got="image and number"):
        order_like(known(image=IDS[TURN], number=np.arange(4)), known(image=IDS, number=np.arange(4)))


def test_values_of_more_instances():
    assert order_like(known(IDS[TURN]), known(IDS[1:3])).tolist() == [3, 0]
    assert order_like(known(image=IDS), known(image=IDS[2:])).tolist() == [2, 3]
    assert order_like(known(image=IDS[:2]), known(image=IDS)) is None  # the number of rows is refused


def test_nothing_stands_by_position_where_rows_moved():
    with refuses("y_true", "ids"):
        check_positions(Known(None, {}, "the predictions", moved="models['B']"), "y_true")
    check_positions(Known(None, {}, "the predictions"), "y_true")
    silent = Known(None, {"image": IDS}, "the predictions", silent="models['B']")
    with refuses("models['B'].ids", "ids", got="y_true"):
        check_moved(TURN, silent, "y_true")
    check_moved(np.array([0, 2, 3]), silent, "y_true")  # a part, in the same order
    check_moved(None, silent, "y_true")
    check_moved(TURN, silent._replace(silent=""), "y_true")


@pytest.mark.parametrize(
    ("ids", "counts"), [(None, False), ([0, 1, 2], True), ([0.0, 1.0], True), ([1, 2], False), (["0"], False)]
)
def test_counting_ids(ids, counts):
    assert counts_up(None if ids is None else np.array(ids)) is counts


def test_values_of_a_file_in_the_order_of_a_prediction():
    known = Known(IDS, {}, "the predictions")
    values = FromFile(np.array([2, 0, 3, 1]), ids=IDS[TURN], class_names=("w", "x", "y", "z"))
    found = in_rows_of(values, known, "labels")
    assert (found.tolist(), found.ids, found.class_names) == ([0, 1, 2, 3], None, ("w", "x", "y", "z"))


# Labels and probabilities in each other's place are refused by every function of both.


PROBS = np.array([[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
LABELS = [0, 1, 1]


def functions():
    for room in (uq.metrics, uq.losses):
        for name in room.__all__:
            found = getattr(room, name)
            if inspect.isfunction(found):
                names = list(inspect.signature(found).parameters)
                if names[0] == "y_true" and names[1:2] and names[1] in ("probs", "prediction", "y_prob"):
                    yield found


FUNCTIONS = list(functions())


def test_there_are_such_functions():
    assert len(FUNCTIONS) >= 18


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "labels", [LABELS, np.array([0, 1, 2]), pd.Series(["a", "b", "b"])], ids=["list", "array", "names"]
)
@pytest.mark.parametrize(
    "probs", [PROBS.tolist(), uq.Point(PROBS), pd.DataFrame(PROBS)], ids=["list", "Point", "frame"]
)
def test_swapped_labels_are_refused(function, labels, probs):
    if function.__name__ == "prediction_metric" and labels is LABELS and not isinstance(probs, uq.Point):
        pytest.skip("label distributions and certain probabilities of the second class")
    with refuses("y_true", "mismatch") as problem:
        function(probs, labels)
    assert "seem to be swapped" in str(problem.value)


def test_the_remedy_works():
    given = {"probs": PROBS, "y_true": LABELS}
    assert uq.metrics.confidence_calibration_error(**given) == uq.metrics.confidence_calibration_error(LABELS, PROBS)


def test_confidences_in_place_of_hits_are_refused():
    from uqassay.metrics import expected_calibration_error, reliability

    for function in (expected_calibration_error, reliability):
        for swapped in (([0.9, 0.8], [1, 0]), (PROBS, LABELS)):
            with refuses("correct", "mismatch"):
                function(*swapped)
        function([1, 0], [0.9, 0.8])
        function([0.5, 1.0], [1.0, 1.0])  # shares of votes for sure predictions


# Classes and what belongs to them follow their names.


NAMES = ("a", "b", "c")


@pytest.mark.parametrize("kind", ["Point", "Members", "Dirichlet", "Intervals", "ClassSets", "Vertices", "Masses"])
def test_a_prediction_follows_its_names(kind, random_generator):
    named = random_prediction(kind, random_generator, 4, 3).with_metadata(class_names=NAMES)
    moved = classes_in_order(named, ("c", "a", "b"), "after")
    assert moved.class_names == ("c", "a", "b")
    assert np.allclose(moved.mean_probs(), named.mean_probs()[:, [2, 0, 1]])
    if kind != "Dirichlet":  # whose bounds are those of random draws
        assert np.allclose(moved.upper_probs(), named.upper_probs()[:, [2, 0, 1]])
    assert classes_in_order(named, None, "after") is named
    with refuses("after.class_names", "ids", got="'d' first"):
        classes_in_order(named, ("a", "b", "d"), "after")


def test_values_of_classes_follow_their_labels():
    costs = pd.DataFrame([[0, 1], [2, 0]], index=["b", "a"], columns=["b", "a"])
    assert values_of_classes(costs, ("a", "b"), 2, "costs").tolist() == [[0, 2], [1, 0]]
    assert values_of_classes([[0, 1], [2, 0]], ("a", "b"), 2, "costs").tolist() == [[0, 1], [2, 0]]
    assert values_of_classes(pd.Series([0.1, 0.9]), ("a", "b"), 2, "prior").tolist() == [0.1, 0.9]
    assert values_of_classes(pd.Series([0.1, 0.9], index=[1, 0]), None, 2, "prior").tolist() == [0.9, 0.1]
    with refuses("costs", "ids"):  # the rows have no names
        values_of_classes(costs.reset_index(drop=True), ("a", "b"), 2, "costs")
    with refuses("prior", "ids", got="'b' first"):
        values_of_classes(pd.Series([0.1, 0.9], index=["a", "x"]), ("a", "b"), 2, "prior")


def test_label_distributions_follow_their_columns():
    table = pd.DataFrame([[0.25, 0.75]], columns=["b", "a"])
    assert label_columns(table, ("a", "b"), "label_probs").tolist() == [[0.75, 0.25]]
    assert label_columns(table.to_numpy(), ("a", "b"), "label_probs").tolist() == [[0.25, 0.75]]


def test_the_prior_of_an_assay_is_named(random_generator):
    p = random_generator.dirichlet(np.ones(3), 50)
    y = random_generator.integers(0, 3, 50)
    point = uq.Point(p, class_names=NAMES)
    prior = pd.Series([0.5, 0.3, 0.2], index=list(NAMES))
    results = [uq.assay({"m": point}, y, prior=each) for each in (prior.to_numpy(), prior[::-1])]
    assert results[0].findings().equals(results[1].findings())
