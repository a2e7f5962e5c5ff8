"""Sample sizes for an interval of a given width, or for a paired test of a given power, of a linearised statistic.

The variances are measured on a pilot sample. `planning_auc` plans areas under the ROC curve.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note, reason
from uqassay.statistics.linearised import Linearised, spread_of
from uqassay.statistics.samples import check_choice, check_inside, check_level, make_units

__all__ = ["DifferencePlan", "PrecisionPlan", "plan_difference_from_pilot", "plan_from_pilot"]

SCALES = ("identity", "logit")
FEW = 20  # with fewer expected errors (or right predictions) the interval is rough
LEAST = 2.0  # with fewer expected errors their variance is undefined
LARGEST = 10**15  # the search for n stops here
# Functions of the number of instances: standard error and degrees of freedom; ends of the interval.
ErrorAt = Callable[[int], tuple[float, float]]
IntervalAt = Callable[[int], tuple[float, float]]


@final
@dataclass(frozen=True)
class PrecisionPlan:
    """Planned number of instances and the expected interval.

    Attributes
    ----------
    n : int
        Number of instances.
    n_errors : float
        Expected number of errors; nan for a statistic without errors.
    value, low, high : float
        The assumed statistic and its expected interval.
    level : float
    notes : tuple of Note
    """

    n: int
    n_errors: float
    value: float
    low: float
    high: float
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low


@final
@dataclass(frozen=True)
class DifferencePlan:
    """Planned number of instances and the expected power of a paired test.

    Attributes
    ----------
    n : int
        Number of instances.
    n_errors : float
        Expected number of errors; nan for statistics without errors.
    difference, standard_error : float
        The assumed difference and the standard error of its estimate.
    power : float
        Probability that the two-sided test at 1 − level rejects equality.
    level : float
    notes : tuple of Note
    """

    n: int
    n_errors: float
    difference: float
    standard_error: float
    power: float
    level: float
    notes: tuple[Note, ...] = ()


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


# -- for both files ----------------------------------------------------------------------------------------------------


def planned_interval(
    value: float,
    interval: IntervalAt,
    rate: float,
    *,
    width: float | None,
    n: int | None,
    level: float,
    pilot: tuple[Note, ...] = (),
) -> PrecisionPlan:
    """Plan for the least n whose interval is narrow enough, or for the given n. A rate of nan means no errors to count."""
    if width is not None and not (np.isfinite(width) and width > 0):
        raise InputError("width", "must be positive and finite", f"got {width}", "pass 0.05, say", code="range")

    def reached(size: int) -> bool:
        low, high = interval(size)
        return width is None or high - low <= width

    size = _settled_n(n, width, "width", reached, rate)
    low, high = interval(size)
    return PrecisionPlan(size, size * rate, value, low, high, level, (*pilot, *_few_errors(size, rate)))


def planned_difference(
    difference: float,
    standard_error: ErrorAt,
    rate: float,
    *,
    power: float | None,
    n: int | None,
    level: float,
    pilot: tuple[Note, ...] = (),
) -> DifferencePlan:
    """Plan for the least n whose test has the power, or for the given n. A rate of nan means no errors to count."""
    if power is not None:
        check_inside(power, "power")

    def power_of(size: int) -> float:
        error, dof = standard_error(size)
        if error == 0.0:
            return 1.0
        shift, q = abs(difference) / error, float(special.stdtrit(dof, 0.5 + level / 2))
        return float(special.ndtr(shift - q) + special.ndtr(-shift - q))

    size = _settled_n(n, power, "power", lambda size: power is None or power_of(size) >= power, rate)
    notes = (*pilot, *_few_errors(size, rate))
    return DifferencePlan(size, size * rate, difference, standard_error(size)[0], power_of(size), level, notes)


def student_interval(value: float, error: float, dof: float, level: float, scale: str) -> tuple[float, float]:
    """Student's interval on the identity scale or the logit scale."""
    reach = float(special.stdtrit(dof, 0.5 + level / 2)) * error
    if scale == "identity":
        return value - reach, value + reach
    centre, reach = float(special.logit(value)), reach / (value * (1 - value))
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _pilot_error(pilot: Linearised, groups: ArrayLike | None) -> tuple[ErrorAt, Note]:
    """Standard error and degrees of freedom as a function of n, and a note on the pilot."""
    if np.isnan(pilot.value):
        raise InputError(
            "pilot",
            "must be defined",
            f"it is nan ({reason(pilot.notes) or 'no reason given'})",
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


def _settled_n(n: int | None, goal: float | None, name: str, reached: Callable[[int], bool], rate: float) -> int:
    """The given n, or the least n that reaches the goal, by bisection: widths fall and powers rise with n."""
    if (goal is None) == (n is None):
        given = "none" if n is None else "both"
        raise InputError(
            name,
            f"give either {name} or n",
            f"got {given}",
            "leave out the unknown one",
            code="missing" if n is None else "conflict",
        )
    # the variance needs two expected errors and two expected right predictions
    least = 2 if np.isnan(rate) else int(np.ceil(LEAST / min(rate, 1 - rate)))
    if n is not None:
        return _checked_n(n, least, rate)
    low, high = least - 1, least
    while not reached(high):
        low, high = high, 2 * high
        if high > LARGEST:
            raise InputError(name, f"takes more than {LARGEST:.0e} instances", "", "choose a weaker goal", code="size")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _checked_n(n: int, least: int, rate: float) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(
            "n", "must be a whole number of at least 1", f"got {n!r}", "pass the number of instances", code="range"
        )
    if n < least:
        why = "2" if np.isnan(rate) else f"{least}, so that two errors and two right predictions are expected"
        raise InputError("n", f"must be at least {why}", f"got {n}", "plan more instances", code="range")
    return int(n)


def _few_errors(n: int, rate: float) -> tuple[Note, ...]:
    return tuple(
        Note("few", f"only {count:.3g} {name} expected: the interval is rough", {"count": count})
        for count, name in ((n * rate, "errors"), (n * (1 - rate), "right predictions"))
        if count < FEW
    )
