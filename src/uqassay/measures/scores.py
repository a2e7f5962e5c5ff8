"""Uncertainty scores by name: one number per instance, greater is less certain."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.measures.confidence import least_confidence, margin_uncertainty
from uqassay.measures.credal_entropy import credal_uncertainty, lower_entropy, upper_entropy
from uqassay.measures.credal_width import credal_width
from uqassay.measures.entropy import entropy, entropy_decomposition
from uqassay.measures.variance import variance_decomposition
from uqassay.predictions import Prediction
from uqassay.predictions._base import as_prediction

__all__ = ["SCORES", "uncertainty_score"]

Array = NDArray[np.float64]

SCORES: dict[str, Callable[[Prediction], Array]] = {
    "least-confidence": least_confidence,
    "margin": margin_uncertainty,
    "total-entropy": lambda p: entropy(p.mean_probs()),
    "aleatoric-entropy": lambda p: entropy_decomposition(p).aleatoric,
    "epistemic-entropy": lambda p: entropy_decomposition(p).epistemic,
    "aleatoric-variance": lambda p: variance_decomposition(p).aleatoric,
    "epistemic-variance": lambda p: variance_decomposition(p).epistemic,
    "upper-entropy": upper_entropy,
    "lower-entropy": lower_entropy,
    "credal-uncertainty": credal_uncertainty,
    "credal-width": credal_width,
}


def uncertainty_score(prediction: Prediction, name: str) -> Array:
    """Score of every instance by name, ``(n,)``; entropies in nats.

    Raises
    ------
    InputError
        An unknown name, or a score that this kind of prediction does not have.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.uncertainty_score(uq.Point([[0.5, 0.5]]), "total-entropy").round(4).tolist()
    [0.6931]
    """
    if name not in SCORES:
        raise InputError(f"measure: must be one of {', '.join(SCORES)}; got {name!r}; choose one of them.")
    return SCORES[name](as_prediction(prediction))
