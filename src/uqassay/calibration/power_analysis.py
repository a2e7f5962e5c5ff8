"""Power of a test of calibration, and the number of labelled instances that it needs, for an assumed miscalibration."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay._array import RandomState
from uqassay.calibration.credal_hypothesis import Null
from uqassay.calibration.parts import check_whole
from uqassay.calibration.power_simulation import Alternative, PowerSimulation, fitted_probit
from uqassay.calibration.simplex_search import SimplexSearch
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.notes import Note, has_note
from uqassay.statistics import Estimate
from uqassay.statistics.samples import check_draws, check_inside

__all__ = ["CalibrationPower", "CalibrationSampleSize", "calibration_power", "required_instances"]

Floats = NDArray[np.float64]

SMALLEST = 10
FIRST = 160
FEW_SAMPLES = 40  # data sets simulated at each intermediate size
ROUNDS = 6
SETTLING = 3
NEAR = np.log(2.0)  # log of a factor of 2: sizes further away have little weight in the fit


@final
@dataclass(frozen=True, eq=False)
class CalibrationPower:
    """Simulated power of the test.

    Attributes
    ----------
    n : int
        Number of instances.
    power : Estimate
        Share of the simulated data sets in which the test rejects, with its Wilson interval.
    pvalues : array (S,)
        One for each simulated data set; nan if the measure is undefined, which counts as no rejection.
    measure : str
    alpha : float
    alternative : str
        The assumed miscalibration in words.
    """

    n: int
    power: Estimate
    pvalues: Floats
    measure: str
    alpha: float
    alternative: str


@final
@dataclass(frozen=True, eq=False)
class CalibrationSampleSize:
    """Number of instances that the test needs.

    Attributes
    ----------
    n : float
        A whole number of instances; nan if the power is not reached, see `notes`.
    n_low, n_high : float
        95 % interval of the n that has exactly the wanted power; it covers the error of the simulation.
    power : Estimate
        Power at n, or at the greatest n tried if n is nan.
    wanted : float
        The requested power.
    tried : tuple of CalibrationPower
        All simulated sizes in ascending order: the power curve.
    measure : str
    alpha : float
    alternative : str
    notes : tuple of Note
    """

    n: float
    n_low: float
    n_high: float
    power: Estimate
    wanted: float
    tried: tuple[CalibrationPower, ...]
    measure: str
    alpha: float
    alternative: str
    notes: tuple[Note, ...] = ()


def calibration_power(
    prediction: Any,
    alternative: Alternative,
    n: int,
    *,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    alpha: float = 0.05,
    null: Null = "minimised",
    n_samples: int = 200,
    n_draws: int = 99,
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CalibrationPower:
    """Power of the test of calibration with n instances under an assumed miscalibration.

    Parameters
    ----------
    prediction : Point, array (m, K), Members, or array (m, M, K)
        Predictions of a pilot of m instances; labels are not needed. One classifier is tested by `calibration_test`,
        several members by `credal_calibration_test`.
    alternative : Miscalibration, or callable
        The true probabilities as a function of the predicted ones. With several members the prediction is their mean,
        weighted if the `Members` have weights. A callable maps probabilities (m, K) to the true ones (m, K).
    n : int
        Number of instances of the planned test.
    measure : str or CalibrationMeasure
    alpha : float
        Level of the test.
    null, search
        As in `credal_calibration_test`; unused for one classifier.
    n_samples : int
        Number of simulated data sets.
    n_draws : int
        Null draws of each test; enough for the level, 1 / (n_draws + 1) ≤ α.
    rng : int or numpy Generator, optional
        None means seed 0. Data set s does not depend on `n_samples`.

    Returns
    -------
    power : CalibrationPower

    Raises
    ------
    InputError
        As in the tests; also if the miscalibration does not return probabilities.

    Notes
    -----
    Each data set holds n predictions drawn from the pilot with replacement, and labels drawn from the assumed truth. Some
    weights of the members may remove the miscalibration of their mean. The power refers to the part that no weights remove.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.miscalibration import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> found = calibration_power(pilot, Miscalibration.temperature(1.5), 1000, n_samples=50)
    >>> found.alternative, bool(found.power > 0.8)
    ('the truth is p^(1/1.5), normalised', True)
    """
    simulation = PowerSimulation(prediction, alternative, measure, alpha, null, n_draws, search, rng)
    check_draws(n_samples)
    check_whole(n, "n", remedy="pass the number of instances")
    simulation.add(int(n), n_samples)
    return _at(simulation, int(n))


def required_instances(
    prediction: Any,
    alternative: Alternative,
    *,
    power: float = 0.8,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    alpha: float = 0.05,
    null: Null = "minimised",
    largest: int = 50_000,
    n_samples: int = 200,
    n_draws: int = 99,
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CalibrationSampleSize:
    """Number of instances that the test of calibration needs for a wanted power under an assumed miscalibration.

    Parameters
    ----------
    prediction, alternative, measure, alpha, null, n_draws, search, rng
        As in `calibration_power`.
    power : float
        The wanted power.
    largest : int
        Greatest number of instances that is tried.
    n_samples : int
        Data sets simulated at the resulting n; intermediate sizes use 40.

    Returns
    -------
    size : CalibrationSampleSize

    Raises
    ------
    InputError
        As in `calibration_power`; also for a power that is not between `alpha` and 1.

    Notes
    -----
    The size is doubled until the power exceeds the wanted one. Then a monotone curve Φ(a + b √n), b > 0, is fitted to the
    sizes tried, with the greatest weight on those near the crossing, and more data sets are simulated at the crossing until n
    settles. With members and a minimised null, every draw of every data set takes a search: minutes in all.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.miscalibration import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> size = required_instances(pilot, Miscalibration.overconfidence(0.1), n_samples=80)
    >>> bool(150 < size.n < 350), bool(size.power.low < 0.8 < size.power.high)
    (True, True)
    """
    simulation = PowerSimulation(prediction, alternative, measure, alpha, null, n_draws, search, rng)
    check_draws(n_samples)
    check_inside(power, "power")
    if power <= alpha:
        raise InputError(
            "power",
            f"must be above alpha={alpha:g}",
            f"got {power:g}",
            "pass a greater power: a test without any instances already has power alpha",
            code="range",
        )
    check_whole(largest, "largest", least=SMALLEST, remedy="pass 50000, say")
    few, largest = min(FEW_SAMPLES, n_samples), int(largest)
    notes: tuple[Note, ...] = ()
    interval = (np.nan, np.nan)
    if not _passed(simulation, power, few, largest):
        simulation.add(largest, n_samples)
        why = Note(
            "undefined",
            f"the wanted power is not reached with {largest} instances, so raise largest or accept less power",
            {"largest": largest},
        )
        return _result(simulation, power, largest, interval, (why,))
    for _ in range(ROUNDS):
        simulation.add(_crossing(simulation, power, largest)[0], few)
    for _ in range(SETTLING):
        n = _crossing(simulation, power, largest)[0]
        simulation.add(n, n_samples)
        found = simulation.power(n)
        if found.low <= power <= found.high:
            break
    else:
        notes = (
            Note("not-settled", "n is rough, so take some more instances, or repeat the plan with more n_samples"),
        )
    if n == SMALLEST:
        notes = (Note("one-sided", f"fewer than {SMALLEST} instances may also do"),)
    else:
        interval = _crossing(simulation, power, largest)[1]
    return _result(simulation, power, n, interval, notes)


def _passed(simulation: PowerSimulation, power: float, n_samples: int, largest: int) -> bool:
    """Double or halve the size until the wanted power lies between two sizes; False if it is not reached."""

    def share(n: int) -> float:
        simulation.add(n, n_samples)
        return float(simulation.power(n))

    n = min(FIRST, largest)
    if share(n) >= power:
        while n > SMALLEST:
            n = max(n // 2, SMALLEST)
            if share(n) < power:
                break
        return True
    while n < largest:
        # far below the wanted power the size grows by 4, to save simulations
        n = min(n * (4 if share(n) < power / 4 else 2), largest)
        if share(n) >= power:
            return True
    return False


def _crossing(simulation: PowerSimulation, power: float, largest: int) -> tuple[int, tuple[float, float]]:
    """Size at which the fitted curve Φ(a + b √n) has this power, and its 95 % interval."""
    sizes, rejected, tried = simulation.curve()
    shares = (rejected + 0.5) / (tried + 1)  # keeps Φ⁻¹ finite if all or none reject
    goal, roots = float(special.ndtri(power)), np.sqrt(sizes)
    centre = float(sizes[np.abs(special.ndtri(shares) - goal).argmin()])
    n, interval = centre, (np.nan, np.nan)
    for _ in range(5):
        nearness = np.exp(-0.5 * (np.log(sizes / n) / NEAR) ** 2)
        a, b, covariance = fitted_probit(roots / np.sqrt(n), shares, (tried + 1) * nearness)
        root = (goal - a) / b
        error = float(np.array([1.0, root]) @ covariance @ np.array([1.0, root])) ** 0.5 / b
        scale = n
        n = float(np.clip(scale * max(root, 0.0) ** 2, max(SMALLEST, scale / 4), min(largest, scale * 4)))
        interval = scale * max(root - 1.96 * error, 0.0) ** 2, scale * (root + 1.96 * error) ** 2
    return int(np.ceil(n)), interval


def _at(simulation: PowerSimulation, n: int) -> CalibrationPower:
    """Result at this size."""
    share, pvalues = simulation.power(n), np.array(simulation.pvalues[n])
    return CalibrationPower(n, share, pvalues, simulation.measure.name, simulation.alpha, simulation.sentence)


def _result(
    simulation: PowerSimulation, wanted: float, n: int, interval: tuple[float, float], notes: tuple[Note, ...]
) -> CalibrationSampleSize:
    """Result with all sizes tried; n is nan if the power was not reached."""
    tried = tuple(_at(simulation, size) for size in sorted(simulation.pvalues))
    return CalibrationSampleSize(
        n=np.nan if has_note(notes, "undefined") else n,
        n_low=interval[0],
        n_high=interval[1],
        power=simulation.power(n),
        wanted=wanted,
        tried=tried,
        measure=simulation.measure.name,
        alpha=simulation.alpha,
        alternative=simulation.sentence,
        notes=notes,
    )
