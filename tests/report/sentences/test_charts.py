"""Sentences of the charts: which instances are drawn, and the units of the axes."""

import numpy as np

import uqassay as uq
from uqassay.report.sentences import chart_sentences


def points(n, runs=1):
    models = {"m": [uq.Point(np.tile([0.7, 0.3], (n, 1)))] * runs}
    return chart_sentences(uq.assay(models, np.arange(n) % 2, n_draws=2, calibration=(), measures=()))["sample"]


def test_the_sample_is_stated():
    assert points(1)["all"].startswith("Points: the only case. Lines:")
    assert points(30, runs=2)["all"].startswith("Points: all 30 cases, first training run. Lines:")
    assert points(2001)["some"].startswith(
        "Points: a random sample of {n} of the 2,001 cases, the same for every model. Lines:"
    )


def test_axes_have_their_units():
    p = uq.Point([[0.9, 0.1]])
    assert chart_sentences(uq.assay({"m": p}, [0], n_draws=2))["ridge_axes"]["distance"] == "d (nats)"
    assert chart_sentences(uq.assay({"m": p}, [0], n_draws=2, distance="tv"))["ridge_axes"]["distance"] == "d"
