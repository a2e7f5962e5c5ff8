"""Rank sets of the page: those of the assay, for every metric that the page offers."""

import numpy as np
import pytest
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.report.sections import PLAIN_METRICS, RANKING_METRICS_SHOWN, rank_sets_section

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def assay():
    return ranked_assay(n=300, calibration=())


def test_every_metric_against_the_assay(assay):
    metrics = rank_sets_section(assay)["metrics"]
    offered = [(m["metric"], m["score"]) for m in metrics]
    assert offered[: len(PLAIN_METRICS)] == [(name, None) for name in PLAIN_METRICS]
    assert [name for name, score in offered if score == "total-entropy"] == list(RANKING_METRICS_SHOWN)
    for m in metrics:
        found = assay.rank_sets(metric=m["metric"], score=m["score"])
        rows = {assay.models[row["j"]].name: row for row in m["rows"]}
        for name, value, low, high, top in zip(
            found.names, found.values, found.low, found.high, found.top, strict=True
        ):
            assert (rows[name]["low"], rows[name]["high"], rows[name]["top"]) == (low, high, top)
            assert rows[name]["value"] == value
        values = [row["value"] for row in m["rows"]]
        assert values == sorted(values, reverse=found.greater_is_better)


def test_baselines_have_a_value_and_no_rank(assay):
    rows = rank_sets_section(assay)["metrics"][0]["rows"]
    (prior,) = [row for row in rows if assay.models[row["j"]].name == "class-prior"]
    assert (prior["low"], prior["high"], prior["top"]) == (None, None, None)
    assert prior["value"] == pytest.approx(assay["class-prior"].columns["correct"].mean())


def test_a_single_model_has_no_ranks():
    assert rank_sets_section(uq.assay({"m": uq.Point([[0.9, 0.1]] * 5)}, [0] * 5)) is None


def test_metrics_that_are_undefined_for_all_models_are_left_out():
    right = uq.Point(np.tile([0.8, 0.2], (40, 1)))  # no mistakes to rank
    metrics = rank_sets_section(uq.assay({"a": right, "b": right}, np.zeros(40, dtype=int)))["metrics"]
    assert "uq-auc" not in [m["metric"] for m in metrics]
    assert "accuracy" in [m["metric"] for m in metrics]
