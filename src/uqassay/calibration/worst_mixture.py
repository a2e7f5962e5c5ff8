"""Berger-Boos p-value: the maximum over candidates from a confidence set of mixture weights.

Under the null hypothesis some unknown λ0 is true, and the distribution of the minimised measure depends on it. The maximum
of the p-value over a region that contains λ0 with probability 1 − β, plus β, would keep the level for every λ0. This module
approximates the maximum by a few λ of that region with large p-values; λ between them are not tried.
"""

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.confidence_region import LikelihoodRegion
from uqassay.calibration.mixtures import MixtureObjective
from uqassay.calibration.null_at_mixture import NullAtMixture, drawn_labels, null_at
from uqassay.calibration.simplex_search import SimplexSearch

__all__ = ["HIGH", "worst_mixture"]

Floats = NDArray[np.float64]

N_RANDOM = 16  # random directions from the most likely λ to the border of the region
N_CORNERS = 32  # most members used as directions
N_REFINED = 5  # candidates with a full search of their null draws, in addition to the most likely λ
SCREENING_DRAWS = 49
HIGH = 0.5  # search stops here: no usual level is as high


def worst_mixture(
    objective: MixtureObjective,
    region: LikelihoodRegion,
    n_draws: int,
    search: SimplexSearch,
    seeds: NDArray[np.int64],
    generator: np.random.Generator,
) -> tuple[NullAtMixture, int]:
    """The candidate λ with the greatest p-value, and the number of evaluations.

    The objective has the observed labels alone.

    Candidates are the most likely λ and points on the border of the region, in the directions of the members, of their mean
    and of random mixtures. A screening minimises their null draws over a few shared mixtures. The most likely λ and the few
    candidates with the greatest screening p-values then go through the same search as the data. All candidates use the same
    random numbers, so their p-values differ by λ and not by chance. If one of these p-values is undefined, so is the maximum.
    """
    candidates = _candidates(region, generator)
    order, evaluations = _screened(objective, candidates, min(n_draws, SCREENING_DRAWS), seeds)
    worst: NullAtMixture | None = None
    for index in [0, *(i for i in order if i)][: N_REFINED + 1]:
        drawn = drawn_labels(objective.mixtures, candidates[index], n_draws, seeds[0])
        found, n = null_at(objective, candidates[index], drawn, search, seeds[1])
        evaluations += n
        if worst is None or not found.pvalue <= worst.pvalue:  # `not <=` keeps an undefined p-value
            worst = found
        if not worst.pvalue <= HIGH:
            break
    assert worst is not None
    return worst, evaluations


def _candidates(region: LikelihoodRegion, generator: np.random.Generator) -> Floats:
    """The most likely λ and points on the border of the region, (C, M)."""
    m = len(region.best)
    random = generator.dirichlet(np.ones(m), N_RANDOM)
    reached = region.towards(np.concatenate([np.eye(m), np.full((1, m), 1 / m), random]))
    corners = reached[:m]
    if m > N_CORNERS:  # keep the furthest ones
        corners = corners[np.argsort(-np.abs(corners - region.best).sum(axis=1), kind="stable")[:N_CORNERS]]
    return np.concatenate([region.best[np.newaxis], corners, reached[m:]])


def _screened(
    objective: MixtureObjective, candidates: Floats, n_draws: int, seeds: NDArray[np.int64]
) -> tuple[list[int], int]:
    """Candidates from the greatest to the least screening p-value.

    In the screening, minima are taken over a fixed set: the candidates, the members and random mixtures.
    """
    m = objective.mixtures.n_members
    drawn = [drawn_labels(objective.mixtures, truth, n_draws, seeds[0]) for truth in candidates]
    shared = np.concatenate([candidates, np.eye(m), np.random.default_rng(seeds[1]).dirichlet(np.ones(m), 4 * m)])
    objective = objective.of_labels(np.concatenate([objective.labels, *drawn]))
    least = np.fmin.reduce(objective.shared(shared), axis=1)  # nan only if the measure is undefined for every mixture
    null = least[1:].reshape(len(candidates), n_draws)
    as_great = (~(null < least[0])).sum(axis=1)
    return np.lexsort((-np.median(null, axis=1), -as_great)).tolist(), objective.evaluations
