"""Tests that take seconds: an assay keeps the part of the predictions that they need, and makes them when asked for."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._progress import shown_progress
from uqassay._workers import Workers
from uqassay.arrays import release
from uqassay.evidence.align import Aligned
from uqassay.evidence.calibration import (
    NOT_STATED,
    CalibrationPlan,
    ForeseenTest,
    afforded,
    calibration_tests,
    choose_instances,
    foreseen_tests,
    no_test,
)
from uqassay.evidence.data import NO_TESTS, AssayTests
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_within
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.sets import ROWS, vote_tests
from uqassay.metrics.measures import CalibrationMeasure
from uqassay.predictions import Prediction
from uqassay.records import Later

__all__ = ["TestedPart"]


@final
@dataclass(frozen=True, eq=False)
class TestedPart:
    """The instances of all models that tests of calibration and of votes take; draws are keyed by their rows."""

    __test__ = False  # no test class for pytest

    models: Mapping[str, tuple[Prediction, ...]]  #: The runs of each model on these instances.
    rows: Mapping[str, Kept]  #: The rows of these instances in the whole.
    #: labels, vote_totals, groups: Of all n instances, as in `Aligned`.
    labels: NDArray[Any]
    vote_totals: NDArray[Any] | None
    groups: NDArray[Any] | None
    weighted: bool
    measures: tuple[CalibrationMeasure, ...]
    plan: CalibrationPlan
    progress: Callable[[str], None] | None

    @classmethod
    def of(
        cls,
        models: Mapping[str, tuple[Prediction, ...]],
        aligned: Aligned,
        options: AssayOptions,
        *,
        kept: Mapping[str, Kept],
    ) -> "TestedPart":
        """Copies of the instances that will be tested, from runs that hold the rows in `kept`."""
        held, rows = {}, {}
        measures = options.measures_of(aligned)
        if all(no_test(runs[0], aligned.labels) == NOT_STATED for runs in models.values()):
            measures = ()  # nothing is said of a confidence that nobody stated
        for name, runs in models.items():
            wanted, before = _tested_rows(runs, aligned, options), kept[name]
            if not len(wanted):
                held[name] = tuple(run[:1] for run in runs)  # which shows its kind
            elif before is not None and len(wanted) == len(before):
                held[name] = runs
            else:
                held[name] = tuple(rows_of(run.forgetting(), wanted, before) for run in runs)
            rows[name] = wanted
            for run in runs:
                for array in run.array_names():
                    release(getattr(run, array))
        return cls(
            models=held,
            rows=rows,
            labels=aligned.labels,
            vote_totals=aligned.vote_totals,
            groups=aligned.groups,
            weighted=aligned.weights is not None,
            measures=measures,
            plan=options.plan,
            progress=options.progress,
        )

    def foreseen(self) -> tuple[ForeseenTest, ...]:
        """The calibration tests before they are made."""
        sample: dict[str, Any] = {"groups": self.groups, "weighted": self.weighted}
        return foreseen_tests(self.models, self.labels, self.measures, **sample, seed=self.plan.seed)

    def tests_later(self, provenance: dict[str, Any]) -> Later[AssayTests]:
        """The tests when they are asked for; their time is added to the "seconds" of the provenance."""
        if not self.measures and self.vote_totals is None:
            return NO_TESTS

        def made() -> AssayTests:
            started = time.perf_counter()
            found = self.tests()
            provenance["seconds"] = round(provenance["seconds"] + time.perf_counter() - started, 3)
            return found

        return Later(made)

    def tests(self) -> AssayTests:
        """Make the tests."""
        with Workers() as workers, shown_progress(self.progress) as say:
            calibration = calibration_tests(
                self.models,
                self.labels,
                self.measures,
                groups=self.groups,
                weighted=self.weighted,
                plan=self.plan,
                workers=workers,
                kept=self.rows,
                progress=say,
            )
            votes = vote_tests(
                self.models,
                self.labels,
                self.vote_totals,
                groups=self.groups,
                seed=self.plan.seed,
                workers=workers,
                kept=self.rows,
                progress=say,
            )
        return AssayTests(calibration, votes)


def _tested_rows(runs: Sequence[Prediction], aligned: Aligned, options: AssayOptions) -> NDArray[np.intp]:
    """The rows that the tests of one model take."""
    n, groups, seed = len(aligned.labels), aligned.groups, options.seed
    if aligned.vote_totals is not None:
        return sample_within(random_keys(n, groups, seed), ROWS)
    weighted = aligned.weights is not None
    if not options.calibration_measures or no_test(runs[0], aligned.labels, weighted=weighted) is not None:
        return np.empty(0, dtype=np.intp)
    most = max(afforded(tuple(runs), measure, n).n_tested for measure in options.calibration_measures)
    return choose_instances(n, most, groups, seed)
