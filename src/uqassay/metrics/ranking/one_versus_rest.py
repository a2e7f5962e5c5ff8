"""Ranking metrics class by class: is it class k or not, and does the uncertainty of that answer rank its mistakes?"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.losses.errors import prediction_errors, probability_gap
from uqassay.losses.label_distance import labels_of
from uqassay.measures.scores import SCORES
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.notes import Note, has_note
from uqassay.predictions import Prediction
from uqassay.statistics import Estimate
from uqassay.statistics.linearised import Linearised, joined
from uqassay.statistics.samples import check_choice, check_level

__all__ = ["OneVersusRest", "one_versus_rest_scores"]


@final
@dataclass(frozen=True)
class OneVersusRest:
    """A ranking metric of every class against the rest.

    Attributes
    ----------
    class_names : tuple of str
    classes : tuple of Estimate
        In the order of the classes; nan with a note where a class cannot be judged.
    macro : Estimate
        Mean over the classes that can be, each counting the same.
    """

    class_names: tuple[str, ...]
    classes: tuple[Estimate, ...]
    macro: Estimate


def one_versus_rest_scores(
    y_true: ArrayLike,
    prediction: Prediction,
    *,
    metric: str = "uq-auc",
    score: str = "total-entropy",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> OneVersusRest:
    """UQ-AUC, UQ-C-index or another ranking metric for every class against the rest, and their macro average.

    Each class k makes a binary problem of its own (paper 003, section 1): the label is "k or not", the prediction is
    `prediction.one_versus_rest(k)`, and its errors, gaps and uncertainty are those of that binary prediction.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions / vote counts.
    prediction : Prediction
    metric : str
        A name of `RANKING_METRICS`.
    score : str
        A name of `measures.SCORES`, computed from the binary prediction.
    groups : array (n,), optional
    level : float

    Returns
    -------
    OneVersusRest
        The interval of the macro average is that of the mean of the classes' statistics on the same instances.

    Raises
    ------
    InputError
        An unknown metric or score, or a score that the prediction does not have.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5], [0.4, 0.5, 0.1]])
    >>> found = one_versus_rest_scores([0, 1, 2, 0], p)
    >>> [round(float(e), 3) for e in found.classes], round(float(found.macro), 3)
    ([1.0, nan, 1.0], 1.0)
    """
    check_level(level)
    check_choice(metric, "metric", tuple(RANKING_METRICS))
    check_choice(score, "score", tuple(SCORES))
    y = labels_of(y_true, prediction)
    names = prediction.class_names or tuple(str(k) for k in range(prediction.n_classes))
    chosen = RANKING_METRICS[metric]
    statistics: list[Linearised] = []
    classes = []
    for k in range(prediction.n_classes):
        binary = prediction.one_versus_rest(k)
        if not SCORES[score].offered_by(binary):
            raise InputError(
                "score",
                f"{type(binary).__name__} has no {score!r}",
                "",
                "choose another one of measures.SCORES",
                code="missing",
            )
        target = (y == k).astype(np.int64) if y.ndim == 1 else np.stack([1.0 - y[:, k], y[:, k]], axis=1)
        truth = (prediction_errors if chosen.truth == "errors" else probability_gap)(target, binary)
        uncertainty = SCORES[score](binary)
        statistics += chosen.runs(truth[np.newaxis], uncertainty[np.newaxis], groups)
        classes.append(chosen.estimate(truth[np.newaxis], uncertainty[np.newaxis], groups=groups, level=level))
    defined = [s for s in statistics if not np.isnan(s.value)]
    if not defined:
        nan = float("nan")
        n, undefined = prediction.n_instances, [Note("undefined", "undefined for every class")]
        macro = Estimate(nan, low=nan, high=nan, level=level, n=n, method="", notes=undefined)
    else:
        mean = joined(defined, [1 / len(defined)] * len(defined))
        macro = chosen.interval(mean, groups, level)
        rough = [n for n, e in zip(names, classes, strict=True) if has_note(e.notes, "few") and not np.isnan(e)]
        if rough:
            macro = macro.with_note(Note("few", f"a rough interval of {_listed(rough)}", {"classes": rough}))
        left_out = [name for name, s in zip(names, statistics, strict=True) if np.isnan(s.value)]
        if left_out:
            note = f"mean over {len(defined)} of {len(names)} classes, undefined for {_listed(left_out)}"
            macro = macro.with_note(Note("left-out", note, {"classes": left_out}))
    return OneVersusRest(names, tuple(classes), macro)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
