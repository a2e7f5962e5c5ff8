"""Claims: what may be said about the models of an assay, as data, before it is put into words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.arrays import Floats
from uqassay.credal.distances import DISTANCES
from uqassay.evidence.calibration import calibration_claims
from uqassay.evidence.data import one_run
from uqassay.evidence.findings import loss_estimate
from uqassay.evidence.mistakes import METRIC, reference_score, refusal
from uqassay.evidence.ranking import (
    LossLines,
    Ranked,
    cases_of,
    compare_with_one,
    greatest_excess,
    loss_lines,
    margin_test_at,
    rests_on_inputs,
)
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.results import row_of, spread
from uqassay.statistics import Estimate, holm, paired_mean_test

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "CLAIM_COLUMNS",
    "FARTHEST",
    "GREATEST_USUAL",
    "GRID",
    "KINDS",
    "SUBGROUP_VALUES",
    "Claim",
    "Range",
    "TestsAgainst",
    "anchored",
    "better_ranges",
    "better_than_baselines",
    "choices",
    "claims_of",
    "group_claims",
    "input_claims",
    "inwards",
    "limit",
    "no_model_ranges",
    "not_calibrated_claims",
    "part_claims",
    "refusal_claims",
    "same_models",
]


# A claim: what may be said about the models of an assay, as data, before it is put into words.

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "top-group": "no model is shown to be better than `models`, and `others` cannot be told from them",
        "best": "`models` is the best of all models at one λ",
        "worse": "`models` is worse than `others` on a range of λ",
        "no-worse": "`models` is no worse than any other model, such as `others`, by more than the margin",
        "same": "`models` and `others` have the same losses in every instance",
        "model-better": "`models` is better than every baseline on a range of λ",
        "baseline-better": "each of `models` is worse than some of the baselines `others` on a range of λ",
        "subgroup": "`models` is better than the overall winner in a part of the test set",
        "refusal": "refusing the most uncertain instances raises the accuracy of `models`",
        "backward-score": "an uncertainty of `models` is lower where the model is wrong",
        "wider-better": "`models` would have a lower E if its sets were wider, which is no knowledge",
        "not-calibrated": "`models` is not calibrated",
        "cannot-tell": "what the test set leaves open, and why",
    }
)


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """One thing that may be said about the models of an assay."""

    kind: str  #: One of `KINDS`.
    #: models, others: Subject and object, see `KINDS`.
    models: tuple[str, ...]
    others: tuple[str, ...] = ()
    #: low, high: Range of λ in which the claim holds, of which `high` may be infinite; both are the same for a single
    #: λ, and nan if the claim does not depend on λ.
    low: float = float("nan")
    high: float = float("nan")
    metric: str = "unified"  #: "unified" for E; else the metric or score.
    #: The number that the claim is about, such as a difference of means, with its interval.
    estimate: Estimate | None = None
    #: Adjusted p-value of the claim, over its whole range the greatest; nan if there is no test.
    pvalue: float = float("nan")
    #: What limits the claim: "skewness", "unseen" losses, huge losses of whole "groups" or on other "inputs", the "margin",
    #: one of the "units", "infinite" means, what "refusal" gains, or "".
    limited_by: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)  #: Further numbers and names, by the kind of claim.

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain values, the interval spread out."""
        return {
            **row_of(self, "kind", "models", "others", "low", "high", "metric"),
            **spread("estimate", self.estimate),
            "level": None if self.estimate is None else self.estimate.level,
            **row_of(self, "pvalue", "limited_by"),
            "facts": dict(self.facts),
        }


# Claims on the order of models and baselines at the default λ, from the tests of all pairs.

BOUNDED = ("brier", "accuracy")  # metrics that one more instance cannot change much


def order_claims(assay: "Assay") -> tuple[Claim, ...]:
    """What can be told at the default λ: the winner and its rivals, models with the same losses, and the baselines."""
    rows = assay.ranked(DEFAULT_TRADEOFF)
    ranked = [r for r in rows if r.rank is not None]
    winner, rivals = ranked[0], ranked[1:]
    claims = list(same_models(assay))
    same = {
        name for claim in claims for name in claim.models + claim.others if winner.model in claim.models + claim.others
    }
    rivals = [r for r in rivals if r.model not in same]
    if ranked[1:]:
        claims += _rivals(assay, winner, rivals, sorted(same - {winner.model}))
    claims += _against_baselines(assay, ranked)
    return tuple(claims)


def same_models(assay: "Assay") -> tuple[Claim, ...]:
    """Groups of models whose distance and non-specificity are the same in every instance."""
    groups: list[list[str]] = []
    columns = {m.name: np.stack([m.columns[key] for key in ("distance", "nonspecificity")]) for m in assay.candidates}
    for name, values in columns.items():
        home = next((g for g in groups if np.array_equal(columns[g[0]], values)), None)
        if home is None:
            groups.append([name])
        else:
            home.append(name)
    n = assay.n_instances
    return tuple(Claim("same", (g[0],), tuple(g[1:]), facts={"instances": n}) for g in groups if len(g) > 1)


def _rivals(assay: "Assay", winner: Ranked, rivals: Sequence[Ranked], same: Sequence[str]) -> list[Claim]:
    """The winner against the models that are not the same as it."""
    at, alpha = DEFAULT_TRADEOFF, 1 - assay.settings.level
    finite = [r for r in rivals if not np.isposinf(float(r.estimate))]
    infinite = tuple(r.model for r in rivals if np.isposinf(float(r.estimate)))
    claims = []
    if infinite:
        claims.append(Claim("worse", infinite, (winner.model,), at, at, pvalue=0.0, limited_by="infinite"))
    worse = [r for r in finite if r.pvalue_adjusted <= alpha]
    # the rank set decides, so that "the best" never stands beside ranks 1 to 2
    if winner.rank_high == 1:
        p = max(r.pvalue_adjusted for r in worse)
        claims.append(_claim("best", winner, tuple(r.model for r in rivals), _among_all(assay, winner), p))
    claims += [_claim("worse", r, (winner.model,), r.difference, r.pvalue_adjusted) for r in worse]
    told = {r.model for r in worse}
    level_with = [r for r in finite if r.model not in told]
    if winner.rank_high != 1:
        least = min((r.pvalue_adjusted for r in level_with), default=np.nan)
        names = (*same, *(r.model for r in level_with))
        facts: dict[str, Any] = {
            "pvalues": {r.model: r.pvalue_adjusted for r in level_with},
            "detectable": {r.model: r.detectable for r in level_with},
        }
        claims.append(_claim("top-group", winner, names, _among_all(assay, winner), least, facts))
    claims += _limits(assay, winner, level_with)
    within = [r for r in finite if r.pvalue_no_worse <= alpha]
    told_by = {"margin": assay.settings.margin}
    claims += [_claim("no-worse", r, (winner.model,), r.difference, r.pvalue_no_worse, told_by) for r in within]
    if assay.settings.margin is not None and assay.n_units > 1:
        claims += [_beyond_margin(assay, r, winner, assay.settings.margin) for r in finite if r not in within]
    return claims


def _beyond_margin(assay: "Assay", r: Ranked, winner: Ranked, margin: float) -> Claim:
    """A rival that is not shown to be no worse than the winner by more than the margin, with the interval that tells."""
    at, test = DEFAULT_TRADEOFF, margin_test_at(assay, r.model, winner.model, DEFAULT_TRADEOFF, margin)
    found = Claim(
        "cannot-tell",
        (r.model,),
        (winner.model,),
        at,
        at,
        estimate=test.difference,
        pvalue=r.pvalue_no_worse,
        limited_by="margin",
        facts={"margin": margin},
    )
    return found


def _claim(
    kind: str, r: Ranked, others: tuple[str, ...], estimate: Estimate, p: float, facts: Mapping[str, Any] | None = None
) -> Claim:
    at = DEFAULT_TRADEOFF
    return Claim(kind, (r.model,), others, at, at, estimate=estimate, pvalue=float(p), facts=facts or {})


def _among_all(assay: "Assay", winner: Ranked) -> Estimate:
    """The winner's mean E with an interval for the choice among all models: its own misses too often (Bonferroni)."""
    level = 1 - (1 - assay.settings.level) / len(assay.candidates)
    wider = replace(assay, settings=replace(assay.settings, level=level))
    return loss_estimate(wider, assay[winner.model], one_run(assay.loss(winner.model)), DEFAULT_TRADEOFF)


def _limits(assay: "Assay", winner: Ranked, level_with: Sequence[Ranked]) -> list[Claim]:
    """Why rivals cannot be told from the winner, where more than chance alone is the reason."""
    at, claims = DEFAULT_TRADEOFF, []
    if assay.n_units == 1:
        return [Claim("cannot-tell", (winner.model,), tuple(r.model for r in level_with), at, at, limited_by="units")]
    for why in ("unseen", "skewness"):
        mine = tuple(r.model for r in level_with if r.limited_by == why)
        if not mine:
            continue
        facts = {"instances": assay.n_instances, "distance": assay.settings.distance}
        if why == "unseen":
            facts["bounded"] = {metric: _bounded(assay, metric) for metric in BOUNDED}
        claims.append(Claim("cannot-tell", (winner.model,), mine, at, at, limited_by=why, facts=facts))
    return claims


def _bounded(assay: "Assay", metric: str) -> dict[str, list[str]]:
    """The top group by a bounded loss, and the other models."""
    ranks = assay.rank_sets(metric=metric)
    order = np.argsort(-ranks.values if ranks.greater_is_better else ranks.values, kind="stable")
    names = [ranks.names[int(j)] for j in order]
    return {"top": [n for n in names if n in ranks.top_names], "rest": [n for n in names if n not in ranks.top_names]}


def _against_baselines(assay: "Assay", ranked: Sequence[Ranked]) -> list[Claim]:
    """Models that are worse than a baseline at the default λ."""
    at, alpha, ranks = DEFAULT_TRADEOFF, 1 - assay.settings.level, assay.rank_sets(DEFAULT_TRADEOFF)
    found, names = ranks.comparisons, ranks.comparisons.names
    claims = []
    for r in ranked:
        j = names.index(r.model)
        for baseline in r.below:
            b = names.index(baseline)
            p = 0.0 if np.isposinf(float(r.estimate)) else float(found.adjusted[j, b])
            if p <= alpha:
                low, high = float(found.low[j, b]), float(found.high[j, b])
                value = float(found.difference[j, b])
                level, n = assay.settings.level, assay.n_instances
                difference = Estimate(value, low=low, high=high, level=level, n=n, method="student-t")
                claims.append(Claim("baseline-better", (r.model,), (baseline,), at, at, estimate=difference, pvalue=p))
    return claims


# Ranges of λ in which one model is shown to be better than others: fixed sequences of tests, outwards from anchors.


FARTHEST = 1e6  # stands for λ = ∞
GREATEST_USUAL = 2.0  # λ, with KL
STEPS = [round(float(x), 4) for x in np.geomspace(0.01, 10, 25)]
GRID = tuple(sorted({0.0, DEFAULT_TRADEOFF, GREATEST_USUAL, *STEPS, 30.0, 100.0, 1e3, FARTHEST}))
HALVINGS = 8


class Range(NamedTuple):
    """A range of λ and the greatest p-value found in it."""

    low: float
    high: float
    pvalue: float


class TestsAgainst:
    """Paired tests of the mean E of one model against each of several others, at any λ.

    Parameters
    ----------
    assay : Assay
    one : str
    others : sequence of str
    rows : bool array (n,), optional
        The instances, by default all.
    guard : bool
        Whether losses that have not been seen count, see `statistics.pairwise_mean_tests`.
    grid : sequence of float
        λ that are looked at together.
    """

    __test__ = False  # no test class for pytest

    def __init__(
        self,
        assay: "Assay",
        one: str,
        others: Sequence[str],
        *,
        rows: ArrayLike | None = None,
        guard: bool = True,
        grid: Sequence[float] = (),
    ) -> None:
        self.one, self.others, self.guard, self._grid = one, tuple(others), guard, tuple(grid)
        self._assay = assay
        self._lines = loss_lines(assay) if rows is None else LossLines(assay, np.asarray(rows))
        self._known: dict[float, tuple[Floats, Floats]] = {}

    def at(self, tradeoff: float) -> tuple[Floats, Floats]:
        """Mean E of the others minus that of the one, and two-sided p-values, not adjusted, ``(J,)``; nan without a test."""
        if tradeoff not in self._known:
            several = self._grid if tradeoff in self._grid else (tradeoff,)
            found = compare_with_one(self._assay, self.one, self.others, several, lines=self._lines, guard=self.guard)
            self._known |= zip(several, zip(*found, strict=True), strict=True)
        return self._known[tradeoff]

    def better(self, tradeoff: float) -> Floats:
        """p-value of each other for the claim that the one model is better: 1 where its mean is not lower, ``(J,)``.

        0 for an infinite mean of the other: an infinite loss that has occurred makes the true mean infinite.
        """
        difference, p = self.at(tradeoff)
        return np.where(np.isposinf(difference), 0.0, np.where((difference > 0) & ~np.isnan(p), p, 1.0))

    def worse(self, tradeoff: float) -> Floats:
        """p-value of each other for the claim that the one model is worse, ``(J,)``."""
        difference, p = self.at(tradeoff)
        return np.where(np.isneginf(difference), 0.0, np.where((difference < 0) & ~np.isnan(p), p, 1.0))


def anchored(
    pvalue: Callable[[float], float],
    anchors: Iterable[float],
    alpha: float,
    *,
    grid: Sequence[float] = GRID,
    halvings: int = HALVINGS,
) -> tuple[Range, ...]:
    """Ranges of λ around the anchors in which a p-value stays at or below alpha.

    Parameters
    ----------
    pvalue : callable
        The p-value of a claim at one λ, for everything that it has to be adjusted for.
    anchors : iterable of float
        Where the sequences of tests begin; among `grid`.
    alpha : float
    grid : sequence of float
        λ that are looked at, sorted.
    halvings : int
        Steps by which the end is found between the last λ that passes and the first that does not; 0: the last that passes.

    Returns
    -------
    tuple of Range
        Without overlap, from below.

    Notes
    -----
    From an anchor, the tests go outwards to the first that fails. If the claim is false somewhere, the nearest λ at which it
    is false has to be rejected before anything beyond it can be claimed. So one direction needs no adjustment for the number
    of λ. The difference of two lines has one zero, so that for a pair of models both directions together need none either: a
    wrong sign at the anchor and a step across the zero each have one tail of a two-sided test. Several anchors share alpha.
    """
    found = []
    for anchor in anchors:
        start = grid.index(anchor)
        if pvalue(anchor) > alpha:
            continue
        low, high = (_end(pvalue, alpha, grid[start::step], halvings) for step in (-1, 1))
        inside = [t for t in grid if low <= t <= high] + [low, high]
        found.append(Range(low, high, max(pvalue(t) for t in inside)))
    return joined(found)


def _end(pvalue: Callable[[float], float], alpha: float, ahead: Sequence[float], halvings: int) -> float:
    """The last λ that passes, of a sequence whose first does."""
    failing = next((i for i, t in enumerate(ahead) if pvalue(t) > alpha), None)
    if failing is None:
        return ahead[-1]
    passed, failed = ahead[failing - 1], ahead[failing]
    for _ in range(halvings):
        middle = (passed + failed) / 2
        if pvalue(middle) <= alpha:
            passed = middle
        else:
            failed = middle
    return passed


def joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Ranges without overlap, from below.

    Examples
    --------
    >>> joined([Range(0.5, 2.0, 0.01), Range(0.0, 0.1, 0.02), Range(1.0, 3.0, 0.03)])
    (Range(low=0.0, high=0.1, pvalue=0.02), Range(low=0.5, high=3.0, pvalue=0.03))
    """
    found: list[Range] = []
    for one in sorted(ranges):
        if found and one.low <= found[-1].high:
            last = found.pop()
            one = Range(last.low, max(last.high, one.high), max(last.pvalue, one.pvalue))
        found.append(one)
    return tuple(found)


def limit(tradeoff: float) -> float:
    """λ, infinite from `FARTHEST` on."""
    return float("inf") if tradeoff >= FARTHEST else tradeoff


def inwards(low: float, high: float) -> tuple[float, float]:
    """A range of λ with ends that have two decimals or two digits, and lie inside it; the range itself if it is too short.

    Examples
    --------
    >>> inwards(0.2418, float("inf")), inwards(0.0, 0.1972), inwards(0.0123, 0.0187), inwards(0.501, 0.503)
    ((0.25, inf), (0.0, 0.19), (0.013, 0.018), (0.501, 0.503))
    """
    first, last = _rounded(low, np.ceil), _rounded(high, np.floor)
    return (first, last) if first <= last else (low, high)


def _rounded(tradeoff: float, towards: Callable[[float], float]) -> float:
    if tradeoff == 0 or np.isinf(tradeoff):
        return tradeoff
    decimals = 2 if tradeoff >= 0.1 else 1 - int(np.floor(np.log10(tradeoff)))
    exact = round(tradeoff, decimals)
    if abs(exact - tradeoff) <= 1e-9 * tradeoff:
        return exact
    return float(round(float(towards(tradeoff * 10**decimals)) / 10**decimals, decimals))


# Where in λ a model is worth using: better than every baseline; and where none is.

ANCHORS_OF_A_MODEL = (DEFAULT_TRADEOFF, GREATEST_USUAL)
ANCHORS_OF_NO_MODEL = (0.0, FARTHEST)


def better_than_baselines(assay: "Assay", model: str, *, guard: bool = True) -> tuple[Range, ...]:
    """Ranges of λ in which a model is better than every baseline; without `guard`, as far as losses that occurred tell.

    The p-value is the greatest against any baseline, times the number of models, as the model may have been chosen by these
    data, times two for the two anchors, the default λ and λ = 2.
    """
    tests = TestsAgainst(assay, model, _baselines(assay), guard=guard, grid=GRID)
    factor = len(ANCHORS_OF_A_MODEL) * len(assay.candidates)
    return anchored(lambda t: _times(factor, float(tests.better(t).max())), ANCHORS_OF_A_MODEL, _alpha(assay))


def no_model_ranges(assay: "Assay") -> tuple[Range, ...]:
    """Ranges of λ in which every model is worse than some baseline, from 0 upwards and from λ → ∞ downwards.

    All models have to be worse, so that no adjustment for their number is due. The baseline may be another one for each
    model: two one-sided tests of a model, adjusted by Bonferroni, have the p-value of one two-sided test. With more baselines
    it grows in proportion.
    """
    baselines = _baselines(assay)
    tests = [TestsAgainst(assay, name, assay.model_names, grid=GRID) for name in baselines]
    factor = len(ANCHORS_OF_NO_MODEL) * max(len(baselines), 2) / 2

    def pvalue(tradeoff: float) -> float:
        least = np.min([t.better(tradeoff) for t in tests], axis=0)  # (J,)
        return _times(factor, float(least.max()))

    return anchored(pvalue, ANCHORS_OF_NO_MODEL, _alpha(assay))


def worth_claims(assay: "Assay") -> tuple[Claim, ...]:
    """Claims that no model is worth using in some range of λ."""
    baselines = _baselines(assay)
    d, ns = (
        np.array([m.columns[key].mean() for m in assay.models if m.baseline]) for key in ("distance", "nonspecificity")
    )
    found = []
    for one in no_model_ranges(assay):
        ends = np.array([one.low, one.high])
        lowest = {baselines[int(j)] for j in np.argmin(d[:, np.newaxis] + ends * ns[:, np.newaxis], axis=0)}
        found.append(
            Claim(
                kind="baseline-better",
                models=assay.model_names,
                others=tuple(name for name in baselines if name in lowest),
                low=one.low,
                high=limit(one.high),
                pvalue=one.pvalue,
                facts={"every_model": True},
            )
        )
    return tuple(found)


def _baselines(assay: "Assay") -> tuple[str, ...]:
    return tuple(m.name for m in assay.models if m.baseline)


def _alpha(assay: "Assay") -> float:
    return 1 - assay.settings.level


def _times(factor: float, p: float) -> float:
    return min(1.0, factor * p)


# Which model to choose for which λ: where it is worth using, and which models cannot be told from it there.

Table = dict[str, dict[str, tuple[Range, ...]]]  # where the first model is better than the second

FEW = 4  # models, all of whose ranges of λ are found exactly
AT_THE_DEFAULT, AT_THE_ENDS = 2.0, 4.0  # alpha is shared: a half at the default λ, a quarter each at 0 and at λ → ∞


class Led(NamedTuple):
    """A range of λ in which a model has the lowest mean E of all; p-value of the claim that it is better than all baselines."""

    low: float
    high: float
    model: str
    pvalue: float


@final
@dataclass(frozen=True)
class Choice:
    """A range of λ and the models to choose there."""

    low: float
    high: float
    #: The models with the lowest mean E, from below; several if they cannot be told apart in the whole range.
    leaders: tuple[Led, ...]
    level_with: tuple[str, ...] = ()  #: Other models that cannot be told from the leaders at any of these λ.
    #: Other models that are worse at some of these λ only, and the range in which they are.
    partly: tuple[tuple[str, float, float], ...] = ()
    #: The remaining models and the p-values of the claim that they are worse at all these λ.
    worse: tuple[tuple[str, float], ...] = ()
    #: A leader, a later leader that it is shown to be better than at some λ where it leads, and the range of these λ.
    among: tuple[tuple[str, str, float, float], ...] = ()
    #: Whether better than the baselines only if no greater loss is missing from the test set.
    conditional: bool = False
    #: How often the leaders may fail outright on inputs unlike those seen, one in so many cases, before this is false; and
    #: the range of λ, if any, in which it does not rest on that, see `input_claims`.
    cases: Mapping[str, float] = field(default_factory=dict)
    sure: tuple[float, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The leaders' names, each once."""
        return tuple(dict.fromkeys(led.model for led in self.leaders))


def better_ranges(
    assay: "Assay", model: str, others: Sequence[str], *, further: Sequence[float] = (), exact: bool = False
) -> dict[str, tuple[Range, ...]]:
    """Ranges of λ in which a model is better than each of several others; all ranges of all pairs of models hold at once.

    The p-values are adjusted for the number of pairs by Bonferroni, and for the anchors.

    Parameters
    ----------
    assay : Assay
    model : str
    others : sequence of str
    further : sequence of float
        λ that are looked at besides the grid.
    exact : bool
        Whether the ends are found by halving; else they lie on the grid.
    """
    if not others:
        return {}
    j = len(assay.candidates)
    pairs, alpha = j * (j - 1) / 2, 1 - assay.settings.level
    grid = sorted({*GRID, *(min(t, FARTHEST) for t in further)})
    tests = TestsAgainst(assay, model, others, grid=grid)
    found = {}
    for k, other in enumerate(others):
        ranges: list[Range] = []
        for share, anchors in ((AT_THE_DEFAULT, (DEFAULT_TRADEOFF,)), (AT_THE_ENDS, (0.0, FARTHEST))):

            def pvalue(tradeoff: float, k: int = k, factor: float = share * pairs) -> float:
                return min(1.0, factor * float(tests.better(tradeoff)[k]))

            options = {} if exact else {"halvings": 0}
            ranges += anchored(pvalue, anchors, alpha, grid=grid, **options)
        # better at two λ is better between them, too: differences are linear in λ
        found[other] = _hull(joined(ranges))
    return found


def _hull(ranges: Sequence[Range]) -> tuple[Range, ...]:
    if len(ranges) < 2:
        return tuple(ranges)
    return (Range(ranges[0].low, ranges[-1].high, max(r.pvalue for r in ranges)),)


def choices(assay: "Assay") -> tuple[Choice, ...]:
    """The models to choose and the ranges of λ, from below; empty if no model is shown to be better than all baselines."""
    winners = [(low, high, names[0]) for low, high, names in assay.winners()]
    for conditional in (False, True):
        led = _led(assay, winners, conditional=conditional)
        if led:
            ends = [end for one in led for end in (one.low, one.high)]
            names = assay.model_names
            table = {
                one.model: better_ranges(
                    assay, one.model, [n for n in names if n != one.model], further=ends, exact=len(names) <= FEW
                )
                for one in led
            }
            found = _apart(assay, led, table)
            whole = (replace(_with_others(assay, c, table), conditional=conditional) for c in found)
            return tuple(c if conditional else _with_cases(assay, c) for c in whole)
    return ()


def _led(assay: "Assay", winners: Sequence[tuple[float, float, str]], *, conditional: bool) -> list[Led]:
    """Where the model with the lowest mean E is better than all baselines."""
    worth = {name: better_than_baselines(assay, name, guard=not conditional) for _, _, name in winners}
    found = []
    for low, high, name in winners:
        for one in worth[name]:
            first, last = max(low, one.low), min(high, limit(one.high))
            if first < last:
                found.append(Led(first, last, name, one.pvalue))
    return found


def _apart(assay: "Assay", led: Sequence[Led], table: Table) -> list[Choice]:
    """Neighbouring leaders are one choice, unless each of two is shown to be better than the other where it leads."""
    found: list[Choice] = []
    for one in led:
        last = found[-1] if found and found[-1].leaders[-1].high == one.low else None
        if last is None:
            found.append(Choice(one.low, one.high, (one,)))
            continue
        before = next((b for b in reversed(last.leaders) if _told(b, one, table) and _told(one, b, table)), None)
        if before is None:
            found[-1] = replace(last, high=one.high, leaders=(*last.leaders, one))
            continue
        exactly = {
            b.model: better_ranges(assay, b.model, [c.model], exact=True) for b, c in ((before, one), (one, before))
        }
        for model, ranges in exactly.items():
            table[model].update(ranges)
        high = _told(before, one, exactly)[-1].high
        low = _told(one, before, exactly)[0].low
        kept = last.leaders[: last.leaders.index(before)]
        found[-1] = replace(last, high=high, leaders=(*kept, before._replace(high=high)))
        found.append(Choice(low, one.high, (one._replace(low=low),)))
    return found


def _told(one: Led, other: Led, table: Table) -> list[Range]:
    """Where a model leads and is better than another."""
    return _inside(table[one.model][other.model], one)


def _inside(ranges: Sequence[Range], led: Led) -> list[Range]:
    """The parts of ranges in which a model leads."""
    cut = [Range(max(r.low, led.low), min(limit(r.high), led.high), r.pvalue) for r in ranges]
    return [r for r in cut if r.low < r.high]


def _with_others(assay: "Assay", choice: Choice, table: Table) -> Choice:
    """Sort the other models into those that are worse in the whole range, in a part of it, and nowhere; compare the leaders."""
    others = [name for name in assay.model_names if name not in choice.names]
    whole: dict[str, list[float]] = {name: [] for name in others}
    somewhere: dict[str, list[tuple[float, float]]] = {name: [] for name in others}
    for led in choice.leaders:
        for name in others:
            inside = _inside(table[led.model][name], led)
            somewhere[name] += [(r.low, r.high) for r in inside]
            whole[name] += [r.pvalue for r in inside if (r.low, r.high) == (led.low, led.high)]
        if led.low <= DEFAULT_TRADEOFF <= led.high:  # told by the rank sets, which are adjusted at the default λ alone
            ranks = assay.rank_sets(DEFAULT_TRADEOFF)
            alone = [name for name in others if not somewhere[name] and ranks.is_better(led.model, name)]
            for name in alone:
                somewhere[name].append((DEFAULT_TRADEOFF, DEFAULT_TRADEOFF))
    rest = [name for name in others if len(whole[name]) < len(choice.leaders)]
    return replace(
        choice,
        level_with=tuple(name for name in rest if not somewhere[name]),
        partly=tuple((name, somewhere[name][0][0], somewhere[name][-1][1]) for name in rest if somewhere[name]),
        worse=tuple((name, max(whole[name])) for name in others if name not in rest),
        among=tuple(
            (led.model, later.model, inside[0].low, inside[-1].high)
            for i, led in enumerate(choice.leaders)
            for later in choice.leaders[i + 1 :]
            if (inside := _inside(table[led.model][later.model], led))
        ),
    )


def _with_cases(assay: "Assay", choice: Choice) -> Choice:
    """Where in λ the choice rests on how seldom its leaders fail on inputs unlike those seen, and how seldom they may."""
    baselines, worse = _baselines(assay), tuple(name for name, _ in choice.worse)
    cases: dict[str, float] = {}
    free: list[tuple[float, bool]] = []
    for led in choice.leaders:
        low, high = inwards(led.low, led.high)
        ends = (low, min(high, FARTHEST))
        for t in sorted({*ends, *(t for t in GRID if low < t < ends[1])}):
            resting = [other for other in (*baselines, *worse) if rests_on_inputs(assay, led.model, other, t)]
            free.append((t, not resting))
            if t in ends or t == DEFAULT_TRADEOFF:
                for other in resting:
                    cases[led.model] = max(cases_of(assay, led.model, other, t), cases.get(led.model, 0.0))
    inside = [t for t, is_free in free if is_free]
    if not inside or not all(is_free for t, is_free in free if inside[0] <= t <= inside[-1]):
        return replace(choice, cases=cases)
    return replace(choice, cases=cases, sure=(inside[0], limit(inside[-1])))


def choice_claims(assay: "Assay", found: Sequence[Choice]) -> tuple[Claim, ...]:
    """The claims of choices: better than the baselines, better than other models, and who cannot be told apart."""
    baselines = tuple(m.name for m in assay.models if m.baseline)
    claims = []
    for choice in found:
        limited = "unseen" if choice.conditional else ""
        for led in choice.leaders:
            ends = (led.low, led.high)
            claims.append(Claim("model-better", (led.model,), baselines, *ends, pvalue=led.pvalue, limited_by=limited))
            claims += [Claim("worse", (name,), (led.model,), *ends, pvalue=p) for name, p in choice.worse]
        claims.append(
            Claim(
                kind="top-group",
                models=choice.names,
                others=(*choice.level_with, *(name for name, _, _ in choice.partly)),
                low=choice.low,
                high=choice.high,
                limited_by=limited,
                facts={
                    "partly": [name for name, _, _ in choice.partly],
                    "told": {name: [low, high] for name, low, high in choice.partly},
                    "lowest": [[led.low, led.high, led.model] for led in choice.leaders],
                    "among": [list(one) for one in choice.among],
                    "cases": dict(choice.cases),
                    "sure": None if choice.sure is None else list(choice.sure),
                },
            )
        )
    return tuple(claims)


# What claims on differences rest on: that no huge losses strike inputs unlike those seen, nor whole groups of instances.


def input_claims(assay: "Assay", claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """How often a model may fail outright, on inputs unlike those seen, before some of these claims would be false.

    The tests bound what a model could have lost by what it says of the inputs seen, see `excess`. On other inputs it may give
    the label probability 0, which costs B. If a share q of them costs B, a difference d still holds if q ≤ d/(B + d), and n
    inputs show none of a greater share with probability (B/(B + d))^n. Where that probability, times the number of pairs, is
    above 1 - level, the claim rests on 1 in (B + d)/d cases at most, with the lower end of the interval for d, at a level
    that holds for all pairs. Of several claims on a model the strictest counts.
    """
    cases: dict[str, float] = {}
    for claim in claims:
        if claim.limited_by in ("unseen", "infinite") or not claim.low == claim.high == DEFAULT_TRADEOFF:
            continue  # of ranges of λ the choices say it
        for better, worse, tradeoff, rows, margin in _pairs(assay, claim):
            if better in assay.model_names and rests_on_inputs(
                assay, better, worse, tradeoff, _chosen(assay, rows), margin
            ):
                found = cases_of(assay, better, worse, tradeoff, _chosen(assay, rows), margin)
                cases[better] = max(found, cases.get(better, 0.0))
    if not cases:
        return ()
    at = DEFAULT_TRADEOFF
    shown = {m.name: cases[m.name] for m in assay.candidates if m.name in cases}
    facts = {"cases": shown, "instances": assay.n_instances, "distance": assay.settings.distance}
    return (Claim("cannot-tell", tuple(shown), (), at, at, limited_by="inputs", facts=facts),)


def group_claims(assay: "Assay", claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """That some of these claims would not hold if huge losses struck whole groups, of which none may have been seen.

    The tests take losses that have not been seen to be as correlated inside groups as those seen. If whole groups are struck,
    G groups are G instances: they show none of a share of groups that would reverse a difference d with probability
    (B/(B + d))^G, see `statistics.pairwise_mean_tests`; G counts groups of unequal sizes by (Σ n_g)²/Σ n_g². A claim rests on
    the absence of such groups if this probability is above 1 - level. Baselines have no huge losses, and claims with a stronger
    condition are left out.
    """
    if assay.groups is None or assay.n_units == 1 or not DISTANCES[assay.settings.distance].floored:
        return ()
    sizes = np.unique(assay.groups, return_counts=True)[1].astype(float)
    worth = float(sizes.sum() ** 2 / (sizes**2).sum())
    alpha = 1 - assay.settings.level
    resting = {
        better
        for claim in claims
        if claim.limited_by not in ("unseen", "infinite")
        for better, worse, tradeoff, rows, _ in _pairs(assay, claim)
        if better in assay.model_names and _chance_of_none(assay, better, worse, tradeoff, rows) ** worth > alpha
    }
    if not resting:
        return ()
    names = tuple(m.name for m in assay.models if m.name in resting)
    facts = {"groups": len(sizes), "worth": worth}
    return (Claim("cannot-tell", names, limited_by="groups", facts=facts),)


Rows = tuple[str, Any] | None  # a subgroup and its value; None: all instances
Pair = tuple[str, str, float, Rows, float]


def _pairs(assay: "Assay", claim: Claim) -> Iterator[Pair]:
    """Pairs of a better model and a worse one, λ, instances and margin of a claim on differences."""
    turned = claim.kind in ("worse", "baseline-better")
    if not (turned or claim.kind in ("model-better", "best", "subgroup", "no-worse")):
        return
    rows = (claim.facts["by"], claim.facts["value"]) if claim.kind == "subgroup" else None
    margin = float(claim.facts.get("margin") or 0.0)
    for a in claim.models:
        for b in claim.others:
            for tradeoff in dict.fromkeys(min(t, FARTHEST) for t in inwards(claim.low, claim.high)):
                yield (*((b, a) if turned else (a, b)), tradeoff, rows, margin)


def _chosen(assay: "Assay", rows: Rows) -> "np.ndarray | slice":
    return slice(None) if rows is None else assay.subgroups[rows[0]] == rows[1]


def _chance_of_none(assay: "Assay", better: str, worse: str, tradeoff: float, rows: Rows) -> float:
    """Probability that one unit shows nothing of losses that would turn a difference around."""
    chosen = _chosen(assay, rows)
    means = [float(assay.loss(name, tradeoff)[:, chosen].mean()) for name in (better, worse)]
    gap = means[1] - means[0]
    bound = float(greatest_excess(assay, assay[better], "unified", tradeoff))
    return bound / (bound + gap) if gap > 0 and np.isfinite(gap) else 0.0


# Claims on parts of the test set: subgroups in which another model is better than the overall winner.

SUBGROUP_VALUES = 50  # a subgroup with more values is an identifier, not a part of the test set


def part_claims(assay: "Assay", winner: Ranked) -> tuple[Claim, ...]:
    """Models that are better than the overall winner in a part of the test set, at the default λ.

    The p-values are those of `statistics.pairwise_mean_tests`, adjusted by Holm for all S · (J − 1) tests: every other model in
    each of the S parts. That the winner was chosen by the same data only makes it harder to be beaten.
    """
    at, alpha = DEFAULT_TRADEOFF, 1 - assay.settings.level
    others = [name for name in assay.model_names if name != winner.model]
    if not others:
        return ()
    parts = []
    for by, values in assay.subgroups.items():
        distinct = np.unique(values)
        if 1 < len(distinct) <= SUBGROUP_VALUES:
            parts += [(by, value, values == value) for value in distinct]
    if not parts:
        return ()
    pvalues = np.array(
        [TestsAgainst(assay, winner.model, others, rows=rows).at(at)[1] for _, _, rows in parts]
    )  # (S, J − 1)
    adjusted = holm(pvalues)
    claims = []
    for (by, value, rows), row in zip(parts, adjusted, strict=True):
        found = [(name, p) for name, p in zip(others, row.tolist(), strict=True) if p <= alpha]
        better = [
            (difference, name, p) for name, p in found if (difference := _lead(assay, winner.model, name, rows)) > 0
        ]
        if better:
            difference, _, p = max(better, key=lambda b: float(b[0]))
            names = tuple(name for _, name, _ in sorted(better, key=lambda b: -float(b[0])))
            facts = {
                "by": by,
                "value": value.item(),
                "instances": int(rows.sum()),
                "parts": len(parts),
                "tests": int(np.isfinite(pvalues).sum()),
                "pvalues": {name: p for _, name, p in better},
            }
            claims.append(Claim("subgroup", names, (winner.model,), at, at, estimate=difference, pvalue=p, facts=facts))
    return tuple(claims)


def _lead(assay: "Assay", winner: str, other: str, rows: np.ndarray) -> Estimate:
    """Mean E of the winner minus that of another model in a part."""
    a, b = (assay.loss(name, DEFAULT_TRADEOFF)[:, rows] for name in (winner, other))
    groups = None if assay.groups is None else assay.groups[rows]
    return paired_mean_test(a, b, groups=groups, level=assay.settings.level).difference


# Claims on single models: what refusal gains, scores that rank backwards, and calibration.

KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused


def refusal_claims(assay: "Assay", model: str) -> tuple[Claim, ...]:
    """Whether refusing the tenth that a model is most unsure of raises its accuracy; none where that is undefined."""
    score = reference_score(assay, model)
    if score is None or assay.n_units < 2 or assay.n_instances * (1 - KEPT) < 1:
        return ()
    values = assay[model].columns[score]
    if bool((values == values[:, :1]).all()):  # nothing to choose by
        return ()
    found = refusal(assay, model, score, KEPT)
    # the model was chosen among all by the same instances, which flatters its accuracy
    among_all = 1 - (1 - assay.settings.level) / len(assay.candidates)
    gain, kept = found.gain, refusal(assay, model, score, KEPT, level=among_all).accuracy_kept
    if float(found.accuracy_all) in (0.0, 1.0) or not (np.isfinite(gain.low) and np.isfinite(gain.high)):
        return ()
    facts = {
        "coverage": KEPT,
        "accuracy_all": float(found.accuracy_all),
        **spread("accuracy_kept", kept),
    }
    if gain.low > 0:
        return (Claim("refusal", (model,), metric=score, estimate=gain, facts=facts),)
    return (Claim("cannot-tell", (model,), metric=score, estimate=gain, limited_by="refusal", facts=facts),)


def backward_claims(assay: "Assay") -> tuple[Claim, ...]:
    """The scores that are shown to rank the mistakes backwards; all hold at once."""
    told = ("coverage", "gain", "gain_low", "gain_high", "costs", "n_tests")
    return tuple(
        Claim(
            "backward-score",
            (found.model,),
            metric=found.score,
            estimate=found.uq_auc,
            pvalue=found.pvalue,
            facts={key: found.row()[key] for key in told} | {"of": METRIC},
        )
        for found in assay.backward
    )


def wider_claims(assay: "Assay") -> tuple[Claim, ...]:
    """The models whose sets are shown to score better at the default λ when they are widened; all hold at once."""
    found = assay.scale_check(DEFAULT_TRADEOFF)
    return tuple(
        Claim(
            "wider-better",
            (m.model,),
            low=found.tradeoff,
            high=found.tradeoff,
            estimate=m.difference,
            pvalue=m.pvalue,
            facts={"scale": m.scale, "loss": m.loss, "scale_loss": m.scale_loss},
        )
        for m in found.wider
    )


def not_calibrated_claims(assay: "Assay") -> tuple[Claim, ...]:
    """The models and measures whose calibration the tests reject, adjusted for all of them."""
    return tuple(
        Claim("not-calibrated", (c.model,), metric=c.measure, pvalue=c.pvalue, facts=c.to_dict())
        for c in calibration_claims(assay)
        if c.outcome == "rejected"
    )


# Everything that the verdict may say, as data.

CLAIM_COLUMNS = (
    "kind",
    "models",
    "others",
    "low",
    "high",
    "metric",
    "estimate",
    "estimate_low",
    "estimate_high",
    "level",
    "pvalue",
    "limited_by",
    "facts",
)


def claims_of(assay: "Assay") -> tuple[Claim, ...]:
    """All claims of an assay but those of the calibration tests; see `Assay.claims`."""
    if not assay.winners():
        none = Claim("cannot-tell", assay.model_names, limited_by="infinite")
        return (none, *backward_claims(assay))
    winner = next(r for r in assay.ranked(DEFAULT_TRADEOFF) if r.rank == 1)
    differences = (
        *choice_claims(assay, choices(assay)),
        *worth_claims(assay),
        *order_claims(assay),
        *part_claims(assay, winner),
    )
    return (
        *differences,
        *input_claims(assay, differences),
        *group_claims(assay, differences),
        *refusal_claims(assay, winner.model),
        *wider_claims(assay),
        *backward_claims(assay),
    )
