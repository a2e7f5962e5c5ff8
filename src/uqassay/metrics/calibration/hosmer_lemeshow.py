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
from uqassay.metrics.calibration.inputs import calibration_batch
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = [
    "PrepareHosmerLemeshow",
    "bins_of_events",
    "hosmer_lemeshow_statistic",
    "prepare_hosmer_lemeshow_paper_code",
    "statistic_of_bins",
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
) -> np.float64 | Floats:
    """Squared differences of observed and expected counts over the expected ones, in equally full bins.

    Parameters
    ----------
    y_true : array (..., n)
        Labels 0 … K − 1. Leading axes are broadcast with those of `probs`.
    probs : array (..., n, K)
    n_bins : int
        Bins for each class.
    form : {"counts", "proportions"}
        Σ (O − E)² / E with numbers of events, which is about chi-squared for a calibrated classifier; or the same with
        O and E divided by the number of instances in the bin, as printed in paper 001, equation 2.
    bins : {"classwise", "common"}
        Equally full bins of every class's own probability; or those of class 0's for all classes.

    Returns
    -------
    float, or array of the shape of the leading axes
        +inf where an event happened in a bin in which all its probabilities are 0. A bin without event and with
        probabilities 0, or without instances, adds 0.

    Raises
    ------
    InputError
        Input as described by the message.

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
    labels, checked = calibration_batch(y_true, probs)
    return statistic_of_bins(bins_of_events(checked, int(n_bins), bins), labels, form)[()]


@final
@dataclass(frozen=True)
class PrepareHosmerLemeshow:
    """What prepares the bins of the statistic; for use by other rooms."""

    n_bins: int = 5
    binning: Binning = "mass"
    form: Form = "counts"

    def __call__(self, probs: Floats) -> PreparedBins:
        """Bins of probabilities (..., n, K)."""
        return PreparedBins(
            bins_of_classes(probs, self.n_bins, self.binning), partial(statistic_of_bins, form=self.form)
        )


def prepare_hosmer_lemeshow_paper_code(*, n_bins: int = 5) -> Callable[[Floats], PreparedBins]:
    """As `PrepareHosmerLemeshow` with the bins of paper 001's authors, and nan for 0 / 0."""
    return partial(prepare_bins, bins=partial(bins_of_ranks, n_bins=n_bins), combine=_unguarded)


def bins_of_events(probs: Floats, n_bins: int, bins: Bins) -> CalibrationBins:
    """Equally full bins of the events of one data set or of a batch."""
    return bins_of_classes(probs, n_bins, "mass") if bins == "classwise" else bins_of_first_class(probs, n_bins)


def statistic_of_bins(bins: CalibrationBins, labels: Labels, form: Form) -> Floats:
    """Σ (O − E)² / E over bins and classes, (...)."""
    observed = bins.observed(labels)
    differ = (observed - bins.expected) ** 2
    by = bins.expected if form == "counts" else bins.expected * bins.size
    with np.errstate(over="ignore"):
        terms = differ / np.maximum(by, LEAST)  # where nothing is expected 0, or +inf if something happened
        return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1)


def _unguarded(bins: CalibrationBins, labels: Labels) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = (bins.observed(labels) - bins.expected) ** 2 / bins.expected
        return terms.reshape(*terms.shape[:-2], -1).sum(axis=-1)
