"""How many labelled instances a test of calibration takes to find a stated miscalibration."""

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
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note, has_note
from uqassay.statistics import Estimate
from uqassay.statistics.samples import check_draws, check_inside

__all__ = ["CalibrationPower", "CalibrationSampleSize", "calibration_power", "required_instances"]

Floats = NDArray[np.float64]

SMALLEST = 10
FIRST = 160
FEW_SAMPLES = 40  # data sets at each size tried on the way
ROUNDS = 6
SETTLING = 3
NEAR = np.log(2.0)  # sizes further off than by this factor count little in the fit


@final
@dataclass(frozen=True, eq=False)
class CalibrationPower:
    """How often the test rejects.

    Attributes
    ----------
    n : int
        Number of instances.
    power : Estimate
        Share of the simulated data sets in which the test rejects, with its Wilson interval.
    pvalues : array (S,)
        One for each simulated data set; nan where the measure is undefined, which rejects nothing.
    measure : str
    alpha : float
    alternative : str
        The stated miscalibration.
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
    """How many instances it takes.

    Attributes
    ----------
    n : float
        A whole number of instances; nan where the power is not reached, see `notes`.
    n_low, n_high : float
        95 % interval of the n that has exactly the wanted power, for the error of the simulation.
    power : Estimate
        At n, or at the greatest n tried where n is nan.
    wanted : float
        The wanted power.
    tried : tuple of CalibrationPower
        Every size simulated, in ascending order: the power curve.
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
    measure: str | CalibrationMeasure = "ece-confidence",
    alpha: float = 0.05,
    null: Null = "minimised",
    n_samples: int = 200,
    n_draws: int = 99,
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CalibrationPower:
    """Probability that the test of calibration rejects with n instances, where the miscalibration is as stated.

    Parameters
    ----------
    prediction : Point, array (m, K), Members, or array (m, M, K)
        Predictions of a pilot of m instances; labels are not needed. One classifier is tested by `calibration_test`,
        several members by `credal_calibration_test`.
    alternative : Miscalibration, or callable
        What is true where the classifier (for several members their mean, weighted where `Members` have weights) says p; a
        callable takes probabilities (m, K) and gives the true ones.
    n : int
        Number of instances of the planned test.
    measure : str or CalibrationMeasure
    alpha : float
        Level of the test.
    null, search
        As in `credal_calibration_test`; they are not used for one classifier.
    n_samples : int
        Simulated data sets.
    n_draws : int
        Null draws of each test. The level must be one that so few can reach.
    rng : int or numpy Generator, optional
        None means seed 0. Data set s is the same whatever `n_samples`.

    Returns
    -------
    power : CalibrationPower

    Raises
    ------
    InputError
        As the tests; also for a miscalibration that gives no probabilities.

    Notes
    -----
    Each data set holds n predictions drawn from the pilot with replacement, and labels drawn from the stated truth. Members
    can absorb a miscalibration of their mean: the power is then that of finding what no weights mend.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.miscalibration import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> found = calibration_power(pilot, Miscalibration.temperature(1.5), 1000, n_samples=50)
    >>> found.alternative, bool(found.power > 0.8)
    ('the truth is p^(1/1.5), normalised', True)
    """
    simulation = PowerSimulation(
        prediction, alternative, calibration_measure(measure), alpha, null, n_draws, search, rng
    )
    check_draws(n_samples)
    check_whole(n, "n", remedy="pass the number of instances")
    simulation.add(int(n), n_samples)
    return _at(simulation, int(n))


def required_instances(
    prediction: Any,
    alternative: Alternative,
    *,
    power: float = 0.8,
    measure: str | CalibrationMeasure = "ece-confidence",
    alpha: float = 0.05,
    null: Null = "minimised",
    largest: int = 50_000,
    n_samples: int = 200,
    n_draws: int = 99,
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CalibrationSampleSize:
    """Number of instances with which the test of calibration has the wanted power, where the miscalibration is as stated.

    Parameters
    ----------
    prediction, alternative, measure, alpha, null, n_draws, search, rng
        As in `calibration_power`.
    power : float
        The wanted one.
    largest : int
        No more instances are tried.
    n_samples : int
        Data sets simulated at the n that is found; on the way there are 40 at each size.

    Returns
    -------
    size : CalibrationSampleSize

    Raises
    ------
    InputError
        As `calibration_power`; also for a power that is not between `alpha` and 1.

    Notes
    -----
    Sizes are doubled until the power is passed; then a monotone curve Φ(a + b √n), b > 0, is fitted to the sizes tried, near
    ones counting most, and more data sets are simulated where it crosses the wanted power, until n settles. With members and
    a minimised null every data set takes a search for each of its draws: minutes in all.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.miscalibration import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> size = required_instances(pilot, Miscalibration.overconfidence(0.1), n_samples=80)
    >>> bool(150 < size.n < 350), bool(size.power.low < 0.8 < size.power.high)
    (True, True)
    """
    simulation = PowerSimulation(
        prediction, alternative, calibration_measure(measure), alpha, null, n_draws, search, rng
    )
    check_draws(n_samples)
    check_inside(power, "power")
    if power <= alpha:
        raise InputError(
            "power",
            f"must be above alpha={alpha:g}",
            f"got {power:g}",
            "a test without instances has power alpha",
            code="range",
        )
    check_whole(largest, "largest", least=SMALLEST, remedy="pass 50000, say")
    few, largest = min(FEW_SAMPLES, n_samples), int(largest)
    notes: tuple[Note, ...] = ()
    interval = (np.nan, np.nan)
    if not _passed(simulation, power, few, largest):
        simulation.add(largest, n_samples)
        why = Note("undefined", f"the power is not reached with {largest} instances", {"largest": largest})
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
        notes = (Note("not-settled", "the power simulated at n differs from the wanted one by more than chance"),)
    if n == SMALLEST:
        notes = (Note("one-sided", f"fewer than {SMALLEST} instances were not tried"),)
    else:
        interval = _crossing(simulation, power, largest)[1]
    return _result(simulation, power, n, interval, notes)


def _passed(simulation: PowerSimulation, power: float, n_samples: int, largest: int) -> bool:
    """Double the size, or halve it, until the wanted power is passed; False where it is not."""

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
        # far below the wanted power the size can grow faster
        n = min(n * (4 if share(n) < power / 4 else 2), largest)
        if share(n) >= power:
            return True
    return False


def _crossing(simulation: PowerSimulation, power: float, largest: int) -> tuple[int, tuple[float, float]]:
    """Size at which Φ(a + b √n), fitted to what was tried, has this power, and its 95 % interval."""
    sizes, rejected, tried = simulation.curve()
    shares = (rejected + 0.5) / (tried + 1)  # so that the fit exists where all or none reject
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
    """What was found at this size."""
    share, pvalues = simulation.power(n), np.array(simulation.pvalues[n])
    return CalibrationPower(n, share, pvalues, simulation.measure.name, simulation.alpha, simulation.sentence)


def _result(
    simulation: PowerSimulation, wanted: float, n: int, interval: tuple[float, float], notes: tuple[Note, ...]
) -> CalibrationSampleSize:
    """Everything that was tried, and the size found; the n of a power that is not reached is nan."""
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
