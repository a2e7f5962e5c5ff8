"""Metrics for scikit-learn: a score function for `make_scorer`, and a scorer that also takes sets of distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import as_array
from uqassay._frames import as_frame
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.prediction_metrics import PredictionMetric
from uqassay.predictions import Point, Prediction, PredictionLike, as_prediction
from uqassay.predictions.labels import labels_for
from uqassay.predictions.swapped import swapped_arguments
from uqassay.statistics import Estimate

__all__ = ["UncertaintyScorer", "prediction_metric"]


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

    Raises
    ------
    InputError
        An unknown name, or labels that are no classes.

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

    It asks for `predict_uncertainty`, which the methods of `uqassay.methods` have, and other classifiers for `predict_proba`.
    Losses change their sign. It can be given as `scoring` to `cross_val_score`, `GridSearchCV` and others.

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
        """The metric of the classifier's predictions for X, with the sign of a score.

        Raises
        ------
        InputError
            An estimator without probabilities, or labels that it has not seen.
        """
        predict = getattr(estimator, "predict_uncertainty", None) or getattr(estimator, "predict_proba", None)
        if predict is None:
            raise InputError(
                "estimator",
                "needs predict_uncertainty or predict_proba",
                f"got {type(estimator).__name__}",
                "choose a classifier that gives probabilities",
                code="type",
            )
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
    if names is not None and len(names) != prediction.n_classes:
        raise InputError(
            "labels",
            f"needs one value for each of the {prediction.n_classes} classes",
            f"got {len(names)}",
            "pass estimator.classes_",
            code="mismatch",
        )
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
