"""Measures of calibration by name, each once."""

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay._workers import Workers
from uqassay.evidence.calibration import CalibrationPlan, calibration_tests, check_measures


@pytest.mark.parametrize(
    ("calibration", "refusal"),
    [
        ("ece-confidence", ("calibration", "type", "got 'ece-confidence'")),
        (None, ("calibration", "type", "got None")),
        (["ece"], ("calibration", "choice", "got 'ece'")),
        ([3], ("calibration", "choice", "got 3")),
    ],
)
def test_bad_measures_are_refused(calibration, refusal):
    with refuses(*refusal):
        uq.assay({"m": uq.Point([[0.5, 0.5]])}, [0], calibration=calibration)


def test_a_measure_of_ones_own_and_one_given_twice():
    own = replace(check_measures(["ece-confidence"], "x")[0], name="mine")
    assert [m.name for m in check_measures([own, "skce-ul", own, "skce-ul"], "x")] == ["mine", "skce-ul"]
    models = {"m": (uq.Point([[0.5, 0.5], [0.5, 0.5]]),)}
    tests = calibration_tests(models, np.array([0, 1]), [own], groups=None, plan=CalibrationPlan(), workers=Workers())
    assert [(t.measure, t.statistic) for t in tests] == [("mine", 0.0)]
