"""Label probabilities that the user knows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.predictions import Point

__all__ = ["known_label_probs"]


def known_label_probs(truth: Any, X: NDArray[Any], n_classes: int) -> NDArray[np.float64] | None:
    """P(y|x) of every row of X, ``(n, K)``, from a function or an array; None stays None.

    Raises
    ------
    InputError
        Another shape, or rows that are no distributions; the parameter is `truth`.

    Examples
    --------
    >>> known_label_probs(lambda X: np.full((len(X), 2), 0.5), np.zeros((1, 3)), 2).tolist()
    [[0.5, 0.5]]
    """
    if truth is None:
        return None
    given = truth(X) if callable(truth) else truth
    try:
        probs = Point(given).probs
    except InputError as problem:
        raise problem.replace(parameter="truth") from problem
    if probs.shape != (len(X), n_classes):
        raise InputError(
            "truth",
            f"must give a probability for each of {n_classes} classes and each row of X",
            f"got shape {probs.shape} for {len(X)} rows",
            "give P(y|x) as (n, K), with the classes in sorted order",
            code="shape",
        )
    return np.asarray(probs, dtype=np.float64)
