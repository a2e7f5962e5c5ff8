"""Is any mixture of an ensemble's members calibrated? The test and its four nulls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, RandomState
from uqassay.arrays import generator as as_generator
from uqassay.calibration.mixtures import (
    MixtureObjective,
    Mixtures,
    SharedMembers,
    hard_labels,
    independence,
    shared_members,
)
from uqassay.calibration.nulls import (
    ENOUGH,
    check_alpha,
    draws_before_stop,
    least_reaching,
    monte_carlo_pvalue,
    null_threshold,
    random_mixture_null,
    smallest_pvalue,
    steps_reached,
)
from uqassay.calibration.one_classifier import (
    ONE_SIDE,
    UPPER_ALONE,
    ShownVerdict,
    is_off,
    numbers_of_test,
    property_of,
    statistic_and_null,
    undefined_notes,
    unseen_notes,
)
from uqassay.calibration.search import (
    QUICK,
    THOROUGH,
    SimplexSearch,
    check_search,
    minimise_over_simplex,
    search_simplex,
)
from uqassay.calibration.weights import log_loss_weights, predictive_weights
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, Sides, calibration_measure
from uqassay.native import single_blas_thread
from uqassay.notes import Note
from uqassay.results import Plain, ShownTable
from uqassay.statistics.units import check_draws
from uqassay.text import counted, pvalue_text

__all__ = [
    "BETA",
    "CredalCalibrationTest",
    "credal_calibration_test",
    "credal_calibration_tests",
]


# Labels drawn from one mixture, and the least value of a measure over all mixtures for each draw of them.

Labels = NDArray[np.intp]

FIRST_DRAWS = 19  # which a sequential test searches to the end, for the standard deviation of the null
STEP = 20  # further draws at a time


class NullAtMixture(NamedTuple):
    """Result for labels drawn from one λ."""

    truth: Floats  #: (M,): this λ
    statistic: float  #: least value for the observed labels
    weights: Floats  #: (M,): its weights
    null: Floats  #: (D,): least values for the draws
    pvalue: float
    deviation: float  #: standard deviation of the null, of a sequential test that of its first 19 draws


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


# The mixture of the fewest members that explains the labels nearly as well as the most likely mixture does.
#
# If one member alone is the truth, the estimated λ lies off this corner of the simplex, because no weight can be
# negative. Labels drawn there can be less random than those of the member, and their minimised measures too small. A
# null hypothesis that is also tested at the corner or face that the labels do not contradict corrects this.

CONTRADICTED = 0.9  # members are kept if a likelihood-ratio test at this confidence needs them; more costs power inside


def fewest_members(members: Floats, labels: NDArray[np.intp], confidence: float = CONTRADICTED) -> Floats | None:
    """Weights (M,) of the most likely mixture of as few members as the labels allow.

    From the most likely mixture, the member with the least weight is left out and the others are fitted again, as long as
    twice the loss in log-likelihood stays below the quantile of χ² with as many degrees of freedom as members with a weight
    were left out. This is the distribution of the likelihood ratio given the face on which the most likely mixture lies
    (Shapiro 1988).

    `members` (n, M, K), `labels` (n,), and the confidence of the likelihood-ratio test. None if every member is needed, or no
    member gives any label a positive probability.

    References
    ----------
    Shapiro (1988), Towards a unified theory of inequality constrained testing in multivariate analysis.

    Examples
    --------
    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 40)
    >>> fewest_members(members, np.array([0] * 34 + [1] * 6)).tolist()  # the most likely weights are .93 and .07
    [1.0, 0.0]
    >>> print(fewest_members(members, np.array([0] * 22 + [1] * 18)))
    None
    """
    m = members.shape[1]
    given = np.take_along_axis(members, labels[:, np.newaxis, np.newaxis], axis=2)
    possible = given.max(axis=(1, 2)) > 0
    if m == 1 or not possible.any():
        return None
    members, labels = members[possible], labels[possible]
    found, least, _ = log_loss_weights(members, labels)
    kept = np.flatnonzero(found)
    n_likely, shares = len(kept), found[kept]
    while len(kept) > 1:
        rest = np.delete(kept, shares.argmin())
        shares, loss, _ = log_loss_weights(members[:, rest], labels)
        ratio = 2 * len(labels) * (loss - least)  # inf if a label becomes impossible
        if not ratio <= special.chdtri(n_likely - len(rest), 1 - confidence):
            break
        found = np.zeros(m)
        found[rest] = shares
        kept, shares = rest[shares > 0], shares[shares > 0]
    return found if np.count_nonzero(found) < m else None


# Likely mixtures of members and the labels drawn from them, which tests of the same labels by several measures share.


class Start(NamedTuple):
    """Weights (M,) that predict unseen labels, and two seeds: one for draws of labels, one for searches."""

    weights: Floats
    seeds: NDArray[np.int64]


@final
class LikelyMixtures:
    """Mixtures that are likely given labels (n,), each computed at the first request.

    Every test by another measure asks with a generator in the same state, so it gets what it would compute itself.

    Examples
    --------
    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 40)
    >>> likely = LikelyMixtures(members, np.array([0] * 36 + [1] * 4))
    >>> one, other = (likely.start(np.random.default_rng(0)) for _ in range(2))
    >>> one.weights.round(2).tolist(), one is other
    ([1.0, 0.0], True)
    """

    def __init__(self, members: Floats, labels: Labels) -> None:
        self.members, self.labels = members, labels
        self._starts: list[tuple[Any, Start, Any]] = []  # state of a generator before, what it gave, its state after
        self._drawn: dict[tuple[bytes, int, int], Labels] = {}

    @cached_property
    def mixtures(self) -> Mixtures:
        """The members (n, M, K), in a layout for many mixtures."""
        return Mixtures(self.members)

    def start(self, generator: np.random.Generator) -> Start:
        """Two seeds and the weights of `predictive_weights`; the generator moves on as if they were computed anew."""
        before = generator.bit_generator.state
        for state, start, after in self._starts:
            if _same(state, before):
                generator.bit_generator.state = after
                return start
        seeds = generator.integers(2**63, size=2)
        start = Start(predictive_weights(self.members, self.labels, generator), seeds)
        self._starts.append((before, start, generator.bit_generator.state))
        return start

    @cached_property
    def fewest(self) -> Floats | None:
        """Weights (M,) of `fewest_members`."""
        return fewest_members(self.members, self.labels)

    def drawn(self, weights: Floats, n_draws: int, seed: np.int64) -> Labels:
        """Labels (D, n) drawn from the mixture with these weights; they must not be changed."""
        key = (weights.tobytes(), n_draws, int(seed))
        if key not in self._drawn:
            self._drawn[key] = drawn_labels(self.mixtures, weights, n_draws, seed)
        return self._drawn[key]


def _same(one: Any, other: Any) -> bool:
    """Whether two states of generators, mappings of numbers and arrays, are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other))


# A confidence region for the mixture weights λ, exact for every number of instances.
#
# For any prior π, the ratio of the marginal likelihood ∫ L dπ to the likelihood L(λ0) of the truth has expectation 1,
# so it exceeds 1/β with probability at most β (Markov). The set of λ with L(λ) ≥ β ∫ L dπ therefore contains the true λ
# with probability at least 1 − β. The argument needs only the expectation, so an unbiased estimate may replace the
# integral.

PRIOR = 0.5  # Dir(½, …, ½) puts mass near the faces of the simplex, where the most likely λ often lies
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # concentrations of the proposals around the best λ, as shares of n
N_POINTS = 300  # points drawn from each proposal
BISECTIONS = 30
CHUNK = 2**21  # numbers in one block of the largest array


@final
@dataclass(frozen=True, eq=False)
class LikelihoodRegion:
    """The set of λ with log-likelihood of at least `threshold`. It is convex because the log-likelihood is concave."""

    given: Floats  #: (n, M): probability that each member gave to the label of each instance
    best: Floats  #: (M,): the most likely λ
    threshold: float  #: ln ∫ L dπ − ln(1/β), in nats; −inf where no mixture gives every label a positive probability

    def log_likelihood(self, weights: Floats) -> Floats:
        """Σ ln p_λ(y), (L, M) -> (L,), in nats."""
        return _log_likelihood(self.given, weights)

    def contains(self, weights: Floats) -> NDArray[np.bool_]:
        """Whether λ lies in the region, (L, M) -> (L,)."""
        return self.log_likelihood(weights) >= self.threshold

    def towards(self, targets: Floats) -> Floats:
        """Point where the segment from the most likely λ to each target leaves the region, (L, M) -> (L, M)."""
        low, high = np.zeros(len(targets)), np.ones(len(targets))
        low[self.contains(targets)] = 1.0
        # p_λ(y) is linear along the segment, so the products with `given` are needed only at its two ends.
        from_best, to = self.given @ self.best, targets @ self.given.T  # (n,), (L, n)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            share = middle[:, np.newaxis]
            inside = _log_sum((1 - share) * from_best + share * to) >= self.threshold
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return self.best + low[:, np.newaxis] * (targets - self.best)


def likelihood_region(given: Floats, best: Floats, beta: float, generator: np.random.Generator) -> LikelihoodRegion:
    """Region that contains the true λ with probability at least 1 − β if the labels come from p_λ.

    `given` (n, M) are the probabilities that each member gave to the observed label, and `best` (M,) is the most likely λ
    (`log_loss_weights`); any other λ gives a valid but larger region. The generator serves the estimate of ∫ L dπ.

    References
    ----------
    Wasserman, Ramdas, Balakrishnan (2020), Universal inference. Robbins (1970), Statistical methods related to the law of
    the iterated logarithm.

    Examples
    --------
    >>> given = np.tile([0.8, 0.2], (50, 1))  # 50 labels, each four times as likely under member 0
    >>> region = likelihood_region(given, np.array([1.0, 0.0]), 0.001, np.random.default_rng(0))
    >>> region.contains(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [True, False]
    """
    threshold = _log_marginal(given, best, generator) - np.log(1 / beta)
    return LikelihoodRegion(given, best, float(threshold))


def _log_marginal(given: Floats, best: Floats, generator: np.random.Generator) -> Floats:
    """Logarithm of an unbiased estimate of ∫ L dπ, from draws of π and of Dirichlets around the best λ."""
    n, m = given.shape
    alphas = np.array([np.full(m, PRIOR), *(PRIOR + share * n * best for share in SHARES)])  # (P, M)
    points = np.concatenate([generator.dirichlet(alpha, N_POINTS) for alpha in alphas])
    points = np.maximum(points, 1e-300)
    logs = np.log(points) @ (alphas - 1).T + special.gammaln(alphas.sum(axis=1)) - special.gammaln(alphas).sum(axis=1)
    # Importance sampling from the equal mixture of all proposals: π itself is one of them, so no ratio π / q exceeds P.
    proposal = special.logsumexp(logs, axis=1) - np.log(len(alphas))
    return special.logsumexp(_log_likelihood(given, points) + logs[:, 0] - proposal) - np.log(len(points))


def _log_likelihood(given: Floats, weights: Floats) -> Floats:
    step = max(1, CHUNK // len(given))
    parts = [_log_sum(weights[i : i + step] @ given.T) for i in range(0, len(weights), step)]
    return np.concatenate(parts)


def _log_sum(probs: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(probs).sum(axis=-1)


# Berger-Boos p-value: the maximum over candidates from a confidence set of mixture weights.
#
# Under the null hypothesis some unknown λ0 is true, and the distribution of the minimised measure depends on it. The
# maximum of the p-value over a region that contains λ0 with probability 1 − β, plus β, would keep the level for every
# λ0. This module approximates the maximum by a few λ of that region with large p-values; λ between them are not tried.

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


# The test as in the code of the authors of credal calibration, which differs from the paper; for comparison.
#
# λ0 comes from Dir(1/M, …, 1/M) instead of the uniform distribution. Instances are permuted instead of resampled. |t|
# is compared with the quantile of the signed null draws. SciPy's COBYLA minimises from λ = 1/M.


def paper_code_measure(measure: CalibrationMeasure) -> CalibrationMeasure:
    """The authors' variant of a built-in measure, with the same number of bins; any other measure is returned unchanged."""
    variant = CALIBRATION_MEASURES.get(f"{measure.name}-paper-code")
    if variant is None:
        return measure
    usual = calibration_measure(measure.name)
    if None not in (measure.n_bins, usual.n_bins):
        usual, variant = (calibration_measure(m, n_bins=measure.n_bins) for m in (usual, variant))
    return variant if measure.prepare == usual.prepare else measure  # a user's measure may have a built-in name


def quantile_pvalue(statistic: float, null: Floats) -> float:
    """The least α for which t exceeds the linearly interpolated (1 − α)-quantile; nan if undefined."""
    if np.isnan(statistic) or np.isnan(null).any():
        return float("nan")
    ordered = np.sort(null)
    smaller = int(np.searchsorted(ordered, statistic))  # draws equal to t do not count: t must exceed the quantile
    if smaller in (0, len(null)):
        return 0.0 if smaller else 1.0
    below, above = ordered[smaller - 1 : smaller + 1].tolist()
    share = (statistic - below) / (above - below) if np.isfinite(above) else 0.0
    return float(1.0 - (smaller - 1 + share) / (len(null) - 1))


def cobyla_minimum(objective: MixtureObjective) -> tuple[float, Floats, int]:
    """Minimum over λ of one draw of labels by SciPy's COBYLA from λ = 1/M: value, final λ, number of evaluations.

    Default tolerances and no projection: λ can lie slightly outside the simplex.
    """
    from scipy.optimize import minimize

    m = objective.mixtures.n_members
    if m == 1:
        return float(objective.shared(np.ones((1, 1)))[0, 0]), np.ones(1), 1
    constraints = [
        {"type": "ineq", "fun": lambda weights: weights},
        {"type": "ineq", "fun": lambda weights: 1.0 - weights},
        {"type": "ineq", "fun": lambda weights: weights.sum() - 1.0},
        {"type": "ineq", "fun": lambda weights: 1.0 - weights.sum()},
    ]

    def value_at(weights: Floats) -> float:
        return float(objective.shared(np.asarray(weights)[np.newaxis])[0, 0])

    found = minimize(value_at, np.full(m, 1 / m), method="COBYLA", constraints=constraints)
    weights = np.asarray(found.x, dtype=np.float64)
    # The value is computed again, because COBYLA reports infinite and undefined values as 1e30.
    return value_at(weights), weights, int(found.nfev)


# The statistic, null draws and p-value of the credal calibration test, one function for each null.
#
# Of several members the p-value is always the upper one, also for the Brier score and the log loss, which test a single
# member on both sides. A least score below its null says that some mixture is underconfident, but another one may be
# calibrated. With the null of the paper on credal calibration, whose draws are not minimised, the least score even of a
# calibrated mixture lies below them.

BETA = 0.001  # probability that the confidence region of the Berger-Boos form misses the truth
SAME = 1e-3  # greatest difference of weights at which labels from two λ count as the same
N_REPEATS = 2  # further searches for the observed labels; the spread of their minima shows how reliable the search is


@final
@dataclass(frozen=True, eq=False)
class LeastError:
    """The least value over λ with its p-value."""

    statistic: float
    pvalue: float
    weights: Floats  #: (M,): the λ that has the least value
    null: Floats  #: (D,): null draws
    spread: float  #: range of the minima of independent searches, in standard deviations of the null; nan after a single search
    evaluations: int  #: number of mixtures evaluated


def authors_code(
    labels: Labels, mixtures: Mixtures, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> LeastError:
    """Algorithm 1 with the choices in the code of the authors of credal calibration.

    The p-value is the least α for which |t| exceeds the (1 − α)-quantile of the null draws, linearly interpolated.
    """
    m = mixtures.n_members
    null = random_mixture_null(
        mixtures, generator.dirichlet(np.full(m, 1 / m), n_draws), measure, generator, instances="permuted"
    )
    value, weights, evaluations = cobyla_minimum(MixtureObjective(mixtures, labels[np.newaxis], measure))
    return LeastError(value, quantile_pvalue(abs(value), null), weights, null, math.nan, evaluations)


def random_null(
    objective: MixtureObjective,
    n_draws: int,
    resample: bool,
    search: SimplexSearch,
    generator: np.random.Generator,
) -> LeastError:
    """The null of the paper on credal calibration: labels are drawn from random mixtures, and nothing is minimised."""
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


# Result of the credal calibration test.


@final
@dataclass(frozen=True, eq=False, repr=False)
class CredalCalibrationTest(ShownVerdict, Plain):
    """Result of `credal_calibration_test`."""

    _plain: ClassVar = (
        "measure notion statistic pvalue weights null null_kind convention n_instances n_members "
        "n_classes noun n_draws planned_draws smallest_pvalue sides search_spread evaluations width "
        "notes"
    )

    #: name of the measure, and the notion of calibration that it tests: "confidence", "classwise" or "strong"
    measure: str
    notion: str
    statistic: float  #: least value of the measure over all mixtures, for the observed labels
    pvalue: float  #: small if no mixture is calibrated; nan if undefined, see `notes`
    weights: Floats  #: (M,): the λ that has the least value
    #: (D,): the statistic under the null hypothesis; for "minimised", "sequential" and "berger-boos" at the λ with the greatest
    #: p-value, for "sequential" upper bounds of most values below the statistic
    null: Floats
    #: "minimised", "sequential", "random", "berger-boos" or "single": Source of the null draws; "single" for one member, where
    #: nothing is minimised
    null_kind: str
    convention: str  #: "exact" or "paper-code"
    n_instances: int
    n_members: int
    n_classes: int
    noun: str  #: the distributions that are mixed: "members" or "vertices"
    #: range of the minima that independent searches found for the observed labels, divided by the standard deviation of the
    #: null. inf if that deviation is 0 or undefined and the minima differ; nan after a single search, or without a minimum.
    search_spread: float
    evaluations: int  #: number of mixtures that all searches evaluated
    width: float  #: mean over instances and classes of the upper minus the lower probability of the credal set
    notes: tuple[Note, ...] = ()  #: what limits the result
    #: "upper" or "both": Whether small values of the statistic count against calibration as well; "both" only for one member
    #: and a score
    sides: Sides = "upper"
    planned_draws: int | None = None  #: draws D that a sequential test makes at most; None where all are made

    @property
    def n_draws(self) -> int:
        """Number of null draws made; D, or fewer in a sequential test."""
        return len(self.null)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that D draws can reach: 1 / (D + 1), twice that with two sides; with "berger-boos" plus .001."""
        return 0.0 if self.convention == "paper-code" else smallest_pvalue(self._most_draws, self.sides) + self._offset

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that some mixture is calibrated. An undefined p-value never rejects."""
        if self.convention == "paper-code":
            return bool(abs(self.statistic) > self.threshold(alpha))
        check_alpha(alpha, self._most_draws, offset=self._offset, sides=self.sides)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """Critical value: the test rejects if the statistic exceeds it (in the authors' code, if its absolute value does).

        With two sides it is the upper one of the two critical values.
        """
        if self.convention == "paper-code":
            check_alpha(alpha, 2**62)
            return float(np.quantile(self.null, 1 - alpha))
        if self.planned_draws is not None:
            rule = "must be one whose draws are all made and searched to the end, for a critical value"
            fail("null", rule, "got 'sequential'", 'test with null="minimised"', code="conflict")
        return null_threshold(self.null, alpha if self.sides == "upper" else alpha / 2, offset=self._offset)

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what = property_of(self.notion)
        p = f"{pvalue_text(self.pvalue)}{independence(self.notes)}"
        one_side = ONE_SIDE if UPPER_ALONE in self.notes else ""
        one = self.n_members == 1
        if math.isnan(self.pvalue):
            who = "the classifier" if one else f"some mixture of the {self.noun}"
            return f"Whether {who} has the right {what} is undefined."
        if self.smallest_pvalue > alpha + 1e-12:
            return f"{self._most_draws} draws are too few to tell at this level whether a mixture has the right {what} ({p})."
        if self.reject(alpha):
            none = f"No mixture of the {self.n_members} {self.noun} has the right {what}"
            return f"{is_off(self.notion, 'the classifier') if one else none} ({p})."
        if one:
            return f"The test could not tell the classifier from one with the right {what} ({p})."
        top = int(self.weights.argmax())
        return (
            f"The {self.n_members} {self.noun} can be weighted so that the test could not tell their mixture from one with "
            f"the right {what} ({p}; greatest weight {self.weights[top]:.2f}, on number {top}){one_side}."
        )

    def _shown_title(self) -> str:
        on = f"{counted(self.n_instances, 'case')} of {counted(self.n_classes, 'class', 'classes')}"
        return f"Credal calibration test of {self.n_members} {self.noun} by {self.measure} on {on}"

    def _shown_table(self) -> ShownTable:
        return numbers_of_test(self.statistic, self.pvalue, self.n_draws)

    @property
    def _most_draws(self) -> int:
        return self.n_draws if self.planned_draws is None else self.planned_draws

    @property
    def _offset(self) -> float:
        return BETA if self.null_kind == "berger-boos" else 0.0


# Is some convex combination of an ensemble's members calibrated? The credal calibration test.

Null = Literal["minimised", "sequential", "random", "berger-boos"]
NULLS = get_args(Null)
Convention = Literal["exact", "paper-code"]

UNSETTLED = 1.0  # search spread, in standard deviations of the null, above which a note is added


@in_one_order("members", "y_true")
def credal_calibration_test(
    y_true: ArrayLike,
    members: Any,
    *,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    null: Null = "minimised",
    n_draws: int = 99,
    resample: bool = False,
    convention: Convention = "exact",
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CredalCalibrationTest:
    """Test whether some mixture p_λ = Σ λ_m p_m of the members, one λ for all instances, is calibrated.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    members : Members, Vertices, Intervals, Masses, Point, or array (n, M, K)
        The distributions to mix. Intervals and masses are represented by the 2K vertices that take one class first or last:
        only these have an index with the same meaning in every instance. A single member gives `calibration_test`. Rows
        stored in low precision are divided by their sum.
    measure : str or CalibrationMeasure
        Any of `CALIBRATION_MEASURES`. The least Brier score or log loss of several members is tested on the upper side only,
        whether every mixture scores worse than its probabilities predict, so mixtures that are all underconfident are not
        found; a single member is tested on both sides.
    null : {"minimised", "sequential", "random", "berger-boos"}
        Null distribution of the least value over λ. "random" is the paper's: labels are drawn from a random λ0 and the
        measure is computed at that λ0. Nothing is minimised there, so on average over λ0 it rejects far less often than α,
        and at some λ0 far more often.
        "minimised": labels are drawn from one λ that is likely given the data (`predictive_weights`), and the same search
        minimises the measure again for every draw. If that p-value is at most .5, labels are also drawn from the most likely
        mixture of as few members as the labels do not contradict (`fewest_members`), and the greater p-value counts: near a
        corner of the simplex the first λ alone rejects too often.
        "sequential": the same, but the draws end once a tenth of D has reached the statistic, and a draw is searched no
        further than until it falls below the statistic. p-values up to .1 are those of "minimised", greater ones those of
        Besag and Clifford (1991), and the test takes less than half the time. `null` then holds the draws made, with upper
        bounds for most of those below the statistic, so there is no `threshold`.
        "berger-boos": the greatest such p-value over at most six candidates, plus .001. The candidates are the most likely
        λ and five of 20 to 50 λ in a confidence set of level .999; the five have the greatest p-values in a quick search.
        The maximum over the whole set would keep the level for every true λ. This null costs power and time.
    n_draws : int
        Null draws D; the p-value is (1 + the number of draws that reach the statistic) / (D + 1).
    resample : bool
        Draw instances with replacement in the null (line 2 of the printed algorithm; only with null="random"). Repeated
        instances leave more bins empty. Measures that depend on thinly filled bins are then smaller than in the data, and
        the p-values too small.
    convention : {"exact", "paper-code"}
        "paper-code", with null="random", follows the authors' code: λ0 from Dir(1/M), permuted instances, |t| compared with
        the quantile of the draws, COBYLA from λ = 1/M, and the authors' variants of the measures.
    search : SimplexSearch, optional
        Effort of the search: `QUICK`, `THOROUGH`, `PATIENT` or a `SimplexSearch` of your own. For ten members these evaluate
        about 600 to 1,500, 1,200 to 6,000 and 9,000 to 35,000 mixtures, more if the members agree, because a mixture is then
        cheaper. The default is `THOROUGH` for the single minimum of null="random", otherwise `QUICK`. A single member needs
        no search; the authors' code has its own.
    rng : int, Generator or None
        None means seed 0.

    References
    ----------
    Credal calibration, algorithm 1. Berger, Boos (1994), P values maximized over a confidence set for the nuisance parameter.
    Besag, Clifford (1991), Sequential Monte Carlo p-values.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> members = rng.dirichlet([1.0, 1.0, 1.0], (200, 2))
    >>> labels = np.array([rng.choice(3, p=p) for p in members[:, 0]])
    >>> test = credal_calibration_test(labels, members)
    >>> test.reject(), test.n_draws
    (False, 99)
    >>> credal_calibration_test((labels + 1) % 3, members).sentence()
    'No mixture of the 2 members has the right confidence (p = .01).'
    """
    return credal_calibration_tests(
        y_true,
        members,
        measures=[measure],
        null=null,
        n_draws=n_draws,
        resample=resample,
        convention=convention,
        search=search,
        rng=rng,
    )[0]


@in_one_order("members", "y_true")
def credal_calibration_tests(
    y_true: ArrayLike,
    members: Any,
    *,
    measures: Sequence[str | CalibrationMeasure],
    null: Null = "minimised",
    n_draws: int = 99,
    resample: bool = False,
    convention: Convention = "exact",
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> list[CredalCalibrationTest]:
    """`credal_calibration_test` by several measures, each from the same random numbers; they share what needs no measure.

    The results are those of separate tests.
    """
    one_of(null, "null", NULLS)
    one_of(convention, "convention", ("exact", "paper-code"))
    check_draws(n_draws)
    check_search(search)
    _check_together(null, resample, convention, search)
    chosen = [calibration_measure(measure) for measure in measures]
    if convention == "paper-code":
        chosen = [paper_code_measure(measure) for measure in chosen]
    shared = shared_members(members)
    labels = hard_labels(y_true, shared.probs.shape[0], shared.probs.shape[2], members=members)
    likely = LikelyMixtures(shared.probs, labels)
    generator = as_generator(rng)
    state = generator.bit_generator.state
    tests = []
    for one in chosen:
        generator.bit_generator.state = state
        tests.append(_tested(likely, shared, one, generator, null, n_draws, resample, convention, search))
    return tests


@single_blas_thread()
def _tested(
    likely: LikelyMixtures,
    shared: SharedMembers,
    chosen: CalibrationMeasure,
    generator: np.random.Generator,
    null: Null,
    n_draws: int,
    resample: bool,
    convention: Convention,
    search: SimplexSearch | None,
) -> CredalCalibrationTest:
    labels, (n, m, n_classes) = likely.labels, shared.probs.shape
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        if convention == "paper-code":
            found = authors_code(labels, likely.mixtures, chosen, n_draws, generator)
        elif m == 1:  # nothing is minimised, and scores are tested on both sides
            value, draws = statistic_and_null(labels, shared.probs[:, 0], chosen, n_draws, resample, generator)
            pvalue = monte_carlo_pvalue(value, draws, chosen.sides)
            found = LeastError(value, pvalue, np.ones(1), draws, 0.0, 1)
        else:
            objective = MixtureObjective(likely.mixtures, labels[np.newaxis], chosen)
            if objective.undefined():
                found = LeastError(math.nan, math.nan, np.full(m, math.nan), np.full(n_draws, math.nan), math.nan, 1)
            elif null == "random":
                found = random_null(objective, n_draws, resample, search or THOROUGH, generator)
            else:
                found = minimised_null(likely, objective, null, n_draws, search or QUICK, generator)
    notes = [*undefined_notes(found.statistic, found.pvalue, n), *shared.notes]
    notes += unseen_notes(chosen, shared.probs.mean(axis=1), m if convention == "exact" else 1)
    if found.spread > UNSETTLED:
        finite = math.isfinite(found.spread)
        known = f"known to about {found.spread:.2g} standard deviations of its null" if finite else "known roughly"
        text = f"the least value is {known}, so the test may miss a miscalibration"
        notes.append(Note("not-settled", text, {"spread": found.spread}))
        notes.append(Note("option", "repeat the test with search=PATIENT, which finds the least value more surely"))
    return CredalCalibrationTest(
        measure=chosen.name,
        notion=chosen.notion,
        statistic=found.statistic,
        pvalue=found.pvalue,
        weights=found.weights,
        null=found.null,
        null_kind="single" if m == 1 and convention == "exact" else null,
        convention=convention,
        n_instances=n,
        n_members=m,
        n_classes=n_classes,
        noun=shared.noun,
        search_spread=found.spread,
        evaluations=found.evaluations,
        width=shared.width,
        notes=tuple(notes),
        sides=chosen.sides if m == 1 and convention == "exact" else "upper",
        planned_draws=n_draws if null == "sequential" and m > 1 else None,
    )


def _check_together(null: str, resample: bool, convention: str, search: SimplexSearch | None) -> None:
    if convention == "paper-code" and (null != "random" or resample):
        got = f"got null={null!r}" if null != "random" else "got resample=True"
        rule = "the authors' code has only the null of a random mixture, with permuted instances"
        fail("convention", rule, got, 'pass null="random" and resample=False', code="conflict")
    if convention == "paper-code" and search is not None:
        rule = "cannot be set with the authors' code, which searches by COBYLA from λ = 1/M"
        fail("search", rule, f"got {search!r}", "leave it out", code="conflict")
    if resample and null != "random":
        fail(
            "resample",
            "instances are resampled only under the paper's null",
            f"got null={null!r}",
            'pass null="random", or resample=False, which keeps the level',
            code="conflict",
            facts={"null": null},
        )
