"""Label probabilities that are known."""

import numpy as np
from tests.refusals import refuses

from uqassay.lab.papers.gain.worlds import known_label_probs

X = np.zeros((3, 2))


def test_a_function_or_an_array():
    assert known_label_probs(None, X, 2) is None
    probs = np.array([[0.25, 0.75]] * 3)
    for truth in (probs, probs.tolist(), lambda X: probs[: len(X)]):
        np.testing.assert_array_equal(known_label_probs(truth, X, 2), probs)


def test_refusals():
    with refuses("truth", "shape", got=r"each of 3 classes.*\(3, 2\) for 3 rows"):
        known_label_probs(np.full((3, 2), 0.5), X, 3)
    with refuses("truth", "shape", got=r"\(2, 2\) for 3 rows"):
        known_label_probs(np.full((2, 2), 0.5), X, 2)
    with refuses("truth", "sum", got="row 0"):
        known_label_probs(lambda X: np.full((3, 2), 0.4), X, 2)
    with refuses("truth", "finite", got="row 1"):
        known_label_probs(np.array([[0.5, 0.5], [np.nan, 1], [0.5, 0.5]]), X, 2)
    with refuses("truth"):
        known_label_probs(lambda X: np.full(3, 0.5), X, 2)
