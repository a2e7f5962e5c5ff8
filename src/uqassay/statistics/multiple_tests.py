"""P-values adjusted for the number of tests."""

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.statistics.samples import Floats

__all__ = ["benjamini_hochberg", "holm"]


def holm(pvalues: ArrayLike) -> Floats:
    """Holm's adjusted p-values, which control the probability of any false rejection under any dependence.

    Parameters
    ----------
    pvalues : array_like, any shape
        nan stays nan and does not count as a test.

    Returns
    -------
    adjusted : ndarray, same shape

    Raises
    ------
    InputError
        When a p-value lies outside [0, 1].

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p, defined, order = _sorted_pvalues(pvalues)
    m = order.size
    ranked = p[defined][order]
    return _scatter(np.minimum(1.0, np.maximum.accumulate(ranked * np.arange(m, 0, -1))), p, defined, order)


def benjamini_hochberg(pvalues: ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, which control the false discovery rate of independent tests.

    The false discovery rate is the expected share of false rejections among all rejections.

    Parameters
    ----------
    pvalues : array_like, any shape
        nan stays nan and does not count as a test.

    Returns
    -------
    adjusted : ndarray, same shape

    Raises
    ------
    InputError
        When a p-value lies outside [0, 1].

    References
    ----------
    Benjamini, Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p, defined, order = _sorted_pvalues(pvalues)
    m = order.size
    stepped = p[defined][order] * m / np.arange(1, m + 1)
    return _scatter(np.minimum(1.0, np.minimum.accumulate(stepped[::-1])[::-1]), p, defined, order)


def _sorted_pvalues(pvalues: ArrayLike) -> tuple[Floats, np.ndarray, np.ndarray]:
    p = np.asarray(pvalues, dtype=np.float64)
    defined = ~np.isnan(p)
    bad = np.argwhere(defined & ((p < 0) | (p > 1)))
    if bad.size:
        where = tuple(bad[0].tolist())
        raise InputError(
            "pvalues",
            "must lie in [0, 1]",
            f"index {where} has {p[where]}",
            "pass p-values, or nan where there is no test",
            code="range",
        )
    return p, defined, np.argsort(p[defined], kind="stable")


def _scatter(adjusted: Floats, p: Floats, defined: np.ndarray, order: np.ndarray) -> Floats:
    unsorted = np.empty_like(adjusted)
    unsorted[order] = adjusted
    result = np.full(p.shape, np.nan)
    result[defined] = unsorted
    return result
