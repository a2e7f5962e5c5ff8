"""How well each estimate tells apart the instances of a class that was left out of the training (paper 004, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.disentanglement_measured import KINDS, Measured, chosen
from uqassay.metrics.ood.detection import ood_auc_score
from uqassay.metrics.run_summaries import mean_over_runs
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.wording import listed

__all__ = ["ClassDetection", "class_detection"]

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class ClassDetection:
    """How well each estimate separates the instances of a class left out of the training from those of the others.

    Attributes
    ----------
    classes : tuple of C int
    aleatoric, epistemic : array (R, C)
        ROC-AUC of each run and class; .5 is no separation. nan for a class without test instances.
    aleatoric_mean, epistemic_mean : Estimate
        Of the mean over the classes, with a t interval over the runs, cut to [0, 1]; a note says so.
    difference : Estimate
        Mean over the runs of the epistemic minus the aleatoric mean, cut to [−1, 1].
    notes : tuple of Note
    """

    classes: tuple[int, ...]
    aleatoric: Array
    epistemic: Array
    aleatoric_mean: Estimate
    epistemic_mean: Estimate
    difference: Estimate
    notes: tuple[Note, ...] = ()

    def of_class(self, index: int, kind: str) -> Estimate:
        """ROC-AUC of one of `classes`, by its class index, with a t interval over the runs.

        Parameters
        ----------
        index : int
            One of `classes`.
        kind : {"aleatoric", "epistemic"}
        """
        values = getattr(self, chosen("kind", kind, KINDS))[:, self.classes.index(index)]
        return _mean(values, self.aleatoric_mean.level)


def class_detection(
    measured: Measured, decomposition: str, class_names: Sequence[str], *, level: float = 0.95
) -> ClassDetection:
    """ROC-AUC of both estimates for the instances of each class that the training did not have.

    Parameters
    ----------
    measured : Measured
        Of the experiment "left-out-class".
    decomposition : str
    class_names : sequence of K str
    level : float
        Confidence level of the intervals.
    """
    parts = measured.decomposed(decomposition)
    classes = tuple(int(k) for k in measured.conditions)
    found = {kind: _class_aucs(measured, getattr(parts, kind), classes) for kind in KINDS}
    undefined = [bool(np.isnan(column).any()) for column in found["epistemic"].T]
    of_run = {kind: _defined_means(auc) for kind, auc in found.items()}
    names = [class_names[k] for k, absent in zip(classes, undefined, strict=True) if absent]
    text = f"no ROC-AUC for {listed(names)}, which have no test instances"
    return ClassDetection(
        classes,
        **found,
        aleatoric_mean=_mean(of_run["aleatoric"], level),
        epistemic_mean=_mean(of_run["epistemic"], level),
        difference=_mean(of_run["epistemic"] - of_run["aleatoric"], level, lowest=-1.0),
        notes=(Note("left-out", text, {"classes": names}),) if names else (),
    )


def _class_aucs(measured: Measured, values: NDArray[Any], classes: Sequence[int]) -> Array:
    return np.array(
        [
            [_auc(measured.labels[r, c] == k, values[r, c]) for c, k in enumerate(classes)]
            for r in range(measured.n_runs)
        ]
    )


def _auc(is_out: NDArray[np.bool_], uncertainty: NDArray[Any]) -> float:
    return float(ood_auc_score(is_out, uncertainty)) if is_out.any() and not is_out.all() else float("nan")


def _defined_means(values: Array) -> Array:
    """Mean of each row over its defined values; nan for a row without any."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=1)
    return np.where(n > 0, np.where(defined, values, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)


def _mean(of_run: Array, level: float, *, lowest: float = 0.0) -> Estimate:
    """Mean over the runs with a t interval, cut to the possible values; nan where a run is undefined."""
    if np.isnan(of_run).any():
        nan = float("nan")
        note = Note("undefined", "a run without test instances of the classes left out")
        return Estimate(nan, low=nan, high=nan, level=level, n=len(of_run), method="student-t", notes=[note])
    return mean_over_runs(of_run, level=level, bounds=(lowest, 1.0))
