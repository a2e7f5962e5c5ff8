"""Errors of a prediction that an uncertainty score should rank: wrong or right, and the probability gap."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._namespaces import namespace
from uqassay.losses.label_distance import labels_of
from uqassay.predictions import ClassSets, PredictionLike, as_prediction, keeps_arrays
from uqassay.predictions.swapped import refuse_swapped

__all__ = ["is_correct", "prediction_errors", "probability_gap"]

Array = NDArray[np.float64]


@keeps_arrays("losses.is_correct")
def is_correct(y_true: ArrayLike, prediction: PredictionLike) -> Array:
    """1 if the predicted class is the label, else 0, ``(n,)``; for label distributions the share of the predicted class.

    Class sets predict no single class. They are right as often as a class of the set that is taken at random: 1/s if the label
    is one of the s classes, which is Zaffalon, Corani and Mauá's discounted accuracy (2012).

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.is_correct([0, 0], uq.Point([[0.9, 0.1], [0.2, 0.8]])).tolist()
    [1.0, 0.0]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    if isinstance(prediction, ClassSets):
        return 1.0 - probability_gap(y, prediction)
    label = prediction.labels()
    xp = namespace(y)
    if y.ndim == 2:
        return xp.take_along_axis(y, label[:, None], axis=1)[:, 0]
    return xp.astype(label == y, np.float64 if xp is np else prediction.mean_probs().dtype)


@keeps_arrays("losses.prediction_errors")
def prediction_errors(y_true: ArrayLike, prediction: PredictionLike) -> Array:
    """1 if the predicted class is wrong, mis(x, y) = 1[ŷ(x) ≠ y], ``(n,)``; for label distributions its probability.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions / vote counts.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)

    Raises
    ------
    InputError
        Class sets that do not all have a single class.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction_errors([0, 0], uq.Point([[0.9, 0.1], [0.2, 0.8]])).tolist()
    [0.0, 1.0]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    if isinstance(prediction, ClassSets):
        prediction.labels()  # refuses sets without a single class
    return 1.0 - is_correct(y_true, prediction)


@keeps_arrays("losses.probability_gap")
def probability_gap(y_true: ArrayLike, prediction: PredictionLike) -> Array:
    """One minus the mean probability of the label, gap(x, y) = 1 − f_y(x), ``(n,)``; with label distributions 1 − Σ q_k f_k.

    Parameters
    ----------
    y_true, prediction
        As in `prediction_errors`.

    Examples
    --------
    >>> import uqassay as uq
    >>> probability_gap([0, 0], uq.Point([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [0.25, 0.75]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    f = prediction.mean_probs()
    xp = namespace(y)
    kept = xp.sum(y * f, axis=1) if y.ndim == 2 else xp.take_along_axis(f, y[:, None], axis=1)[:, 0]
    return xp.clip(1.0 - kept, 0.0, 1.0)
