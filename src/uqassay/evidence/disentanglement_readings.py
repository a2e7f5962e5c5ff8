"""Conclusions that the runs of a disentanglement study support, as data: the sentences of the verdict follow from them.

The claims of one reading hold together at the level: the intervals behind them are Bonferroni-adjusted for the claims of that
reading, three in each experiment. Every interval is over the runs; the test instances are the same in all of them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.metrics.disentanglement import Disentanglement, Term
from uqassay.metrics.run_summaries import mean_over_runs
from uqassay.notes import Note
from uqassay.statistics import Estimate

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = [
    "AS_CLOSELY",
    "ClassReading",
    "ExperimentReading",
    "TermReading",
    "joint_level",
    "read_classes",
    "read_experiments",
]

Movement = Literal["follows", "against", "unclear", "flat", "single-run"]
Comparison = Literal["less", "as-closely", "more", "unclear"]
Side = Literal["above", "below", "unclear", "single-run"]

CLAIMS = 3  # of one reading: two estimates, and their comparison
AS_CLOSELY = 0.1  # correlations whose difference surely lies within ± this are called equally close


@final
@dataclass(frozen=True, eq=False)
class TermReading:
    """One of the four correlations and whether it differs from 0.

    Attributes
    ----------
    kind : {"aleatoric", "epistemic"}
    ideal : float
        1 or 0.
    correlation : Estimate
        Of confidence and accuracy, with its joint interval.
    movement : str
        "follows" (the interval lies above 0: the estimate rises where the accuracy falls), "against" (below 0), "unclear"
        (it holds 0), "flat" (the estimate is constant in all runs), or "single-run" (no interval over runs). With two
        conditions, where r is 0 or ±1, few runs that agree are "unclear", because they agree by chance too often.
    flat_runs : int
        Runs in which the estimate is constant, and the accuracy is not.
    """

    kind: str
    ideal: float
    correlation: Estimate
    movement: Movement
    flat_runs: int


@final
@dataclass(frozen=True, eq=False)
class ExperimentReading:
    """What one of the two experiments of the disentanglement error shows.

    Attributes
    ----------
    experiment : {"dataset-size", "label-noise"}
    n_runs : int
    level : float
        At which its claims hold together.
    target, other : TermReading
        The estimate that should follow the accuracy, and the one that should not.
    difference : Estimate
        Mean over the runs of the correlation of `other` minus that of `target`, with its joint interval.
    comparison : str or None
        Whether `other` follows the accuracy "less", "as-closely" or "more" than `target`; "unclear" where the interval does
        not say; None where not both follow it.
    accuracy_change : Estimate
        Mean over the runs of the accuracy in the largest condition minus that in the smallest.
    """

    experiment: str
    n_runs: int
    level: float
    target: TermReading
    other: TermReading
    difference: Estimate
    comparison: Comparison | None
    accuracy_change: Estimate

    @property
    def accuracy_moves(self) -> bool:
        """Whether the accuracy rises with more data, or falls with more label noise, for sure; of a single run: by itself."""
        change = self.accuracy_change
        low, high = (float(change), float(change)) if self.n_runs == 1 else (change.low, change.high)
        return low > 0 if self.experiment == EXPERIMENTS[0] else high < 0


@final
@dataclass(frozen=True, eq=False)
class ClassReading:
    """What the classes left out of the training show: mean ROC-AUC of both estimates against ½.

    Attributes
    ----------
    n_runs : int
    level : float
    aleatoric, epistemic : Estimate
        With joint intervals.
    sides : dict of str to str
        By kind: "above" ½, "below" it, "unclear", or "single-run".
    difference : Estimate
        Epistemic minus aleatoric.
    better : {"epistemic", "aleatoric"} or None
        The estimate with the greater ROC-AUC, where the interval of the difference says so.
    notes : tuple of Note
    """

    n_runs: int
    level: float
    aleatoric: Estimate
    epistemic: Estimate
    sides: dict[str, Side]
    difference: Estimate
    better: str | None
    notes: tuple[Note, ...]


def joint_level(level: float) -> float:
    """Level of each of the claims of a reading, so that all of them hold together at `level` (Bonferroni).

    Examples
    --------
    >>> round(joint_level(0.95), 4)
    0.9833
    """
    return 1 - (1 - level) / CLAIMS


def read_experiments(
    study: "DisentanglementStudy", decomposition: str, *, level: float = 0.95
) -> tuple[ExperimentReading, ExperimentReading]:
    """Readings of the dataset-size and of the label-noise experiment.

    Parameters
    ----------
    study : DisentanglementStudy
        With both experiments.
    decomposition : str
    level : float
        At which the claims of each reading hold together.
    """
    found = study.error(decomposition, level=joint_level(level))
    size, noise = (_read_experiment(study, name, found, level) for name in EXPERIMENTS[:2])
    return size, noise


def read_classes(study: "DisentanglementStudy", decomposition: str, *, level: float = 0.95) -> ClassReading:
    """Reading of the classes left out; the claims hold together at `level`."""
    found = study.detection(decomposition, level=joint_level(level))
    better = None
    if study.n_runs == 1 or _equal_by_chance(found.difference, study.n_runs):
        pass
    elif found.difference.low > 0:
        better = "epistemic"
    elif found.difference.high < 0:
        better = "aleatoric"
    return ClassReading(
        n_runs=study.n_runs,
        level=level,
        aleatoric=found.aleatoric_mean,
        epistemic=found.epistemic_mean,
        sides={
            "aleatoric": _side(found.aleatoric_mean, study.n_runs),
            "epistemic": _side(found.epistemic_mean, study.n_runs),
        },
        difference=found.difference,
        better=better,
        notes=found.notes,
    )


def _read_experiment(
    study: "DisentanglementStudy", experiment: str, found: Disentanglement, level: float
) -> ExperimentReading:
    terms = [term for term in found.terms if term.experiment == experiment]
    target, other = sorted(terms, key=lambda term: -term.ideal)
    accuracy = study.experiment(experiment).correct.mean(axis=-1)  # (R, C)
    still, two = np.ptp(accuracy, axis=1) == 0, accuracy.shape[1] == 2
    readings = [_read_term(term, term.constant & ~still, two=two) for term in (target, other)]
    difference = mean_over_runs(other.per_run - target.per_run, level=joint_level(level), bounds=(-2.0, 2.0))
    both = not two and all(reading.movement == "follows" for reading in readings)
    return ExperimentReading(
        experiment=experiment,
        n_runs=study.n_runs,
        level=level,
        target=readings[0],
        other=readings[1],
        difference=difference,
        comparison=_comparison(difference) if both else None,
        accuracy_change=mean_over_runs(_change(study, experiment, accuracy), level=level, bounds=(-1.0, 1.0)),
    )


def _read_term(term: Term, flat: NDArray[np.bool_], *, two: bool) -> TermReading:
    """`flat`: runs with a constant estimate; `two`: there are two conditions, so that r is 0 or ±1."""
    r, flat_runs, n_runs = term.correlation, int(flat.sum()), len(term.per_run)
    by_chance = two and 2.0 ** (1 - n_runs) > 1 - r.level  # that all runs have the same sign
    movement: Movement = "unclear"
    if flat_runs == n_runs:
        movement = "flat"
    elif n_runs == 1:
        movement = "single-run"
    elif by_chance:
        movement = "unclear"
    elif r.low > 0:
        movement = "follows"
    elif r.high < 0:
        movement = "against"
    return TermReading(term.estimate, term.ideal, r, movement, flat_runs)


def _comparison(difference: Estimate) -> Comparison:
    low, high = difference.low, difference.high
    if max(-low, high) <= AS_CLOSELY:
        return "as-closely"
    if high < 0:
        return "less"
    return "more" if low > 0 else "unclear"


def _side(auc: Estimate, n_runs: int) -> Side:
    if n_runs == 1 or np.isnan(auc):
        return "single-run"
    if _equal_by_chance(auc, n_runs):
        return "unclear"
    if auc.low > 0.5:
        return "above"
    return "below" if auc.high < 0.5 else "unclear"


def _equal_by_chance(value: Estimate, n_runs: int) -> bool:
    """Whether an interval without width is no evidence: with few test instances, two runs can have the same ROC-AUC."""
    return n_runs == 2 and value.low == value.high


def _change(study: "DisentanglementStudy", experiment: str, accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accuracy of each run at the largest condition minus that at the smallest."""
    conditions = study.experiment(experiment).conditions
    return np.asarray(accuracy[:, np.argmax(conditions)] - accuracy[:, np.argmin(conditions)])
