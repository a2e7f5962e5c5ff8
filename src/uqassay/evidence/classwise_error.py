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

__all__ = ["Gaps", "classwise_errors", "classwise_gaps", "errors_of_gaps"]

N_BINS = 10
UNIT = (
    2.0**26
)  # sums are kept in units of 1/UNIT, their remainders in units of 1/UNIT², so that they are exact in any order

Gaps = NDArray[np.int64]


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
    return errors_of_gaps([classwise_gaps(run, labels) for run in runs], len(labels))


def classwise_gaps(run: Prediction, labels: NDArray[Any]) -> Gaps:
    """Observed minus expected number of each class in each bin, ``(2, K, 10)`` in units of 1/UNIT and 1/UNIT².

    The gaps of parts of the instances add up to those of all.
    """
    gap = np.zeros((2, run.n_classes, N_BINS), dtype=np.int64)
    n_held = run.n_points if isinstance(run, Drawn) else n_points(run) + 3
    for rows in row_chunks(run.n_instances, 8 * run.n_classes * n_held, chunk_bytes=PART_BYTES):
        mean = np.ascontiguousarray(run[rows].mean_probs().T)  # (K, n)
        bins = bins_of_classes(mean.T, N_BINS, "width")
        y = labels[rows]
        for part, amounts in zip(gap, _in_units(mean), strict=True):
            part -= bins.sums(amounts).astype(np.int64)
        if y.ndim == 1:
            gap[0] += (bins.observed(y.astype(np.intp)) * UNIT).astype(np.int64)
        else:
            for part, amounts in zip(gap, _in_units(np.ascontiguousarray(y.T)), strict=True):
                part += bins.sums(amounts).astype(np.int64)
        for name in run.array_names():
            release(getattr(run, name))
    return gap


def errors_of_gaps(gaps: Sequence[Gaps], n: int) -> tuple[float, ...]:
    """The error of all runs together, then of each, from the gaps of each run over n instances."""
    found = [_mean_gap(gap) / n for gap in gaps]
    return (_mean_gap(np.sum(gaps, axis=0)) / (n * len(gaps)), *found)


def _mean_gap(gap: Gaps) -> float:
    return float(np.abs(gap[0] / UNIT + gap[1] / UNIT**2).sum(axis=1).mean())


def _in_units(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whole units of 1/UNIT in each value, and the remainder in units of 1/UNIT², rounded."""
    rest = values * UNIT
    whole = np.floor(rest)
    rest -= whole
    rest *= UNIT
    return whole, np.rint(rest, out=rest)
