"""Search for the least value of a calibration measure over all convex combinations of an ensemble's members.

Binned measures are piecewise smooth, with jumps where a probability crosses an edge. They have many local minima, and a
search from a single point gets stuck. The search therefore evaluates many mixtures at once. It starts from the same mixtures
for every draw of labels. The best of them form populations that evolve by differential evolution: a mixture moves towards
one of the best and along the difference of two others, which shrinks as the population converges. The best mixture of each
population is refined by gradient steps, steps with momentum, and exchanges of weight between two members, finer in each
round.
"""

import math
from dataclasses import dataclass, fields
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.compiled_search import compiled_search
from uqassay.calibration.mixture_populations import (
    GRID_SHARE,
    dealt_out,
    first_mixtures,
    moved_mixtures,
    sizes,
    survivors,
)
from uqassay.calibration.mixture_refinement import refined, step_lengths
from uqassay.calibration.mixtures import MixtureObjective, defined
from uqassay.calibration.row_numbers import RowNumbers
from uqassay.errors import InputError
from uqassay.statistics.samples import is_number

__all__ = [
    "PATIENT",
    "QUICK",
    "THOROUGH",
    "SimplexMinimum",
    "SimplexSearch",
    "minimise_over_simplex",
    "search_simplex",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MAY_BE_0 = ("n_shared", "n_generations", "n_rounds")
FEW_ENTRIES = 1000  # below this n K each mixture is cheap, and more of them are evaluated
MOST_EFFORT = 2.0  # most times as many mixtures, in several populations, if each needs few probabilities
MANY = 65  # mixtures per part when a population is split: several small populations find more
SMOOTH = 0.4  # size of populations for measures without jumps, which have fewer and wider minima
HUGE = 1e20  # if no mixture has less, the values may overflow single precision


@final
@dataclass(frozen=True)
class SimplexSearch:
    """Effort of a search.

    If a mixture needs few probabilities, up to twice as many mixtures are evaluated, in several populations. Populations are
    smaller for measures without jumps; two members have fewer generations.

    Attributes
    ----------
    n_shared : int
        Starting mixtures, the same for every draw of labels, in addition to the members and their mean. Half of them mix two
        members only; the others are drawn uniformly and near faces.
    n_populations : int
        Least number of independent populations for each draw of labels. The spread of their results shows how much another
        search could differ.
    n_kept : int
        Mixtures in a population at the start; fewer for few members.
    n_left : int
        Mixtures in a population at the end.
    n_generations : int
        Number of generations.
    n_rounds : int
        Number of rounds of refinement.
    n_steps : int
        Steps of each kind in a round.
    """

    n_shared: int
    n_populations: int
    n_kept: int
    n_left: int
    n_generations: int
    n_rounds: int
    n_steps: int

    def __post_init__(self) -> None:
        for field in fields(self):
            least, value = int(field.name not in MAY_BE_0), getattr(self, field.name)
            if not is_number(value) or value != value // 1 or value < least:
                raise InputError(
                    "search",
                    f"{field.name} must be a whole number from {least}",
                    f"got {value!r}",
                    "use a value of THOROUGH",
                    code="range",
                )


PATIENT = SimplexSearch(n_shared=2000, n_populations=1, n_kept=600, n_left=20, n_generations=60, n_rounds=8, n_steps=12)
THOROUGH = SimplexSearch(n_shared=300, n_populations=1, n_kept=120, n_left=10, n_generations=24, n_rounds=5, n_steps=12)
QUICK = SimplexSearch(n_shared=300, n_populations=1, n_kept=32, n_left=2, n_generations=12, n_rounds=3, n_steps=8)


@final
@dataclass(frozen=True, eq=False)
class SimplexMinimum:
    """Result of a search for T draws of labels.

    Attributes
    ----------
    values : array (T,)
        Least value of the measure for each draw.
    weights : array (T, M)
        Weights of the mixture with this value.
    spread : array (T,)
        Greatest minus least final value of the populations; nan for a single population of several members, which shows no
        spread.
    evaluations : int
        Number of mixtures evaluated.
    """

    values: Floats
    weights: Floats
    spread: Floats
    evaluations: int


def minimise_over_simplex(
    objective: MixtureObjective, search: SimplexSearch, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Least value found for every draw of labels, (T,), and its weights, (T, M)."""
    found = search_simplex(objective, search, generator)
    return found.values, found.weights


def search_simplex(
    objective: MixtureObjective, search: SimplexSearch, generator: np.random.Generator, *, enough: float = -math.inf
) -> SimplexMinimum:
    """Minimise a measure over all mixtures, for every draw of labels, with diagnostics of the search.

    Populations are evaluated in single precision, their refinement in double precision, and the result by the measure
    itself. The result is never greater than the value of a member or of the mean of the members. A draw with a value below
    `enough` is not searched further: its least value is lower still. Each draw has its own random numbers, so the others are
    searched as before.

    References
    ----------
    Storn, Price (1997), Differential evolution; Zhang, Sanderson (2009), JADE (moves towards one of the best); Tanabe,
    Fukunaga (2014), L-SHADE (populations that become smaller).
    """
    before, m = objective.evaluations, objective.mixtures.n_members
    search = _adapted(search, objective)
    first = first_mixtures(m, search.n_shared, generator)
    draws = _OpenDraws(objective, generator, enough)
    values, rough = _started(draws, first)
    best_first = first[values.argmin(axis=1)]
    if len(draws.at):
        weights, values = dealt_out(first, values, search.n_populations, search.n_kept)
        weights, values, best_first = _searched(draws, weights, values, best_first, search, rough)
    if len(draws.at):
        _ended(draws, weights, values, best_first, first[: m + 1])
    return SimplexMinimum(draws.values, draws.weights, draws.spread, objective.evaluations - before)


@final
class _OpenDraws:
    """Draws of labels that are searched further, and what was found for the others.

    Attributes
    ----------
    at : int array (R,)
        The open draws among those of the objective.
    numbers : RowNumbers
        Their random numbers.
    values, weights, spread : arrays (T,), (T, M), (T,)
        The result.
    """

    def __init__(self, objective: MixtureObjective, generator: np.random.Generator, enough: float) -> None:
        t, m = objective.n_targets, objective.mixtures.n_members
        self.objective, self.enough = objective, enough
        self.at, self.numbers = np.arange(t), RowNumbers(generator, objective.n_all, objective.rows)
        self.values, self.weights, self.spread = np.full(t, np.nan), np.zeros((t, m)), np.full(t, np.nan)

    def settle(self, values: Floats, weights: Floats) -> Indices:
        """Keep the least values (R,) below `enough` and their weights (R, M); the positions of the draws that stay open."""
        below = values < self.enough
        self.values[self.at[below]], self.weights[self.at[below]] = values[below], weights[below]
        kept = np.flatnonzero(~below)
        self.at = self.at[kept]
        self.numbers.keep(kept)
        return kept

    def own(self, weights: Floats, *, rough: bool = False) -> Floats:
        """Values (R, S, P) of mixtures (R, S, P, M), inf where undefined."""
        r, s, p, m = weights.shape
        flat = self.objective.own(weights.reshape(r, s * p, m), self.at, rough=rough)
        return defined(flat).reshape(r, s, p)

    def part(self) -> MixtureObjective:
        """The objective of the open draws alone."""
        return self.objective.part(self.at)


def _started(draws: _OpenDraws, first: Floats) -> tuple[Floats, bool]:
    """Values (R, L) of the starting mixtures, and whether single precision can hold those of populations."""
    objective, m = draws.objective, first.shape[1]
    if objective.n_all == 1:
        values = defined(objective.own(first[np.newaxis], rough=True))
        if not (values < HUGE).any():
            return defined(objective.own(first[np.newaxis])), False
        return values, True
    # the mean and the members settle most draws that can be settled
    corners = defined(objective.shared(first[: m + 1]))
    kept = draws.settle(corners.min(axis=1), first[corners.argmin(axis=1)])
    values = corners[kept]
    if len(first) > m + 1 and len(kept):
        values = np.concatenate([values, defined(draws.part().shared(first[m + 1 :]))], axis=1)
    kept = draws.settle(values.min(axis=1), first[values.argmin(axis=1)])
    return values[kept], bool((values.min(axis=1) < HUGE).all())


def _searched(
    draws: _OpenDraws, weights: Floats, values: Floats, best_first: Floats, search: SimplexSearch, rough: bool
) -> tuple[Floats, Floats, Floats]:
    """Evolve populations (R, S, P, M) with values (R, S, P) and refine the best mixture of each.

    Returns weights (R, S, M), values (R, S) and `best_first` of the draws still open.
    """
    generations = sizes(weights.shape[2], search.n_left, search.n_generations)
    n_rounds = search.n_rounds if weights.shape[-1] > 1 else 0
    found = compiled_search(
        draws.part(),
        draws.numbers,
        weights,
        values,
        generations,
        (n_rounds, search.n_steps),
        rough=rough,
        enough=draws.enough,
    )
    if found is not None:
        kept = draws.settle(np.where(found.settled, found.values[:, 0], math.inf), found.weights[:, 0])
        return found.weights[kept], found.values[kept], best_first[kept]
    weights, best_first = _evolved(draws, weights, values, best_first, generations, rough)
    return _refined(draws, weights, best_first, n_rounds, search.n_steps)


def _evolved(
    draws: _OpenDraws, weights: Floats, values: Floats, best_first: Floats, generations: list[int], rough: bool
) -> tuple[Floats, Floats]:
    """The best mixture of each population (R, S, M) after all generations, and `best_first` of the draws still open."""
    s, m = weights.shape[1], weights.shape[3]
    for size in generations:
        if not len(draws.at):
            break
        flat, flat_values = weights.reshape(-1, *weights.shape[2:]), values.reshape(-1, values.shape[2])
        children = moved_mixtures(flat, draws.numbers)
        found = draws.own(children.reshape(weights.shape), rough=rough)
        flat, flat_values = survivors(flat, flat_values, children, found.reshape(flat_values.shape), size)
        weights, values = flat.reshape(-1, s, size, m), flat_values.reshape(-1, s, size)
        best = np.arange(len(values)), values[:, :, 0].argmin(axis=1)
        least, there = values[..., 0][best], weights[:, :, 0][best]
        seems = np.flatnonzero(least < draws.enough)
        if len(seems):  # by a rough value; the other one decides
            least[:] = math.inf
            least[seems] = draws.objective.own(there[seems, np.newaxis], draws.at[seems])[:, 0]
            kept = draws.settle(least, there)
            weights, values, best_first = weights[kept], values[kept], best_first[kept]
    return weights[:, :, 0], best_first


def _refined(
    draws: _OpenDraws, weights: Floats, best_first: Floats, n_rounds: int, n_steps: int
) -> tuple[Floats, Floats, Floats]:
    """Weights (R, S, M), values (R, S) and `best_first` of the draws still open after all rounds of refinement."""
    if not len(draws.at):
        return weights, weights[..., 0], best_first
    values, last = draws.own(weights[:, :, np.newaxis])[..., 0], np.zeros_like(weights)
    for r in range(n_rounds):
        best = np.arange(len(values)), values.argmin(axis=1)
        kept = draws.settle(values[best], weights[best])
        weights, values, last, best_first = weights[kept], values[kept], last[kept], best_first[kept]
        if not len(kept):
            break
        lengths = step_lengths(r, draws.numbers.random((*values.shape, 2 * n_steps, 1)))
        weights, values, last = refined(draws.own, weights, values, last, lengths, draws.numbers)
    return weights, values, best_first


def _ended(draws: _OpenDraws, weights: Floats, values: Floats, best_first: Floats, plain: Floats) -> None:
    """The result of the open draws, by the measure itself: the best of what was found, its start, the mean and the members."""
    r, objective = np.arange(len(values)), draws.part()
    found_first = np.stack([weights[r, values.argmin(axis=1)], best_first], axis=1)
    candidates = np.concatenate([found_first, np.broadcast_to(plain, (len(r), *plain.shape))], axis=1)
    if len(r) == 1:
        exact = objective.exact(candidates)
    else:
        exact = np.concatenate([objective.exact(found_first), objective.exact_shared(plain)], axis=1)
    best = r, defined(exact).argmin(axis=1)  # stays nan if the measure is undefined for all
    draws.values[draws.at], draws.weights[draws.at] = exact[best], candidates[best]
    draws.spread[draws.at] = _spread(values, plain.shape[1])


def _adapted(search: SimplexSearch, objective: MixtureObjective) -> SimplexSearch:
    """Effort adapted to the cost of a mixture, to measures without jumps and to few members."""
    m, kept, populations = objective.mixtures.n_members, search.n_kept, search.n_populations
    shared, left, generations = search.n_shared, search.n_left, search.n_generations
    entries = objective.mixtures.n_instances * objective.mixtures.n_classes
    effort = min(max(1.0, math.sqrt(max(entries, FEW_ENTRIES) / objective.n_columns)), MOST_EFFORT)
    shared, kept, generations = round(effort * shared), round(effort * kept), round(effort**0.25 * generations)
    if objective.measure.smooth:
        kept, left, generations = max(round(SMOOTH * kept), min(kept, 32)), 2 * left, math.ceil(generations * 5 / 6)
    n_parts = max(1, kept // MANY)
    kept, populations = round(kept / n_parts), n_parts * populations
    if m <= 2:  # two members start from a fine grid
        generations = 0 if m == 1 else generations // GRID_SHARE
    return SimplexSearch(shared, populations, kept, left, generations, search.n_rounds, search.n_steps)


def _spread(values: Floats, m: int) -> Floats:
    """Range of the final values (T, S) of the populations."""
    if m == 1:
        return np.zeros(len(values))
    if values.shape[1] == 1:
        return np.full(len(values), np.nan)
    least, greatest = values.min(axis=1), values.max(axis=1)
    return np.where(np.isfinite(least), greatest - np.where(np.isfinite(least), least, 0.0), np.nan)
