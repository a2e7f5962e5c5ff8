"""Scorings of models: their metrics, and the correlation of these with the ground truths that votes give."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.lab.papers.ranking.printed import METRICS, TRUTHS
from uqassay.losses import prediction_errors, probability_gap
from uqassay.measures import uncertainty_score
from uqassay.metrics import (
    CorrelationStudy,
    correlation_study,
    kendall_tau_score,
    misalignment_truth,
    misclassification_truth,
    uq_auc_score,
    uq_c_index_score,
)
from uqassay.predictions import Prediction
from uqassay.statistics import Estimate

__all__ = [
    "Scoring",
    "columns",
    "judge",
    "study",
]


# A scoring with its metrics, which need only labels, and its τ with the ground truths, which need label distributions.


@final
@dataclass(frozen=True, slots=True)
class Scoring:
    """One score of one trained model."""

    model: str  #: Name of the trained model; scorings of one model are dependent
    method: str  #: Kind of the model
    score: str  #: A name of `uqassay.measures.SCORES`, or of a score that the model states itself
    metrics: tuple[Estimate, Estimate]  #: In the order of `METRICS`
    taus: tuple[Estimate, Estimate]  #: Kendall's τ-b with the truths, in the order of `TRUTHS`

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


def columns(scorings: Sequence[Scoring]) -> tuple[Floats, Floats]:
    """Metrics ``(J, 2)`` and τ ``(J, 2)`` of the scorings."""
    return np.array([s.metrics for s in scorings]), np.array([s.taus for s in scorings])


def study(scorings: Sequence[Scoring], method: str, *, by_model: bool = False) -> CorrelationStudy:
    """Correlation of every metric with every τ over the defined scorings.

    Parameters
    ----------
    method : {"jackknife", "fisher", "bca"}
        As in `correlation_study`.
    by_model : bool
        Leave out, or draw, all scorings of a model together.
    """
    kept = [s for s in scorings if s.defined]
    if len(kept) < 3:
        rule = "must have at least three that are defined"
        fail("scorings", rule, f"got {len(kept)}", "judge more models", code="empty")
    metrics, taus = columns(kept)
    return correlation_study(
        dict(zip(METRICS, metrics.T, strict=True)),
        dict(zip(TRUTHS, taus.T, strict=True)),
        clusters=[s.model for s in kept] if by_model else None,
        method=method,
    )
