"""Bins of probabilities, reliability diagrams and their bands."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.special import ndtri

from uqassay.arrays import (
    CACHE_BYTES,
    SCRATCH_BYTES,
    Floats,
    as_array,
    as_numeric,
    check_class_count,
    check_rows,
    row_chunks,
    scratch,
    tolerance_of,
)
from uqassay.checks import between, fail, is_number, one_of, same_length, whole
from uqassay.errors import InputError
from uqassay.ids import in_one_order
from uqassay.native import kernel
from uqassay.predictions import Members, Prediction, PredictionLike, as_prediction
from uqassay.predictions.labels import labels_for, take_table
from uqassay.predictions.sets import refuse_class_sets
from uqassay.predictions.swapped import refuse_swapped, swapped_arguments
from uqassay.records import Shape
from uqassay.statistics import proportion_estimate
from uqassay.statistics.units import (
    check_level,
    effective_number,
    independent_number,
    make_units,
    scaled_weights,
    spread_of_mean,
)
from uqassay.text import decimals_for, listed, percent, percent_interval

__all__ = [
    "ON_EDGE",
    "Binning",
    "CalibrationBins",
    "Reliability",
    "as_probs",
    "band_of_counts",
    "bands_of_bins",
    "bins_of_classes",
    "bins_of_classes_left_inclusive",
    "bins_of_confidence",
    "bins_of_first_class",
    "bins_of_groups",
    "bins_of_last_class",
    "bins_of_ranks",
    "check_bins",
    "classes_apart",
    "expected_calibration_error",
    "inner_edges",
    "instance_weights",
    "labels_and_probs",
    "reliability",
    "reliability_diagram",
    "sums_of_equal_mass",
]


# Edges of equally wide bins, and which probabilities count as on an edge.


HALF = (8, 11)  # significant bits of bfloat16 and of float16
SINGLE = 24  # of float32
ON_EDGE = 2.0**-23  # relative; in single precision, a number this little above an edge counts as on it


@cache
def edges_of_equal_width(n_bins: int) -> Floats:
    """Edges j / B, (B + 1,); where j · (1 / B) rounds to a greater number, that one, so both lie in the bin below the edge."""
    edges = np.maximum(np.linspace(0.0, 1.0, n_bins + 1), np.arange(n_bins + 1) / n_bins)
    edges.flags.writeable = False
    return edges


def inner_edges(n_bins: int, values: Floats | None = None) -> Floats:
    """Edges to compare with probabilities: the greatest number in the bin (low, high] below each inner edge j / B, (B − 1,).

    The edges are rounded to the type of the probabilities. float32 has no .3 and no .6, and the numbers next to them are
    greater: compared with the edges of float64, a .3 stored in float32 would lie in the bin above. The type is the shortest
    of bfloat16, float16, float32 and float64 that holds all values exactly, because converting an array changes no
    probability. Without values, of mixtures of members, it is float32.

    Examples
    --------
    >>> probs = np.array([0.3, 0.6], dtype=np.float32).astype(float)
    >>> (probs > [0.3, 0.6]).tolist(), (probs > inner_edges(10, probs)[[2, 5]]).tolist()
    ([True, True], [False, False])
    """
    edges = edges_of_equal_width(n_bins)[1:-1]
    bits = SINGLE if values is None else significant_bits(values)
    if bits > SINGLE:
        return edges
    on_edge = edges * (1.0 + ON_EDGE)
    if bits > HALF[-1]:
        return on_edge
    fraction, exponent = np.frexp(edges)
    scale = 2.0 ** next(half for half in HALF if bits <= half)
    return np.maximum(on_edge, np.ldexp(np.round(fraction * scale) / scale, exponent))


def significant_bits(values: NDArray[Any]) -> int:
    """Significant bits that hold all values exactly, up to 53; above those of float32, a lower bound."""
    together, bits = 0, 1
    for some in row_chunks(len(values), values[:1].nbytes, chunk_bytes=CACHE_BYTES):
        words = np.asarray(values[some], dtype=np.float64).view(np.uint64)
        together |= int(np.bitwise_or.reduce(words, axis=None)) & (
            2**52 - 1
        )  # of the fractions, without the leading bit
        bits = 54 - (together & -together).bit_length() if together else 1
        if bits > SINGLE:
            break
    return bits


# Validation of labels and probabilities for calibration measures, for one data set or a batch of them.

Labels = NDArray[np.intp]


def labels_and_probs(
    y_true: ArrayLike, probs: PredictionLike, *, batched: bool | None = None, apart: bool = True
) -> tuple[Labels, Floats]:
    """Validated labels (n,) and probabilities (n, K), for members their mean.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1, or names of the classes where the prediction has them.
    probs : Prediction, mapping, or array (n, K) or (n, M, K)
    batched : bool, optional
        True: labels (..., n) and an array (..., n, K), whose leading axes are data sets and broadcast. None: the function has
        no such option.
    apart : bool
        As in `as_probs`.
    """
    if batched:
        p = as_probs(probs, batched=True, apart=apart)
        labels = _labels(as_numeric(y_true, "y_true"), *p.shape[-2:])
        try:
            np.broadcast_shapes(p.shape[:-2], labels.shape[:-1])
        except ValueError as problem:
            raise InputError(
                "y_true",
                "must have leading axes that broadcast with those of probs",
                f"got shapes {labels.shape} and {p.shape}",
                "add an axis of length 1 where values repeat",
                code="shape",
            ) from problem
        return labels, p
    refuse_swapped(y_true, probs, other="probs")
    prediction = as_prediction(probs, "probs")
    n, n_classes = prediction.n_instances, prediction.n_classes
    shape = as_array(y_true, "y_true").shape
    if len(shape) != 1:
        fail(
            "y_true",
            f"must be one class for each instance, shape ({n},)",
            f"got shape {shape}",
            "pass class indices" + ("" if batched is None else "; pass batched=True if leading axes are data sets"),
            code="shape",
        )
    labels = labels_for(
        y_true,
        n_instances=n,
        n_classes=n_classes,
        ids=prediction.ids,
        class_names=prediction.class_names,
        class_order=prediction.class_order,
    )
    return labels.astype(np.intp, copy=False), as_probs(prediction, apart=apart)


def _mean_probs(probs: PredictionLike) -> Floats:
    prediction = as_prediction(probs, "probs")
    refuse_class_sets(prediction, "probs")
    mean = prediction.mean_probs()
    # The mean of float32 members is a float32 number, as that of one member is: else rounding decides on which side of an
    # edge it lies. Members in half precision have exact means in float64, which rounding would move by up to 1e-3.
    if isinstance(prediction, Members) and HALF[-1] < significant_bits(prediction.probs) <= SINGLE:
        return mean.astype(np.float32)
    return mean


def as_probs(probs: PredictionLike, *, batched: bool = False, apart: bool = True) -> Floats:
    """Probabilities (n, K), for members their mean, in memory as `classes_apart`, or as they come if not `apart`.

    Row sums may differ from 1 within the tolerance of the dtype; rounding below 0 or above 1 is clipped. With `batched` an
    array (..., n, K) is a batch of data sets.
    """
    is_batch = batched and not isinstance(probs, Prediction)
    given = _batch(probs) if is_batch else _mean_probs(probs)
    if given.size == 0:
        fail(
            "probs", "must hold at least one instance", f"got shape {given.shape}", "check the selection", code="shape"
        )
    if not apart:
        given = given.astype(np.float64, copy=False)
        return given if given.min() >= 0.0 and given.max() <= 1.0 else np.clip(given, 0.0, 1.0)
    by_class = np.clip(np.swapaxes(given, -1, -2), 0.0, 1.0, dtype=np.float64, order="C")
    return np.swapaxes(by_class, -1, -2)


def classes_apart(probs: Floats) -> Floats:
    """Probabilities (..., n, K) with the instances of one class next to each other in memory.

    Measures sort and sum the instances of each class: neighbours in memory are faster, and sums do not depend on the layout of
    what was passed. Arrays that lie so already are not copied.
    """
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(probs, -1, -2)), -1, -2)


def _batch(probs: ArrayLike) -> NDArray[Any]:
    """Checked probabilities of a batch of data sets, (..., n, K)."""
    given = as_numeric(take_table(probs, "probs")[0], "probs")
    if given.ndim < 2:
        fail(
            "probs",
            "must have shape (..., n, K)",
            f"got shape {given.shape}",
            "pass one row per instance",
            code="shape",
        )
    check_class_count(given.shape[-1], "probs")
    if given.size:
        check_rows(
            given,
            "probs",
            tolerance=tolerance_of(probs),
            remedy="apply softmax to logits; divide rounded probabilities by their sum",
        )
    return given


def instance_weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    """Weights divided by the greatest one, (n,), the same for every data set of a batch."""
    return None if sample_weight is None else scaled_weights(sample_weight, n)


def _labels(labels: NDArray[Any], n: int, n_classes: int) -> Labels:
    if labels.ndim == 0 or labels.shape[-1] != n:
        fail(
            "y_true",
            f"must have one label for each of the {n} instances in its last axis",
            f"got shape {labels.shape}",
            "check that labels and probabilities come from the same split in the same order",
            code="mismatch",
        )
    if labels.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            broken = ~(labels == np.floor(labels)) | np.isinf(labels)
        if broken.any():
            at = tuple(np.argwhere(broken)[0].tolist())
            fail(
                "y_true",
                "must be whole numbers",
                f"{_row(at)} holds {float(labels[at]):g}",
                "pass class indices (0, 1, …); for soft labels, one draw from each",
                code="type",
            )
    outside = (labels < 0) | (labels >= n_classes)
    if outside.any():
        at = tuple(np.argwhere(outside)[0].tolist())
        fail(
            "y_true",
            f"must lie in 0 … {n_classes - 1}",
            f"{_row(at)} holds {labels[at]:g}",
            "recode the labels so that they index the columns of probs",
            code="range",
        )
    return labels.astype(np.intp, copy=False)


def _row(at: tuple[int, ...]) -> str:
    return f"row {at[0]}" if len(at) == 1 else f"index {at}"


# Bins of predicted probabilities, with observed and expected numbers of events in each bin.
#
# The bins and the expected counts depend only on the probabilities; the observed counts also depend on the labels. Bins
# are therefore computed once for many mixtures of members and reused for many draws of labels, without a loop over
# either.

Places = NDArray[np.integer]
Binning = Literal["width", "mass"]

MANY_EDGES = 24  # with so many edges a binary search is faster than comparing with each edge
BEYOND_ONE = 1e-8  # the last edge in the authors' code is 1 plus this
SLACK = 1e-12  # relative; a sum of weights this close to the share of a bin has reached it


@final
@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Bins for the events "the label is class k", or for the event "the label is the predicted class"."""

    event: NDArray[np.integer] | None  #: (..., n): class whose probability is binned; None: every class has bins
    values: Floats  #: (..., n) or (..., K, n): the probabilities
    division: "Places | Edges"  #: (..., n) or (..., K, n): or Edges Bin of each probability, or the edges that divide the bins
    expected: Floats  #: (..., B) or (..., K, B): sum of the probabilities in each bin: the expected number of events
    weights: Floats | None = None  #: (n,): weight of each instance; None: 1

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
    """Edges between bins of equal width or equal mass."""

    edges: Floats  #: (B − 1,) or (B − 1, ...): in rising order; the same for all rows, or separate for each row
    including: bool  #: True if an edge belongs to the bin above it

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


def bins_of_last_class(probs: Floats, n_bins: int, binning: Binning) -> CalibrationBins:
    """Bins of the probability of the last class (..., n, K), at whatever value: of two classes the scale is not folded at ½."""
    last = np.ascontiguousarray(probs[..., -1], dtype=np.float64)
    event = np.full(last.shape, probs.shape[-1] - 1, np.min_scalar_type(probs.shape[-1]))
    return _binned(event, last, _edges(last, n_bins, binning, None).passed(last), n_bins, None)


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
    """As `bins_of_first_class` in the code of the authors of credal calibration: bins by rank, which can separate equal values.

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

    This is how the package used by the authors of credal calibration makes them. All edges are stretched by the factor 1 +
    1e-8, so 0.1 lies in the first of 10 bins.
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
    whole(n_bins, "n_bins", "pass 10, the usual number", least=1, most=2**15)
    one_of(binning, "binning", ("width", "mass"), 'pass "width", the usual one')


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


# Bands of a reliability diagram: intervals of the accuracies in all bins together, and where they exclude the
# confidence.

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


def band_of_counts(hits: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """Joint exact intervals of the accuracies for numbers of hits (B,) among independent instances (B,); nan in empty bins.

    Clopper-Pearson intervals at the level `level` ** (1 / B′), because the B′ filled bins are independent (Šidák).

    Examples
    --------
    >>> low, high = band_of_counts(np.array([3.0, 10.0]), np.array([10.0, 10.0]), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.052, 0.646], [0.691, 1.0])
    """
    filled = count > 0
    tail = (1 - level ** (1 / max(int(filled.sum()), 1))) / 2
    return _clopper_pearson(hits, count, tail)


def bands_of_bins(
    hits: Floats,
    difference: Floats,
    place: Rows,
    codes: Rows | None,
    n_bins: int,
    level: float,
    weights: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats]:
    """As `bands_of_groups`; of independent instances of equal weight Wilson's intervals, and joint ones by `band_of_counts`."""
    if codes is not None or weights is not None:
        return bands_of_groups(hits, difference, place, codes, n_bins, level, weights)
    count: Floats = np.bincount(place, minlength=n_bins).astype(np.float64)
    happened: Floats = np.bincount(place, hits, n_bins).astype(np.float64, copy=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = happened / count
    return *_wilson(share, count, level), *band_of_counts(happened, count, level)


def bands_of_groups(
    hits: Floats,
    difference: Floats,
    place: Rows,
    codes: Rows | None,
    n_bins: int,
    level: float,
    weights: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Intervals of the accuracy of each bin, and joint ones, of groups or of weighted instances, (B,) each; nan in empty bins.

    Parameters
    ----------
    hits, difference : array (n,)
        Hits, and confidence minus hit, whose variance is used.
    place : int array (n,)
        Bin of each instance.
    codes : int array (n,), optional
        Group of each instance; None where each is a unit.
    n_bins : int
    level : float
    weights : array (n,), optional

    Returns
    -------
    low, high, band_low, band_high : array (B,)
        The single intervals are those of `proportion_estimate`. The joint ones are Clopper-Pearson intervals with the
        effective number of independent instances and its degrees of freedom (Korn and Graubard), at the level
        1 − (1 − level) / B′ (Bonferroni), because groups lie in several bins. A bin with one group has the band 0 to 1.

    References
    ----------
    Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.
    """
    low, high, band_low, band_high = np.full((4, n_bins), np.nan)
    filled = np.unique(place)
    tail = (1 - level) / (2 * len(filled))
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(place, minlength=n_bins))[:-1])
    for b in filled.tolist():
        rows = parts[b]
        own, weight = (None if values is None else values[rows] for values in (codes, weights))
        if weight is not None and not weight.any():
            continue
        alone = proportion_estimate(hits[rows], groups=own, sample_weight=weight, level=level)
        low[b], high[b] = alone.low, alone.high
        number = _effective_number(hits[rows], difference[rows], own, weight, tail)
        band_low[b], band_high[b] = 0.0, 1.0
        if number > 0:
            each = np.array([number])
            (band_low[b],), (band_high[b],) = _clopper_pearson(float(alone) * each, each, tail)
    return low, high, band_low, band_high


def ranges_sentence(edges: Floats, over: Mask, under: Mask) -> str:
    """Where a classifier is shown to be overconfident or underconfident, for bin edges (B + 1,) and bins (B,).

    Examples
    --------
    >>> edges = np.linspace(0, 1, 6)
    >>> ranges_sentence(edges, edges[1:] > 0.7, edges[1:] < 0)
    'Too sure where it states 60 to 100 %; nowhere shown to be too unsure.'
    >>> ranges_sentence(edges, edges[1:] < 0, edges[1:] < 0)
    'Nowhere shown to be too sure or too unsure.'
    """
    told = {"too sure": _ranges(edges, over), "too unsure": _ranges(edges, under)}
    shown = [f"{how} where it states {listed(ranges)}" for how, ranges in told.items() if ranges]
    absent = [how for how, ranges in told.items() if not ranges]
    if absent:
        shown.append(f"nowhere shown to be {listed(absent, last='or')}")
    text = "; ".join(shown)
    return f"{text[0].upper()}{text[1:]}."


def _clopper_pearson(hits: Floats, count: Floats, tail: float) -> tuple[Floats, Floats]:
    """Exact interval with this probability in each tail; nan where there is no instance."""
    with np.errstate(invalid="ignore"):
        misses = count - hits
        low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1e-300), misses + 1, tail), 0.0)
        high = np.where(misses > 0, special.betaincinv(hits + 1, np.maximum(misses, 1e-300), 1 - tail), 1.0)
    return np.where(count > 0, low, np.nan), np.where(count > 0, high, np.nan)


def _effective_number(
    hits: Floats, difference: Floats, codes: Rows | None, weights: Floats | None, tail: float
) -> float:
    """Number of independent instances that a bin's accuracy is worth, at most their number; 0 for a single group."""
    units = make_units(len(hits), codes, weights)
    if units.n_units == 1:
        return 0.0
    hits, difference = units.keep(hits), units.keep(difference)
    share = units.mean(hits)
    if units.weights is not None:
        share = min(max(share, float(hits.min())), float(hits.max()))  # all hits alike give exactly 0 or 1
    if share in (0.0, 1.0):
        return float(units.n_units) if units.weights is None else independent_number(units.sizes, units.n_units)
    spread = spread_of_mean(difference - units.mean(difference), units)
    number = effective_number(units.weights, len(hits))
    if spread.standard_error > 0:
        number = min(number, share * (1 - share) / spread.standard_error**2)
    return number * float(special.ndtri(tail) / special.stdtrit(spread.dof, tail)) ** 2


def _ranges(edges: Floats, chosen: Mask) -> list[str]:
    """Neighbouring chosen bins as one range each."""
    steps = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    ends: Sequence[tuple[float, float]] = list(
        zip(edges[np.flatnonzero(steps == 1)].tolist(), edges[np.flatnonzero(steps == -1)].tolist(), strict=True)
    )
    whole = all(abs(100 * e - round(100 * e)) < 1e-9 for pair in ends for e in pair)
    decimals = 0 if whole else max(decimals_for(ends) - 2, 1)
    return [
        percent(low, decimals, in_sentence=True)
        if low == high
        else percent_interval(low, high, decimals, in_sentence=True)
        for low, high in ends
    ]


# Data of reliability diagrams, for the confidence or for a class, and the calibration error in its bins.

Array = NDArray[np.float64]

SAME = 1e-12  # a confidence this close to an end of the band is inside
ROUNDING = 1e-3  # a confidence may exceed 1 by this much


@final
@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of a reliability diagram.

    Examples
    --------
    >>> r = reliability([1] * 90 + [0] * 60, [0.95] * 100 + [0.65] * 50)
    >>> r.over[r.count > 0].tolist(), int(r.under.sum())
    ([True, False], 0)
    >>> r.sentence()
    'Too sure where it states 60 to 70 %; nowhere shown to be too unsure.'
    """

    #: Bin edges. Bins of equal width include their right edge; the first one includes both. Bins of equal mass
    #: include their left edge, their least value, and end at the next bin; the last one ends at the greatest value. Empty ones
    #: have width 0.
    edges: Annotated[Array, Shape("B+1")]
    count: Annotated[NDArray[np.int64], Shape("B", low=0)]  #: Number of instances, whatever their weights.
    #: Mean confidence and accuracy in the bin, or mean probability and frequency of one class; nan if the bin is empty.
    confidence: Annotated[Array, Shape("B")]
    accuracy: Annotated[Array, Shape("B")]
    #: Wilson interval of the accuracy; nan if the bin is empty.
    low: Annotated[Array, Shape("B")]
    high: Annotated[Array, Shape("B")]
    #: Intervals that hold for the accuracies of all bins together; nan if the bin is empty.
    band_low: Annotated[Array, Shape("B")]
    band_high: Annotated[Array, Shape("B")]

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

    Notes
    -----
    Wilson's interval assumes one probability for all instances of a bin. Probabilities that differ within a bin make the
    frequency vary slightly less, so the interval is slightly too wide.

    The band holds in all bins together with probability `level` at least: exact (Clopper-Pearson) intervals at the level
    `level` ** (1 / B′) for B′ filled bins. With groups they use the effective number of independent instances and
    Bonferroni's adjustment. `Reliability.over` and `Reliability.under` name the bins whose confidence lies outside the band;
    with probability `level` none of them is named wrongly (docs/evidence-calibration.md).

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
        rule = f'must be "predicted" or a class from 0 to {n_classes - 1}'
        fail("event", rule, f"got {event!r}", 'pass "predicted" for the confidence', code="choice")
    bins = bins_of_values(np.ascontiguousarray(checked[:, int(event)]), int(n_bins), binning)
    return _diagram(bins, (labels == event).astype(np.float64), binning, groups, level)


@in_one_order("correct", "confidence", "groups", "sample_weight")
def reliability(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_bins: int = 10,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
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
    sample_weight : array (n,), optional
        Importance weights of the instances; bins have weighted means and joint intervals like those of groups.
    level : float

    Examples
    --------
    >>> r = reliability([1, 0, 1], [0.0, 0.55, 1.0], n_bins=2)
    >>> r.count.tolist(), r.accuracy.tolist()
    ([1, 2], [1.0, 0.5])
    """
    check_level(level)
    bins, hits = bins_of_hits(correct, confidence, n_bins)
    return _diagram(bins, hits, "width", groups, level, sample_weight)


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
    same_length(conf, "confidence", len(hit), "pass both for the same instances")
    # a confidence of 0 is impossible for the predicted class
    if ((conf == 0) | (conf == 1)).all() and (conf == 0).any() and ((hit > 0) & (hit < 1)).any():
        raise swapped_arguments("correct", "confidence")
    check_bins(n_bins, "width")
    between(hit, "correct", "pass probabilities")
    # sums of rounded probabilities may exceed 1 a little
    between(np.where(conf <= 1 + ROUNDING, np.minimum(conf, 1.0), conf), "confidence", "pass probabilities")
    bins = bins_of_values(conf, int(n_bins), "width")
    return bins, hit


def _diagram(
    bins: CalibrationBins,
    hits: Array,
    binning: Binning,
    groups: ArrayLike | None,
    level: float,
    sample_weight: ArrayLike | None = None,
) -> Reliability:
    count, happened = bins.size, bins.sums(hits)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence, share = bins.expected / count, happened / count
    weights = None if sample_weight is None else scaled_weights(sample_weight, len(hits))
    codes, place = make_units(len(hits), groups, None).codes, bins.place.astype(np.intp)
    if weights is not None:
        by_bin = (
            np.bincount(place, weights * values, bins.n_bins) for values in (np.ones(len(hits)), bins.values, hits)
        )
        mass, expected, right = by_bin
        with np.errstate(invalid="ignore", divide="ignore"):
            confidence, share = expected / mass, right / mass
    found = bands_of_bins(hits, bins.values - hits, place, codes, bins.n_bins, level, weights)
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
