"""Accuracy, log loss and Brier loss of the prediction's own labels and mean probabilities, instance by instance."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.metrics.label_distance import default_floor, labels_of
from uqassay.predictions import Prediction

__all__ = ["brier_loss", "is_correct", "log_loss"]

Array = NDArray[np.float64]


def is_correct(y_true: ArrayLike, prediction: Prediction) -> Array:
    """1 where the predicted class is the label, else 0; for label distributions the share of the predicted class, ``(n,)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.metrics.is_correct([0, 0], uq.Point([[0.9, 0.1], [0.2, 0.8]])).tolist()
    [1.0, 0.0]
    """
    y = labels_of(y_true, prediction)
    label = prediction.labels()
    if y.ndim == 2:
        return np.take_along_axis(y, label[:, None], axis=1)[:, 0]
    return (label == y).astype(np.float64)


def log_loss(y_true: ArrayLike, prediction: Prediction, *, floor: float | None = None) -> Array:
    """−Σ_c y_c ln p̄_c of the mean prediction, nats, ``(n,)``, floored as in `unified_loss`.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.metrics.log_loss([0], uq.Point([[0.5, 0.5]])).round(4).tolist()
    [0.6931]
    """
    y = labels_of(y_true, prediction)
    p = prediction.mean_probs()
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(p, default_floor(prediction, "exact") if floor is None else floor))
    if y.ndim == 1:
        return -np.take_along_axis(logs, y[:, None], axis=1)[:, 0]
    return -np.where(y > 0, y * logs, 0.0).sum(axis=1)


def brier_loss(y_true: ArrayLike, prediction: Prediction) -> Array:
    """Σ_c (p̄_c − y_c)² of the mean prediction, from 0 to 2, ``(n,)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.metrics.brier_loss([0], uq.Point([[0.5, 0.5]])).tolist()
    [0.5]
    """
    y = labels_of(y_true, prediction)
    target = np.eye(prediction.n_classes)[y] if y.ndim == 1 else y
    return ((prediction.mean_probs() - target) ** 2).sum(axis=1)
