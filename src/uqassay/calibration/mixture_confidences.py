"""Calibration errors of the confidence of mixtures; only classes that some mixture can predict are computed."""

from copy import copy
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import scratch
from uqassay._kernels import kernel
from uqassay.calibration.mixture_evaluators import (
    MOST_SORTED,
    Compiled,
    Floats,
    Formula,
    Labels,
    bins_of_equal_width,
    numbers,
    of_targets,
    sums_of_bins,
)
from uqassay.calibration.mixture_products import products_of
from uqassay.metrics.calibration.bins import sums_of_equal_mass
from uqassay.metrics.calibration.cumulative_error import Statistic
from uqassay.metrics.calibration.edges import inner_edges

__all__ = ["BinsOfConfidence", "CumulatedConfidence", "Predicted"]

ROUNDING = (
    1e-6  # a class is never predicted if its greatest probability is further than this below another class's least
)
FORMS = {"width": 0, "mass": 1, "kuiper": 2, "ks": 3}  # numbers of the kernel


@final
class Predicted:
    """Confidence and correctness of mixtures, computed from the classes that can have the greatest probability in some mixture.

    Attributes
    ----------
    n_columns : int
    n_instances : int
    """

    def __init__(self, members: Floats) -> None:
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
    def _by_member(self) -> Floats:
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

        def of_all(weights: Floats, labels: Labels) -> NDArray[np.float64]:
            return shared(weights, probs, self._order, self._first, self._numbers, labels, edges, form)

        return Compiled(evaluator, self.n_columns, of_all if probs.dtype == np.float64 else None, formula)

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

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
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

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
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
