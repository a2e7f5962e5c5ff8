"""Shares with Wilson's interval, whose coverage holds near 0 and 1."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.statistics.estimate import Estimate, run_means
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import as_runs, check_level, make_units, spread_of_mean

__all__ = ["proportion_estimate"]


@in_one_order("values", "groups", "sample_weight", axes={"values": -1})
def proportion_estimate(
    values: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of successes with a Wilson interval.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        1 for a success, 0 for a failure, or a share in between; (R, n) for R training runs of one model.
    groups, sample_weight, level
        As in `mean_estimate`.

    Returns
    -------
    estimate : Estimate
        With one instance or one group the interval is nan, and a note says so.

    Raises
    ------
    InputError
        As in `mean_estimate`; also for a value outside [0, 1].

    Notes
    -----
    Independent zeros and ones of equal weight give Wilson's interval. In other cases n is replaced by the effective
    number of independent instances, p(1 − p) / v, with the variance v of `mean_estimate`, and the normal quantile by that
    of Student's t with the degrees of freedom of v. If all values are 0 or all are 1, v is 0, and n is the number of
    groups (of instances).

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22.
    Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.

    Examples
    --------
    >>> proportion_estimate([1, 1, 1, 1, 0])
    Estimate(0.8, low=0.3755, high=0.9638, level=0.95, n=5, method='wilson')
    """
    check_level(level)
    runs = as_runs(values, "values")  # (R, n)
    if runs.min() < 0 or runs.max() > 1:
        outside = np.argwhere((runs < 0) | (runs > 1))
        raise InputError(
            "values",
            "must lie in [0, 1]",
            f"index {tuple(outside[0].tolist())} is {runs[tuple(outside[0])]:g}",
            "give 1 for a success and 0 for a failure",
            code="range",
        )
    units = make_units(runs.shape[1], groups, sample_weight)
    runs = units.keep(runs)
    notes = unit_notes(units, [runs.shape[0]] if np.ndim(values) == 2 else [])
    averaged = runs.mean(axis=0)  # (n,)
    p = units.mean(averaged)
    low = high = np.nan
    if units.n_units == 1:
        notes.append(single_unit(units))
    else:
        plain = units.codes is None and units.weights is None and len(runs) == 1 and ((runs == 0) | (runs == 1)).all()
        n_effective, z = float(units.n_units), float(special.ndtri(0.5 + level / 2))
        if not plain:
            spread = spread_of_mean(averaged - p, units, [run_means(runs, units)])
            z = float(special.stdtrit(spread.dof, 0.5 + level / 2))
            if spread.standard_error**2 > 1e-12 * p * (1 - p) / units.n_units:  # less is rounding error of v = 0
                n_effective = p * (1 - p) / spread.standard_error**2
        centre = (p + z**2 / (2 * n_effective)) / (1 + z**2 / n_effective)
        half = z / (1 + z**2 / n_effective) * np.sqrt(p * (1 - p) / n_effective + z**2 / (4 * n_effective**2))
        low, high = max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))
    return Estimate(p, low=low, high=high, level=level, n=units.n_instances, method="wilson", notes=notes)
