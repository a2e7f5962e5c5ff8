"""The smallest differences of linearised statistics that their paired tests could have shown."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from uqassay.statistics.detectable_pairs import (
    POWER,
    DetectableDifference,
    detectable_of_pairs,
    smallest_differences,
)
from uqassay.statistics.linearised import AveragedStatistic, spread_of_difference
from uqassay.statistics.pair_spreads import PairSpreads
from uqassay.statistics.samples import Floats, Units

__all__: list[str] = []

Places = NDArray[np.intp]


def detectable_statistic(
    first: AveragedStatistic, second: AveragedStatistic, units: Units, level: float, bound: float
) -> DetectableDifference:
    """`DetectableDifference` of the test of two statistics, with the numbers of instances and runs that show the one observed.

    For use inside this room. `statistic_comparisons` has the test. A difference beyond the bound is infinite.
    """
    runs = [first.values, second.values]
    inside = spread_of_difference(replace(first, values=runs[0][:1]), replace(second, values=runs[1][:1]), units)
    between = np.array([[v.var(ddof=1) / v.size if v.size > 1 else 0.0] for v in runs])
    spreads = _spreads(
        np.array([first.whole.value - second.whole.value]),
        variance=np.array([inside.standard_error**2]),
        dof=np.array([inside.dof]),
        between=between,
        run_dofs=np.array([[max(v.size - 1.0, 1.0)] for v in runs]),
        several=np.array([any(v.size > 1 for v in runs)]),
        n_units=units.n_units,
    )
    (found,) = detectable_of_pairs(
        spreads,
        0.0,
        np.zeros(1),
        alphas=[1 - level],
        power=POWER,
        sizes=(units.n_instances, None if units.codes is None else units.n_units),
    )
    return replace(found, difference=float(_possible(np.array(found.difference), bound)))


def detectable_statistics(
    statistics: Sequence[AveragedStatistic],
    a: Places,
    b: Places,
    *,
    standard_error: Floats,
    dof: Floats,
    alpha: float,
    n_units: int,
    bound: float,
) -> Floats:
    """The smallest differences of statistics a and b of P pairs that tests at level α could have shown, (P,).

    For use inside this room. Standard errors and degrees of freedom are those of the tests, runs included.
    """
    none = np.zeros((2, a.size))
    spreads = _spreads(
        none[0],
        variance=standard_error**2,
        dof=dof,
        between=none,
        run_dofs=none + 1.0,
        several=none[0] > 0,
        n_units=n_units,
    )
    return _possible(smallest_differences(spreads, alpha=alpha), bound)


def _possible(difference: Floats, bound: float) -> Floats:
    return np.where(difference <= bound, difference, np.inf)


def _spreads(
    difference: Floats,
    *,
    variance: Floats,
    dof: Floats,
    between: Floats,
    run_dofs: Floats,
    several: np.ndarray,
    n_units: int,
) -> PairSpreads:
    """Without skewness and without a guard for few runs, which these tests do not have."""
    one = np.ones(difference.size)
    return PairSpreads(
        difference=difference,
        equal=one < 0,
        scale=one,
        inside=variance,
        third=0.0 * one,
        dof=dof,
        independent=n_units * one,
        between=between,
        run_dofs=run_dofs,
        run_limits=np.ones((2, difference.size)),
        several=several,
        regular=one > 0,
    )
