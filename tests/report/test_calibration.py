"""The part of the page on calibration: its numbers are those of the assay's tests."""

import json

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, made_up, with_tests
from tests.report.cases import hostile_assay

import uqassay as uq
from uqassay.evidence.calibration import adjusted_pvalues, outcome_of
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.report.sections import calibration_section
from uqassay.report.sentences import confidence_finding


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


@pytest.fixture(scope="module")
def lens(assay):
    return json.loads(json.dumps(calibration_section(assay)))


def rows_of(assay):
    return calibration_section(assay)["tests"]["rows"]


def test_rows_against_the_tests_of_the_assay(assay, lens):
    rows, adjusted = lens["tests"]["rows"], adjusted_pvalues(assay.calibration)
    assert len(rows) == len(assay.calibration) == 8
    for row, t, p in zip(rows, assay.calibration, adjusted, strict=True):
        assert (row["model"], row["run"], row["measure"], row["n_members"]) == (t.model, t.run, t.measure, t.n_members)
        shown = [row["statistic"], row["pvalue"], row["width"], *row["mean"]]
        np.testing.assert_allclose(shown, [t.statistic, p, t.width, t.mean_value, t.mean_pvalue], rtol=1e-3)
        np.testing.assert_allclose(row["members"], t.member_values, rtol=1e-3)
        np.testing.assert_allclose(row["member_pvalues"], t.member_pvalues, rtol=1e-2)
        assert row["outcome"] == outcome_of(p, 0.05)


def test_label_distributions_are_not_tested():
    q = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    section = calibration_section(uq.assay({"m": uq.Point(q)}, q[::-1], n_draws=10))
    assert set(section) == {"finding", "models", "text"}
    assert section["finding"] == confidence_finding({"m": section["models"][0]["judged"]})


def test_a_set_whose_measure_is_undefined():
    one = uq.assay({"DE": uq.Members([[[0.9, 0.1], [0.4, 0.6]]])}, [0], n_draws=5, calibration=["skce-ul"])
    (row,) = calibration_section(one)["tests"]["rows"]
    assert (row["outcome"], row["n_members"]) == ("undefined", 2)
    assert row["words"] == (
        "Whether some mixture of the 2 members of DE has the right probabilities as a whole is undefined (SKCE, linear): "
        "the measure is undefined for these labels with 1 case."
    )


def test_the_part_is_small(assay, lens):
    null = np.random.default_rng(0).gamma(2.0, size=9999)
    big = {"weights": np.full(100, 0.01), "n_members": 100, "member_values": null[:100], "member_pvalues": null[:100]}
    tests = [
        made_up("ensemble", m, pvalue=0.5, null=null, n_draws=9999, run=r, **big)
        for r in range(10)
        for m in list(CALIBRATION_MEASURES)[:4]
    ]
    size = len(json.dumps(calibration_section(with_tests(assay, *tests))["tests"], separators=(",", ":")))
    assert size < 40 * 3_000
    assert len(json.dumps(lens["tests"], separators=(",", ":"))) < 8 * 1_500


def test_confidence_of_all_models_against_their_columns():
    a = hostile_assay()
    for entry in calibration_section(a)["models"]:
        bins = a.reliability(entry["model"])
        assert entry["shown"] == bins.sentence()
        confidence = a[entry["model"]].columns["confidence"].mean()
        assert entry["confidence_all"] == pytest.approx(confidence)
        assert entry["gap"] == pytest.approx(confidence - a[entry["model"]].columns["correct"].mean())
