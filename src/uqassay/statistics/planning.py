"""How many instances a difference, or an interval of a wanted width, needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note, reason
from uqassay.one_order import in_one_order
from uqassay.statistics.auc import IMAGINARY
from uqassay.statistics.linearised import Linearised, spread_of, spread_of_samples
from uqassay.statistics.units import Floats, as_floats, check_choice, check_inside, check_level, make_units

__all__ = [
    "DifferencePlan",
    "PrecisionPlan",
    "plan_auc",
    "plan_auc_difference",
    "plan_auc_from_pilot",
    "plan_difference_from_pilot",
    "plan_from_pilot",
]


# Sample sizes for an interval of a given width, or for a paired test of a given power, of a linearised statistic.
#
# The variances are measured on a pilot sample. `planning_auc` plans areas under the ROC curve.

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


# Sample sizes for an interval of a given width, or for a paired test of a given power, of areas under the ROC curve.
#
# The areas are expected ones, or measured on a pilot sample.

MODELS = ("binormal", "hanley-mcneil")


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
    interval = _area_interval(auc, error_rate, _placement_variances(auc, model), level)
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


@in_one_order("errors", "uncertainty")
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
    interval = _area_interval(area, rate, variances, level)
    return planned_interval(area, interval, rate, width=width, n=n, level=level, pilot=(note,))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _area_interval(area: float, rate: float, variances: tuple[float, float], level: float) -> IntervalAt:
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
