"""Paired tests of linearised statistics: one pair, or all pairs of several statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.notes import Note, distinct
from uqassay.statistics.comparisons import PairedComparison, PairwiseComparisons
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.independent_parts import Sums, reusable_sums
from uqassay.statistics.linearised import (
    Linearised,
    averaged,
    centre_of,
    scaled_interval,
    spread_of_difference,
)
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Floats, Units, check_level, make_units
from uqassay.statistics.tied_samples import Unseen, unseen_of, unseen_reach, unseen_variance

__all__ = ["paired_statistic_test", "pairwise_statistic_tests"]

Runs = Linearised | Sequence[Linearised]
# Statistics that differ by less count as equal (rounding error).
_ROUNDING = 1e-12


def paired_statistic_test(
    a: Runs,
    b: Runs,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float = np.inf,
) -> PairedComparison:
    """Test whether two statistics on the same instances have the same expectation.

    Parameters
    ----------
    a, b : Linearised, or a sequence of them
        The two statistics, or one statistic per training run. The runs of a and b are taken as independent.
    groups, sample_weight
        As in `mean_estimate`. Pass the weights with which the statistics were computed.
    level : float
        Confidence level of the interval of the difference.
    bound : float
        Greatest possible difference of two values. The interval is cut there.

    Returns
    -------
    result : PairedComparison
        Student's t test with the difference of the influences as the influences of the difference, and the degrees of
        freedom of `linearised_estimate`. For two areas under the ROC curve on one sample this is the test of DeLong et
        al.; imaginary instances, if there are any, are part of the difference too. Where instances of a sample tie, the
        variance has the addition of `tied_samples`, for instances not yet seen that could undo the difference. If statistics
        and influences are equal, the statistic is 0 and the p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> paired_statistic_test(Linearised(x.mean(), x - x.mean()), Linearised(1.0, np.zeros(4))).pvalue.__round__(3)
    0.495
    """
    check_level(level)
    first, second = _runs(a, "a"), _runs(b, "b")
    n = first[0].influence.shape[0]
    if second[0].influence.shape[0] != n:
        raise InputError(
            "b",
            f"needs the same {n} instances as a",
            f"got {second[0].influence.shape[0]}",
            "compute both on one test set",
            code="mismatch",
        )
    units = make_units(n, groups, sample_weight)
    counts = [] if isinstance(a, Linearised) and isinstance(b, Linearised) else [len(first), len(second)]
    return _test(
        _Averaged.of(first, units), _Averaged.of(second, units), units, level, bound, unit_notes(units, counts)
    )


def pairwise_statistic_tests(
    statistics: Mapping[str, Runs],
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float = np.inf,
) -> PairwiseComparisons:
    """Test every pair of several statistics on the same instances.

    Parameters
    ----------
    statistics : dict of str to Linearised or a sequence of them
    groups, sample_weight, level, bound
        As in `paired_statistic_test`.

    Returns
    -------
    PairwiseComparisons

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = pairwise_statistic_tests({"x": Linearised(1.5, x - 1.5), "one": Linearised(1.0, 0 * x)})
    >>> found.difference.tolist(), found.pvalue.round(3).tolist()
    ([[0.0, 0.5], [-0.5, 0.0]], [[nan, 0.495], [0.495, nan]])
    """
    check_level(level)
    if not statistics:
        raise InputError(
            "statistics",
            "needs at least one statistic",
            "got none",
            "pass a dict from names to statistics",
            code="empty",
        )
    names = tuple(str(name) for name in statistics)
    runs = [_runs(statistic, f"statistics[{name!r}]") for name, statistic in statistics.items()]
    n = runs[0][0].influence.shape[0]
    for name, several in zip(names, runs, strict=True):
        if several[0].influence.shape[0] != n:
            raise InputError(
                "statistics",
                f"all need the same {n} instances",
                f"{name!r} has {several[0].influence.shape[0]}",
                "compute them on one test set",
                code="mismatch",
            )
    units = make_units(n, groups, sample_weight)
    means = [_Averaged.of(several, units) for several in runs]
    j = len(names)
    difference, low, high = np.zeros((j, j)), np.zeros((j, j)), np.zeros((j, j))
    pvalue = np.full((j, j), np.nan)
    for row in range(j):
        for column in range(row):
            found = _test(means[row], means[column], units, level, bound, [])
            d = found.difference
            difference[row, column], low[row, column], high[row, column] = float(d), d.low, d.high
            difference[column, row], low[column, row], high[column, row] = -float(d), -d.high, -d.low
            pvalue[row, column] = pvalue[column, row] = found.pvalue
    return PairwiseComparisons(
        names=names,
        values=np.array([mean.statistic.value for mean in means]),
        difference=difference,
        low=low,
        high=high,
        pvalue=pvalue,
        adjusted=shaffer(pvalue),
        benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
        level=level,
        limited_by=np.full((j, j), "", dtype="<U8"),
    )


def _runs(statistic: Runs, name: str) -> list[Linearised]:
    several = [statistic] if isinstance(statistic, Linearised) else list(statistic)
    if not several:
        raise InputError(
            name, "needs at least one run", "got none", "pass a Linearised or a list of them", code="empty"
        )
    return several


class _Averaged(NamedTuple):
    """Mean of a statistic over training runs, the value of each run, and what unseen instances could add."""

    statistic: Linearised
    values: Floats
    unseen: tuple[Unseen, ...]
    sums: Sums

    @classmethod
    def of(cls, runs: Sequence[Linearised], units: Units) -> "_Averaged":
        mean = averaged(runs)
        unseen = () if np.isnan(mean.value) else unseen_of(mean.tied, units)
        values = np.array([run.value for run in runs])
        return cls(replace(mean, tied=()), values, unseen, reusable_sums(mean, units))


def _test(
    first: _Averaged, second: _Averaged, units: Units, level: float, bound: float, notes: list[Note]
) -> PairedComparison:
    a, b = first.statistic, second.statistic
    notes = [*notes, *distinct(a.notes, b.notes)]
    value, low, high = a.value - b.value, np.nan, np.nan
    statistic = pvalue = np.nan
    if np.isnan(value):
        notes.append(Note("no-test", "a statistic is undefined: no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no test", "no-test"))
    else:
        spread = spread_of_difference((a, first.sums), (b, second.sums), units, [first.values, second.values])
        unseen = (*first.unseen, *(u.times(-1.0) for u in second.unseen))
        centre = centre_of(a) - centre_of(b)
        low, high = scaled_interval(centre, spread, level, "identity", units.n_units)
        below, above = unseen_reach(unseen, spread, level)
        low, high = max(min(low, value) - below, -bound), min(max(high, value) + above, bound)
        if spread.standard_error > _ROUNDING:
            statistic = centre / float(np.hypot(spread.standard_error, unseen_variance(unseen, centre) ** 0.5))
            pvalue = spread.pvalue(statistic)
        elif abs(value) <= _ROUNDING:
            statistic, pvalue = 0.0, 1.0
            notes.append(Note("no-width", "the two agree on every instance"))
        else:
            notes.append(Note("no-test", "the difference does not vary over the instances: no test"))
    n = units.n_instances
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="linearised", notes=notes)
    return PairedComparison(difference, float(statistic), float(pvalue), "linearised", n, difference.notes)
