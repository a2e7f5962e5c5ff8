"""Which models are shown to have a lower mean E than which others, for all pairs and all λ at once: one family of tests.

Ranks at one λ, their p-values, ranges of λ, the choice and every claim on an order read this family, so that none can
contradict another. Three questions have an α each:

* Which of two models has the lower mean E? Adjusted by Bonferroni for the pairs of models.
* Is a model better than every yardstick, and so worth using? Yardsticks are the baselines, but saying nothing where no model
  has a set. By Bonferroni for the models.
* Is a baseline better than a model, or some baseline better than every model? By Bonferroni for the pairs.

Along λ each claim is adjusted by fixed sequences of tests, see `Paths`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.evidence.data import Judged
from uqassay.evidence.mistakes import compare_rankings, scores_of
from uqassay.evidence.pair_tests import (
    OF_THE_MEAN,
    compare_pairs,
    compare_with_one,
    loss_lines,
    mean_metrics,
    pair_tests,
    pair_tests_at,
)
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import Note
from uqassay.statistics import Estimate, PairwiseComparisons, RankSets, rank_sets, shaffer, shaffer_factor
from uqassay.statistics.spreads import snap

__all__ = [
    "FARTHEST",
    "GREATEST_USUAL",
    "GRID",
    "MEAN_E",
    "Order",
    "Paths",
    "Range",
    "difference_in",
    "inwards",
    "limit",
    "loss_name",
    "order_of",
    "rank_sets_at",
    "rank_sets_of",
]


# λ, and ranges of it.

FARTHEST = 1e6  # stands for λ = ∞
GREATEST_USUAL = 2.0  # λ, with KL
STEPS = [round(float(x), 4) for x in np.geomspace(0.01, 10, 25)]
GRID = tuple(sorted({0.0, DEFAULT_TRADEOFF, GREATEST_USUAL, *STEPS, 30.0, 100.0, 1e3, FARTHEST}))
HALVINGS = 12
DECIMALS, LEAST = 3, 1e-3  # of an end of a range in words: a smaller λ is not told from 0


class Range(NamedTuple):
    """A range of λ and the greatest p-value found in it; `high` is infinite from `FARTHEST` on."""

    low: float
    high: float
    pvalue: float


def limit(tradeoff: float) -> float:
    """λ, infinite from `FARTHEST` on."""
    return float("inf") if tradeoff >= FARTHEST else tradeoff


def inwards(low: float, high: float) -> tuple[float, float]:
    """A range of λ with ends of two decimals, or three below 0.1, that lie inside it; the range itself if it is too short.

    What holds at every λ above 0 holds from `LEAST` on in words.

    Examples
    --------
    >>> inwards(0.2418, float("inf")), inwards(0.0, 0.1972), inwards(0.0123, 0.0187), inwards(0.501, 0.503)
    ((0.25, inf), (0.0, 0.19), (0.013, 0.018), (0.501, 0.503))
    >>> inwards(2.4e-6, 2.0)
    (0.001, 2.0)
    """
    first, last = _rounded(low, np.ceil), _rounded(high, np.floor)
    return (first, last) if first <= last else (low, high)


def _rounded(tradeoff: float, towards: Callable[[float], float]) -> float:
    if tradeoff == 0 or np.isinf(tradeoff):
        return tradeoff
    decimals = 2 if tradeoff >= 0.1 else min(DECIMALS, 1 - int(np.floor(np.log10(tradeoff))))
    exact = round(tradeoff, decimals)
    if abs(exact - tradeoff) <= 1e-9 * tradeoff:
        return exact
    return float(round(float(towards(tradeoff * 10**decimals)) / 10**decimals, decimals))


# Claims along λ: fixed sequences of tests, outwards from anchors.

Evaluated = Callable[[Floats, NDArray[np.intp]], Floats]  # λ (Q,) and places of claims (Q,) → their p-values


@final
class Paths:
    """p-values of P claims, each of which may hold at some λ, adjusted for all λ.

    From an anchor, the tests go outwards to the first that fails. If a claim is false somewhere, the nearest λ at which it is
    false has to be rejected before anything beyond it can be claimed, so that one direction needs no adjustment for the number
    of λ. The difference of two lines has one zero, so that for a pair of models both directions together need none either: a
    wrong sign at the anchor and a step across the zero each have one tail of a two-sided test. Several anchors share α.

    Parameters
    ----------
    pvalues : array (G, P)
        At the λ of `GRID`: of the claims' tests, 1 where the data speak against a claim.
    anchors : dict of float to float or array (P,)
        Where the sequences begin, each with the factor that adjusts its p-values; α over the factor is its share.
    between : bool
        Whether what holds at two λ holds between them, as it does where differences are linear in λ.
    """

    def __init__(self, pvalues: Floats, anchors: Mapping[float, "float | Floats"], *, between: bool = True) -> None:
        self._between, self._sequences = between, list[tuple[int, Floats, Floats]]()
        own = np.full(pvalues.shape, np.inf)
        for anchor, factor in anchors.items():
            start = GRID.index(anchor)
            down = np.maximum.accumulate(pvalues[start::-1])[::-1]
            greatest = np.concatenate(
                [down, np.maximum.accumulate(pvalues[start:])[1:]]
            )  # between the anchor and each λ
            factors = np.broadcast_to(np.asarray(factor, dtype=np.float64), pvalues.shape[1:])
            self._sequences.append((start, factors, greatest))
            own = np.minimum(own, factors * greatest)
        self._before = np.minimum.accumulate(own)
        self._after = np.minimum.accumulate(own[::-1])[::-1]
        #: At the λ of `GRID`, (G, P).
        self.adjusted = np.minimum(1.0, np.maximum(self._before, self._after) if between else own)

    def at(self, tradeoffs: Floats, pvalues: Floats, claims: NDArray[np.intp]) -> Floats:
        """Adjusted p-values of some of the claims, each at a λ and with its p-value there, (Q,) each."""
        t = np.minimum(tradeoffs, FARTHEST)
        right = np.searchsorted(GRID, t)
        on_grid = np.asarray(GRID)[right] == t
        left = np.maximum(right - 1, 0)
        own = np.full(t.shape, np.inf)
        for start, factors, greatest in self._sequences:
            towards = np.where(start <= left, left, right)
            own = np.minimum(own, factors[claims] * np.maximum(greatest[towards, claims], pvalues))
        if self._between:
            own = np.maximum(np.minimum(self._before[left, claims], own), np.minimum(self._after[right, claims], own))
        return np.where(on_grid, self.adjusted[right, claims], np.minimum(1.0, own))

    def ranges(self, alpha: float, evaluated: Evaluated, claims: Sequence[int]) -> list[tuple[Range, ...]]:
        """The λ at which each of some claims is shown, from below; their ends are found by halving all at once."""
        found: list[list[list[float]]] = [[] for _ in claims]
        ends: list[
            tuple[list[float], int, int, int, int]
        ] = []  # a range, which end of it, the claim, λ that pass and fail
        for ranges, k in zip(found, claims, strict=True):
            shown = np.flatnonzero(self.adjusted[:, k] <= alpha)
            for run in np.split(shown, np.flatnonzero(np.diff(shown) > 1) + 1) if shown.size else ():
                first, last = int(run[0]), int(run[-1])
                one = [GRID[first], GRID[last], float(self.adjusted[first : last + 1, k].max())]
                ranges.append(one)
                ends += [(one, 0, k, first, first - 1)] if first > 0 else []
                ends += [(one, 1, k, last, last + 1)] if last + 1 < len(GRID) else []
        if ends:
            at = np.array([k for _, _, k, _, _ in ends], dtype=np.intp)
            passed, failed = np.array([[GRID[i], GRID[beyond]] for *_, i, beyond in ends]).T
            last_p = np.array([self.adjusted[i, k] for _, _, k, i, _ in ends])
            for _ in range(HALVINGS):
                with np.errstate(divide="ignore"):
                    middle = np.where(passed * failed > 0, np.sqrt(passed * failed), (passed + failed) / 2)
                p = self.at(middle, evaluated(middle, at), at)
                passes = p <= alpha
                passed, failed = np.where(passes, middle, passed), np.where(passes, failed, middle)
                last_p = np.where(passes, p, last_p)
            for (one, side, *_), end, p_end in zip(ends, passed.tolist(), last_p.tolist(), strict=True):
                one[side], one[2] = end, max(one[2], p_end)
        return [tuple(Range(low, limit(high), p) for low, high, p in ranges) for ranges in found]


# The family of tests of an assay.

# shares of α: a reader who has no λ in mind asks for the default one
AT_THE_DEFAULT, AT_THE_ENDS = 0.8, 0.1
WORTH_ANCHORS = (DEFAULT_TRADEOFF, GREATEST_USUAL)
NONE_ANCHORS = (0.0, FARTHEST)
DEFAULT = GRID.index(DEFAULT_TRADEOFF)


def lower(difference: Floats, pvalue: Floats, *, alone: bool = False) -> Floats:
    """p-values of the claims that the first mean is the lower one: 1 where it is not, or without a test.

    0 where the other is infinite: an infinite loss that has occurred makes the true mean infinite; but 1 if there is one unit
    `alone`, from which nothing is told.
    """
    with np.errstate(invalid="ignore"):
        tested = np.where((difference < 0) & ~np.isnan(pvalue), pvalue, 1.0)
        return np.where(np.isneginf(difference), 1.0 if alone else 0.0, tested)


def _alike(a: ModelScores, b: ModelScores) -> bool:
    """Whether the non-specificities of two models agree in every instance and run."""
    of_a, of_b = a.columns["nonspecificity"], b.columns["nonspecificity"]
    if not np.array_equal(a.order_deviations, b.order_deviations):
        return False
    pair = [[of_a.mean(axis=0)], [of_b.mean(axis=0)]]
    snap(pair)
    varies = any((of != of[:1]).any() for of in (of_a, of_b))  # between runs
    return pair[0][0] is pair[1][0] or (np.array_equal(*pair[0], *pair[1]) and not varies)


def order_of(assay: Judged) -> "Order":
    """That of an assay, kept in `Assay.shared`; that of a subgroup is kept there before, see `subgroups`."""
    found = assay.shared.noted("order")
    if found is None:
        found = Order(assay)
        assay.shared.note("order", found)
    return found


@final
class Order:
    """All claims on the order of mean E of J models and B baselines.

    Parameters
    ----------
    assay : Assay
    families : int
        Of how many assays, such as those of subgroups, all claims hold together: p-values are adjusted for them by Bonferroni.

    Notes
    -----
    Where the non-specificities of two models agree in every instance, as those of single distributions do, the difference of
    their E does not depend on λ, and no λ counts. If all agree, the pairs are adjusted by Shaffer's procedure, as for other
    metrics.
    """

    def __init__(self, assay: Judged, *, families: int = 1) -> None:
        self._assay, self._alpha, self._families = assay, 1 - assay.settings.level, families
        self._lower = partial(lower, alone=assay.n_units == 1)
        self.models = assay.model_names
        self.baselines = tuple(m.name for m in assay.models if m.baseline)
        #: Whether some model has a set, so that E depends on λ.
        self.priced = any(m.columns["nonspecificity"].any() for m in assay.candidates)
        # where no model can be vague, saying nothing is no alternative
        self.yardsticks = tuple(n for n in self.baselines if self.priced or n != "vacuous") or self.baselines
        j = len(self.models)
        self._ordered = [(one, other) for one in range(j) for other in range(j) if one != other]
        self._place = {pair: k for k, pair in enumerate(self._ordered)}
        self._pairs, self._alike = self._of_models(j)
        self._ranges: dict[str, list[tuple[Range, ...]]] = {}

    @cached_property
    def _of_baselines(self) -> tuple[Floats, Floats]:
        """At the λ of `GRID` the p-values that each model is better than each baseline, and worse, (G, J, B)."""
        better, worse = (np.ones((len(GRID), len(self.models), len(self.baselines))) for _ in range(2))
        for k, name in enumerate(self.baselines):
            d, p = compare_with_one(self._assay, name, self.models, GRID, lines=loss_lines(self._assay))
            better[..., k], worse[..., k] = self._lower(d, p), self._lower(-d, p)
        return better, worse

    @cached_property
    def _worth(self) -> Paths:
        factor = float(len(WORTH_ANCHORS) * len(self.models) * self._families)
        return Paths(self._of_baselines[0].reshape(len(GRID), -1), dict.fromkeys(WORTH_ANCHORS, factor))

    @cached_property
    def _below(self) -> Paths:
        factor = float(len(self.models) * len(self.baselines) * self._families)
        return Paths(self._of_baselines[1].reshape(len(GRID), -1), {DEFAULT_TRADEOFF: factor})

    @cached_property
    def _none(self) -> Paths:
        # every model has to be worse than some baseline, so that no adjustment for their number is due; the baseline may be
        # another one for each model: two one-sided tests of a model, by Bonferroni, have the p-value of one two-sided test
        factor = len(NONE_ANCHORS) * max(len(self.baselines), 2) / 2 * self._families
        counted = np.isin(self.baselines, self.yardsticks)
        every = self._of_baselines[1][..., counted].min(axis=-1, initial=1.0).max(axis=-1)
        return Paths(every[:, np.newaxis], dict.fromkeys(NONE_ANCHORS, factor), between=False)

    def _of_models(self, j: int) -> tuple[Paths, NDArray[np.bool_]]:
        """The claims on ordered pairs of models, and which pairs do not depend on λ (J, J)."""
        assay, m = self._assay, self._families * j * (j - 1) / 2
        alike = np.array([[_alike(a, b) for b in assay.candidates] for a in assay.candidates]).reshape(j, j)
        first, second = np.triu_indices(j, 1)
        difference, p = (np.zeros((len(GRID), j, j)) for _ in range(2))
        for of, grid in ((alike, GRID[DEFAULT : DEFAULT + 1]), (~alike, GRID)):
            chosen = of[first, second]
            if chosen.any():
                a, b = first[chosen], second[chosen]
                d, found = compare_pairs(assay, self._names(a), self._names(b), np.array(grid)[:, np.newaxis])
                difference[:, a, b], difference[:, b, a], p[:, a, b], p[:, b, a] = d, -d, found, found
        a, b = np.array(self._ordered, dtype=np.intp).reshape(-1, 2).T
        at_the_default, at_the_ends = (np.where(alike[a, b], m, m / share) for share in (AT_THE_DEFAULT, AT_THE_ENDS))
        self._factors = np.ones((j, j))
        self._factors[a, b] = at_the_default
        if j > 1 and alike.all():
            np.fill_diagonal(p[DEFAULT], np.nan)
            self._factors[:] = self._families * shaffer_factor(p[DEFAULT], self._alpha / self._families)
            p[:], at_the_default, at_the_ends = self._shaffer(p[DEFAULT]), np.ones(a.size), np.ones(a.size)
        anchors = {DEFAULT_TRADEOFF: at_the_default, 0.0: at_the_ends, FARTHEST: at_the_ends}
        return Paths(self._lower(difference, p)[:, a, b], anchors), alike

    def _shaffer(self, pvalues: Floats) -> Floats:
        return np.minimum(1.0, self._families * shaffer(pvalues))

    def better_at_default(self, one: str, other: str) -> float:
        """Adjusted p-value of the claim that a model is better than another at the default λ, as in `comparisons`."""
        a, b = (self.models.index(name) for name in (one, other))
        return float(self._pairs.adjusted[DEFAULT, self._place[a, b]])

    # -- at one λ

    def comparisons(self, tradeoffs: Sequence[float]) -> list[PairwiseComparisons]:
        """Tests of all pairs of models and baselines at each of several λ, adjusted for all pairs and all λ."""
        names = (*self.models, *self.baselines)
        tests = pair_tests_at(self._assay, names, tradeoffs, references=self.baselines, adjust=self._at_the_default)
        return [self._adjusted(one, float(t)) for one, t in zip(tests, tradeoffs, strict=True)]

    def _at_the_default(self, pvalues: Floats) -> Floats:
        """Adjusted as at the default λ, by which the obstacles of a pair are told."""
        j = len(self.models)
        table = pvalues * float(len(WORTH_ANCHORS) * j * self._families)
        of_models = pvalues[:j, :j]
        table[:j, :j] = self._shaffer(of_models) if j > 1 and self._alike.all() else of_models * self._factors
        return np.minimum(1.0, table)

    def _adjusted(self, tests: PairwiseComparisons, tradeoff: float) -> PairwiseComparisons:
        j, b = len(self.models), len(self.baselines)
        p = self._lower(tests.difference, tests.pvalue)
        table = np.full(p.shape, np.nan)
        if self._ordered:
            first, second = np.array(self._ordered, dtype=np.intp).T
            own = p[first, second]
            flat = self._alike[first, second]
            own[flat] = 0.0  # told by the default λ, which stands in the paths
            table[first, second] = self._pairs.at(np.full(own.shape, tradeoff), own, np.arange(own.size))
        claims = np.arange(j * b)
        at = np.full(claims.shape, tradeoff)
        table[:j, j:] = self._worth.at(at, p[:j, j:].ravel(), claims).reshape(j, b)
        worse = p[j:, :j].T  # (J, B)
        below = self._below.at(at, worse.ravel(), claims).reshape(j, b)
        if b:
            of_yardsticks = np.where(np.isin(self.baselines, self.yardsticks), worse, 2.0)
            every, none = np.zeros(1, dtype=np.intp), of_yardsticks.min(axis=1).max(keepdims=True)
            most = of_yardsticks.argmin(axis=1)
            below[np.arange(j), most] = np.minimum(below[np.arange(j), most], self._none.at(at[:1], none, every))
        table[j:, :j] = below.T
        # of a pair the claim that the data speak for; without a test there is none, but where a mean is infinite
        with np.errstate(invalid="ignore"):
            decided = np.where(tests.difference < 0, table, np.where(tests.difference > 0, table.T, 1.0))
        untested = np.isnan(tests.pvalue) & ~(np.isinf(tests.difference) & (self._assay.n_units > 1))
        adjusted = np.where(untested, np.nan, decided)
        return replace(tests, adjusted=adjusted, limited_by=np.where(adjusted <= self._alpha, "", tests.limited_by))

    def level_of(self, one: str, other: str) -> float:
        """The level at which a pair of models is tested at the default λ; that of the assay where one is a baseline."""
        if one not in self.models or other not in self.models:
            return self._alpha
        a, b = (self.models.index(name) for name in (one, other))
        return self._alpha / float(self._factors[a, b])

    # -- ranges of λ

    def better(self, one: str, other: str) -> Range | None:
        """Where one model is shown to be better than another."""
        a, b = (self.models.index(name) for name in (one, other))
        found = self._known("pairs", self._pairs, self._pairs_at, range(len(self._ordered)))[self._place[a, b]]
        return found[0] if found else None

    def worth(self, model: str, *, guard: bool = True) -> Range | None:
        """Where a model is better than every yardstick; without `guard`, as far as losses that have occurred tell."""
        j, b = self.models.index(model), len(self.baselines)
        mine = range(j * b, (j + 1) * b)
        each = self._known(f"worth {j}", self._worth, self._worth_at, mine) if guard else self._unguarded(model)
        each = [found for name, found in zip(self.baselines, each, strict=True) if name in self.yardsticks]
        if not each:
            return Range(0.0, float("inf"), float("nan"))  # of an assay without baselines
        if not all(each):
            return None
        low, high = max(one[0].low for one in each), min(one[0].high for one in each)
        return Range(low, high, max(one[0].pvalue for one in each)) if low < high else None

    def none(self) -> tuple[Range, ...]:
        """Where every model is worse than some baseline."""
        return self._known("none", self._none, self._none_at, range(1))[0]

    def _known(self, kind: str, paths: Paths, evaluated: Evaluated, claims: range) -> list[tuple[Range, ...]]:
        if kind not in self._ranges:
            self._ranges[kind] = paths.ranges(self._alpha, evaluated, claims)
        return self._ranges[kind]

    def _pairs_at(self, tradeoffs: Floats, claims: NDArray[np.intp]) -> Floats:
        a, b = np.array(self._ordered, dtype=np.intp)[claims].T
        found = compare_pairs(self._assay, self._names(a), self._names(b), tradeoffs)
        return np.where(self._alike[a, b], 0.0, self._lower(*found))

    def _names(self, places: NDArray[np.intp]) -> list[str]:
        return [self.models[k] for k in places.tolist()]

    def _worth_at(self, tradeoffs: Floats, claims: NDArray[np.intp], *, guard: bool = True) -> Floats:
        found = np.empty(claims.size)
        for k, (t, (j, b)) in enumerate(
            zip(tradeoffs, zip(*divmod(claims, len(self.baselines)), strict=True), strict=True)
        ):
            lines, name = loss_lines(self._assay), self.baselines[b]
            d, p = compare_with_one(self._assay, name, [self.models[j]], [t], lines=lines, guard=guard)
            found[k] = self._lower(d, p)[0, 0]
        return found

    def _none_at(self, tradeoffs: Floats, claims: NDArray[np.intp]) -> Floats:
        lines = loss_lines(self._assay)
        each = [compare_with_one(self._assay, name, self.models, tradeoffs, lines=lines) for name in self.yardsticks]
        return np.min([self._lower(-d, p) for d, p in each], axis=0).max(axis=-1)

    def _unguarded(self, model: str) -> list[tuple[Range, ...]]:
        j, b, lines = self.models.index(model), len(self.baselines), loss_lines(self._assay)
        each = [compare_with_one(self._assay, name, [model], GRID, lines=lines, guard=False) for name in self.baselines]
        factor = float(len(WORTH_ANCHORS) * len(self.models) * self._families)
        shown = np.concatenate([self._lower(d, p) for d, p in each], axis=1)
        paths = Paths(shown, dict.fromkeys(WORTH_ANCHORS, factor))
        return paths.ranges(self._alpha, lambda t, k: self._worth_at(t, j * b + k, guard=False), range(b))


TELLING = (1e-100, 0.999)  # p-values from which a standard error follows
BESIDE = 1e-9  # relative: an interval that would end at 0 ends this far on the side that the tests tell


def difference_in(assay: Judged, tests: PairwiseComparisons, one: str, other: str, most: Sequence[float]) -> Estimate:
    """The value of one model or baseline minus that of another, with an interval that agrees with the tests of all pairs.

    Student's interval at the level of the adjusted test. Its end towards 0 is the test-based limit (Miettinen 1976),
    d (1 − t(α p/p*)/t(p)), where p is the guarded p-value of the pair, p* the adjusted one, and t(p) Student's quantile of two
    sides. So the interval excludes 0 where p* ≤ α, and nowhere else.

    Parameters
    ----------
    assay : Assay
    tests : PairwiseComparisons
        Of `RankSets.comparisons`.
    one, other : str
    most : two floats
        No mean of the first is above that of the second by more than `most[0]`, none of the second above the first by more than
        `most[1]`.
    """
    n, level = assay.n_instances, tests.level
    if one == other:
        return Estimate(0.0, low=0.0, high=0.0, level=level, n=n, method="student-t")
    i, j = tests.names.index(one), tests.names.index(other)
    d, p, adjusted = (float(table[i, j]) for table in (tests.difference, tests.pvalue, tests.adjusted))
    plain = float(tests.high[i, j] - tests.low[i, j]) / 2
    notes = (*tests.notes, Note("no-width", "all differences are equal")) if plain == 0 else tests.notes
    low = high = float("nan")
    if np.isfinite(d) and not np.isnan(p + adjusted):
        near, far = _reach(d, p, adjusted, plain, 1 - level, assay.n_units - 1, len(tests.names))
        low, high = (d - near, d + far) if d > 0 else (d - far, d + near)
        low, high = max(low, -most[1]), min(high, most[0])
    return Estimate(d, low=low, high=high, level=level, n=n, method="student-t", notes=notes)


def _reach(
    d: float, p: float, adjusted: float, plain: float, alpha: float, dof: int, n_models: int
) -> tuple[float, float]:
    """How far an interval reaches from the difference towards 0, and the other way."""

    def t(p: float) -> float:
        return float(-stdtrit(dof, p / 2))

    least, greatest = TELLING
    telling = least < p < greatest and d != 0 and adjusted > 0
    share = alpha * p / adjusted if telling else alpha / max(1, n_models * (n_models - 1) / 2)
    far = plain * t(share) / t(alpha)
    near = max(far, abs(d) * t(share) / t(p)) if telling else far
    if adjusted <= alpha:
        return min(near, abs(d) * (1 - BESIDE)), far
    return max(near, abs(d) * (1 + BESIDE)), far


MEAN_E = "mean E"


def loss_name(assay: Judged) -> str:
    """The name of what is compared: mean E, or of models without sets the distance."""
    if order_of(assay).priced:
        return MEAN_E
    by_label = {"kl": "log loss", "brier": "Brier score"} if assay.labels.ndim == 1 else {}
    return by_label.get(assay.settings.distance, assay.settings.distance_entry.heading)


# Rank sets of the models of an assay, by E and by other metrics.


def rank_sets_of(assay: Judged, tradeoff: float, metric: str, score: str | None) -> RankSets:
    """Rank sets of the models; see `Assay.rank_sets`."""
    check_tradeoff(tradeoff)
    metric = metric_name(metric)
    if metric in tuple(RANKING_METRICS):  # which compares and does not hash, so that a list is refused below
        return assay.shared.once(("rank-sets", metric, score), lambda: _of_ranking_metric(assay, metric, score))
    known = mean_metrics(assay)
    if metric not in known:
        rule = f"must be one of {', '.join((*known, *RANKING_METRICS))}"
        fail("metric", rule, f"got {metric!r}", "choose one of them", code="choice")
    if score is not None:
        remedy = f"leave it out, or choose one of {', '.join(RANKING_METRICS)}"
        fail("score", f"has no effect on {metric!r}", f"got {score!r}", remedy, code="conflict")
    if metric == "unified":
        (found,) = rank_sets_at(assay, [tradeoff])
        return found
    return assay.shared.once(("rank-sets", metric), lambda: _of_mean(assay, metric))


def rank_sets_at(assay: Judged, tradeoffs: Sequence[float]) -> list[RankSets]:
    """Rank sets of the models by their mean E at each of several λ; see `Assay.rank_sets`."""
    order = order_of(assay)
    return assay.shared.each(
        "rank-sets", [float(t) for t in tradeoffs], lambda missing: map(rank_sets, order.comparisons(missing))
    )


def _of_mean(assay: Judged, metric: str) -> RankSets:
    models = [m for m in assay.models if not (m.name == "vacuous" and m.baseline and metric in OF_THE_MEAN)]
    models = [m for m in models if m.has(metric)]  # answers without a confidence
    references = [m.name for m in models if m.baseline]
    tests = pair_tests(assay, [m.name for m in models], metric, references=references)
    # an infinite loss that has occurred makes the true mean infinite; from one unit alone nothing is told
    told = np.isinf(tests.difference) & (assay.n_units > 1)
    comparisons = replace(tests, adjusted=np.where(told, 0.0, tests.adjusted))
    return rank_sets(comparisons, greater_is_better=metric == "accuracy")


def _of_ranking_metric(assay: Judged, metric: str, score: str | None) -> RankSets:
    if score is None:
        fail("score", f"is needed for {metric!r}", "got none", "write score='total-entropy'", code="missing")
    having = [m.name for m in assay.candidates if score in scores_of(m, assay)]
    if not having:
        known = dict.fromkeys(name for m in assay.candidates for name in scores_of(m, assay))
        fail("score", f"must be one of {', '.join(known)}", f"got {score!r}", "choose one of them", code="choice")
    found = compare_rankings(assay, [(name, score) for name in having], metric=metric, names=having)
    return rank_sets(found, greater_is_better=RANKING_METRICS[metric].higher_is_better)
