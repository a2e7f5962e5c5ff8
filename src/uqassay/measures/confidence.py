"""Uncertainty from the largest probabilities of the mean prediction."""

import numpy as np
from numpy.typing import NDArray

from uqassay._namespaces import namespace
from uqassay.predictions import PredictionLike, as_prediction, keeps_arrays

__all__ = ["least_confidence", "margin_uncertainty"]


@keeps_arrays("measures.least_confidence")
def least_confidence(prediction: PredictionLike) -> NDArray[np.float64]:
    """1 − max p̄ of the mean prediction, ``(n,)``, from 0 to 1 − 1/K.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.least_confidence(uq.Point([[0.5, 0.25, 0.25]])).tolist()
    [0.5]
    """
    mean = as_prediction(prediction).mean_probs()
    return 1.0 - namespace(mean).max(mean, axis=1)


@keeps_arrays("measures.margin_uncertainty")
def margin_uncertainty(prediction: PredictionLike) -> NDArray[np.float64]:
    """1 − (largest − second largest probability) of the mean prediction, ``(n,)``, from 0 to 1.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.margin_uncertainty(uq.Point([[0.5, 0.25, 0.25]])).tolist()
    [0.75]
    """
    mean = as_prediction(prediction).mean_probs()
    # the array API has no partition
    top = np.partition(mean, -2, axis=1) if isinstance(mean, np.ndarray) else namespace(mean).sort(mean, axis=1)
    return 1.0 - (top[:, -1] - top[:, -2])
