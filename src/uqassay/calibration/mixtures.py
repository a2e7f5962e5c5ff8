"""Calibration errors of many mixtures of the same members at once."""

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from uqassay.arrays import Floats, available_cores, scratch
from uqassay.checks import fail
from uqassay.credal.vertices import outermost_permutations, permutation_vertices
from uqassay.frames import is_frame
from uqassay.metrics.calibration import (
    PrepareCalibrationError,
    PrepareCumulative,
    PrepareHosmerLemeshow,
    Statistic,
    chi_squared,
)
from uqassay.metrics.kernel_error import PrepareKernel
from uqassay.metrics.measures import CalibrationMeasure
from uqassay.metrics.reliability_diagrams import ON_EDGE, Edges, inner_edges, sums_of_equal_mass
from uqassay.native import kernel
from uqassay.notes import Note
from uqassay.predictions import Box, Drawn, Masses, Members, Point, Prediction, Vertices, as_prediction, not_negative
from uqassay.predictions.labels import labels_for
from uqassay.predictions.sets import refuse_class_sets

__all__ = [
    "IN_GROUPS",
    "MixtureObjective",
    "Mixtures",
    "SharedMembers",
    "defined",
    "for_each_part",
    "groups_of",
    "hard_labels",
    "independence",
    "mean_probs",
    "member_array",
    "numbers",
    "shared_members",
]


# What evaluators of calibration errors of mixtures share: their form, the form of compiled ones, and sums in bins.

AnyFloats = NDArray[Any]  # in single or double precision
Labels = NDArray[np.intp]
Shared = Callable[[AnyFloats, Labels], NDArray[np.float64]]

BELOW = (
    4  # in units of the precision: a value this little above an edge j / B stays in the bin below, as at least ON_EDGE
)
MOST_SORTED = 4096  # instances; NumPy sorts longer rows as fast as the kernels of equally full bins


class MixtureErrors(Protocol):
    """The calibration error of many mixtures of the same members."""

    @property
    def n_columns(self) -> int:
        """Number of probabilities that are computed for each mixture."""
        ...

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        ...

    @property
    def at_once(self) -> int | None:
        """Mixtures of one call of `values` that go well together; None: as many as fit the cache."""
        ...

    @property
    def evaluator(self) -> "Evaluator | None":
        """The kernel behind `values`, if there is one."""
        ...

    @property
    def shared(self) -> "Shared | None":
        """Errors (T, L) of mixtures (L, M) for all labels (T, n); None if `values` is as fast."""
        ...

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M); mixture l has the arranged labels of row ``targets[l]``."""
        ...

    def single(self) -> "MixtureErrors":
        """The same in single precision, where that is faster."""
        ...


class Formula(MixtureErrors, Protocol):
    """An array formula with a compiled twin."""

    def compiled(self) -> "Compiled | None":
        """The twin, or None if no kernels are in use."""
        ...

    def single(self) -> "Formula":
        """The same in single precision."""
        ...


class Evaluator(Protocol):
    """An evaluator of the compiled kernels."""

    def values(self, weights: NDArray[np.float64], labels: Labels, targets: Labels) -> NDArray[np.float64]:
        """Errors (L,), as in `MixtureErrors`."""
        ...


@final
class Compiled:
    """Errors by a kernel."""

    at_once = 512

    def __init__(self, evaluator: Evaluator, n_columns: int, shared: Shared | None, formula: Formula | None) -> None:
        self.evaluator, self.n_columns, self.shared, self._formula = evaluator, n_columns, shared, formula

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        return np.ascontiguousarray(labels, dtype=np.int64)

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        return self.evaluator.values(np.ascontiguousarray(weights, dtype=np.float64), labels, targets)

    def single(self) -> "MixtureErrors":
        """The same in single precision."""
        if self._formula is None:
            return self
        rough = self._formula.single()
        return rough.compiled() or rough


def bins_of_equal_width(probs: AnyFloats, n_bins: int, first_bin: Labels | None, n_all: int) -> NDArray[np.intp]:
    """Bin numbers of equally wide bins (low, high], for confidences (L, n) or for probabilities by class (L, C).

    Numbers are counted on from mixture to mixture. The result is a scratch array that the next call overwrites.
    """
    place = scratch("places", probs.shape, probs.dtype)
    np.multiply(probs, n_bins * (1 - max(ON_EDGE, BELOW * float(np.finfo(probs.dtype).eps))), out=place)
    np.ceil(place, out=place)
    np.minimum(place, n_bins, out=place)
    offsets = [numbers(len(probs)) * n_all - 1]
    if first_bin is not None:
        np.maximum(place, 1, out=place)  # probability 0 belongs to the first bin; a confidence is never 0
        offsets.append(first_bin)
    at = scratch("bins", probs.shape, np.intp)
    if len(probs) * n_all < 1 / np.finfo(probs.dtype).eps:  # every bin number is exact in this precision
        for offset in offsets:
            place += offset.astype(probs.dtype)
        np.copyto(at, place, casting="unsafe")
    else:
        np.copyto(at, place, casting="unsafe")
        for offset in offsets:
            at += offset
    return at


def of_targets(labels: Labels, targets: Labels) -> Labels:
    """Labels (T, n) of each mixture, (L, n), or (1, n) if there is one draw of labels only."""
    return labels if len(labels) == 1 else labels[targets]


def numbers(n: int) -> NDArray[np.intp]:
    """0 … n − 1 as a column, (n, 1)."""
    return np.arange(n, dtype=np.intp)[:, np.newaxis]


def sums_of_bins(
    at: NDArray[np.intp], n_mixtures: int, n_bins: int, amounts: AnyFloats | None = None
) -> NDArray[np.float64]:
    """Count, or sum of amounts (L, C), in each bin, (L, B)."""
    sums = np.bincount(at.ravel(), None if amounts is None else amounts.ravel(), minlength=n_mixtures * n_bins)
    return sums.reshape(n_mixtures, n_bins).astype(np.float64, copy=False)


# Products of the weights of mixtures with the probabilities of their members.

NEAR_LEAST = 1e8  # times the least normal number: keeps away from subnormal numbers, which are about 100 times as slow
BLOCK = 8  # mixtures in one matrix product
LONG_ROW = 2**16  # numbers of one mixture; longer rows are multiplied one mixture at a time


def products_of(weights: AnyFloats, by_member: AnyFloats, name: str | None = None) -> AnyFloats:
    """Weights (L, M) times (M, C), with rounding that does not depend on L.

    With a name, the result is a scratch array that the next call with this name overwrites.
    """
    m, n_columns = by_member.shape
    # BLAS sums in another order for one row than for several: zero rows fill every product up to one fixed size.
    rows = BLOCK if n_columns < LONG_ROW else 1
    blocks = np.zeros((-(-len(weights) // rows), rows, m), dtype=by_member.dtype)
    blocks.reshape(-1, m)[: len(weights)] = weights
    out = None if name is None else scratch(name, (len(blocks), rows, n_columns), by_member.dtype)
    return np.matmul(blocks, by_member, out=out).reshape(len(blocks) * rows, n_columns)[: len(weights)]


def quick_numbers(probs: AnyFloats, dtype: DTypeLike) -> AnyFloats:
    """Probabilities in this precision; subnormal and smaller ones are mapped above the least normal number, in order.

    Subnormal numbers are slow, and rounding them to 0 would create ties: equal probabilities share a bin of equal mass.
    """
    least = NEAR_LEAST * float(np.finfo(dtype).tiny)
    quick = np.ascontiguousarray(probs, dtype=dtype)
    low = (probs > 0) & (probs < least)
    if low.any():
        quick = quick.copy() if quick is probs else quick
        lowest = np.log(np.nextafter(0.0, 1.0))
        quick[low] = least * (0.5 + 0.5 * (np.log(probs[low]) - lowest) / (np.log(least) - lowest))
    return quick


# Calibration errors of every class of mixtures; probabilities that no mixture moves to another bin are summed once.

MOST_BINS = 2**16 - 1  # of all classes, for the kernel


@final
class ClassesOfEqualWidth:
    """Equally wide bins of the probability of every class.

    Probabilities that stay in one bin for every mixture are summed once for each member; the sum of a mixture is then linear.
    """

    at_once = shared = evaluator = None

    def __init__(self, members: AnyFloats, n_bins: int) -> None:
        self._members = members
        n, m, n_classes = members.shape
        edges = Edges(inner_edges(n_bins), including=False)
        by_class = members.transpose(1, 2, 0).reshape(m, n_classes * n)  # entry k n + i: class k of instance i
        first_bin = np.repeat(np.arange(n_classes, dtype=np.intp) * n_bins, n)
        lowest, highest = edges.passed(np.stack([by_class.min(axis=0), by_class.max(axis=0)]))
        moves, stays = np.flatnonzero(lowest != highest), np.flatnonzero(lowest == highest)
        moves = moves[np.lexsort((highest[moves], lowest[moves], first_bin[moves]))]  # those of the same bins together
        self._moving = np.ascontiguousarray(by_class[:, moves])
        self._first_bin = first_bin[moves]
        self._column = np.full(n_classes * n, -1, dtype=np.intp)  # column in `_moving`; -1 for a probability that stays
        self._column[moves] = np.arange(len(moves))
        self._settled = first_bin + lowest  # bin numbers, counted on from class to class
        self._n_all = n_classes * n_bins
        self._staying = sums_of_bins(
            numbers(m) * self._n_all + self._settled[stays], m, self._n_all, by_class[:, stays]
        )
        self._n, self._n_classes, self._n_bins = n, n_classes, n_bins
        self.n_columns = len(moves) + self._n_all

    def single(self) -> "ClassesOfEqualWidth":
        """The same in single precision."""
        other = copy(self)
        other._moving = self._moving.astype(np.float32)
        return other

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        return labels * self._n + np.arange(self._n)  # entries of the observed classes

    def compiled(self) -> Compiled | None:
        """The kernel, or None if it is not in use."""
        build, shared = kernel("class_width_errors"), kernel("shared_class_width_errors")
        if build is None or shared is None:
            return None
        moving, staying = np.ascontiguousarray(self._moving.T), np.ascontiguousarray(self._staying.T, dtype=np.float64)
        evaluator = build(moving, self._first_bin, self._column, self._settled, staying, self._n_classes, self._n_bins)
        edges = inner_edges(self._n_bins)

        def of_all(weights: AnyFloats, labels: Labels) -> NDArray[np.float64]:
            return shared(weights, self._by_class, labels, edges)

        fits = moving.dtype == np.float64 and self._n_all <= MOST_BINS
        return Compiled(evaluator, self.n_columns, of_all if fits else None, self)

    @cached_property
    def _by_class(self) -> AnyFloats:
        """Probabilities (K n, M) in the layout of the kernel for mixtures that all draws share."""
        n, m, n_classes = self._members.shape
        return quick_numbers(self._members.transpose(2, 0, 1).reshape(n_classes * n, m), np.float64)

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        labels = of_targets(labels, targets)
        n_mixtures, n_all = len(weights), self._n_all
        moving = products_of(weights, self._moving, "mixtures")
        at = bins_of_equal_width(moving, self._n_bins, self._first_bin, n_all)
        column, happened = self._column[labels], self._settled[labels] + numbers(n_mixtures) * n_all
        if moving.shape[1]:
            own = at.reshape(-1).take(np.maximum(column, 0) + numbers(n_mixtures) * moving.shape[1])
            happened = np.where(column >= 0, own, happened)
        excess = products_of(weights, self._staying) + sums_of_bins(at, n_mixtures, n_all, moving)
        excess -= sums_of_bins(happened, n_mixtures, n_all)
        return np.abs(excess, out=excess).sum(axis=1) / (self._n * self._n_classes)


@final
class ClassesOfEqualMass:
    """Equally full bins of the probability of every class: all probabilities are computed and sorted."""

    at_once = shared = evaluator = None

    def __init__(self, members: AnyFloats, n_bins: int, *, least_expected: float | None = None) -> None:
        n, m, n_classes = members.shape
        self._members = members.transpose(1, 2, 0).reshape(m, n_classes * n)
        self._by_member = quick_numbers(self._members, np.float64)
        self._n, self._n_classes, self._n_bins, self._least = n, n_classes, n_bins, least_expected
        self.n_columns = n_classes * n

    def single(self) -> "ClassesOfEqualMass":
        """The same in single precision."""
        other = copy(self)
        other._by_member = quick_numbers(self._members, np.float32)
        return other

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        return labels

    def compiled(self) -> Compiled | None:
        """The kernel, or None if it is not in use."""
        build = kernel("class_mass_errors")
        if build is None or self._n > MOST_SORTED:
            return None
        probs, least = np.ascontiguousarray(self._by_member.T), -1.0 if self._least is None else self._least
        return Compiled(build(probs, self._n_classes, self._n_bins, least), self.n_columns, None, self)

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        labels = of_targets(labels, targets)
        n_mixtures, n, n_classes, n_bins = len(weights), self._n, self._n_classes, self._n_bins
        probs = products_of(weights, self._by_member, "mixtures")
        row = numbers(n_mixtures)
        own = probs.reshape(-1).take(labels * n + np.arange(n) + row * (n_classes * n))
        edges, expected = sums_of_equal_mass(probs.reshape(n_mixtures, n_classes, n), n_bins, overwrite=True)
        place = edges.passed(own, labels + row * n_classes)
        observed = sums_of_bins(labels * n_bins + row * (n_classes * n_bins) + place, n_mixtures, n_classes * n_bins)
        expected = expected.reshape(observed.shape).astype(np.float64, copy=False)
        excess = expected - observed
        if self._least is None:
            return np.abs(excess, out=excess).sum(axis=1) / (n * n_classes)
        shape = (n_mixtures, n_classes, n_bins)
        return chi_squared(excess.reshape(shape), expected.reshape(shape), self._least)


# Calibration errors of the confidence of mixtures; only classes that some mixture can predict are computed.

ROUNDING = (
    1e-6  # a class is never predicted if its greatest probability is further than this below another class's least
)
FORMS = {"width": 0, "mass": 1, "kuiper": 2, "ks": 3}  # numbers of the kernel


@final
class Predicted:
    """Confidence and correctness of mixtures, computed from the classes that can be the most probable of some mixture."""

    def __init__(self, members: AnyFloats) -> None:
        least, greatest = members.min(axis=1), members.max(axis=1)
        possible = greatest >= least.max(axis=1, keepdims=True) - ROUNDING
        counts = possible.sum(axis=1)
        # Instances with the most possible classes come first: those with at least i classes are then the first rows.
        self._order = np.argsort(-counts, kind="stable")
        instance, numbers = np.nonzero(possible[self._order])  # class by class of each instance
        self._numbers = np.ascontiguousarray(numbers)
        self._first = np.concatenate([[0], np.cumsum(counts[self._order])])
        self._rank = np.arange(len(instance)) - self._first[instance]
        self._probs = np.ascontiguousarray(members[self._order[instance], :, self._numbers])
        self.n_instances, self.n_columns = len(members), len(instance)

    def single(self) -> "Predicted":
        """The same in single precision."""
        other = copy(self)
        other._probs = self._probs.astype(np.float32)
        vars(other).pop("_by_member", None)  # of the other precision
        return other

    @cached_property
    def _by_member(self) -> AnyFloats:
        """Probabilities (M, C): the first possible class of all instances, the second one of those that have two, and so on."""
        return np.ascontiguousarray(self._probs[np.argsort(self._rank, kind="stable")].T)

    @cached_property
    def _classes(self) -> list[Labels]:
        """Entry i: the possible class number i + 1 of each instance that has one."""
        return [self._numbers[self._rank == i] for i in range(int(self._rank.max()) + 1)]

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        return labels[:, self._order]

    def compiled(self, form: int, n_bins: int, formula: Formula) -> "Compiled | None":
        """The kernel of a calibration error of the confidence; it has the possible classes of an instance side by side."""
        build, shared = kernel("confidence_errors"), kernel("shared_confidence_errors")
        if build is None or shared is None:
            return None
        probs, edges = self._probs, inner_edges(n_bins)
        evaluator = build(probs, self._order, self._first, self._numbers, form, n_bins)

        def of_all(weights: AnyFloats, labels: Labels) -> NDArray[np.float64]:
            return shared(weights, probs, self._order, self._first, self._numbers, labels, edges, form)

        return Compiled(evaluator, self.n_columns, of_all if probs.dtype == np.float64 else None, formula)

    def confidence_and_hits(self, weights: AnyFloats, labels: Labels) -> tuple[AnyFloats, NDArray[np.bool_]]:
        """Greatest probability of each instance, and whether it is that of the label, (L, n).

        The first is part of a scratch array that the next call overwrites.
        """
        products = products_of(weights, self._by_member, "mixtures")
        confidence = products[:, : self.n_instances]
        hit = np.empty(confidence.shape, dtype=np.bool_)
        hit[...] = labels == self._classes[0]
        start = self.n_instances
        for classes in self._classes[1:]:
            n = len(classes)
            so_far, other, right = confidence[:, :n], products[:, start : start + n], hit[:, :n]
            # right = where(other > so_far, label is this class, right), in place; ties keep the earlier class
            right ^= (right ^ (labels[:, :n] == classes)) & (other > so_far)
            np.maximum(so_far, other, out=so_far)
            start += n
        return confidence, hit


@final
class BinsOfConfidence:
    """Bins of the greatest probability."""

    at_once = shared = evaluator = None

    def __init__(self, predicted: Predicted, n_bins: int, equal_mass: bool) -> None:
        self._predicted, self._n_bins, self._equal_mass = predicted, n_bins, equal_mass
        self.n_columns, self.arranged = predicted.n_columns, predicted.arranged

    def single(self) -> "BinsOfConfidence":
        """The same in single precision."""
        return BinsOfConfidence(self._predicted.single(), self._n_bins, self._equal_mass)

    def compiled(self) -> Compiled | None:
        """The kernel, or None if it is not in use."""
        if self._equal_mass and self._predicted.n_instances > MOST_SORTED:
            return None
        return self._predicted.compiled(FORMS["mass" if self._equal_mass else "width"], self._n_bins, self)

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        labels = of_targets(labels, targets)
        confidence, hit = self._predicted.confidence_and_hits(weights, labels)
        if self._equal_mass:
            edges, _ = sums_of_equal_mass(confidence, self._n_bins)
            at = numbers(len(weights)) * self._n_bins + edges.passed(confidence)
        else:
            at = bins_of_equal_width(confidence, self._n_bins, None, self._n_bins)
        amounts = np.subtract(confidence, hit, out=scratch("amounts", hit.shape))
        excess = sums_of_bins(at, len(weights), self._n_bins, amounts)
        return np.abs(excess, out=excess).sum(axis=1) / hit.shape[1]


@final
class CumulatedConfidence:
    """Cumulated differences of confidence and correctness.

    The bits of a positive number rise with the number. Confidences are sorted as whole numbers with the correctness as an
    additional last bit, in place of an order in which both are then looked up.
    """

    at_once = shared = evaluator = None

    def __init__(self, predicted: Predicted, statistic: Statistic) -> None:
        self._predicted, self._statistic = predicted, statistic
        self.n_columns, self.arranged = predicted.n_columns, predicted.arranged

    def single(self) -> "CumulatedConfidence":
        """The same in single precision."""
        return CumulatedConfidence(self._predicted.single(), self._statistic)

    def compiled(self) -> Compiled | None:
        """The kernel, or None if it is not in use."""
        return self._predicted.compiled(FORMS[self._statistic], 1, self)

    def values(self, weights: AnyFloats, labels: Labels, targets: Labels) -> AnyFloats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        labels = of_targets(labels, targets)
        confidence, hit = self._predicted.confidence_and_hits(weights, labels)
        whole = np.uint32 if confidence.dtype == np.float32 else np.uint64
        keys = scratch("keys", confidence.shape, whole)
        keys[...] = np.ascontiguousarray(confidence).view(whole)
        keys <<= whole(1)  # no confidence is negative or above 2, so the bit that falls off is 0
        keys |= hit
        keys.sort(axis=1)
        right = (keys & whole(1)).astype(confidence.dtype)
        keys >>= whole(1)
        sums = np.cumsum(keys.view(confidence.dtype) - right, axis=1, dtype=np.float64)
        sums[:, :-1][keys[:, 1:] == keys[:, :-1]] = 0.0  # between equal confidences nothing is evaluated
        greatest, least = np.maximum(sums.max(axis=1), 0.0), np.minimum(sums.min(axis=1), 0.0)
        found = greatest - least if self._statistic == "kuiper" else np.maximum(greatest, -least)
        return found / hit.shape[1]


# Fast calibration errors of many mixtures, for the search over λ.
#
# The probability of a mixture lies between the least and the greatest probability of the members. Most classes can
# therefore never be the predicted class, and most probabilities never leave their bin of equal width. If the members
# mostly agree, only a few per cent of the n K probabilities must be computed for each mixture. Single precision halves
# the work where mixtures are only compared. The numbers differ from those of `uqassay.metrics` by rounding: they locate
# the minimum, and the measure itself is then computed there.
#
# The compiled kernels have the mixtures side by side. Their numbers are the same bits where BLAS
# accumulates products by fused multiply-add (up to 15 members), and within rounding elsewhere and for equally full
# bins.


def errors_of_mixtures(members: AnyFloats, prepare: object) -> MixtureErrors | None:
    """Fast errors for members (n, M, K) in double precision; None for measures without a fast form."""
    match prepare:
        case PrepareKernel(estimator="linear", kernel="tv", bandwidth=bandwidth):
            return _pairs(members, 0.5 / (bandwidth or 1.0))
    found = _formula(members, prepare)
    return None if found is None else found.compiled() or found


def _pairs(members: AnyFloats, scale: float) -> "Compiled | None":
    """Kernel errors of consecutive pairs, with exp(−scale ‖p − q‖₁); in double precision, because they are smooth and few."""
    build = kernel("pair_errors")
    if build is None:
        return None
    probs = quick_numbers(members.transpose(0, 2, 1), np.float64)
    return Compiled(build(probs, scale), members[:, 0].size, None, None)


def _formula(members: AnyFloats, prepare: object) -> "Formula | None":
    """The array formula."""
    match prepare:
        case PrepareCalibrationError(norm="l1", debiased=False, by=by, binning=binning, n_bins=n_bins):
            if by == "confidence":
                return BinsOfConfidence(Predicted(members), n_bins, binning == "mass")
            return (ClassesOfEqualMass if binning == "mass" else ClassesOfEqualWidth)(members, n_bins)
        case PrepareCumulative(by="confidence", statistic=statistic):
            return CumulatedConfidence(Predicted(members), statistic)
        case PrepareHosmerLemeshow(binning="mass", form="counts", n_bins=n_bins, least_expected=least):
            return ClassesOfEqualMass(members, n_bins, least_expected=least)
    return None


# Mixtures of an ensemble's members, many at once, and a calibration measure as a function of the weights.
#
# Each value depends only on its own mixture and labels, not on the other mixtures of a call, the chunk size or the
# number of threads. Binned measures jump where a probability crosses an edge, so a difference in the last digit could
# change the result of a search.


CHUNK_BYTES = 4 * 2**20  # working set of one core
SHARED_AT_ONCE = 64  # mixtures of one call of a kernel that evaluates them for all draws of labels
FEW_PARTS = 8  # with fewer parts, threads cost more than they save


@final
class Mixtures:
    """Members (n, M, K) in a layout where one matrix product gives the probabilities of many mixtures.

    In memory, classes come before instances, so that loops over the instances of a class are contiguous.

    Examples
    --------
    >>> mixtures = Mixtures([[[0.2, 0.8], [0.6, 0.4]]])  # one instance, two members, two classes
    >>> mixtures.probs(np.array([[0.5, 0.5], [0.0, 1.0]])).tolist()
    [[[0.4, 0.6000000000000001]], [[0.6, 0.4]]]
    """

    def __init__(self, members: ArrayLike) -> None:
        members = np.asarray(members, dtype=np.float64)
        n, m, k = members.shape
        self.n_instances, self.n_members, self.n_classes = n, m, k
        self.members = members
        self._by_member = np.ascontiguousarray(members.transpose(1, 2, 0)).reshape(m, k * n)
        self._range = self._by_member.min(axis=0), self._by_member.max(axis=0)

    @cached_property
    def _quick(self) -> Floats:
        return quick_numbers(self._by_member, np.float64)

    def probs(self, weights: Floats, *, passing: bool = False) -> Floats:
        """Probabilities of mixtures with weights (..., M), as (..., n, K).

        Results are clipped to the range of the members, so equal members give exactly their own probabilities. With
        `passing`, the result is a faster scratch array that the next such call overwrites; it can differ in the last digit,
        or below 1e-300.
        """
        flat = weights.reshape(-1, self.n_members)
        if passing:
            products = products_of(flat, self._quick, "mixtures")
        else:
            products = products_of(flat, self._by_member)
            least, greatest = self._range
            np.minimum(np.maximum(products, least, out=products), greatest, out=products)
        return np.swapaxes(products.reshape(*weights.shape[:-1], self.n_classes, self.n_instances), -1, -2)


@final
class MixtureObjective:
    """A calibration measure as a function of the weights, for T draws of labels (T, n) side by side.

    They are the draws `rows` among the `n_all` of the objective that this one is a part of.
    """

    def __init__(self, mixtures: Mixtures, labels: Labels, measure: CalibrationMeasure) -> None:
        self.mixtures, self.labels, self.measure = mixtures, labels, measure
        self._errors, self._counted = _Evaluators(mixtures, measure), _Count()
        self.n_all, self.rows = len(labels), np.arange(len(labels))

    def of_labels(self, labels: Labels) -> "MixtureObjective":
        """The same for other draws of labels (T, n); evaluations are counted anew."""
        other = MixtureObjective(self.mixtures, labels, self.measure)
        other._errors = self._errors
        return other

    def part(self, draws: slice | NDArray[np.intp]) -> "MixtureObjective":
        """The same for some draws of labels; evaluations are counted together."""
        part = self.of_labels(self.labels[draws])
        part._counted, part.n_all, part.rows = self._counted, self.n_all, self.rows[draws]
        return part

    @cached_property
    def _arranged(self) -> list[Labels]:
        return [self._errors[rough].arranged(self.labels) for rough in (False, True)]

    @property
    def evaluations(self) -> int:
        """Number of mixtures evaluated so far, by parts too."""
        return self._counted.evaluations

    @property
    def n_targets(self) -> int:
        """Number of draws of labels T."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """Number of probabilities that `own` computes for each mixture."""
        return self._errors[False].n_columns

    @property
    def compiled(self) -> tuple[Evaluator, Evaluator] | None:
        """Compiled evaluators in double precision and rough, where there are any."""
        fine, rough = self._errors[False].evaluator, self._errors[True].evaluator
        return None if fine is None or rough is None else (fine, rough)

    def undefined(self) -> bool:
        """Whether the value of equally weighted members is undefined for some labels; it is not counted as an evaluation."""
        n, m = self.mixtures.n_instances, self.mixtures.n_members
        if n > 1 and not isinstance(self._errors[False], _PlainErrors):
            return False  # fast forms are defined from two instances on
        return bool(np.isnan(self.of_labels(self.labels).own(np.full((self.n_targets, 1, m), 1 / m))).any())

    def count(self, n_mixtures: int) -> None:
        """Count mixtures that a compiled evaluator has evaluated."""
        self._counted.evaluations += n_mixtures

    def shared(self, weights: Floats) -> Floats:
        """Values of the same mixtures for every draw of labels, (L, M) -> (T, L)."""
        values = np.empty((self.n_targets, len(weights)))
        errors = self._errors[False]
        of_all = errors.shared

        def compiled(part: slice) -> None:
            assert of_all is not None
            values[:, part] = of_all(np.ascontiguousarray(weights[part], dtype=np.float64), self._arranged[False])

        def work(part: slice) -> None:
            prepared = self.measure.prepare(self.mixtures.probs(weights[part], passing=True))
            for draws in _parts(self.n_targets, self._bytes_per_draw * (part.stop - part.start)):
                values[draws, part] = prepared.values(self.labels[draws, np.newaxis, :])

        if of_all is None:
            for_each_part(len(weights), self._bytes_per_mixture, work)
        else:
            for_each_part(len(weights), CHUNK_BYTES / SHARED_AT_ONCE, compiled)
        self._counted.evaluations += len(weights)
        return values

    def own(self, weights: Floats, targets: NDArray[np.intp] | None = None, *, rough: bool = False) -> Floats:
        """Values of separate mixtures for each draw of labels, (T, L, M) -> (T, L), up to rounding.

        `targets` selects the draws. A rough value has about six digits.
        """
        t, n_own, m = weights.shape
        flat, values = weights.reshape(t * n_own, m), np.empty(t * n_own)
        targets = np.repeat(np.arange(t) if targets is None else targets, n_own)
        errors, labels = self._errors[rough], self._arranged[rough]

        def work(part: slice) -> None:
            values[part] = errors.values(flat[part], labels, targets[part])

        together = errors.at_once
        each = self.measure.bytes_per_entry * errors.n_columns if together is None else CHUNK_BYTES / together
        for_each_part(len(flat), each, work)
        self._counted.evaluations += len(flat)
        return values.reshape(t, n_own)

    def exact_shared(self, weights: Floats) -> Floats:
        """As `shared`, but by the measure itself, with the values of `exact`, (L, M) -> (T, L)."""
        values = np.empty((self.n_targets, len(weights)))

        def work(part: slice) -> None:
            prepared = self.measure.prepare(self.mixtures.probs(weights[part]))
            for draws in _parts(self.n_targets, self._bytes_per_draw * (part.stop - part.start)):
                values[draws, part] = prepared.values(self.labels[draws, np.newaxis, :])

        for_each_part(len(weights), self._bytes_per_mixture, work)
        self._counted.evaluations += self.n_targets * len(weights)
        return values

    def exact(self, weights: Floats) -> Floats:
        """As `own`, but by the measure itself, without shortcuts, (T, L, M) -> (T, L)."""
        t, n_own, m = weights.shape
        flat, values = weights.reshape(t * n_own, m), np.empty(t * n_own)
        targets = np.repeat(np.arange(t), n_own)

        def work(part: slice) -> None:
            labels = self.labels if t == 1 else self.labels[targets[part]]
            values[part] = self.measure.values(self.mixtures.probs(flat[part]), labels)

        for_each_part(len(flat), self._bytes_per_mixture, work)
        self._counted.evaluations += len(flat)
        return values.reshape(t, n_own)

    @property
    def _bytes_per_draw(self) -> float:
        return 40.0 * (self.mixtures.n_instances + self.mixtures.n_classes * 10)

    @property
    def _bytes_per_mixture(self) -> float:
        return self.measure.bytes_per_entry * self.mixtures.n_instances * self.mixtures.n_classes


@final
class _Count:
    """Number of mixtures evaluated by an objective and its parts."""

    evaluations = 0


@final
class _Evaluators:
    """Evaluators of a measure in double precision, and in single precision (rough), made where they are asked for."""

    def __init__(self, mixtures: Mixtures, measure: CalibrationMeasure) -> None:
        self._mixtures, self._measure = mixtures, measure

    def __getitem__(self, rough: bool) -> MixtureErrors:
        return self._rough if rough else self._fine

    @cached_property
    def _fine(self) -> MixtureErrors:
        found = errors_of_mixtures(self._mixtures.members, self._measure.prepare)
        return found or _PlainErrors(self._mixtures, self._measure)

    @cached_property
    def _rough(self) -> MixtureErrors:
        return self._fine.single()


@final
class _PlainErrors:
    """Evaluator without shortcuts: all probabilities of each mixture are computed."""

    def __init__(self, mixtures: Mixtures, measure: CalibrationMeasure) -> None:
        self._mixtures, self._measure = mixtures, measure
        self.at_once = self.shared = self.evaluator = None
        self.n_columns = mixtures.n_instances * mixtures.n_classes

    def arranged(self, labels: Labels) -> Labels:
        return labels

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        own = labels if len(labels) == 1 else labels[targets]
        return self._measure.prepare(self._mixtures.probs(weights, passing=True)).values(own)

    def single(self) -> "_PlainErrors":
        return self


def defined(values: Floats) -> Floats:
    """Replace undefined values by infinity, so that any defined value is better."""
    return np.where(np.isnan(values), np.inf, values)


def _parts(n: int, bytes_each: float) -> list[slice]:
    """Split 0 … n − 1 into slices of similar length whose working set fits the cache."""
    n_parts = min(n, math.ceil(n * bytes_each / CHUNK_BYTES))
    bounds = [n * i // max(n_parts, 1) for i in range(max(n_parts, 1) + 1)]
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def for_each_part(n: int, bytes_each: float, work: Callable[[slice], None]) -> None:
    """Call ``work(part)`` for consecutive parts, on all cores if called from the main thread."""
    parts = _parts(n, bytes_each)
    alone = threading.current_thread() is threading.main_thread()
    threads = available_cores() if alone and n * bytes_each > FEW_PARTS * CHUNK_BYTES else 1
    if min(threads, len(parts)) <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, part) for part in parts]:
            done.result()


# Members or vertices that have the same meaning in every instance, so that one λ can mix them in all instances.


IN_GROUPS = Note(
    "assumption", "labels count as independent, so p-values are too small if those of one group depend on each other"
)
OFF = 5e-7  # a sum further than this from 1 comes from a precision lower than double


@final
@dataclass(frozen=True, eq=False)
class SharedMembers:
    """Distributions (n, M, K) where index m has the same meaning in every instance."""

    probs: Floats  #: (n, M, K)
    noun: str  #: "members" or "vertices"
    width: float  #: mean over instances and classes of upper minus lower probability of the credal set
    notes: tuple[Note, ...]  #: limits of the test for this kind of prediction


def shared_members(members: Any) -> SharedMembers:
    """The members of an ensemble, vertices, or the class-first and class-last vertices of intervals and masses."""
    members = as_prediction(members, "members")
    refuse_class_sets(members, "members")
    if isinstance(members, Drawn) and members.has_shared_points:  # passes of Gaussian logits
        members = members.members()
    notes = []
    if members.groups is not None:
        notes.append(IN_GROUPS)
    match members:
        case Point() | Members() | Vertices():
            probs, noun = not_negative(members.hull_points()), "members"
            if isinstance(members, Vertices):
                noun = "vertices"
                shared = "the test makes sense only if vertex m has the same meaning in every instance"
                notes.append(Note("assumption", shared))
        case Box():
            probs, noun = interval_vertices(*members.bounds()), "vertices"
        case Masses():
            probs = permutation_vertices(members.checked_masses(), members.focal_sets, permutations="outermost")
            noun = "vertices"
        case _:
            has = "draws" if isinstance(members, Drawn) else "no members"
            fail(
                "members",
                "must have members with the same meaning in every instance",
                f"got {type(members).__name__}, which has {has}",
                "test the mean with calibration_test(y_true, prediction)",
                code="type",
            )
    if noun == "vertices" and not isinstance(members, Vertices):
        outermost = (
            "a rejection is about mixtures of 2K vertices, so other distributions in the sets may still be calibrated"
        )
        notes.append(Note("assumption", outermost))
    probs = _summing_to_one(probs)
    width = 0.0 if probs.shape[1] == 1 else float(np.ptp(probs, axis=1).mean())
    return SharedMembers(probs, noun, width, tuple(notes))


def independence(notes: Iterable[Note]) -> str:
    """What a sentence with a p-value adds if there are groups that the test does not account for; else empty."""
    return ", labels taken as independent" if IN_GROUPS in notes else ""


def mean_probs(prediction: Prediction) -> Floats:
    """Probabilities (n, K) of the mean, whose rows sum to 1; InputError for class sets, which state none."""
    refuse_class_sets(prediction, "probs")
    return _summing_to_one(prediction.mean_probs())


def _summing_to_one(probs: Floats) -> Floats:
    """Divide rows by their sum if it is off by the rounding of a precision lower than double."""
    sums = probs.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1.0) > OFF
    return np.where(off, probs / np.where(off, sums, 1.0), probs) if off.any() else probs


def interval_vertices(lower: Floats, upper: Floats) -> Floats:
    """Vertices of reachable intervals that take each class first and each class last, (n, K) -> (n, 2K, K).

    Vertex k gives class k its upper probability, and vertex K + k its lower one. The other classes follow in index order;
    each gets the increment of the upper probability of events, U(A) = min(Σ_A u, 1 − Σ_Aᶜ l).

    Examples
    --------
    >>> interval_vertices(np.array([[0.25, 0.5]]), np.array([[0.5, 0.75]])).tolist()
    [[[0.5, 0.5], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]]]
    """
    orders = outermost_permutations(lower.shape[1])  # (2K, K)
    most = np.cumsum(upper[:, orders], axis=-1)
    rest = lower.sum(axis=1)[:, np.newaxis, np.newaxis] - np.cumsum(lower[:, orders], axis=-1)
    reached = np.minimum(most, 1.0 - rest)  # (n, 2K, K) upper probability of the first classes
    reached[..., -1] = 1.0
    gained = np.diff(reached, axis=-1, prepend=0.0)
    return np.take_along_axis(gained, np.argsort(orders, axis=1)[np.newaxis], axis=-1)


def member_array(members: Any) -> Floats:
    """Members (n, M, K) as float64: what `credal_calibration_test` mixes."""
    return shared_members(members).probs


def hard_labels(y: ArrayLike, n_instances: int, n_classes: int, name: str = "y_true", *, members: Any = None) -> Labels:
    """One class for each instance, (n,); ids and class names come from `members` if it is a prediction."""
    members = as_prediction(members, "members") if is_frame(members) else members
    shape: tuple[int, ...] = () if isinstance(members, Prediction) else np.shape(members)
    labels = labels_for(
        y,
        n_instances=n_instances,
        n_classes=n_classes,
        n_members=shape[1] if len(shape) == 3 else getattr(members, "n_members", None),
        ids=getattr(members, "ids", None),
        class_names=getattr(members, "class_names", None),
        class_order=getattr(members, "class_order", "stated"),
        name=name,
    )
    if labels.ndim == 2:
        rule = f"must be one class for each instance, shape ({n_instances},)"
        remedy = "pass one label per instance, for example the most frequent class of each distribution"
        fail(name, rule, f"got shape {labels.shape}", remedy, code="shape")
    return labels.astype(np.intp)


def groups_of(members: Any, groups: ArrayLike | None) -> ArrayLike | None:
    """The given groups, else those of the prediction."""
    return getattr(members, "groups", None) if groups is None else groups
