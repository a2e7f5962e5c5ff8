"""Further draws of labels for the smallest p-values of sets, which are judged at a few mixtures only."""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.monte_carlo import LabelDraws, least_reaching
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["reached_by_further_draws"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

STEPS = (1.0, 0.3, 0.1, 0.03)  # how far further mixtures lie from the fitted one
NEARBY = 15  # number of further mixtures at each of these steps
TOGETHER = 2e5  # random numbers that are made at a time: 1.6 MB, which the cache holds
MOST_WAITING = 5e6  # labels of those that the fitted mixture leaves open, which other mixtures judge together


def reached_by_further_draws(
    members: Floats,
    tests: Sequence[CredalCalibrationTest],
    measures: Sequence[CalibrationMeasure],
    n_more: int,
    seed: int,
) -> list[int]:
    """At most how many of further draws, from the fitted mixture of each test, have a minimum that reaches the statistic.

    The minimum over all mixtures is no greater than that over some of them: draws that one of these brings below the statistic
    are settled, and all others are counted. This is asked only where none of the first D draws reached the statistic. The
    smaller of 1/(D + 1) and the new p-value then keeps every level: from 1/(D + 1) on it rejects with the first draws alone,
    below only where all draws together would. The tests share the random numbers, which are those of each test alone.
    """
    generator = np.random.default_rng([seed, 22])
    mixtures, (n, m, _) = Mixtures(members), members.shape
    apart = [generator.dirichlet(np.ones(m), NEARBY) for _ in STEPS]
    open_draws = [_OpenDraws(mixtures, test, measure, apart) for test, measure in zip(tests, measures, strict=True)]
    step = max(1, int(TOGETHER / n))
    for begin in range(0, n_more, step):
        aims = generator.random((min(step, n_more - begin), n))
        for one in open_draws:
            one.judge(aims)
    return [one.count() for one in open_draws]


@final
class _OpenDraws:
    """Further draws of one test that no mixture has settled so far."""

    def __init__(
        self, mixtures: Mixtures, test: CredalCalibrationTest, measure: CalibrationMeasure, apart: Sequence[Floats]
    ) -> None:
        m = mixtures.n_members
        self._mixtures, self._measure, self._least = mixtures, measure, least_reaching(test.statistic)
        near = [(1 - step) * test.weights + step * other for step, other in zip(STEPS, apart, strict=True)]
        self._few = np.concatenate([np.full((1, m), 1 / m), np.eye(m)]), np.concatenate(near)
        fitted = classes_apart(mixtures.probs(test.weights))
        self._draws, self._prepared = LabelDraws(fitted), measure.prepare(fitted)
        self._waiting: list[Rows] = []
        self._reached = 0

    def judge(self, aims: Floats) -> None:
        """Draw labels at these random numbers (D, n); the fitted mixture itself settles most draws."""
        drawn = self._draws.at(aims)
        with np.errstate(all="ignore"):  # 0/0 in some measures
            above = self._prepared.values(drawn) >= self._least
        self._waiting.append(drawn[above])
        if sum(labels.size for labels in self._waiting) > MOST_WAITING:
            self._judge_waiting()

    def count(self) -> int:
        """Draws that no mixture settles."""
        self._judge_waiting()
        return self._reached

    def _judge_waiting(self) -> None:
        drawn = np.concatenate(self._waiting)
        for weights in self._few:
            if len(drawn):
                found = MixtureObjective(self._mixtures, drawn, self._measure).shared(weights).min(axis=1)
                drawn = drawn[found >= self._least]
        self._reached += len(drawn)
        self._waiting = [drawn[:0]]
