"""Coverage at a risk: the largest share of the instances that can be kept at a given error rate."""

import numpy as np
from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.metrics.risk.risk_coverage import Bands
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Floats, Units, check_level, is_number, make_units

__all__ = ["coverage_at_risk_score"]

GRID = 4096  # coverages at which the risk is tested; the thresholds are tested too if there are no more of them


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def coverage_at_risk_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    risk: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Largest share of the instances that can be kept at an error rate of at most `risk`; higher is better.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`.
    risk : float
        The greatest acceptable error rate of the instances kept, in [0, 1].
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        1 if the error rate of all instances is at most `risk`, and 0 if no threshold reaches `risk`. A note marks both
        cases.

    Raises
    ------
    InputError
        When a value is nan, errors or the risk lie outside [0, 1], or shapes do not match.

    Notes
    -----
    The error mass is linear between two thresholds (ties are shared evenly), so the accuracy at this coverage is 1 − risk.

    The interval inverts the pointwise intervals of the risk-coverage curve. The upper end is the largest coverage whose
    interval reaches down to `risk`. The lower end is the coverage nearest below the estimate whose interval lies below
    `risk`, or 0 if there is none. The lower end is not the lowest coverage whose interval contains `risk`, because a
    handful of instances has a wide interval, so that end would always be near 0. See `selective_gain` for the measured
    coverage.

    The estimate does not guarantee the risk on new data: such a guarantee needs a threshold chosen for it.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(coverage_at_risk_score(errors, uncertainty, risk=0.2), 4)
    0.8333
    """
    check_level(level)
    _check_risk(risk)
    ranked = rank_errors(errors, uncertainty, sample_weight)
    units = make_units(ranked.n, groups, sample_weight)
    value, why = _coverage_at(ranked, risk)
    notes = [*interval_notes(units), *ranked.notes(units), *why]
    low = high = np.nan
    if units.n_units > 1:
        low, high = _inverted(ranked, units, risk, value, level)
        if low == 0 < value:
            notes.append(Note("one-sided", "no coverage is shown to have a lower risk"))
    return Estimate(value, low=low, high=high, level=level, n=units.n_instances, method="inverted score", notes=notes)


def _coverage_at(ranked: RankedErrors, risk: float) -> tuple[float, tuple[Note, ...]]:
    """The largest coverage at which the error mass equals risk · coverage, with notes at the ends."""
    c, excess = ranked.coverage, ranked.wrong - risk * ranked.kept
    met = np.flatnonzero(excess <= 1e-12 * ranked.kept)
    if not met.size:
        return 0.0, (Note("edge", f"no threshold has a risk of {risk:g} or less"),)
    k = int(met[-1])
    if k + 1 == c.size:
        return 1.0, (Note("edge", f"all instances together have a risk of {risk:g} or less"),)
    a, b = min(float(excess[k]), 0.0), float(excess[k + 1])
    return float(c[k] + (c[k + 1] - c[k]) * -a / (b - a)), ()


def _inverted(ranked: RankedErrors, units: Units, risk: float, value: float, level: float) -> tuple[float, float]:
    c = np.append(
        np.arange(1, GRID + 1) / GRID, ranked.coverage if ranked.coverage.size <= GRID else ranked.coverage[0]
    )
    c = np.unique(np.append(c, value) if value > 0 else c)
    curve = Bands.of(ranked, units).curve(c, level, ())
    lower = np.flatnonzero((curve.high < risk) & (c <= value))
    upper = np.flatnonzero(curve.low <= risk)
    low = _crossing(c, curve.high - risk, int(lower[-1])) if lower.size else 0.0
    high = _crossing(c, curve.low - risk, int(upper[-1])) if upper.size else value
    return min(low, value), max(high, value)


def _crossing(c: Floats, excess: Floats, last: int) -> float:
    """Zero of the excess between this point and the next one, by linear interpolation."""
    if last + 1 == c.size:
        return float(c[-1])
    a, b = float(excess[last]), float(excess[last + 1])
    return float(c[last] + (c[last + 1] - c[last]) * (a / (a - b) if b > a else 0.0))


def _check_risk(risk: float) -> None:
    if not (is_number(risk) and 0.0 <= risk <= 1.0):
        raise InputError(
            "risk",
            "must lie in [0, 1]",
            f"got {risk}",
            "pass 0.05 for one error among twenty instances kept",
            code="range",
        )
