"""Metrics of two samples: runs, undefined values, paired tests, rows and their table."""

import numpy as np
import pytest
from tests.evidence.cases import judge, row_of
from tests.kinds import random_prediction
from tests.metrics.ood.sides import TESTED, sides
from tests.notes import said, texts
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.evidence import FINDING_COLUMNS
from uqassay.evidence.ood import detect_ood, detect_ood_in_predictions
from uqassay.metrics.ood import OOD_METRICS, two_samples
from uqassay.statistics.paired_tests import paired_statistic_test


def test_runs_are_averaged_and_shown(random_generator):
    inside, outside = ({"m": [random_prediction("Point", random_generator, n, 3) for _ in range(3)]} for n in (50, 40))
    rows = detect_ood_in_predictions(inside, outside, scores=["margin"]).rows()
    assert [row["run"] for row in rows] == [run for run in ("all", "1", "2", "3") for _ in range(3)]
    for metric in ("ood-auc", "fpr95-out", "aupr-out"):
        of_runs = [row["estimate"] for row in rows if row["metric"] == metric]
        assert of_runs[0] == pytest.approx(np.mean(of_runs[1:]))
        assert "3 runs" in said(row_of(rows, metric=metric, run="all"))
        assert "run" not in said(row_of(rows, metric=metric, run="1"))


def test_undefined_values_are_counted(both):
    inside, outside, _, _ = both
    found = detect_ood_in_predictions({"m": inside["Members"]}, {"m": outside["Members"]}, scores=["margin"])
    found.outside.models["m"].columns["margin"][0, :2] = np.nan
    row = row_of(found.rows(), score="margin", metric="ood-auc")
    assert np.isnan(row["estimate"])
    assert texts(row) == ["2 of 45 values out of distribution are nan"]


def test_comparisons_against_the_influences(both):
    inside, outside, y, _ = both
    found = detect_ood(judge(inside, y, groups=np.arange(60) // 2), outside)
    groups = np.r_[np.arange(60) // 2, 100 + np.arange(45)]
    for metric in TESTED:
        result = found.compare(("Members", "margin"), ("Point", "total-entropy"), metric)
        statistics = []
        for kind, score in (("Members", "margin"), ("Point", "total-entropy")):
            a, b = (uq.measures.uncertainty_score(side[kind], score) for side in (inside, outside))
            statistics.append(OOD_METRICS[metric].statistic(two_samples(*sides(a, b), groups=groups)))
        expected = paired_statistic_test(*statistics, groups=groups)
        assert (float(result.difference), result.pvalue) == pytest.approx((float(expected.difference), expected.pvalue))
    assert found.compare(("Point", "margin"), ("Point", "margin")).pvalue == 1.0
    with refuses("score", "choice", got="got 'credal-width'"):
        found.compare(("Point", "margin"), ("Point", "credal-width"))
    with refuses("model", "choice", got="got 'nobody'"):
        found.compare(("nobody", "margin"), ("Point", "margin"))
    with refuses("metric", "choice", got="got 'auc'"):
        found.compare(("Point", "margin"), ("Point", "total-entropy"), "auc")


def test_findings_are_a_table_of_the_rows(both):
    inside, outside, y, _ = both
    found = detect_ood(judge(inside, y), outside)
    assert list(found.table().columns) == FINDING_COLUMNS
    assert len(found.table()) == len(found.rows())


def test_it_is_shown_with_the_greatest_area_first(random_generator):
    inside, outside = ({"m": random_prediction("Members", random_generator, n, 3)} for n in (50, 40))
    found = detect_ood_in_predictions(inside, outside)
    assert "50 cases in distribution, 40 cases out" in " ".join(check_shown(found, "m", "margin").split())
    areas = [row.bar.value for row in found._shown_table().rows]
    assert areas == sorted(areas, reverse=True)
    assert len(areas) == len(found.score_names("m"))


def test_undefined_scores_are_shown_last(both):
    inside, outside, _, _ = both
    found = detect_ood_in_predictions({"m": inside["Members"]}, {"m": outside["Members"]})
    found.outside.models["m"].columns["margin"][0, :2] = np.nan
    check_shown(found)
    assert found._shown_table().rows[-1].cells[1].text == "margin"
