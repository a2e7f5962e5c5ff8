"""Labels drawn from one mixture, and the least value of a measure over all mixtures for each draw of them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.monte_carlo import ENOUGH, draws_before_stop, least_reaching, monte_carlo_pvalue, steps_reached
from uqassay.calibration.simplex_search import SimplexSearch, minimise_over_simplex, search_simplex

__all__ = ["NullAtMixture", "drawn_labels", "null_at"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

FIRST_DRAWS = 19  # which a sequential test searches to the end, for the standard deviation of the null
STEP = 20  # further draws at a time


class NullAtMixture(NamedTuple):
    """Result for labels drawn from one λ.

    Attributes
    ----------
    truth : array (M,)
        This λ.
    statistic : float
        Least value for the observed labels.
    weights : array (M,)
        Its weights.
    null : array (D,)
        Least values for the draws.
    pvalue : float
    deviation : float
        Standard deviation of the null, of a sequential test that of its first 19 draws.
    """

    truth: Floats
    statistic: float
    weights: Floats
    null: Floats
    pvalue: float
    deviation: float


def null_at(
    objective: MixtureObjective,
    truth: Floats,
    drawn: Labels,
    search: SimplexSearch,
    seed: np.int64,
    *,
    sequential: bool = False,
    after: NullAtMixture | None = None,
) -> tuple[NullAtMixture, int]:
    """Minimum over λ for the observed labels and for draws (D, n) from the mixture `truth`, by one search.

    The objective has the observed labels alone.

    A `sequential` test ends once a tenth of all D draws has reached the statistic, and searches a draw no further than until it
    falls below the statistic. Its p-value is that of Besag and Clifford; up to .1 it is that of all draws. Of draws below the
    statistic the null then holds an upper bound of the minimum, except of the first 19. `after` is the result at another λ by
    the same search: it has the minimum for the observed labels and the deviation, and no draw is searched further than needed.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    objective = objective.of_labels(np.concatenate([objective.labels, drawn]))
    if after is None:
        first = objective.part(slice(FIRST_DRAWS + 1)) if sequential else objective
        values, weights = minimise_over_simplex(first, search, np.random.default_rng(seed))
        statistic, best, null, deviation = float(values[0]), weights[0], values[1:], float(values[1:].std())
    else:
        statistic, best, null, deviation = after.statistic, after.weights, np.empty(0), after.deviation
    if sequential:
        null = _in_turn(objective, statistic, null, search, seed)
    found = NullAtMixture(truth, statistic, best, null, monte_carlo_pvalue(statistic, null), deviation)
    return found, objective.evaluations


def _in_turn(
    objective: MixtureObjective, statistic: float, null: Floats, search: SimplexSearch, seed: np.int64
) -> Floats:
    """The null with further draws, as many as a sequential test makes.

    Every search begins with the same mixtures, and each draw has its own random numbers, as in one search of all draws.
    """
    n_draws = objective.n_targets - 1
    enough = max(1, int(ENOUGH * (n_draws + 1)))
    while (end := draws_before_stop(statistic, null, enough)) is None:
        if len(null) == n_draws or math.isnan(statistic) or np.isnan(null).any():
            return null
        part = objective.part(slice(1 + len(null), 1 + len(null) + STEP))
        more = search_simplex(part, search, np.random.default_rng(seed), enough=least_reaching(statistic))
        null = np.concatenate([null, more.values])
    return null[:end]


def drawn_labels(mixtures: Mixtures, truth: Floats, n_draws: int, seed: np.int64) -> Labels:
    """D draws of labels from the mixture with these weights (M,), by inversion of its distribution function, (D, n)."""
    cumulated = np.cumsum(mixtures.probs(truth).T, axis=0)  # (K, n)
    aims = np.random.default_rng(seed).random((n_draws, mixtures.n_instances))
    aims *= cumulated[-1]
    return steps_reached(cumulated[:-1], aims)
