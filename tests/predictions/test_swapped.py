"""Labels and probabilities in each other's place are refused by every function of both."""

import inspect

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq

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
