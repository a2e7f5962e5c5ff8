"""What a credal test decides and says."""

import json
import math

import numpy as np
import pytest

from tests.calibration.made_up_data import random_ensemble
from tests.refusals import refuses
from uqassay.calibration.credal import BETA, CredalCalibrationTest, credal_calibration_test


def verdict(pvalue, null, **others):
    given = {
        "statistic": 0.5,
        "weights": np.array([0.2, 0.8]),
        "null_kind": "minimised",
        "convention": "exact",
    } | others
    return CredalCalibrationTest(
        "ece-confidence",
        "confidence",
        pvalue=pvalue,
        null=np.asarray(null, dtype=float),
        n_instances=10,
        n_members=len(given["weights"]),
        n_classes=2,
        noun="members",
        search_spread=0.0,
        evaluations=5,
        width=0.1,
        **given,
    )


def test_the_threshold_is_where_the_decision_changes():
    null = np.arange(99) / 100
    assert verdict(0.05, null).threshold(0.05) == 0.94
    assert verdict(0.05, null).reject(0.05)
    assert not verdict(0.06, null).reject(0.05)
    assert not verdict(math.nan, null).reject(0.05)
    assert not verdict(math.nan, null).sentence().startswith("No mixture")


def test_a_sequential_test_answers_for_the_draws_that_it_planned():
    found = verdict(0.5, [0.6] * 9 + [0.1] * 10, null_kind="sequential", planned_draws=99)
    assert (found.n_draws, found.smallest_pvalue, found.reject(0.01)) == (19, 0.01, False)
    with refuses("alpha", "needs-draws"):
        found.reject(0.005)
    with refuses("null", "conflict", got="got 'sequential'"):
        found.threshold(0.05)
    assert "can be weighted" in found.sentence(0.05)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (plain["n_draws"], plain["planned_draws"], plain["null_kind"]) == (19, 99, "sequential")


def test_too_few_draws_are_refused_with_the_smallest_pvalue(random_generator):
    labels, members = random_ensemble(random_generator)
    test = credal_calibration_test(labels, members, n_draws=9)
    assert test.smallest_pvalue == 0.1
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    assert test.sentence(0.05).startswith("9 draws are too few")
    assert test.reject(0.1) in (True, False)
    conservative = credal_calibration_test(labels, members, n_draws=19, null="berger-boos")
    assert conservative.smallest_pvalue == pytest.approx(0.05 + BETA)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        conservative.reject(0.05)
    with refuses("alpha", "needs-draws", got="choose alpha above 0.001"):
        conservative.threshold(0.0005)
