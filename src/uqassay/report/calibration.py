"""The page's section on calibration: tests of the mixtures of an ensemble's members, and how far off the confidence is."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.calibration.monte_carlo import CALIBRATED
from uqassay.evidence.calibration_statements import JudgedTest, judged_tests, point_models
from uqassay.evidence.calibration_verdict import advice, calibration_sentences, claim, measure_label
from uqassay.report.definitions import calibration_definitions
from uqassay.report.histograms import null_histogram
from uqassay.report.sentences.calibration import (
    captions,
    cautions,
    confidence_finding,
    confidence_text,
    decimals_of,
    outcome_text,
    reliability_sentences,
    sentences_around_tests,
    words_of_test,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = ["calibration_section"]


def calibration_section(assay: "Assay") -> dict[str, Any] | None:
    """Reliability of every model's confidence, and the tests of `Assay.calibration` where something was tested.

    Returns
    -------
    dict, or None if no model states probabilities
        "finding": what the section says first; "models": bins of the reliability diagram of each model, its mean
        "confidence_all", how it is "judged", and where overconfidence is "shown"; "text": sentences around them. With tests
        also "title", and "tests": "alpha", "further" (sentences on all tests after the finding), "cautions", "text", the
        "measures" with their "definitions", and "rows", one per model, run and measure, with the p-value adjusted by Holm for
        all rows, the outcome, its words and captions, the null draws as a histogram one of whose edges is the minimum found,
        values and p-values of the mean and of single members, the weights, and the bins of the mean ("before") and of the best
        mixture ("after").
    """
    tested = any(t.tested != "nothing" for t in assay.calibration)
    models = _confidences(assay)
    if not models:
        return None
    section = {
        "models": models,
        "text": reliability_sentences(assay.settings.level, votes=assay.labels.ndim == 2, tested=tested),
    }
    if not tested:
        return section | {"finding": confidence_finding({m["model"]: m["judged"] for m in models})}
    tests = _tests(assay)
    return section | {"finding": tests.pop("finding"), "title": "Can it be calibrated?", "tests": tests}


# -- the tests ---------------------------------------------------------------------------------------------------------


def _tests(assay: "Assay") -> dict[str, Any]:
    alpha = 1 - assay.settings.level
    judged = judged_tests(assay.calibration, alpha, points=point_models(assay))
    n_tests = sum(j.outcome != "undefined" for j in judged)
    measures = {j.test.measure: j.test.notion for j in judged}
    finding, *further = calibration_sentences(judged) if len(judged) > 1 else (claim(judged[0]), *advice(judged[0]))
    return {
        "finding": finding,
        "alpha": float(f"{alpha:.6g}"),
        "n_tests": n_tests,
        "further": " ".join(further),
        "cautions": cautions(judged),
        "text": sentences_around_tests(judged, n_tests),
        "width_places": decimals_of(j.test.width for j in judged),
        "measures": [_measure(measure, notion, judged) for measure, notion in measures.items()],
        "definitions": {name: d._asdict() for name, d in calibration_definitions(measures).items()},
        "rows": [_row(assay, j, n_tests) for j in judged],
    }


def _measure(measure: str, notion: str, judged: Iterable[JudgedTest]) -> dict[str, Any]:
    mine = [j.test for j in judged if j.test.measure == measure]
    return {
        "measure": measure,
        "label": measure_label(measure),
        "adjective": CALIBRATED.get(notion, notion),
        "places": decimals_of(v for t in mine for v in (t.statistic, t.mean_value)),
    }


def _row(assay: "Assay", judged: JudgedTest, n_tests: int) -> dict[str, Any]:
    t, level = judged.test, assay.settings.level
    bars = null_histogram(t.null, t.statistic)
    n_runs = len({other.run for other in assay.calibration if other.model == t.model})
    return {
        "model": t.model,
        "run": t.run,
        "run_label": f"run {t.run + 1}" if n_runs > 1 else "",
        "measure": t.measure,
        "notion": t.notion,
        "tested": t.tested,
        "noun": t.noun,
        "one": "vertex" if t.noun == "vertices" else "member",
        "outcome": judged.outcome,
        "said": outcome_text(judged),
        "words": words_of_test(judged),
        "captions": captions(judged, bars, n_tests, level),
        "places": decimals_of([t.statistic, t.mean_value], 1),
        "statistic": _short(t.statistic, 7),
        "pvalue": _short(judged.adjusted, 4),
        "kind": t.null_kind,
        "n_draws": t.n_draws,
        "n_null": len(t.null),
        "null": bars,
        "weights": [] if np.isnan(t.weights).any() else [_short(w, 3) for w in t.weights],
        "n_members": t.n_members,
        "n_tested": t.n_tested,
        "n_instances": t.n_instances,
        "mean": [_short(t.mean_value, 7), _short(t.mean_pvalue, 4)],
        "members": [_short(v, 4) for v in t.member_values],
        "member_pvalues": [_short(p, 3) for p in t.member_pvalues],
        "accuracy": [_short(t.accuracy_mean, 5), _short(t.accuracy_weighted, 5)],
        "before": None if t.before is None else _bins(t.before),
        "after": None if t.after is None or t.n_members < 2 else _bins(t.after),
        "width": _short(t.width, 4),
        "notes": [note.to_dict() for note in t.notes],
    }


# -- bins --------------------------------------------------------------------------------------------------------------


def _confidences(assay: "Assay") -> list[dict[str, Any]]:
    """The reliability diagram of each model, its mean confidence, and whether that agrees with its accuracy."""
    accuracy = {r["model"]: r for r in assay.rows("findings") if (r["metric"], r["run"]) == ("accuracy", "all")}
    return [_confidence(assay, m.name, accuracy[m.name]) for m in assay.candidates if m.predicts_classes]


def _confidence(assay: "Assay", model: str, accuracy: Mapping[str, Any]) -> dict[str, Any]:
    bins = assay.reliability(model)
    filled = bins.count > 0
    confidence = float(np.average(bins.confidence[filled], weights=bins.count[filled]))
    gap = confidence - accuracy["estimate"]
    return {
        "model": model,
        **_bins(bins, digits=None),
        "confidence_all": confidence,
        "gap": gap,
        "judged": confidence_text(gap, accuracy["low"], accuracy["high"]),
        "shown": bins.sentence(),
    }


def _bins(bins: "Reliability", *, digits: int | None = 5) -> dict[str, Any]:
    """The filled bins of a reliability diagram, with the band that holds in all of them together as intervals."""
    filled = bins.count > 0
    parts = {"confidence": "confidence", "accuracy": "accuracy", "low": "band_low", "high": "band_high"}
    columns = {name: getattr(bins, part)[filled].tolist() for name, part in parts.items()}
    if digits is not None:
        columns = {name: [_short(v, digits) for v in values] for name, values in columns.items()}
    edges = [bins.edges[:-1][filled].tolist(), bins.edges[1:][filled].tolist()]
    if digits is not None:
        edges = [[_short(e, digits) for e in end] for end in edges]
    return {"edges": edges, "count": bins.count[filled].tolist(), **columns}


def _short(value: float, digits: int) -> float:
    """A number with as many significant digits as the page may show."""
    return float(f"{value:.{digits}g}")
