"""Calibration errors of every class of mixtures; probabilities that no mixture moves to another bin are summed once."""

from copy import copy
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.calibration.mixture_evaluators import (
    MOST_SORTED,
    Compiled,
    Floats,
    Labels,
    bins_of_equal_width,
    numbers,
    of_targets,
    sums_of_bins,
)
from uqassay.calibration.mixture_products import products_of, quick_numbers
from uqassay.metrics.calibration.bins import Edges, sums_of_equal_mass
from uqassay.metrics.calibration.edges import inner_edges
from uqassay.metrics.calibration.hosmer_lemeshow import chi_squared

__all__ = ["ClassesOfEqualMass", "ClassesOfEqualWidth"]

MOST_BINS = 2**16 - 1  # of all classes, for the kernel


@final
class ClassesOfEqualWidth:
    """Equally wide bins of the probability of every class.

    Probabilities that stay in one bin for every mixture are summed once for each member; the sum of a mixture is then linear.
    """

    at_once = shared = evaluator = None

    def __init__(self, members: Floats, n_bins: int) -> None:
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

        def of_all(weights: Floats, labels: Labels) -> NDArray[np.float64]:
            return shared(weights, self._by_class, labels, edges)

        fits = moving.dtype == np.float64 and self._n_all <= MOST_BINS
        return Compiled(evaluator, self.n_columns, of_all if fits else None, self)

    @cached_property
    def _by_class(self) -> Floats:
        """Probabilities (K n, M) in the layout of the kernel for mixtures that all draws share."""
        n, m, n_classes = self._members.shape
        return quick_numbers(self._members.transpose(2, 0, 1).reshape(n_classes * n, m), np.float64)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
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

    def __init__(self, members: Floats, n_bins: int, *, least_expected: float | None = None) -> None:
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

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
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
