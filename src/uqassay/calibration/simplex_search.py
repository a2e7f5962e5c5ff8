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

from uqassay._kernels import kernel
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
BEST_SHARE = 0.15  # share of a population that counts as the best
TOWARDS = (0.5, 1.0)  # range of the move towards one of the best, as a share of the distance
ALONG = (0.3, 0.9)  # range of the move along the difference of two others
MOVED_SHARE = 0.9  # share of the weights of a mixture that a move changes
GRID_SHARE = 3  # with two members: 3 times as many starting mixtures on a grid, then fewer generations
FEW_ENTRIES = 1000  # below this n K each mixture is cheap, and more of them are evaluated
MOST_EFFORT = 2.0  # most times as many mixtures, in several populations, if each needs few probabilities
MANY = 65  # mixtures per part when a population is split: several small populations find more
SMOOTH = 0.4  # size of populations for measures without jumps, which have fewer and wider minima
HUGE = 1e20  # if no mixture has less, the values may overflow single precision
PROBE = 1e-6  # step of the difference quotients
FINER = 1 / 16  # smallest step of a round of refinement, relative to the round before


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
    objective: MixtureObjective, search: SimplexSearch, generator: np.random.Generator
) -> SimplexMinimum:
    """Minimise a measure over all mixtures, for every draw of labels, with diagnostics of the search.

    Populations are evaluated in single precision, their refinement in double precision, and the result by the measure
    itself. The result is never greater than the value of a member or of the mean of the members.

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
        weights, values = _survivors(weights, values, children, found, size)
    weights = _best(weights, values, 1)[0].reshape(t, -1, m)
    values = _defined(objective.own(weights))
    last = np.zeros_like(weights)
    for r in range(search.n_rounds if m > 1 else 0):
        lengths = _lengths(r, (t, weights.shape[1], 2 * search.n_steps, 1), generator)
        weights, values, last = _refined(objective, weights, values, last, lengths, generator)
    plain = np.broadcast_to(first[: m + 1], (t, *first[: m + 1].shape))  # the mean and the members
    found_first = np.stack([weights[np.arange(t), values.argmin(axis=1)], best_first], axis=1)
    candidates = np.concatenate([found_first, plain], axis=1)
    exact = np.concatenate([objective.exact(found_first), objective.exact_shared(first[: m + 1])], axis=1)
    best = np.arange(t), _defined(exact).argmin(axis=1)  # stays nan if the measure is undefined for all
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
    compiled = kernel("onto_simplex")
    if compiled is not None and points.size:
        flat = np.ascontiguousarray(points, dtype=np.float64).reshape(1, -1, points.shape[-1])
        return compiled(flat).reshape(points.shape)
    # The projection is max(x − τ, 0); τ is the greatest of (Σ of the j largest − 1) / j over j.
    excess = np.cumsum(np.sort(points, axis=-1)[..., ::-1], axis=-1)
    excess -= 1
    excess /= np.arange(1, points.shape[-1] + 1)
    nearest = points - excess.max(axis=-1, keepdims=True)
    return np.maximum(nearest, 0.0, out=nearest)


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


# -- starting mixtures --------------------------------------------------------------------------------------------------


def _first_mixtures(m: int, n: int, generator: np.random.Generator) -> Floats:
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
    one, other = np.triu_indices(m, 1)
    dealt = np.resize(generator.permutation(len(one)), n_pairs)  # every pair of members equally often
    pairs, share, rows = np.zeros((n_pairs, m)), generator.random(n_pairs), np.arange(n_pairs)
    pairs[rows, one[dealt]], pairs[rows, other[dealt]] = share, 1 - share
    return np.concatenate([corners, even, faces, pairs])


def _populations(first: Floats, values: Floats, search: SimplexSearch) -> tuple[Floats, Floats, Indices]:
    """Deal the best mixtures (L, M) with values (T, L) out to populations.

    Returns weights (T·S, P, M), values (T·S, P) and the draw of labels of each population (T·S,).
    """
    t, n_first = values.shape
    n_populations = min(search.n_populations, n_first)
    size = min(search.n_kept, max(1, 30 * (first.shape[1] - 1)), n_first // n_populations)
    best = np.argsort(values, axis=1, kind="stable")[:, : size * n_populations]
    best = best.reshape(t, size, n_populations).swapaxes(1, 2).reshape(t * n_populations, size)
    targets = np.repeat(np.arange(t), n_populations)
    return first[best], values[targets[:, np.newaxis], best], targets


# -- populations --------------------------------------------------------------------------------------------------------


def _sizes(size: int, n_left: int, n_generations: int) -> list[int]:
    """Size of a population after each generation; it falls linearly."""
    left = min(n_left, size)
    return [left + (size - left) * (n_generations - i) // n_generations for i in range(1, n_generations + 1)]


def _moved(weights: Floats, generator: np.random.Generator) -> Floats:
    """One move of every mixture of the populations (T, P, M), which are sorted by value.

    x + F₁ (best − x) + F₂ (one − other), in most of the coordinates, projected onto the simplex.
    """
    t, p, m = weights.shape
    n_best = min(p, max(2, round(BEST_SHARE * p)))
    drawn, changed = generator.random((5, t, p)), generator.random((t, p, m))
    towards, along = (np.array([least, most - least]) for least, most in (TOWARDS, ALONG))
    compiled = kernel("children_of")
    if compiled is not None:
        return compiled(np.ascontiguousarray(weights), drawn, changed, n_best, towards, along, MOVED_SHARE)
    chosen = (drawn[:3] * np.array([n_best, p, p])[:, np.newaxis, np.newaxis]).astype(np.intp)
    chosen += np.arange(0, t * p, p)[:, np.newaxis]
    moved, one, other = weights.reshape(t * p, m).take(chosen, axis=0)
    moved -= weights
    moved *= towards[0] + towards[1] * drawn[3, ..., np.newaxis]
    one -= other
    one *= along[0] + along[1] * drawn[4, ..., np.newaxis]
    moved += one
    moved *= changed < MOVED_SHARE
    moved += weights
    return onto_simplex(moved)


def _survivors(weights: Floats, values: Floats, children: Floats, found: Floats, size: int) -> tuple[Floats, Floats]:
    """The better of each mixture and its child, and of these the `size` best of each population, sorted by value."""
    compiled = kernel("survivors")
    if compiled is not None:
        weights, values = compiled(*map(np.ascontiguousarray, (weights, values, children, found)), size)
        return weights, values[..., 0]
    better = found <= values
    return _best(np.where(better[..., np.newaxis], children, weights), np.where(better, found, values), size)


def _best(weights: Floats, values: Floats, size: int) -> tuple[Floats, Floats]:
    """The `size` best of each population, sorted by value."""
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
    """One round of refinement for weights (T, S, M) with values (T, S).

    `moved` is the last step of each mixture, `lengths` (T, S, 2 n, 1) those of the exchanges and of the gradient steps.
    """
    m, n_steps = weights.shape[-1], lengths.shape[2] // 2
    here = weights[:, :, np.newaxis]
    exchanged = _exchanges(weights, lengths[:, :, :n_steps], generator)
    probes = here + PROBE * (np.eye(m) - here)
    found = _values(objective, np.concatenate([probes, exchanged], axis=2))
    direction = _downhill(found[..., :m], values)[:, :, np.newaxis]
    momentum = 1.5 * generator.random((*weights.shape[:2], n_steps, 1))
    momentum[:, :, ::2] = 0.0  # half of the gradient steps have no momentum
    down = onto_simplex(here + lengths[:, :, n_steps:] * direction + momentum * moved[:, :, np.newaxis])
    tried = np.concatenate([exchanged, down], axis=2)
    found = np.concatenate([found[..., m:], _values(objective, down)], axis=2)
    best = found.argmin(axis=-1)[..., np.newaxis]
    least = np.take_along_axis(found, best, axis=-1)[..., 0]
    there = np.take_along_axis(tried, best[..., np.newaxis], axis=2)[:, :, 0]
    better = (least < values)[..., np.newaxis]
    return np.where(better, there, weights), np.minimum(values, least), np.where(better, there - weights, moved / 2)


def _lengths(r: int, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
    """Random step lengths of round r, log-uniform between FINER^(r + 1) and FINER^(r / 2)."""
    return FINER ** (r / 2 + (r / 2 + 1) * generator.random(shape))


def _downhill(probed: Floats, values: Floats) -> Floats:
    """Unit direction of steepest descent from difference quotients towards each member, (T, S, M), or 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = (probed - values[..., np.newaxis]) / PROBE
        slopes -= slopes.mean(axis=-1, keepdims=True)
        direction = -slopes / np.maximum(np.linalg.norm(slopes, axis=-1, keepdims=True), 1e-300)
    return np.nan_to_num(direction, nan=0.0, posinf=0.0, neginf=0.0)


def _exchanges(weights: Floats, amounts: Floats, generator: np.random.Generator) -> Floats:
    """Random exchanges of weight between two members, (T, S, M) -> (T, S, n, M).

    In every second exchange, the member that receives has positive weight already, if there is one: zeros then stay zero.
    """
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
    """Values of mixtures (T, S, P, M) as (T, S, P)."""
    t, s, p, m = weights.shape
    return _defined(objective.own(weights.reshape(t, s * p, m))).reshape(t, s, p)


def _defined(values: Floats) -> Floats:
    """Replace undefined values by infinity, so that any defined value is better."""
    return np.where(np.isnan(values), np.inf, values)
