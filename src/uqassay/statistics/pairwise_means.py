"""Paired tests of all pairs of several means, with guards against skewness and losses that have not been seen."""

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.statistics.comparisons import PairwiseComparisons
from uqassay.statistics.mean_lines import MeanLines
from uqassay.statistics.samples import check_level

__all__ = ["pairwise_mean_tests"]


@in_one_order("values", "groups", "sample_weight", axes={"values": -1})
def pairwise_mean_tests(
    values: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: ArrayLike | None = None,
    extra_error: ArrayLike | None = None,
    references: Sequence[str] = (),
) -> PairwiseComparisons:
    """Test every pair of several means on the same instances.

    Parameters
    ----------
    values : dict of str to array_like, each of shape (n,) or (R_j, n)
        Values of each model per instance, such as losses; (R_j, n) for R_j training runs.
    groups, sample_weight, level
        As in `paired_mean_test`.
    bound : float or array_like (J,), optional
        Greatest possible excess of a value over another model's value on one instance, of all models or of each. By default
        there is no guard against losses that have not been seen. Infinite: no pair can be significant.
    extra_error : array_like (J, J), optional
        Standard errors that another source adds to the differences.
    references : sequence of str
        Models that are compared with all others but not with each other.

    Returns
    -------
    PairwiseComparisons

    Raises
    ------
    InputError
        As `paired_mean_test`; also when there is no model, or a bound or error is negative.

    Notes
    -----
    The p-value of a pair is the greatest of three:

    * that of `paired_mean_test`, with groups, weights and runs;
    * that of Hall's transformation of the same t statistic, against skewness;
    * the probability that the sample shows nothing of a share q of instances on which the better model is worse by B and
      which would turn the order around: q ≥ d/(d + B) for a difference d, and (1 − q)^n = (B/(B + d))^n.

    For the third, n is the number of independent instances that groups and weights leave, with the correlation inside groups
    estimated from the differences: losses not yet seen are taken to be as correlated as those seen.

    With several runs, the first two have the fewer degrees of freedom that Satterthwaite's formula gives with the variance of
    each model's runs at its upper 80 % limit (two runs: 90 %). A run variance that is underestimated by chance gives too many
    degrees of freedom, which tests of many pairs cannot afford: with 20 models of 3 runs they err in up to 21 % of data sets.
    Measured error rates: docs/measured-coverage.md.

    References
    ----------
    Hall (1992), On the removal of skewness by transformation, J. R. Stat. Soc. B 54, equation 2.2.

    Examples
    --------
    >>> losses = {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.3, 0.5, 0.5, 0.4], "c": [0.4, 0.9, 0.6, 0.6]}
    >>> found = pairwise_mean_tests(losses)
    >>> found.pvalue[0].round(3).tolist(), found.adjusted[0].round(3).tolist()
    ([nan, 0.035, 0.004], [nan, 0.035, 0.013])
    >>> pairwise_mean_tests(losses, bound=1.0).pvalue[0].round(3).tolist()  # four instances cannot exclude a rare loss of 1
    [nan, 0.525, 0.28]
    """
    check_level(level)
    if not isinstance(values, Mapping) or not values:
        got = "got none" if isinstance(values, Mapping) else f"got {type(values).__name__}"
        raise InputError(
            "values", "must map at least one name to values", got, 'write {"a": losses_of_a, …}', code="empty"
        )
    lines = MeanLines({name: (value,) for name, value in values.items()}, groups=groups, sample_weight=sample_weight)
    return lines.tests((1.0,), level=level, bound=bound, extra_error=extra_error, references=references)
