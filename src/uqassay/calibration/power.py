"""How likely a calibration test finds a stated miscalibration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.arrays import Floats, RandomState, as_numeric
from uqassay.arrays import generator as as_generator
from uqassay.calibration.credal import CredalCalibrationTest, Null, credal_calibration_test
from uqassay.calibration.mixtures import shared_members
from uqassay.calibration.nulls import ENOUGH, labels_from
from uqassay.calibration.one_classifier import CalibrationTest, calibration_test
from uqassay.calibration.search import SimplexSearch, check_search
from uqassay.checks import fail, number, one_of, whole
from uqassay.metrics.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note, has_note
from uqassay.predictions import Members, Point
from uqassay.statistics import Estimate, proportion_estimate
from uqassay.statistics.units import check_draws, check_inside

__all__ = [
    "CalibrationPower",
    "CalibrationSampleSize",
    "Miscalibration",
    "calibration_power",
    "required_instances",
]


# Assumed miscalibrations: the true probabilities as a function of the predicted ones.


@final
@dataclass(frozen=True, eq=False)
class Miscalibration:
    """How the true class probabilities differ from the predicted ones.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.8, 0.1, 0.1]])
    >>> Miscalibration.temperature(2.0).truth(p).round(3).tolist()
    [[0.586, 0.207, 0.207]]
    >>> Miscalibration.label_noise(0.3).truth(p).round(3).tolist()
    [[0.66, 0.17, 0.17]]
    >>> Miscalibration.overconfidence(0.1).truth(p).round(3).tolist()
    [[0.7, 0.15, 0.15]]
    """

    sentence: str  #: the assumption in words
    truth: Callable[[Floats], Floats]  #: maps predicted probabilities (n, K) to true ones (n, K)

    @classmethod
    def none(cls) -> "Miscalibration":
        """No miscalibration: the power is the type-I error."""
        return cls("the probabilities are true", lambda p: p)

    @classmethod
    def temperature(cls, temperature: float) -> "Miscalibration":
        """The truth is p^(1/T), normalised: the classifier is overconfident if T > 1, underconfident if T < 1."""
        number(temperature, "temperature", "pass 1 for no miscalibration", low=0, ends="()")

        def truth(p: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                logs = np.log(p) / temperature
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))

        return cls(f"the truth is p^(1/{temperature:g}), normalised", truth)

    @classmethod
    def label_noise(cls, share: float) -> "Miscalibration":
        """A share s of the labels is replaced by a uniformly drawn class: the truth is (1 − s) p + s/K."""
        number(share, "share", "pass 0.05 for 5 % of the labels", low=0, high=1)
        return cls(f"{share:.3g} of the labels are drawn evenly", lambda p: (1 - share) * p + share / p.shape[1])

    @classmethod
    def overconfidence(cls, delta: float) -> "Miscalibration":
        """The predicted class is true with probability p − δ, clipped to [0, 1]; the others keep their ratios.

        A negative δ means underconfidence. Other classes that all have probability 0 share the rest equally. Of equally
        probable classes the first is the predicted one.
        """
        number(delta, "delta", "pass 0.05 for a confidence that is 5 points too high", low=-1, high=1, ends="()")

        def truth(p: Floats) -> Floats:
            rows, top = np.arange(len(p)), p.argmax(axis=1)
            others = p.copy()
            others[rows, top] = 0.0
            rest = others.sum(axis=1, keepdims=True)
            even = np.full_like(p, 1 / (p.shape[1] - 1))
            even[rows, top] = 0.0
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = np.where(rest > 0, others / rest, even)
            new = np.clip(p[rows, top] - delta, 0.0, 1.0)
            shares *= 1 - new[:, np.newaxis]
            shares[rows, top] = new
            return np.asarray(shares)

        word = "less" if delta >= 0 else "more"
        return cls(f"the predicted class is true {abs(delta):.3g} {word} often than said", truth)


def true_probs(alternative: "Miscalibration | Callable[[Floats], Floats]", predicted: Floats) -> tuple[str, Floats]:
    """The assumption in words, and the true probabilities for predicted ones (n, K)."""
    function = alternative.truth if isinstance(alternative, Miscalibration) else alternative
    if not callable(function):
        rule = "must be a Miscalibration or a function of probabilities (n, K)"
        got = f"got {type(alternative).__name__}"
        fail("alternative", rule, got, "pass Miscalibration.temperature(1.5), say", code="type")
    truth = np.asarray(function(predicted), dtype=np.float64)
    if truth.shape != predicted.shape:
        rule = f"must return probabilities of the shape of its input, {predicted.shape}"
        fail("alternative", rule, f"got {truth.shape}", "return one row for each instance", code="shape")
    sums = truth.sum(axis=1)
    bad = ~(np.isfinite(truth).all(axis=1) & (truth >= -1e-9).all(axis=1) & (np.abs(sums - 1) < 1e-6))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        got = f"row {row} is {truth[row].tolist()[:4]} with sum {sums[row]:.6g}"
        fail("alternative", "must return probabilities that sum to 1", got, "normalise them", code="sum")
    truth = np.maximum(truth, 0.0)
    sentence = (
        alternative.sentence if isinstance(alternative, Miscalibration) else getattr(alternative, "__name__", "stated")
    )
    return sentence, truth / truth.sum(axis=1, keepdims=True)


# Simulated tests of calibration on data sets from a pilot and an assumed truth, and a fit of the power curve.

Alternative = Miscalibration | Callable[[Floats], Floats]

PRIOR = 0.25  # precision of a prior curve from 5 % at 0 to about 80 % at x = 1; the fit then always exists


@final
class PowerSimulation:
    """Data sets of any size drawn from a pilot and an assumed truth, with the p-values of the test on them."""

    def __init__(
        self,
        prediction: Any,
        alternative: Alternative,
        measure: str | CalibrationMeasure,
        alpha: float,
        null: Null,
        n_draws: int,
        search: SimplexSearch | None,
        rng: RandomState,
    ) -> None:
        one_of(null, "null", ("minimised", "random", "berger-boos"))
        check_search(search)
        self.members, predicted = _pilot(prediction)
        self.sentence, self.truth = true_probs(alternative, predicted)
        self.measure = calibration_measure(measure)
        self.alpha, self.null = alpha, null
        self.n_draws, self.search = n_draws, search
        self.generator = as_generator(rng)
        self.pvalues: dict[int, list[float]] = {}
        self.rejections: dict[int, list[bool]] = {}

    def add(self, n: int, n_samples: int) -> None:
        """Simulate data sets of size n until there are `n_samples` of them."""
        pvalues, rejections = self.pvalues.setdefault(n, []), self.rejections.setdefault(n, [])
        while len(pvalues) < n_samples:
            rows = self.generator.integers(len(self.truth), size=n)
            result = self._test(labels_from(self.truth[rows], 1, self.generator)[0], self.members[rows])
            pvalues.append(result.pvalue)
            rejections.append(bool(result.reject(self.alpha)))

    def power(self, n: int) -> Estimate:
        """Share of the data sets of this size in which the test rejects."""
        return proportion_estimate(np.array(self.rejections[n], dtype=np.float64))

    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Sizes in ascending order, number of data sets with a rejection, and number of data sets."""
        sizes = sorted(self.pvalues)
        rejected = [sum(self.rejections[n]) for n in sizes]
        return np.array(sizes, float), np.array(rejected, float), np.array([len(self.pvalues[n]) for n in sizes], float)

    def _test(self, labels: NDArray[np.intp], members: Floats) -> CalibrationTest | CredalCalibrationTest:
        if members.shape[1] == 1:
            probs = members[:, 0]
            return calibration_test(labels, probs, measure=self.measure, n_draws=self.n_draws, rng=self.generator)
        return credal_calibration_test(
            labels,
            members,
            measure=self.measure,
            null="sequential" if self.null == "minimised" and self.alpha <= ENOUGH else self.null,  # decides alike
            n_draws=self.n_draws,
            search=self.search,
            rng=self.generator,
        )


def _pilot(prediction: Any) -> tuple[Floats, Floats]:
    """Members (m, M, K), and the probabilities (m, K) from which the assumed truth is computed."""
    if not hasattr(prediction, "hull_points"):
        array = as_numeric(prediction, "prediction", ndim=(2, 3))
        prediction = Point(array) if array.ndim == 2 else Members(array)
    members = shared_members(prediction).probs
    members = members / members.sum(axis=2, keepdims=True)
    weighted = isinstance(prediction, Members) and prediction.weights is not None
    mean = prediction.mean_probs() if weighted else members.mean(axis=1)
    return members, mean / mean.sum(axis=1, keepdims=True)


def fitted_probit(x: Floats, shares: Floats, counts: Floats) -> tuple[float, float, Floats]:
    """Fit Φ(a + b x) with b > 0 to shares by Fisher scoring; returns a, b and their covariance."""
    design = np.stack([np.ones_like(x), x], axis=1)
    point = np.array([special.ndtri(0.05), 2.5])
    for _ in range(60):
        # beyond ±6, fitted (1 − fitted) would vanish and the weights become 0/0
        line = np.clip(design @ point, -6, 6)
        fitted, density = special.ndtr(line), np.exp(-(line**2) / 2) / np.sqrt(2 * np.pi)
        weights = counts * density**2 / (fitted * (1 - fitted))
        information = design.T @ (weights[:, np.newaxis] * design) + np.diag([PRIOR, PRIOR])
        slope = design.T @ (counts * density * (shares - fitted) / (fitted * (1 - fitted)))
        slope -= PRIOR * (point - [special.ndtri(0.05), 2.5])
        step = np.linalg.solve(information, slope)
        point = point + step * min(1.0, 1.0 / float(np.abs(step).max() + 1e-12))
        point[1] = max(point[1], 0.05)
        if np.abs(step).max() < 1e-10:
            break
    return float(point[0]), float(point[1]), np.linalg.inv(information)


# Power of a test of calibration, and the number of labelled instances that it needs, for an assumed miscalibration.

SMALLEST = 10
FIRST = 160
FEW_SAMPLES = 40  # data sets simulated at each intermediate size
ROUNDS = 6
SETTLING = 3
NEAR = np.log(2.0)  # log of a factor of 2: sizes further away have little weight in the fit


@final
@dataclass(frozen=True, eq=False)
class CalibrationPower:
    """Simulated power of the test."""

    n: int  #: number of instances
    power: Estimate  #: share of the simulated data sets in which the test rejects, with its Wilson interval
    #: (S,): one for each simulated data set; nan if the measure is undefined, which counts as no rejection
    pvalues: Floats
    measure: str
    alpha: float
    alternative: str  #: the assumed miscalibration in words


@final
@dataclass(frozen=True, eq=False)
class CalibrationSampleSize:
    """Number of instances that the test needs."""

    n: float  #: a whole number of instances; nan if the power is not reached, see `notes`
    #: 95 % interval of the n that has exactly the wanted power; it covers the error of the simulation
    n_low: float
    n_high: float
    power: Estimate  #: power at n, or at the greatest n tried if n is nan
    wanted: float  #: the requested power
    tried: tuple[CalibrationPower, ...]  #: all simulated sizes in ascending order: the power curve
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

    Notes
    -----
    Each data set holds n predictions drawn from the pilot with replacement, and labels drawn from the assumed truth. Some
    weights of the members may remove the miscalibration of their mean. The power refers to the part that no weights remove.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.power import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> found = calibration_power(pilot, Miscalibration.temperature(1.5), 1000, n_samples=50)
    >>> found.alternative, bool(found.power > 0.8)
    ('the truth is p^(1/1.5), normalised', True)
    """
    simulation = PowerSimulation(prediction, alternative, measure, alpha, null, n_draws, search, rng)
    check_draws(n_samples)
    whole(n, "n", "pass the number of instances", least=1)
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

    Notes
    -----
    The size is doubled until the power exceeds the wanted one. Then a monotone curve Φ(a + b √n), b > 0, is fitted to the
    sizes tried, with the greatest weight on those near the crossing, and more data sets are simulated at the crossing until n
    settles. With members and a minimised null, every draw of every data set takes a search: minutes in all.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.calibration.power import Miscalibration
    >>> pilot = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> size = required_instances(pilot, Miscalibration.overconfidence(0.1), n_samples=80)
    >>> bool(150 < size.n < 350), bool(size.power.low < 0.8 < size.power.high)
    (True, True)
    """
    simulation = PowerSimulation(prediction, alternative, measure, alpha, null, n_draws, search, rng)
    check_draws(n_samples)
    check_inside(power, "power")
    if power <= alpha:
        remedy = "pass a greater power: a test without any instances already has power alpha"
        fail("power", f"must be above alpha={alpha:g}", f"got {power:g}", remedy, code="range")
    whole(largest, "largest", "pass 50000, say", least=SMALLEST)
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
