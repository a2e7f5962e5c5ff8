"""Exact tests and bounds of an error rate from counts of independent instances, at many thresholds at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

__all__ = ["binomial_pvalues", "least_kept", "most_errors", "rejection_power", "upper_error_rate"]

MOST_KEPT = 10**9
GROWTH = 1.01  # from one size tried to the next


def binomial_pvalues(errors: ArrayLike, kept: ArrayLike, risk: float) -> Floats:
    """p-values against an error rate above `risk`: P(Binomial(kept, risk) ≤ errors).

    Parameters
    ----------
    errors, kept : array_like of whole numbers
        Errors among so many instances. Without instances the p-value is 1.
    risk : float
        In [0, 1].

    Examples
    --------
    >>> binomial_pvalues([0, 1, 0], [58, 100, 0], 0.05).round(4).tolist()
    [0.051, 0.0371, 1.0]
    """
    k, n = np.floor(np.asarray(errors, dtype=np.float64)), np.asarray(kept).astype(np.int64)
    return np.asarray(np.where(n > 0, special.bdtr(k, np.maximum(n, 1), risk), 1.0))


def upper_error_rate(errors: ArrayLike, kept: ArrayLike, confidence: float) -> Floats:
    """Clopper-Pearson upper bounds of error rates, one-sided; 1 without instances.

    The bound is at most `risk` exactly if the p-value of `binomial_pvalues` is at most 1 − confidence.

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26.

    Examples
    --------
    >>> upper_error_rate([0, 1], [59, 100], 0.95).round(4).tolist()
    [0.0495, 0.0466]
    """
    k, n = np.asarray(errors, dtype=np.float64), np.asarray(kept, dtype=np.float64)
    right = n - k
    found = special.betaincinv(k + 1, np.maximum(right, 1.0), confidence)
    return np.asarray(np.where(right > 0, found, 1.0))


def most_errors(kept: ArrayLike, risk: float, alpha: float) -> Floats:
    """Most errors among so many instances that still reject an error rate above `risk`; −1 if not even 0 errors do.

    Examples
    --------
    >>> most_errors([58, 59, 100], 0.05, 0.05).tolist()
    [-1.0, 0.0, 1.0]
    """
    n = np.asarray(kept).astype(np.int64)
    with np.errstate(invalid="ignore"):
        near = np.floor(special.bdtrik(alpha, np.maximum(n, 1).astype(np.float64), risk))
    near = np.clip(np.nan_to_num(near, nan=-1.0), -1.0, n)
    found = np.full(n.shape, -1.0)
    for step in (-1.0, 0.0, 1.0):  # the inverse is continuous, so its floor may be off by one
        tried = np.clip(near + step, 0, n)
        found = np.where(binomial_pvalues(tried, n, risk) <= alpha, np.maximum(found, tried), found)
    return found


def rejection_power(rate: ArrayLike, kept: ArrayLike, risk: float, alpha: float) -> Floats:
    """Probability that an error rate above `risk` is rejected at level `alpha` if the error rate is `rate`.

    Examples
    --------
    >>> rejection_power([0.0, 0.01, 0.05], [59, 59, 59], 0.05, 0.05).round(3).tolist()
    [1.0, 0.553, 0.048]
    """
    n = np.asarray(kept).astype(np.int64)
    most = most_errors(n, risk, alpha)
    power = special.bdtr(np.maximum(most, 0.0), np.maximum(n, 1), np.asarray(rate, dtype=np.float64))
    return np.asarray(np.where(most >= 0, power, 0.0))


def least_kept(rate: float, risk: float, alpha: float, *, start: int = 1) -> int | None:
    """About how many instances kept would reject an error rate above `risk` if a share `rate` of them is wrong.

    None if `rate` is not below `risk`, or if more than 10⁹ would be needed.

    Examples
    --------
    >>> least_kept(0.0, 0.05, 0.05), least_kept(0.02, 0.05, 0.05), least_kept(0.05, 0.05, 0.05)
    (59, 181, None)
    """
    if not rate < risk:
        return None
    first = start
    while first <= MOST_KEPT:
        sizes = np.unique(np.ceil(first * GROWTH ** np.arange(256))).astype(np.int64)
        met = np.flatnonzero(binomial_pvalues(np.ceil(rate * sizes), sizes, risk) <= alpha)
        if met.size:
            return int(sizes[met[0]])
        first = int(sizes[-1]) + 1
    return None
