"""Findings of a study as rows and tables."""

import json

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses

IT = "information-theoretic"


def test_terms_are_rows_in_the_order_of_the_error():
    study = made_study("together")
    rows = study.rows("terms")
    assert [(r["experiment"], r["kind"], r["ideal"]) for r in rows] == [
        ("dataset-size", "aleatoric", 0),
        ("dataset-size", "epistemic", 1),
        ("label-noise", "aleatoric", 1),
        ("label-noise", "epistemic", 0),
    ]
    assert [r["deviation"] for r in rows] == pytest.approx([1, 0, 0, 1], abs=1e-9)
    (error,) = study.rows("errors")
    assert error["estimate"] == pytest.approx(np.mean([r["deviation"] for r in rows]))


def test_studies_without_some_experiments():
    only_noise = made_study("perfect", without=("dataset-size", "left-out-class"))
    assert {r["experiment"] for r in only_noise.rows("curves")} == {"label-noise"}
    assert only_noise.rows("errors") == only_noise.rows("terms") == only_noise.rows("detection") == []
    with refuses("experiment", "choice", got="dataset-size"):
        only_noise.error(IT)
    with refuses("experiment", "choice", got="label-noise"):
        only_noise.detection(IT)
    json.dumps(only_noise.to_json(), allow_nan=False)


def test_one_run_has_no_interval():
    study = made_study("perfect", n_runs=1)
    (row,) = study.rows("errors")
    assert np.isnan([row["low"], row["high"]]).all()
    assert np.isfinite(row["estimate"])
    json.dumps(study.to_json(), allow_nan=False)


def test_tables_have_columns_even_without_rows():
    pytest.importorskip("pandas")
    study = made_study("perfect", n_runs=2, without=("dataset-size",))
    for name in ("curves", "errors", "terms", "detection"):
        table = study.table(name)
        assert len(table) == len(study.rows(name))
        assert {"method", "dataset", "decomposition"} <= set(table.columns)
    assert list(made_study("perfect", n_runs=2).table("terms").columns) == list(study.table("terms").columns)
