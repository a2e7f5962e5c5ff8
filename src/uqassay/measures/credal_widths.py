"""Width of a credal set: the difference of upper and lower probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.predictions import DeviceProbs, Point, PredictionLike, as_prediction, keeps_arrays, sum_over_classes
from uqassay.statistics.samples import check_choice

__all__ = ["credal_width"]


@keeps_arrays("measures.credal_width")
def credal_width(prediction: PredictionLike, *, of: str = "mean") -> NDArray[np.float64]:
    """Upper minus lower probability of each instance: 0 for a point prediction, 1 for a vacuous one.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    of : {"mean", "predicted", "max"}
        The mean over all K classes, impossible ones too (Fig. 18 of the unified evaluation paper), the predicted class alone
        (`prediction.labels()`, Fig. 14), or the widest class.

    Returns
    -------
    (n,) float64, a difference of probabilities, between 0 and 1

    Raises
    ------
    InputError
        Unknown `of`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(
    ...     lower_probs=lambda: [[0.5, 0.1, 0.1]], upper_probs=lambda: [[0.8, 0.2, 0.3]], labels=lambda: [0]
    ... )
    >>> [round(float(credal_width(prediction, of=of)[0]), 4) for of in ("mean", "predicted", "max")]
    [0.2, 0.3, 0.3]
    """
    check_choice(of, "of", ("mean", "predicted", "max"))
    prediction = as_prediction(prediction)
    if isinstance(prediction, DeviceProbs):
        return _on_device(prediction, of)
    if isinstance(prediction, Point):
        return np.zeros(prediction.n_instances)
    l, u = (np.asarray(p, dtype=np.float64) for p in (prediction.lower_probs(), prediction.upper_probs()))
    width = np.ascontiguousarray(u - l)  # (n, K); a fixed memory layout, so that rounding does not depend on the chunk
    if of == "mean":
        return sum_over_classes(width) / width.shape[1]
    if of == "max":
        return np.asarray(width.max(axis=1), dtype=np.float64)
    return np.asarray(width[np.arange(len(width)), np.asarray(prediction.labels())], dtype=np.float64)


def _on_device(prediction: DeviceProbs, of: str) -> Any:
    xp, width = prediction.xp, prediction.upper_probs() - prediction.lower_probs()
    if of == "mean":
        return sum_over_classes(width) / prediction.n_classes
    if of == "max":
        return xp.max(width, axis=1)
    return xp.take_along_axis(width, prediction.labels()[:, None], axis=1)[:, 0]
