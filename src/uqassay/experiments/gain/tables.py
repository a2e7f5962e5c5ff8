"""Tables 1 and 2 of paper 002 for methods trained here, beside the printed numbers.

A printed number agrees if it lies where the mean of as many further runs as the paper has falls with 95 %.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.gain_result import GainResult
from uqassay.evidence.gain_study import GainStudy
from uqassay.evidence.over_runs import OverRuns
from uqassay.experiments.further_runs import compared_with_runs, further_runs
from uqassay.experiments.gain.choices import GainMethod
from uqassay.experiments.gain.presets import GainData
from uqassay.experiments.gain.printed_values import N_PAPER_RUNS, PrintedMean, printed_gain, table_of
from uqassay.experiments.reproduction import PrintedCell
from uqassay.metrics.run_summaries import mean_over_runs, spearman
from uqassay.statistics import Estimate

__all__ = ["ESTIMATORS", "LEVEL", "GainRow", "OurValues", "gain_cells"]

Array = NDArray[np.float64]
NAN = float("nan")
LEVEL = 0.95
ESTIMATORS = ("mutual-information", "entropy")
NOT_PRINTED = {True: "spread, discs, their shares and the kernel", False: "radius, shares and the kernel"}
BOUNDS = {"correlation": (-1.0, 1.0), "eece": (0.0, math.inf), "eece-bits": (0.0, math.inf), "calibrated": (0.0, 1.0)}


@final
@dataclass(frozen=True, eq=False)
class OurValues:
    """One number of each run.

    Attributes
    ----------
    per_run : array (R,)
    estimate : Estimate
        Mean over the runs with its interval.
    """

    per_run: Array
    estimate: Estimate

    @property
    def sd(self) -> float:
        """Standard deviation over the runs; nan for one run."""
        return float(self.per_run.std(ddof=1)) if len(self.per_run) > 1 else NAN


@final
@dataclass(frozen=True, eq=False)
class GainRow:
    """A method on a data set.

    Attributes
    ----------
    plan : GainData
    method : GainMethod
    study : GainStudy
    spread : float or None
        Of the toy data.
    compared : bool
        Whether the printed numbers may be compared with ours.
    """

    plan: GainData
    method: GainMethod
    study: GainStudy
    spread: float | None = None
    compared: bool = False

    @property
    def place(self) -> str:
        """Data set, with the spread and the asked share of toy data, for names of cells."""
        place = self.plan.name if self.spread is None else f"{self.plan.name}/spread={self.spread:g}"
        return place if self.plan.train_share is None else f"{place}/p={self.plan.train_share}"

    @property
    def label(self) -> str:
        """Data set, with the spread and the asked share of toy data, for the reader."""
        label = self.plan.name if self.spread is None else f"{self.plan.name}, spread {self.spread:g}"
        return label if self.plan.train_share is None else f"{label}, p = {self.plan.train_share}"

    @property
    def estimators(self) -> tuple[str, ...]:
        """Names of the estimates that the study has, in the order of the tables."""
        return tuple(name for name in ESTIMATORS if name in self.study.scores)

    @cached_property
    def results(self) -> dict[str, GainResult]:
        """Everything about each estimate."""
        return {name: self.study.result(name) for name in self.estimators}

    @cached_property
    def values(self) -> dict[tuple[str, str], OurValues]:
        """Numbers by estimate and column: "correlation", "eece", "eece-bits", "calibrated", "debiased", "truth"."""
        found = {}
        for name, result in self.results.items():
            found[name, "correlation"] = _over(result.correlation)
            found[name, "eece"] = _over(result.error)
            found[name, "eece-bits"] = _values([_in_bits(run.raw) for run in result.runs], BOUNDS["eece-bits"])
            found[name, "debiased"] = _over(result.debiased)
            if result.calibrated_error is not None and result.calibrated_debiased is not None:
                found[name, "calibrated"] = _over(result.calibrated_error)
                found[name, "calibrated-debiased"] = _over(result.calibrated_debiased)
            truth = _with_truth(self.study, name)
            if truth is not None:
                found[name, "truth"] = truth
        return found

    def printed(self, estimator: str, column: str) -> PrintedMean | None:
        """The printed number; None where the paper prints none."""
        return _printed().get((self.plan.name, estimator, column.removesuffix("-bits")))


def gain_cells(rows: Sequence[GainRow]) -> list[PrintedCell]:
    """One row for each number of the tables.

    Parameters
    ----------
    rows : sequence of GainRow

    Returns
    -------
    list of PrintedCell
        ``table1/toy/spread=0.35/local-gp/entropy/correlation``, and so on for ``eece`` (in nats), ``eece-bits``, ``calibrated``
        and, not printed, ``debiased``, ``calibrated-debiased`` and ``truth`` (the correlation with the true epistemic
        uncertainty); ``…/sd`` is the standard deviation over the runs. A cell that is compared has the range of six further
        runs, and a second cell ``…/interval`` our t interval.
    """
    return [cell for row in rows for (estimator, column) in row.values for cell in _cells(row, estimator, column)]


def _cells(row: GainRow, estimator: str, column: str) -> Iterator[PrintedCell]:
    name = "/".join([table_of(row.plan.name), row.place, row.method.name, estimator, column])
    ours, printed = row.values[estimator, column], row.printed(estimator, column)
    own = ours.estimate
    if row.compared and printed is not None:
        span = further_runs(ours.per_run, N_PAPER_RUNS, level=LEVEL, bounds=BOUNDS[column])
        runs = len(ours.per_run)
        found = compared_with_runs(name, printed.mean, float(own), span, runs=runs, paper_runs=N_PAPER_RUNS)
        if found.agrees is False:
            found = replace(found, note=f"{found.note}; {NOT_PRINTED[row.plan.is_toy]} are not printed")
        yield found
        yield PrintedCell(f"{name}/interval", NAN, float(own), own.low, own.high, None)
    else:
        yield PrintedCell(name, NAN if printed is None else printed.mean, float(own), own.low, own.high, None)
    yield PrintedCell(f"{name}/sd", NAN if printed is None else printed.sd, ours.sd, NAN, NAN, None)


# ---- numbers of the runs -----------------------------------------------------------------------------------------------


def _over(found: OverRuns) -> OurValues:
    return OurValues(found.values, found.estimate)


def _values(per_run: Sequence[float], bounds: tuple[float, float]) -> OurValues:
    runs = np.array(per_run, dtype=np.float64)
    return OurValues(runs, mean_over_runs(runs, level=LEVEL, bounds=bounds))


def _in_bits(raw: Any) -> float:
    """EECE of the estimates in bits, in the same intervals: a factor does not change the order."""
    held = raw.count > 0
    gap = np.abs(raw.mean_gain[held] - raw.mean_epistemic[held] / math.log(2))
    return float((raw.count[held] * gap).sum() / raw.count.sum())


def _with_truth(study: GainStudy, score: str) -> OurValues | None:
    """Spearman's correlation of the estimate with the true epistemic uncertainty."""
    found = []
    for run in study.runs:
        if run.test.truth is None:
            return None
        found.append(float(spearman(run.test.epistemic[score], run.test.truth.epistemic)))
    return _values(found, BOUNDS["correlation"])


@cache
def _printed() -> dict[tuple[str, str, str], PrintedMean]:
    return printed_gain()
