"""Bins of predicted probabilities, with observed and expected numbers of events in each bin.

The bins and the expected counts depend only on the probabilities; the observed counts also depend on the labels. Bins are
therefore computed once for many mixtures of members and reused for many draws of labels, without a loop over either.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import CACHE_BYTES, SCRATCH_BYTES, row_chunks, scratch
from uqassay._kernels import kernel
from uqassay.errors import InputError
from uqassay.metrics.calibration.edges import inner_edges
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.statistics.samples import is_number

__all__ = [
    "Binning",
    "CalibrationBins",
    "bins_of_classes",
    "bins_of_classes_left_inclusive",
    "bins_of_confidence",
    "bins_of_first_class",
    "bins_of_groups",
    "bins_of_ranks",
    "bins_of_values",
    "check_bins",
    "sums_of_equal_mass",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Places = NDArray[np.integer]
Binning = Literal["width", "mass"]

MANY_EDGES = 24  # with so many edges a binary search is faster than comparing with each edge
BEYOND_ONE = 1e-8  # the last edge in the authors' code is 1 plus this
SLACK = 1e-12  # relative; a sum of weights this close to the share of a bin has reached it


@final
@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Bins for the events "the label is class k", or for the event "the label is the predicted class".

    Attributes
    ----------
    event : int array (..., n), or None
        Class whose probability is binned; None: every class has bins.
    values : array (..., n), or (..., K, n) for every class
        The probabilities.
    division : array of uint (..., n) or (..., K, n), or Edges
        Bin of each probability, or the edges that divide the bins.
    expected : array (..., B), or (..., K, B)
        Sum of the probabilities in each bin: the expected number of events.
    weights : array (n,) or None
        Weight of each instance; None: 1.
    """

    event: NDArray[np.integer] | None
    values: Floats
    division: "Places | Edges"
    expected: Floats
    weights: Floats | None = None

    @cached_property
    def place(self) -> Places:
        """Bin of each probability. Computed on demand, because `observed` may need only the bins of the observed classes."""
        return self.division.passed(self.values) if isinstance(self.division, Edges) else self.division

    @cached_property
    def size(self) -> Floats:
        """Number of instances in each bin, (..., B) or (..., K, B); computed on demand, since some measures do not need it."""
        return _sums(self.place, self.n_bins, self.weights)

    @cached_property
    def squares(self) -> Floats:
        """Sum of the squared probabilities in each bin, (..., B) or (..., K, B)."""
        squares = self.values**2
        return _sums(self.place, self.n_bins, squares if self.weights is None else squares * self.weights)

    @property
    def n(self) -> int:
        """Number of instances."""
        return self.values.shape[-1]

    @property
    def n_bins(self) -> int:
        """Number of bins B."""
        return self.expected.shape[-1]

    @property
    def total(self) -> float:
        """Number of instances, or the sum of their weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    def sums(self, amounts: Floats) -> Floats:
        """Sum of amounts (..., n), or (..., K, n), in each bin."""
        return _sums(self.place, self.n_bins, amounts)

    def observed(self, labels: Labels) -> Floats:
        """Number of events in each bin for labels (..., n); leading axes broadcast with those of the bins."""
        return self._over_events(labels, self.weights)

    def expected_at_events(self, labels: Labels) -> Floats:
        """Sum of the probabilities of the observed events in each bin, for labels (..., n)."""
        return self._over_events(labels, self.values if self.weights is None else self.values * self.weights)

    def _over_events(self, labels: Labels, amounts: Floats | None) -> Floats:
        """Sum of amounts (n,), (..., n) or (..., K, n) over the observed events in each bin; None: their number."""
        if self.event is not None:
            happened = self.event == labels
            place = np.broadcast_to(self.place, happened.shape)
            at = _numbered(place, self.n_bins).reshape(-1).compress(happened.reshape(-1))
            amounts = None if amounts is None else np.broadcast_to(amounts, happened.shape)[happened]
            rows = happened.shape[:-1]
            return _bincount(at, amounts, math.prod(rows) * self.n_bins).reshape(*rows, self.n_bins)
        own_lead = self.values.shape[:-2]
        lead = np.broadcast_shapes(own_lead, labels.shape[:-1])
        n_classes, n, n_bins = self.expected.shape[-2], self.n, self.n_bins
        counted = kernel("events_of_classes") if amounts is None and own_lead == () and math.prod(lead) > 1 else None
        if counted is not None and self.place.dtype in (np.uint8, np.uint16):
            draws = np.ascontiguousarray(labels, dtype=np.int64).reshape(-1, n)
            return np.asarray(
                counted(np.ascontiguousarray(self.place), draws, n_bins).reshape(*lead, n_classes, n_bins)
            )
        happened = _numbers(own_lead) * n_classes + labels  # row number of the class over all leading axes
        own = happened * n + np.arange(n)  # flat index of the probability of each observed class
        if isinstance(self.division, Edges) and math.prod(lead) <= math.prod(own_lead):
            place = self.division.passed(self.values.reshape(-1).take(own), happened)
        else:
            place = self.place.reshape(-1).take(own)
        if lead != own_lead:
            happened = labels + _numbers(lead) * n_classes
        at = happened * n_bins + place
        if amounts is not None:
            amounts = amounts if amounts.ndim == 1 else amounts.reshape(-1).take(own)
            amounts = np.broadcast_to(amounts, (*lead, n))
        counts = _bincount(at, amounts, math.prod(lead) * n_classes * n_bins)
        return counts.reshape(*lead, n_classes, n_bins)


@final
@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between bins of equal width or equal mass.

    Attributes
    ----------
    edges : array (B − 1,), or (B − 1, ...)
        In rising order; the same for all rows, or separate for each row.
    including : bool
        True if an edge belongs to the bin above it.
    """

    edges: Floats
    including: bool

    @property
    def compare(self) -> np.ufunc:
        """Comparison that is true if a value lies above an edge."""
        return np.greater_equal if self.including else np.greater

    def passed(self, values: Floats, rows: NDArray[np.intp] | None = None) -> Places:
        """Number of edges below each value (..., n); `rows` names the row of edges for each value."""
        shared = self.edges.ndim == 1
        if shared and len(self.edges) >= MANY_EDGES:
            return self.edges.searchsorted(values, side="right" if self.including else "left").astype(np.uint16)
        place = np.zeros(values.shape, dtype=np.uint8 if len(self.edges) < 2**8 else np.uint16)
        beyond = np.empty(values.shape, dtype=bool)
        for edge in self.edges:
            own = edge if shared else edge[..., np.newaxis] if rows is None else edge.reshape(-1).take(rows)
            self.compare(values, own, out=beyond)
            place += beyond.view(np.uint8)
        return place


# -- which bins -------------------------------------------------------------------------------------------------------


def bins_of_confidence(probs: Floats, n_bins: int, binning: Binning, weights: Floats | None = None) -> CalibrationBins:
    """Bins of the greatest probability (..., n, K); the first of equally probable classes is the predicted one."""
    n_classes, kind = probs.shape[-1], np.min_scalar_type(probs.shape[-1])
    greatest, event = np.empty(probs.shape[:-1]), np.empty(probs.shape[:-1], kind)
    for some in row_chunks(len(probs), probs[:1].nbytes, chunk_bytes=CACHE_BYTES):
        part = classes_apart(probs[some]) if probs.flags.c_contiguous else probs[some]
        greatest[some] = top = part.max(axis=-1)
        from_the_end = (part == top[..., np.newaxis]).view(np.uint8) * np.arange(n_classes, 0, -1, dtype=kind)
        event[some] = kind.type(n_classes) - from_the_end.max(axis=-1)
    return _binned(event, greatest, _edges(greatest, n_bins, binning, weights).passed(greatest), n_bins, weights)


def bins_of_classes(probs: Floats, n_bins: int, binning: Binning, weights: Floats | None = None) -> CalibrationBins:
    """Bins of the probability of every class (..., n, K), with separate edges for each class if they have equal mass."""
    by_class = np.swapaxes(probs, -1, -2)
    if weights is not None:
        return _binned(None, by_class, _edges(by_class, n_bins, binning, weights).passed(by_class), n_bins, weights)
    if binning == "width":
        return _of_equal_width(by_class, _edges(by_class, n_bins, binning, None))
    return CalibrationBins(None, by_class, *sums_of_equal_mass(by_class, n_bins))


def bins_of_values(values: Floats, n_bins: int, binning: Binning) -> CalibrationBins:
    """Bins of the probability of one event (..., n)."""
    place = _edges(values, n_bins, binning, None).passed(values)
    return _binned(np.zeros(values.shape, np.uint8), values, place, n_bins, None)


def bins_of_first_class(probs: Floats, n_bins: int) -> CalibrationBins:
    """Bins of equal mass for class 0, used for every class (..., n, K): the same instances share a bin in each class."""
    first = np.ascontiguousarray(probs[..., 0])
    return _in_common(np.swapaxes(probs, -1, -2), _edges(first, n_bins, "mass", None).passed(first), n_bins)


def bins_of_groups(probs: Floats, groups: NDArray[np.intp], weights: Floats | None = None) -> CalibrationBins:
    """Groups (..., n), numbered from 0, as bins for every class (..., n, K)."""
    return _in_common(np.swapaxes(probs, -1, -2), groups, int(groups.max()) + 1, weights)


def bins_of_ranks(probs: Floats, n_bins: int) -> CalibrationBins:
    """As `bins_of_first_class` in the code of paper 001's authors: bins by rank, which can separate equal values.

    The instances are sorted by 1 − p₀, taken from the end (of equal ones the last comes first), and cut into parts whose
    sizes differ by at most one; the first parts are the larger ones.
    """
    by_class = np.swapaxes(probs, -1, -2)
    n = by_class.shape[-1]
    order = np.argsort(1.0 - by_class[..., 0, :], axis=-1, kind="stable")[..., ::-1]
    part = np.repeat(np.arange(n_bins, dtype=np.uint16), [n // n_bins + (b < n % n_bins) for b in range(n_bins)])
    place = np.empty(order.shape, dtype=np.uint16)
    np.put_along_axis(place, order, np.broadcast_to(part, order.shape), axis=-1)
    return _in_common(by_class, place, n_bins)


def bins_of_classes_left_inclusive(probs: Floats, n_bins: int) -> CalibrationBins:
    """Bins [low, high) of the probability of every class (..., n, K), evenly spaced from 0 to 1 + 1e-8.

    This is how the package used by paper 001's authors makes them. All edges are stretched by the factor 1 + 1e-8, so 0.1
    lies in the first of 10 bins.
    """
    edges = np.linspace(0.0, 1.0 + BEYOND_ONE, n_bins + 1)[1:-1]
    edges = np.maximum(edges, np.nextafter(inner_edges(n_bins, probs), 2.0))
    return _of_equal_width(np.swapaxes(probs, -1, -2), Edges(edges, including=True))


def sums_of_equal_mass(values: Floats, n_bins: int, *, overwrite: bool = False) -> tuple[Edges, Floats]:
    """Edges for each row of (..., n), and the sum in each bin, (..., B).

    After sorting, every bin is a contiguous stretch. `overwrite` sorts the input in place.
    """
    rising = values
    if not overwrite:
        rising = scratch("bins", values.shape, values.dtype)
        rising[...] = values
    rising.sort(axis=-1)
    lead, n = rising.shape[:-1], rising.shape[-1]
    ranks = np.arange(n_bins) * n // n_bins
    starts = _starts(rising, ranks[1:])
    if n % n_bins == 0:
        sums = np.einsum("...ij->...i", rising.reshape(*lead, n_bins, -1))
    else:
        sums = np.add.reduceat(rising.reshape(-1), (ranks + _numbers(lead) * n).reshape(-1)).reshape(*lead, n_bins)
    # Stretches of equal length separate ties at an edge; those rows are summed again.
    tied = (starts > 0) & (_starts(rising, ranks[1:] - 1) >= starts)
    again = tied.any(axis=0) | (n < n_bins)
    if again.any():
        sums[again] = _sums_of_ties(rising[again], starts[:, again])
    return Edges(starts, including=True), sums


def check_bins(n_bins: int, binning: str) -> None:
    """Refuse an invalid number of bins or an unknown binning."""
    if not is_number(n_bins) or n_bins != n_bins // 1 or not 1 <= n_bins <= 2**15:
        raise InputError(
            "n_bins",
            "must be a whole number from 1 to 32768",
            f"got {n_bins!r}",
            "pass 10, the usual number",
            code="range",
        )
    if binning not in ("width", "mass"):
        raise InputError(
            "binning", 'must be "width" or "mass"', f"got {binning!r}", 'pass "width", the usual one', code="choice"
        )


# -- helpers ----------------------------------------------------------------------------------------------------------


def _binned(
    event: NDArray[np.integer] | None, values: Floats, place: Places, n_bins: int, weights: Floats | None
) -> CalibrationBins:
    expected = _sums(place, n_bins, values if weights is None else values * weights)
    return CalibrationBins(event, values, place, expected, weights)


def _in_common(by_class: Floats, place: Places, n_bins: int, weights: Floats | None = None) -> CalibrationBins:
    """Bins that use the same places (..., n) for the probabilities of all classes (..., K, n)."""
    shared = np.ascontiguousarray(np.broadcast_to(place[..., np.newaxis, :], by_class.shape))
    return _binned(None, by_class, shared, n_bins, weights)


def _edges(values: Floats, n_bins: int, binning: Binning, weights: Floats | None) -> Edges:
    """Edges of the bins of values (..., n).

    Equal width: (low, high], and the first bin includes 0. Equal mass: bin j starts with the value of rank ⌊n j / B⌋, so
    equal values share a bin in any order; an integer weight equals that many copies.
    """
    if binning == "width":
        return Edges(inner_edges(n_bins, values), including=False)
    n = values.shape[-1]
    if weights is None:
        return Edges(_starts(np.sort(values, axis=-1), np.arange(1, n_bins) * n // n_bins), including=True)
    order = np.argsort(values, axis=-1, kind="stable")
    passed = np.cumsum(weights[order], axis=-1)  # cumulated weight, up to the total
    shares = np.arange(1, n_bins) / n_bins * (1 + SLACK)
    ranks = np.empty((*values.shape[:-1], n_bins - 1), dtype=np.intp)
    for j, share in enumerate(shares.tolist()):
        ranks[..., j] = (passed <= share * passed[..., -1:]).sum(axis=-1)
    np.minimum(ranks, n - 1, out=ranks)
    starts = np.take_along_axis(values, np.take_along_axis(order, ranks, axis=-1), axis=-1)
    return Edges(np.moveaxis(starts, -1, 0), including=True)


def _starts(rising: Floats, ranks: NDArray[np.intp]) -> Floats:
    """Values of these ranks, (..., n) sorted -> (R, ...)."""
    starts = np.empty((len(ranks), *rising.shape[:-1]), dtype=rising.dtype)
    for j, rank in enumerate(ranks.tolist()):
        starts[j] = rising[..., rank]
    return starts


def _of_equal_width(by_class: Floats, edges: Edges) -> CalibrationBins:
    """Bins for every class, (..., K, n)."""
    expected = np.zeros((*by_class.shape[:-1], len(edges.edges) + 1))
    for some in row_chunks(len(by_class), by_class[:1].nbytes, chunk_bytes=SCRATCH_BYTES):
        _sum_equal_width(by_class[some], edges, expected[some])
    return CalibrationBins(None, by_class, edges, expected)


def _sum_equal_width(by_class: Floats, edges: Edges, sums: Floats) -> None:
    """Add the sums of the probabilities (..., n) in each bin to zeros (..., B).

    Most probabilities lie in the first bin, whose sum is that of the row without the others; only the others are binned.
    """
    first = scratch("bins", by_class.shape)
    first[...] = by_class
    n, n_bins = first.shape[-1], sums.shape[-1]
    if n_bins > 1:
        flat = first.reshape(-1)
        beyond = np.flatnonzero(edges.compare(flat, edges.edges[0]))
        values, flat[beyond] = flat[beyond], 0.0
        at = beyond // n * n_bins + edges.passed(values)
        sums += _bincount(at, values, sums.size).reshape(sums.shape)
    sums[..., 0] = first.sum(axis=-1)


def _sums_of_ties(rising: Floats, starts: Floats) -> Floats:
    """Sums in bins of sorted rows (R, n), where each bin begins with the first entry equal to its start (B - 1, R)."""
    begins = np.zeros((len(rising), len(starts) + 1), dtype=np.intp)
    for j, start in enumerate(starts):
        begins[:, j + 1] = np.count_nonzero(rising < start[:, np.newaxis], axis=-1)
    at = begins + _numbers(begins.shape[:1]) * rising.shape[-1]
    sums = np.add.reduceat(rising.reshape(-1), at.reshape(-1)).reshape(at.shape)
    # of an empty stretch `reduceat` returns one entry instead of 0
    sums[:, :-1][begins[:, 1:] == begins[:, :-1]] = 0.0
    return sums


def _sums(place: Places, n_bins: int, weights: Floats | None = None) -> Floats:
    """Count, or sum of the weights, in each bin along the last axis, (..., n) -> (..., B)."""
    lead = place.shape[:-1]
    weights = None if weights is None else np.broadcast_to(weights, place.shape)
    return _bincount(_numbered(place, n_bins), weights, math.prod(lead) * n_bins).reshape(*lead, n_bins)


def _numbered(place: Places, n_bins: int) -> Places:
    """Bin numbers counted on from row to row, for one `bincount` over all rows."""
    return place if place.ndim == 1 else _numbers(place.shape[:-1]) * n_bins + place


def _numbers(lead: tuple[int, ...]) -> NDArray[np.intp]:
    return np.arange(math.prod(lead), dtype=np.intp).reshape(*lead, 1)


def _bincount(at: Places, weights: Floats | None, n: int) -> Floats:
    counts = np.bincount(at.ravel(), None if weights is None else weights.ravel(), minlength=n)
    return counts.astype(np.float64, copy=False)
