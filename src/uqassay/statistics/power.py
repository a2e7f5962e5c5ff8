"""How many instances a paired test takes to find a difference, before they are labelled."""

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
from uqassay.statistics.linearised import Linearised, spread_of_samples
from uqassay.statistics.samples import check_choice, check_level

__all__ = ["DifferencePlan", "plan_auc_difference", "plan_difference_from_pilot"]


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
        The assumed one, and how much its estimate varies.
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
    """Instances that a paired test of two areas under the ROC curve takes, or the power that n instances give.

    Parameters
    ----------
    first, second : float
        The areas to expect of two scores on the same instances.
    error_rate : float
        Share of errors to expect; the same errors for both.
    correlation : float
        Correlation of the two areas' placements, from −1 to 1: 0 for unrelated scores; near 1 for scores that put the
        instances in nearly the same order. A pilot tells it better: `plan_difference_from_pilot`.
    power : float, optional
        The wanted one; give this or `n`.
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
            "give the difference that should be found",
            code="mismatch",
        )
    pairs = zip(placement_variances(first, model), placement_variances(second, model), strict=True)
    of_errors, of_others = (max(a + b - 2 * correlation * (a * b) ** 0.5, 0.0) for a, b in pairs)

    def standard_error(size: int) -> tuple[float, float]:
        return _area_error(size, error_rate, (of_errors, of_others))

    least = least_instances(error_rate)
    return _plan_difference(first - second, standard_error, power, n, level, least, error_rate)


def plan_difference_from_pilot(
    pilot: Linearised,
    *,
    power: float | None = None,
    n: int | None = None,
    difference: float | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> DifferencePlan:
    """Instances that a paired test of two statistics takes, or the power that n instances give, from a pilot.

    Parameters
    ----------
    pilot : Linearised
        Difference of the two statistics on the same pilot instances, ``first - second``.
    power, n, level
        As in `plan_auc_difference`.
    difference : float, optional
        The difference that should be found: the least that matters. By default the pilot's own, which overstates the power
        where the pilot was chosen for its difference.
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
    standard_error, note = pilot_error(pilot, groups)
    wanted = pilot.value if difference is None else float(difference)
    if not (np.isfinite(wanted) and wanted != 0.0):
        raise InputError(
            "difference", "must be finite and not 0", f"got {wanted}", "give the least that matters", code="finite"
        )
    return _plan_difference(wanted, standard_error, power, n, level, 2, np.nan, note)


def _plan_difference(
    difference: float,
    standard_error: Callable[[int], tuple[float, float]],
    power: float | None,
    n: int | None,
    level: float,
    least: int,
    rate: float,
    note: Note | None = None,
) -> DifferencePlan:
    def power_of(size: int) -> float:
        error, dof = standard_error(size)
        if error == 0.0:
            return 1.0
        shift, q = abs(difference) / error, float(special.stdtrit(dof, 0.5 + level / 2))
        return float(special.ndtr(shift - q) + special.ndtr(-shift - q))

    check_one_of(power, n, "power")
    if power is not None:
        if not 0.0 < power < 1.0:
            raise InputError(
                "power", "must lie strictly between 0 and 1", f"got {power}", "pass 0.8, say", code="range"
            )
        n = least_n(lambda size: power_of(size) >= power, least, "power")
    size = checked_n(n, least, rate)
    return DifferencePlan(
        size, size * rate, difference, standard_error(size)[0], power_of(size), level, plan_notes(note, size, rate)
    )


def _area_error(n: int, rate: float, variances: tuple[float, float]) -> tuple[float, float]:
    """Standard error of an area, or of a difference of two, and its degrees of freedom."""
    sizes = expected_samples(n, rate)
    spread = spread_of_samples([v * (m - 1) / m**2 for v, m in zip(variances, sizes, strict=True)], sizes)
    return spread.standard_error, spread.dof
