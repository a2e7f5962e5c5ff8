"""Calibration errors without bins, and the parts of proper scores."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.special import xlogy

from uqassay.arrays import Floats
from uqassay.checks import number, one_of
from uqassay.ids import in_one_order
from uqassay.metrics.calibration import GroupSums, Signed
from uqassay.metrics.reliability_diagrams import (
    Binning,
    CalibrationBins,
    bins_of_classes,
    bins_of_groups,
    check_bins,
    instance_weights,
    labels_and_probs,
)
from uqassay.predictions import PredictionLike

__all__ = [
    "PreparedScore",
    "ProperScoreParts",
    "prepare_brier",
    "prepare_log_score",
    "proper_score_parts",
    "smooth_calibration_error",
]


Labels = NDArray[np.intp]


# Smooth calibration error: gaps smoothed by a kernel instead of bins, with the bandwidth that the error itself sets.

CELLS = 2**11  # of the first grid
MOST_CELLS = 2**20
CELLS_IN_BANDWIDTH = 16  # at least; then the error of the grid is below 1e-3 of the value
HALVINGS = 32
LEAST_WIDTH = 1e-9  # a smaller error is what rounding left of 0
TINY = 1e-300


@in_one_order("probs", "y_true")
def smooth_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    bandwidth: float | None = None,
) -> float:
    """Smooth expected calibration error (smECE) of the confidence.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken. The confidence is the greatest of a row; of equally probable classes
        the first is predicted.
    bandwidth : float, optional
        σ of the kernel; None: the one that equals the error at this bandwidth, as in the definition of smECE.

    Returns
    -------
    float
        In [0, 1]; 0 only if the gaps of equal confidences cancel.

    Notes
    -----
    With gaps d_i = c_i − [correct] and the Gaussian kernel K_σ reflected at 0 and 1,
    smECE_σ = ∫₀¹ |1/n Σ_i d_i K_σ(t, c_i)| dt. It falls with σ, so exactly one σ equals it; that is smECE. It has no bins, is
    continuous in the predictions, and lies within constant factors of the distance to the nearest calibrated classifier. Its
    expectation is above 0 even for a calibrated classifier, so compare it with other classifiers on the same instances, or
    take `calibration_error_estimate` for an interval.

    The reflected kernel multiplies the k-th cosine coefficient by exp(−(π k σ)² / 2), so the smoothing is one cosine
    transform on a grid of at least 2048 cells, 16 in a bandwidth; each instance is shared by the two nearest cells. The value
    differs from the integral by less than .1 %. The authors' package relplot (1.0.3) searches σ in steps of 1/1024, so its
    value is slightly smaller. Its grid also loses half of the instances in the outermost cell, so its value is too large if
    many confidences are near 1: .055 instead of .040 for VGG-16 on CIFAR-10, whose mean gap of .040 no bandwidth exceeds by
    much.

    References
    ----------
    Błasiok, Nakkiran (2024), Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(smooth_calibration_error([0, 1, 1, 1], probs), 3)
    0.088
    >>> round(smooth_calibration_error([0, 1, 1, 1], probs, bandwidth=0.01), 3)
    0.25
    """
    if bandwidth is not None:
        bandwidth = number(bandwidth, "bandwidth", "leave it out for the one of smECE", low=0, ends="()")
    labels, checked = labels_and_probs(y_true, probs)
    top = checked.argmax(axis=1)
    confidence = np.take_along_axis(checked, top[:, np.newaxis], axis=1)[:, 0]
    gaps = confidence - (top == labels)
    if bandwidth is not None:
        return _error(_grid(confidence, gaps, _cells(bandwidth)), bandwidth)
    return _fixed_point(confidence, gaps)


class _Grid(NamedTuple):
    """Cosine coefficients of the gaps on a grid."""

    coefficients: Any  # (M,)
    frequencies: Any  # (M,) π k


def _grid(confidence: Floats, gaps: Floats, n_cells: int) -> _Grid:
    """Gaps shared by the two nearest centres of cells; beyond the outer centres the reflection is in the same cell."""
    at = np.clip(confidence * n_cells - 0.5, 0.0, n_cells - 1.0)
    left = np.minimum(at.astype(np.intp), n_cells - 2)
    share = at - left
    amounts = np.bincount(left, gaps * (1 - share), n_cells) + np.bincount(left + 1, gaps * share, n_cells)
    return _Grid(fft.dct(amounts / len(gaps), type=2), np.pi * np.arange(n_cells))


def _error(grid: _Grid, bandwidth: float) -> float:
    damped = grid.coefficients * np.exp(-0.5 * (grid.frequencies * bandwidth) ** 2)
    return float(np.abs(fft.idct(damped, type=2)).sum())


def _cells(bandwidth: float) -> int:
    """Cells of a grid that is fine enough for a bandwidth, a power of 2."""
    wanted = CELLS_IN_BANDWIDTH / max(bandwidth, TINY)
    return min(MOST_CELLS, max(CELLS, 2 ** int(np.ceil(np.log2(wanted)))))


def _fixed_point(confidence: Floats, gaps: Floats) -> float:
    """The bandwidth that equals its error, on a grid that is fine enough for it."""
    n_cells, low, high = CELLS, 0.0, 1.0
    while True:
        grid = _grid(confidence, gaps, n_cells)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _error(grid, middle) > middle else (low, middle)
        if high < LEAST_WIDTH:
            return 0.0
        needed = _cells(high)
        if needed <= n_cells:
            return high
        n_cells, low, high = needed, high / 4, min(4 * high, 1.0)


# Decomposition of the Brier score and the log score into calibration and refinement.

Score = Literal["brier", "log"]
Number = TypeVar("Number", bound=np.generic)
Value = np.float64 | Floats


@final
@dataclass(frozen=True, eq=False)
class ProperScoreParts:
    """Parts of a score: score = reliability − resolution + uncertainty + within = calibration + refinement.

    Every part is a number, or an array of the shape of the leading axes of a batch.
    """

    score: Value  #: mean score, lower is better
    #: distance of frequencies from mean probabilities in groups of similar predictions; 0 without miscalibration
    reliability: Value
    #: distance of the frequencies in groups from the overall frequencies: how well predictions separate the classes
    resolution: Value
    uncertainty: Value  #: score of predicting the class frequencies
    #: effect of differences between predictions inside the groups; 0 if each group holds equal predictions
    within: Value
    kind: Score  #: "brier" or "log"
    by: Literal["bins", "distinct"]  #: "bins" or "distinct"
    n_bins: int | None
    binning: Binning | None  #: "width" or "mass": None if groups are not bins

    @property
    def calibration(self) -> Value:
        """The reliability."""
        return self.reliability

    @property
    def refinement(self) -> Value:
        """Uncertainty − resolution + within: the score without the reliability part."""
        with np.errstate(invalid="ignore"):
            return self.uncertainty - self.resolution + self.within


@in_one_order("probs", "y_true", "sample_weight")
def proper_score_parts(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    score: Score = "brier",
    by: Literal["bins", "distinct"] = "bins",
    n_bins: int = 10,
    binning: Binning = "width",
    sample_weight: ArrayLike | None = None,
    batched: bool = False,
) -> ProperScoreParts:
    """Brier or log score with its calibration and refinement.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    score : {"brier", "log"}
        Mean Σ_k (p_k − y_k)², from 0 to 2; or mean −ln p_y in nats, +inf if a label had probability 0.
    by : {"bins", "distinct"}
        Groups: bins of the probability of each class; or instances with the same row of probabilities, for predictions
        with few distinct values.
    n_bins, binning
        Number and kind of bins, as in `classwise_calibration_error`.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast.

    Notes
    -----
    Both scores are sums over classes of a Bregman divergence d of y_k from p_k: (y − p)², and y ln(y / p) − y + p, whose
    last terms cancel over the classes. Let p̄_b and ō_b be the mean and the frequency in group b of class k, and ō_k the
    overall frequency. Reliability and resolution are sums over k and b of d(ō_b, p̄_b) and d(ō_b, ō_k), weighted by the
    share of the instances; uncertainty is Σ_k ō_k (1 − ō_k) or −Σ_k ō_k ln ō_k. The remainder is the within part:
    (1 / n) Σ (p − p̄)² − (2 / n) Σ (p − p̄) y for the Brier score (Stephenson et al.'s within-bin variance minus covariance),
    −(1 / n) Σ y ln(p / p̄) for the log score.

    Frequencies are noisy, so reliability and resolution are both biased upwards: for the Brier score by about
    Σ ō_b (1 − ō_b) / n over bins and classes, for the log score by about half the number of bins with events, minus one per
    class, divided by n. `classwise_calibration_error(norm="squared", debiased=True)` times K is the reliability of the Brier
    score without this bias.

    References
    ----------
    Murphy (1973), A new vector partition of the probability score; Stephenson, Coelho, Jolliffe (2008), Two extra
    components in the Brier score decomposition; Bröcker (2009), Reliability, sufficiency, and the decomposition of proper
    scores; Ferro, Fricker (2012), A bias-corrected decomposition of the Brier score.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]
    >>> parts = proper_score_parts([0, 0, 1, 0], probs)
    >>> [round(float(x), 4) for x in (parts.score, parts.reliability, parts.resolution, parts.uncertainty)]
    [0.38, 0.13, 0.125, 0.375]
    """
    one_of(score, "score", ("brier", "log"))
    one_of(by, "by", ("bins", "distinct"))
    check_bins(n_bins, binning)
    labels, checked = labels_and_probs(y_true, probs, batched=batched)
    weights = instance_weights(sample_weight, labels.shape[-1])
    if by == "bins":
        bins = bins_of_classes(checked, int(n_bins), binning, weights)
    else:
        bins = bins_of_groups(checked, _groups(checked), weights)
    found = (_brier_parts if score == "brier" else _log_parts)(bins, labels, checked)
    total, reliability, resolution, uncertainty, within = (part[()] for part in found)
    return ProperScoreParts(
        total,
        reliability,
        resolution,
        uncertainty,
        within,
        kind=score,
        by=by,
        n_bins=int(n_bins) if by == "bins" else None,
        binning=binning if by == "bins" else None,
    )


# -- the scores as measures of many mixtures --------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class PreparedScore:
    """Term of each class, (..., K, n), of which labels select one, the part that does not depend on labels, (...), and the
    probabilities (..., K, n)."""

    of_label: Floats
    rest: Floats
    probs: Floats

    def values(self, labels: Labels) -> Floats:
        """The mean score for labels (..., n)."""
        return self.rest + _mean(_taken(self.of_label, labels), None)

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The score as its mean under the probabilities plus the groups' sums of deviations from it."""
        expected = _expected(self.of_label, self.probs)  # (n,)
        centre, n = float(self.rest) + float(expected.mean()), len(groups)

        def of(labels: Labels) -> GroupSums:
            sums = np.bincount(groups, _taken(self.of_label, labels) - expected, n_groups)[:, np.newaxis]
            return GroupSums(sums, lambda total: centre + total[:, 0] / n)

        return of

    def moments(self) -> tuple[float, float]:
        """Mean and variance of the mean score for labels drawn from probabilities (n, K)."""
        expected = _expected(self.of_label, self.probs)
        squares = _expected((self.of_label - np.where(self.probs > 0, expected, 0.0)) ** 2, self.probs)
        n = len(expected)
        return float(self.rest) + float(expected.mean()), float(squares.sum()) / n**2


def _expected(terms: Floats, probs: Floats) -> Floats:
    """Expectation of a term of each class, (..., K, n) -> (..., n); classes of probability 0 add 0 even if infinite."""
    return (np.where(probs > 0, terms, 0.0) * probs).sum(axis=-2)


def prepare_brier(probs: Floats) -> PreparedScore:
    """Prepare the mean of Σ_k (p_k − y_k)²."""
    by_class = np.swapaxes(probs, -1, -2)
    return PreparedScore(1.0 - 2.0 * by_class, (by_class**2).sum(axis=-2).mean(axis=-1), by_class)


def prepare_log_score(probs: Floats) -> PreparedScore:
    """Prepare the mean of −ln p_y, in nats."""
    with np.errstate(divide="ignore"):
        by_class = np.swapaxes(probs, -1, -2)
        return PreparedScore(-np.log(by_class), np.zeros(probs.shape[:-2]), by_class)


# -- the parts --------------------------------------------------------------------------------------------------------


def _brier_parts(bins: CalibrationBins, labels: Labels, probs: Floats) -> tuple[Floats, ...]:
    observed, total = bins.observed(labels), bins.total
    mean, frequency, base = _means(bins, observed)
    own = _mean(_taken(np.swapaxes(probs, -1, -2), labels), bins.weights)
    squares = bins.squares.sum(axis=(-1, -2)) / total
    reliability = (bins.size * (frequency - mean) ** 2).sum(axis=(-1, -2)) / total
    resolution = (bins.size * (frequency - base) ** 2).sum(axis=(-1, -2)) / total
    uncertainty = (base * (1 - base)).sum(axis=(-1, -2))
    variance = squares - (bins.expected * mean).sum(axis=(-1, -2)) / total
    covariance = own - (observed * mean).sum(axis=(-1, -2)) / total
    return squares - 2 * own + 1.0, reliability, resolution, uncertainty, variance - 2 * covariance


def _log_parts(bins: CalibrationBins, labels: Labels, probs: Floats) -> tuple[Floats, ...]:
    observed, total = bins.observed(labels), bins.total
    mean, frequency, base = _means(bins, observed)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(mean)
        terms = bins.size * (
            xlogy(frequency, frequency) - np.where(observed > 0, frequency * logs, 0.0) - frequency + mean
        )
        reliability = terms.sum(axis=(-1, -2)) / total
        terms = bins.size * (xlogy(frequency, frequency) - xlogy(frequency, base) - frequency + base)
        resolution = terms.sum(axis=(-1, -2)) / total
        uncertainty = -xlogy(base, base).sum(axis=(-1, -2))
        own = np.log(_taken(np.swapaxes(probs, -1, -2), labels))
        score = -_mean(own, bins.weights)
        own = own - _taken_bins(logs, bins, labels)  # ln(p / p̄); nan if a whole bin has probability 0
        within = -_mean(np.where(np.isnan(own), 0.0, own), bins.weights)
    return score, reliability, resolution, uncertainty, within


def _means(bins: CalibrationBins, observed: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean probability and frequency in each bin (..., K, B), 0 in empty ones, and the frequency in all (..., K, 1)."""
    size = np.maximum(bins.size, np.finfo(np.float64).tiny)
    return bins.expected / size, observed / size, observed.sum(axis=-1, keepdims=True) / bins.total


def _taken(by_class: NDArray[Number], labels: Labels) -> NDArray[Number]:
    """Entry of the label of each instance, (..., K, n) -> (..., n)."""
    lead = np.broadcast_shapes(by_class.shape[:-2], labels.shape[:-1])
    by_class = np.broadcast_to(by_class, (*lead, *by_class.shape[-2:]))
    labels = np.broadcast_to(labels, (*lead, labels.shape[-1]))
    return np.take_along_axis(by_class, labels[..., np.newaxis, :], axis=-2)[..., 0, :]


def _taken_bins(of_bins: Floats, bins: CalibrationBins, labels: Labels) -> Floats:
    """Entry of the bin of the label of each instance, (..., K, B) -> (..., n)."""
    place = _taken(bins.place, labels)
    lead, n_bins = place.shape[:-1], bins.n_bins
    flat = of_bins.reshape(*of_bins.shape[:-2], -1)
    flat = np.broadcast_to(flat, (*lead, flat.shape[-1]))
    return np.take_along_axis(flat, np.broadcast_to(labels, place.shape) * n_bins + place, axis=-1)


def _mean(values: Floats, weights: Floats | None) -> Floats:
    """Mean along the last axis; instances of weight 0 are ignored, even if infinite or nan."""
    if weights is None:
        return values.mean(axis=-1)
    kept = weights > 0
    return (values[..., kept] * weights[kept]).sum(axis=-1) / weights.sum()


def _groups(probs: Floats) -> NDArray[np.intp]:
    """Number of the distinct row of each instance, (..., n, K) -> (..., n); distinct rows are numbered in sorted order."""
    order = np.lexsort(np.moveaxis(probs, -1, 0)[::-1], axis=-1)
    ordered = np.take_along_axis(probs, order[..., np.newaxis], axis=-2)
    new = np.zeros(order.shape, dtype=np.intp)
    new[..., 1:] = (ordered[..., 1:, :] != ordered[..., :-1, :]).any(axis=-1)
    groups = np.empty_like(order)
    np.put_along_axis(groups, order, np.cumsum(new, axis=-1), axis=-1)
    return groups
