"""Calibration errors: ECE, classwise ECE, Kuiper, Hosmer-Lemeshow, with their intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from uqassay.arrays import Floats, argmax_of_rows, generator
from uqassay.checks import fail, number, one_of
from uqassay.ids import in_one_order
from uqassay.metrics.reliability_diagrams import (
    Binning,
    CalibrationBins,
    bins_of_classes,
    bins_of_confidence,
    bins_of_first_class,
    bins_of_hits,
    bins_of_last_class,
    bins_of_ranks,
    check_bins,
    inner_edges,
    instance_weights,
    labels_and_probs,
)
from uqassay.native import kernel
from uqassay.notes import Note
from uqassay.predictions import PredictionLike
from uqassay.statistics import Estimate
from uqassay.statistics.estimate import single_unit, unit_notes
from uqassay.statistics.linearised import is_plain
from uqassay.statistics.units import Units, check_level, effective_number, make_units
from uqassay.text import number as written

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "ErrorNorm",
    "GroupProducts",
    "GroupSums",
    "Groupwise",
    "PrepareCalibrationError",
    "PrepareCumulative",
    "PrepareHosmerLemeshow",
    "Signed",
    "SignedMeasure",
    "Statistic",
    "bins_of_events",
    "calibration_error_estimate",
    "check_least_expected",
    "chi_squared",
    "classwise_calibration_error",
    "confidence_calibration_error",
    "cumulative_calibration_error",
    "error_estimate_of_hits",
    "hosmer_lemeshow_statistic",
    "merged_bins",
    "prepare_bins",
    "prepare_hosmer_lemeshow_paper_code",
    "statistic_of_bins",
    "summed",
]


# Calibration measures as functions of sums over groups, whose signs can be drawn at random (wild bootstrap).

Rows = NDArray[np.intp]

DENSE = 2**20  # entries


class SignedMeasure(Protocol):
    """A measure of given labels in which the deviations of every group can change their sign."""

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G), as (D,); with all signs 1 it is the measure of the labels."""
        ...


Signed = Callable[[Rows], SignedMeasure]


@runtime_checkable
class Groupwise(Protocol):
    """A prepared measure that can be written as a function of sums over groups."""

    def by_groups(self, groups: Rows, n_groups: int) -> Signed:
        """For the group 0 … G − 1 of each instance (n,): a function of labels (n,) that returns the measure."""
        ...


@final
@dataclass(frozen=True, eq=False)
class GroupSums:
    """A function of the sums over groups of deviations of events from their probabilities."""

    sums: "Floats | csr_array"  #: (G, C): sum of the deviations of each group in each cell, such as a bin
    value: Callable[[Floats], Floats]  #: maps sums over all groups (D, C) to the measure (D,)

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G)."""
        return self.value(np.ascontiguousarray(signs @ self.sums))


def summed(groups: Rows, cells: Rows, amounts: Floats, shape: tuple[int, int]) -> "Floats | csr_array":
    """Sums of amounts (m,) by their groups and cells (m,), as (G, C); sparse if that is large."""
    if shape[0] * shape[1] <= DENSE:
        return np.bincount(groups * shape[1] + cells, amounts, shape[0] * shape[1]).reshape(shape)
    from scipy.sparse import csr_array  # slow to import, and small problems do not need it

    return csr_array((amounts, (groups, cells)), shape=shape)


@final
@dataclass(frozen=True, eq=False)
class GroupProducts:
    """A sum over pairs of groups: wᵀ Q w for signs w."""

    #: (G, G): Q: sum over the pairs of instances of two groups, divided by the number of all pairs
    products: "Floats | csr_array"

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G)."""
        return np.asarray(((signs @ self.products) * signs).sum(axis=1))


# Binned calibration errors: expected and maximum calibration error, with one-sided, signed and debiased forms.

Labels = NDArray[np.intp]
Norm = Literal["l1", "l2", "squared", "max"]
Direction = Literal["both", "over", "under", "signed"]
Combine = Callable[[CalibrationBins, Floats, Floats | None], Floats]

HALF_NORMAL_MEAN = float(np.sqrt(2 / np.pi))


@final
@dataclass(frozen=True, eq=False)
class PreparedBins:
    """Bins of the probabilities, with the rule that combines their counts into one number."""

    bins: CalibrationBins
    #: maps the bins, the excess of expected over observed counts in them (..., B) or (..., K, B), and the sums of squared
    #: deviations or None, to the measure (...). It may overwrite the excess.
    combine: Combine
    squared: bool = False  #: whether the rule needs the squared deviations

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
    Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning; credal calibration,
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

    Notes
    -----
    With many classes most probabilities are near 0, where gaps are small, so the value falls with K. With 100 classes, judge
    it only against the value of a calibrated classifier (`uqassay.calibration.calibration_test`).

    References
    ----------
    Kull et al. (2019), Beyond temperature scaling; credal calibration, equation 4.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> print(classwise_calibration_error([0, 1, 1, 1], probs).round(6))
    0.25
    """
    check_bins(n_bins, binning)
    _check_options(norm, direction, debiased, sample_weight)
    if direction == "signed":
        fail(
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
    """Factory of `PreparedBins` for one of these measures, with its options; by "event" it is that of the last class."""

    by: Literal["confidence", "classwise", "event"]
    n_bins: int = 10
    binning: Binning = "width"
    norm: Norm = "l1"
    debiased: bool = False

    def __call__(self, probs: Floats) -> PreparedBins:
        """Bins of probabilities (..., n, K)."""
        of = {"confidence": bins_of_confidence, "classwise": bins_of_classes, "event": bins_of_last_class}[self.by]
        bins = of(probs, self.n_bins, self.binning)
        return PreparedBins(bins, partial(error_of_excess, norm=self.norm), self.debiased)

    def values(self, probs: Floats, labels: Labels) -> Floats:
        """The measure of probabilities (..., n, K) for labels (..., n); leading axes broadcast."""
        compiled, by_class = kernel("bin_errors"), np.swapaxes(probs, -1, -2)
        usual = self.binning == "width" and self.norm == "l1" and not self.debiased and self.by != "event"
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
    one_of(norm, "norm", ("l1", "l2", "squared", "max"))
    one_of(direction, "direction", ("both", "over", "under", "signed"))
    if direction == "signed" and norm not in ("l1", "max"):
        fail(
            "direction",
            'can be "signed" only with the norm "l1" or "max"',
            f"got norm {norm!r}",
            'use norm="l1": squares have no sign',
            code="missing",
        )
    if not debiased:
        return
    if norm not in ("l1", "squared"):
        fail(
            "debiased",
            'can be set only with the norm "l1" or "squared"',
            f"got norm {norm!r}",
            'use norm="squared": a debiased square can be negative and has no root, and a maximum has no debiased form',
            code="conflict",
        )
    if direction != "both":
        remedy = "leave one of the two out"
        fail("debiased", 'can be set only with direction "both"', f"got {direction!r}", remedy, code="conflict")
    if sample_weight is not None:
        remedy = "leave one of the two out: a weighted instance is not several independent ones"
        fail("debiased", "cannot be combined with sample_weight", "got both", remedy, code="conflict")


# Inverted test of a binned calibration error: which errors could have given the gaps that were found?
#
# The true gaps are taken to be a multiple of those found. For each multiple, the bin sums are drawn as if it were true,
# and the error of the draws is compared with the error found. With the multiple 0 the classifier is calibrated, so the
# draws have its distribution, a mixture of chi-squares for squares; with large multiples they have the normal
# distribution of a miscalibrated one. One interval therefore serves both.

Mask = NDArray[np.bool_]

FEW_GROUPS = 200  # more are drawn as normal sums, fewer by their signs
HALVINGS = 10  # of the bracket of a multiple
DOUBLINGS = 12  # of a multiple, until the gaps reach their limits
SAME = 1e-9  # errors this close are equal
LUCK = 0.1  # least share of calibrated data sets with as small an error that the upper end takes into account
UNSURE = 0.25  # share of the variance of a gap that is added to its square, so that no gap is taken to be exactly 0


@final
@dataclass(frozen=True, eq=False)
class BinnedHits:
    """Sums in the filled bins."""

    place: Rows  #: (n,): filled bin of each instance
    difference: Floats  #: (n,): confidence minus hit, d, times the weight
    weights: Floats  #: (n,): 1, or weights whose sum is the effective number of instances
    #: (B,): number of instances (sum of the weights), sum of the confidences, and sum of d in each bin
    size: Floats
    expected: Floats
    excess: Floats
    chance: Floats  #: (B,): sum of w² c (1 − c): the variance of the sum of d if the classifier is calibrated
    binary: bool  #: whether every hit is 0 or 1

    @property
    def n(self) -> int:
        """Number of instances."""
        return len(self.place)

    @property
    def total(self) -> float:
        """Sum of the weights; n where there are none."""
        return float(self.size.sum())

    def error(self, sums: Floats, norm: str) -> Floats:
        """Σ |E_b| / n, or Σ E_b² / (n_b n), of bin sums (..., B)."""
        if norm == "l1":
            return np.asarray(np.abs(sums) @ np.full(len(self.size), 1 / self.total))
        return np.asarray(sums**2 @ (1 / (self.size * self.total)))


def binned_hits(hits: Floats, confidence: Floats, place: Rows, weights: Floats | None = None) -> BinnedHits:
    """Sums over the bins at `place` (n,), leaving out empty ones."""
    filled, at = np.unique(place, return_inverse=True)
    at, n_bins = at.reshape(-1), len(filled)

    def over_bins(amounts: Floats | None = None) -> Floats:
        return np.bincount(at, amounts, n_bins).astype(np.float64, copy=False)

    d = confidence - hits
    binary = bool(((hits == 0) | (hits == 1)).all())
    chance = confidence * (1 - confidence)
    w = np.ones(len(d))
    if weights is not None:
        w = weights * (effective_number(weights, len(d)) / weights.sum())
        d, confidence, chance = w * d, w * confidence, w**2 * chance
    sums = (over_bins(None if weights is None else w), over_bins(confidence), over_bins(d))
    return BinnedHits(at, d, w, *sums, np.maximum(over_bins(chance), 0.0), binary)


class DrawnSums(Protocol):
    """Bin sums of d for given true gaps."""

    independent: ClassVar[bool]

    @property
    def variance(self) -> Floats:
        """Variance of the bin sums (B,), at the gaps found or without gaps."""
        ...

    def sums(self, gaps: Floats) -> Floats:
        """Draws (D, B) of the bin sums if the true gaps are these (B,)."""
        ...

    def spread_of_sizes(self, terms: Floats) -> float:
        """Standard deviation of Σ_b n_b terms_b / n as the shares n_b / n of the bins vary, for terms (B,)."""
        ...


# -- draws ------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class _OfInstances:
    """Independent instances: hits are Bernoulli variables, other hits have the variance found."""

    independent: ClassVar[bool] = True
    bins: BinnedHits
    normal: Floats  # (D, B)
    bent: Floats  # (D, B) normal² − 1
    squares: Floats  # (B,) sums of d²

    @property
    def variance(self) -> Floats:
        return np.maximum(self.bins.chance, 1.0)

    def sums(self, gaps: Floats) -> Floats:
        b = self.bins
        if not b.binary:
            variance = np.maximum(self.squares - 2 * gaps * b.excess + b.size * gaps**2, 0.0)
            return np.asarray(b.size * gaps + self.normal * np.sqrt(variance))
        # each instance has the accuracy c − gap; the sum of their variances needs sums over bins only
        variance = np.maximum(b.chance + gaps * (2 * b.expected - b.size) - b.size * gaps**2, 0.0)
        mean = b.expected - b.size * gaps
        skewed = np.where(
            variance > 0, (1 - 2 * mean / b.size) / 6, 0.0
        )  # Cornish-Fisher: third cumulant over the variance
        hits = self.normal * np.asarray(variance) ** 0.5
        hits += self.bent * skewed
        hits += mean
        np.rint(hits, out=hits)
        np.maximum(hits, 0.0, out=hits)
        np.minimum(hits, b.size, out=hits)
        return np.subtract(b.expected, hits, out=hits)

    def spread_of_sizes(self, terms: Floats) -> float:
        mean = float(self.bins.size @ terms) / self.bins.n
        return float(np.sqrt(self.bins.size @ (terms - mean) ** 2)) / self.bins.n


@final
@dataclass(frozen=True, eq=False)
class _OfGroups:
    """Whole groups: signs of their deviations from the gaps (few), or normal sums with their covariance (many)."""

    independent: ClassVar[bool] = False
    size: Floats  # (B,)
    excess: Floats  # (B,)
    signed: tuple[Floats, Floats] | None  # (D, B) each: signs times the groups' sums of d, and times their sizes
    normal: Floats | None  # (D, B)
    moments: tuple[Floats, Floats, Floats]  # (B, B): SᵀS, SᵀN, NᵀN

    @property
    def variance(self) -> Floats:
        gaps = self.excess / self.size
        ss, sn, nn = (np.diagonal(each) for each in self.moments)
        return np.asarray(ss - 2 * gaps * sn + gaps**2 * nn)

    def sums(self, gaps: Floats) -> Floats:
        return np.asarray(self.size * gaps + self._deviations(gaps))

    def _deviations(self, gaps: Floats) -> Floats:
        if self.signed is not None:
            return np.asarray(self.signed[0] - self.signed[1] * gaps)
        assert self.normal is not None
        ss, sn, nn = self.moments
        cross = sn * gaps
        covariance = ss - cross - cross.T + nn * np.outer(gaps, gaps)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.asarray(np.maximum(values, 0.0)) ** 0.5
        return np.asarray(self.normal @ root.T)

    def spread_of_sizes(self, terms: Floats) -> float:
        n = float(self.size.sum())
        centred = terms - float(self.size @ terms) / n
        return max(float(centred @ self.moments[2] @ centred), 0.0) ** 0.5 / n


def drawn_of_instances(bins: BinnedHits, n_draws: int, rng: np.random.Generator) -> DrawnSums:
    """Draws for independent instances."""
    squares = np.asarray(np.bincount(bins.place, bins.difference**2, len(bins.size)), dtype=np.float64)
    normal = rng.standard_normal((n_draws, len(bins.size)))
    return _OfInstances(bins, normal, normal**2 - 1, squares)


def drawn_of_groups(bins: BinnedHits, groups: Rows, n_groups: int, n_draws: int, rng: np.random.Generator) -> DrawnSums:
    """Draws for whole groups, numbered 0 … G − 1."""
    shape = (n_groups, len(bins.size))
    sums = summed(groups, bins.place, bins.difference, shape)
    sizes = summed(groups, bins.place, bins.weights, shape)
    ss, sn, nn = (_dense(a.T @ b) for a, b in ((sums, sums), (sums, sizes), (sizes, sizes)))
    if n_groups <= FEW_GROUPS:
        signs = 2.0 * rng.integers(0, 2, (n_draws, n_groups)) - 1.0
        return _OfGroups(bins.size, bins.excess, (_dense(signs @ sums), _dense(signs @ sizes)), None, (ss, sn, nn))
    return _OfGroups(bins.size, bins.excess, None, rng.standard_normal((n_draws, len(bins.size))), (ss, sn, nn))


def _dense(matrix: object) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


# -- inversion --------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Inversion:
    """The errors that a two-sided test does not reject."""

    bins: BinnedHits
    drawn: DrawnSums
    norm: str  #: "l1" or "squared"
    shaken: Floats  #: (D,): standard normal draws for the shares of the bins

    @property
    def found(self) -> float:
        """The error found, with the part that noise adds."""
        return float(self.bins.error(self.bins.excess, self.norm))

    def of_calibrated(self) -> float:
        """Mean error found of a calibrated classifier."""
        return float(self.bins.error(self.drawn.sums(np.zeros(len(self.bins.size))), self.norm).mean())

    def interval(self, level: float) -> tuple[float, float]:
        """Least and greatest error that is not rejected at (1 − level) / 2 on its side."""
        tail = (1 - level) / 2
        return self._low(tail), self._high(tail)

    def _patterns(self) -> list[Mask]:
        """Signs that the true gaps may have, True for too confident; a gap that can be noise may have either sign."""
        b = self.bins
        found, noise = b.excess > 0, b.excess**2 <= 4 * self.drawn.variance
        if self.drawn.independent:
            # the bins of a sure classifier that makes no error are clipped at once on the side found: take the side with room
            return [np.where(noise, b.expected > 0.5 * b.size, found)]
        return [found, found | noise, found & ~noise]  # with groups the errors of bins go together

    def _gaps(self, multiple: float, pattern: Mask) -> Floats:
        """True gaps of this multiple, at most so large that accuracies stay in [0, 1]."""
        b = self.bins
        confidence = b.expected / b.size
        unsure = UNSURE * (b.chance + 1) / (b.size + 1) ** 2  # "+ 1": a bin of certain hits is not certain
        length = np.asarray((b.excess / (b.size + 1)) ** 2 + unsure) ** 0.5
        return np.clip(multiple * np.where(pattern, length, -length), np.minimum(confidence - 1, 0.0), confidence)

    def _at(self, multiple: float, pattern: Mask) -> tuple[float, Floats]:
        """The true error of a multiple of the gaps, and draws of the error found (D,)."""
        gaps = self._gaps(multiple, pattern)
        truth = float(self.bins.error(self.bins.size * gaps, self.norm))
        terms = np.abs(gaps) if self.norm == "l1" else gaps**2
        draws = self.bins.error(self.drawn.sums(gaps), self.norm)
        return truth, draws + self.drawn.spread_of_sizes(terms) * self.shaken

    def _low(self, tail: float) -> float:
        found, pattern = self.found, self._patterns()[0]

        def rejected(multiple: float) -> bool:
            draws = self._at(multiple, pattern)[1]
            return bool((1 + (draws >= found - SAME).sum()) / (1 + len(draws)) < tail)

        if not rejected(0.0):
            return 0.0
        return self._at(_last(rejected), pattern)[0]

    def _high(self, tail: float) -> float:
        return max(self._high_of(tail, pattern) for pattern in self._patterns())

    def _high_of(self, tail: float, pattern: Mask) -> float:
        found = self.found

        def reached(multiple: float) -> float:
            draws = self._at(multiple, pattern)[1]
            return float((1 + (draws <= found + SAME).sum()) / (1 + len(draws)))

        # Gaps that are small by luck would give an end near 0, or none: the share among calibrated data sets with gaps as small
        # counts (Read 2002), which makes the interval wider near 0 and nowhere else
        least = tail * max(reached(0.0), LUCK)
        return self._at(_last(lambda multiple: reached(multiple) >= least), pattern)[0]


def _last(holds: Callable[[float], bool]) -> float:
    """The greatest multiple for which a statement still holds; it holds for 0."""
    low, high = 0.0, 1.0
    for _ in range(DOUBLINGS):
        if not holds(high):
            break
        low, high = high, 2 * high
    else:
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


# Binned calibration errors with a confidence interval that holds for calibrated and for miscalibrated classifiers.

ErrorNorm = Literal["l1", "l2", "squared"]

NORMS = ("l1", "l2", "squared")
N_DRAWS = 999
WORDS = {"width": "equal-width", "mass": "equal-mass"}


@in_one_order("probs", "y_true", "groups")
def calibration_error_estimate(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    norm: ErrorNorm = "l1",
    n_bins: int = 10,
    binning: Binning = "width",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """Calibration error of the confidence in bins, with a confidence interval.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken. The confidence is the greatest of a row; of equally probable classes
        the first is predicted. Two classes are thereby folded at ½: a probability of .2 counts as a confidence of .8 in the
        other class. `Answers` judges a confidence on its whole scale.
    norm : {"l1", "l2", "squared"}
        With the true gap g_b = confidence − accuracy of bin b and its share w_b of the instances: "l1" Σ w_b |g_b|, the
        expected calibration error; "squared" Σ w_b g_b²; "l2" its root.
    n_bins : int
    binning : {"width", "mass"}
        As in `confidence_calibration_error`. The interval takes bins of equal mass as given.
    groups : array (n,), optional
        Whole groups (patients, sites, videos) are the units.
    level : float
        Confidence level.
    rng : int or numpy Generator, optional
        Random state of the draws; None means seed 0.

    Returns
    -------
    Estimate
        The value for "l1" is that of `confidence_calibration_error`, which noise makes too large: a note ("bias") gives the
        value that a calibrated classifier has on average on these instances. The value for "squared" is the debiased one; for
        "l2" the root of it, and 0 with a note ("edge") if it is negative. With groups the debiased value takes pairs of
        instances of different groups only. The interval always includes the value and is nan for a single group.

    Notes
    -----
    The interval is for the error in these bins, which is at most the error without bins. It is an inverted test: it keeps an
    error if neither more nor less than a share (1 − level) / 2 of draws from it reach the value found. The draws take the
    true gaps as a multiple t of the gaps found. Their hits are Bernoulli variables with the probabilities c − t g, so that
    t = 0 gives the exact distribution of a calibrated classifier up to an expansion of the binomial distribution: for squares
    a mixture of chi-squares at the rate 1 / n. At t > 0 the error is approximately normal at the rate 1 / √n. The lower end
    is 0 where calibration is not rejected. The upper end takes the share of draws relative to that of a calibrated
    classifier (Read 2002), so that gaps that are small by luck do not make it small. Groups are drawn by random signs of
    their deviations from the gaps; more than 200 groups as normal sums with the covariance of the bins.

    Sun, Chaudhari, Barnett and Dobriban (2024) have two limits for a growing number of bins and choose between them by a test.
    Here the number of bins is fixed, and one family of distributions has both limits.

    The taken direction of the gaps matters little for squares, and more for "l1" with a small error in many bins
    (docs/evidence-calibration.md has the measured coverage).

    References
    ----------
    Sun, Chaudhari, Barnett, Dobriban (2024), A confidence interval for the l2 expected calibration error; Kumar, Liang, Ma
    (2019), Verified uncertainty calibration (debiased squares); Read (2002), Presentation of search results: the CLs technique.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> p = rng.uniform(0.5, 1, 400)
    >>> y = (rng.random(400) < p - 0.1).astype(int)  # the truth is .1 lower
    >>> error = calibration_error_estimate(y, np.stack([1 - p, p], axis=1))
    >>> round(error, 3), error.low < 0.1 < error.high, error.notes[0].code
    (0.123, True, 'bias')
    """
    one_of(norm, "norm", NORMS)
    check_bins(n_bins, binning)
    check_level(level)
    labels, checked = labels_and_probs(y_true, probs)
    bins = bins_of_confidence(checked, int(n_bins), binning)
    hits = np.asarray(bins.event == labels, dtype=np.float64)
    found = binned_hits(hits, bins.values, bins.place.astype(np.intp))
    return _estimate(found, norm, make_units(len(labels), groups, None), level, _method(n_bins, binning), rng)


def error_estimate_of_hits(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    norm: ErrorNorm = "l1",
    n_bins: int = 10,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """The same from hits (n,), or shares in between, and confidences (n,), in bins of equal width. For other rooms.

    Examples
    --------
    >>> error_estimate_of_hits([1, 0, 1, 1] * 20, [0.75] * 80)
    ... # doctest: +ELLIPSIS
    Estimate(0, low=0, high=0.1..., level=0.95, n=80, method='inverted test, 10 equal-width bins', notes=['...'])
    """
    bins, hits = bins_of_hits(correct, confidence, n_bins)
    units = make_units(len(hits), groups, sample_weight)
    return error_estimate_of_bins(bins, hits, units, norm=norm, level=level, rng=rng)


def error_estimate_of_bins(
    bins: CalibrationBins,
    hits: Floats,
    units: Units,
    *,
    norm: ErrorNorm = "l1",
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """The same from bins of equal width of the confidence, hits (n,) and their units."""
    place = bins.place.astype(np.intp)
    if units.rows is not None:
        place = place[units.rows]
    found = binned_hits(units.keep(hits), units.keep(bins.values), place, units.weights)
    return _estimate(found, norm, units, level, _method(bins.n_bins, "width"), rng)


def _method(n_bins: int, binning: Binning) -> str:
    return f"inverted test, {int(n_bins)} {WORDS[binning]} bin{'s' if n_bins > 1 else ''}"


def _estimate(
    bins: BinnedHits,
    norm: ErrorNorm,
    units: Units,
    level: float,
    method: str,
    rng: int | np.random.Generator | None,
) -> Estimate:
    value, notes = _value(bins, norm, units)
    notes += unit_notes(units)
    low = high = np.nan
    if units.n_units == 1 and not is_plain(units):
        notes.append(single_unit(units))
    elif not np.isnan(value):
        inversion = _inversion(bins, norm, units, generator(rng))
        low, high = inversion.interval(level)
        if norm == "l2":
            low, high = low**0.5, high**0.5
        low, high = min(low, value), max(high, value)
        if norm == "l1":
            calibrated = inversion.of_calibrated()
            text = f"noise is included: a calibrated classifier has {written(calibrated, 3)} on average on these cases"
            notes.insert(0, Note("bias", text, {"calibrated": calibrated}))
    return Estimate(value, low=low, high=high, level=level, n=bins.n, method=method, notes=notes)


def _inversion(bins: BinnedHits, norm: ErrorNorm, units: Units, rng: np.random.Generator) -> Inversion:
    shaken = rng.standard_normal(N_DRAWS)
    if is_plain(units):
        drawn = drawn_of_instances(bins, N_DRAWS, rng)
    else:
        drawn = drawn_of_groups(bins, _codes(units), units.n_units, N_DRAWS, rng)
    return Inversion(bins, drawn, "l1" if norm == "l1" else "squared", shaken)


def _value(bins: BinnedHits, norm: ErrorNorm, units: Units) -> tuple[float, list[Note]]:
    if norm == "l1":
        return float(bins.error(bins.excess, "l1")), []
    squared = _debiased_square(bins, units)
    if np.isnan(squared):
        what = "groups" if units.codes is not None else "cases"
        return squared, [Note("undefined", f"no bin has two {what}")]
    if norm == "squared":
        return squared, []
    if squared < 0:
        return 0.0, [Note("edge", "the debiased square is below 0, as it can be for a calibrated classifier")]
    return squared**0.5, []


def _debiased_square(bins: BinnedHits, units: Units) -> float:
    """Σ_b w_b × the mean of d d′ over the pairs of different units of bin b; nan without a pair."""
    n_bins = len(bins.size)
    if is_plain(units):
        own, own_pairs = np.bincount(bins.place, bins.difference**2, n_bins), bins.size
    else:
        shape = (units.n_units, n_bins)
        sums = summed(_codes(units), bins.place, bins.difference, shape)
        sizes = summed(_codes(units), bins.place, bins.weights, shape)
        own, own_pairs = (np.asarray((x * x).sum(axis=0)).reshape(-1) for x in (sums, sizes))
    pairs = bins.size**2 - own_pairs
    some = pairs > 0.5
    if not some.any():
        return float("nan")
    means = (bins.excess**2 - own)[some] / pairs[some]
    return float(bins.size[some] @ means) / bins.total


def _codes(units: Units) -> Rows:
    """Unit of each instance."""
    return np.arange(units.n_instances) if units.codes is None else units.codes


# Cumulative calibration errors: the greatest difference of observed and expected events up to some probability.

Notion = Literal["confidence", "classwise"]
Statistic = Literal["ks", "kuiper"]


@in_one_order("probs", "y_true")
def cumulative_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    by: Notion = "confidence",
    statistic: Statistic = "ks",
    batched: bool = False,
) -> np.float64 | Floats:
    """Greatest difference of observed and expected events among the instances with probabilities up to some value.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    by : {"confidence", "classwise"}
        The event "the predicted class is right", ordered by confidence; or "the label is class k", ordered by the probability
        of class k, averaged over the classes. Of equally probable classes the first is predicted.
    statistic : {"ks", "kuiper"}
        With C(t) = Σ_{p_i ≤ t} (p_i − y_i) / n: the greatest |C(t)|, as in the test of Kolmogorov and Smirnov; or the range
        max(C, 0) − min(C, 0), the greatest difference over any interval of probabilities.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast.

    Notes
    -----
    If all bins are too confident, or all are not confident enough, the values by confidence are |mean confidence − accuracy|,
    and so is the ECE. Chance adds less to them than to the ECE, because they have no bins.

    References
    ----------
    Gupta et al. (2021), Calibration of neural networks using splines; Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu (2022),
    Metrics of calibration for probabilistic predictions.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> print(cumulative_calibration_error([0, 1, 1, 1], probs).round(6))
    0.075
    """
    one_of(by, "by", ("confidence", "classwise"))
    one_of(statistic, "statistic", ("ks", "kuiper"))
    labels, checked = labels_and_probs(y_true, probs, batched=batched)
    return PrepareCumulative(by, statistic)(checked).values(labels)[()]


@final
@dataclass(frozen=True)
class PrepareCumulative:
    """Factory of the measure for many labels; by "event" it is that of the last class."""

    by: Notion | Literal["event"] = "confidence"
    statistic: Statistic = "ks"

    def __call__(self, probs: Floats) -> "PreparedConfidence | PreparedClasses":
        """Order probabilities (..., n, K)."""
        if self.by == "classwise":
            return PreparedClasses.of(np.ascontiguousarray(np.swapaxes(probs, -1, -2)), self.statistic)
        if self.by == "event":
            order, rising, ends = _ordered(probs[..., -1])
            return PreparedConfidence(np.full_like(order, probs.shape[-1] - 1), order, rising, ends, self.statistic)
        return PreparedConfidence.of(probs, self.statistic)


@final
@dataclass(frozen=True, eq=False)
class PreparedConfidence:
    """Confidences in rising order."""

    event: Labels  #: (..., n): predicted class of each instance
    order: Labels  #: (..., n): instances in rising order of confidence
    rising: Floats  #: (..., n): their confidences
    #: (..., n): whether the next confidence is greater: between equal ones C(t) is not evaluated
    ends: NDArray[np.bool_]
    statistic: Statistic

    @classmethod
    def of(cls, probs: Floats, statistic: Statistic) -> "PreparedConfidence":
        """Order the greatest probabilities of (..., n, K)."""
        order, rising, ends = _ordered(probs.max(axis=-1))
        return cls(argmax_of_rows(probs), order, rising, ends, statistic)

    def values(self, labels: Labels) -> Floats:
        """The measure for labels (..., n)."""
        errors = kernel("cumulative_errors")
        if errors is not None and self.order.ndim == 1 and not np.isnan(self.rising[-1]):
            draws = np.ascontiguousarray(labels, dtype=np.int64).reshape(-1, len(self.order))
            found = errors(self.event, self.order, self.rising, self.ends, draws, self.statistic == "kuiper")
            return np.asarray(found).reshape(labels.shape[:-1])
        happened = self.event == labels
        if self.order.ndim == 1:  # one order for all draws of labels
            happened = happened.take(self.order, axis=-1)
        else:
            happened = np.take_along_axis(happened, np.broadcast_to(self.order, happened.shape), axis=-1)
        return self._greatest(self.rising - happened)

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The measure as a function of the groups' deviations at each confidence."""
        own = np.ascontiguousarray(groups[self.order], dtype=np.int64)

        def of(labels: Labels) -> OrderedDeviations:
            deviations = self.rising - (self.event == labels)[self.order]
            return OrderedDeviations(own, deviations, self.ends, self.statistic)

        return of

    def _greatest(self, deviations: Floats) -> Floats:
        return _greatest(deviations, self.ends, self.statistic)


@final
@dataclass(frozen=True, eq=False)
class OrderedDeviations:
    """Confidence minus hit in rising order of the confidence, as a function of the signs of the groups."""

    groups: Labels  #: (n,): group 0 … G − 1 of each
    deviations: Floats  #: (n,)
    ends: NDArray[np.bool_]  #: (n,): as in `PreparedConfidence`
    statistic: Statistic

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G)."""
        errors = kernel("signed_errors")
        if errors is not None and not np.isnan(self.deviations[-1]):  # undefined confidences come last
            given = np.ascontiguousarray(signs, dtype=np.float64)
            return np.asarray(errors(self.groups, self.deviations, self.ends, given, self.statistic == "kuiper"))
        return _greatest(signs[:, self.groups] * self.deviations, self.ends, self.statistic)


@final
@dataclass(frozen=True, eq=False)
class PreparedClasses:
    """Probabilities of every class in rising order."""

    by_class: Floats  #: (..., K, n)
    below: Labels  #: (..., K, n): number of smaller probabilities of the same class
    #: (..., K, n): at place j: the sum of the j smallest probabilities of the class; and the sum with all that equal the next
    #: one
    before: Floats
    until: Floats
    total: Floats  #: (..., K): sum of the probabilities of the class
    statistic: Statistic

    @classmethod
    def of(cls, by_class: Floats, statistic: Statistic) -> "PreparedClasses":
        """Order probabilities (..., K, n)."""
        order, rising, ends = _ordered(by_class)
        cumulated = np.cumsum(rising, axis=-1)
        places = np.arange(by_class.shape[-1])
        first = np.ones_like(ends)
        first[..., 1:] = ends[..., :-1]
        start = np.maximum.accumulate(np.where(first, places, 0), axis=-1)
        # the place of the last equal one: the least end from here on
        stop = np.minimum.accumulate(np.where(ends, places, len(places))[..., ::-1], axis=-1)[..., ::-1]
        below = np.empty_like(order)
        np.put_along_axis(below, order, start, axis=-1)
        until = np.take_along_axis(cumulated, stop, axis=-1)
        return cls(by_class, below, cumulated - rising, until, cumulated[..., -1], statistic)

    def values(self, labels: Labels) -> Floats:
        """The measure for labels (..., n).

        Between two events of a class the observed count stands still while the expected one rises, so C is greatest just before
        an event, or at the end, and least just after one. Only these n places are evaluated, instead of K n.
        """
        n_classes, n = self.by_class.shape[-2:]
        own = self.by_class.shape[:-2]
        lead = np.broadcast_shapes(own, labels.shape[:-1])
        sets = np.arange(int(np.prod(own, dtype=np.intp))).reshape(*own, 1) * n_classes
        rows = sets + labels  # number of the class over all sets of probabilities
        keys = np.sort(rows * n + self.below.reshape(-1).take(rows * n + np.arange(n)), axis=-1)
        rows = keys // n
        counts = _bincount(rows - np.broadcast_to(sets, rows.shape), n_classes).reshape(*lead, n_classes)
        earlier = np.cumsum(counts, axis=-1) - counts  # events of classes with smaller numbers
        classes = (rows - sets).reshape(-1, n)
        seen = np.arange(n) - np.take_along_axis(earlier.reshape(-1, n_classes), classes, axis=1).reshape(*lead, n)
        at = classes + np.arange(len(classes))[:, np.newaxis] * n_classes
        greatest = np.maximum(self.total - counts, 0.0).reshape(-1)
        least = np.minimum(self.total - counts, 0.0).reshape(-1)
        np.maximum.at(greatest, at.ravel(), (self.before.reshape(-1).take(keys) - seen).ravel())
        np.minimum.at(least, at.ravel(), (self.until.reshape(-1).take(keys) - (seen + 1)).ravel())
        found = greatest - least if self.statistic == "kuiper" else np.maximum(greatest, -least)
        return found.reshape(*lead, n_classes).mean(axis=-1) / n

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The measure as a function of the groups' deviations at each probability of each class."""
        n_classes, n = self.by_class.shape
        order, rising, ends = _ordered(self.by_class)
        own = groups[order].ravel()
        places = np.arange(n_classes * n)

        def value(sums: Floats) -> Floats:
            return _greatest(sums.reshape(len(sums), n_classes, n), ends, self.statistic).mean(axis=-1)

        def of(labels: Labels) -> GroupSums:
            happened = labels[order] == np.arange(n_classes)[:, np.newaxis]
            return GroupSums(summed(own, places, (rising - happened).ravel(), (n_groups, n_classes * n)), value)

        return of


def _ordered(values: Floats) -> tuple[Labels, Floats, NDArray[np.bool_]]:
    """Order of values (..., n), the values in this order, and whether the next one is greater."""
    order = np.argsort(values, axis=-1, kind="stable")
    rising = np.take_along_axis(values, order, axis=-1)
    ends = np.ones(values.shape, dtype=np.bool_)
    ends[..., :-1] = rising[..., 1:] > rising[..., :-1]
    return order, rising, ends


def _greatest(deviations: Floats, ends: NDArray[np.bool_], statistic: Statistic) -> Floats:
    """The statistic of deviations in rising order of the probabilities, (..., n) -> (...)."""
    n = deviations.shape[-1]
    sums = np.cumsum(deviations, axis=-1)
    if not ends.all():
        sums = np.where(ends, sums, 0.0)  # C starts at 0, so 0 changes nothing
    if statistic == "ks":
        return np.abs(sums).max(axis=-1) / n
    return (np.maximum(sums.max(axis=-1), 0.0) - np.minimum(sums.min(axis=-1), 0.0)) / n


def _bincount(values: Labels, size: int) -> Labels:
    """Counts of the numbers 0 … size − 1 in each row, (..., n) -> (rows, size)."""
    rows = values.reshape(-1, values.shape[-1])
    at = rows + np.arange(len(rows))[:, np.newaxis] * size
    return np.bincount(at.ravel(), minlength=len(rows) * size).reshape(len(rows), size)


# The Hosmer-Lemeshow statistic for several classes.

Form = Literal["counts", "proportions"]
Bins = Literal["classwise", "common"]

LEAST = 5e-324  # the smallest number above 0
SLACK = 1e-5  # relative; sums in single precision that are this close to the limit have reached it


@in_one_order("probs", "y_true")
def hosmer_lemeshow_statistic(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    n_bins: int = 5,
    form: Form = "counts",
    bins: Bins = "classwise",
    least_expected: float = 0.0,
    batched: bool = False,
) -> np.float64 | Floats:
    """Squared differences of observed and expected counts, divided by the expected counts, in equally full bins.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    n_bins : int
        Number of bins for each class.
    form : {"counts", "proportions"}
        Σ (O − E)² / E with counts of events, which is approximately chi-squared for a calibrated classifier; or with O and E
        divided by the number of instances in the bin, as printed in the paper on credal calibration, equation 2.
    bins : {"classwise", "common"}
        Equally full bins of the probability of each class; or the bins of class 0 for all classes.
    least_expected : float
        Bins of a class that expect fewer events are merged with the next ones, in rising order of the probability; only with
        counts. With sharp probabilities the first bins expect almost none. The rare event there adds 1 / E, so that the
        statistic has a heavy tail: labels of an underconfident classifier, which avoid these bins, are then never rejected.
        The measure "hosmer-lemeshow" takes 1.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast.

    Returns
    -------
    float, or array of the shape of the leading axes of a batch
        +inf if an event occurred in a bin where all its probabilities are 0. A bin with probabilities 0 and no event adds 0,
        as does an empty bin.

    References
    ----------
    Hosmer, Lemeshow (1980), Goodness of fit tests for the multiple logistic regression model; Fagerland, Hosmer, Bofin
    (2008), Multinomial goodness-of-fit tests for logistic regression models; credal calibration, equation 2.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]]
    >>> print(hosmer_lemeshow_statistic([0, 1, 1, 1], probs, n_bins=2).round(4))
    0.881
    """
    check_bins(n_bins, "mass")
    one_of(form, "form", ("counts", "proportions"))
    one_of(bins, "bins", ("classwise", "common"))
    labels, checked = labels_and_probs(y_true, probs, batched=batched)
    check_least_expected(least_expected, form)
    return statistic_of_bins(bins_of_events(checked, int(n_bins), bins), labels, form, least_expected)[()]


@final
@dataclass(frozen=True)
class PrepareHosmerLemeshow:
    """Factory of `PreparedBins` for the statistic, with its options."""

    n_bins: int = 5
    binning: Binning = "mass"
    form: Form = "counts"
    least_expected: float = 0.0

    def __call__(self, probs: Floats) -> PreparedBins:
        """Bins of probabilities (..., n, K)."""
        combine = partial(statistic_of_excess, form=self.form, least_expected=self.least_expected)
        return PreparedBins(bins_of_classes(probs, self.n_bins, self.binning), combine)


def prepare_hosmer_lemeshow_paper_code(*, n_bins: int = 5) -> Callable[[Floats], PreparedBins]:
    """Factory of the statistic with the bins of the authors of credal calibration, and nan for 0 / 0."""
    return partial(prepare_bins, bins=partial(bins_of_ranks, n_bins=n_bins), combine=_unguarded)


def bins_of_events(probs: Floats, n_bins: int, bins: Bins) -> CalibrationBins:
    """Equally full bins of the events of one data set or of a batch."""
    return bins_of_classes(probs, n_bins, "mass") if bins == "classwise" else bins_of_first_class(probs, n_bins)


def check_least_expected(least_expected: float, form: str) -> None:
    """Refuse a negative number of events, or one that has no effect."""
    number(least_expected, "least_expected", "pass 1, or 0 for no merging", low=0, ends="[)")
    if least_expected and form != "counts":
        remedy = "leave one of the two out"
        fail("least_expected", "can be set only with counts", f"got form={form!r}", remedy, code="conflict")


def statistic_of_bins(bins: CalibrationBins, labels: Labels, form: Form, least_expected: float = 0.0) -> Floats:
    """Σ (O − E)² / E over bins and classes, (...)."""
    return statistic_of_excess(bins, bins.expected - bins.observed(labels), form=form, least_expected=least_expected)


def statistic_of_excess(
    bins: CalibrationBins,
    excess: Floats,
    squares: Floats | None = None,
    *,
    form: Form = "counts",
    least_expected: float = 0.0,
) -> Floats:
    """The statistic for E − O in each bin, (..., K, B) -> (...)."""
    return chi_squared(excess, bins.expected if form == "counts" else bins.expected * bins.size, least_expected)


def chi_squared(excess: Floats, by: Floats, least_expected: float = 0.0) -> Floats:
    """Σ (E − O)² / E for E − O and E in each bin, (..., K, B) -> (...)."""
    impossible: Floats | float = 0.0
    if least_expected:
        # an event that is impossible in its bin stays so in a merged one
        impossible = np.where(((by == 0) & (excess != 0)).any(axis=(-1, -2)), np.inf, 0.0)
        place = merged_bins(by, least_expected)
        excess, by = _merged(excess, np.broadcast_to(place, excess.shape)), _merged(by, place)
    with np.errstate(over="ignore"):
        # Nothing expected: 0 / tiny = 0 without events, and an overflow to +inf with events.
        terms = excess**2 / np.maximum(by, LEAST)
        return np.asarray(terms.reshape(*terms.shape[:-2], -1).sum(axis=-1) + impossible)


def merged_bins(expected: Floats, least: float) -> NDArray[np.intp]:
    """Number of the merged bin of each bin, (..., K, B): bins are joined in order until they expect as many events as `least`.

    The remainder at the end joins the last one.
    """
    place = np.zeros(expected.shape, dtype=np.intp)
    waiting, number = np.zeros(expected.shape[:-1]), np.zeros(expected.shape[:-1], dtype=np.intp)
    for b in range(expected.shape[-1]):
        place[..., b] = number
        waiting += expected[..., b]
        full = waiting >= least * (1 - SLACK)
        waiting[full] = 0.0
        number += full
    return np.minimum(place, np.maximum(number - 1, 0)[..., np.newaxis])


def _merged(values: Floats, place: NDArray[np.intp]) -> Floats:
    """Sums of values (..., K, B) over merged bins, with 0 in the bins that are left over."""
    n_bins = values.shape[-1]
    rows = np.arange(values.size // n_bins)[:, np.newaxis] * n_bins
    at = (rows + place.reshape(-1, n_bins)).ravel()
    return np.bincount(at, values.ravel(), values.size).astype(np.float64, copy=False).reshape(values.shape)


def _unguarded(bins: CalibrationBins, excess: Floats, squares: Floats | None = None) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = excess**2 / bins.expected
        return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1)
