"""Weights, verdicts and names in the tables of calibration tests."""

from types import SimpleNamespace

import numpy as np
import pytest

from uqassay.cli import calibration as calibration_tables


def test_many_weights_are_shortened():
    many = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.06, 0.04, 0.0])
    test = SimpleNamespace(weights=many)
    assert calibration_tables._weights(test) == (
        "0.30 on 1, 0.20 on 2, 0.10 on 3, 0.10 on 4, 0.10 on 5, 0.10 on 6, 0.10 on the other 3"
    )
    test.weights = np.eye(9)[7]
    assert calibration_tables._weights(test) == "1.00 on 8"
    test.weights = np.array([0.25, 0.75])
    assert calibration_tables._weights(test) == "0.25 0.75"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0000"),
        (-0.25, "−0.2500"),
        (1e-6, "<0.0001"),
        (123.45678, "123.4568"),
        (2.4411e31, "2.441e+31"),
        (np.nan, "–"),
    ],
)
def test_values_of_measures_have_one_number_of_decimals(value, shown):
    assert calibration_tables.measure_text(value) == shown


def test_a_pvalue_at_the_level_rejects():
    assert calibration_tables.verdict_word(0.1 + 0.2 - 0.25, 0.05) == "rejected"
    assert calibration_tables.verdict_word(0.0501, 0.05) == "not rejected"


def test_names_tell_runs_apart_only_where_there_are_several():
    tests = [SimpleNamespace(model=m, run=r) for m, r in (("a", 0), ("b", 0), ("b", 1))]
    assert calibration_tables.shown_names(tests) == ["a", "b, run 1", "b, run 2"]
