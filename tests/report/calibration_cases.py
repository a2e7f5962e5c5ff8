"""Assays and tests that the report's pictures of calibration are judged on."""

from dataclasses import replace
from functools import cache

import numpy as np
from tests.report.cases import softmax

import uqassay as uq
from uqassay.evidence.data import AssayTests, ModelCalibration
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.metrics.reliability_diagrams import reliability
from uqassay.records import Later


@cache
def ensembles(n=300, k=3, *, names=("ensemble", "sharp", "point", "box")):
    """One ensemble that holds the truth, one far too sharp, a calibrated point, intervals around something else; made once."""
    rng = np.random.default_rng(3)
    z = 1.3 * rng.normal(size=(n, k))
    y = (rng.random((n, 1)) > softmax(z).cumsum(axis=1)).sum(axis=1).clip(max=k - 1)

    def members(temperature, m):
        return uq.Members(softmax(temperature * z[:, None, :] + 0.5 * rng.normal(size=(n, m, k))))

    flat = softmax(0.3 * z)
    models = [members(1.0, 3), members(6.0, 4), uq.Point(softmax(z))]
    models += [uq.Intervals(np.maximum(flat - 0.02, 0), np.minimum(flat + 0.02, 1))]
    return uq.assay(dict(zip(names, models, strict=True)), y, n_draws=50, measures=("total-entropy",))


def made_up(model, measure, *, pvalue, run=0, tested="mixtures", n_draws=99, **changes):
    """A test that nobody made; by default of three members on 200 instances."""
    null = np.linspace(0.01, 0.1, 99)
    rng = np.random.default_rng(0)
    confidence = rng.random(200)
    bins = reliability(rng.random(200) < confidence, confidence)
    facts = {
        "model": model,
        "run": run,
        "measure": measure,
        "notion": CALIBRATION_MEASURES[measure].notion,
        "tested": tested,
        "n_instances": 200,
        "n_tested": 200,
        "n_members": 3,
        "statistic": 0.05,
        "pvalue": pvalue,
        "n_draws": n_draws,
        "null": null,
        "null_kind": "sequential" if tested == "mixtures" else "single",
        "weights": np.array([0.5, 0.3, 0.2]),
        "mean_value": 0.06,
        "mean_pvalue": 0.2,
        "member_values": np.array([0.07, 0.08, 0.2]),
        "member_pvalues": np.array([0.1, 0.05, 0.01]),
        "accuracy_mean": 0.7,
        "accuracy_weighted": 0.71,
        "before": bins,
        "after": bins,
        "width": 0.1,
        "notes": (),
    }
    return ModelCalibration(**{**facts, **changes})


def with_tests(assay, *tests):
    """The same assay with these calibration tests alone."""
    return replace(assay, tests=Later.known(AssayTests(tests)))
