"""Preparation of data sets as in the papers: principal components, and two classes out of many."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.dataset import Dataset
from uqassay.errors import InputError

__all__ = ["even_or_odd", "principal_components"]


def principal_components(dataset: Dataset, n_components: int = 50) -> Dataset:
    """The first principal components of the training instances, as paper 002 prepares EMNIST and Kuzushiji-49.

    Parameters
    ----------
    dataset : Dataset
        Images become rows of pixels.
    n_components : int
        At most the number of features.

    Returns
    -------
    Dataset
        Features ``(n, n_components)`` in the precision of the data: scores on the components in falling order of variance,
        with signs that make the largest loading of each positive. Test instances are projected on the same components.

    Examples
    --------
    >>> data = Dataset("d", [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], [0, 1, 1], [[3.0, 4.0]], [1], ("a", "b"))
    >>> principal_components(data, 1).X_train.round(6).tolist()
    [[-5.0], [0.0], [5.0]]
    """
    flat = dataset.flattened()
    n_features = flat.X_train.shape[1]
    if not 1 <= n_components <= n_features:
        raise InputError(
            "n_components", f"must lie in 1 … {n_features}", f"got {n_components}", "the paper has 50", code="range"
        )
    mean = flat.X_train.mean(axis=0, dtype=np.float64)
    centred = flat.X_train - mean
    _, vectors = np.linalg.eigh(centred.T @ centred)  # eigenvalues rise, so the first components are on the right
    components = vectors[:, ::-1][:, :n_components]
    components = components * np.sign(components[np.abs(components).argmax(axis=0), np.arange(n_components)])
    kind = dataset.X_train.dtype

    def scores(x: NDArray[np.floating]) -> NDArray[np.floating]:
        return ((x - mean) @ components).astype(kind)

    return replace(flat, X_train=scores(flat.X_train), X_test=scores(flat.X_test))


def even_or_odd(dataset: Dataset) -> Dataset:
    """Merge the classes into even and odd class numbers, as paper 002 does with 47 and 49 classes; votes are added up."""
    votes = dataset.votes_test
    if votes is not None:
        votes = np.stack([votes[:, 0::2].sum(axis=1), votes[:, 1::2].sum(axis=1)], axis=1)
    return replace(
        dataset,
        y_train=dataset.y_train % 2,
        y_test=dataset.y_test % 2,
        class_names=("even", "odd"),
        votes_test=votes,
    )
