"""Reliability diagrams: the data of one, for the confidence or for a class, and the calibration error read off it."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.metrics.calibration.bins import (
    Binning,
    CalibrationBins,
    bins_of_confidence,
    bins_of_values,
    check_bins,
    edges_of_equal_width,
)
from uqassay.metrics.calibration.inputs import calibration_batch
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_level, is_number

__all__ = ["Reliability", "expected_calibration_error", "reliability", "reliability_diagram"]

Array = NDArray[np.float64]

ROUNDING = 1e-3  # how far a confidence may lie above 1


@final
@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of a reliability diagram.

    Attributes
    ----------
    edges : array (B + 1,)
        Bin edges. Bins of equal width hold their right edge, the first one both. Bins of equal mass go from their least
        value to that of the next one, which it holds, the last one to the greatest value; empty ones have no width.
    count : int array (B,)
    confidence, accuracy : array (B,)
        Means in the bin, of one class its mean probability and its frequency; nan where it is empty.
    low, high : array (B,)
        Wilson interval of the accuracy; nan where the bin is empty.
    """

    edges: Array
    count: NDArray[np.int64]
    confidence: Array
    accuracy: Array
    low: Array
    high: Array


def reliability_diagram(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    event: int | Literal["predicted"] = "predicted",
    n_bins: int = 10,
    binning: Binning = "width",
    level: float = 0.95,
) -> Reliability:
    """How often an event happened against the probability it was given.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : array (n, K)
    event : int or "predicted"
        That the label is the predicted class, the first of the most probable ones, or that it is this class.
    n_bins : int
    binning : {"width", "mass"}
        Bins of equal width, or of equally many instances as far as equal probabilities allow.
    level : float
        Of the intervals.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        A batch, a class that does not exist, input as described by the message.

    Notes
    -----
    Wilson's interval takes the instances of a bin for draws with one probability. Theirs differ within a bin, which makes
    the frequency vary a little less, so the interval errs on the wide side.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> r = reliability_diagram([0, 1, 1, 1], probs, event=1, n_bins=2)
    >>> r.count.tolist(), r.confidence.tolist(), r.accuracy.tolist()
    ([2, 2], [0.2, 0.8], [0.5, 1.0])
    """
    check_bins(n_bins, binning)
    check_level(level)
    labels, checked = calibration_batch(y_true, probs)
    if labels.ndim > 1 or checked.ndim > 2:
        raise InputError(
            "probs",
            "must be one data set, shape (n, K)",
            f"got shapes {labels.shape} and {checked.shape} of labels and probabilities",
            "draw one diagram for each",
            code="shape",
        )
    if event == "predicted":
        bins = bins_of_confidence(checked, int(n_bins), binning)
        return _diagram(bins, bins.observed(labels), binning, level)
    n_classes = checked.shape[-1]
    if not is_number(event) or event != event // 1 or not 0 <= event < n_classes:
        raise InputError(
            "event",
            f'must be "predicted" or a class from 0 to {n_classes - 1}',
            f"got {event!r}",
            "pass one of these",
            code="choice",
        )
    bins = bins_of_values(np.ascontiguousarray(checked[:, int(event)]), int(n_bins), binning)
    return _diagram(bins, bins.sums((labels == event).astype(np.float64)), binning, level)


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
    check_level(level)
    bins, hits = _bins_of_hits(correct, confidence, n_bins)
    return _diagram(bins, hits, "width", level)


def expected_calibration_error(correct: ArrayLike, confidence: ArrayLike, *, n_bins: int = 10) -> float:
    """Mean over the instances of |accuracy − confidence| of their bin (10 equal-width, right-inclusive bins).

    Parameters
    ----------
    correct, confidence
        As in `reliability`.

    Returns
    -------
    float
        In [0, 1]. Its expectation is above 0 even for a calibrated classifier: binned averages scatter. For labels and
        probabilities, and forms without this bias, see `confidence_calibration_error`.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0, 1, 1], [0.75, 0.75, 0.75, 0.75]), 6)
    0.0
    """
    bins, hits = _bins_of_hits(correct, confidence, n_bins)
    return float(np.abs(hits - bins.expected).sum() / bins.n)


def _bins_of_hits(correct: ArrayLike, confidence: ArrayLike, n_bins: int) -> tuple[CalibrationBins, Array]:
    """Bins of equal width of the confidence, and the sum of hits in each."""
    hit = as_numeric(correct, "correct", ndim=1).astype(np.float64)
    conf = as_numeric(confidence, "confidence", ndim=1).astype(np.float64)
    if hit.shape != conf.shape:
        raise InputError(
            "confidence",
            f"needs one value for each of the {len(hit)} entries of correct",
            f"got {len(conf)}",
            "align them",
            code="mismatch",
        )
    if n_bins < 1:
        raise InputError("n_bins", "needs at least one bin", f"got {n_bins}", "10 is usual", code="range")
    check_bins(n_bins, "width")
    for values, name, high in ((hit, "correct", 1.0), (conf, "confidence", 1.0 + ROUNDING)):
        inside = (values >= 0) & (values <= high)
        if not inside.all():
            row = int(np.flatnonzero(~inside)[0])
            raise InputError(
                name, "must lie in [0, 1]", f"row {row} holds {values[row]:.6g}", "give probabilities", code="range"
            )
    bins = bins_of_values(conf, int(n_bins), "width")
    return bins, bins.sums(hit)


def _diagram(bins: CalibrationBins, happened: Array, binning: Binning, level: float) -> Reliability:
    count = bins.size
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence, share = bins.expected / count, happened / count
        z = float(ndtri(0.5 + level / 2))
        centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
        half = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    edges = edges_of_equal_width(bins.n_bins) if binning == "width" else _edges_of_equal_mass(bins)
    low, high = np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)
    return Reliability(edges, count.astype(np.int64), confidence, share, low, high)


def _edges_of_equal_mass(bins: CalibrationBins) -> Array:
    """Least value of each bin, of an empty one that of the next, and the greatest of all, (B + 1,)."""
    least = np.full(bins.n_bins + 1, bins.values.max())
    np.minimum.at(least, bins.place, bins.values)
    return np.minimum.accumulate(least[::-1])[::-1]
