"""Sample sizes for an interval of a given width, or for a paired test of a given power.

This module takes expected areas under the ROC curve. `planning_from_pilot` measures areas or other statistics on a pilot
sample.
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


def plan_auc(
    auc: float,
    error_rate: float,
    *,
    width: float | None = None,
    n: int | None = None,
    level: float = 0.95,
    model: str = "binormal",
) -> PrecisionPlan:
    """Number of instances for an interval of given width of an area under the ROC curve (UQ-AUC), or the width for given n.

    Parameters
    ----------
    auc : float
        The expected area, between 0 and 1.
    error_rate : float
        The expected share of errors (positives).
    width : float, optional
        The greatest width of the interval; give either this or `n`.
    n : int, optional
        The number of instances.
    level : float
    model : {"binormal", "hanley-mcneil"}
        Distribution of the scores of errors and of right predictions: normal with equal variances, or exponential.

    Returns
    -------
    plan : PrecisionPlan
        A note warns if fewer than 20 errors are expected.

    Raises
    ------
    InputError
        When both or none of `width` and `n` are given, a value is out of range, or fewer than two errors are expected.

    Notes
    -----
    The interval is that of `auc_estimate` (DeLong, logit scale). The variance is σ₁²/m + σ₀²/(n − m), averaged over the
    binomial number m of errors, with the variances σ₁² and σ₀² of the placements. For "binormal" both are
    A − A² − 2T(Φ⁻¹(A), 1/√3) with Owen's T; for "hanley-mcneil" they are 2A²/(1 + A) − A² and A/(2 − A) − A².

    The mean width at the planned n differs from the width asked for by at most 3 % if 20 or more errors are expected
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
    """Number of instances for a paired test of two areas under the ROC curve with given power, or the power for given n.

    Parameters
    ----------
    first, second : float
        The expected areas of two scores on the same instances.
    error_rate : float
        The expected share of errors; both scores have the same errors.
    correlation : float
        Correlation of the placements of the two scores, from −1 to 1: 0 for unrelated scores, near 1 for scores that give
        nearly the same order. `plan_difference_from_pilot` measures it on a pilot.
    power : float, optional
        The least power; give either this or `n`.
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
        When the areas are equal, both or none of `power` and `n` are given, a value is out of range, or fewer than two
        errors are expected.

    Notes
    -----
    The variance of a difference of placements is σ² + σ'² − 2ρσσ'. The power is Φ(|Δ|/se − t) + Φ(−|Δ|/se − t) with the
    quantile t of Student's t.

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
            "correlation", "must lie in [-1, 1]", f"got {correlation}", "measure it on a pilot, or pass 0", code="range"
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
    """The expected interval of `auc_estimate` as a function of n, given the variances of placements."""
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


def _placement_variances(auc: float, model: str) -> tuple[float, float]:
    """Variances of the placements: of errors among right predictions, and of right predictions among errors."""
    if model == "binormal":
        both = auc - 2 * float(special.owens_t(special.ndtri(auc), 3**-0.5)) - auc**2
        return both, both
    return 2 * auc**2 / (1 + auc) - auc**2, auc / (2 - auc) - auc**2


def _expected_samples(n: int, rate: float) -> tuple[float, float]:
    """Harmonic means 1 / E(1/m) of the numbers m of errors and of right predictions.

    E(1/m) ≈ (1 + (1 − rate)/μ)/μ for a binomial m with mean μ. The plain mean would understate the expected variance.
    """
    first, second = (n * share / (1 + (1 - share) / (n * share)) for share in (rate, 1 - rate))
    return first, second


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
