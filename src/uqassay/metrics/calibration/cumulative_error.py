"""Cumulative calibration errors: the greatest difference of observed and expected events up to some probability."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import argmax_of_rows
from uqassay._kernels import kernel
from uqassay._one_order import in_one_order
from uqassay.metrics.calibration.group_signs import GroupSums, Signed, summed
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = ["PrepareCumulative", "Statistic", "cumulative_calibration_error"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
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

    Returns
    -------
    float, or array of the shape of the leading axes of a batch

    Raises
    ------
    InputError
        Invalid labels or probabilities.

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
    check_choice(by, "by", ("confidence", "classwise"))
    check_choice(statistic, "statistic", ("ks", "kuiper"))
    labels, checked = labels_and_probs(y_true, probs, batched=batched)
    return PrepareCumulative(by, statistic)(checked).values(labels)[()]


@final
@dataclass(frozen=True)
class PrepareCumulative:
    """Factory of the measure for many labels."""

    by: Notion = "confidence"
    statistic: Statistic = "ks"

    def __call__(self, probs: Floats) -> "PreparedConfidence | PreparedClasses":
        """Order probabilities (..., n, K)."""
        if self.by == "classwise":
            return PreparedClasses.of(np.ascontiguousarray(np.swapaxes(probs, -1, -2)), self.statistic)
        return PreparedConfidence.of(probs, self.statistic)


@final
@dataclass(frozen=True, eq=False)
class PreparedConfidence:
    """Confidences in rising order.

    Attributes
    ----------
    event : int array (..., n)
        Predicted class of each instance.
    order : int array (..., n)
        Instances in rising order of confidence.
    rising : array (..., n)
        Their confidences.
    ends : bool array (..., n)
        Whether the next confidence is greater: between equal ones C(t) is not evaluated.
    statistic : str
    """

    event: Labels
    order: Labels
    rising: Floats
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
    """Confidence minus hit in rising order of the confidence, as a function of the signs of the groups.

    Attributes
    ----------
    groups : int array (n,)
        Group 0 … G − 1 of each.
    deviations : array (n,)
    ends : bool array (n,)
        As in `PreparedConfidence`.
    statistic : str
    """

    groups: Labels
    deviations: Floats
    ends: NDArray[np.bool_]
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
    """Probabilities of every class in rising order.

    Attributes
    ----------
    by_class : array (..., K, n)
    below : int array (..., K, n)
        Number of smaller probabilities of the same class.
    before, until : array (..., K, n)
        At place j: the sum of the j smallest probabilities of the class; and the sum with all that equal the next one.
    total : array (..., K)
        Sum of the probabilities of the class.
    statistic : str
    """

    by_class: Floats
    below: Labels
    before: Floats
    until: Floats
    total: Floats
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


# -- helpers ----------------------------------------------------------------------------------------------------------


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
