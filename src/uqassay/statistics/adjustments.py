"""P-values adjusted for the number of tests."""

from collections.abc import Callable
from functools import lru_cache
from math import comb, isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_numeric
from uqassay.checks import fail
from uqassay.errors import InputError

__all__ = ["Adjust", "benjamini_hochberg", "holm", "in_families", "shaffer", "shaffer_factor"]

Adjust = Callable[[Floats], Floats]  # a symmetric table of p-values → adjusted ones


def holm(pvalues: ArrayLike) -> Floats:
    """Holm's adjusted p-values, which control the probability of any false rejection under any dependence.

    Parameters
    ----------
    pvalues : array_like, any shape
        nan stays nan and does not count as a test.

    Returns
    -------
    adjusted : ndarray, same shape

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


def shaffer(pvalues: ArrayLike) -> Floats:
    """Shaffer's adjusted p-values of all pairs of J means: Holm's with the logical constraints among the pairs.

    Equalities of means constrain each other: of three means, exactly two cannot be the only equal pairs. After i − 1
    rejections, Holm multiplies the next p-value by the number of the remaining tests, and Shaffer by the greatest number of
    equalities that can still hold. The probability of any false rejection stays below α under any dependence.

    Parameters
    ----------
    pvalues : array_like, shape (J, J) or (J(J − 1)/2,)
        A symmetric table, whose diagonal is ignored, or its upper triangle row by row. nan stays nan and does not count as a
        test.

    Returns
    -------
    adjusted : ndarray, same shape
        nan on the diagonal.

    References
    ----------
    Shaffer (1986), Modified sequentially rejective multiple test procedures, J. Am. Stat. Assoc. 81 (procedure S1).

    Examples
    --------
    >>> shaffer([0.01, 0.03, 0.04]).round(3).tolist()  # three means: 3, 1 and 1 equalities
    [0.03, 0.03, 0.04]
    """
    given = _numbers(pvalues)
    if given.ndim == 1:
        j = (1 + isqrt(1 + 8 * given.size)) // 2
        if j * (j - 1) // 2 != given.size:
            raise _not_pairs(f"got {given.size} values")
        return _shaffer_list(given, j)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise _not_pairs(f"got shape {given.shape}")
    upper = np.triu_indices(given.shape[0], 1)
    if not np.array_equal(given[upper], given.T[upper], equal_nan=True):
        fail(
            "pvalues",
            "a table must be symmetric",
            "some pair has two p-values",
            "pass two-sided p-values",
            code="mismatch",
        )
    table = np.full(given.shape, np.nan)
    table[upper] = table.T[upper] = _shaffer_list(given[upper], given.shape[0])
    return table


def in_families(references: NDArray[np.bool_]) -> Adjust:
    """The adjustment of tables (J, J) whose pairs with a reference are a family of their own, (J,) marks the references.

    So a comparison of two models does not depend on what else they are compared with.

    Examples
    --------
    >>> p = np.array([[np.nan, 0.03, 0.01], [0.03, np.nan, 0.04], [0.01, 0.04, np.nan]])
    >>> in_families(np.array([False, False, True]))(p).round(3).tolist()
    [[nan, 0.03, 0.02], [0.03, nan, 0.04], [0.02, 0.04, nan]]
    """

    def adjusted(pvalues: Floats) -> Floats:
        table = np.full(pvalues.shape, np.nan)
        models = np.ix_(~references, ~references)
        table[models] = shaffer(pvalues[models]) if not references.all() else np.nan
        with_reference = np.triu(np.logical_xor.outer(references, references))
        table[with_reference] = holm(pvalues[with_reference])
        return np.where(with_reference.T, table.T, table)

    return adjusted


def shaffer_factor(pvalues: ArrayLike, alpha: float) -> int:
    """The factor by which Shaffer's procedure multiplies the p-values of the pairs that it does not reject at level α.

    Such a pair would be rejected with a p-value of α over this factor, if the other p-values stayed the same.

    Parameters
    ----------
    pvalues : array_like, shape (J, J) or (J(J − 1)/2,)
        As in `shaffer`.
    alpha : float

    Examples
    --------
    >>> shaffer_factor([0.01, 0.03, 0.04], 0.05), shaffer_factor([0.01, 0.3, 0.4], 0.05), shaffer_factor([0.1, 0.3, 0.4], 0.05)
    (1, 1, 3)
    """
    adjusted = shaffer(pvalues)
    listed = adjusted if adjusted.ndim == 1 else adjusted[np.triu_indices(len(adjusted), 1)]
    m, rejected = int(np.isfinite(listed).sum()), int((listed <= alpha).sum())
    if rejected >= m:
        return 1
    j = (1 + isqrt(1 + 8 * listed.size)) // 2
    return int(min(_equalities(j)[rejected], m - rejected))


def _shaffer_list(pvalues: Floats, j: int) -> Floats:
    p, defined, order = _sorted_pvalues(pvalues)
    m = order.size
    # pairs without a test cannot be rejected, so that the equalities among the others are at most the tests left
    factors = np.minimum(_equalities(j)[:m], np.arange(m, 0, -1))
    ranked = p[defined][order]
    return _scatter(np.minimum(1.0, np.maximum.accumulate(ranked * factors)), p, defined, order)


@lru_cache(maxsize=64)
def _equalities(j: int) -> Floats:
    """The most equalities of J means that can hold if at least i − 1 pairs differ, for i = 1 … J(J − 1)/2."""
    # bit t of possible[k] is set if some partition of k means into blocks of equal means has t equal pairs
    possible = [1]
    for k in range(1, j + 1):
        bits = 0
        for block in range(1, k + 1):
            bits |= possible[k - block] << comb(block, 2)
        possible.append(bits)
    pairs = comb(j, 2)
    factors, last = np.empty(pairs), 0
    for t in range(1, pairs + 1):  # at most t pairs may still be equal
        last = t if possible[j] >> t & 1 else last
        factors[pairs - t] = last
    factors.flags.writeable = False
    return factors


def _not_pairs(got: str) -> InputError:
    return InputError(
        "pvalues",
        "must hold one p-value for each pair of J means, as a table (J, J) or as a list of J(J − 1)/2",
        got,
        "pass the upper triangle of the table",
        code="shape",
    )


def _numbers(pvalues: ArrayLike) -> Floats:
    """The p-values as float64; none at all are allowed."""
    return as_numeric(pvalues, "pvalues").astype(np.float64, copy=False)


def _sorted_pvalues(pvalues: ArrayLike) -> tuple[Floats, np.ndarray, np.ndarray]:
    p = _numbers(pvalues)
    defined = ~np.isnan(p)
    bad = np.argwhere(defined & ((p < 0) | (p > 1)))
    if bad.size:
        where = tuple(bad[0].tolist())
        remedy = "pass p-values, or nan where there is no test"
        fail("pvalues", "must lie in [0, 1]", f"index {where} has {p[where]}", remedy, code="range")
    return p, defined, np.argsort(p[defined], kind="stable")


def _scatter(adjusted: Floats, p: Floats, defined: np.ndarray, order: np.ndarray) -> Floats:
    unsorted = np.empty_like(adjusted)
    unsorted[order] = adjusted
    result = np.full(p.shape, np.nan)
    result[defined] = unsorted
    return result
