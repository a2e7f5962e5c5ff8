"""The smallest differences of linearised statistics that their paired tests could have shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from uqassay.statistics.detectable_pairs import POWER, DetectableDifference, detectable_of_pairs
from uqassay.statistics.linearised import AveragedStatistic, spread_of_difference
from uqassay.statistics.pair_spreads import PairSpreads
from uqassay.statistics.samples import Floats, Units
from uqassay.statistics.tied_samples import Unseen

__all__: list[str] = []


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
    sizes = units.n_instances, None if units.codes is None else units.n_units
    unseen = [unseen_of_difference(first, second)]
    options: dict[str, Any] = {"alphas": [1 - level], "power": POWER, "sizes": sizes, "unseen": unseen}
    (found,) = detectable_of_pairs(spreads, 0.0, np.zeros(1), **options)
    return replace(found, difference=_possible(found.difference, bound))


def detectable_statistics(
    difference: Floats,
    standard_error: Floats,
    dof: Floats,
    unseen: Sequence[Sequence[Unseen]],
    *,
    alpha: float,
    units: Units,
    bound: float,
) -> Floats:
    """The smallest differences of P pairs that tests at level α could have shown, (P,). For use inside this room."""
    none = np.zeros((2, difference.size))
    spreads = _spreads(
        difference,
        variance=standard_error**2,
        dof=dof,
        between=none,
        run_dofs=none + 1.0,
        several=none[0] > 0,
        n_units=units.n_units,
    )
    found = detectable_of_pairs(
        spreads,
        0.0,
        none[0],
        alphas=[alpha] * difference.size,
        power=POWER,
        sizes=(units.n_instances, None),
        plans=False,
        unseen=unseen,
    )
    return np.array([_possible(one.difference, bound) for one in found])


def unseen_of_difference(first: AveragedStatistic, second: AveragedStatistic) -> tuple[Unseen, ...]:
    """What unseen instances could add to the difference of two statistics."""
    return (*first.unseen, *(u.times(-1.0) for u in second.unseen))


def _possible(difference: float, bound: float) -> float:
    return difference if difference <= bound else np.inf


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
