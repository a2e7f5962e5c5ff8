"""Fast calibration errors of many mixtures, for the search over λ.

The probability of a mixture lies between the least and the greatest probability of the members. Most classes can therefore
never be the predicted class, and most probabilities never leave their bin of equal width. If the members mostly agree, only
a few per cent of the n K probabilities must be computed for each mixture. Single precision halves the work where mixtures
are only compared. The numbers differ from those of `uqassay.metrics` by rounding: they locate the minimum, and the measure
itself is then computed there.

The compiled kernels of uqassay-native have the mixtures side by side. Their numbers are the same bits where BLAS accumulates
products by fused multiply-add (up to 15 members), and within rounding elsewhere and for equally full bins.
"""

import numpy as np

from uqassay._kernels import kernel
from uqassay.calibration.mixture_classes import ClassesOfEqualMass, ClassesOfEqualWidth
from uqassay.calibration.mixture_confidences import BinsOfConfidence, CumulatedConfidence, Predicted
from uqassay.calibration.mixture_evaluators import Compiled, Floats, Formula, MixtureErrors
from uqassay.calibration.mixture_products import quick_numbers
from uqassay.metrics.calibration.binned_error import PrepareCalibrationError
from uqassay.metrics.calibration.cumulative_error import PrepareCumulative
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow
from uqassay.metrics.calibration.kernel_error import PrepareKernel

__all__ = ["errors_of_mixtures"]


def errors_of_mixtures(members: Floats, prepare: object) -> MixtureErrors | None:
    """Fast errors for members (n, M, K) in double precision; None for measures without a fast form."""
    match prepare:
        case PrepareKernel(estimator="linear", kernel="tv", bandwidth=bandwidth):
            return _pairs(members, 0.5 / (bandwidth or 1.0))
    found = _formula(members, prepare)
    return None if found is None else found.compiled() or found


def _pairs(members: Floats, scale: float) -> "Compiled | None":
    """Kernel errors of consecutive pairs, with exp(−scale ‖p − q‖₁); in double precision, because they are smooth and few."""
    build = kernel("pair_errors")
    if build is None:
        return None
    probs = quick_numbers(members.transpose(0, 2, 1), np.float64)
    return Compiled(build(probs, scale), members[:, 0].size, None, None)


def _formula(members: Floats, prepare: object) -> "Formula | None":
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
