"""Simulated tests of calibration on data sets from a pilot and an assumed truth, and a fit of the power curve."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay._array import RandomState, as_numeric
from uqassay._array import generator as as_generator
from uqassay.calibration.classifier_verdict import CalibrationTest
from uqassay.calibration.credal_hypothesis import Null, credal_calibration_test
from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.calibration.miscalibration import Miscalibration, true_probs
from uqassay.calibration.monte_carlo import ENOUGH, labels_from
from uqassay.calibration.parts import check_search
from uqassay.calibration.shared_members import shared_members
from uqassay.calibration.simplex_search import SimplexSearch
from uqassay.calibration.single_hypothesis import calibration_test
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.predictions import Members, Point
from uqassay.statistics import Estimate, proportion_estimate
from uqassay.statistics.samples import check_choice

__all__ = ["Alternative", "PowerSimulation", "fitted_probit"]

Floats = NDArray[np.float64]
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
        check_choice(null, "null", ("minimised", "random", "berger-boos"))
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
