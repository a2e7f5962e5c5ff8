"""Labels of any kind as class indices."""

import numpy as np
from tests.refusals import refuses

from uqassay.lab.papers.given import coded_labels, labels_of_rows


def test_codes_of_several_parts_against_a_plain_search():
    parts = {"y": np.array(["b", "c", "b"]), "y_test": np.array(["a"])}
    names, codes = coded_labels(parts)
    assert [names[k] for k in codes] == ["b", "c", "b", "a"]
    assert names == ("a", "b", "c")
    names, codes = coded_labels({"y": np.array([10, 2, 10])})
    assert (names, codes.tolist()) == (("2", "10"), [1, 0, 1])


def test_refusals():
    with refuses("y", "shape", got=r"\(3, 1\) for 3 rows"):
        labels_of_rows([[0], [1], [0]], 3)
    with refuses("y", "shape", got=r"\(2,\) for 3 rows"):
        labels_of_rows([0, 1], 3)
    with refuses("y_test", "shape", got=r"\(\)"):
        coded_labels({"y": np.array([0, 1]), "y_test": np.array(3)})
    with refuses("y", "missing", got="row 1"):
        coded_labels({"y": np.array([0.0, np.nan])})
    with refuses("y", "missing", got="row 0"):
        coded_labels({"y": np.array([None, "a"], dtype=object)})
    with refuses("y", "type", got="int and str"):
        coded_labels({"y": np.array([1, "a"], dtype=object)})
