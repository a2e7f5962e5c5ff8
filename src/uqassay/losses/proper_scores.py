"""Log loss and Brier loss of the mean prediction, instance by instance."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._namespaces import namespace
from uqassay.losses.label_distance import FLOORS, labels_of
from uqassay.predictions import PredictionLike, as_prediction, keeps_arrays
from uqassay.predictions.swapped import refuse_swapped

__all__ = ["brier_loss", "log_loss"]

Array = NDArray[np.float64]


@keeps_arrays("losses.log_loss")
def log_loss(y_true: ArrayLike, prediction: PredictionLike, *, floor: float | None = None) -> Array:
    """−Σ_c y_c ln p̄_c of the mean prediction, nats, ``(n,)``, with the floor of `unified_loss`.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.log_loss([0], uq.Point([[0.5, 0.5]])).round(4).tolist()
    [0.6931]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    p = prediction.mean_probs()
    xp, least = namespace(p), FLOORS["exact"] if floor is None else floor
    of_labels = xp.take_along_axis(p, y[:, None], axis=1)[:, 0] if y.ndim == 1 else p
    with np.errstate(divide="ignore"):
        logs = xp.log(xp.maximum(of_labels, least))
    return -logs if y.ndim == 1 else -xp.sum(xp.where(y > 0, y * logs, 0.0), axis=1)


@keeps_arrays("losses.brier_loss")
def brier_loss(y_true: ArrayLike, prediction: PredictionLike) -> Array:
    """Σ_c (p̄_c − y_c)² of the mean prediction, from 0 to 2, ``(n,)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.brier_loss([0], uq.Point([[0.5, 0.5]])).tolist()
    [0.5]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    p, xp = prediction.mean_probs(), namespace(y)
    target = y if y.ndim == 2 else xp.take(xp.eye(prediction.n_classes, dtype=p.dtype, device=y.device), y, axis=0)
    return xp.sum((p - target) ** 2, axis=1)
