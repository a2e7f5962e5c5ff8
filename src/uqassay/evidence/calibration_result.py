"""One calibration test of one run of one model, and its p-value among all others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.shared_members import IN_GROUPS
from uqassay.metrics.calibration.reliability import Reliability
from uqassay.notes import Note, reason
from uqassay.statistics import holm

__all__ = ["ROW_FIELDS", "ModelCalibration", "adjusted_pvalues", "adjusted_tests", "model_groups"]

Floats = NDArray[np.float64]

ROW_FIELDS = (
    "model",
    "run",
    "measure",
    "notion",
    "tested",
    "n_instances",
    "n_tested",
    "n_members",
    "noun",
    "statistic",
    "pvalue",
    "n_draws",
    "n_parts",
    "gap",
    "gap_pvalue",
    "ignores_groups",
    "mean_value",
    "mean_pvalue",
    "accuracy_mean",
    "accuracy_weighted",
    "width",
    "notes",
)  # what a row of a table holds: neither arrays nor diagrams


@dataclass(frozen=True, eq=False)
class ModelCalibration:
    """One calibration test of one run of one model.

    Attributes
    ----------
    model : str
    run : int
        0 for the first.
    measure, notion : str
        What was measured, and the notion of calibration that it looks at: "confidence", "classwise" or "strong".
    tested : {"mixtures", "mean", "nothing"}
        Every mixture of the members (vertices), the one distribution that stands for the statement, or nothing: see `notes`.
    n_instances, n_tested : int
        Instances there are, and those that were tested.
    n_members : int
        What was mixed (or would have been), M; 1 where the mean was tested.
    statistic : float
        Least value of the measure over all mixtures, or its value at the mean.
    pvalue : float
        Small where nothing that was tested is calibrated. It is that of this test alone, the same in every assay with this
        model; `adjusted_pvalues` adjusts it for the number of tests.
    n_draws : int
        Draws behind the p-value. Where none of those in `null` reaches the statistic, so that the p-value is as small as they
        allow, a set has more; they are judged on some mixtures only, which bounds their minimum from above and so the p-value.
    null : array (D,)
        The statistic for labels that a calibrated mixture (the mean) gave. The draws end early if the p-value is not small.
    null_kind : str
        "single", "signs", or a null of `credal_calibration_test`; with "sequential", `null` holds upper bounds of most values
        below the statistic.
    weights : array (M,)
        The mixture with the least value; nan where no value is defined.
    mean_value, mean_pvalue : float
        The measure at `mean_probs` of the prediction, and the test of it alone.
    member_values, member_pvalues : array (M,)
        Of every member alone; empty where there are no members (points, intervals, masses).
    accuracy_mean, accuracy_weighted : float
        Accuracy of the mean and of the mixture, on the instances that the weights were fitted to.
    before, after : Reliability or None
        Reliability diagrams of the mean and of the mixture, on the same instances; None where nothing was tested, `after` also
        where no weights are defined.
    width : float
        Mean over instances and classes of the upper minus the lower probability.
    notes : tuple of Note
        What limits the result.
    noun : {"members", "vertices"}
        What is mixed.
    n_parts : int
        Parts of the instances whose p-values are combined by Fisher's method, where no draw reaches the statistic of a single
        distribution; otherwise 0.
    gap, gap_pvalue : float
        Mean confidence of the mean prediction minus its accuracy, and the p-value of a difference of 0 by `confidence_gap`.
    """

    model: str
    run: int
    measure: str
    notion: str
    tested: str
    n_instances: int
    n_tested: int
    n_members: int
    statistic: float
    pvalue: float
    n_draws: int
    null: Floats = field(repr=False)
    null_kind: str
    weights: Floats = field(repr=False)
    mean_value: float
    mean_pvalue: float
    member_values: Floats = field(repr=False)
    member_pvalues: Floats = field(repr=False)
    accuracy_mean: float
    accuracy_weighted: float
    before: Reliability | None = field(repr=False)
    after: Reliability | None = field(repr=False)
    width: float
    notes: tuple[Note, ...]
    noun: str = "members"
    n_parts: int = 0
    gap: float = math.nan
    gap_pvalue: float = math.nan

    @property
    def ignores_groups(self) -> bool:
        """Whether there are groups, but the test takes labels as independent; `notes` says so too."""
        return IN_GROUPS in self.notes

    @property
    def reason(self) -> str:
        """Why the statistic or the p-value is undefined or infinite, from `notes`; empty where both are numbers."""
        if math.isfinite(self.statistic) and math.isfinite(self.pvalue):
            return ""
        return reason(self.notes)

    def row(self) -> dict[str, Any]:
        """Numbers and words without the arrays, the run counted from 1."""
        return {name: getattr(self, name) for name in ROW_FIELDS} | {"run": self.run + 1}


def adjusted_pvalues(tests: Sequence[ModelCalibration]) -> Floats:
    """p-values adjusted by Holm for all of these tests, of all models, runs and measures, (T,); nan stays nan.

    The least over the runs of a model is the adjusted p-value of the claim that not all of them are calibrated.
    """
    return holm([test.pvalue for test in tests])


def adjusted_tests(tests: Sequence[ModelCalibration]) -> dict[ModelCalibration, float]:
    """Every test with its adjusted p-value."""
    return dict(zip(tests, adjusted_pvalues(tests).tolist(), strict=True))


def model_groups(tests: Sequence[ModelCalibration]) -> dict[tuple[str, str], list[ModelCalibration]]:
    """The tests of all runs, by model and measure."""
    found: dict[tuple[str, str], list[ModelCalibration]] = {}
    for test in tests:
        found.setdefault((test.model, test.measure), []).append(test)
    return found
