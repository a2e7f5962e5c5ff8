"""The search for the mixture with the least error."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.calibration.mixtures import CHUNK_BYTES, MixtureObjective, defined, for_each_part
from uqassay.checks import a, fail, is_number
from uqassay.native import kernel

__all__ = [
    "PATIENT",
    "QUICK",
    "THOROUGH",
    "SimplexSearch",
    "check_search",
    "minimise_over_simplex",
    "search_simplex",
    "sizes",
]


# Random numbers of searches that run side by side, of which some may end early.


@final
class RowNumbers:
    """Uniform random numbers for some `rows` of T = `n_all`; a row has the same numbers whichever other rows there are.

    Examples
    --------
    >>> every = RowNumbers(np.random.default_rng(0), 3, np.arange(3)).random((3, 2))
    >>> last = RowNumbers(np.random.default_rng(0), 3, np.array([2])).random((1, 2))
    >>> bool((last == every[2:]).all())
    True
    """

    def __init__(self, generator: np.random.Generator, n_all: int, rows: NDArray[np.intp]) -> None:
        self._generator, self.n_all, self.rows = generator, n_all, rows

    def keep(self, positions: NDArray[np.intp]) -> None:
        """Go on with these of the rows alone."""
        self.rows = self.rows[positions]

    def random(self, shape: tuple[int, ...], axis: int = 0) -> NDArray[np.float64]:
        """Numbers of this shape; along the axis lie the rows, each with equally many places."""
        each = shape[axis] // len(self.rows)
        numbers = self._generator.random((*shape[:axis], each * self.n_all, *shape[axis + 1 :]))
        if len(self.rows) == self.n_all:
            return numbers
        places = self.rows[:, np.newaxis] * each + np.arange(each)
        return numbers.take(places.ravel(), axis=axis)

    def of_all(self, each: int) -> NDArray[np.float64]:
        """Numbers of all T rows, `each` of them for a row on average, in one line, (T each,)."""
        return self._generator.random(self.n_all * each)


# Populations of mixtures that evolve towards the least value: starting mixtures, moves, the best that are kept.
#
# References ---------- Storn, Price (1997), Differential evolution; Zhang, Sanderson (2009), JADE (moves towards one of
# the best).


BEST_SHARE = 0.15  # share of a population that counts as the best
TOWARDS = np.array(
    [0.5, 0.5]
)  # least share of the distance to one of the best that a mixture moves, and width of the range
ALONG = np.array([0.3, 0.9 - 0.3])  # the same for the move along the difference of two others
MOVED_SHARE = 0.9  # share of the weights of a mixture that a move changes
GRID_SHARE = 3  # with two members: 3 times as many starting mixtures on a grid, then fewer generations


# -- starting mixtures --------------------------------------------------------------------------------------------------


def first_mixtures(m: int, n: int, generator: np.random.Generator) -> Floats:
    """The mean, the members, and n mixtures: uniform, near faces and on edges; for two members an even grid."""
    if m == 1:
        return np.ones((1, 1))
    corners = np.concatenate([np.full((1, m), 1 / m), np.eye(m)])
    if m == 2:
        n *= GRID_SHARE
        share = (np.arange(n) + 0.5) / n
        return np.concatenate([corners, np.stack([share, 1 - share], axis=1)])
    n_pairs = n // 2
    even = generator.dirichlet(np.ones(m), n // 4)
    faces = generator.dirichlet(np.full(m, 0.3), n - n_pairs - n // 4)
    one, other = _pairs(m)
    dealt = generator.permutation(len(one))[np.arange(n_pairs) % len(one)]  # every pair of members equally often
    pairs, share, rows = np.zeros((n_pairs, m)), generator.random(n_pairs), np.arange(n_pairs)
    pairs[rows, one[dealt]], pairs[rows, other[dealt]] = share, 1 - share
    return np.concatenate([corners, even, faces, pairs])


@cache
def _pairs(m: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second member of every pair."""
    return np.triu_indices(m, 1)


def dealt_out(first: Floats, values: Floats, n_populations: int, n_kept: int) -> tuple[Floats, Floats]:
    """Deal the best mixtures (L, M) with values (T, L) out to populations (T, S, P, M), each sorted by its values (T, S, P)."""
    t, n_first = values.shape
    n_populations = min(n_populations, n_first)
    size = min(n_kept, max(1, 30 * (first.shape[1] - 1)), n_first // n_populations)
    best = np.argsort(values, axis=1, kind="stable")[:, : size * n_populations]
    best = best.reshape(t, size, n_populations).swapaxes(1, 2)
    return first[best], values[np.arange(t)[:, np.newaxis, np.newaxis], best]


# -- populations --------------------------------------------------------------------------------------------------------


def sizes(size: int, n_left: int, n_generations: int) -> list[int]:
    """Size of a population after each generation; it falls linearly."""
    left = min(n_left, size)
    return [left + (size - left) * (n_generations - i) // n_generations for i in range(1, n_generations + 1)]


@cache
def best_count(size: int) -> int:
    """How many mixtures of a population count as the best."""
    return min(size, max(2, round(BEST_SHARE * size)))


def moved_mixtures(weights: Floats, numbers: RowNumbers) -> Floats:
    """One move of every mixture of the populations (T, P, M), which are sorted by value.

    x + F₁ (best − x) + F₂ (one − other), in most of the coordinates, projected onto the simplex.
    """
    t, p, m = weights.shape
    n_best = best_count(p)
    drawn, changed = numbers.random((5, t, p), axis=1), numbers.random((t, p, m))
    chosen = (drawn[:3] * np.array([n_best, p, p])[:, np.newaxis, np.newaxis]).astype(np.intp)
    chosen += np.arange(0, t * p, p)[:, np.newaxis]
    moved, one, other = weights.reshape(t * p, m).take(chosen, axis=0)
    moved -= weights
    moved *= TOWARDS[0] + TOWARDS[1] * drawn[3, ..., np.newaxis]
    one -= other
    one *= ALONG[0] + ALONG[1] * drawn[4, ..., np.newaxis]
    moved += one
    moved *= changed < MOVED_SHARE
    moved += weights
    return onto_simplex(moved)


def survivors(weights: Floats, values: Floats, children: Floats, found: Floats, size: int) -> tuple[Floats, Floats]:
    """The better of each mixture and its child, and of these the `size` best of each population, sorted by value."""
    better = found <= values
    return best_of(np.where(better[..., np.newaxis], children, weights), np.where(better, found, values), size)


def best_of(weights: Floats, values: Floats, size: int) -> tuple[Floats, Floats]:
    """The `size` best of each population, sorted by value."""
    order = np.argsort(values, axis=1, kind="stable")[:, :size]
    rows = np.arange(len(values))[:, np.newaxis]
    return weights[rows, order], values[rows, order]


def onto_simplex(points: Floats) -> Floats:
    """The nearest point of the simplex, (..., M) -> (..., M).

    Examples
    --------
    >>> onto_simplex(np.array([0.9, 0.5, -0.3])).round(3).tolist()
    [0.7, 0.3, 0.0]

    References
    ----------
    Held, Wolfe, Crowder (1974), Validation of subgradient optimization.
    """
    # The projection is max(x − τ, 0); τ is the greatest of (Σ of the j largest − 1) / j over j.
    excess = np.cumsum(np.sort(points, axis=-1)[..., ::-1], axis=-1)
    excess -= 1
    excess /= np.arange(1, points.shape[-1] + 1)
    nearest = points - excess.max(axis=-1, keepdims=True)
    return np.maximum(nearest, 0.0, out=nearest)


# Refinement of the best mixtures of a search: gradient steps, steps with momentum, exchanges of weight between two
# members.

PROBE = 1e-6  # step of the difference quotients
FINER = 1 / 16  # smallest step of a round of refinement, relative to the round before


def refined(
    values_of: Callable[[Floats], Floats],
    weights: Floats,
    values: Floats,
    moved: Floats,
    lengths: Floats,
    numbers: RowNumbers,
) -> tuple[Floats, Floats, Floats]:
    """One round of refinement for weights (T, S, M) with values (T, S).

    `values_of` gives values (T, S, P) of mixtures (T, S, P, M), `moved` is the last step of each mixture, `lengths`
    (T, S, 2 n, 1) are those of the exchanges and of the gradient steps.
    """
    m, n_steps = weights.shape[-1], lengths.shape[2] // 2
    here = weights[:, :, np.newaxis]
    exchanged = _exchanges(weights, lengths[:, :, :n_steps], numbers)
    probes = here + PROBE * (np.eye(m) - here)
    found = values_of(np.concatenate([probes, exchanged], axis=2))
    direction = _downhill(found[..., :m], values)[:, :, np.newaxis]
    momentum = 1.5 * numbers.random((*weights.shape[:2], n_steps, 1))
    momentum[:, :, ::2] = 0.0  # half of the gradient steps have no momentum
    down = onto_simplex(here + lengths[:, :, n_steps:] * direction + momentum * moved[:, :, np.newaxis])
    tried = np.concatenate([exchanged, down], axis=2)
    found = np.concatenate([found[..., m:], values_of(down)], axis=2)
    best = found.argmin(axis=-1)[..., np.newaxis]
    least = np.take_along_axis(found, best, axis=-1)[..., 0]
    there = np.take_along_axis(tried, best[..., np.newaxis], axis=2)[:, :, 0]
    better = (least < values)[..., np.newaxis]
    return np.where(better, there, weights), np.minimum(values, least), np.where(better, there - weights, moved / 2)


def step_lengths(r: int | NDArray[np.intp], random: Floats) -> Floats:
    """Step lengths of round r at uniform random numbers, log-uniform between FINER^(r + 1) and FINER^(r / 2)."""
    return FINER ** (r / 2 + (r / 2 + 1) * random)


def _downhill(probed: Floats, values: Floats) -> Floats:
    """Unit direction of steepest descent from difference quotients towards each member, (T, S, M), or 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = (probed - values[..., np.newaxis]) / PROBE
        slopes -= slopes.mean(axis=-1, keepdims=True)
        direction = -slopes / np.maximum(np.linalg.norm(slopes, axis=-1, keepdims=True), 1e-300)
    return np.nan_to_num(direction, nan=0.0, posinf=0.0, neginf=0.0)


def _exchanges(weights: Floats, amounts: Floats, numbers: RowNumbers) -> Floats:
    """Random exchanges of weight between two members, (T, S, M) -> (T, S, n, M).

    In every second exchange, the member that receives has positive weight already, if there is one: zeros then stay zero.
    """
    n = amounts.shape[2]
    here = np.repeat(weights[:, :, np.newaxis], n, axis=2)
    held = here > 0
    first, second = numbers.random((2, *here.shape), axis=1)
    giver = (first * held).argmax(axis=-1)[..., np.newaxis]
    second[:, :, ::2] += held[:, :, ::2]
    np.put_along_axis(second, giver, -1.0, axis=-1)
    taker = second.argmax(axis=-1)[..., np.newaxis]
    has = np.take_along_axis(here, giver, axis=-1)
    amounts = np.minimum(amounts, has)
    np.put_along_axis(here, giver, has - amounts, axis=-1)
    np.put_along_axis(here, taker, np.take_along_axis(here, taker, axis=-1) + amounts, axis=-1)
    return here


# The generations and refinement of a search by a compiled kernel, which takes one draw of labels after the other.
#
# All mixtures of a draw then stay in the cache, and few calls from Python remain. The mixtures are those of the loops
# in `simplex_search`, to the last bit.

TOGETHER = 512  # mixtures of the first generation in one call


class Searched(NamedTuple):
    """The end of a search for R draws of labels."""

    weights: Floats  #: (R, S, M): best mixture of each population
    values: Floats  #: (R, S)
    settled: NDArray[np.bool_]  #: (R,): whether a value below `enough` ended the search; it stands in the first place


def compiled_search(
    objective: MixtureObjective,
    numbers: RowNumbers,
    weights: Floats,
    values: Floats,
    generations: list[int],
    rounds: tuple[int, int],
    *,
    rough: bool,
    enough: float,
) -> Searched | None:
    """Evolve populations (R, S, P, M) with values (R, S, P) and refine the best mixtures; None if kernels are missing.

    `generations` are the sizes of a population after each generation, `rounds` the number of rounds of refinement and of steps
    of each kind in a round. The draws of the objective are those of the random numbers.
    """
    searched, evaluators = kernel("searched"), objective.compiled
    if searched is None or evaluators is None:
        return None
    fine = evaluators[0]
    r, s, p, m = weights.shape
    before = [p, *generations[:-1]]
    plan = np.array([[size, best_count(last)] for size, last in zip(generations, before, strict=False)], dtype=np.int64)
    moves = numbers.of_all((5 + m) * s * sum(before[: len(generations)]))
    lengths, exchanges, momentum = _of_rounds(numbers, (r, s, m), *rounds)
    weights, values = np.ascontiguousarray(weights), np.ascontiguousarray(values)
    labels = np.ascontiguousarray(objective.labels, dtype=np.int64)
    found = Searched(np.empty((r, s, m)), np.empty((r, s)), np.empty(r, dtype=np.bool_))
    counts = []

    def work(part: slice) -> None:
        *result, count = searched(
            evaluators[1] if rough else fine,
            fine,
            labels[part],
            numbers.rows[part],
            numbers.n_all,
            weights[part],
            values[part],
            plan.reshape(-1, 2),
            moves,
            TOWARDS,
            ALONG,
            MOVED_SHARE,
            lengths[part],
            exchanges[part],
            momentum[part],
            PROBE,
            enough,
        )
        counts.append(count)
        for all_of_them, some in zip(found, result, strict=True):
            all_of_them[part] = some

    for_each_part(r, CHUNK_BYTES / TOGETHER * s * p, work)
    objective.count(sum(counts))
    return found


def _of_rounds(
    numbers: RowNumbers, shape: tuple[int, int, int], n_rounds: int, n: int
) -> tuple[Floats, Floats, Floats]:
    """Lengths of steps (R, rounds, S, 2 n), and random numbers of exchanges (R, rounds, 2, S, n M) and of momentum."""
    (_, s, m), t = shape, numbers.n_all
    steps = t * s * n
    drawn = numbers.of_all(n_rounds * s * n * (3 + 2 * m)).reshape(n_rounds, steps * (3 + 2 * m))
    lengths = step_lengths(np.arange(n_rounds)[:, np.newaxis], drawn[:, : 2 * steps]).reshape(n_rounds, t, s, 2 * n)
    exchanges = drawn[:, 2 * steps : -steps].reshape(n_rounds, 2, t, s, n * m)
    momentum = drawn[:, -steps:].reshape(n_rounds, t, s, n)

    def of_rows(of_draws: Floats) -> Floats:
        return np.ascontiguousarray(of_draws[numbers.rows])

    return (
        of_rows(lengths.swapaxes(0, 1)),
        of_rows(exchanges.transpose(2, 0, 1, 3, 4)),
        of_rows(momentum.swapaxes(0, 1)),
    )


# Search for the least value of a calibration measure over all convex combinations of an ensemble's members.
#
# Binned measures are piecewise smooth, with jumps where a probability crosses an edge. They have many local minima, and
# a search from a single point gets stuck. The search therefore evaluates many mixtures at once. It starts from the same
# mixtures for every draw of labels. The best of them form populations that evolve by differential evolution: a mixture
# moves towards one of the best and along the difference of two others, which shrinks as the population converges. The
# best mixture of each population is refined by gradient steps, steps with momentum, and exchanges of weight between two
# members, finer in each round.

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
    """

    #: starting mixtures, the same for every draw of labels, in addition to the members and their mean. Half of them mix two
    #: members only; the others are drawn uniformly and near faces.
    n_shared: int
    #: least number of independent populations for each draw of labels. The spread of their results shows how much another
    #: search could differ.
    n_populations: int
    n_kept: int  #: mixtures in a population at the start; fewer for few members
    n_left: int  #: mixtures in a population at the end
    n_generations: int  #: number of generations
    n_rounds: int  #: number of rounds of refinement
    n_steps: int  #: steps of each kind in a round

    def __post_init__(self) -> None:
        for field in fields(self):
            least, value = int(field.name not in MAY_BE_0), getattr(self, field.name)
            if not is_number(value) or value != value // 1 or value < least:
                rule = f"{field.name} must be a whole number from {least}"
                fail("search", rule, f"got {value!r}", "use a value of THOROUGH", code="range")


PATIENT = SimplexSearch(n_shared=2000, n_populations=1, n_kept=600, n_left=20, n_generations=60, n_rounds=8, n_steps=12)
THOROUGH = SimplexSearch(n_shared=300, n_populations=1, n_kept=120, n_left=10, n_generations=24, n_rounds=5, n_steps=12)
QUICK = SimplexSearch(n_shared=300, n_populations=1, n_kept=32, n_left=2, n_generations=12, n_rounds=3, n_steps=8)


@final
@dataclass(frozen=True, eq=False)
class SimplexMinimum:
    """Result of a search for T draws of labels."""

    values: Floats  #: (T,): least value of the measure for each draw
    weights: Floats  #: (T, M): weights of the mixture with this value
    #: (T,): greatest minus least final value of the populations; nan for a single population of several members, which shows no
    #: spread
    spread: Floats
    evaluations: int  #: number of mixtures evaluated


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
    """Draws of labels that are searched further (R of T), and the values, weights and spread (T, ...) of all draws."""

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


def check_search(search: object) -> None:
    """Refuse anything but a SimplexSearch or None."""
    if search is not None:
        a(SimplexSearch, search, "search", "pass QUICK, THOROUGH or PATIENT", rule="must be a SimplexSearch or None")
