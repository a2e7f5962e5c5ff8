"""Metrics of labels and predictions by name, in two steps: columns of some instances, and the estimate from all columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.losses.errors import is_correct, prediction_errors, probability_gap
from uqassay.losses.label_distance import labels_of
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_options, check_tradeoff, set_nonspecificity, unified_terms
from uqassay.measures.hartley import Nonspecificity, joined_nonspecificities
from uqassay.measures.scores import SCORES, uncertainty_score
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.notes import Note
from uqassay.predictions import Prediction, PredictionLike, as_prediction
from uqassay.predictions.class_sets import refuse_class_sets
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate

__all__ = ["MetricPart", "PredictionMetric"]

Array = NDArray[np.float64]

HIGHER_IS_BETTER = {
    "unified": False,
    "distance": False,
    "nonspecificity": False,
    "log-loss": False,
    "brier": False,
    "accuracy": True,
} | {name: metric.higher_is_better for name, metric in RANKING_METRICS.items()}


class MetricPart(NamedTuple):
    """What a metric needs of some instances: one or two arrays (n,), and the sizes of the sets where they enter."""

    columns: tuple[Array, ...]
    sizes: Nonspecificity | None = None


@dataclass(frozen=True, kw_only=True)
class PredictionMetric:
    """A metric with its options.

    Parameters
    ----------
    metric : str
        "unified" (E), "distance", "nonspecificity", "accuracy", "log-loss", "brier", or a name of `metrics.RANKING_METRICS`;
        also "nll", "acc" and other names of `metrics.names`.
    tradeoff, distance
        Of "unified" and "distance"; see `losses.unified_loss`.
    score : str
        Uncertainty that ranks the mistakes, for ranking metrics: a name of `measures.SCORES`, or "nonspecificity".
    level : float
        Confidence level of the interval.

    Raises
    ------
    InputError
        An unknown name, or a λ that is none.
    """

    metric: str = "unified"
    tradeoff: float = DEFAULT_TRADEOFF
    distance: str = "kl"
    score: str = "total-entropy"
    level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", metric_name(self.metric))
        _check_name("metric", self.metric, HIGHER_IS_BETTER)
        _check_name("score", self.score, (*SCORES, "nonspecificity"))
        check_tradeoff(self.tradeoff)
        check_options(self.distance, "hartley", "exact", None, None)

    @property
    def higher_is_better(self) -> bool:
        """True for accuracy and for ranking metrics such as UQ-AUC, False for losses."""
        return HIGHER_IS_BETTER[self.metric]

    def part(self, y_true: ArrayLike, prediction: PredictionLike) -> MetricPart:
        """The columns of some instances."""
        p = as_prediction(prediction)
        y = labels_of(y_true, p)
        p = p.without_class_names()  # the labels are indices from here on, also where the class names are whole numbers
        match self.metric:
            case "accuracy":
                return MetricPart((is_correct(y, p),))
            case "log-loss":
                return MetricPart((log_loss(y, p),))
            case "brier":
                return MetricPart((brier_loss(y, p),))
            case "nonspecificity":
                sizes = set_nonspecificity(p)
                return MetricPart((sizes.values,), sizes)
            case "unified" | "distance":
                (d, *_), sizes = self._terms(y, p)
                return MetricPart((d,)) if self.metric == "distance" else MetricPart((d,), sizes)
        refuse_class_sets(p, "prediction")  # a set of several classes is no mistake that a score could rank
        truth = prediction_errors if RANKING_METRICS[self.metric].truth == "errors" else probability_gap
        by_size = self.score == "nonspecificity"
        return MetricPart((truth(y, p), set_nonspecificity(p).values if by_size else uncertainty_score(p, self.score)))

    def estimate(self, parts: Sequence[MetricPart], groups: ArrayLike | None = None) -> Estimate:
        """The metric over the instances of all parts, with its interval."""
        columns = [np.concatenate(column) for column in zip(*(p.columns for p in parts), strict=True)]
        if self.metric in RANKING_METRICS:
            return RANKING_METRICS[self.metric].estimate(*columns, groups=groups, level=self.level)
        if self.metric == "accuracy":
            return proportion_estimate(columns[0], groups=groups, level=self.level)
        sizes = [p.sizes for p in parts if p.sizes is not None]
        if not sizes:
            most = 2.0 if self.metric == "brier" else np.inf
            return mean_estimate(columns[0], groups=groups, level=self.level, method="hall").within(0.0, most)
        size = joined_nonspecificities(sizes)
        values = columns[0] + self.tradeoff * size.values if self.metric == "unified" else size.values
        found = mean_estimate(values, groups=groups, level=self.level, method="hall")
        error = size.mean_standard_error * (self.tradeoff if self.metric == "unified" else 1.0)
        text = f"the interval includes the error of an estimated non-specificity, {error:.2g} in the mean"
        return found.widened(error, Note("widened", text, {"standard_error": error})).within(0.0)

    def _terms(self, y: NDArray[Any], p: Prediction) -> tuple[tuple[Array, Array, int], Nonspecificity]:
        return unified_terms(
            y,
            p,
            distance=self.distance,
            nonspecificity="hartley",
            convention="exact",
            focal_sets=None,
            floor=None,
        )


def _check_name(parameter: str, name: Any, known: Any) -> None:
    if not isinstance(name, str) or name not in known:
        raise InputError(
            parameter, f"must be one of {', '.join(known)}", f"got {name!r:.60}", "choose one of them", code="choice"
        )
