"""Test of whether an order ranks errors better or worse than chance, with the variance that holds under chance."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.metrics.run_summaries import midranks
from uqassay.statistics.samples import Floats, Units, make_units

__all__ = ["chance_pvalue"]


def chance_pvalue(errors: ArrayLike, uncertainty: ArrayLike, *, groups: ArrayLike | None = None) -> float:
    """Two-sided p-value of errors that are independent of the uncertainty (Wilcoxon's rank-sum test, ties corrected).

    The variance is that of chance, so it does not vanish if few instances are untied and none of them is an error. There
    DeLong's variance of UQ-AUC is far too small.

    Parameters
    ----------
    errors : array (n,) or (R, n)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong; (R, n) for R training runs.
    uncertainty : array, same shape
        Greater means less certain.
    groups : array of labels (n,), optional
        Errors may be correlated within a group.

    Returns
    -------
    pvalue : float
        nan if all errors or all uncertainties of every run are equal, or with one instance or group.

    Notes
    -----
    With mid-ranks r and errors e, the statistic is Σ (e − ē)(r − r̄). Under exchangeable errors of variance s² its variance
    is s² Σ (r − r̄)². With groups and the correlation ρ of errors within them (its moment estimate, at least 0) it is
    s² ((1 − ρ) Σ (r − r̄)² + ρ Σ_g (Σ_{i in g} (r_i − r̄))²). Statistics of runs are averaged, and so are their standard
    deviations, which is an upper bound for any dependence between the runs. Student's t has n − 1 degrees of freedom for n
    instances or groups.

    Examples
    --------
    >>> round(chance_pvalue([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), 3)
    0.224
    """
    e, s = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (errors, uncertainty))
    units = make_units(e.shape[1], groups, None)
    if units.n_units < 2:
        return float("nan")
    found = [_statistic(one, ranks, units) for one, ranks in zip(e, midranks(s), strict=True)]
    value, deviation = (float(np.mean(column)) for column in zip(*found, strict=True))
    if deviation == 0:
        return float("nan")
    return 2 * float(special.stdtr(units.n_units - 1, -abs(value) / deviation))


def _statistic(errors: Floats, ranks: Floats, units: Units) -> tuple[float, float]:
    """Σ (e − ē)(r − r̄) and its standard deviation under chance."""
    n = errors.size
    e, r = errors - errors.mean(), ranks - ranks.mean()
    squares, own = float(e @ e), float(r @ r)
    if units.codes is None or squares == 0:
        return float(e @ r), float(np.sqrt(squares / (n - 1) * own))
    e_sums, r_sums = units.sums(np.stack([e, r], axis=1)).T
    pairs = float((np.bincount(units.codes) ** 2).sum()) - n  # ordered pairs within groups
    correlation = (float(e_sums @ e_sums) - squares) / pairs * n / squares if pairs else 0.0
    rho = min(max(correlation, 0.0), 1.0)
    variance = squares / (n - 1) * ((1 - rho) * own + rho * float(r_sums @ r_sums))
    return float(e @ r), float(np.sqrt(variance))
