"""Can a model, or some mixture of its members, be told from a calibrated one? Calibration tests of every model and run."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release
from uqassay._workers import Workers, wanted_processes
from uqassay.errors import InputError
from uqassay.evidence.calibration_cost import Afforded, afforded, choose_instances, estimated_seconds, n_points
from uqassay.evidence.calibration_of_run import TestedSample, tested_part, tested_run
from uqassay.evidence.calibration_plan import CalibrationPlan
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.kept_rows import Kept, rows_of
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.notes import Note
from uqassay.predictions import ClassSets, Prediction

__all__ = ["calibration_tests"]

NO_PROBABILITIES = Note("no-test", "class sets state no probabilities that could be calibrated")
SOFT = Note("no-test", "label distributions are not tested: a test takes one label for each instance")


def calibration_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    *,
    groups: NDArray[Any] | None,
    plan: CalibrationPlan,
    workers: Workers,
    kept: Mapping[str, Kept] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[ModelCalibration, ...]:
    """Test every run of every model by every measure, on as many instances as this model can afford.

    The result of a model depends neither on the other models nor on the other measures, nor on the number of workers. Single
    distributions are tested on all instances, up to `calibration_cost.MOST_VALUES` numbers. Sets share a budget over their
    runs: large test sets are tested on a random part, many runs on the first few. Sets with so many members and classes that
    even a few hundred instances would take too long are tested by their mean. `kept` names, for models of a stream, the rows
    that their runs hold.
    """
    if not measures:
        return ()
    reasons = {name: reason for name, runs in models.items() if (reason := _no_test(runs[0], labels))}
    found = {
        (name, 0, measure): _untested(name, measure, len(labels), n_points(models[name][0]), reason)
        for name, reason in reasons.items()
        for measure in measures
    }
    work = _work_on({name: runs for name, runs in models.items() if name not in reasons}, measures, len(labels))
    n_processes = wanted_processes()
    if n_processes > 1:  # the last ones apart, so that no process waits long for another
        work = [*work[:-n_processes], *(part for one in work[-n_processes:] for part in _apart(one))]
    calls = []
    for one in work:
        run = models[one.model][one.run]
        rows = choose_instances(len(labels), one.afforded.n_tested, groups, plan.seed)
        held = None if kept is None else kept[one.model]
        calls.append((one, _sample(one.model, one.run, run, labels, groups, rows, held), plan))
    seconds = sum(estimated_seconds(sample.prediction, one.afforded, len(one.measures)) for one, sample, _ in calls)
    found |= {
        (one.model, one.run, measure): test
        for one, tests in zip(work, workers.share(_tested, calls, seconds=seconds, progress=progress), strict=True)
        for measure, test in zip(one.measures, tests, strict=True)
    }
    keys = ((name, r, measure) for name, runs in models.items() for r in range(len(runs)) for measure in measures)
    return tuple(found[key] for key in keys if key in found)


class _Work(NamedTuple):
    """Measures by which one of the runs given of a model is tested on the same instances."""

    model: str
    run: int
    measures: tuple[CalibrationMeasure, ...]
    afforded: Afforded
    n_given: int
    is_set: bool


def _work_on(
    models: Mapping[str, tuple[Prediction, ...]], measures: Sequence[CalibrationMeasure], n: int
) -> list[_Work]:
    """What is tested together: measures on the same instances share their draws of labels."""
    found = []
    for name, runs in models.items():
        can = {measure: afforded(runs, measure, n) for measure in measures}
        is_set = n_points(runs[0]) > 1
        for r in range(len(runs)):
            for each in dict.fromkeys(c for c in can.values() if r < c.n_runs):
                those = tuple(measure for measure, c in can.items() if c == each)
                found.append(_Work(name, r, those, each, len(runs), is_set and not each.by_mean))
    return found


def _apart(work: _Work) -> list[_Work]:
    """One test for each measure of a set; most of the time goes into the searches, which share nothing."""
    return [work._replace(measures=(measure,)) for measure in work.measures] if work.is_set else [work]


def _tested(
    work: _Work, sample: TestedSample, plan: CalibrationPlan, *, progress: Callable[[str], None]
) -> list[ModelCalibration]:
    progress(f"calibration of {work.model}")
    notes = _notes(len(sample.labels), sample.n_instances, work.afforded.n_runs, work.n_given)
    try:
        return tested_run(sample, work.measures, plan, notes=notes, mixed=not work.afforded.by_mean)
    except InputError as problem:
        raise problem.inside(f"models[{work.model!r}]") from problem
    finally:
        for name in sample.prediction.array_names():
            release(getattr(sample.prediction, name))


def _sample(
    model: str,
    r: int,
    run: Prediction,
    labels: NDArray[Any],
    groups: NDArray[Any] | None,
    rows: NDArray[np.intp],
    kept: Kept,
) -> TestedSample:
    n = len(labels)
    if len(rows) == n == run.n_instances:
        return TestedSample(model, r, run, labels, groups, n)
    part = rows_of(run, rows, kept)
    return TestedSample(model, r, part, labels[rows], None if groups is None else groups[rows], n)


def _notes(n_tested: int, n: int, n_runs: int, n_given: int) -> list[Note]:
    notes = []
    if n_tested < n:
        notes.append(tested_part(n_tested, n))
    if n_runs < n_given:
        text = (
            f"only run 1 of {n_given} is tested" if n_runs == 1 else f"only runs 1 to {n_runs} of {n_given} are tested"
        )
        notes.append(Note("first-run", text, {"runs": n_given, "tested": n_runs}))
    return notes


def _no_test(run: Prediction, labels: NDArray[Any]) -> Note | None:
    """Why a model cannot be tested."""
    if labels.ndim == 2:
        return SOFT
    return NO_PROBABILITIES if isinstance(run, ClassSets) else None


def _untested(model: str, measure: CalibrationMeasure, n: int, n_points: int, reason: Note) -> ModelCalibration:
    nothing, nan = np.empty(0), math.nan
    return ModelCalibration(
        model=model,
        run=0,
        measure=measure.name,
        notion=measure.notion,
        tested="nothing",
        n_instances=n,
        n_tested=0,
        n_members=n_points,
        statistic=nan,
        pvalue=nan,
        n_draws=0,
        null=nothing,
        null_kind="",
        weights=nothing,
        mean_value=nan,
        mean_pvalue=nan,
        member_values=nothing,
        member_pvalues=nothing,
        accuracy_mean=nan,
        accuracy_weighted=nan,
        before=None,
        after=None,
        width=nan,
        notes=(reason,),
    )
