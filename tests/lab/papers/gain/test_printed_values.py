"""The printed tables of paper 002 by our names."""

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.gain.printed_values import COLUMNS, PRINTED_AS, SCORES, printed_gain, table_of


def test_values_against_paper_table():
    found = printed_gain()
    assert set(found) == {(d, s, c) for d in PRINTED_AS for s in SCORES for c in COLUMNS}
    assert (found["toy", "mutual-information", "correlation"].mean, found["toy", "entropy", "calibrated"].sd) == (
        0.108,
        0.002,
    )
    letters = found["emnist-balanced", "mutual-information", "eece"]
    assert (letters.mean, letters.sd) == (0.0151, 0.003)
    assert found["kuzushiji-49", "entropy", "correlation"].mean == 0.101


@pytest.mark.parametrize("column", ["dataset", "estimator"])
def test_unknown_names_are_refused(column):
    row = {"dataset": "toy", "estimator": "entropy", column: "other"}
    with refuses("rows", "choice", got="'other'"):
        printed_gain([row])


def test_table_of_a_data_set():
    assert [table_of(name) for name in ("toy", "toy-mismatch-2", "kuzushiji-49")] == ["table1", "table1", "table2"]
