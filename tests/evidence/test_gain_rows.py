"""Rows and tables of a study of the gain."""

import json

import pytest
from tests.evidence.gain_data import made_study
from tests.refusals import refuses

from uqassay.evidence.gain import GAIN_TABLES
from uqassay.results import plain


@pytest.fixture(scope="module")
def study():
    return made_study(n_runs=2, n=120)


@pytest.mark.parametrize("name", list(GAIN_TABLES))
def test_tables_have_the_columns_of_the_rows(study, name):
    rows = study.rows(name, bins=5)
    assert {tuple(row) for row in rows} == {tuple(GAIN_TABLES[name][1])}
    assert len(study.table(name, bins=5)) == len(rows)
    json.dumps(plain(rows), allow_nan=False)


def test_rows_hold_the_numbers_of_the_result(study):
    result = study.result("entropy", bins=5)
    row = study.rows("scores", bins=5)[1]
    assert (row["score"], row["runs"], row["error"]) == ("entropy", 2, float(result.error))
    assert row["correlation_sd"] == result.correlation.sd
    runs = [row for row in study.rows("runs", bins=5) if row["score"] == "entropy"]
    assert [row["raw_pvalue"] for row in runs] == [run.raw.pvalue for run in result.runs]
    assert [row["interval"] for row in study.rows("bins", bins=5)] == [1, 2, 3, 4, 5] * 2
    assert study.rows("delay", bins=5)[2]["gained"] == result.runs[0].delay.gained[2] * 0.5 + (
        study.result(bins=5).runs[1].delay.gained[2] * 0.5
    )
    with refuses("name", "choice", got="'curves'"):
        study.rows("curves")


def test_without_a_map_its_fields_are_empty():
    row = made_study(n_runs=1, n=60, calibration=False).rows("scores", cross_fit=0)[0]
    assert row["calibrated_error"] is row["calibrated_error_low"] is row["reduction"] is None
