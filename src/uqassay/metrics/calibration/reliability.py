"""Data of reliability diagrams, for the confidence or for a class, and the calibration error in its bins."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uqassay._array import as_numeric
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.calibration.bins import (
    Binning,
    CalibrationBins,
    bins_of_confidence,
    bins_of_values,
    check_bins,
)
from uqassay.metrics.calibration.edges import edges_of_equal_width
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.metrics.calibration.reliability_bands import band_of_counts, bands_of_groups, ranges_sentence
from uqassay.predictions import PredictionLike
from uqassay.predictions.swapped import refuse_swapped, swapped_arguments
from uqassay.statistics.samples import check_level, is_number, make_units

__all__ = ["Reliability", "expected_calibration_error", "reliability", "reliability_diagram"]

Array = NDArray[np.float64]

SAME = 1e-12  # a confidence this close to an end of the band is inside
ROUNDING = 1e-3  # a confidence may exceed 1 by this much


@final
@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of a reliability diagram.

    Attributes
    ----------
    edges : array (B + 1,)
        Bin edges. Bins of equal width include their right edge; the first one includes both. Bins of equal mass include their
        left edge, their least value, and end at the next bin; the last one ends at the greatest value. Empty ones have width 0.
    count : int array (B,)
    confidence, accuracy : array (B,)
        Mean confidence and accuracy in the bin, or mean probability and frequency of one class; nan if the bin is empty.
    low, high : array (B,)
        Wilson interval of the accuracy; nan if the bin is empty.
    band_low, band_high : array (B,)
        Intervals that hold for the accuracies of all bins together; nan if the bin is empty.

    Examples
    --------
    >>> r = reliability([1] * 90 + [0] * 60, [0.95] * 100 + [0.65] * 50)
    >>> r.over[r.count > 0].tolist(), int(r.under.sum())
    ([True, False], 0)
    >>> r.sentence()
    'Overconfident where it states 60 to 70 %; nowhere shown to be underconfident.'
    """

    edges: Array
    count: NDArray[np.int64]
    confidence: Array
    accuracy: Array
    low: Array
    high: Array
    band_low: Array
    band_high: Array

    @property
    def over(self) -> NDArray[np.bool_]:
        """Bins whose confidence lies above the band of the accuracy, (B,)."""
        return self.confidence > self.band_high + SAME

    @property
    def under(self) -> NDArray[np.bool_]:
        """Bins whose confidence lies below the band of the accuracy, (B,)."""
        return self.confidence < self.band_low - SAME

    def sentence(self) -> str:
        """Where overconfidence and underconfidence are shown; all its claims hold together at the level of the band."""
        return ranges_sentence(self.edges, self.over, self.under)


@in_one_order("probs", "y_true", "groups")
def reliability_diagram(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    event: int | Literal["predicted"] = "predicted",
    n_bins: int = 10,
    binning: Binning = "width",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Reliability:
    """Frequency of an event as a function of its predicted probability.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    event : int or "predicted"
        The event: the label is the predicted class (the first of the most probable ones), or it is this class.
    n_bins : int
    binning : {"width", "mass"}
        Bins of equal width, or of equally many instances; equal probabilities share a bin.
    groups : array (n,), optional
        Whole groups (patients, sites, videos) are the units of the intervals.
    level : float
        Confidence level of the single intervals, and of all intervals of the band together.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        An unknown class, invalid labels or probabilities.

    Notes
    -----
    Wilson's interval assumes one probability for all instances of a bin. Probabilities that differ within a bin make the
    frequency vary slightly less, so the interval is slightly too wide.

    The band holds in all bins together with probability `level` at least: exact (Clopper-Pearson) intervals at the level
    `level` ** (1 / B′) for B′ filled bins. With groups they use the effective number of independent instances and
    Bonferroni's adjustment. `Reliability.over` and `Reliability.under` name the bins whose confidence lies outside the band;
    with probability `level` none of them is named wrongly (docs/coverage-calibration-further.md).

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> r = reliability_diagram([0, 1, 1, 1], probs, event=1, n_bins=2)
    >>> r.count.tolist(), r.confidence.tolist(), r.accuracy.tolist()
    ([2, 2], [0.2, 0.8], [0.5, 1.0])
    """
    check_bins(n_bins, binning)
    check_level(level)
    labels, checked = labels_and_probs(y_true, probs)
    if event == "predicted":
        bins = bins_of_confidence(checked, int(n_bins), binning)
        return _diagram(bins, np.asarray(bins.event == labels, dtype=np.float64), binning, groups, level)
    n_classes = checked.shape[-1]
    if not is_number(event) or event != event // 1 or not 0 <= event < n_classes:
        raise InputError(
            "event",
            f'must be "predicted" or a class from 0 to {n_classes - 1}',
            f"got {event!r}",
            'pass "predicted" for the confidence',
            code="choice",
        )
    bins = bins_of_values(np.ascontiguousarray(checked[:, int(event)]), int(n_bins), binning)
    return _diagram(bins, (labels == event).astype(np.float64), binning, groups, level)


@in_one_order("correct", "confidence", "groups")
def reliability(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_bins: int = 10,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Reliability:
    """Accuracy against confidence in equal-width, right-inclusive bins of [0, 1].

    Parameters
    ----------
    correct : array (n,)
        1 for a correct prediction, 0 for a wrong one, or a share in between.
    confidence : array (n,)
        Confidence in the predicted class, in [0, 1]; both ends belong to a bin.
    n_bins : int
    groups : array (n,), optional
        As in `reliability_diagram`.
    level : float

    Examples
    --------
    >>> r = reliability([1, 0, 1], [0.0, 0.55, 1.0], n_bins=2)
    >>> r.count.tolist(), r.accuracy.tolist()
    ([1, 2], [1.0, 0.5])
    """
    check_level(level)
    bins, hits = bins_of_hits(correct, confidence, n_bins)
    return _diagram(bins, hits, "width", groups, level)


@in_one_order("correct", "confidence")
def expected_calibration_error(correct: ArrayLike, confidence: ArrayLike, *, n_bins: int = 10) -> float:
    """Mean over the instances of |accuracy − confidence| of their bin (10 equal-width, right-inclusive bins).

    Parameters
    ----------
    correct, confidence
        As in `reliability`.

    Returns
    -------
    float
        In [0, 1]. Its expectation is above 0 even for a calibrated classifier, because bin averages are noisy.
        `confidence_calibration_error` takes labels and probabilities and has debiased forms.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0, 1, 1], [0.75, 0.75, 0.75, 0.75]), 6)
    0.0
    """
    bins, hits = bins_of_hits(correct, confidence, n_bins)
    return float(np.abs(bins.sums(hits) - bins.expected).sum() / bins.n)


def bins_of_hits(correct: ArrayLike, confidence: ArrayLike, n_bins: int) -> tuple[CalibrationBins, Array]:
    """Bins of equal width of the confidence (n,), and the hits (n,)."""
    refuse_swapped(correct, confidence, "correct", "confidence")
    hit = as_numeric(correct, "correct", ndim=1).astype(np.float64)
    conf = as_numeric(confidence, "confidence", ndim=1).astype(np.float64)
    if hit.shape != conf.shape:
        raise InputError(
            "confidence",
            f"must have one value for each of the {len(hit)} entries of correct",
            f"got {len(conf)}",
            "pass both for the same instances",
            code="mismatch",
        )
    # a confidence of 0 is impossible for the predicted class
    if ((conf == 0) | (conf == 1)).all() and (conf == 0).any() and ((hit > 0) & (hit < 1)).any():
        raise swapped_arguments("correct", "confidence")
    if n_bins < 1:
        raise InputError("n_bins", "must be at least 1", f"got {n_bins}", "pass 10, the usual number", code="range")
    check_bins(n_bins, "width")
    for values, name, high in ((hit, "correct", 1.0), (conf, "confidence", 1.0 + ROUNDING)):
        inside = (values >= 0) & (values <= high)
        if not inside.all():
            row = int(np.flatnonzero(~inside)[0])
            raise InputError(
                name, "must lie in [0, 1]", f"row {row} holds {values[row]:.6g}", "pass probabilities", code="range"
            )
    bins = bins_of_values(conf, int(n_bins), "width")
    return bins, hit


def _diagram(
    bins: CalibrationBins, hits: Array, binning: Binning, groups: ArrayLike | None, level: float
) -> Reliability:
    count, happened = bins.size, bins.sums(hits)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence, share = bins.expected / count, happened / count
    if groups is None:
        low, high = _wilson(share, count, level)
        band_low, band_high = band_of_counts(happened, count, level)
    else:
        units = make_units(len(hits), groups, None)
        assert units.codes is not None
        place = bins.place.astype(np.intp)
        found = bands_of_groups(hits, bins.values - hits, place, units.codes, bins.n_bins, level)
        low, high, band_low, band_high = found
    edges = edges_of_equal_width(bins.n_bins) if binning == "width" else _edges_of_equal_mass(bins)
    return Reliability(edges, count.astype(np.int64), confidence, share, low, high, band_low, band_high)


def _wilson(share: Array, count: Array, level: float) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore", divide="ignore"):
        z = float(ndtri(0.5 + level / 2))
        centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
        half = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def _edges_of_equal_mass(bins: CalibrationBins) -> Array:
    """Least value of each bin (of the next bin if empty), followed by the greatest value, (B + 1,)."""
    least = np.full(bins.n_bins + 1, bins.values.max())
    np.minimum.at(least, bins.place, bins.values)
    return np.minimum.accumulate(least[::-1])[::-1]
