"""Absolute value of a mean that is known up to a normal error: without the excess that the error adds, and its variance."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from uqassay.statistics.samples import Floats

__all__ = [
    "bias_of_debiased",
    "debiased_absolute",
    "excess_scale",
    "folded_mean",
    "greatest_bias",
    "variance_of_absolute",
    "variance_of_debiased",
]

BUMP = float(2 / np.sqrt(np.pi))  # E [BUMP exp(−z²/2)] = E |z| for a standard normal z
HALF_NORMAL_MEAN = float(np.sqrt(2 / np.pi))
WORST = 1.01  # true value, in standard errors, at which the bias of `debiased_absolute` is greatest
DOUBT = 2.0  # standard errors by which the true value may differ from the estimate in `greatest_bias`
TINY = np.finfo(np.float64).tiny


def folded_mean(mean: NDArray[np.float64] | float, sd: NDArray[np.float64] | float) -> Floats:
    """E |N(mean, sd²)|.

    Examples
    --------
    >>> float(folded_mean(0.0, 1.0).round(4)), float(folded_mean(2.0, 0.0))
    (0.7979, 2.0)
    """
    ratio = np.abs(mean) / np.maximum(sd, TINY)
    with np.errstate(over="ignore"):
        return np.asarray(sd * HALF_NORMAL_MEAN * np.exp(-(ratio**2) / 2) + np.abs(mean) * (1 - 2 * ndtr(-ratio)))


def debiased_absolute(value: Floats, standard_error: Floats, scale: Floats | float = 1.0) -> Floats:
    """|value| − scale (2/√π) s exp(−value²/2 s²), whose mean is 0 if the true value is 0.

    Parameters
    ----------
    value, standard_error : arrays
        Normal estimates of true values, and their standard errors s.
    scale : array or float
        1 for normal errors, or that of `excess_scale`.

    Notes
    -----
    No function of the estimate has the mean |true value| everywhere, since |·| has a corner. The bias of this one is 0 at 0,
    −.35, −.45, −.40, −.28, −.08 and −.01 s at true values of .5, 1, 1.5, 2, 3 and 4 s.

    Examples
    --------
    >>> debiased_absolute(np.array([0.0, 1.0, 5.0]), np.ones(3)).round(3).tolist()
    [-1.128, 0.316, 5.0]
    """
    with np.errstate(over="ignore"):
        bump = np.exp(-((value / np.maximum(standard_error, TINY)) ** 2) / 2)
    return np.asarray(np.abs(value) - scale * BUMP * standard_error * bump)


def excess_scale(draws: Floats) -> Floats:
    """The scale for `debiased_absolute` that makes the mean 0 for errors distributed as the draws, (B, M) -> (M,)."""
    size = np.sqrt((draws**2).mean(axis=0))
    z = draws / np.where(size > 0, size, 1.0)
    return np.asarray(np.abs(z).mean(axis=0) / (BUMP * np.exp(-(z**2) / 2).mean(axis=0)))


def variance_of_absolute(true_ratio: Floats) -> Floats:
    """Variance of |N(δ, 1)|.

    Examples
    --------
    >>> variance_of_absolute(np.array([0.0, 9.0])).round(3).tolist()
    [0.363, 1.0]
    """
    return np.asarray(1 + true_ratio**2 - folded_mean(true_ratio, 1.0) ** 2)


def variance_of_debiased(true_ratio: Floats) -> Floats:
    """Variance of `debiased_absolute` of N(δ, 1).

    Examples
    --------
    >>> variance_of_debiased(np.array([0.0, 9.0])).round(3).tolist()
    [0.835, 1.0]
    """
    fade = np.exp(-(true_ratio**2) / 4) / np.sqrt(2)  # E exp(−z²/2)
    square = BUMP**2 * np.exp(-(true_ratio**2) / 3) / np.sqrt(3)
    product = BUMP * fade * folded_mean(true_ratio / 2, float(np.sqrt(0.5)))  # E |z| exp(−z²/2)
    mean = folded_mean(true_ratio, 1.0) - BUMP * fade
    return np.asarray(1 + true_ratio**2 + square - 2 * product - mean**2)


def bias_of_debiased(true_ratio: Floats) -> Floats:
    """Mean of `debiased_absolute` of N(δ, 1) minus δ, for δ ≥ 0. Never positive.

    Examples
    --------
    >>> bias_of_debiased(np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0])).round(2).tolist()
    [0.0, -0.35, -0.45, -0.28, -0.08, -0.01]
    """
    fade = np.exp(-(true_ratio**2) / 4) / np.sqrt(2)
    return np.asarray(folded_mean(true_ratio, 1.0) - true_ratio - BUMP * fade)


def greatest_bias(ratio: Floats) -> Floats:
    """Greatest |bias| of `debiased_absolute`, in standard errors, over true values within 2 of an estimate.

    Examples
    --------
    >>> greatest_bias(np.array([0.0, 3.0, 5.0, 9.0])).round(3).tolist()
    [0.455, 0.455, 0.083, 0.0]
    """
    nearest = np.maximum(np.abs(ratio) - DOUBT, WORST)
    return -bias_of_debiased(nearest)
