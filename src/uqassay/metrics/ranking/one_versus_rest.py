"""Ranking metrics of every class against the rest, and their macro average."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.losses.errors import prediction_errors, probability_gap
from uqassay.losses.label_distance import labels_of
from uqassay.measures.scores import SCORES
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking.registry import RANKING_METRICS, RankingMetric
from uqassay.notes import Note, has_note
from uqassay.predictions import Prediction, PredictionLike, as_prediction
from uqassay.predictions.swapped import refuse_swapped
from uqassay.statistics import Estimate
from uqassay.statistics.linearised import Linearised, joined
from uqassay.statistics.samples import Floats, check_choice, check_level
from uqassay.wording import listed_names

__all__ = ["OneVersusRest", "one_versus_rest_scores"]

MOST = 5  # greatest number of class names in a note


@final
@dataclass(frozen=True)
class OneVersusRest:
    """A ranking metric of every class against the rest.

    Attributes
    ----------
    class_names : tuple of str
    classes : tuple of Estimate
        One estimate per class; nan with a note if the metric of a class is undefined.
    macro : Estimate
        Mean over the classes with a defined metric, with equal weights.
    """

    class_names: tuple[str, ...]
    classes: tuple[Estimate, ...]
    macro: Estimate


@in_one_order("prediction", "y_true", "groups")
def one_versus_rest_scores(
    y_true: ArrayLike,
    prediction: PredictionLike,
    *,
    metric: str = "uq-auc",
    score: str = "total-entropy",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> OneVersusRest:
    """UQ-AUC, UQ-C-index or another ranking metric for every class against the rest, and the macro average.

    Each class k gives a binary problem (paper 003, section 1). Its label is "k or not", its prediction is
    `prediction.one_versus_rest(k)`, and its errors, gaps and uncertainty are those of this binary prediction.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, label distributions or vote counts.
    prediction : Prediction, or array (n, K) or (n, M, K)
        An array (n, K) is a point prediction, an array (n, M, K) holds M members.
    metric : str
        A name in `RANKING_METRICS`.
    score : str
        A name in `measures.SCORES`. The score is computed from the binary prediction.
    groups : array (n,), optional
    level : float

    Returns
    -------
    OneVersusRest
        The interval of the macro average accounts for the dependence of the classes, which share their instances.

    Raises
    ------
    InputError
        When the metric or the score is unknown, or the prediction does not have this score.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5], [0.4, 0.5, 0.1]])
    >>> found = one_versus_rest_scores([0, 1, 2, 0], p)
    >>> [round(float(e), 3) for e in found.classes], round(float(found.macro), 3)
    ([1.0, nan, 1.0], 1.0)
    """
    check_level(level)
    metric = metric_name(metric)
    check_choice(metric, "metric", tuple(RANKING_METRICS))
    check_choice(score, "score", tuple(SCORES))
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction, "prediction")
    y = labels_of(y_true, prediction)
    names = prediction.class_names or tuple(str(k) for k in range(prediction.n_classes))
    chosen = RANKING_METRICS[metric]
    statistics: list[Linearised] = []
    classes = []
    for k in range(prediction.n_classes):
        target = (y == k).astype(np.int64) if y.ndim == 1 else np.stack([1.0 - y[:, k], y[:, k]], axis=1)
        truth, uncertainty = _binary(prediction, k, target, chosen, score)
        statistics += chosen.runs(truth, uncertainty, groups)
        classes.append(chosen.estimate(truth, uncertainty, groups=groups, level=level))
    macro = _macro(statistics, classes, names, chosen, groups, level)
    return OneVersusRest(names, tuple(classes), macro)


def _binary(
    prediction: Prediction, k: int, target: NDArray[Any], metric: RankingMetric, score: str
) -> tuple[Floats, Floats]:
    """Errors or gaps of the binary prediction of class k, and its uncertainty, (1, n) each."""
    binary = prediction.one_versus_rest(k)
    if not SCORES[score].offered_by(binary):
        raise InputError(
            "score",
            f"must be a score of {type(binary).__name__}",
            f"got {score!r}",
            "choose another score in measures.SCORES",
            code="choice",
        )
    truth = (prediction_errors if metric.truth == "errors" else probability_gap)(target, binary)
    return truth[np.newaxis], SCORES[score](binary)[np.newaxis]


def _macro(
    statistics: Sequence[Linearised],
    classes: Sequence[Estimate],
    names: Sequence[str],
    metric: RankingMetric,
    groups: ArrayLike | None,
    level: float,
) -> Estimate:
    """Mean over the classes with a defined metric, with notes on rough and undefined classes."""
    defined = [s for s in statistics if not np.isnan(s.value)]
    if not defined:
        notes = [Note("undefined", "undefined for every class")]
        n = len(statistics[0].influence)
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=n, method="", notes=notes)
    macro = metric.interval(joined(defined, [1 / len(defined)] * len(defined)), groups, level)
    rough = [name for name, e in zip(names, classes, strict=True) if has_note(e.notes, "few") and not np.isnan(e)]
    if rough:
        macro = macro.with_note(
            Note("few", f"a rough interval of {listed_names(rough, most=MOST)}", {"classes": rough})
        )
    left_out = [name for name, s in zip(names, statistics, strict=True) if np.isnan(s.value)]
    if left_out:
        text = f"mean over {len(defined)} of {len(names)} classes, undefined for {listed_names(left_out, most=MOST)}"
        macro = macro.with_note(Note("left-out", text, {"classes": left_out}))
    return macro
