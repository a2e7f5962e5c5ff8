"""Classwise calibration error of a model's mean predictions, over all of its runs and of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release, row_chunks
from uqassay.evidence.calibration_cost import n_points
from uqassay.evidence.scoring import PART_BYTES
from uqassay.metrics.calibration.bins import bins_of_classes
from uqassay.predictions import Prediction
from uqassay.predictions.drawn import Drawn

__all__ = ["classwise_errors"]

N_BINS = 10


def classwise_errors(runs: Sequence[Prediction], labels: NDArray[Any]) -> tuple[float, ...]:
    """Classwise calibration error of the means: of all runs together, then of each.

    Mean over the classes of Σ_b |observed − expected| / n over 10 equally wide bins; labels (n,), or distributions (n, K) of
    which each class's share is what is observed.

    References
    ----------
    Paper 001, equation 4.

    Examples
    --------
    >>> import uqassay as uq
    >>> classwise_errors([uq.Point([[0.75, 0.25], [0.75, 0.25]])], np.array([0, 1]))
    (0.25, 0.25)
    """
    gaps = []  # one (K, B) for each run
    for run in runs:
        gap = np.zeros((run.n_classes, N_BINS))
        n_held = run.n_points if isinstance(run, Drawn) else n_points(run) + 3
        for rows in row_chunks(run.n_instances, 8 * run.n_classes * n_held, chunk_bytes=PART_BYTES):
            bins = bins_of_classes(np.ascontiguousarray(run[rows].mean_probs().T).T, N_BINS, "width")
            y = labels[rows]
            observed = bins.observed(y.astype(np.intp)) if y.ndim == 1 else bins.sums(np.ascontiguousarray(y.T))
            gap += observed - bins.expected
            for name in run.array_names():
                release(getattr(run, name))
        gaps.append(gap)
    n = len(labels)
    pooled = np.abs(np.sum(gaps, axis=0)).sum(axis=1).mean() / (n * len(gaps))
    return (float(pooled), *(float(np.abs(gap).sum(axis=1).mean() / n) for gap in gaps))
