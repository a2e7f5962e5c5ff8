"""The ground truths φ and ψ of a ranking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.arrays import Floats
from uqassay.checks import fail, mapping, same_length
from uqassay.ids import in_one_order
from uqassay.losses.unified import labels_of
from uqassay.predictions import Prediction, PredictionLike, as_prediction
from uqassay.statistics.correlation import named_tau_estimate, pearson_estimate
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.units import as_floats

__all__ = [
    "CorrelationStudy",
    "MetricCorrelation",
    "correlation_study",
    "kendall_tau_score",
    "misalignment_truth",
    "misclassification_truth",
]


# Ground truths of uncertainty from known label distributions, and their correlation with ranking metrics (ranking metrics).


# Class probabilities this close to the greatest one count as tied with it.
_TIE = 1e-12


class MetricCorrelation(NamedTuple):
    """Pearson's correlation, over scorings, between a metric and the agreement with a ground truth."""

    metric: str
    truth: str
    correlation: Estimate


@final
@dataclass(frozen=True)
class CorrelationStudy:
    """Correlations of every metric with the agreement with every ground truth."""

    correlations: tuple[MetricCorrelation, ...]  #: metric by metric, in the order given
    n_scorings: int  #: number of scorings J

    def __getitem__(self, names: tuple[str, str]) -> Estimate:
        """The correlation for one pair (metric, truth)."""
        found = {(metric, truth): correlation for metric, truth, correlation in self.correlations}
        if names not in found:
            remedy = f"choose one of {list(found)}"
            fail("names", "must be a pair of a metric and a truth", f"got {names!r}", remedy, code="choice")
        return found[names]

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Plain values, one row per metric and ground truth."""
        return tuple(
            {"metric": metric, "truth": truth, **correlation.to_dict()}
            for metric, truth, correlation in self.correlations
        )


@in_one_order("prediction", "label_distribution")
def misclassification_truth(label_distribution: ArrayLike, prediction: PredictionLike) -> Floats:
    """φ(x) = 1 − p(ŷ(x) | x), the probability that the predicted class is wrong, ``(n,)`` (ranking metrics, section 2).

    Parameters
    ----------
    label_distribution : array (n, K)
        Label probabilities of each input, or vote counts, which are divided by their sums.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
        The predicted class ŷ is `prediction.labels()`.

    Returns
    -------
    phi : array (n,)
        In [0, 1]. The order of φ, and no other order, maximises UQ-AUC (theorem 2.3).

    Examples
    --------
    >>> import uqassay as uq
    >>> phi = misclassification_truth([[9, 1, 0], [2, 3, 5]], uq.Point([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3]]))
    >>> phi.round(4).tolist()
    [0.1, 0.7]
    """
    prediction = as_prediction(prediction)
    q = _distributions(label_distribution, prediction)
    return 1.0 - np.take_along_axis(q, prediction.labels()[:, None], axis=1)[:, 0]


@in_one_order("prediction", "label_distribution")
def misalignment_truth(label_distribution: ArrayLike, prediction: PredictionLike) -> Floats:
    """ψ(x) = 1 − f_{y*(x)}(x), the probability not given to the Bayes label y*, ``(n,)`` (ranking metrics, section 2).

    Parameters
    ----------
    label_distribution, prediction
        As in `misclassification_truth`. y* is the most probable label, and f is `prediction.mean_probs()`.

    Returns
    -------
    psi : array (n,)
        If several labels tie as the most probable (within 1e-12), such as tied votes, ψ is the mean over them, so that it
        does not depend on the order of the classes.

    Notes
    -----
    For two classes the order of ψ maximises the UQ-C-index (theorem 2.5, for f without atoms), and its sub-level sets reach
    any agreement of ŷ with y* (theorem 2.2). For three or more classes neither need hold. For example, labels (.4, .3, .3)
    predicted with f = (.6, .2, .2) have ψ = .4, and a certain label predicted with f = .5 has ψ = .5, but the gap 1 − f_y
    of the first input is greater with probability .6. Among 1000 random models with 4 inputs, uniform on their simplices,
    another order had a greater UQ-C-index in 33 % (3 classes), 44 % (4 classes) or 66 % (10 classes) of the models. It was
    greater by .024 on average in those models.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction = uq.Point([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.5, 0.25, 0.25]])
    >>> misalignment_truth([[9, 1, 0], [2, 3, 5], [5, 5, 0]], prediction).round(4).tolist()
    [0.2, 0.7, 0.625]
    """
    prediction = as_prediction(prediction)
    q = _distributions(label_distribution, prediction)
    best = q >= q.max(axis=1, keepdims=True) - _TIE  # (n, K)
    return 1.0 - (prediction.mean_probs() * best).sum(axis=1) / best.sum(axis=1)


@in_one_order("truth", "uncertainty", "groups", "sample_weight")
def kendall_tau_score(
    truth: ArrayLike,
    uncertainty: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Kendall's τ-b between an uncertainty score and a ground truth; 1 if both give the same order.

    Parameters
    ----------
    truth : array (n,)
        `misclassification_truth`, `misalignment_truth`, or another ground truth.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    groups, sample_weight, level
        As in `statistics.kendall_tau_estimate`.

    Returns
    -------
    tau : Estimate
        nan with a note if one of the two is constant.

    Notes
    -----
    τ-b reaches 1 only for scores with the same ties as the truth, and votes of few annotators tie often: compare the τ of
    several scores, not one τ with 1. The interval takes the truth as known, although votes only estimate it.

    Examples
    --------
    >>> kendall_tau_score([0.0, 0.1, 0.2, 0.4, 0.4, 0.7], [0.1, 0.3, 0.2, 0.5, 0.6, 0.8])
    Estimate(0.8281, low=-0.09161, high=0.9854, level=0.95, n=6, method="linearised, Fisher's z")
    """
    return named_tau_estimate(truth, uncertainty, ("truth", "uncertainty"), groups, sample_weight, level)


@in_one_order("metrics", "truths", "clusters")
def correlation_study(
    metrics: Mapping[str, ArrayLike],
    truths: Mapping[str, ArrayLike],
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "jackknife",
) -> CorrelationStudy:
    """Correlation, over J scorings, of ground-truth-free metrics with agreement with a ground truth (ranking metrics, Table 1).

    Parameters
    ----------
    metrics : mapping of names to arrays (J,)
        For example UQ-AUC and UQ-C-index of each scoring.
    truths : mapping of names to arrays (J,)
        For example Kendall's τ of each scoring with φ and with ψ.
    clusters : array_like of labels, shape (J,), optional
        Label of the trained model of each scoring, because scorings of one model depend on each other.
    level : float
    method : {"jackknife", "fisher", "bca"}
        As in `statistics.pearson_estimate`. Whole clusters are left out or drawn. "fisher" does not allow clusters.

    Returns
    -------
    CorrelationStudy
        ``.rows()`` is a table, ``study["uq-auc", "phi"]`` one correlation.

    Notes
    -----
    The interval holds for scorings drawn in the same way. Pearson's correlation grows with the spread of the scorings: a
    mixture of good and poor scorings gives a high correlation, even if the correlation among the good ones is low. Report
    the mixture with the correlation.

    Examples
    --------
    >>> study = correlation_study({"uq-auc": [0.7, 0.8, 0.85, 0.9, 0.6]}, {"phi": [0.3, 0.45, 0.6, 0.62, 0.2]})
    >>> study["uq-auc", "phi"]
    Estimate(0.9839, low=0.7827, high=0.9989, level=0.95, n=5, method='jackknife')
    """
    columns = [_columns(metrics, "metrics"), _columns(truths, "truths")]
    arrays = columns[0] | columns[1]
    n = len(next(iter(arrays.values())))
    for name, values in arrays.items():
        same_length(values, name, n, "align them first", of="scoring")
    correlations = tuple(
        MetricCorrelation(metric, truth, pearson_estimate(x, y, groups=clusters, level=level, method=method))
        for metric, x in zip(metrics, columns[0].values(), strict=True)
        for truth, y in zip(truths, columns[1].values(), strict=True)
    )
    return CorrelationStudy(correlations, n)


def _columns(named: Mapping[str, ArrayLike], name: str) -> dict[str, Floats]:
    remedy = "pass a dict from names to the values of J scorings"
    if not mapping(named, name, remedy):
        fail(name, "must hold at least one name", "got none", remedy, code="empty")
    columns = {}
    for key, values in named.items():
        label = f"{name}[{key!r}]"
        columns[label] = as_floats(values, label, ndim=(1,), shape="(J,)")
    return columns


def _distributions(label_distribution: ArrayLike, prediction: Prediction) -> Floats:
    q = labels_of(label_distribution, prediction)
    if q.ndim != 2:
        rule = (
            f"needs the probabilities or votes of every class, shape ({prediction.n_instances}, {prediction.n_classes})"
        )
        remedy = "use prediction_errors or probability_gap for single labels"
        fail("label_distribution", rule, "got one label per instance", remedy, code="shape")
    return q
