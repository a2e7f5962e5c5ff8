"""Choice of the sets of classes of a random-set network, from the features of a standard network."""

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.focal_sets import budget_from_confusion, budget_from_embeddings
from uqassay.errors import InputError
from uqassay.methods.network_classifier import NetworkClassifier

__all__ = ["budget_from_network", "principal_components"]

DIMENSIONS = 3  # of the embedding, as in the paper


def budget_from_network(
    network: NetworkClassifier, x: NDArray[np.float32], y: NDArray[np.int64], n_sets: int
) -> tuple[NDArray[np.bool_], str]:
    """The single classes and the sets of classes that overlap most in the penultimate features.

    Parameters
    ----------
    network : NetworkClassifier
        Fitted to x, without standardising, and y.
    x : array (n, …)
    y : int array (n,)
        Indices of the classes.
    n_sets : int

    Returns
    -------
    focal_sets : bool array (F, K)
    how : {"ellipsoids", "confusion"}
        Overlap of the classes' 95 % ellipsoids in three principal components; or the network's probabilities for the training
        instances, if a class has too few instances or too flat a cloud for an ellipsoid.
    """
    features = network._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]  # (n, d)
    n_classes = len(network.classes_)
    embeddings = principal_components(features, DIMENSIONS)
    try:
        return budget_from_embeddings(embeddings, y, n_sets, n_classes=n_classes), "ellipsoids"
    except InputError:  # a class without an ellipsoid, the one rule that these arguments can break
        return budget_from_confusion(network.predict_proba(x), y, n_sets, max_size=None), "confusion"


def principal_components(x: NDArray[np.float64], n_components: int) -> NDArray[np.float64]:
    """Coordinates ``(n, n_components)`` on the axes of greatest variance, fewer where x has fewer columns."""
    centred = x - x.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]  # by falling variance
    return centred @ axes[:, :n_components]
