"""Definitions of the ranking metrics hold of the metrics."""

import numpy as np
import pytest
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.report.definitions import RANKINGS, VOTES, page_definitions
from uqassay.report.sections import TABLED

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_augrc_is_what_its_equation_says():
    rng = np.random.default_rng(5)
    errors, scores = (rng.random(80) < 0.3).astype(float), rng.normal(size=80)
    accuracy, auc = 1 - errors.mean(), float(uq.metrics.uq_auc_score(errors, scores))
    metric = RANKING_METRICS["augrc"].estimate(errors[None], scores[None])
    assert float(metric) == pytest.approx(0.5 * (1 - accuracy) ** 2 + accuracy * (1 - accuracy) * (1 - auc))
    ratio = RANKING_METRICS["prediction-rejection"].estimate(errors[None], scores[None])
    assert float(ratio) == pytest.approx(2 * auc - 1)


def test_votes_change_the_words():
    usual = page_definitions(ranked_assay(n=20).settings, label_distributions=False)
    votes = page_definitions(ranked_assay(n=20).settings, label_distributions=True)
    assert "vote" in votes["uq-auc"].sentence
    assert "vote" not in usual["uq-auc"].sentence


def test_every_ranking_metric_is_defined():
    assert set(TABLED) <= set(RANKINGS) & set(RANKING_METRICS)
    assert all(RANKINGS[name].source for name in TABLED)
    assert {"uq-auc", "uq-c-index"} <= set(VOTES)
