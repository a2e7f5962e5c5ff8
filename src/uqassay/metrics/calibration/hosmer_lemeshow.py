"""The Hosmer-Lemeshow statistic for several classes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.calibration.binned_error import PreparedBins, prepare_bins
from uqassay.metrics.calibration.bins import (
    Binning,
    CalibrationBins,
    bins_of_classes,
    bins_of_first_class,
    bins_of_ranks,
    check_bins,
)
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice, is_number

__all__ = [
    "PrepareHosmerLemeshow",
    "bins_of_events",
    "check_least_expected",
    "chi_squared",
    "hosmer_lemeshow_statistic",
    "merged_bins",
    "prepare_hosmer_lemeshow_paper_code",
    "statistic_of_bins",
    "statistic_of_excess",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
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
        divided by the number of instances in the bin, as printed in paper 001, equation 2.
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

    Raises
    ------
    InputError
        Invalid labels or probabilities.

    References
    ----------
    Hosmer, Lemeshow (1980), Goodness of fit tests for the multiple logistic regression model; Fagerland, Hosmer, Bofin
    (2008), Multinomial goodness-of-fit tests for logistic regression models; paper 001, equation 2.

    Examples
    --------
    >>> probs = [[0.8, 0.2], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]]
    >>> print(hosmer_lemeshow_statistic([0, 1, 1, 1], probs, n_bins=2).round(4))
    0.881
    """
    check_bins(n_bins, "mass")
    check_choice(form, "form", ("counts", "proportions"))
    check_choice(bins, "bins", ("classwise", "common"))
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
    """Factory of the statistic with the bins of paper 001's authors, and nan for 0 / 0."""
    return partial(prepare_bins, bins=partial(bins_of_ranks, n_bins=n_bins), combine=_unguarded)


def bins_of_events(probs: Floats, n_bins: int, bins: Bins) -> CalibrationBins:
    """Equally full bins of the events of one data set or of a batch."""
    return bins_of_classes(probs, n_bins, "mass") if bins == "classwise" else bins_of_first_class(probs, n_bins)


def check_least_expected(least_expected: float, form: str) -> None:
    """Refuse a negative number of events, or one that has no effect."""
    if not (is_number(least_expected) and 0.0 <= least_expected < np.inf):
        raise InputError(
            "least_expected",
            "must be a finite number that is not negative",
            f"got {least_expected!r}",
            "pass 1, or 0 for no merging",
            code="range",
        )
    if least_expected and form != "counts":
        raise InputError(
            "least_expected",
            "can be set only with counts",
            f"got form={form!r}",
            "leave one of the two out",
            code="conflict",
        )


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
