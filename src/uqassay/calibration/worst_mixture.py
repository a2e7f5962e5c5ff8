"""The greatest p-value over candidates among the mixtures that the labels leave possible (after Berger and Boos).

Under the null hypothesis some unknown λ0 is the truth, and the distribution of the minimised measure depends on it. The
greatest p-value over a region that holds λ0 with probability 1 − β, plus β, would keep the level whatever λ0 is. What is
taken here is the greatest over a few λ of that region, chosen for large p-values; no λ between them is looked at.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.confidence_region import LikelihoodRegion
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.monte_carlo import monte_carlo_pvalue
from uqassay.calibration.simplex_search import SimplexSearch, minimise_over_simplex
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["NullAtMixture", "worst_mixture"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

N_RANDOM = 16  # random directions from the most likely λ to the border of the region
N_CORNERS = 32  # at most so many members as directions
N_REFINED = 5  # candidates whose null draws are minimised in full, beside the most likely λ
SCREENING_DRAWS = 49
ENOUGH = 0.5  # no level is so high that a greater p-value matters


class NullAtMixture(NamedTuple):
    """A p-value for labels drawn from one λ: the minimum for the labels that came, its weights, and the null (D,)."""

    truth: Floats
    statistic: float
    weights: Floats
    null: Floats
    pvalue: float


def worst_mixture(
    mixtures: Mixtures,
    labels: Labels,
    measure: CalibrationMeasure,
    region: LikelihoodRegion,
    n_draws: int,
    search: SimplexSearch,
    seeds: NDArray[np.int64],
    generator: np.random.Generator,
) -> tuple[NullAtMixture, int]:
    """The candidate λ of greatest p-value, and the number of evaluations.

    Candidates are the most likely λ and the last points of the region on the way from there to members, to their mean and
    in random directions. Their null draws are first judged on shared mixtures; the few with the greatest p-values, and the
    most likely λ always, are then minimised by the search that the data went through. All candidates draw labels and search
    with the same random numbers, so that their p-values differ by λ and not by chance. Where the p-value of one of these is
    undefined, so is the greatest.
    """
    candidates = _candidates(region, generator)
    order, evaluations = _screened(mixtures, labels, measure, candidates, min(n_draws, SCREENING_DRAWS), seeds)
    worst: NullAtMixture | None = None
    for index in [0, *(i for i in order if i)][: N_REFINED + 1]:
        found, n = null_at(mixtures, labels, measure, candidates[index], n_draws, search, seeds)
        evaluations += n
        if worst is None or not found.pvalue <= worst.pvalue:  # an undefined one is kept
            worst = found
        if not worst.pvalue <= ENOUGH:
            break
    assert worst is not None
    return worst, evaluations


def null_at(
    mixtures: Mixtures,
    labels: Labels,
    measure: CalibrationMeasure,
    truth: Floats,
    n_draws: int,
    search: SimplexSearch,
    seeds: NDArray[np.int64],
) -> tuple[NullAtMixture, int]:
    """Minimum over λ for the labels that came (n,) and for D draws from one mixture, all found by one search."""
    of_labels, of_search = (np.random.default_rng(seed) for seed in seeds)
    drawn = mixtures.draw_labels(np.repeat(truth[np.newaxis], n_draws, axis=0), of_labels)
    objective = MixtureObjective(mixtures, np.concatenate([labels[np.newaxis], drawn]), measure)
    values, weights = minimise_over_simplex(objective, search, of_search)
    statistic, null = float(values[0]), values[1:]
    found = NullAtMixture(truth, statistic, weights[0], null, monte_carlo_pvalue(statistic, null))
    return found, objective.evaluations


def _candidates(region: LikelihoodRegion, generator: np.random.Generator) -> Floats:
    """The most likely λ, and points on the border of the region, (C, M)."""
    m = len(region.best)
    random = generator.dirichlet(np.ones(m), N_RANDOM)
    reached = region.towards(np.concatenate([np.eye(m), np.full((1, m), 1 / m), random]))
    corners = reached[:m]
    if m > N_CORNERS:  # those that lead furthest away
        corners = corners[np.argsort(-np.abs(corners - region.best).sum(axis=1), kind="stable")[:N_CORNERS]]
    return np.concatenate([region.best[np.newaxis], corners, reached[m:]])


def _screened(
    mixtures: Mixtures,
    labels: Labels,
    measure: CalibrationMeasure,
    candidates: Floats,
    n_draws: int,
    seeds: NDArray[np.int64],
) -> tuple[list[int], int]:
    """Candidates from the greatest to the least p-value when all minima are taken over the candidates themselves."""
    m = mixtures.n_members
    drawn = [
        mixtures.draw_labels(np.repeat(truth[np.newaxis], n_draws, axis=0), np.random.default_rng(seeds[0]))
        for truth in candidates
    ]
    shared = np.concatenate([candidates, np.eye(m), np.random.default_rng(seeds[1]).dirichlet(np.ones(m), 4 * m)])
    objective = MixtureObjective(mixtures, np.concatenate([labels[np.newaxis], *drawn]), measure)
    least = np.fmin.reduce(objective.shared(shared), axis=1)  # nan only where the measure is undefined everywhere
    null = least[1:].reshape(len(candidates), n_draws)
    as_great = (~(null < least[0])).sum(axis=1)
    return np.lexsort((-np.median(null, axis=1), -as_great)).tolist(), objective.evaluations
