"""Findings: one row for each model and metric, on all instances or on parts of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.evidence.align import align_values
from uqassay.evidence.calibration import adjusted_tests, model_groups
from uqassay.evidence.data import ChosenColumns, Judged, ModelCalibration, one_run, sample_of_runs
from uqassay.evidence.mistakes import MistakeRanking, mistake_ranking, rank_mistakes_in_part
from uqassay.evidence.scoring import ModelScores
from uqassay.frames import FromFile, columns_of
from uqassay.ids import aligned
from uqassay.metrics.calibration import ErrorNorm, error_estimate_of_hits
from uqassay.notes import Note, distinct
from uqassay.predictions.rows import Known
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate
from uqassay.text import counted, listed

__all__ = [
    "CALIBRATION_ERRORS",
    "FINDING_COLUMNS",
    "MISTAKE_COLUMNS",
    "OF_ESTIMATE",
    "SUBSETS",
    "estimate_fields",
    "extreme_instances",
    "extremeness",
    "finding_rows",
    "loss_estimate",
    "mistake_rows",
    "model_rows",
    "of_same_instances",
    "one_run",
    "subgroup_values",
    "subset_rows",
    "widened",
]


# Findings: one row per model and metric, on all instances or on parts of them.

Mask = NDArray[np.bool_]
OF_ESTIMATE = ("low", "high", "level", "n", "method", "notes")
GREATEST = {"brier": 2.0}  # of means; losses are at least 0
FINDING_COLUMNS = ["model", "run", "metric", "score", "tradeoff", "convention", "estimate", *OF_ESTIMATE]
MISTAKE_COLUMNS = [*FINDING_COLUMNS, "backward"]
NAN = float("nan")
SUBSETS = ("correct", "class")  # parts that every assay has
CALIBRATION_ERRORS = ("ece", "rms-calibration-error", "ece-classwise")
NO_CONFIDENCE = Note("undefined", "undefined, because class sets state no probabilities")
AT_RANDOM = Note(
    "class-sets",
    "a class of the set at random is right with this probability: 1/s if the label is one of the s classes",
)
BIASED = Note("no-interval", "no interval: the binned error is biased upwards in small samples")


def finding_rows(assay: Judged) -> list[dict[str, Any]]:
    """One row for each model, run and metric."""
    return [dict(row) for row in assay.shared.once("findings", lambda: _finding_rows(assay))]


def _finding_rows(assay: Judged) -> list[dict[str, Any]]:
    """Findings of every model over all runs and, where there are several, of each run."""
    rows = []
    ranked, tests = mistake_ranking(assay), model_groups(assay.calibration)
    adjusted = adjusted_tests(assay.calibration)
    for model in assay.models:
        mine = [r for r in ranked if r.model == model.name]
        tested = [runs for (name, _), runs in tests.items() if name == model.name]
        rows += model_rows(assay, model, None, None)
        rows += [_row(assay, r) for r in mine if r.run is None]
        rows += [_tested_row(assay, runs, adjusted) for runs in tested]
        if model.n_runs > 1:
            for run in range(model.n_runs):
                rows += model_rows(assay, model, run, None)
                rows += [_row(assay, r) for r in mine if r.run == run]
                rows += [_tested_row(assay, [t], adjusted, run) for runs in tested for t in runs if t.run == run]
    return rows


def mistake_rows(assay: Judged) -> list[dict[str, Any]]:
    """How each score of each model ranks the mistakes, over all runs and of each run.

    "backward" tells whether the score is in `Assay.backward`, in the row of its UQ-AUC over all runs; None in others.
    """
    backward = {(found.model, found.score) for found in assay.backward}
    rows = []
    for found in mistake_ranking(assay):
        told = found.run is None and found.metric == "uq-auc"
        rows.append(_row(assay, found) | {"backward": (found.model, found.score) in backward if told else None})
    return rows


def subset_rows(
    assay: Judged, by: str, *, ranking: bool = True, metrics: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Findings on the parts that "correct", "class" or a subgroup makes of the instances, all or those of some metrics.

    In subgroups, how the scores rank the mistakes is found too, unless `ranking` is False.
    """
    ranked = ranking and by in assay.subgroups
    return [row for model in assay.models for row in _rows_of_parts(assay, model, by, metrics, ranked=ranked)]


def _rows_of_parts(
    assay: Judged, model: ModelScores, by: str, metrics: Collection[str] | None, *, ranked: bool = False
) -> list[dict[str, Any]]:
    if by == "correct" and model.baseline:
        return []
    rows = []
    for label, mask in _parts(assay, by, model):
        if not mask.any():
            continue
        found = model_rows(assay, model, None, mask, metrics)
        if ranked and not model.baseline:
            found += [_row(assay, r) for r in rank_mistakes_in_part(assay, model, mask[0])]
        rows += [{"subset_by": by, "subset": label, **row} for row in found]
    return rows


def loss_estimate(assay: Judged, model: ModelScores, values: Floats, tradeoff: float) -> Estimate:
    """Mean of a loss with an interval that also holds the error of an estimated non-specificity."""
    # losses are skewed: Hall's interval has the best measured coverage, see `mean_estimate`
    found = mean_estimate(values, method="hall", level=assay.settings.level, **assay.sample())
    return widened(found, model, tradeoff)


def model_rows(
    assay: Judged,
    model: ModelScores,
    run: int | None,
    mask: Mask | None,
    metrics: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Rows of all metrics that need no score, or of those named; a model or baseline without a metric has no row of it."""
    s = assay.settings
    chosen = ChosenColumns(assay, model, run=run, mask=mask)

    def wanted(metric: str) -> bool:
        return metrics is None or metric in metrics

    found: list[_Found] = []
    if not model.baseline or model.name == "class-prior":
        if wanted("accuracy"):
            share = proportion_estimate(one_run(chosen["correct"]), level=s.level, **chosen.sample)
            found.append(_Found("accuracy", share if model.predicts_classes else share.with_note(AT_RANDOM)))
        if model.states_confidence or not assay.of_answers:
            found += [_Found(metric, chosen[metric]) for metric in ("log-loss", "brier") if wanted(metric)]
        if model.states_confidence:
            if wanted("ece"):
                found.append(_Found("ece", _calibration_error(chosen, "l1")))
            if wanted("rms-calibration-error"):
                found.append(_Found("rms-calibration-error", _calibration_error(chosen, "l2")))
            if mask is None and model.name in assay.classwise_error and wanted("ece-classwise"):
                found.append(_Found("ece-classwise", _classwise_error(assay, model.name, run)))
        elif not assay.of_answers:
            none = Estimate(NAN, low=NAN, high=NAN, level=s.level, n=0, method="", notes=[NO_CONFIDENCE])
            found += [_Found(metric, none) for metric in CALIBRATION_ERRORS if wanted(metric)]
    d, ns = chosen["distance"], chosen["nonspecificity"]
    if wanted(s.distance_metric):
        found.append(_Found(s.distance_metric, d))
    if wanted("nonspecificity") and not (assay.of_answers and metrics is None):
        found.append(_Found("nonspecificity", ns, s.nonspecificity, share=1.0))
    if wanted("unified") and not (assay.of_answers and metrics is None):
        found += [_Found("unified", d + t * ns, s.nonspecificity, t, share=t) for t in assay.tradeoffs]
    for measure in filter(wanted, s.measures):
        if assay.of_answers and not model.has(measure):
            continue
        column = model.columns[measure] if run is None else model.columns[measure][run : run + 1]
        if np.isnan(column).all():
            why = Note("undefined", f"{measure} is not defined for {model.kind}")
            none = Estimate(NAN, low=NAN, high=NAN, level=s.level, n=0, method="", notes=[why])
            found.append(_Found(measure, none))
        else:
            found.append(_Found(measure, chosen[measure]))
    means = iter(chosen.means([f.values for f in found if not isinstance(f.values, Estimate)]))
    rows = []
    for f in found:
        most = s.distance_entry.greatest if f.metric == s.distance_metric else GREATEST.get(f.metric, np.inf)
        bounds = (-np.inf if f.metric in s.measures else 0.0, most)
        estimate = f.values if isinstance(f.values, Estimate) else widened(next(means), model, f.share, *bounds)
        rows.append(_finding(assay, model.name, run, f.metric, estimate, f.score, f.tradeoff))
    return rows


class _Found(NamedTuple):
    """One finding: an estimate, or the values of a mean, and the share of the non-specificity in it."""

    metric: str
    values: "Floats | Estimate"
    score: str = ""
    tradeoff: float = NAN
    share: float = 0.0


def _finding(
    assay: Judged, model: str, run: int | None, metric: str, estimate: Estimate, score: str, tradeoff: float = NAN
) -> dict[str, Any]:
    return {
        "model": model,
        "run": "all" if run is None else str(run + 1),
        "metric": metric,
        "score": score,
        "tradeoff": tradeoff,
        "convention": assay.settings.convention,
        **estimate_fields(estimate),
    }


def estimate_fields(estimate: Estimate) -> dict[str, Any]:
    """What a finding says of an estimate: the number, the interval, what it rests on, and the notes."""
    return {"estimate": float(estimate)} | {name: getattr(estimate, name) for name in OF_ESTIMATE}


def _row(assay: Judged, found: MistakeRanking) -> dict[str, Any]:
    return _finding(assay, found.model, found.run, found.metric, found.estimate, found.score)


def _tested_row(
    assay: Judged, tests: list[ModelCalibration], adjusted: dict[ModelCalibration, float], run: int | None = None
) -> dict[str, Any]:
    """The p-value of one test, or the least of those of several runs, adjusted for all tests of the assay."""
    first = tests[0]
    what = {"mixtures": "no mixture is calibrated", "mean": "the mean is not calibrated"}.get(first.tested, "")
    defined = [adjusted[t] for t in tests if not math.isnan(adjusted[t])]
    pvalue = min(defined, default=NAN)
    notes = distinct(*(test.notes for test in tests))
    if len(tests) > 1:
        what += " in some run"
        notes = (Note("runs", f"{len(tests)} runs", {"runs": (len(tests),)}), *notes)
    n_tests = sum(not math.isnan(p) for p in adjusted.values())
    method = f"{what}, adjusted by Holm for {counted(n_tests, 'test')}" if first.tested != "nothing" else ""
    estimate = Estimate(
        pvalue,
        low=NAN,
        high=NAN,
        level=assay.settings.level,
        n=first.n_tested,
        method=method,
        notes=notes,
    )
    return _finding(assay, first.model, run, "calibration-pvalue", estimate, first.measure)


def _parts(assay: Judged, by: str, model: ModelScores) -> list[tuple[str, Mask]]:
    """Names and masks ``(R, n)`` of the parts."""
    if by == "correct":
        hit = assay.hits(model.name)
        return [("correct", hit), ("wrong", ~hit)]
    shape = model.columns["distance"].shape
    if by == "class":
        return [(name, np.broadcast_to(assay.classes == c, shape)) for c, name in enumerate(assay.class_names)]
    if by not in assay.subgroups:
        known = ", ".join([*SUBSETS, *assay.subgroups])
        fail(
            "by",
            f"must be one of {known}",
            f"got {by!r}",
            "pass subgroups={name: values} to assay for more",
            code="choice",
        )
    values = assay.subgroups[by]
    return [(str(value), np.broadcast_to(values == value, shape)) for value in np.unique(values)]


def widened(
    estimate: Estimate, model: ModelScores, tradeoff: float, low: float = 0.0, high: float = np.inf
) -> Estimate:
    """Add the error of an estimated non-specificity to the interval, which stays between the bounds of the quantity."""
    error = tradeoff * model.nonspecificity_error
    if error == 0:
        return estimate.within(low, high)
    text = f"the interval includes the error of an estimated non-specificity, {error:.2g} in the mean"
    return estimate.widened(error, Note("widened", text, {"standard_error": error})).within(low, high)


def _calibration_error(chosen: ChosenColumns, norm: ErrorNorm) -> Estimate:
    """Of all runs together; the runs of one instance, or of a group, belong together."""
    hits, confidence = chosen["correct"], chosen["confidence"]
    n_runs, sample = len(hits), sample_of_runs(n_runs=len(hits), n=hits.shape[1], **chosen.sample)
    found = error_estimate_of_hits(hits.ravel(), confidence.ravel(), norm=norm, level=chosen.level, **sample)
    if n_runs == 1:
        return found
    notes = [note for note in found.notes if note.code != "groups" or chosen.sample["groups"] is not None]
    notes.append(Note("runs", f"{n_runs} runs", {"runs": (n_runs,)}))
    return Estimate(
        float(found), low=found.low, high=found.high, level=found.level, n=found.n, method=found.method, notes=notes
    )


def _classwise_error(assay: Judged, model: str, run: int | None) -> Estimate:
    """Of the mean predictions; on parts of the instances it is not known, as their probabilities are not kept."""
    return Estimate(
        assay.classwise_error[model][0 if run is None else run + 1],
        low=NAN,
        high=NAN,
        level=assay.settings.level,
        n=assay.n_instances * (assay[model].n_runs if run is None else 1),
        method="10 equal-width bins for each class",
        notes=[BIASED],
    )


# Which instances are worth looking at: the most epistemic, the most wrong, the most disputed.


def extreme_instances(models: Sequence[ModelScores], k: int) -> dict[str, NDArray[np.int64]]:
    """Rows of the k most extreme instances of each kind, the most extreme first; see `Assay.extreme_instances`."""
    picks = extremeness([m.columns for m in models])
    return {name: np.argsort(-value, kind="stable")[:k] for name, value in picks.items()}


def extremeness(columns: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, Floats]:
    """How extreme each instance is in each way, ``(n,)``, from the columns (R, n) of every model; equal ones by row."""
    d = np.stack([c["distance"].mean(axis=0) for c in columns])
    ns = np.stack([c["nonspecificity"].mean(axis=0) for c in columns])
    # infinite distances stay greatest, and their mean and spread stay numbers
    d = np.where(np.isinf(d), np.finfo(np.float64).max / (2 * len(d)), d)
    picks = {"most epistemic": ns.max(axis=0), "most wrong": d.mean(axis=0), "most disputed": np.ptp(d, axis=0)}
    if len(d) == 1:
        del picks["most disputed"]
    return picks


# Parts of the test set to report on: the values of each subgroup, from a mapping or a table.


def subgroup_values(subgroups: Mapping[str, ArrayLike] | Any, n: int, known: Known) -> dict[str, NDArray[Any]]:
    """Values (n,) of each subgroup, from a mapping or from the columns of a DataFrame."""
    given = _columns(subgroups)
    out = {}
    for key, values in given.items():
        name, parameter = str(key), f"subgroups[{str(key)!r}]"
        if name in SUBSETS or name in out:
            fail(
                "subgroups",
                f"names must differ from each other and from {listed(SUBSETS)}, which are parts of every assay",
                f"got {name!r}",
                "rename the subgroup",
                code="choice",
            )
        array = align_values(values, n, known, parameter)
        if array.dtype.kind in "OMm":
            array = array.astype(str)
        if array.dtype.kind == "f" and np.isnan(array).any():
            rows = np.flatnonzero(np.isnan(array))
            fail(
                parameter,
                "must not hold nan",
                f"row {rows[0]} is nan, the first of {len(rows)}",
                "give such instances a number, or pass names as text",
                code="finite",
            )
        out[name] = np.array(array)  # a copy, because callers may fill their arrays anew
    return out


def of_same_instances(
    y_true: Any, groups: Any, sample_weight: Any, subgroups: Any, uncertainties: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """What an assay is given beside predictions, with its rows in one order; predictions without ids stand by position."""
    given = {
        "y_true": y_true,
        "groups": groups,
        "sample_weight": sample_weight,
        "subgroups": None if subgroups is None else _columns(subgroups),
        "uncertainties": uncertainties,
    }
    # values of files are put in the order of the predictions one by one: they may be of more instances, and labels may
    # have class names of their own
    moving = {name: value for name, value in given.items() if value is not None and not _from_files(value)}
    found = given | aligned(moving, axes={"uncertainties": -1})
    y, units, weights, parts, scores = (found[name] for name in given)
    return y, units, weights, parts, scores


def _from_files(value: Any) -> bool:
    values = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(one, FromFile) for one in values)


def _columns(subgroups: Any) -> Mapping[Any, Any]:
    if subgroups is None or isinstance(subgroups, Mapping):
        return subgroups or {}
    columns = columns_of(subgroups, "subgroups")
    if columns is None:
        fail(
            "subgroups",
            "must map names to values, or be a DataFrame",
            f"got {type(subgroups).__name__}",
            'write {"site": site}',
            code="type",
        )
    return columns
