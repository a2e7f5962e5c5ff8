"""How many instances an interval of a wanted width, or a paired test of a wanted power, needs, judged by a pilot sample."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.checks import a, fail, number, one_of, whole
from uqassay.notes import Note, reason
from uqassay.statistics.linearised import Linearised, least_units, scaled_interval, spread_of
from uqassay.statistics.units import Spread, check_inside, check_level, make_units

__all__ = ["DifferencePlan", "PrecisionPlan", "plan_difference", "plan_precision"]

SCALES = ("identity", "logit")
FEW = 20  # with fewer expected units of the smallest sample the interval is rough
LARGEST = 10**15  # the search for n stops here
LARGER = "take a larger pilot"


@final
@dataclass(frozen=True)
class PrecisionPlan:
    """Planned number of instances and the expected interval."""

    #: Number of instances.
    n: int
    #: The statistic of the pilot.
    value: float
    #: Ends of the expected interval.
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
    """Planned number of instances and the expected power of a paired test."""

    #: Number of instances.
    n: int
    #: The assumed difference and the standard error of its estimate.
    difference: float
    standard_error: float
    #: Probability that the two-sided test at 1 − level rejects equality.
    power: float
    level: float
    notes: tuple[Note, ...] = ()


def plan_precision(
    pilot: Linearised,
    *,
    width: float | None = None,
    n: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    scale: str = "logit",
) -> PrecisionPlan:
    """Number of instances for an interval of given width, or the width for given n.

    Parameters
    ----------
    pilot : Linearised
        The statistic on a pilot sample: `auc_influence`, `kendall_tau_influence`, `spearman_influence`.
    width : float, optional
        The greatest width of the interval; give either this or `n`.
    n : int, optional
        The number of instances.
    groups : array_like of labels, shape (m,), optional
        Groups of the pilot's instances. The planned groups are assumed to have the same size and correlation. n still
        counts instances.
    level : float
    scale : {"logit", "identity"}
        Scale on which the interval is symmetric. "logit" is for statistics in (0, 1), such as an area.

    Returns
    -------
    plan : PrecisionPlan
        A note warns if the smaller of two samples, such as errors and right predictions, will have fewer than 20 members.

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

    References
    ----------
    Obuchowski (1998), Sample size calculations in studies of test accuracy, Stat. Methods Med. Res. 7.

    Examples
    --------
    >>> from uqassay.statistics import auc_influence, kendall_tau_influence
    >>> errors, uncertainty = [0, 0, 0, 0, 1, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> plan_precision(auc_influence(errors, uncertainty), width=0.1).n
    178
    >>> tau = kendall_tau_influence([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 6, 3, 5, 8, 7])
    >>> plan_precision(tau, width=0.2, scale="identity").n
    30
    """
    check_level(level)
    one_of(scale, "scale", SCALES)
    measured = _Pilot(pilot, groups)
    if width is not None:
        number(width, "width", "pass 0.05, say", low=0, high=np.inf, ends="()")
    value, m = pilot.value, measured.n
    shift = 0.0 if np.isnan(pilot.centre) else pilot.centre - value
    if scale == "logit" and not (0.0 < value < 1.0 and 0.0 < value + shift < 1.0):
        got = f"the pilot's is {value:g}"
        fail("scale", '"logit" takes a statistic in (0, 1)', got, 'choose "identity"', code="undefined")

    def interval(size: int) -> tuple[float, float]:
        spread = measured.spread(size)
        low, high = scaled_interval(value + shift * min(m / size, 1.0), spread, level, scale, size)
        return min(low, value), max(high, value)

    def narrow(size: int) -> bool:
        low, high = interval(size)
        return width is None or high - low <= width

    size = _settled_n(n, width, "width", narrow, measured.least)
    return PrecisionPlan(size, value, *interval(size), level, measured.notes(size))


def plan_difference(
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
    power : float, optional
        The least power; give either this or `n`.
    n : int, optional
        The number of instances.
    difference : float, optional
        The least difference that matters. The default is that of the pilot, which overstates the power if the pilot was
        chosen for its difference.
    groups
        As in `plan_precision`.
    level : float
        1 − level is the size of the two-sided test.

    Returns
    -------
    plan : DifferencePlan

    Raises
    ------
    InputError
        As `plan_precision`; also for a difference of 0.

    Notes
    -----
    The power is Φ(|Δ|/se − t) + Φ(−|Δ|/se − t) with the quantile t of Student's t.

    Examples
    --------
    >>> from uqassay.statistics import kendall_tau_influence
    >>> truth, first, second = [1, 2, 3, 4, 5, 6], [1, 2, 4, 3, 5, 6], [2, 1, 6, 3, 4, 5]
    >>> pilot = kendall_tau_influence(truth, first) - kendall_tau_influence(truth, second)
    >>> plan_difference(pilot, difference=0.1, power=0.9).n
    271
    """
    check_level(level)
    measured = _Pilot(pilot, groups)
    if power is not None:
        check_inside(power, "power")
    wanted = pilot.value if difference is None else float(difference)
    if not (np.isfinite(wanted) and wanted != 0.0):
        remedy = "give the least that matters"
        fail("difference", "must be finite and not 0", f"got {wanted}", remedy, code="range")

    def power_of(size: int) -> float:
        spread = measured.spread(size)
        shift, q = abs(wanted) / spread.standard_error, float(special.stdtrit(spread.dof, 0.5 + level / 2))
        return float(special.ndtr(shift - q) + special.ndtr(-shift - q))

    size = _settled_n(n, power, "power", lambda size: power is None or power_of(size) >= power, measured.least)
    error = measured.spread(size).standard_error
    return DifferencePlan(size, wanted, error, power_of(size), level, measured.notes(size))


class _Pilot:
    """Variance of a statistic on m instances, as a function of n."""

    def __init__(self, pilot: Linearised, groups: ArrayLike | None) -> None:
        a(Linearised, pilot, "pilot", "pass the influences of a statistic, such as auc_influence(errors, uncertainty)")
        if np.isnan(pilot.value):
            fail(
                "pilot",
                "must be defined",
                f"it is nan ({reason(pilot.notes) or 'no reason given'})",
                LARGER,
                code="finite",
            )
        units = make_units(pilot.influence.shape[0], groups, None)
        self.n = m = units.n_instances
        spread = spread_of(pilot, units) if units.n_units > 1 else None
        if spread is None or not spread.standard_error > 0.0:
            got = f"{units.n_units} instances or groups have variance 0"
            fail("pilot", "the statistic must vary in the pilot", got, LARGER, code="undefined")
        self._variance, self._spread = spread.standard_error**2, spread
        # the number of imaginary instances does not grow with n, so the variance that they add falls like 1/n², not 1/n
        alone = spread_of(replace(pilot, imaginary=0.0, shadows=()), units)
        self._extra = self._variance - alone.standard_error**2
        self._smallest = (
            least_units(pilot, units) / m if pilot.inside else np.nan
        )  # units of the smallest sample, of n = 1
        # a variance needs two expected units of each sample
        self.least = 2 if np.isnan(self._smallest) else int(np.ceil(2 / self._smallest))
        text = f"from a pilot of {m} instances"
        if units.codes is not None:
            text += f" in {units.n_units} groups, {m / units.n_units:.3g} each"
        self._note = Note("pilot", text, {"instances": m})

    def spread(self, n: int) -> Spread:
        share, dof = self.n / n, self._spread.dof
        variance = share * (self._variance - self._extra * (1 - min(share, 1.0)))
        return replace(self._spread, standard_error=variance**0.5, dof=max(dof / share, min(dof, 1.0)))

    def notes(self, n: int) -> tuple[Note, ...]:
        count = n * self._smallest
        if not count < FEW:
            return (self._note,)
        text = f"only {count:.3g} in the smaller sample expected: the interval is rough"
        return (self._note, Note("few", text, {"count": count}))


def _settled_n(n: int | None, goal: float | None, name: str, reached: Callable[[int], bool], least: int) -> int:
    """The given n, or the least n that reaches the goal, by bisection: widths fall and powers rise with n."""
    if goal is None and n is None:
        fail(name, f"give either {name} or n", "got none", f"pass {name}", code="missing")
    if goal is not None and n is not None:
        fail(name, f"give either {name} or n", "got both", "leave out the unknown one", code="conflict")
    if n is not None:
        return whole(n, "n", "pass the number of instances", least=least)
    low, high = least - 1, least
    while not reached(high):
        low, high = high, 2 * high
        if high > LARGEST:
            fail(name, f"takes more than {LARGEST:.0e} instances", "", "choose a weaker goal", code="size")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
