"""Bins of predicted probabilities: how often an event happened in a bin, and how often it was expected to.

The bins and the expected counts depend on the probabilities alone, the observed counts on the labels. So they are found
once for many mixtures of members, and counted again for many draws of labels, without a loop over either.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.statistics._samples import is_number

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
    "edges_of_equal_width",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Places = NDArray[np.integer]
Binning = Literal["width", "mass"]

MANY_EDGES = 24  # from here on a binary search is faster than comparing with every edge
BEYOND_ONE = 1e-8  # how far the last edge of the authors' code lies beyond 1
SLACK = 1e-12  # relative; a sum of weights that is closer to a bin's share has reached it


@final
@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Bins for the events "class k happened", or for the event "the predicted class happened".

    Attributes
    ----------
    event : int array (..., n), or None
        The class whose probability was binned; None: every class has bins.
    place : uint array (..., n), or (..., K, n) for every class
        Bin of each probability.
    values : array (..., n), or (..., K, n)
        The probabilities.
    expected : array (..., B), or (..., K, B)
        Sum of the probabilities in each bin: the expected number of events.
    weights : array (n,) or None
        What each instance counts; None: 1.
    """

    event: NDArray[np.integer] | None
    place: Places
    values: Floats
    expected: Floats
    weights: Floats | None = None

    @cached_property
    def size(self) -> Floats:
        """Number of instances in each bin, (..., B) or (..., K, B); counted when asked for: not every measure does."""
        return _sums(self.place, self.n_bins, self.weights)

    @cached_property
    def squares(self) -> Floats:
        """Sum of the squared probabilities in each bin, (..., B) or (..., K, B)."""
        squares = self.values**2
        return _sums(self.place, self.n_bins, squares if self.weights is None else squares * self.weights)

    @property
    def n(self) -> int:
        """Number of instances."""
        return self.place.shape[-1]

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
        """Number of events in each bin for labels (..., n), whose leading axes are broadcast with those of the bins."""
        return self._over_events(labels, self.weights)

    def expected_at_events(self, labels: Labels) -> Floats:
        """Sum of the probabilities of the events that happened in each bin, for labels (..., n)."""
        return self._over_events(labels, self.values if self.weights is None else self.values * self.weights)

    def _over_events(self, labels: Labels, amounts: Floats | None) -> Floats:
        """Sum of amounts (n,), (..., n) or (..., K, n) over the events in each bin; None: their number."""
        if self.event is not None:
            happened = self.event == labels
            place = np.broadcast_to(self.place, happened.shape)
            at = _numbered(place, self.n_bins)[happened]
            if amounts is not None:
                amounts = np.broadcast_to(amounts, happened.shape)[happened]
            rows = happened.shape[:-1]
            return _bincount(at, amounts, _product(rows) * self.n_bins).reshape(*rows, self.n_bins)
        lead = np.broadcast_shapes(self.place.shape[:-2], labels.shape[:-1])
        n_classes, n, n_bins = self.expected.shape[-2], self.n, self.n_bins
        n_own = _product(self.place.shape[:-2])
        rows = np.arange(n_own, dtype=np.intp).reshape(*self.place.shape[:-2], 1) * (n_classes * n)
        own = rows + (labels * n + np.arange(n))  # of each instance the entry of its label's class
        at = self.place.reshape(-1).take(own) + labels * n_bins
        at = np.broadcast_to(at, (*lead, n)) + _numbers(lead) * (n_classes * n_bins)
        if amounts is not None:
            amounts = amounts if amounts.ndim == 1 else amounts.reshape(-1).take(own)
            amounts = np.broadcast_to(amounts, (*lead, n))
        counts = _bincount(at, amounts, _product(lead) * n_classes * n_bins)
        return counts.reshape(*lead, n_classes, n_bins)


# -- which bins -------------------------------------------------------------------------------------------------------


def bins_of_confidence(probs: Floats, n_bins: int, binning: Binning, weights: Floats | None = None) -> CalibrationBins:
    """Bins of the greatest probability (..., n, K); the first of equally probable classes is the predicted one."""
    by_class = np.moveaxis(probs, -1, 0)
    greatest, greater = by_class[0].copy(), np.empty(by_class.shape[1:], dtype=bool)
    event = np.zeros(greatest.shape, dtype=np.min_scalar_type(len(by_class) - 1))
    for k in range(1, len(by_class)):
        np.greater(by_class[k], greatest, out=greater)
        np.maximum(greatest, by_class[k], out=greatest)
        np.maximum(event, greater * event.dtype.type(k), out=event)  # quicker than writing where greater: k > event
    return _binned(event, _places(greatest, n_bins, binning, weights), greatest, n_bins, weights)


def bins_of_classes(probs: Floats, n_bins: int, binning: Binning, weights: Floats | None = None) -> CalibrationBins:
    """Bins of the probability of every class (..., n, K), each class with edges of its own where they have equal mass."""
    by_class = np.swapaxes(probs, -1, -2)
    return _binned(None, _places(by_class, n_bins, binning, weights), by_class, n_bins, weights)


def bins_of_values(values: Floats, n_bins: int, binning: Binning) -> CalibrationBins:
    """Bins of the probability of one event (..., n)."""
    return _binned(np.zeros(values.shape, np.uint8), _places(values, n_bins, binning, None), values, n_bins, None)


def bins_of_first_class(probs: Floats, n_bins: int) -> CalibrationBins:
    """Bins for every class (..., n, K) that have equal mass for class 0: the same instances share a bin in each class."""
    by_class = np.swapaxes(probs, -1, -2)
    return _in_common(by_class, _places(np.ascontiguousarray(by_class[..., 0, :]), n_bins, "mass", None), n_bins)


def bins_of_groups(probs: Floats, groups: NDArray[np.intp], weights: Floats | None = None) -> CalibrationBins:
    """Groups (..., n), numbered from 0, as bins for every class (..., n, K)."""
    return _in_common(np.swapaxes(probs, -1, -2), groups, int(groups.max()) + 1, weights)


def bins_of_ranks(probs: Floats, n_bins: int) -> CalibrationBins:
    """As `bins_of_first_class`, but equal values are torn apart and the first bins take what is left over.

    So the code of paper 001's authors has it: the instances are sorted by 1 − p₀, taken from the end (of equal ones the
    last comes first), and cut into parts that differ by at most one.
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

    So the package has it that paper 001's authors took. All edges are stretched with the last one: 0.1 lies below the
    second of 10 bins.
    """
    by_class = np.swapaxes(probs, -1, -2)
    edges = np.linspace(0.0, 1.0 + BEYOND_ONE, n_bins + 1)[1:-1]
    return _binned(None, _passed(by_class, edges, including=True), by_class, n_bins, None)


def edges_of_equal_width(n_bins: int) -> Floats:
    """Edges j / B, (B + 1,), or j · (1 / B) where rounding makes that greater: both lie in the bin below their edge."""
    return np.maximum(np.linspace(0.0, 1.0, n_bins + 1), np.arange(n_bins + 1) / n_bins)


def check_bins(n_bins: int, binning: str) -> None:
    """Refuse anything but a positive whole number of bins, and binnings that do not exist."""
    if not is_number(n_bins) or n_bins != n_bins // 1 or not 1 <= n_bins <= 2**15:
        raise InputError(f"n_bins: must be a whole number from 1 to 32768; got {n_bins!r}; 10 is usual.")
    if binning not in ("width", "mass"):
        raise InputError(f'binning: must be "width" or "mass"; got {binning!r}; "width" is the usual one.')


# -- helpers ----------------------------------------------------------------------------------------------------------


def _binned(
    event: NDArray[np.integer] | None, place: Places, values: Floats, n_bins: int, weights: Floats | None
) -> CalibrationBins:
    expected = _sums(place, n_bins, values if weights is None else values * weights)
    return CalibrationBins(event, place, values, expected, weights)


def _in_common(by_class: Floats, place: Places, n_bins: int, weights: Floats | None = None) -> CalibrationBins:
    """Places (..., n) for the probabilities of all classes (..., K, n)."""
    shared = np.ascontiguousarray(np.broadcast_to(place[..., np.newaxis, :], by_class.shape))
    return _binned(None, shared, by_class, n_bins, weights)


def _places(values: Floats, n_bins: int, binning: Binning, weights: Floats | None) -> Places:
    """Bin of each value along the last axis.

    Equal width: (low, high], and the first bin holds 0. Equal mass: bin j starts with the value of rank ⌊n j / B⌋, so equal
    values share a bin whatever their order; a whole weight equals that many copies.
    """
    if binning == "width":
        return _passed(values, edges_of_equal_width(n_bins)[1:-1], including=False)
    return _passed(values, _starts_of_equal_mass(values, n_bins, weights), including=True)


def _passed(values: Floats, edges: Floats, *, including: bool) -> Places:
    """How many edges (B − 1,) or (B − 1, ..., 1), in rising order, each value exceeds, or reaches."""
    kind = np.dtype(np.uint8 if len(edges) < 2**8 else np.uint16)
    if len(edges) >= MANY_EDGES and edges.size == len(edges):
        return np.searchsorted(edges.ravel(), values, side="right" if including else "left").astype(kind)
    compare = np.greater_equal if including else np.greater
    place, beyond = np.zeros(values.shape, dtype=kind), np.empty(values.shape, dtype=bool)
    for edge in edges:
        compare(values, edge, out=beyond)
        place += beyond.view(np.uint8)
    return place


def _starts_of_equal_mass(values: Floats, n_bins: int, weights: Floats | None) -> Floats:
    """Least value of every bin but the first, (..., n) -> (B − 1, ..., 1)."""
    n = values.shape[-1]
    if weights is None:
        starts = np.sort(values, axis=-1)[..., np.arange(1, n_bins) * n // n_bins]
    else:
        order = np.argsort(values, axis=-1, kind="stable")
        passed = np.cumsum(weights[order], axis=-1)  # rises to the total
        shares = np.arange(1, n_bins) / n_bins * (1 + SLACK)
        ranks = np.stack([(passed <= share * passed[..., -1:]).sum(axis=-1) for share in shares.tolist()], axis=-1)
        ranks = np.minimum(ranks, n - 1)
        starts = np.take_along_axis(values, np.take_along_axis(order, ranks, axis=-1), axis=-1)
    return np.moveaxis(starts, -1, 0)[..., np.newaxis]


def _sums(place: Places, n_bins: int, weights: Floats | None = None) -> Floats:
    """Number, or sum of the weights, in each bin along the last axis, (..., n) -> (..., B)."""
    lead = place.shape[:-1]
    if weights is not None:
        weights = np.broadcast_to(weights, place.shape)
    return _bincount(_numbered(place, n_bins), weights, _product(lead) * n_bins).reshape(*lead, n_bins)


def _numbered(place: Places, n_bins: int) -> NDArray[np.intp]:
    """Bins of all rows numbered through."""
    return _numbers(place.shape[:-1]) * n_bins + place


def _numbers(lead: tuple[int, ...]) -> NDArray[np.intp]:
    return np.arange(_product(lead), dtype=np.intp).reshape(*lead, 1)


def _bincount(at: NDArray[np.intp], weights: Floats | None, n: int) -> Floats:
    counts = np.bincount(at.ravel(), None if weights is None else weights.ravel(), minlength=n)
    return counts.astype(np.float64, copy=False)


def _product(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.intp))
