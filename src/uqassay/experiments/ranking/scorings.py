"""A scoring with its metrics, which need only labels, and its τ with the ground truths, which need label distributions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.experiments.reproduction import PrintedCell, printed_table
from uqassay.losses.errors import prediction_errors, probability_gap
from uqassay.measures.scores import uncertainty_score
from uqassay.metrics.ranking.auc_and_c_index import uq_auc_score, uq_c_index_score
from uqassay.metrics.ranking.ground_truths import (
    CorrelationStudy,
    correlation_study,
    kendall_tau_score,
    misalignment_truth,
    misclassification_truth,
)
from uqassay.predictions import Prediction
from uqassay.statistics import Estimate

__all__ = [
    "HALF_UNIT",
    "METRICS",
    "SOURCE",
    "TRUTHS",
    "Scoring",
    "columns",
    "judge",
    "printed_cells",
    "study",
]

Array = NDArray[np.float64]

SOURCE = "Pignet, Regniez and Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring"
METRICS = ("UQ-AUC", "UQ-C-index")
TRUTHS = ("misclassification", "misalignment")  # φ and ψ
HALF_UNIT = 0.005  # of the last printed digit of a correlation in percent


@final
@dataclass(frozen=True, slots=True)
class Scoring:
    """One score of one trained model.

    Attributes
    ----------
    model : str
        Name of the trained model; scorings of one model are dependent.
    method : str
        Kind of the model.
    score : str
        A name of `uqassay.measures.SCORES`, or of a score that the model states itself.
    metrics : tuple of Estimate
        In the order of `METRICS`.
    taus : tuple of Estimate
        Kendall's τ-b with the truths, in the order of `TRUTHS`.
    """

    model: str
    method: str
    score: str
    metrics: tuple[Estimate, Estimate]
    taus: tuple[Estimate, Estimate]

    @property
    def defined(self) -> bool:
        """Whether no value is nan: a constant score has no τ, a model without errors no UQ-AUC."""
        return not any(np.isnan(value) for value in (*self.metrics, *self.taus))


def judge(
    prediction: Prediction,
    labels: ArrayLike,
    label_distribution: ArrayLike,
    scores: Iterable[str],
    *,
    model: str,
    method: str,
    given: Mapping[str, ArrayLike] | None = None,
) -> list[Scoring]:
    """Judge scores of one model on the same instances.

    Parameters
    ----------
    prediction : Prediction
    labels : int array (n,), or array (n, K)
        For the metrics.
    label_distribution : array (n, K)
        For the ground truths.
    scores : iterable of str
        Names of `uqassay.measures.SCORES`.
    model, method : str
        As in `Scoring`.
    given : dict of str to array (n,), optional
        Further scores by name, which the prediction does not contain.
    """
    errors, gap = prediction_errors(labels, prediction), probability_gap(labels, prediction)
    truths = (
        misclassification_truth(label_distribution, prediction),
        misalignment_truth(label_distribution, prediction),
    )
    found = []
    named = [*((score, uncertainty_score(prediction, score)) for score in scores), *(given or {}).items()]
    for score, s in named:
        found.append(
            Scoring(
                model,
                method,
                score,
                (uq_auc_score(errors, s), uq_c_index_score(gap, s)),
                (kendall_tau_score(truths[0], s), kendall_tau_score(truths[1], s)),
            )
        )
    return found


def columns(scorings: Sequence[Scoring]) -> tuple[Array, Array]:
    """Metrics ``(J, 2)`` and τ ``(J, 2)`` of the scorings."""
    return np.array([s.metrics for s in scorings]), np.array([s.taus for s in scorings])


def study(scorings: Sequence[Scoring], method: str, *, by_model: bool = False) -> CorrelationStudy:
    """Correlation of every metric with every τ over the defined scorings.

    Parameters
    ----------
    scorings : sequence of Scoring
    method : {"jackknife", "fisher", "bca"}
        As in `correlation_study`.
    by_model : bool
        Leave out, or draw, all scorings of a model together.
    """
    kept = [s for s in scorings if s.defined]
    if len(kept) < 3:
        raise InputError(
            "scorings",
            "must have at least three that are defined",
            f"got {len(kept)}",
            "judge more models",
            code="empty",
        )
    metrics, taus = columns(kept)
    return correlation_study(
        dict(zip(METRICS, metrics.T, strict=True)),
        dict(zip(TRUTHS, taus.T, strict=True)),
        clusters=[s.model for s in kept] if by_model else None,
        method=method,
    )


def printed_cells(dataset: str, found: CorrelationStudy, why: Callable[[str, str, float], str]) -> list[PrintedCell]:
    """The printed correlations of a data set in Table 1 with ours, in percent.

    Parameters
    ----------
    dataset : str
        As it is printed.
    found : CorrelationStudy
        Its intervals are those of the cells, widened by `HALF_UNIT`.
    why : callable
        (metric, truth, printed value) → the reason; called for cells that disagree.
    """
    cells = []
    for row in (row for row in printed_table("ground_truth_free_table1") if row["dataset"] == dataset):
        for truth in TRUTHS:
            printed = float(row[f"corr_{truth}_percent"])
            r = found[row["metric"], truth]
            name = f"table1/{dataset}/{row['metric']}/{truth}"
            low, high = 100 * r.low - HALF_UNIT, 100 * r.high + HALF_UNIT
            cell = PrintedCell.within(name, printed, 100 * float(r), low, high)
            if cell.agrees is False:
                cell = PrintedCell.within(
                    name, printed, cell.ours, cell.low, cell.high, note=why(row["metric"], truth, printed)
                )
            cells.append(cell)
    return cells
