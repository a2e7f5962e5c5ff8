"""Planning a study: how many instances an interval of a wanted width, or a paired test of a wanted power, takes.

Here the areas under the ROC curve are stated; `planning_from_pilot` measures them, or another statistic, on a pilot sample.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.delong import IMAGINARY
from uqassay.statistics.linearised import spread_of_samples
from uqassay.statistics.samples import check_choice, check_inside, check_level

__all__ = ["DifferencePlan", "PrecisionPlan", "plan_auc", "plan_auc_difference"]

MODELS = ("binormal", "hanley-mcneil")
FEW = 20  # errors (or others) below which an interval is rough
LEAST = 2.0  # expected errors below which their variance is undefined
LARGEST = 10**15
# Of a number of instances: standard error and degrees of freedom; ends of an interval.
ErrorAt = Callable[[int], tuple[float, float]]
IntervalAt = Callable[[int], tuple[float, float]]


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


@final
@dataclass(frozen=True)
class DifferencePlan:
    """What to expect of a paired test of a difference.

    Attributes
    ----------
    n : int
        Number of instances.
    n_errors : float
        Errors to expect among them; nan where the statistics have none.
    difference, standard_error : float
        The assumed difference and the standard error of its estimate.
    power : float
        Probability that the two-sided test at 1 − level finds it.
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


def plan_auc(
    auc: float,
    error_rate: float,
    *,
    width: float | None = None,
    n: int | None = None,
    level: float = 0.95,
    model: str = "binormal",
) -> PrecisionPlan:
    """Number of instances for an interval of wanted width of an area under the ROC curve (UQ-AUC), or the interval that n give.

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
        A note warns where fewer than 20 errors are to be expected.

    Raises
    ------
    InputError
        Both or none of `width` and `n`, a value out of its range, or fewer than two errors to expect.

    Notes
    -----
    The interval is that of `auc_estimate`, DeLong's on the logit scale. The variance is σ₁²/m + σ₀²/(n − m) averaged over
    the binomial number m of errors, where σ₁² and σ₀² are the variances of placements: for "binormal" both
    A − A² − 2T(Φ⁻¹(A), 1/√3) with Owen's T, for "hanley-mcneil" 2A²/(1 + A) − A² and A/(2 − A) − A².
    The mean width at the planned n is the wanted one within 3 % where 20 errors or more are to be expected
    (docs/measured-coverage.md).

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
    interval = area_interval(auc, error_rate, _placement_variances(auc, model), level)
    return planned_interval(auc, interval, error_rate, width=width, n=n, level=level)


def plan_auc_difference(
    first: float,
    second: float,
    error_rate: float,
    *,
    correlation: float,
    power: float | None = None,
    n: int | None = None,
    level: float = 0.95,
    model: str = "binormal",
) -> DifferencePlan:
    """Number of instances for a paired test of two areas under the ROC curve of wanted power, or the power that n give.

    Parameters
    ----------
    first, second : float
        The areas to expect of two scores on the same instances.
    error_rate : float
        Share of errors to expect; the same errors for both.
    correlation : float
        Correlation of the two areas' placements, from −1 to 1: 0 for unrelated scores; near 1 for scores that put the
        instances in nearly the same order. A pilot measures it: `plan_difference_from_pilot`.
    power : float, optional
        The wanted power; give this or `n`.
    n : int, optional
        The number of instances.
    level : float
        1 − level is the size of the two-sided test.
    model
        As in `plan_auc`.

    Returns
    -------
    plan : DifferencePlan

    Raises
    ------
    InputError
        Equal areas, both or none of `power` and `n`, a value out of its range, or fewer than two errors to expect.

    Notes
    -----
    Each variance of placements is that of a difference, σ² + σ'² − 2ρσσ'; power is Φ(|Δ|/se − t) + Φ(−|Δ|/se − t) with
    the quantile t of Student's t.

    Examples
    --------
    >>> plan = plan_auc_difference(0.85, 0.80, 0.1, correlation=0.6, power=0.8)
    >>> plan.n, round(plan.n_errors), round(plan.power, 3)
    (1190, 119, 0.8)
    """
    check_level(level)
    check_choice(model, "model", MODELS)
    check_inside(first, "first")
    check_inside(second, "second")
    check_inside(error_rate, "error_rate")
    if not -1.0 <= correlation <= 1.0:
        raise InputError(
            "correlation", "must lie in [-1, 1]", f"got {correlation}", "measure it on a pilot, or take 0", code="range"
        )
    if first == second:
        raise InputError(
            "second",
            "must differ from first",
            f"both are {first}",
            "give the difference that the test should find",
            code="mismatch",
        )
    pairs = zip(_placement_variances(first, model), _placement_variances(second, model), strict=True)
    variances = [max(a + b - 2 * correlation * (a * b) ** 0.5, 0.0) for a, b in pairs]

    def standard_error(size: int) -> tuple[float, float]:
        sizes = _expected_samples(size, error_rate)
        spread = spread_of_samples([v * (m - 1) / m**2 for v, m in zip(variances, sizes, strict=True)], sizes)
        return spread.standard_error, spread.dof

    return planned_difference(first - second, standard_error, error_rate, power=power, n=n, level=level)


# -- for both files ----------------------------------------------------------------------------------------------------


def area_interval(area: float, rate: float, variances: tuple[float, float], level: float) -> IntervalAt:
    """The interval of `auc_estimate` to expect where a sample has these variances of placements."""
    a = IMAGINARY

    def interval(n: int) -> tuple[float, float]:
        m1, m0 = _expected_samples(n, rate)
        centre = (area * m1 * m0 + 0.5 * a * (m1 + m0) + 0.5 * a * a) / ((m1 + a) * (m0 + a))
        squares = []
        for variance, m, others in ((variances[0], m1, m0), (variances[1], m0, m1)):
            mean, shrunk = (area * others + 0.5 * a) / (others + a), variance * (others / (others + a)) ** 2
            squares.append(((m - 1) * shrunk + m * (mean - centre) ** 2 + a * (0.5 - centre) ** 2) / (m + a) ** 2)
        spread = spread_of_samples(squares, (m1 + a, m0 + a))
        return student_interval(centre, spread.standard_error, spread.dof, level, "logit")

    return interval


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
    """The plan of the least n whose interval is narrow enough, or of the n given; a rate of nan: no errors to count."""
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
    """The plan of the least n whose test has the power, or of the n given; a rate of nan: no errors to count."""
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
    """Student's interval on the scale of the value, or of ln v/(1 − v)."""
    reach = float(special.stdtrit(dof, 0.5 + level / 2)) * error
    if scale == "identity":
        return value - reach, value + reach
    centre, reach = float(special.logit(value)), reach / (value * (1 - value))
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _placement_variances(auc: float, model: str) -> tuple[float, float]:
    """Variance of the share of others below an error, and of the share of errors above another."""
    if model == "binormal":
        both = auc - 2 * float(special.owens_t(special.ndtri(auc), 3**-0.5)) - auc**2
        return both, both
    return 2 * auc**2 / (1 + auc) - auc**2, auc / (2 - auc) - auc**2


def _expected_samples(n: int, rate: float) -> tuple[float, float]:
    """Number of errors and of others, 1 / E 1/m each: E 1/m ≈ (1 + (1 − rate)/μ)/μ for the binomial m with mean μ."""
    first, second = (n * share / (1 + (1 - share) / (n * share)) for share in (rate, 1 - rate))
    return first, second


def _settled_n(n: int | None, goal: float | None, name: str, reached: Callable[[int], bool], rate: float) -> int:
    """The n given, or the least that reaches the goal; more instances always come closer to it."""
    if (goal is None) == (n is None):
        given = "none" if n is None else "both"
        raise InputError(
            name,
            f"give either {name} or n, one of the two",
            f"got {given}",
            "leave the unknown one out",
            code="missing" if n is None else "conflict",
        )
    # two errors and two others to expect, so that there is a variance
    least = 2 if np.isnan(rate) else int(np.ceil(LEAST / min(rate, 1 - rate)))
    if n is not None:
        return _checked_n(n, least, rate)
    low, high = least - 1, least
    while not reached(high):
        low, high = high, 2 * high
        if high > LARGEST:
            raise InputError(name, f"takes more than {LARGEST:.0e} instances", "", "ask for less", code="size")
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
        why = "2" if np.isnan(rate) else f"{least}, so that two errors and two others are to be expected"
        raise InputError("n", f"must be at least {why}", f"got {n}", "plan for more", code="range")
    return int(n)


def _few_errors(n: int, rate: float) -> tuple[Note, ...]:
    return tuple(
        Note("few", f"only {count:.3g} {name} to expect: the interval is rough", {"count": count})
        for count, name in ((n * rate, "errors"), (n * (1 - rate), "instances without error"))
        if count < FEW
    )
