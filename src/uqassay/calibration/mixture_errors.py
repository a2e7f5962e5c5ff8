"""Fast calibration errors of many mixtures, for the search over λ.

The probability of a mixture lies between the least and the greatest probability of the members. Most classes can therefore
never be the predicted class, and most probabilities never leave their bin of equal width. If the members mostly agree, only
a few per cent of the n K probabilities must be computed for each mixture. Single precision halves the work where mixtures
are only compared. The numbers differ from those of `uqassay.metrics` by rounding: they locate the minimum, and the measure
itself is then computed there.

The compiled kernels of uqassay-native have the mixtures side by side. Their numbers are the same bits where BLAS accumulates
products by fused multiply-add (up to 15 members), and within rounding elsewhere and for equally full bins.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from uqassay._array import scratch
from uqassay._kernels import kernel
from uqassay.calibration.mixture_products import products_of, quick_numbers
from uqassay.metrics.calibration.binned_error import PrepareCalibrationError
from uqassay.metrics.calibration.bins import Edges, edges_of_equal_width, sums_of_equal_mass
from uqassay.metrics.calibration.cumulative_error import PrepareCumulative, Statistic
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow, chi_squared

__all__ = ["MixtureErrors", "errors_of_mixtures"]

Floats = NDArray[Any]  # in single or double precision
Labels = NDArray[np.intp]
Shared = Callable[[Floats, Labels], NDArray[np.float64]]

ROUNDING = (
    1e-6  # a class is never predicted if its greatest probability is further than this below another class's least
)
BELOW = 4  # in units of the precision: a value this little above an edge j / B is rounding and stays in the bin below
FORMS = {"width": 0, "mass": 1, "kuiper": 2, "ks": 3}  # numbers of the kernel
MOST_SORTED = 4096  # instances; NumPy sorts longer rows as fast as the kernels of equally full bins
MOST_BINS = 2**16 - 1  # of all classes, for the kernel


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
    def shared(self) -> "Shared | None":
        """Errors (T, L) of mixtures (L, M) for all labels (T, n); None if `values` is as fast."""
        ...

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        """Errors (L,) of mixtures (L, M); mixture l has the arranged labels of row ``targets[l]``."""
        ...


def errors_of_mixtures(members: Floats, prepare: object, dtype: DTypeLike) -> MixtureErrors | None:
    """Fast errors for members (n, M, K) in this precision; None for measures without a fast form."""
    found = _formula(members, prepare, dtype)
    return None if found is None else found.compiled() or found


def _formula(members: Floats, prepare: object, dtype: DTypeLike) -> "_Formula | None":
    """The array formula."""
    match prepare:
        case PrepareCalibrationError(norm="l1", debiased=False, by=by, binning=binning, n_bins=n_bins):
            if by == "confidence":
                return _BinsOfConfidence(members, n_bins, binning == "mass", dtype)
            return (_ClassesOfEqualMass if binning == "mass" else _ClassesOfEqualWidth)(members, n_bins, dtype)
        case PrepareCumulative(by="confidence", statistic=statistic):
            return _CumulatedConfidence(members, statistic, dtype)
        case PrepareHosmerLemeshow(binning="mass", form="counts", n_bins=n_bins, least_expected=least):
            return _ClassesOfEqualMass(members, n_bins, dtype, least_expected=least)
    return None


class _Formula(MixtureErrors, Protocol):
    """An array formula with a compiled twin."""

    def compiled(self) -> "_Compiled | None":
        """The twin, or None if no kernels are in use."""
        ...


class _Evaluator(Protocol):
    """An evaluator of uqassay-native."""

    def values(self, weights: NDArray[np.float64], labels: Labels, targets: Labels) -> NDArray[np.float64]:
        """Errors (L,), as in `MixtureErrors`."""
        ...


@final
class _Compiled:
    """Errors by a kernel."""

    at_once = 512

    def __init__(self, evaluator: _Evaluator, n_columns: int, shared: Shared | None) -> None:
        self._evaluator, self.n_columns, self.shared = evaluator, n_columns, shared

    def arranged(self, labels: Labels) -> Labels:
        return np.ascontiguousarray(labels, dtype=np.int64)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        return self._evaluator.values(np.ascontiguousarray(weights, dtype=np.float64), labels, targets)


@final
class _Predicted:
    """Confidence and correctness of mixtures, computed from the classes that can have the greatest probability in some mixture.

    Attributes
    ----------
    n_columns : int
    n_instances : int
    """

    def __init__(self, members: Floats, dtype: DTypeLike) -> None:
        least, greatest = members.min(axis=1), members.max(axis=1)
        possible = greatest >= least.max(axis=1, keepdims=True) - ROUNDING
        # Instances with the most possible classes come first: those with at least i classes are then the first rows.
        self._order = np.argsort(-possible.sum(axis=1), kind="stable")
        possible, members = possible[self._order], members[self._order]
        rank = np.where(possible, np.cumsum(possible, axis=1), 0)
        self._classes = []  # entry i: the possible class number i + 1 of each instance that has one
        for i in range(1, int(rank.max()) + 1):
            those = rank == i
            self._classes.append(those[those.any(axis=1)].argmax(axis=1))
        columns = [members[np.arange(len(classes)), :, classes] for classes in self._classes]
        self._by_member = np.ascontiguousarray(np.concatenate(columns).T, dtype=dtype)
        self.n_instances = len(members)
        self.n_columns = self._by_member.shape[1]

    def arranged(self, labels: Labels) -> Labels:
        return labels[:, self._order]

    def compiled(self, form: int, n_bins: int) -> "_Compiled | None":
        """The kernel of a calibration error of the confidence; it has the possible classes of an instance side by side."""
        build, shared = kernel("confidence_errors"), kernel("shared_confidence_errors")
        if build is None or shared is None:
            return None
        counts = np.zeros(self.n_instances, dtype=np.int64)
        for classes in self._classes:
            counts[: len(classes)] += 1
        first = np.concatenate([[0], np.cumsum(counts)])
        at = np.concatenate([first[: len(classes)] + i for i, classes in enumerate(self._classes)])
        probs, numbers = np.empty_like(self._by_member.T, order="C"), np.empty(len(at), dtype=np.int64)
        probs[at], numbers[at] = self._by_member.T, np.concatenate(self._classes)
        evaluator = build(probs, self._order, first, numbers, form, n_bins)
        edges = edges_of_equal_width(n_bins)[1:-1]

        def of_all(weights: Floats, labels: Labels) -> NDArray[np.float64]:
            return shared(weights, probs, self._order, first, numbers, labels, edges, form)

        return _Compiled(evaluator, self.n_columns, of_all if probs.dtype == np.float64 else None)

    def confidence_and_hits(self, weights: Floats, labels: Labels) -> tuple[Floats, NDArray[np.bool_]]:
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
class _BinsOfConfidence:
    """Bins of the greatest probability."""

    at_once = shared = None

    def __init__(self, members: Floats, n_bins: int, equal_mass: bool, dtype: DTypeLike) -> None:
        self._predicted = _Predicted(members, dtype)
        self._n_bins, self._equal_mass = n_bins, equal_mass
        self.n_columns, self.arranged = self._predicted.n_columns, self._predicted.arranged

    def compiled(self) -> _Compiled | None:
        if self._equal_mass and self._predicted.n_instances > MOST_SORTED:
            return None
        return self._predicted.compiled(FORMS["mass" if self._equal_mass else "width"], self._n_bins)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        labels = _of_targets(labels, targets)
        confidence, hit = self._predicted.confidence_and_hits(weights, labels)
        if self._equal_mass:
            edges, _ = sums_of_equal_mass(confidence, self._n_bins)
            at = _numbers(len(weights)) * self._n_bins + edges.passed(confidence)
        else:
            at = _bins(confidence, self._n_bins, None, self._n_bins)
        amounts = np.subtract(confidence, hit, out=scratch("amounts", hit.shape))
        excess = _sums(at, len(weights), self._n_bins, amounts)
        return np.abs(excess, out=excess).sum(axis=1) / hit.shape[1]


@final
class _CumulatedConfidence:
    """Cumulated differences of confidence and correctness.

    The bits of a positive number rise with the number. Confidences are sorted as whole numbers with the correctness as an
    additional last bit, in place of an order in which both are then looked up.
    """

    at_once = shared = None

    def __init__(self, members: Floats, statistic: Statistic, dtype: DTypeLike) -> None:
        self._predicted, self._statistic = _Predicted(members, dtype), statistic
        self.n_columns, self.arranged = self._predicted.n_columns, self._predicted.arranged

    def compiled(self) -> _Compiled | None:
        return self._predicted.compiled(FORMS[self._statistic], 1)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        labels = _of_targets(labels, targets)
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


@final
class _ClassesOfEqualWidth:
    """Equally wide bins of the probability of every class.

    Probabilities that stay in one bin for every mixture are summed once for each member; the sum of a mixture is then linear.
    """

    at_once = shared = None

    def __init__(self, members: Floats, n_bins: int, dtype: DTypeLike) -> None:
        self._members = members
        n, m, n_classes = members.shape
        edges = Edges(edges_of_equal_width(n_bins)[1:-1], including=False)
        by_class = members.transpose(1, 2, 0).reshape(m, n_classes * n)  # entry k n + i: class k of instance i
        first_bin = np.repeat(np.arange(n_classes, dtype=np.intp) * n_bins, n)
        lowest, highest = (edges.passed(ends) for ends in (by_class.min(axis=0), by_class.max(axis=0)))
        moves, stays = np.flatnonzero(lowest != highest), np.flatnonzero(lowest == highest)
        moves = moves[np.lexsort((highest[moves], lowest[moves], first_bin[moves]))]  # those of the same bins together
        self._moving = np.ascontiguousarray(by_class[:, moves], dtype=dtype)
        self._first_bin = first_bin[moves]
        self._column = np.full(n_classes * n, -1, dtype=np.intp)  # column in `_moving`; -1 for a probability that stays
        self._column[moves] = np.arange(len(moves))
        self._settled = first_bin + lowest  # bin numbers, counted on from class to class
        self._n_all = n_classes * n_bins
        sums = [np.bincount(self._settled[stays], row[stays], minlength=self._n_all) for row in by_class]
        self._staying = np.stack(sums)
        self._n, self._n_classes, self._n_bins = n, n_classes, n_bins
        self.n_columns = len(moves) + self._n_all

    def arranged(self, labels: Labels) -> Labels:
        return labels * self._n + np.arange(self._n)  # entries of the observed classes

    def compiled(self) -> _Compiled | None:
        build, shared = kernel("class_width_errors"), kernel("shared_class_width_errors")
        if build is None or shared is None:
            return None
        moving, staying = np.ascontiguousarray(self._moving.T), np.ascontiguousarray(self._staying.T, dtype=np.float64)
        evaluator = build(moving, self._first_bin, self._column, self._settled, staying, self._n_classes, self._n_bins)
        of_all: Shared | None = None
        if moving.dtype == np.float64 and self._n_all <= MOST_BINS:
            n, m, n_classes = self._members.shape
            by_class = self._members.transpose(2, 0, 1).reshape(n_classes * n, m)
            probs, edges = quick_numbers(by_class, np.float64), edges_of_equal_width(self._n_bins)[1:-1]

            of_all = partial(_of_classes, shared, probs, edges)
        return _Compiled(evaluator, self.n_columns, of_all)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        labels = _of_targets(labels, targets)
        n_mixtures, n_all = len(weights), self._n_all
        moving = products_of(weights, self._moving, "mixtures")
        at = _bins(moving, self._n_bins, self._first_bin, n_all)
        column, happened = self._column[labels], self._settled[labels] + _numbers(n_mixtures) * n_all
        if moving.shape[1]:
            own = at.reshape(-1).take(np.maximum(column, 0) + _numbers(n_mixtures) * moving.shape[1])
            happened = np.where(column >= 0, own, happened)
        excess = products_of(weights, self._staying) + _sums(at, n_mixtures, n_all, moving)
        excess -= _sums(happened, n_mixtures, n_all)
        return np.abs(excess, out=excess).sum(axis=1) / (self._n * self._n_classes)


@final
class _ClassesOfEqualMass:
    """Equally full bins of the probability of every class: all probabilities are computed and sorted."""

    at_once = shared = None

    def __init__(self, members: Floats, n_bins: int, dtype: DTypeLike, *, least_expected: float | None = None) -> None:
        n, m, n_classes = members.shape
        self._by_member = quick_numbers(members.transpose(1, 2, 0).reshape(m, n_classes * n), dtype)
        self._n, self._n_classes, self._n_bins, self._least = n, n_classes, n_bins, least_expected
        self.n_columns = n_classes * n

    def arranged(self, labels: Labels) -> Labels:
        return labels

    def compiled(self) -> _Compiled | None:
        build = kernel("class_mass_errors")
        if build is None or self._n > MOST_SORTED:
            return None
        probs, least = np.ascontiguousarray(self._by_member.T), -1.0 if self._least is None else self._least
        return _Compiled(build(probs, self._n_classes, self._n_bins, least), self.n_columns, None)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        labels = _of_targets(labels, targets)
        n_mixtures, n, n_classes, n_bins = len(weights), self._n, self._n_classes, self._n_bins
        probs = products_of(weights, self._by_member, "mixtures")
        row = _numbers(n_mixtures)
        own = probs.reshape(-1).take(labels * n + np.arange(n) + row * (n_classes * n))
        edges, expected = sums_of_equal_mass(probs.reshape(n_mixtures, n_classes, n), n_bins, overwrite=True)
        place = edges.passed(own, labels + row * n_classes)
        observed = _sums(labels * n_bins + row * (n_classes * n_bins) + place, n_mixtures, n_classes * n_bins)
        expected = expected.reshape(observed.shape).astype(np.float64, copy=False)
        excess = expected - observed
        if self._least is None:
            return np.abs(excess, out=excess).sum(axis=1) / (n * n_classes)
        shape = (n_mixtures, n_classes, n_bins)
        return chi_squared(excess.reshape(shape), expected.reshape(shape), self._least)


def _bins(probs: Floats, n_bins: int, first_bin: Labels | None, n_all: int) -> NDArray[np.intp]:
    """Bin numbers of equally wide bins (low, high], for confidences (L, n) or for probabilities by class (L, C).

    Numbers are counted on from mixture to mixture. The result is a scratch array that the next call overwrites.
    """
    place = scratch("places", probs.shape, probs.dtype)
    np.multiply(probs, n_bins * (1 - BELOW * float(np.finfo(probs.dtype).eps)), out=place)
    np.ceil(place, out=place)
    np.minimum(place, n_bins, out=place)
    offsets = [_numbers(len(probs)) * n_all - 1]
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


def _of_classes(
    shared: Callable[..., NDArray[np.float64]], probs: Floats, edges: Floats, weights: Floats, labels: Labels
) -> NDArray[np.float64]:
    return shared(weights, probs, labels, edges)


def _of_targets(labels: Labels, targets: Labels) -> Labels:
    """Labels (T, n) of each mixture, (L, n), or (1, n) if there is one draw of labels only."""
    return labels if len(labels) == 1 else labels[targets]


def _numbers(n: int) -> NDArray[np.intp]:
    return np.arange(n, dtype=np.intp)[:, np.newaxis]


def _sums(at: NDArray[np.intp], n_mixtures: int, n_bins: int, amounts: Floats | None = None) -> NDArray[np.float64]:
    """Count, or sum of amounts (L, C), in each bin, (L, B)."""
    sums = np.bincount(at.ravel(), None if amounts is None else amounts.ravel(), minlength=n_mixtures * n_bins)
    return sums.reshape(n_mixtures, n_bins).astype(np.float64, copy=False)
