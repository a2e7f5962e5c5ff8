"""Metrics of a stream of batches, and scorers for scikit-learn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array
from uqassay.checks import fail, one_of, same_length
from uqassay.errors import InputError
from uqassay.frames import as_frame
from uqassay.ids import in_one_order
from uqassay.losses.unified import (
    DEFAULT_TRADEOFF,
    brier_loss,
    check_options,
    check_tradeoff,
    is_correct,
    labels_of,
    log_loss,
    prediction_errors,
    probability_gap,
    set_nonspecificity,
    unified_terms,
)
from uqassay.measures.nonspecificities import Nonspecificity, joined_nonspecificities
from uqassay.measures.registry import SCORES, uncertainty_score
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import Note
from uqassay.predictions import Point, Prediction, PredictionLike, as_prediction
from uqassay.predictions.base import numbered
from uqassay.predictions.keys import classes_in_order
from uqassay.predictions.labels import labels_for
from uqassay.predictions.sets import refuse_class_sets
from uqassay.predictions.swapped import swapped_arguments
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate

__all__ = [
    "StreamingMetric",
    "UncertaintyScorer",
    "prediction_metric",
]


# Metrics of labels and predictions by name, in two steps: columns of some instances, and the estimate from all columns.


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

    columns: tuple[Floats, ...]
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
    """

    metric: str = "unified"
    tradeoff: float = DEFAULT_TRADEOFF
    distance: str = "kl"
    score: str = "total-entropy"
    level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", metric_name(self.metric))
        one_of(self.metric, "metric", HIGHER_IS_BETTER)
        one_of(self.score, "score", (*SCORES, "nonspecificity"))
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

    def _terms(self, y: NDArray[Any], p: Prediction) -> tuple[tuple[Floats, Floats, int], Nonspecificity]:
        return unified_terms(
            y,
            p,
            distance=self.distance,
            nonspecificity="hartley",
            convention="exact",
            focal_sets=None,
            floor=None,
        )


# A metric that is updated batch by batch, in the manner of torchmetrics.


class StreamingMetric:
    """One metric over batches: `update` with each, `compute` the estimate, `reset`, and `merge_state` of other processes.

    Takes arrays, predictions, and tensors of PyTorch on any device. It keeps one or two numbers of each instance on the host.
    The result is that of one batch with all instances.

    Parameters
    ----------
    metric : str
        "unified" (E), "distance", "nonspecificity", "accuracy", "log-loss", "brier", or a name of `metrics.RANKING_METRICS`.
    tradeoff, distance
        Of "unified" and "distance"; see `losses.unified_loss`.
    score : str
        Uncertainty that ranks the mistakes, for ranking metrics: a name of `measures.SCORES`, or "nonspecificity".
    level : float
        Confidence level of the interval.

    Notes
    -----
    Draws of a `Dirichlet` or of Gaussian logits belong to the row, counted from the first batch of this object. `merge_state`
    does not count them anew, so for these kinds a merged result differs from that of one batch by their randomness.

    Examples
    --------
    >>> import uqassay as uq
    >>> metric = uq.metrics.StreamingMetric("accuracy")
    >>> metric.update([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    >>> metric.update([[0.7, 0.3]], [1])
    >>> metric.compute()
    Estimate(0.6667, low=0.2077, high=0.9385, level=0.95, n=3, method='wilson')
    """

    def __init__(
        self,
        metric: str = "unified",
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        distance: str = "kl",
        score: str = "total-entropy",
        level: float = 0.95,
    ) -> None:
        self.definition = PredictionMetric(
            metric=metric, tradeoff=tradeoff, distance=distance, score=score, level=level
        )
        self.reset()

    @property
    def higher_is_better(self) -> bool:
        """True for accuracy and for ranking metrics such as UQ-AUC, False for losses."""
        return self.definition.higher_is_better

    @property
    def n_instances(self) -> int:
        """Number of instances seen."""
        return sum(len(part.columns[0]) for part, *_ in self._batches)

    def reset(self) -> None:
        """Forget all batches."""
        # each with its groups and class names, so that one append adds all of it
        self._batches: list[tuple[MetricPart, NDArray[Any] | None, tuple[str, ...] | None]] = []

    @in_one_order("preds", "target", "groups")
    def update(self, preds: PredictionLike, target: ArrayLike, *, groups: ArrayLike | None = None) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : Prediction of any kind, or array or tensor (n, K) or (n, M, K)
            Probabilities. Named classes are put in the order of the first batch. The order of the parameters is that of
            torchmetrics.
        target : int array or tensor (n,), or (n, K)
            Labels, or label distributions / vote counts.
        groups : array (n,), optional
            Instances of one group stay together in the interval; all batches have groups, or none.
        """
        prediction = numbered(as_prediction(preds, "preds"), self.n_instances)
        names = next((names for *_, names in self._batches if names), None)
        prediction = classes_in_order(prediction, names, "preds", of="the first batch")
        units = None if groups is None else as_array(groups, "groups").copy()
        if units is not None and units.shape != (prediction.n_instances,):
            rule, remedy = "need one value for each instance of the batch", "pass an array of that length"
            fail("groups", rule, f"got shape {units.shape}", remedy, code="shape")
        if self._batches and (units is None) != (self._batches[0][1] is None):
            fail("groups", "must be given for all batches, or for none", "got both", "decide for one", code="mismatch")
        self._batches.append((self.definition.part(target, prediction), units, prediction.class_names))

    def merge_state(self, others: "StreamingMetric | Iterable[StreamingMetric]") -> None:
        """Add the batches of other metrics of the same definition, after those of this one and in the order given.

        A merge that raises, or is interrupted, leaves the metric as it was.
        """
        found = list(self._batches)
        for other in [others] if isinstance(others, StreamingMetric) else others:
            if not isinstance(other, StreamingMetric) or other.definition != self.definition:
                got = f"got {getattr(other, 'definition', type(other).__name__)!r:.120}"
                remedy = "make them with the same options"
                fail("others", "must be metrics of the same definition", got, remedy, code="mismatch")
            if found and other._batches and (other._batches[0][1] is None) != (found[0][1] is None):
                fail(
                    "groups",
                    "must be given for all batches, or for none",
                    "got both",
                    "decide for one",
                    code="mismatch",
                )
            found += other._batches
        self._batches = found

    def compute(self) -> Estimate:
        """The metric over all batches, with its interval."""
        if not self._batches:
            fail("preds", "needs at least one batch", "got none", "call update first", code="empty")
        parts, groups, _ = zip(*self._batches, strict=True)
        return self.definition.estimate(parts, None if groups[0] is None else np.concatenate(groups))


# Metrics for scikit-learn: a score function for `make_scorer`, and a scorer that also takes sets of distributions.


@in_one_order("y_prob", "y_true")
def prediction_metric(
    y_true: ArrayLike,
    y_prob: PredictionLike,
    *,
    metric: str = "unified",
    tradeoff: float = DEFAULT_TRADEOFF,
    distance: str = "kl",
    score: str = "total-entropy",
    labels: Sequence[Any] | None = None,
    level: float = 0.95,
) -> Estimate:
    """A metric of labels and predictions by its name, for `sklearn.metrics.make_scorer`.

    Parameters
    ----------
    y_true : array (n,), or array (n, K)
        Labels: class indices, or values of `labels`; or label distributions.
    y_prob : Prediction, or array (n, K), (n, M, K) or (n,)
        Probabilities. (n,) is the probability of the second of two classes, which scikit-learn passes for two classes.
    metric : str
        "unified" (E), "distance", "nonspecificity", "accuracy", "log-loss", "brier", or a name of `metrics.RANKING_METRICS`.
    tradeoff, distance
        Of "unified" and "distance"; see `losses.unified_loss`. Of points, E is the distance alone.
    score : str
        Uncertainty that ranks the mistakes, for ranking metrics: a name of `measures.SCORES`, or "nonspecificity".
    labels : sequence, optional
        The classes in the order of the columns, `estimator.classes_`; needed unless they are 0 … K−1.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        A float, as scikit-learn needs it.

    Examples
    --------
    >>> import uqassay as uq
    >>> found = uq.metrics.prediction_metric(["no", "yes"], [0.25, 0.75], metric="log-loss", labels=["no", "yes"])
    >>> round(float(found), 4)
    0.2877
    """
    definition = PredictionMetric(metric=metric, tradeoff=tradeoff, distance=distance, score=score, level=level)
    if isinstance(y_true, Prediction) or (np.ndim(y_true) > 1 and _are_classes(y_prob)):
        raise swapped_arguments("y_true", "y_prob")
    prediction = _prediction(y_prob)
    y = _labels(y_true, prediction, labels)
    return definition.estimate([definition.part(y, prediction.without_class_names())])


@dataclass(frozen=True)
class UncertaintyScorer:
    """A scorer of scikit-learn: called with a fitted classifier, inputs and labels, it returns a number, greater is better.

    It asks for `predict_uncertainty`, which the methods of `uqassay.lab.methods` have, and other classifiers for
    `predict_proba`. Losses change their sign. It can be given as `scoring` to `cross_val_score`, `GridSearchCV` and others.

    Parameters
    ----------
    metric, tradeoff, distance, score
        As in `prediction_metric`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> import uqassay as uq
    >>> X, y = load_iris(return_X_y=True)
    >>> scoring = uq.metrics.UncertaintyScorer("uq-auc", score="least-confidence")
    >>> cross_val_score(LogisticRegression(C=0.01), X, y, scoring=scoring, cv=3).round(2).tolist()
    [0.77, 0.72, 0.76]
    """

    metric: str = "unified"
    tradeoff: float = DEFAULT_TRADEOFF
    distance: str = "kl"
    score: str = "total-entropy"

    def __post_init__(self) -> None:
        _ = self._definition

    @property
    def _definition(self) -> PredictionMetric:
        return PredictionMetric(metric=self.metric, tradeoff=self.tradeoff, distance=self.distance, score=self.score)

    @in_one_order("X", "y")
    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> float:
        """The metric of the classifier's predictions for X, with the sign of a score."""
        predict = getattr(estimator, "predict_uncertainty", None) or getattr(estimator, "predict_proba", None)
        if predict is None:
            rule, remedy = "needs predict_uncertainty or predict_proba", "choose a classifier that gives probabilities"
            fail("estimator", rule, f"got {type(estimator).__name__}", remedy, code="type")
        prediction = _prediction(predict(X))
        definition = self._definition
        labels = _labels(y, prediction, estimator.classes_)
        found = definition.estimate([definition.part(labels, prediction.without_class_names())])
        return float(found) if definition.higher_is_better else -float(found)


def _are_classes(values: Any) -> bool:
    """True for names or whole numbers (n,), which are no probabilities of the second of two classes unless all are 0 or 1."""
    if isinstance(values, Prediction) or np.ndim(values) != 1:
        return False
    array = as_array(values, "y_prob")
    return array.dtype.kind not in "fb" or bool((array > 1).any())


def _prediction(y_prob: Any) -> Prediction:
    """Probabilities of class 1 (n,) as two columns, anything else as everywhere."""
    is_one_axis = not isinstance(y_prob, Prediction) and np.ndim(as_frame(y_prob, "y_prob") or y_prob) == 1
    return Point.from_binary(y_prob) if is_one_axis else as_prediction(y_prob, "y_prob")


def _labels(y_true: Any, prediction: Prediction, labels: Sequence[Any] | None) -> Any:
    """Class indices, or label distributions."""
    own = prediction.class_names
    names = own if labels is None else _names(labels)
    if own is not None and names is not None and set(own) == set(names):
        names = own  # the prediction says the order of its columns
    if names is not None:
        same_length(names, "labels", prediction.n_classes, "pass estimator.classes_", of="class")
    try:
        return labels_for(
            y_true,
            n_instances=prediction.n_instances,
            n_classes=prediction.n_classes,
            ids=prediction.ids,
            class_names=names,
            class_order=prediction.class_order if labels is None else "stated",
        )
    except InputError as problem:
        if labels is None and problem.code in ("class-names", "range", "type", "ambiguous"):
            raise problem.replace(remedy="pass labels=estimator.classes_") from problem
        raise


def _names(labels: Sequence[Any]) -> tuple[str, ...]:
    values = as_array(labels, "labels").tolist()
    return tuple(str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values)
