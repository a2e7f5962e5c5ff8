"""The least value of a calibration measure over all convex combinations of an ensemble's members.

Binned measures are piecewise smooth with jumps where a probability crosses an edge, and have many local minima, in which
a search from one point gets stuck. So many mixtures are judged at once. The same ones are judged first for every draw of
labels. The best of them form populations that evolve: a mixture moves towards one of the best and along the difference of
two others, which shrinks as the population agrees (differential evolution). The best of each population is refined by
steps along the slope, steps with momentum, and exchanges of weight between two members, finer in each round.
"""

import math
from dataclasses import dataclass, fields
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.mixtures import MixtureObjective
from uqassay.errors import InputError
from uqassay.statistics.samples import is_number

__all__ = [
    "PATIENT",
    "QUICK",
    "THOROUGH",
    "SimplexMinimum",
    "SimplexSearch",
    "minimise_over_simplex",
    "onto_simplex",
    "search_simplex",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MAY_BE_0 = ("n_shared", "n_generations", "n_rounds")
BEST_SHARE = 0.15  # of a population, towards which the others move
TOWARDS = (0.5, 1.0)  # length of a move towards one of the best, as a share of the distance
ALONG = (0.3, 0.9)  # of a move along the difference of two others
MOVED_SHARE = 0.9  # of the weights of a mixture
GRID_SHARE = 3  # of two members: so many times more mixtures judged first, after which populations need to move less
FEW_ENTRIES = 1000  # n K below which more mixtures are judged, since each costs little
MOST_EFFORT = 2.0  # times the mixtures, where few of the probabilities are needed to judge one, in several populations
MANY = 65  # mixtures in a population: it is split where its parts have so many, since several small ones find more
SMOOTH = 0.4  # of the mixtures in a population for measures without jumps, which have fewer and wider minima
HUGE = 1e20  # where no mixture has less, numbers count that single precision does not know
PROBE = 1e-6  # step of the difference quotients
FINER = 1 / 16  # the smallest step of a round of refinement over that of the round before


@final
@dataclass(frozen=True)
class SimplexSearch:
    """How much is searched.

    Where few probabilities have to be found to judge a mixture, up to twice as many mixtures are judged, in several
    populations. Populations are smaller for measures without jumps, and fewer generations follow for two members.

    Attributes
    ----------
    n_shared : int
        Mixtures judged first, the same for every draw of labels, beside the members and their mean: half of them of two
        members only, the others drawn evenly and near faces.
    n_populations : int
        Populations for each draw of labels that do not know of each other, at least; how far apart they end shows what to
        expect of another search.
    n_kept : int
        Mixtures in a population at first; for few members there are fewer.
    n_left : int
        Mixtures in a population at last.
    n_generations : int
        How often a population moves.
    n_rounds : int
        Rounds of refinement.
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
                    "take one from THOROUGH",
                    code="range",
                )


PATIENT = SimplexSearch(n_shared=2000, n_populations=1, n_kept=600, n_left=20, n_generations=60, n_rounds=8, n_steps=12)
THOROUGH = SimplexSearch(n_shared=300, n_populations=1, n_kept=120, n_left=10, n_generations=24, n_rounds=5, n_steps=12)
QUICK = SimplexSearch(n_shared=300, n_populations=1, n_kept=32, n_left=2, n_generations=12, n_rounds=3, n_steps=8)


@final
@dataclass(frozen=True, eq=False)
class SimplexMinimum:
    """What a search found for T draws of labels.

    Attributes
    ----------
    values : array (T,)
        Least value of the measure for each draw.
    weights : array (T, M)
        Weights of the mixture that has it.
    spread : array (T,)
        Distance between the best and the worst of the values in which the populations ended; nan for a single population
        of several members, since nothing is known then.
    evaluations : int
        Mixtures judged.
    """

    values: Floats
    weights: Floats
    spread: Floats
    evaluations: int


def minimise_over_simplex(
    objective: MixtureObjective, search: SimplexSearch, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Least value found for every draw of labels, (T,), and the weights that give it, (T, M)."""
    found = search_simplex(objective, search, generator)
    return found.values, found.weights


def search_simplex(
    objective: MixtureObjective, search: SimplexSearch, generator: np.random.Generator
) -> SimplexMinimum:
    """Minimise a measure over all mixtures, for every draw of labels, and say how the search went.

    Populations are judged roughly, what becomes of them exactly but for rounding, and the mixture found by the measure
    itself. Its value is never greater than that of a member or of the members' mean.

    References
    ----------
    Storn, Price (1997), Differential evolution; Zhang, Sanderson (2009), JADE (moves towards one of the best); Tanabe,
    Fukunaga (2014), L-SHADE (populations that become smaller).
    """
    before = objective.evaluations
    m, t = objective.mixtures.n_members, objective.n_targets
    search = _adapted(search, objective)
    first = _first_mixtures(m, search.n_shared, generator)
    values = _defined(objective.own(first[np.newaxis], rough=True) if t == 1 else objective.shared(first))
    rough = bool((values.min(axis=1) < HUGE).all())
    if t == 1 and not rough:
        values = _defined(objective.own(first[np.newaxis]))
    best_first = first[values.argmin(axis=1)]
    weights, values, targets = _populations(first, values, search)
    for size in _sizes(weights.shape[1], search.n_left, search.n_generations):
        children = _moved(weights, generator)
        found = _defined(objective.own(children, targets, rough=rough))
        better = found <= values
        weights, values = np.where(better[..., np.newaxis], children, weights), np.where(better, found, values)
        weights, values = _best(weights, values, size)
    weights = _best(weights, values, 1)[0].reshape(t, -1, m)
    values = _defined(objective.own(weights))
    last = np.zeros_like(weights)
    for r in range(search.n_rounds if m > 1 else 0):
        lengths = _lengths(r, (t, weights.shape[1], 2 * search.n_steps, 1), generator)
        weights, values, last = _refined(objective, weights, values, last, lengths, generator)
    plain = np.broadcast_to(first[: m + 1], (t, *first[: m + 1].shape))  # the mean and the members
    found_first = np.stack([weights[np.arange(t), values.argmin(axis=1)], best_first], axis=1)
    candidates = np.concatenate([found_first, plain], axis=1)
    exact = objective.exact(candidates)
    best = np.arange(t), _defined(exact).argmin(axis=1)  # nan where the measure is undefined everywhere
    return SimplexMinimum(exact[best], candidates[best], _spread(values, m), objective.evaluations - before)


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
    excess = np.cumsum(np.sort(points, axis=-1)[..., ::-1], axis=-1)
    excess -= 1
    excess /= np.arange(1, points.shape[-1] + 1)
    nearest = points - excess.max(axis=-1, keepdims=True)
    return np.maximum(nearest, 0.0, out=nearest)


def _adapted(search: SimplexSearch, objective: MixtureObjective) -> SimplexSearch:
    """More mixtures where they are judged with less work, smaller populations for measures without jumps."""
    m, kept, populations = objective.mixtures.n_members, search.n_kept, search.n_populations
    shared, left, generations = search.n_shared, search.n_left, search.n_generations
    entries = objective.mixtures.n_instances * objective.mixtures.n_classes
    effort = min(max(1.0, math.sqrt(max(entries, FEW_ENTRIES) / objective.n_columns)), MOST_EFFORT)
    shared, kept, generations = round(effort * shared), round(effort * kept), round(effort**0.25 * generations)
    if objective.measure.smooth:
        kept, left, generations = max(round(SMOOTH * kept), min(kept, 32)), 2 * left, math.ceil(generations * 5 / 6)
    n_parts = max(1, kept // MANY)
    kept, populations = round(kept / n_parts), n_parts * populations
    if m <= 2:  # two members were judged on a fine grid
        generations = 0 if m == 1 else generations // GRID_SHARE
    return SimplexSearch(shared, populations, kept, left, generations, search.n_rounds, search.n_steps)


def _spread(values: Floats, m: int) -> Floats:
    """Distance between the ends (T, S) of the populations."""
    if m == 1:
        return np.zeros(len(values))
    if values.shape[1] == 1:
        return np.full(len(values), np.nan)
    least, greatest = values.min(axis=1), values.max(axis=1)
    return np.where(np.isfinite(least), greatest - np.where(np.isfinite(least), least, 0.0), np.nan)


# -- what is judged first -----------------------------------------------------------------------------------------------


def _first_mixtures(m: int, n: int, generator: np.random.Generator) -> Floats:
    """The mean, the members, and n mixtures drawn evenly, near faces and on edges; for two members an even grid."""
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
    one, other = np.triu_indices(m, 1)
    dealt = np.resize(generator.permutation(len(one)), n_pairs)  # every pair as often as the others
    pairs, share, rows = np.zeros((n_pairs, m)), generator.random(n_pairs), np.arange(n_pairs)
    pairs[rows, one[dealt]], pairs[rows, other[dealt]] = share, 1 - share
    return np.concatenate([corners, even, faces, pairs])


def _populations(first: Floats, values: Floats, search: SimplexSearch) -> tuple[Floats, Floats, Indices]:
    """The best mixtures (L, M) with values (T, L), dealt out: weights (T·S, P, M), values (T·S, P), draws (T·S,)."""
    t, n_first = values.shape
    n_populations = min(search.n_populations, n_first)
    size = min(search.n_kept, max(1, 30 * (first.shape[1] - 1)), n_first // n_populations)
    best = np.argsort(values, axis=1, kind="stable")[:, : size * n_populations]
    best = best.reshape(t, size, n_populations).swapaxes(1, 2).reshape(t * n_populations, size)
    targets = np.repeat(np.arange(t), n_populations)
    return first[best], values[targets[:, np.newaxis], best], targets


# -- populations --------------------------------------------------------------------------------------------------------


def _sizes(size: int, n_left: int, n_generations: int) -> list[int]:
    """Size of a population after each generation: it falls evenly."""
    left = min(n_left, size)
    return [left + (size - left) * (n_generations - i) // n_generations for i in range(1, n_generations + 1)]


def _moved(weights: Floats, generator: np.random.Generator) -> Floats:
    """A new mixture for each of populations (T, P, M) that are sorted by their values."""
    t, p, m = weights.shape
    n_best = min(p, max(2, round(BEST_SHARE * p)))
    drawn = generator.random((5, t, p))
    chosen = (drawn[:3] * np.array([n_best, p, p])[:, np.newaxis, np.newaxis]).astype(np.intp)
    chosen += np.arange(0, t * p, p)[:, np.newaxis]
    moved, one, other = weights.reshape(t * p, m).take(chosen, axis=0)
    moved -= weights
    moved *= TOWARDS[0] + (TOWARDS[1] - TOWARDS[0]) * drawn[3, ..., np.newaxis]
    one -= other
    one *= ALONG[0] + (ALONG[1] - ALONG[0]) * drawn[4, ..., np.newaxis]
    moved += one
    moved *= generator.random((t, p, m)) < MOVED_SHARE
    moved += weights
    return onto_simplex(moved)


def _best(weights: Floats, values: Floats, size: int) -> tuple[Floats, Floats]:
    """The best of each population, sorted."""
    order = np.argsort(values, axis=1, kind="stable")[:, :size]
    rows = np.arange(len(values))[:, np.newaxis]
    return weights[rows, order], values[rows, order]


# -- refinement ---------------------------------------------------------------------------------------------------------


def _refined(
    objective: MixtureObjective,
    weights: Floats,
    values: Floats,
    moved: Floats,
    lengths: Floats,
    generator: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """One round for weights (T, S, M) with values (T, S); `moved` is the last step of each, `lengths` (T, S, 2 n, 1)."""
    m, n_steps = weights.shape[-1], lengths.shape[2] // 2
    here = weights[:, :, np.newaxis]
    exchanged = _exchanges(weights, lengths[:, :, :n_steps], generator)
    probes = here + PROBE * (np.eye(m) - here)
    found = _values(objective, np.concatenate([probes, exchanged], axis=2))
    direction = _downhill(found[..., :m], values)[:, :, np.newaxis]
    momentum = 1.5 * generator.random((*weights.shape[:2], n_steps, 1))
    momentum[:, :, ::2] = 0.0
    down = onto_simplex(here + lengths[:, :, n_steps:] * direction + momentum * moved[:, :, np.newaxis])
    tried = np.concatenate([exchanged, down], axis=2)
    found = np.concatenate([found[..., m:], _values(objective, down)], axis=2)
    best = found.argmin(axis=-1)[..., np.newaxis]
    least = np.take_along_axis(found, best, axis=-1)[..., 0]
    there = np.take_along_axis(tried, best[..., np.newaxis], axis=2)[:, :, 0]
    better = (least < values)[..., np.newaxis]
    return np.where(better, there, weights), np.minimum(values, least), np.where(better, there - weights, moved / 2)


def _lengths(r: int, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
    """Lengths of steps in round r, evenly spread in logarithms: from FINER^(r / 2) down to FINER^(r + 1)."""
    return FINER ** (r / 2 + (r / 2 + 1) * generator.random(shape))


def _downhill(probed: Floats, values: Floats) -> Floats:
    """Direction of steepest descent of length 1 from values a little towards each member, (T, S, M), or 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = (probed - values[..., np.newaxis]) / PROBE
        slopes -= slopes.mean(axis=-1, keepdims=True)
        direction = -slopes / np.maximum(np.linalg.norm(slopes, axis=-1, keepdims=True), 1e-300)
    return np.nan_to_num(direction, nan=0.0, posinf=0.0, neginf=0.0)


def _exchanges(weights: Floats, amounts: Floats, generator: np.random.Generator) -> Floats:
    """Weight moved from one member to another, (T, S, M) -> (T, S, n, M); half of the takers have some already."""
    n = amounts.shape[2]
    here = np.repeat(weights[:, :, np.newaxis], n, axis=2)
    held = here > 0
    first, second = generator.random((2, *here.shape))
    giver = (first * held).argmax(axis=-1)[..., np.newaxis]
    second[:, :, ::2] += held[:, :, ::2]
    np.put_along_axis(second, giver, -1.0, axis=-1)
    taker = second.argmax(axis=-1)[..., np.newaxis]
    has = np.take_along_axis(here, giver, axis=-1)
    amounts = np.minimum(amounts, has)
    np.put_along_axis(here, giver, has - amounts, axis=-1)
    np.put_along_axis(here, taker, np.take_along_axis(here, taker, axis=-1) + amounts, axis=-1)
    return here


def _values(objective: MixtureObjective, weights: Floats) -> Floats:
    """Values of (T, S, P, M), as (T, S, P)."""
    t, s, p, m = weights.shape
    return _defined(objective.own(weights.reshape(t, s * p, m))).reshape(t, s, p)


def _defined(values: Floats) -> Floats:
    """Undefined values count as infinite: a defined one is better."""
    return np.where(np.isnan(values), np.inf, values)
