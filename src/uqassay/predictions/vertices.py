"""Vertices: the vertices of a credal set, per instance."""

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric, check_class_count, check_rows, still_whole, tolerance_of
from uqassay.errors import InputError
from uqassay.predictions.base import Array, Prediction
from uqassay.predictions.probabilities import event_and_rest, normalised, not_negative


@dataclass(frozen=True, eq=False, repr=False)
class Vertices(Prediction):
    """V vertices per instance; the credal set is their convex hull. Pad shorter lists with one of their vertices.

    Parameters
    ----------
    vertices : array (n, V, K)
        Distributions; rows of the last axis sum to 1.
    normalise : bool
        Divide non-negative rows by their sums first.

    Examples
    --------
    >>> import uqassay as uq
    >>> v = uq.Vertices([[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]])
    >>> v.mean_probs().tolist()
    [[0.5, 0.25, 0.25]]
    """

    vertices: NDArray[Any]
    normalise: InitVar[bool] = False

    def __post_init__(self, normalise: bool) -> None:
        self._take_table("vertices")
        vertices = as_numeric(self.vertices, "vertices", ndim=3)
        tolerance = tolerance_of(self.vertices, vertices)
        check_class_count(vertices.shape[2], "vertices")
        if vertices.shape[1] == 0:
            raise InputError(
                "vertices", "needs at least one vertex", f"got shape {vertices.shape}", "check the axes", code="shape"
            )
        if normalise:
            vertices = normalised(vertices, "vertices")
        check_rows(vertices, "vertices", tolerance=tolerance)
        self._set("vertices", vertices)
        self._finish(class_axis_of="vertices")

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.vertices.shape[2])

    def mean_probs(self) -> Array:
        """Mean of the different vertices, ``(n, K)``: repeats, such as padding, count once, in any order."""
        vertices = not_negative(self.vertices)
        order = np.lexsort(np.moveaxis(vertices, 2, 0), axis=-1)  # repeats follow each other, and sums round alike
        vertices = np.take_along_axis(vertices, order[:, :, None], axis=1)
        counts = np.ones(vertices.shape[:2])  # (n, V), 0 for repeats
        counts[:, 1:] = (vertices[:, 1:] != vertices[:, :-1]).any(axis=2)
        return (vertices * counts[:, :, None]).sum(axis=1) / counts.sum(axis=1, keepdims=True)

    def lower_probs(self) -> Array:
        """Least probability of each class at a vertex, ``(n, K)``."""
        still_whole(self.vertices)
        return not_negative(self.vertices.min(axis=1))

    def upper_probs(self) -> Array:
        """Greatest probability of each class at a vertex, ``(n, K)``."""
        still_whole(self.vertices)
        return not_negative(self.vertices.max(axis=1))

    def hull_points(self) -> NDArray[Any]:
        """The vertices, ``(n, V, K)``."""
        return self.vertices

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("vertices",)

    def _one_versus_rest(self, k: int) -> "Vertices":
        return Vertices(event_and_rest(self.vertices, k))
