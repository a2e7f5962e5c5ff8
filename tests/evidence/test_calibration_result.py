"""One result: why a value is undefined or infinite, and p-values adjusted for all tests."""

from dataclasses import replace

import numpy as np
from tests.notes import said
from tests.report.calibration_cases import with_tests

import uqassay as uq


def test_an_undefined_pvalue_says_why():
    found = uq.assay({"m": uq.Point([[0.5, 0.5]])}, [0], n_draws=5, calibration=["skce-ul", "ece-confidence"])
    t = found.calibration[0]
    assert np.isnan(t.pvalue)
    assert "the measure is undefined for these labels with 1 case" in said(t)
    assert np.isnan(found.rows("calibration")[0]["pvalue_adjusted"])


def test_a_run_whose_test_is_undefined_leaves_those_of_the_others():
    runs = [uq.Point([[0.9, 0.1]] * 9), uq.Point([[0.8, 0.2]] * 9)]
    found = uq.assay({"two": runs}, [1] * 9, n_draws=5, calibration=["ece-confidence"])
    nan = float("nan")
    for order in ((0, 1), (1, 0)):
        tests = [
            replace(t, pvalue=p) for t, p in zip(found.calibration, np.array([0.02, nan])[list(order)], strict=True)
        ]
        rows = with_tests(found, *tests).rows("findings")
        assert next(r for r in rows if r["metric"] == "calibration-pvalue" and r["run"] == "all")["estimate"] == 0.02


def test_an_infinite_value_says_why():
    certain = np.tile([1.0, 0.0], (20, 3, 1))
    found = uq.assay(
        {"DE": uq.Members(certain), "P": uq.Point(certain[:, 0])}, [0] * 19 + [1], n_draws=5, calibration=["log-loss"]
    )
    for t, whose in zip(found.calibration, ("every one of the members", "the model"), strict=True):
        assert t.statistic == np.inf
        assert t.pvalue < 0.01
        assert t.reason == f"log-loss is infinite, because a label occurred to which {whose} gives probability 0"
