"""Confidence calibration error and the data of a reliability diagram."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError

__all__ = ["Reliability", "expected_calibration_error", "reliability"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of a reliability diagram.

    Attributes
    ----------
    edges : array (B + 1,)
        Bin edges; a bin holds its right edge, the first one both.
    count : int array (B,)
    confidence, accuracy : array (B,)
        Means in the bin; nan where it is empty.
    low, high : array (B,)
        Wilson interval of the accuracy; nan where the bin is empty.
    """

    edges: Array
    count: NDArray[np.int64]
    confidence: Array
    accuracy: Array
    low: Array
    high: Array


def reliability(correct: ArrayLike, confidence: ArrayLike, *, n_bins: int = 10, level: float = 0.95) -> Reliability:
    """Accuracy against confidence in equal-width, right-inclusive bins of [0, 1].

    Parameters
    ----------
    correct : array (n,)
        1 for a correct prediction, 0 for a wrong one, or a share in between.
    confidence : array (n,)
        Confidence in the predicted class, in [0, 1]; both ends belong to a bin.
    n_bins : int
    level : float

    Examples
    --------
    >>> r = reliability([1, 0, 1], [0.0, 0.55, 1.0], n_bins=2)
    >>> r.count.tolist(), r.accuracy.tolist()
    ([1, 2], [1.0, 0.5])
    """
    from scipy.special import ndtri

    hit = as_numeric(correct, "correct", ndim=1).astype(np.float64)
    conf = as_numeric(confidence, "confidence", ndim=1).astype(np.float64)
    if hit.shape != conf.shape:
        raise InputError(
            f"confidence: needs one value for each of the {len(hit)} entries of correct; got {len(conf)}; align them."
        )
    if n_bins < 1:
        raise InputError(f"n_bins: needs at least one bin; got {n_bins}; 10 is usual.")
    if not (np.isfinite(conf).all() and (conf >= 0).all() and (conf <= 1 + 1e-3).all()):
        row = int(np.flatnonzero(~(np.isfinite(conf) & (conf >= 0) & (conf <= 1 + 1e-3)))[0])
        raise InputError(f"confidence: must lie in [0, 1]; row {row} holds {conf[row]:.6g}; give probabilities.")
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    which = np.clip(np.searchsorted(edges, conf, side="left") - 1, 0, n_bins - 1)
    count = np.bincount(which, minlength=n_bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_conf = np.bincount(which, conf, n_bins) / count
        acc = np.bincount(which, hit, n_bins) / count
        z = float(ndtri(0.5 + level / 2))
        centre = (acc + z**2 / (2 * count)) / (1 + z**2 / count)
        half = z / (1 + z**2 / count) * np.sqrt(acc * (1 - acc) / count + z**2 / (4 * count**2))
    return Reliability(edges, count, mean_conf, acc, centre - half, centre + half)


def expected_calibration_error(correct: ArrayLike, confidence: ArrayLike, *, n_bins: int = 10) -> float:
    """Mean over the instances of |accuracy − confidence| of their bin (10 equal-width, right-inclusive bins).

    Parameters
    ----------
    correct, confidence
        As in `reliability`.

    Returns
    -------
    float
        In [0, 1]. Its expectation is above 0 even for a calibrated classifier: binned averages scatter.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0, 1, 1], [0.75, 0.75, 0.75, 0.75]), 6)
    0.0
    """
    bins = reliability(correct, confidence, n_bins=n_bins)
    filled = bins.count > 0
    gaps = np.abs(bins.accuracy[filled] - bins.confidence[filled])
    return float((bins.count[filled] * gaps).sum() / bins.count.sum())
