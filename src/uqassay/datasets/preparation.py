"""Preparation of data sets as in the papers: principal components, and two classes out of many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.datasets.dataset import Dataset
from uqassay.errors import InputError

__all__ = ["Components", "even_or_odd", "fit_components", "principal_components"]

Array = NDArray[np.float64]
CHUNK_BYTES = 2**24  # of rows in double precision


@final
@dataclass(frozen=True, eq=False)
class Components:
    """Principal components.

    Attributes
    ----------
    mean : array (D,)
    loadings : array (D, n_components)
        Orthonormal columns in falling order of variance; the largest loading of each is positive.
    """

    mean: Array
    loadings: Array

    def scores(self, part: NDArray[Any], *, unit: float = 1.0, dtype: Any = np.float64) -> NDArray[Any]:
        """Coordinates ``(n, n_components)`` of the instances ``(n, ...)`` on the components, divided by `unit`."""
        found = np.empty((len(part), self.loadings.shape[1]), dtype=dtype)
        for rows in row_chunks(len(part), 8 * len(self.mean), chunk_bytes=CHUNK_BYTES):
            found[rows] = (_rows_of(part, rows) - self.mean) @ self.loadings / unit
        return found


def fit_components(parts: Sequence[NDArray[Any]], n_components: int = 50) -> Components:
    """The first principal components of several arrays together, by the eigenvectors of their exact covariance.

    The covariance is summed in double precision over chunks of rows, so bytes and single precision are never copied as a whole.

    Parameters
    ----------
    parts : sequence of arrays (n_i, ...)
        Images become rows of pixels.
    n_components : int
        At most the number of features D.

    Raises
    ------
    InputError
        More components than features, or fewer than one.
    """
    n_features = int(np.prod(parts[0].shape[1:]))
    if not 1 <= n_components <= n_features:
        raise InputError(
            "n_components", f"must lie in 1 … {n_features}", f"got {n_components}", "the paper has 50", code="range"
        )
    chunks = [(part, rows) for part in parts for rows in row_chunks(len(part), 8 * n_features, chunk_bytes=CHUNK_BYTES)]
    mean = np.sum([_rows_of(*chunk).sum(axis=0) for chunk in chunks], axis=0) / sum(map(len, parts))
    scatter = np.zeros((n_features, n_features))
    for chunk in chunks:
        centred = _rows_of(*chunk) - mean
        scatter += centred.T @ centred
    _, vectors = np.linalg.eigh(scatter)  # eigenvalues rise, so the first components are on the right
    loadings = vectors[:, ::-1][:, :n_components]
    return Components(mean, loadings * np.sign(loadings[np.abs(loadings).argmax(axis=0), np.arange(n_components)]))


def _rows_of(part: NDArray[Any], rows: slice) -> Array:
    """Some instances as rows in double precision."""
    return part[rows].reshape(rows.stop - rows.start, -1).astype(np.float64)


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
    components = fit_components([flat.X_train], n_components)
    kind = dataset.X_train.dtype
    return replace(
        flat,
        X_train=components.scores(flat.X_train, dtype=kind),
        X_test=components.scores(flat.X_test, dtype=kind),
    )


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
