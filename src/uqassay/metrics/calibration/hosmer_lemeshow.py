"""The Hosmer-Lemeshow statistic for several classes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from uqassay.statistics.samples import check_choice

__all__ = [
    "PrepareHosmerLemeshow",
    "bins_of_events",
    "hosmer_lemeshow_statistic",
    "prepare_hosmer_lemeshow_paper_code",
    "statistic_of_bins",
    "statistic_of_excess",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Form = Literal["counts", "proportions"]
Bins = Literal["classwise", "common"]

LEAST = 5e-324  # the smallest number above 0


def hosmer_lemeshow_statistic(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    n_bins: int = 5,
    form: Form = "counts",
    bins: Bins = "classwise",
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
    return statistic_of_bins(bins_of_events(checked, int(n_bins), bins), labels, form)[()]


@final
@dataclass(frozen=True)
class PrepareHosmerLemeshow:
    """Factory of `PreparedBins` for the statistic, with its options."""

    n_bins: int = 5
    binning: Binning = "mass"
    form: Form = "counts"

    def __call__(self, probs: Floats) -> PreparedBins:
        """Bins of probabilities (..., n, K)."""
        return PreparedBins(
            bins_of_classes(probs, self.n_bins, self.binning), partial(statistic_of_excess, form=self.form)
        )


def prepare_hosmer_lemeshow_paper_code(*, n_bins: int = 5) -> Callable[[Floats], PreparedBins]:
    """Factory of the statistic with the bins of paper 001's authors, and nan for 0 / 0."""
    return partial(prepare_bins, bins=partial(bins_of_ranks, n_bins=n_bins), combine=_unguarded)


def bins_of_events(probs: Floats, n_bins: int, bins: Bins) -> CalibrationBins:
    """Equally full bins of the events of one data set or of a batch."""
    return bins_of_classes(probs, n_bins, "mass") if bins == "classwise" else bins_of_first_class(probs, n_bins)


def statistic_of_bins(bins: CalibrationBins, labels: Labels, form: Form) -> Floats:
    """Σ (O − E)² / E over bins and classes, (...)."""
    return statistic_of_excess(bins, bins.expected - bins.observed(labels), form=form)


def statistic_of_excess(
    bins: CalibrationBins, excess: Floats, squares: Floats | None = None, *, form: Form = "counts"
) -> Floats:
    """The statistic for E − O in each bin, (..., K, B) -> (...)."""
    differ = excess**2
    by = bins.expected if form == "counts" else bins.expected * bins.size
    with np.errstate(over="ignore"):
        # Nothing expected: 0 / tiny = 0 without events, and an overflow to +inf with events.
        terms = differ / np.maximum(by, LEAST)
        return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1)


def _unguarded(bins: CalibrationBins, excess: Floats, squares: Floats | None = None) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = excess**2 / bins.expected
        return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1)
