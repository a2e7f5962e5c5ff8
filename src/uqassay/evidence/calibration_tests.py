"""Can a model, or some mixture of its members, be told from a calibrated one? Calibration tests of every model and run."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release
from uqassay.calibration.shared_members import IN_GROUPS
from uqassay.errors import InputError
from uqassay.evidence.calibration_cost import afforded, choose_instances, n_points
from uqassay.evidence.calibration_of_run import tested_part, tested_run
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
    """Test every run of every model by every measure, on as many instances as can be afforded, the same for all.

    Where the runs of all models would cost too much, the first of each is tested. Sets with so many members and classes
    that even a few hundred instances would take too long are tested by their mean.
    """
    if not measures:
        return ()
    if labels.ndim == 2:
        return tuple(
            _untested(name, measure, len(labels), n_points(runs[0]))
            for name, runs in models.items()
            for measure in measures
        )
    can = afforded(models, len(measures), len(labels))
    rows = choose_instances(len(labels), can.n_tested, groups, plan.seed)
    found: list[ModelCalibration] = []
    for name, runs in models.items():
        for r, run in enumerate(runs if can.all_runs else runs[:1]):
            if progress is not None:
                progress(f"calibration of {name}")
            notes = []
            if len(rows) < len(labels):
                notes.append(tested_part(len(rows), len(labels)))
            if len(runs) > 1 and not can.all_runs:
                notes.append(Note("first-run", f"run 1 of {len(runs)} alone was tested", {"runs": len(runs)}))
            if groups is not None:
                notes.append(IN_GROUPS)
            part, labels_of_part = (run, labels) if len(rows) == len(labels) else (run[rows], labels[rows])
            for array in run.array_names():
                release(getattr(run, array))
            mixed = name not in can.by_mean
            try:
                found += tested_run(
                    name, r, part, labels_of_part, measures, plan, len(labels), notes=notes, mixed=mixed
                )
            except InputError as problem:
                raise problem.inside(f"models[{name!r}]") from problem
    return tuple(found)


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
