"""Which rows are the same instance."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.frames import FromFile
from uqassay.predictions.rows import Known, check_moved, check_positions, counts_up, in_rows_of, order_like

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
