"""How many instances an interval of a wanted width takes, before they are labelled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics._planning import (
    MODELS,
    check_inside,
    check_one_of,
    checked_n,
    expected_samples,
    least_instances,
    least_n,
    pilot_error,
    placement_variances,
    plan_notes,
)
from uqassay.statistics.delong import IMAGINARY
from uqassay.statistics.linearised import Linearised, spread_of_samples
from uqassay.statistics.samples import Floats, as_floats, check_choice, check_level

__all__ = ["PrecisionPlan", "plan_auc", "plan_auc_from_pilot", "plan_from_pilot"]

SCALES = ("identity", "logit")


@final
@dataclass(frozen=True)
class PrecisionPlan:
    """What to expect of an interval.

    Attributes
    ----------
    n : int
        Number of instances.
    n_errors : float
        Errors to expect among them; nan where the statistic has none.
    value, low, high : float
        The assumed statistic, and the interval around it to expect.
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


def plan_auc(
    auc: float,
    error_rate: float,
    *,
    width: float | None = None,
    n: int | None = None,
    level: float = 0.95,
    model: str = "binormal",
) -> PrecisionPlan:
    """Instances that a wanted interval of an area under the ROC curve (UQ-AUC) takes, or the interval that n give.

    Parameters
    ----------
    auc : float
        The area to expect, between 0 and 1.
    error_rate : float
        Share of errors (positives) to expect.
    width : float, optional
        The wanted width of the interval; give this or `n`.
    n : int, optional
        The number of instances.
    level : float
    model : {"binormal", "hanley-mcneil"}
        Distribution of the scores of errors and of the others: normal of equal variance, or exponential.

    Returns
    -------
    plan : PrecisionPlan
        A note says where fewer than 20 errors are to be expected.

    Raises
    ------
    InputError
        Both or none of `width` and `n`, a value out of its range, or fewer than two errors to expect.

    Notes
    -----
    The interval is that of `auc_estimate`, DeLong's on the logit scale. The variance is σ₁²/m + σ₀²/(n − m) averaged over
    the binomial number m of errors, where σ₁² and σ₀² are the variances of placements: for "binormal" both
    A − A² − 2T(Φ⁻¹(A), 1/√3) with Owen's T, for "hanley-mcneil" 2A²/(1 + A) − A² and A/(2 − A) − A².
    Mean width of the interval at the planned n over the wanted width (binormal scores, 2000 samples), and in brackets
    the errors to expect at that n:

    ==========  ====  ===========  ===========  ===========
    error rate  AUC   width .2     .1           .05
    ==========  ====  ===========  ===========  ===========
    0.05        0.7   0.99 (29)    1.00 (110)   1.00 (434)
    0.05        0.85  0.98 (18)    0.99 (61)    0.99 (232)
    0.05        0.95  1.05 (12)    0.97 (26)    0.98 (74)
    0.2         0.7   1.00 (33)    1.00 (129)   1.00 (514)
    0.2         0.85  0.99 (20)    1.00 (71)    1.00 (274)
    0.2         0.95  1.07 (12)    0.99 (28)    0.99 (85)
    0.5         0.7   1.01 (51)    1.00 (205)   1.00 (820)
    0.5         0.85  1.01 (30)    1.00 (111)   1.00 (436)
    0.5         0.95  1.11 (16)    1.02 (41)    1.00 (133)
    ==========  ====  ===========  ===========  ===========

    References
    ----------
    Hanley, McNeil (1982), The meaning and use of the area under a ROC curve, Radiology 143.
    Obuchowski (1998), Sample size calculations in studies of test accuracy, Stat. Methods Med. Res. 7.

    Examples
    --------
    >>> plan = plan_auc(0.9, 0.1, width=0.05)
    >>> plan.n, round(plan.n_errors), round(plan.low, 3), round(plan.high, 3)
    (1588, 159, 0.871, 0.921)
    >>> round(plan_auc(0.9, 0.1, n=1000).width, 3)
    0.064
    """
    check_level(level)
    check_choice(model, "model", MODELS)
    check_inside(auc, "auc")
    check_inside(error_rate, "error_rate")
    return _plan_area(auc, error_rate, placement_variances(auc, model), width, n, level)


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
        Greater is less certain.
    error_rate : float, optional
        Where another one than the pilot's is to be expected.
    width, n, level
        As in `plan_auc`.

    Returns
    -------
    plan : PrecisionPlan

    Raises
    ------
    InputError
        As `plan_auc`; also where the pilot has fewer than two errors or others, or separates them perfectly.

    Examples
    --------
    >>> plan = plan_auc_from_pilot([0, 0, 0, 0, 1, 0, 1, 0, 1, 1], range(10), error_rate=0.1, width=0.1)
    >>> plan.n, round(plan.value, 3), plan.notes[0].text
    (509, 0.875, 'from a pilot with 4 errors among 10 instances')
    """
    check_level(level)
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
            code="type",
        )
    wrong, right = np.sort(s[e == 1]), np.sort(s[e == 0])
    if min(wrong.size, right.size) < 2:
        raise InputError(
            "errors",
            "a pilot needs at least two errors and two others",
            f"got {wrong.size} and {right.size}",
            "use plan_auc with an area and a rate that you expect",
            code="range",
        )
    placements = _shares_below(right, wrong), 1 - _shares_below(wrong, right)
    area = float(placements[0].mean())
    variances = float(placements[0].var(ddof=1)), float(placements[1].var(ddof=1))
    if sum(variances) == 0.0:
        raise InputError(
            "uncertainty",
            "a pilot must say how placements vary",
            f"its area is {area:g} without any variance",
            "use plan_auc with an area that you expect",
            code="undefined",
        )
    rate = wrong.size / e.size if error_rate is None else error_rate
    check_inside(rate, "error_rate")
    note = Note("pilot", f"from a pilot with {wrong.size} errors among {e.size} instances")
    return _plan_area(area, rate, variances, width, n, level, note)


def plan_from_pilot(
    pilot: Linearised,
    *,
    width: float | None = None,
    n: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    scale: str = "logit",
) -> PrecisionPlan:
    """Instances that a wanted interval of any statistic with influences takes, or the interval that n give.

    Parameters
    ----------
    pilot : Linearised
        The statistic on a pilot sample, such as the UQ-C-index or Kendall's τ.
    width, n, level
        As in `plan_auc`.
    groups : array_like of labels, shape (m,), optional
        Groups of the pilot's instances. The groups to come are taken to be as large and as dependent; n still counts
        instances.
    scale : {"logit", "identity"}
        Scale on which the interval is symmetric; "logit" for statistics in (0, 1).

    Returns
    -------
    plan : PrecisionPlan

    Raises
    ------
    InputError
        An undefined pilot or one without variance, both or none of `width` and `n`, or a value out of its range.

    Notes
    -----
    The variance of the pilot's estimate times m/n, and its degrees of freedom times n/m. Where the interval is centred
    beside the estimate (`Linearised.centre`), the distance is taken times m/n as well. For n = m the plan is the pilot's own
    interval.

    Examples
    --------
    >>> from uqassay.statistics.correlation import kendall_tau_influence
    >>> tau = kendall_tau_influence([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 6, 3, 5, 8, 7])
    >>> plan_from_pilot(tau, width=0.2, scale="identity").n
    30
    """
    check_level(level)
    check_choice(scale, "scale", SCALES)
    standard_error, note = pilot_error(pilot, groups)
    value, m = pilot.value, pilot.influence.size
    shift = 0.0 if np.isnan(pilot.centre) else pilot.centre - value
    if scale == "logit" and not (0.0 < value < 1.0 and 0.0 < value + shift < 1.0):
        raise InputError(
            "scale",
            '"logit" takes a statistic in (0, 1)',
            f"the pilot's is {value:g}",
            'take "identity"',
            code="undefined",
        )

    def interval(size: int) -> tuple[float, float]:
        low, high = _interval(value + shift * min(m / size, 1.0), *standard_error(size), level, scale)
        return min(low, value), max(high, value)

    return _plan_interval(value, interval, width, n, level, 2, np.nan, note)


def _area_interval(
    area: float, n: int, rate: float, variances: tuple[float, float], level: float
) -> tuple[float, float]:
    """What `auc_estimate` gives where a sample has these variances of placements, imaginary instances included."""
    sizes, a = expected_samples(n, rate), IMAGINARY
    m1, m0 = sizes
    centre = (area * m1 * m0 + 0.5 * a * (m1 + m0) + 0.5 * a * a) / ((m1 + a) * (m0 + a))
    squares = []
    for variance, m, others in ((variances[0], m1, m0), (variances[1], m0, m1)):
        mean, shrunk = (area * others + 0.5 * a) / (others + a), variance * (others / (others + a)) ** 2
        squares.append(((m - 1) * shrunk + m * (mean - centre) ** 2 + a * (0.5 - centre) ** 2) / (m + a) ** 2)
    spread = spread_of_samples(squares, (m1 + a, m0 + a))
    return _interval(centre, spread.standard_error, spread.dof, level, "logit")


def _shares_below(ordered: Floats, values: Floats) -> Floats:
    """Share of the ordered ones below each value, ties ½."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * ordered.size)


def _plan_area(
    area: float,
    rate: float,
    variances: tuple[float, float],
    width: float | None,
    n: int | None,
    level: float,
    note: Note | None = None,
) -> PrecisionPlan:
    def interval(size: int) -> tuple[float, float]:
        return _area_interval(area, size, rate, variances, level)

    return _plan_interval(area, interval, width, n, level, least_instances(rate), rate, note)


def _plan_interval(
    value: float,
    interval: Callable[[int], tuple[float, float]],
    width: float | None,
    n: int | None,
    level: float,
    least: int,
    rate: float,
    note: Note | None,
) -> PrecisionPlan:
    check_one_of(width, n, "width")
    if width is not None:
        if not (np.isfinite(width) and width > 0):
            raise InputError("width", "must be positive and finite", f"got {width}", "pass 0.05, say", code="finite")
        n = least_n(lambda size: interval(size)[1] - interval(size)[0] <= width, least, "width")
    size = checked_n(n, least, rate)
    low, high = interval(size)
    return PrecisionPlan(size, size * rate, value, low, high, level, plan_notes(note, size, rate))


def _interval(value: float, error: float, dof: float, level: float, scale: str) -> tuple[float, float]:
    reach = float(special.stdtrit(dof, 0.5 + level / 2)) * error
    if scale == "identity":
        return value - reach, value + reach
    centre, reach = float(special.logit(value)), reach / (value * (1 - value))
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))
