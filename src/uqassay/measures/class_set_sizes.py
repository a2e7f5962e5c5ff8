"""Imprecision of class sets, which follows from their sizes: exact for any number of classes."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from uqassay.predictions import ClassSets

__all__ = ["imprecision_of_class_sets", "set_sizes"]

Array = NDArray[np.float64]


def set_sizes(prediction: ClassSets) -> NDArray[np.int64]:
    """Number of classes of each set, ``(n,)``; an empty set counts as that of all classes.

    Examples
    --------
    >>> set_sizes(ClassSets([[1, 1, 0], [0, 0, 0]])).tolist()
    [2, 3]
    """
    return prediction.filled().sum(axis=1)


def imprecision_of_class_sets(prediction: ClassSets, weights: Array) -> Array:
    """Σ_k w_k (k/K − share of the events of size k that hold the set), ``(n,)``, for weights ``(K − 1,)``.

    See `hartley.imprecision`. An event has the lower probability 1 if it holds the set, else 0. Of the C(K, k) events of size
    k, C(K − s, k − s) hold a set of s classes.

    Examples
    --------
    >>> imprecision_of_class_sets(ClassSets([[1, 1, 0], [1, 0, 0]]), np.array([1.0, 1.0])).round(4).tolist()
    [0.6667, 0.0]
    """
    n_classes = len(weights) + 1
    k, s = np.arange(1, n_classes), np.arange(1, n_classes + 1)[:, None]
    log_share = gammaln(k + 1) - gammaln(np.maximum(k - s, 0) + 1) + gammaln(n_classes - s + 1) - gammaln(n_classes + 1)
    share = np.where(k >= s, np.exp(log_share), 0.0)
    of_size = (weights * (k / n_classes - share)).sum(axis=1)
    of_size[0] = 0.0  # a single class, without rounding
    return np.asarray(of_size[set_sizes(prediction) - 1])
