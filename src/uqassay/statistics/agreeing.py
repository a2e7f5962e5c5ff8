"""Pairs that two readings of the same values tell apart in the same order."""

from dataclasses import replace

import numpy as np

from uqassay._conversion import as_numeric
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.statistics.comparisons import PairwiseComparisons
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer
from uqassay.statistics.samples import Floats

__all__ = ["agreeing_comparisons", "agreeing_pvalues"]


@in_one_order("first", "pvalue", "second", "second_pvalue")
def agreeing_pvalues(first: Floats, pvalue: Floats, second: Floats, second_pvalue: Floats) -> Floats:
    """p-values of two readings of the same differences; see `agreeing_comparisons`. For use by other rooms too.

    Examples
    --------
    >>> first, second = np.array([0.2, 0.2, 0.2]), np.array([0.3, -0.1, np.nan])
    >>> agreeing_pvalues(first, np.array([0.01, 0.01, 0.01]), second, np.array([0.02, 0.02, np.nan])).tolist()
    [0.02, 1.0, 0.01]
    """
    given = {"first": first, "pvalue": pvalue, "second": second, "second_pvalue": second_pvalue}
    first, pvalue, second, second_pvalue = (as_numeric(values, name) for name, values in given.items())
    alike = np.sign(first) * np.sign(second) > 0
    both = ~np.isnan(pvalue) & ~np.isnan(second_pvalue)
    return np.where(both, np.where(alike, np.fmax(pvalue, second_pvalue), 1.0), pvalue)


def agreeing_comparisons(first: PairwiseComparisons, second: PairwiseComparisons) -> PairwiseComparisons:
    """Paired tests of the first reading in which a pair is told apart only if the second one tells it apart the same way.

    A value that is only known to lie between two others has two readings, and what holds for both of them holds for the value.

    Parameters
    ----------
    first, second : PairwiseComparisons
        Of the same names. Pairs that the second one has not tested are those of the first.

    Returns
    -------
    PairwiseComparisons
        Values and differences of the first. p-value: the greater of both, and 1 where the differences have different signs, or
        one of them is 0. Interval: from the lower of both ends to the upper. Adjusted again for all pairs.

    Raises
    ------
    InputError
        When the names differ.

    Examples
    --------
    >>> from uqassay.statistics import pairwise_mean_tests
    >>> losses = {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.3, 0.5, 0.5, 0.4]}
    >>> low = pairwise_mean_tests(losses)
    >>> high = pairwise_mean_tests(losses | {"a": [0.2, 0.5, 0.4, 0.4]})
    >>> [float(t.pvalue[0, 1].round(3)) for t in (low, high, agreeing_comparisons(low, high))]
    [0.035, 0.182, 0.182]
    """
    if first.names != second.names:
        raise InputError(
            "second",
            "needs the names of the first",
            f"got {', '.join(second.names)} against {', '.join(first.names)}",
            "compare the same values",
            code="mismatch",
        )
    both = ~np.isnan(first.pvalue) & ~np.isnan(second.pvalue)
    pvalue = agreeing_pvalues(first.difference, first.pvalue, second.difference, second.pvalue)
    upper = np.triu_indices(len(first.names), 1)
    discovery = np.full(pvalue.shape, np.nan)
    discovery[upper] = discovery.T[upper] = benjamini_hochberg(pvalue[upper])
    adjusted = shaffer(pvalue)
    with np.errstate(invalid="ignore"):
        limits = np.where(adjusted <= 1 - first.level, "", first.limited_by)
    return replace(
        first,
        low=np.where(both, np.fmin(first.low, second.low), first.low),
        high=np.where(both, np.fmax(first.high, second.high), first.high),
        pvalue=pvalue,
        adjusted=adjusted,
        benjamini_hochberg=discovery,
        limited_by=limits,
    )
