"""The statistic, null draws and p-value of the credal calibration test, one function for each null.

Of several members the p-value is always the upper one, also for the Brier score and the log loss, which test a single member
on both sides. A least score below its null says that some mixture is underconfident, but another one may be calibrated. With
the null of paper 001, whose draws are not minimised, the least score even of a calibrated mixture lies below them.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.confidence_region import likelihood_region
from uqassay.calibration.likely_mixtures import LikelyMixtures
from uqassay.calibration.mixtures import MixtureObjective
from uqassay.calibration.monte_carlo import monte_carlo_pvalue
from uqassay.calibration.null_at_mixture import NullAtMixture, null_at
from uqassay.calibration.paper_code import paper_code_test
from uqassay.calibration.random_null import random_mixture_null
from uqassay.calibration.score_weights import log_loss_weights
from uqassay.calibration.shared_members import SharedMembers
from uqassay.calibration.simplex_search import SimplexSearch, minimise_over_simplex
from uqassay.calibration.single_hypothesis import statistic_and_null
from uqassay.calibration.worst_mixture import HIGH, worst_mixture
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["BETA", "LeastError", "authors_code", "in_deviations", "minimised_null", "random_null", "single_member"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

BETA = 0.001  # probability that the confidence region of the Berger-Boos form misses the truth
SAME = 1e-3  # greatest difference of weights at which labels from two λ count as the same
N_REPEATS = 2  # further searches for the observed labels; the spread of their minima shows how reliable the search is


@final
@dataclass(frozen=True, eq=False)
class LeastError:
    """The least value over λ with its p-value.

    Attributes
    ----------
    statistic : float
    pvalue : float
    weights : array (M,)
        The λ that has the least value.
    null : array (D,)
        Null draws.
    spread : float
        Range of the minima of independent searches, in standard deviations of the null; nan after a single search.
    evaluations : int
        Number of mixtures evaluated.
    """

    statistic: float
    pvalue: float
    weights: Floats
    null: Floats
    spread: float
    evaluations: int


def single_member(
    labels: Labels,
    shared: SharedMembers,
    measure: CalibrationMeasure,
    n_draws: int,
    resample: bool,
    generator: np.random.Generator,
) -> LeastError:
    """Statistic and null of a single member: nothing is minimised, and scores are tested on both sides."""
    statistic, null = statistic_and_null(labels, shared.probs[:, 0], measure, n_draws, resample, generator)
    return LeastError(statistic, monte_carlo_pvalue(statistic, null, measure.sides), np.ones(1), null, 0.0, 1)


def authors_code(
    labels: Labels, shared: SharedMembers, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> LeastError:
    """The test as implemented in the code of paper 001's authors."""
    found = paper_code_test(labels, shared.probs, measure, n_draws, generator)
    return LeastError(found.statistic, found.pvalue, found.weights, found.null, math.nan, found.evaluations)


def random_null(
    objective: MixtureObjective,
    n_draws: int,
    resample: bool,
    search: SimplexSearch,
    generator: np.random.Generator,
) -> LeastError:
    """The null of paper 001: labels are drawn from random mixtures, and nothing is minimised."""
    mixtures, measure = objective.mixtures, objective.measure
    values, weights = minimise_over_simplex(objective, search, generator)
    truths = generator.dirichlet(np.ones(mixtures.n_members), n_draws)
    null = random_mixture_null(mixtures, truths, measure, generator, instances="resampled" if resample else "kept")
    statistic = float(values[0])
    return LeastError(statistic, monte_carlo_pvalue(statistic, null), weights[0], null, math.nan, objective.evaluations)


def minimised_null(
    likely: LikelyMixtures,
    objective: MixtureObjective,
    null: str,
    n_draws: int,
    search: SimplexSearch,
    generator: np.random.Generator,
) -> LeastError:
    """Labels are drawn from likely mixtures, or from the worst of several (Berger-Boos); each draw is minimised over λ."""
    if null != "berger-boos":
        sequential = null == "sequential"
        found, evaluations = _at_likely_mixtures(likely, objective, n_draws, search, generator, sequential=sequential)
    else:
        seeds = generator.integers(2**63, size=2)  # one for the labels, one for the search: the same at every λ
        members, labels = likely.members, likely.labels
        best = log_loss_weights(members, labels)[0]
        given = np.take_along_axis(members, labels[:, np.newaxis, np.newaxis], axis=2)[..., 0]
        region = likelihood_region(given, best, BETA, generator)
        found, evaluations = worst_mixture(objective, region, n_draws, search, seeds, generator)
    again = objective.of_labels(objective.labels)
    minima = [found.statistic, *(minimise_over_simplex(again, search, generator)[0][0] for _ in range(N_REPEATS))]
    pvalue = float(np.minimum(1.0, found.pvalue + (BETA if null == "berger-boos" else 0.0)))  # nan stays nan
    spread = in_deviations(np.array(minima), found.deviation)
    return LeastError(found.statistic, pvalue, found.weights, found.null, spread, evaluations + again.evaluations)


def _at_likely_mixtures(
    likely: LikelyMixtures,
    objective: MixtureObjective,
    n_draws: int,
    search: SimplexSearch,
    generator: np.random.Generator,
    *,
    sequential: bool,
) -> tuple[NullAtMixture, int]:
    """The greater p-value of two λ, the predictive one and that of the fewest members; the first alone if it is high."""
    truth, seeds = likely.start(generator)

    def at(weights: Floats, after: NullAtMixture | None = None) -> tuple[NullAtMixture, int]:
        drawn = likely.drawn(weights, n_draws, seeds[0])
        return null_at(objective, weights, drawn, search, seeds[1], sequential=sequential, after=after)

    found, evaluations = at(truth)
    few = likely.fewest if found.pvalue <= HIGH else None
    if few is None or np.abs(few - truth).max() <= SAME:
        return found, evaluations
    other, more = at(few, found if sequential else None)
    return (found if other.pvalue <= found.pvalue else other), evaluations + more  # an undefined p-value stays


def in_deviations(minima: Floats, deviation: float) -> float:
    """Range of the minima over the standard deviation of the null."""
    if np.isnan(minima).any():
        return math.nan
    if (minima == minima[0]).all():  # without this check, equal infinite minima would give inf − inf = nan
        return 0.0
    return float(np.ptp(minima)) / deviation if deviation > 0 else math.inf
