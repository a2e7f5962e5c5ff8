"""Sample sizes for an interval of a given width, or for a paired test of a given power, of areas under the ROC curve.

The areas are expected ones, or measured on a pilot sample.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.delong import IMAGINARY
from uqassay.statistics.linearised import spread_of_samples
from uqassay.statistics.planning_linearised import (
    DifferencePlan,
    IntervalAt,
    PrecisionPlan,
    planned_difference,
    planned_interval,
    student_interval,
)
from uqassay.statistics.samples import Floats, as_floats, check_choice, check_inside, check_level

__all__ = ["plan_auc", "plan_auc_difference", "plan_auc_from_pilot"]

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
