"""Words of rankings: every limit that a test knows has a note and a mark."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.ranking import MARKS, limit_notes, metric_label
from uqassay.report.sections import PLAIN_METRICS, RANKING_METRICS_SHOWN

pytestmark = pytest.mark.usefixtures("without_calibration")


def assay(**options):
    p = np.random.default_rng(0).dirichlet([1, 1], size=50)
    return uq.assay({"m": uq.Point(p)}, [0, 1] * 25, calibration=(), n_draws=20, **options)


def test_every_limit_has_a_mark():
    assert set(limit_notes(assay())) == set(MARKS) == {"unseen", "skewness", "runs"}


@pytest.mark.parametrize(("distance", "names_others"), [("kl", True), ("tv", False)])
def test_bounded_scores_are_named_where_the_distance_is_not_bounded(distance, names_others):
    unseen = limit_notes(assay(distance=distance))["unseen"]
    assert "50 cases" in unseen
    assert ("Brier" in unseen) == names_others


@pytest.mark.parametrize("metric", [*PLAIN_METRICS, *RANKING_METRICS_SHOWN, "unified", "nonspecificity"])
def test_metrics_are_named_in_words(metric):
    assert metric_label(metric) != metric or metric == "accuracy"
