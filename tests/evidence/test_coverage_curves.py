"""Coverage against size of stretched sets: the ends of the curve, and the measures of each scaled set."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import coverage_curve
from uqassay.evidence.scale import scaled_prediction


def test_points_are_the_scores_of_the_scaled_sets(random_generator):
    p = uq.Members(random_generator.dirichlet(np.full(4, 3.0), size=(40, 3)))
    y = random_generator.integers(4, size=40)
    groups = np.repeat(np.arange(8), 5)
    curve = coverage_curve(y, p, scales=(0, 0.5, 2, 8), groups=groups, rule="maximality")
    assert curve.scales.tolist() == [0, 0.5, 1, 2, 8]
    for s, c, u, k in zip(curve.scales, curve.coverage, curve.nonspecificity, curve.size, strict=True):
        scaled = scaled_prediction(p, s)[0]
        found = uq.metrics.class_set_scores(y, scaled, groups=groups)
        assert repr(c) == repr(found.coverage)
        assert repr(k) == repr(found.size)
        assert float(u) == pytest.approx(float(np.mean(uq.measures.generalised_hartley(scaled).values)))
    assert float(curve.coverage[0]) == pytest.approx((p.labels() == y).mean())
    assert curve.own == 2


def test_wider_sets_cover_more(random_generator):
    p = random_generator.dirichlet(np.full(3, 3.0), size=(60, 3))
    for kind in (uq.Members(p), uq.Vertices(p), uq.Intervals(p.min(axis=1), p.max(axis=1))):
        curve = coverage_curve(np.zeros(60, dtype=int), kind, scales=(0.5, 2))
        values = [float(c) for c in curve.coverage]
        assert values == sorted(values)
        assert curve.scale_for(values[0]) == 0.5
        assert np.isnan(curve.scale_for(1.01))
        assert curve.to_dict()["coverage"][0]["estimate"] == values[0]
        assert "classes" in curve.summary()
        assert curve.to_markdown().count("|") > 10


def test_points_and_no_scales_are_refused():
    with refuses("prediction", "undefined", "points"):
        coverage_curve([0], [[0.5, 0.5]])
    with refuses("scales", "empty"):
        coverage_curve([0], [[[0.5, 0.5], [0.6, 0.4]]], scales=())
