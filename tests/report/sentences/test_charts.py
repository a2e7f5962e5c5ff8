"""Sentences of the charts: which instances are drawn, and the units of the axes."""

import numpy as np

import uqassay as uq
from uqassay.report.instances import SAMPLE
from uqassay.report.sentences.charts import POINTS, chart_sentences


def points(n, n_models=1, runs=1):
    models = {f"m{j}": [uq.Point(np.tile([0.7, 0.3], (n, 1)))] * runs for j in range(n_models)}
    return chart_sentences(uq.assay(models, np.arange(n) % 2, n_draws=2, calibration=(), measures=()))["sample"]


def test_the_sample_is_stated():
    assert points(1).startswith("Points: the only instance. Lines:")
    assert points(30, runs=2).startswith("Points: all 30 instances, first training run. Lines:")
    assert points(SAMPLE + 1).startswith(
        "Points: a random sample of 2,000 of the 2,001 instances, the same for every model."
    )
    assert POINTS // 4 < SAMPLE
    assert points(SAMPLE, n_models=4).startswith("Points: a random sample of 1,000 of the 2,000 instances")


def test_axes_have_their_units():
    p = uq.Point([[0.9, 0.1]])
    assert chart_sentences(uq.assay({"m": p}, [0], n_draws=2))["ridge_axes"]["distance"] == "d (nats)"
    assert chart_sentences(uq.assay({"m": p}, [0], n_draws=2, distance="tv"))["ridge_axes"]["distance"] == "d"
