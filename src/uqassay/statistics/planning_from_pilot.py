"""Sample sizes from a pilot sample, on which the variances are measured."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.linearised import Linearised, spread_of
from uqassay.statistics.planning import (
    DifferencePlan,
    ErrorAt,
    PrecisionPlan,
    area_interval,
    planned_difference,
    planned_interval,
    student_interval,
)
from uqassay.statistics.samples import Floats, as_floats, check_choice, check_inside, check_level, make_units

__all__ = ["plan_auc_from_pilot", "plan_difference_from_pilot", "plan_from_pilot"]

SCALES = ("identity", "logit")


def plan_auc_from_pilot(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_rate: float | None = None,
    width: float | None = None,
    n: int | None = None,
    level: float = 0.95,
) -> PrecisionPlan:
    """`plan_auc` with the area and the variances of placements measured on a pilot sample.

    Parameters
    ----------
    errors : array_like, shape (m,)
        1 for an error, 0 for a right prediction; at least two of each.
    uncertainty : array_like, shape (m,)
        Greater means less certain.
    error_rate : float, optional
        The expected error rate. The default is that of the pilot.
    width, n, level
        As in `plan_auc`.

    Returns
    -------
    plan : PrecisionPlan

    Raises
    ------
    InputError
        As `plan_auc`; also when the pilot has fewer than two errors or two right predictions, or separates them
        perfectly.

    Examples
    --------
    >>> plan = plan_auc_from_pilot([0, 0, 0, 0, 1, 0, 1, 0, 1, 1], range(10), error_rate=0.1, width=0.1)
    >>> plan.n, round(plan.value, 3), plan.notes[0].text
    (509, 0.875, 'from a pilot with 4 errors among 10 instances')
    """
    check_level(level)
    wrong, right = _scores_of_both(errors, uncertainty)
    placements = _shares_below(right, wrong), 1 - _shares_below(wrong, right)
    area = float(placements[0].mean())
    variances = float(placements[0].var(ddof=1)), float(placements[1].var(ddof=1))
    if sum(variances) == 0.0:
        raise InputError(
            "uncertainty",
            "the placements of the pilot must vary",
            f"its area is {area:g} with variance 0",
            "use plan_auc with an expected area",
            code="undefined",
        )
    m = wrong.size + right.size
    rate = wrong.size / m if error_rate is None else error_rate
    check_inside(rate, "error_rate")
    note = Note("pilot", f"from a pilot with {wrong.size} errors among {m} instances", {"instances": m})
    interval = area_interval(area, rate, variances, level)
    return planned_interval(area, interval, rate, width=width, n=n, level=level, pilot=(note,))


def plan_from_pilot(
    pilot: Linearised,
    *,
    width: float | None = None,
    n: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    scale: str = "logit",
) -> PrecisionPlan:
    """Number of instances for an interval of given width of any linearised statistic, or the width for given n.

    Parameters
    ----------
    pilot : Linearised
        The statistic on a pilot sample, such as the UQ-C-index or Kendall's τ.
    width, n, level
        As in `plan_auc`.
    groups : array_like of labels, shape (m,), optional
        Groups of the pilot's instances. The planned groups are assumed to have the same size and correlation. n still
        counts instances.
    scale : {"logit", "identity"}
        Scale on which the interval is symmetric. "logit" is for statistics in (0, 1).

    Returns
    -------
    plan : PrecisionPlan

    Raises
    ------
    InputError
        When the pilot is undefined or has no variance, both or none of `width` and `n` are given, or a value is out of
        range.

    Notes
    -----
    The variance of the pilot's estimate is multiplied by m/n, and its degrees of freedom by n/m. If the interval has another
    centre than the estimate (`Linearised.centre`), their distance is multiplied by m/n too. For n = m the plan is the
    interval of the pilot.

    Examples
    --------
    >>> from uqassay.statistics.correlation import kendall_tau_influence
    >>> tau = kendall_tau_influence([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 6, 3, 5, 8, 7])
    >>> plan_from_pilot(tau, width=0.2, scale="identity").n
    30
    """
    check_level(level)
    check_choice(scale, "scale", SCALES)
    standard_error, note = _pilot_error(pilot, groups)
    value, m = pilot.value, pilot.influence.size
    shift = 0.0 if np.isnan(pilot.centre) else pilot.centre - value
    if scale == "logit" and not (0.0 < value < 1.0 and 0.0 < value + shift < 1.0):
        raise InputError(
            "scale",
            '"logit" takes a statistic in (0, 1)',
            f"the pilot's is {value:g}",
            'choose "identity"',
            code="undefined",
        )

    def interval(size: int) -> tuple[float, float]:
        low, high = student_interval(value + shift * min(m / size, 1.0), *standard_error(size), level, scale)
        return min(low, value), max(high, value)

    return planned_interval(value, interval, np.nan, width=width, n=n, level=level, pilot=(note,))


def plan_difference_from_pilot(
    pilot: Linearised,
    *,
    power: float | None = None,
    n: int | None = None,
    difference: float | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> DifferencePlan:
    """Number of instances for a paired test of two statistics with given power, or the power for given n.

    Parameters
    ----------
    pilot : Linearised
        Difference of the two statistics on the same pilot instances, ``first - second``.
    power, n, level
        As in `plan_auc_difference`.
    difference : float, optional
        The least difference that matters. The default is that of the pilot, which overstates the power if the pilot was
        chosen for its difference.
    groups
        As in `plan_from_pilot`.

    Returns
    -------
    plan : DifferencePlan

    Raises
    ------
    InputError
        As `plan_from_pilot` and `plan_auc_difference`.

    Examples
    --------
    >>> from uqassay.statistics.correlation import kendall_tau_influence
    >>> truth, first, second = [1, 2, 3, 4, 5, 6], [1, 2, 4, 3, 5, 6], [2, 1, 6, 3, 4, 5]
    >>> pilot = kendall_tau_influence(truth, first) - kendall_tau_influence(truth, second)
    >>> plan_difference_from_pilot(pilot, difference=0.1, power=0.9).n
    271
    """
    check_level(level)
    standard_error, note = _pilot_error(pilot, groups)
    wanted = pilot.value if difference is None else float(difference)
    if not (np.isfinite(wanted) and wanted != 0.0):
        raise InputError(
            "difference", "must be finite and not 0", f"got {wanted}", "give the least that matters", code="range"
        )
    return planned_difference(wanted, standard_error, np.nan, power=power, n=n, level=level, pilot=(note,))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _scores_of_both(errors: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    """Sorted scores of the errors and of the right predictions."""
    e = as_floats(errors, "errors", ndim=(1,), shape="(m,)")
    s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(m,)")
    if s.size != e.size:
        raise InputError(
            "uncertainty",
            f"needs one value for each of the {e.size} errors",
            f"got {s.size}",
            "align them",
            code="mismatch",
        )
    if not np.isin(e, (0.0, 1.0)).all():
        row = int(np.flatnonzero((e != 0) & (e != 1))[0])
        raise InputError(
            "errors",
            "must be 0 or 1",
            f"row {row} is {e[row]:g}",
            "give 1 for an error, 0 for a right prediction",
            code="range",
        )
    wrong, right = np.sort(s[e == 1]), np.sort(s[e == 0])
    if min(wrong.size, right.size) < 2:
        raise InputError(
            "errors",
            "a pilot needs at least two errors and two right predictions",
            f"got {wrong.size} and {right.size}",
            "use plan_auc with an expected area and error rate",
            code="empty",
        )
    return wrong, right


def _shares_below(ordered: Floats, values: Floats) -> Floats:
    """Share of the ordered scores below each value, ties ½."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * ordered.size)


def _pilot_error(pilot: Linearised, groups: ArrayLike | None) -> tuple[ErrorAt, Note]:
    """Standard error and degrees of freedom as a function of n, and a note on the pilot."""
    if np.isnan(pilot.value):
        raise InputError(
            "pilot",
            "must be defined",
            f"it is nan ({', '.join(note.text for note in pilot.notes) or 'no reason given'})",
            "take a larger pilot",
            code="finite",
        )
    units = make_units(pilot.influence.shape[0], groups, None)
    m = units.n_instances
    spread = spread_of(pilot, units) if units.n_units > 1 else None
    if spread is None or not spread.standard_error > 0.0:
        raise InputError(
            "pilot",
            "the statistic must vary in the pilot",
            f"{units.n_units} instances or groups have variance 0",
            "take a larger pilot",
            code="undefined",
        )
    variance, dof = spread.standard_error**2, spread.dof
    # the number of imaginary instances does not grow with n, so the variance that they add falls like 1/n², not 1/n
    extra = variance - spread_of(replace(pilot, imaginary=0.0, shadows=()), units).standard_error ** 2
    text = f"from a pilot of {m} instances"
    if units.codes is not None:
        text += f" in {units.n_units} groups, {m / units.n_units:.3g} each"

    def standard_error(n: int) -> tuple[float, float]:
        share = m / n
        return (share * (variance - extra * (1 - min(share, 1.0)))) ** 0.5, max(dof * n / m, min(dof, 1.0))

    return standard_error, Note("pilot", text, {"instances": m})
