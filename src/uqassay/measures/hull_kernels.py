"""Compiled kernels over the points of credal sets: which kinds of predictions they take, and their input chunk by chunk."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.predictions import Box, Masses, Prediction

__all__ = ["compiled_points", "for_each_hull", "hull_kernel"]

CHUNK_BYTES = 2**23  # points of the chunks of all threads: few chunks, because a kernel fetches its next points itself
COMPILED = ("float32", "float64")  # dtypes that kernels take; others are converted to float64


def hull_kernel(name: str, prediction: Prediction) -> Callable[..., Any] | None:
    """The kernel of this name; None if there is none, or if the sets of this kind are not given by points."""
    return None if isinstance(prediction, (Box, Masses)) else kernel(name)


def compiled_points(part: Prediction) -> NDArray[Any]:
    """The points of the sets as kernels take them: (n, V, K), float32 or float64, contiguous."""
    points = part.hull_points()
    return np.ascontiguousarray(points, dtype=points.dtype if points.dtype in COMPILED else np.float64)


def for_each_hull(prediction: Prediction, work: Callable[[slice, NDArray[Any]], None]) -> None:
    """Call ``work(rows, points)`` for consecutive chunks, with the points of `compiled_points`."""

    def one(rows: slice, part: Prediction) -> None:
        work(rows, compiled_points(part))

    points = 8 * int(np.prod(prediction[:1].hull_points().shape[1:]))
    # the lattice counts, too: rows of few bytes may take long
    per_row = max(points, 2**prediction.n_classes // 4)
    prediction.for_each_chunk(one, per_row, chunk_bytes=CHUNK_BYTES)
