"""Binned calibration errors: expected and maximum calibration error, with one-sided, signed and debiased forms."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from uqassay._kernels import kernel
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.calibration.bins import (
    Binning,
    CalibrationBins,
    bins_of_classes,
    bins_of_confidence,
    check_bins,
)
from uqassay.metrics.calibration.edges import inner_edges
from uqassay.metrics.calibration.group_signs import GroupSums, Signed, summed
from uqassay.metrics.calibration.inputs import instance_weights, labels_and_probs
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = [
    "Direction",
    "Norm",
    "PrepareCalibrationError",
    "PreparedBins",
    "calibration_error_of",
    "classwise_calibration_error",
    "confidence_calibration_error",
    "prepare_bins",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Norm = Literal["l1", "l2", "squared", "max"]
Direction = Literal["both", "over", "under", "signed"]
Combine = Callable[[CalibrationBins, Floats, Floats | None], Floats]

HALF_NORMAL_MEAN = float(np.sqrt(2 / np.pi))


@final
@dataclass(frozen=True, eq=False)
class PreparedBins:
    """Bins of the probabilities, with the rule that combines their counts into one number.

    Attributes
    ----------
    bins : CalibrationBins
    combine : callable
        Maps the bins, the excess of expected over observed counts in them (..., B) or (..., K, B), and the sums of squared
        deviations or None, to the measure (...). It may overwrite the excess.
    squared : bool
        Whether the rule needs the squared deviations.
    """

    bins: CalibrationBins
    combine: Combine
    squared: bool = False

    def values(self, labels: Labels) -> Floats:
        """The measure for labels (..., n)."""
        observed = self.bins.observed(labels)
        squares = squared_deviations(self.bins, labels, observed) if self.squared else None
        return self.combine(self.bins, self.bins.expected - observed, squares)

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The measure as a function of the groups' excesses; signs leave the squared deviations as they are."""
        bins, shape = self.bins, self.bins.expected.shape
        n, size = len(groups), (n_groups, self.bins.expected.size)
        cells = bins.place.astype(np.intp)
        if bins.event is None:
            cells += np.arange(shape[0])[:, np.newaxis] * shape[1]
        every: Labels = np.broadcast_to(groups, cells.shape).ravel()
        expected = summed(every, cells.ravel(), bins.values.ravel(), size)

        def of(labels: Labels) -> GroupSums:
            squares = squared_deviations(bins, labels, bins.observed(labels)) if self.squared else None
            if bins.event is None:
                happened, own = groups, cells[labels, np.arange(n)]
            else:
                rows = np.flatnonzero(bins.event == labels)
                happened, own = groups[rows], cells[rows]
            observed = summed(happened, own, np.ones(len(own)), size)
            return GroupSums(
                expected - observed, lambda sums: self.combine(bins, sums.reshape(len(sums), *shape), squares)
            )

        return of


@in_one_order("probs", "y_true", "sample_weight")
def confidence_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    n_bins: int = 10,
    binning: Binning = "width",
    norm: Norm = "l1",
    direction: Direction = "both",
    debiased: bool = False,
    sample_weight: ArrayLike | None = None,
    batched: bool = False,
) -> np.float64 | Floats:
    """Distance of accuracy from confidence, in bins of the confidence: ECE and related errors.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken. The confidence is the greatest of a row; of equally probable classes
        the first is predicted.
    n_bins : int
    binning : {"width", "mass"}
        Bins (low, high] of equal width, where the first bin includes 0; or bins of equally many instances, where bin j
        starts at the confidence of rank ⌊n j / B⌋ and equal confidences share a bin.
    norm : {"l1", "l2", "squared", "max"}
        With gap g_b = confidence − accuracy in bin b and its share w_b of the instances: Σ w_b |g_b|, the expected
        calibration error; √(Σ w_b g_b²); Σ w_b g_b²; or max |g_b|, the maximum calibration error.
    direction : {"both", "over", "under", "signed"}
        "over" and "under" keep the gaps of bins that are too confident, or not confident enough. "signed" gives
        Σ w_b g_b, which equals mean confidence − accuracy for any bins, or the greatest gap with its sign.
    debiased : bool
        Subtract the part that sampling noise adds; see the notes. For the norms "l1" and "squared".
    sample_weight : array (n,), optional
        An integer weight equals that many copies. Not with `debiased`, because copies are not independent.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast.

    Returns
    -------
    float, or array of the shape of the leading axes of a batch

    Raises
    ------
    InputError
        Invalid labels or probabilities; options that exclude each other.

    Notes
    -----
    Accuracies in bins are noisy. Every form except the signed and debiased ones is therefore above 0 on average even for a
    calibrated classifier: the ECE by about Σ √(2 n_b a_b (1 − a_b) / π) / n with accuracies a_b.

    Debiased squares use pairs of different instances of a bin, ((Σ d)² − Σ d²) / (n_b (n_b − 1)) with d = p − y. Given
    the bins, their expectation is the squared gap; they can be negative. If all probabilities of a bin are equal, this is
    the estimator of Kumar, Liang and Ma, g_b² − ȳ (1 − ȳ) / (n_b − 1). Otherwise theirs is too small by about the variance
    of p in the bin divided by n_b. A bin with a single instance has no pairs and adds 0; without any pair the value is nan.

    The debiased ECE is Σ w_b (2 |g_b| − m_b), where m_b = s √(2 / π) exp(−g_b² / 2 s²) + |g_b| (1 − 2 Φ(−|g_b| / s)) is
    the mean of |N(g_b, s²)| and s² the estimated variance of g_b. For true gaps of 0, .5, 1, 1.5, 2 and 3 s its bias is
    .47, .09, −.07, −.09, −.07 and −.02 s, that of the plain form .80, .40, .17, .06, .02 and .00 s. It can be negative. It
    helps if most bins are nearly calibrated; use the squares to compare two classifiers. A bin with a single instance
    adds 0.

    References
    ----------
    Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning; paper 001,
    equation 5; Kumar, Liang, Ma (2019), Verified uncertainty calibration.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> print(confidence_calibration_error([0, 1, 1, 1], probs).round(6))
    0.25
    >>> confidence_calibration_error([[0, 1, 1, 1], [0, 0, 1, 1]], probs, norm="max", batched=True).round(6).tolist()
    [0.3, 0.3]
    """
    check_bins(n_bins, binning)
    _check_options(norm, direction, debiased, sample_weight)
    labels, checked = labels_and_probs(y_true, probs, batched=batched, apart=False)
    weights = instance_weights(sample_weight, labels.shape[-1])
    bins = bins_of_confidence(checked, int(n_bins), binning, weights)
    return calibration_error_of(bins, labels, norm, direction, debiased)[()]


@in_one_order("probs", "y_true", "sample_weight")
def classwise_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    n_bins: int = 10,
    binning: Binning = "width",
    norm: Norm = "l1",
    direction: Direction = "both",
    debiased: bool = False,
    sample_weight: ArrayLike | None = None,
    batched: bool = False,
) -> np.float64 | Floats:
    """Distance of class frequencies from class probabilities, in bins of the probability: classwise ECE and related errors.

    Parameters
    ----------
    y_true, probs, n_bins, binning, norm, debiased, sample_weight, batched
        As in `confidence_calibration_error`, for each class; with "mass" each class has separate edges. Sums and squares are
        averaged over the classes; the maximum is taken over bins and classes.
    direction : {"both", "over", "under"}
        "over" keeps the bins where a class is less frequent than predicted, "under" the others. Signed gaps cancel over
        the classes, because probabilities and frequencies both sum to 1.

    Returns
    -------
    float, or array of the shape of the leading axes of a batch

    Raises
    ------
    InputError
        As in `confidence_calibration_error`.

    Notes
    -----
    With many classes most probabilities are near 0, where gaps are small, so the value falls with K. With 100 classes, judge
    it only against the value of a calibrated classifier (`uqassay.calibration.calibration_test`).

    References
    ----------
    Kull et al. (2019), Beyond temperature scaling; paper 001, equation 4.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> print(classwise_calibration_error([0, 1, 1, 1], probs).round(6))
    0.25
    """
    check_bins(n_bins, binning)
    _check_options(norm, direction, debiased, sample_weight)
    if direction == "signed":
        raise InputError(
            "direction",
            'must be "both", "over" or "under", since signed gaps cancel over the classes',
            'got "signed"',
            "use confidence_calibration_error, or reliability_diagram for one class",
            code="choice",
        )
    labels, checked = labels_and_probs(y_true, probs, batched=batched)
    weights = instance_weights(sample_weight, labels.shape[-1])
    bins = bins_of_classes(checked, int(n_bins), binning, weights)
    return calibration_error_of(bins, labels, norm, direction, debiased)[()]


@final
@dataclass(frozen=True)
class PrepareCalibrationError:
    """Factory of `PreparedBins` for one of these measures, with its options."""

    by: Literal["confidence", "classwise"]
    n_bins: int = 10
    binning: Binning = "width"
    norm: Norm = "l1"
    debiased: bool = False

    def __call__(self, probs: Floats) -> PreparedBins:
        """Bins of probabilities (..., n, K)."""
        bins = (bins_of_confidence if self.by == "confidence" else bins_of_classes)(probs, self.n_bins, self.binning)
        return PreparedBins(bins, partial(error_of_excess, norm=self.norm), self.debiased)

    def values(self, probs: Floats, labels: Labels) -> Floats:
        """The measure of probabilities (..., n, K) for labels (..., n); leading axes broadcast."""
        compiled, by_class = kernel("bin_errors"), np.swapaxes(probs, -1, -2)
        usual = self.binning == "width" and self.norm == "l1" and not self.debiased
        each = probs.ndim == 3 and labels.shape[:-1] in ((), (1,), probs.shape[:1]) and by_class.flags.c_contiguous
        if compiled is None or not usual or not each:
            return self(probs).values(labels)
        draws = np.ascontiguousarray(np.atleast_2d(labels), dtype=np.int64)
        edges = inner_edges(self.n_bins, probs)
        return np.asarray(compiled(by_class, draws, edges, self.by == "confidence"))


def prepare_bins(probs: Floats, bins: Callable[[Floats], CalibrationBins], combine: Combine) -> PreparedBins:
    """Sort probabilities (..., n, K) into these bins."""
    return PreparedBins(bins(probs), combine)


# -- from bins to one number ------------------------------------------------------------------------------------------


def calibration_error_of(
    bins: CalibrationBins, labels: Labels, norm: Norm = "l1", direction: Direction = "both", debiased: bool = False
) -> Floats:
    """The calibration error in these bins for labels (..., n)."""
    observed = bins.observed(labels)
    squares = squared_deviations(bins, labels, observed) if debiased else None
    return error_of_excess(bins, bins.expected - observed, squares, norm=norm, direction=direction)


def squared_deviations(bins: CalibrationBins, labels: Labels, observed: Floats) -> Floats:
    """Σ (p − y)² in each bin, for the observed counts of these labels."""
    return bins.squares + observed - 2 * bins.expected_at_events(labels)


def error_of_excess(
    bins: CalibrationBins,
    excess: Floats,
    squares: Floats | None = None,
    *,
    norm: Norm = "l1",
    direction: Direction = "both",
) -> Floats:
    """The calibration error for n_b g_b in each bin, positive where too confident; debiased if there are squares."""
    if squares is not None:
        return (_debiased_squares if norm == "squared" else _debiased_l1)(excess, squares, bins)
    if direction == "signed":
        return _signed(excess, bins, norm)
    if direction == "both":
        np.abs(excess, out=excess)
    else:
        np.maximum(excess if direction == "over" else -excess, 0.0, out=excess)
    if norm == "l1":
        return _over_bins(excess, bins) / bins.total
    gaps = excess / np.maximum(bins.size, np.finfo(np.float64).tiny)  # the tiny divisor makes the gap of an empty bin 0
    if norm == "max":
        return gaps.max(axis=-1) if bins.event is not None else gaps.max(axis=(-1, -2))
    squared = _over_bins(excess * gaps, bins) / bins.total
    return squared if norm == "squared" else np.sqrt(squared)


def _signed(excess: Floats, bins: CalibrationBins, norm: Norm) -> Floats:
    if norm == "l1":
        return excess.sum(axis=-1) / bins.total
    gaps = excess / np.maximum(bins.size, np.finfo(np.float64).tiny)
    widest = np.abs(gaps).argmax(axis=-1)[..., np.newaxis]
    return np.take_along_axis(gaps, widest, axis=-1)[..., 0]


def _debiased_squares(excess: Floats, squares: Floats, bins: CalibrationBins) -> Floats:
    """Σ_b ((Σ d)² − Σ d²) / (n_b − 1) / n."""
    pairs = bins.size > 1
    terms = np.where(pairs, (excess**2 - squares) / np.where(pairs, bins.size - 1, 1.0), 0.0)
    return _where_pairs(_over_bins(terms, bins) / bins.total, bins)


def _debiased_l1(excess: Floats, squares: Floats, bins: CalibrationBins) -> Floats:
    """Σ_b n_b (2 |g_b| − E |N(g_b, s_b²)|) / n with s_b² = Σ (d − g_b)² / (n_b (n_b − 1))."""
    pairs = bins.size > 1
    size = np.where(pairs, bins.size, 2.0)
    gap = np.abs(excess) / size
    spread = np.sqrt(np.maximum(squares - size * gap**2, 0.0) / (size * (size - 1)))
    ratio = gap / np.maximum(spread, np.finfo(np.float64).tiny)
    with np.errstate(over="ignore"):
        folded = spread * HALF_NORMAL_MEAN * np.exp(-(ratio**2) / 2) + gap * (1 - 2 * ndtr(-ratio))
    terms = np.where(pairs, size * (2 * gap - folded), 0.0)
    return _where_pairs(_over_bins(terms, bins) / bins.total, bins)


def _where_pairs(values: Floats, bins: CalibrationBins) -> Floats:
    """Replace values (...) by nan where no bin has two instances."""
    some = (bins.size > 1).any(axis=-1 if bins.event is not None else (-1, -2))
    return np.where(some, values, np.nan)


def _over_bins(terms: Floats, bins: CalibrationBins) -> Floats:
    """Sum over bins, (..., B) -> (...), averaged over classes for (..., K, B) -> (...)."""
    if bins.event is not None:
        return terms.sum(axis=-1)
    n_classes = terms.shape[-2]
    return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1) / n_classes


def _check_options(norm: str, direction: str, debiased: bool, sample_weight: ArrayLike | None) -> None:
    check_choice(norm, "norm", ("l1", "l2", "squared", "max"))
    check_choice(direction, "direction", ("both", "over", "under", "signed"))
    if direction == "signed" and norm not in ("l1", "max"):
        raise InputError(
            "direction",
            'can be "signed" only with the norm "l1" or "max"',
            f"got norm {norm!r}",
            'use norm="l1": squares have no sign',
            code="missing",
        )
    if not debiased:
        return
    if norm not in ("l1", "squared"):
        raise InputError(
            "debiased",
            'can be set only with the norm "l1" or "squared"',
            f"got norm {norm!r}",
            'use norm="squared": a debiased square can be negative and has no root, and a maximum has no debiased form',
            code="conflict",
        )
    if direction != "both":
        raise InputError(
            "debiased",
            'can be set only with direction "both"',
            f"got {direction!r}",
            "leave one of the two out",
            code="conflict",
        )
    if sample_weight is not None:
        raise InputError(
            "debiased",
            "cannot be combined with sample_weight",
            "got both",
            "leave one of the two out: a weighted instance is not several independent ones",
            code="conflict",
        )
