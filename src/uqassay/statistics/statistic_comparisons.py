"""Paired tests of linearised statistics: one pair, or all pairs of several statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note, distinct
from uqassay.statistics.comparisons import PairedComparison, PairwiseComparisons
from uqassay.statistics.detectable_statistics import detectable_statistic, detectable_statistics
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.influence_pairs import PairSpreads, pair_spreads
from uqassay.statistics.linearised import (
    AveragedStatistic,
    Linearised,
    Runs,
    centre_of,
    scaled_interval,
    spread_of_difference,
)
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer, shaffer_factor
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Floats, Units, check_level, make_units

__all__ = ["paired_statistic_test", "pairwise_statistic_tests"]

Places = NDArray[np.intp]
# Statistics that differ by less count as equal (rounding error).
_ROUNDING = 1e-12


@in_one_order("groups", "sample_weight")
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
    a, b : Linearised, a sequence of them, or AveragedStatistic
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
        With `detectable`, the smallest difference that these instances could have shown.

    Notes
    -----
    This is Student's t test with the difference of the influences as the influences of the difference, and the degrees of
    freedom of `linearised_estimate`. For two areas under the ROC curve on one sample it is the test of DeLong et al.;
    imaginary instances, if there are any, are part of the difference too. If statistics and influences are equal, the
    statistic is 0 and the p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> paired_statistic_test(Linearised(x.mean(), x - x.mean()), Linearised(1.0, np.zeros(4))).pvalue.__round__(3)
    0.495
    """
    check_level(level)
    first, second = _given(a, "a"), _given(b, "b")
    n = first.n_rows
    if second.n_rows != n:
        raise InputError(
            "b",
            f"needs the same {n} instances as a",
            f"got {second.n_rows}",
            "compute both on one test set",
            code="mismatch",
        )
    units = make_units(n, groups, sample_weight)
    one, other = AveragedStatistic.of(a, units), AveragedStatistic.of(b, units)
    several = [] if one.n_runs is None and other.n_runs is None else [one.values.size, other.values.size]
    return _test(one, other, units, level, bound, unit_notes(units, several))


@in_one_order("groups", "sample_weight")
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
    statistics : dict of str to Linearised, a sequence of them, or AveragedStatistic
    groups, sample_weight, level, bound
        As in `paired_statistic_test`.

    Returns
    -------
    PairwiseComparisons
        With `detectable`.

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
    first = [_given(statistic, f"statistics[{name!r}]") for name, statistic in statistics.items()]
    n = first[0].n_rows
    for name, one in zip(names, first, strict=True):
        if one.n_rows != n:
            raise InputError(
                "statistics",
                f"all need the same {n} instances",
                f"{name!r} has {one.n_rows}",
                "compute them on one test set",
                code="mismatch",
            )
    units = make_units(n, groups, sample_weight)
    means = [AveragedStatistic.of(statistic, units) for statistic in statistics.values()]
    j = len(names)
    rows, columns = np.tril_indices(j, -1)
    found = _pair_tests(means, rows, columns, units, level, bound)
    tables = np.zeros((3, j, j))
    pvalue, detectable = np.full((2, j, j), np.nan)
    tables[:, rows, columns] = found[:3]
    tables[:, columns, rows] = -found[[0, 2, 1]]
    pvalue[rows, columns] = pvalue[columns, rows] = found[3]
    tested = np.flatnonzero(found[4] > 0)
    a, b, (error, dof) = rows[tested], columns[tested], found[4:, tested]
    detectable[a, b] = detectable[b, a] = detectable_statistics(
        means,
        a,
        b,
        standard_error=error,
        dof=dof,
        alpha=(1 - level) / shaffer_factor(pvalue, 1 - level),
        n_units=units.n_units,
        bound=bound,
    )
    difference, low, high = tables
    return PairwiseComparisons(
        names=names,
        values=np.array([mean.whole.value for mean in means]),
        difference=difference,
        low=low,
        high=high,
        pvalue=pvalue,
        adjusted=shaffer(pvalue),
        benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
        level=level,
        limited_by=np.full((j, j), "", dtype="<U8"),
        detectable=detectable,
    )


def _given(statistic: Runs, name: str) -> Linearised | AveragedStatistic:
    """The statistic, or that of its first run."""
    if isinstance(statistic, Linearised | AveragedStatistic):
        return statistic
    if not statistic:
        raise InputError(
            name, "needs at least one run", "got none", "pass a Linearised or a list of them", code="empty"
        )
    return statistic[0]


def _pair_tests(
    means: Sequence[AveragedStatistic], rows: Places, columns: Places, units: Units, level: float, bound: float
) -> Floats:
    """Difference, its ends, p-value, standard error (0: no test) and degrees of freedom of each pair, ``(6, P)``."""
    found = np.full((6, rows.size), np.nan)
    defined = np.array([not np.isnan(mean.whole.value) for mean in means])
    every = np.arange(rows.size)
    if units.n_units > 1 and defined.any():
        kept = np.flatnonzero(defined)
        place = np.cumsum(defined) - 1
        inside = every[defined[rows] & defined[columns]]
        a, b = place[rows[inside]], place[columns[inside]]
        chosen = [means[k] for k in kept.tolist()]
        spreads = pair_spreads(chosen, a, b, units)
        if spreads is not None:
            found[:, inside] = _tests_of(chosen, a, b, spreads, level, bound)
            every = every[~(defined[rows] & defined[columns])]
    for k in every.tolist():
        one, other = means[rows[k]], means[columns[k]]
        test = _test(one, other, units, level, bound, [], plans=False)
        found[:4, k] = float(test.difference), test.difference.low, test.difference.high, test.pvalue
        if test.statistic != 0 and not np.isnan(test.pvalue):
            spread = spread_of_difference(one, other, units)
            found[4:, k] = spread.standard_error, spread.dof
    return found


def _tests_of(
    means: Sequence[AveragedStatistic], a: Places, b: Places, spreads: PairSpreads, level: float, bound: float
) -> Floats:
    """`_test` of many pairs, ``(6, P)``."""
    values, centres = (np.array([of(mean.whole) for mean in means]) for of in (_value_of, centre_of))
    value, centre, error = values[a] - values[b], centres[a] - centres[b], spreads.standard_error
    quantile = special.stdtrit(spreads.dof, 0.5 + level / 2)
    low = np.maximum(np.minimum(centre - quantile * error, value), -bound)
    high = np.minimum(np.maximum(centre + quantile * error, value), bound)
    with np.errstate(invalid="ignore", divide="ignore"):
        pvalue = 2 * special.stdtr(spreads.dof, -np.abs(centre / error))
    no_test = np.where(np.abs(value) <= _ROUNDING, 1.0, np.nan)
    tested = error > _ROUNDING
    return np.stack([value, low, high, np.where(tested, pvalue, no_test), np.where(tested, error, 0.0), spreads.dof])


def _value_of(statistic: Linearised) -> float:
    return statistic.value


def _test(
    first: AveragedStatistic,
    second: AveragedStatistic,
    units: Units,
    level: float,
    bound: float,
    notes: list[Note],
    *,
    plans: bool = True,
) -> PairedComparison:
    a, b = first.whole, second.whole
    detectable = None
    notes = [*notes, *distinct(a.notes, b.notes)]
    value, low, high = a.value - b.value, np.nan, np.nan
    statistic = pvalue = np.nan
    if np.isnan(value):
        notes.append(Note("no-test", "a statistic is undefined: no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no test", "no-test"))
    else:
        spread = spread_of_difference(first, second, units)
        centre = centre_of(a) - centre_of(b)
        low, high = scaled_interval(centre, spread, level, "identity", units.n_units)
        low, high = max(min(low, value), -bound), min(max(high, value), bound)
        if spread.standard_error > _ROUNDING:
            statistic = centre / spread.standard_error
            pvalue = spread.pvalue(statistic)
            detectable = detectable_statistic(first, second, units, level, bound) if plans else None
        elif abs(value) <= _ROUNDING:
            statistic, pvalue = 0.0, 1.0
            notes.append(Note("no-width", "the two agree on every instance"))
        else:
            notes.append(Note("no-test", "the difference does not vary over the instances: no test"))
    n = units.n_instances
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="linearised", notes=notes)
    test = PairedComparison(difference, float(statistic), float(pvalue), "linearised", n, difference.notes)
    return replace(test, detectable=detectable)
