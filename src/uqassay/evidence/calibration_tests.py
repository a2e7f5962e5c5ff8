"""Can a model, or some mixture of its members, be told from a calibrated one? Calibration tests of every model and run."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release
from uqassay.errors import InputError
from uqassay.evidence.calibration_cost import afforded, choose_instances, n_points
from uqassay.evidence.calibration_of_run import TestedSample, tested_part, tested_run
from uqassay.evidence.calibration_plan import CalibrationPlan
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.notes import Note
from uqassay.predictions import Prediction

__all__ = ["calibration_tests"]

SOFT = Note("no-test", "label distributions are not tested: a test takes one label for each instance")


def calibration_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    *,
    groups: NDArray[Any] | None,
    plan: CalibrationPlan,
    progress: Callable[[str], None] | None = None,
) -> tuple[ModelCalibration, ...]:
    """Test every run of every model by every measure, on as many instances as this model can afford.

    The result of a model depends neither on the other models nor on the other measures. Single distributions are tested on
    all instances. Sets share a budget over their runs: large test sets are tested on a random part, many runs on the first
    few. Sets with so many members and classes that even a few hundred instances would take too long are tested by their mean.
    """
    if not measures:
        return ()
    if labels.ndim == 2:
        return tuple(
            _untested(name, measure, len(labels), n_points(runs[0]))
            for name, runs in models.items()
            for measure in measures
        )
    found: list[ModelCalibration] = []
    for name, runs in models.items():
        for r, run in enumerate(runs):
            can = {measure: afforded(runs, measure, len(labels)) for measure in measures}
            can = {measure: c for measure, c in can.items() if r < c.n_runs}
            if can and progress is not None:
                progress(f"calibration of {name}")
            done: dict[CalibrationMeasure, ModelCalibration] = {}
            for c in dict.fromkeys(can.values()):  # measures on the same instances share their draws of labels
                rows = choose_instances(len(labels), c.n_tested, groups, plan.seed)
                those = [measure for measure in measures if can.get(measure) == c]
                try:
                    tests = tested_run(
                        _sample(name, r, run, labels, groups, rows),
                        those,
                        plan,
                        notes=_notes(len(rows), len(labels), c.n_runs, len(runs)),
                        mixed=not c.by_mean,
                    )
                except InputError as problem:
                    raise problem.inside(f"models[{name!r}]") from problem
                done |= dict(zip(those, tests, strict=True))
            for array in run.array_names():
                release(getattr(run, array))
            found += [done[measure] for measure in measures if measure in done]
    return tuple(found)


def _sample(
    model: str, r: int, run: Prediction, labels: NDArray[Any], groups: NDArray[Any] | None, rows: NDArray[np.intp]
) -> TestedSample:
    n = len(labels)
    if len(rows) == n:
        return TestedSample(model, r, run, labels, groups, n)
    return TestedSample(model, r, run[rows], labels[rows], None if groups is None else groups[rows], n)


def _notes(n_tested: int, n: int, n_runs: int, n_given: int) -> list[Note]:
    notes = []
    if n_tested < n:
        notes.append(tested_part(n_tested, n))
    if n_runs < n_given:
        text = f"run 1 of {n_given} alone was tested" if n_runs == 1 else f"runs 1 to {n_runs} of {n_given} were tested"
        notes.append(Note("first-run", text, {"runs": n_given, "tested": n_runs}))
    return notes


def _untested(model: str, measure: CalibrationMeasure, n: int, n_points: int) -> ModelCalibration:
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
        notes=(SOFT,),
    )
