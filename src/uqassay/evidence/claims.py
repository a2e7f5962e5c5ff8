"""Claims: what may be said about the models of an assay, as data, before it is put into words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from uqassay.evidence.calibration import calibration_claims
from uqassay.evidence.choice import Choice, choices
from uqassay.evidence.data import Judged, one_run
from uqassay.evidence.findings import loss_estimate
from uqassay.evidence.mistakes import METRIC, reference_score, refusal
from uqassay.evidence.order import FARTHEST, inwards, order_of, rank_sets_of
from uqassay.evidence.pair_tests import (
    cases_of,
    greatest_excess,
    rests_on_inputs,
)
from uqassay.evidence.ranking import Ranked, difference_of, margin_at, ranked_at, winners_of
from uqassay.evidence.scale import scale_check_of
from uqassay.evidence.subgroups import number_of_parts, part_names, subgroups_of
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.results import row_of, spread
from uqassay.statistics import Estimate
from uqassay.statistics.spreads import snap
from uqassay.statistics.units import make_units

__all__ = [
    "CLAIM_COLUMNS",
    "KINDS",
    "Claim",
    "claims_of",
    "group_claims",
    "input_claims",
    "not_calibrated_claims",
    "part_claims",
    "refusal_claims",
    "same_models",
]


# A claim: what may be said about the models of an assay, as data, before it is put into words.

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "top-group": "no model is shown to be better than `models`, and `others` could be as good, at some λ at least",
        "best": "`models` is the best of all models at one λ",
        "worse": "`models` is worse than `others` on a range of λ",
        "no-worse": "`models` is no worse than any other model, such as `others`, by more than the margin",
        "same": "`models` and `others` have the same losses in every case",
        "model-better": "`models` is better than every baseline on a range of λ",
        "baseline-better": "each of `models` is worse than some of the baselines `others` on a range of λ",
        "subgroup": "`models` is better than the overall winner in a part of the test set",
        "refusal": "refusing the most uncertain cases raises the accuracy of `models`",
        "backward-score": "an uncertainty of `models` is lower where the model is wrong",
        "wider-better": "`models` would have a lower E if its sets were wider, which is no knowledge",
        "not-calibrated": "`models` is not calibrated",
        "covered-less": "the sets of `models` hold the label less often in a class, or at a size, than in all cases",
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


def order_claims(assay: Judged) -> tuple[Claim, ...]:
    """What can be told at the default λ: the winner and its rivals, models with the same losses, and the baselines."""
    rows = ranked_at(assay, DEFAULT_TRADEOFF)
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


def same_models(assay: Judged) -> tuple[Claim, ...]:
    """Groups of models whose distance and non-specificity are the same in every instance."""
    groups: list[list[str]] = []
    columns = {
        m.name: [m.columns[key].mean(axis=0) for key in ("distance", "nonspecificity")] for m in assay.candidates
    }
    snap(list(columns.values()))  # but for rounding
    for name, values in columns.items():
        home = next((g for g in groups if all(map(np.array_equal, columns[g[0]], values))), None)
        if home is None:
            groups.append([name])
        else:
            home.append(name)
    n = assay.n_instances
    return tuple(Claim("same", (g[0],), tuple(g[1:]), facts={"instances": n}) for g in groups if len(g) > 1)


def _rivals(assay: Judged, winner: Ranked, rivals: Sequence[Ranked], same: Sequence[str]) -> list[Claim]:
    """The winner against the models that are not the same as it."""
    at, alpha = DEFAULT_TRADEOFF, 1 - assay.settings.level
    finite = [r for r in rivals if not np.isposinf(float(r.estimate))]
    infinite = tuple(r.model for r in rivals if np.isposinf(float(r.estimate)))
    claims = []
    if infinite and assay.n_units > 1:
        claims.append(Claim("worse", infinite, (winner.model,), at, at, pvalue=0.0, limited_by="infinite"))
    worse = [r for r in finite if r.pvalue_adjusted <= alpha]
    # the rank set decides, so that "the best" never stands beside ranks 1 to 2
    if winner.rank_high == 1:
        p = max((r.pvalue_adjusted for r in worse), default=0.0)
        claims.append(_claim("best", winner, tuple(r.model for r in rivals), _among_all(assay, winner), p))
    claims += [_claim("worse", r, (winner.model,), r.difference, r.pvalue_adjusted) for r in worse]
    claims += [_worse_than_another(assay, r) for r in finite if not r.top and r not in worse]
    level_with = [r for r in finite if r.top]  # a model that is worse than another one is not as good as the winner
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
        open_ = [r for r in finite if r not in (*within, *worse)]  # a model that is worse is no longer in question
        claims += [c for r in open_ for c in _beyond_margin(assay, r, winner, assay.settings.margin)]
    return claims


def _worse_than_another(assay: Judged, r: Ranked) -> Claim:
    """Of a model that only models other than the winner are shown to be better than: the one of these with the lowest mean."""
    ranks = rank_sets_of(assay, DEFAULT_TRADEOFF, "unified", None)
    better = next(o.model for o in ranked_at(assay, DEFAULT_TRADEOFF) if o.rank and ranks.is_better(o.model, r.model))
    names = ranks.comparisons.names
    p = ranks.comparisons.adjusted[names.index(r.model), names.index(better)]
    return _claim("worse", r, (better,), difference_of(assay, r.model, better, "unified"), float(p))


def _beyond_margin(assay: Judged, r: Ranked, winner: Ranked, margin: float) -> Iterator[Claim]:
    """A rival that is not shown to be no worse than the winner by more than the margin, with the interval that tells."""
    at, test = DEFAULT_TRADEOFF, margin_at(assay, r.model, winner.model, DEFAULT_TRADEOFF, margin)
    if test.pvalue_no_worse <= test.alpha:  # than the winner, but perhaps than another one
        return
    yield Claim(
        "cannot-tell",
        (r.model,),
        (winner.model,),
        at,
        at,
        estimate=test.difference,
        pvalue=test.pvalue_no_worse,
        limited_by="margin",
        facts={"margin": margin, "why": test.limited_by},
    )


def _claim(
    kind: str, r: Ranked, others: tuple[str, ...], estimate: Estimate, p: float, facts: Mapping[str, Any] | None = None
) -> Claim:
    at = DEFAULT_TRADEOFF
    return Claim(kind, (r.model,), others, at, at, estimate=estimate, pvalue=float(p), facts=facts or {})


def _among_all(assay: Judged, winner: Ranked) -> Estimate:
    """The winner's mean E with an interval for the choice among all models: its own misses too often (Bonferroni)."""
    level = 1 - (1 - assay.settings.level) / len(assay.candidates)
    wider = replace(assay, settings=replace(assay.settings, level=level))
    return loss_estimate(wider, assay[winner.model], one_run(assay.loss(winner.model)), DEFAULT_TRADEOFF)


def _limits(assay: Judged, winner: Ranked, level_with: Sequence[Ranked]) -> list[Claim]:
    """Why rivals cannot be told from the winner, where more than chance alone is the reason."""
    at, claims = DEFAULT_TRADEOFF, []
    if assay.n_units == 1:
        return [Claim("cannot-tell", (winner.model,), tuple(r.model for r in level_with), at, at, limited_by="units")]
    # that few answers differ needs no word: every difference of one answer is as great
    for why in () if assay.of_answers else ("unseen", "skewness"):
        mine = tuple(r.model for r in level_with if r.limited_by == why)
        if not mine:
            continue
        facts = {"instances": assay.n_instances, "distance": assay.settings.distance}
        if why == "unseen":
            facts["bounded"] = {metric: _bounded(assay, metric) for metric in BOUNDED}
        claims.append(Claim("cannot-tell", (winner.model,), mine, at, at, limited_by=why, facts=facts))
    return claims


def _bounded(assay: Judged, metric: str) -> dict[str, list[str]]:
    """The top group by a bounded loss, and the other models."""
    ranks = rank_sets_of(assay, DEFAULT_TRADEOFF, metric, None)
    order = np.argsort(-ranks.values if ranks.greater_is_better else ranks.values, kind="stable")
    names = [ranks.names[int(j)] for j in order]
    return {"top": [n for n in names if n in ranks.top_names], "rest": [n for n in names if n not in ranks.top_names]}


def _against_baselines(assay: Judged, ranked: Sequence[Ranked]) -> list[Claim]:
    """Models that are worse than a baseline at the default λ."""
    at, alpha = DEFAULT_TRADEOFF, 1 - assay.settings.level
    found = rank_sets_of(assay, at, "unified", None).comparisons
    names, yardsticks = found.names, order_of(assay).yardsticks
    claims = []
    for r in ranked:
        j = names.index(r.model)
        for baseline in (name for name in r.below if name in yardsticks):
            b = names.index(baseline)
            p = float(found.adjusted[j, b])
            if p <= alpha:
                difference = difference_of(assay, r.model, baseline, "unified")
                claims.append(Claim("baseline-better", (r.model,), (baseline,), at, at, estimate=difference, pvalue=p))
    return claims


# Ranges of λ in which no model is worth using, and those in which some are the choice.


def worth_claims(assay: Judged) -> tuple[Claim, ...]:
    """Claims that no model is worth using in some range of λ."""
    order = order_of(assay)
    d, ns = (
        np.array([assay.overall(assay[name].columns[key]) for name in order.yardsticks])
        for key in ("distance", "nonspecificity")
    )
    found = []
    for one in order.none():
        ends = np.minimum([one.low, one.high], FARTHEST)
        lowest = {order.yardsticks[int(j)] for j in np.argmin(d[:, np.newaxis] + ends * ns[:, np.newaxis], axis=0)}
        found.append(
            Claim(
                kind="baseline-better",
                models=assay.model_names,
                others=tuple(name for name in order.yardsticks if name in lowest),
                low=one.low,
                high=one.high,
                pvalue=one.pvalue,
                facts={"every_model": True},
            )
        )
    return tuple(found)


def choice_claims(assay: Judged, found: Sequence[Choice]) -> tuple[Claim, ...]:
    """The claims of choices: better than the baselines, better than other models, and who cannot be told apart."""
    baselines = order_of(assay).yardsticks
    claims = []
    for choice in found:
        limited = "unseen" if choice.conditional else ""
        for led in choice.leaders:
            ends = (led.low, led.high)
            claims += [
                Claim("model-better", (name,), baselines, *ends, pvalue=led.pvalue, limited_by=limited)
                for name in led.models
            ]
        claims += [
            Claim("worse", (name,), (other,), r.low, r.high, pvalue=r.pvalue)
            for name, by in choice.worse.items()
            for other, r in by
        ]
        partly = choice.partly
        claims.append(
            Claim(
                kind="top-group",
                models=choice.names,
                others=(*choice.tied, *partly),
                low=choice.low,
                high=choice.high,
                limited_by=limited,
                facts={
                    "told": {name: [list(one) for one in ranges] for name, ranges in partly.items()},
                    "lowest": [[led.low, led.high, led.model] for led in choice.leaders],
                    "cases": dict(choice.cases),
                    "sure": None if choice.sure is None else list(choice.sure),
                },
            )
        )
    return tuple(claims)


# What claims on differences rest on: that no huge losses strike inputs unlike those seen, nor whole groups of instances.


def input_claims(assay: Judged, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """How often a model may fail outright, on inputs unlike those seen, before the order at the default λ would be false.

    The tests bound what a model could have lost by what it says of the inputs seen, see `excess`. On other inputs it may give
    the label probability 0, which costs B. If a share q of them costs B, a difference d still holds if q ≤ d/(B + d), and n
    inputs show none of a greater share with probability (B/(B + d))^n. Where that probability, times the number of pairs, is
    above 1 - level, the order rests on 1 in (B + d)/d cases at most, with the lower end of the interval for d, at a level
    that holds for all pairs. Of several statements on a model, ranks among them, the strictest counts.
    """
    at, cases = DEFAULT_TRADEOFF, dict[str, float]()
    told = rank_sets_of(assay, at, "unified", None)
    pairs: set[Pair] = {(told.names[a], told.names[b], at, None, 0.0) for a, b in np.argwhere(told.better).tolist()}
    for claim in claims:
        if (
            claim.limited_by not in ("unseen", "infinite") and claim.low == claim.high == at
        ):  # choices say it of ranges of λ
            pairs |= {pair for pair in _pairs(assay, claim) if pair[0] in assay.model_names}
    for better, worse, tradeoff, rows, margin in pairs:
        chosen = _chosen(assay, rows)
        if rests_on_inputs(assay, better, worse, tradeoff, chosen, margin):
            cases[better] = max(cases_of(assay, better, worse, tradeoff, chosen, margin), cases.get(better, 0.0))
    if not cases:
        return ()
    shown = {m.name: cases[m.name] for m in assay.candidates if m.name in cases}
    facts = {"cases": shown, "instances": assay.n_instances, "distance": assay.settings.distance}
    return (Claim("cannot-tell", tuple(shown), (), at, at, limited_by="inputs", facts=facts),)


def _with_conditions(claim: Claim, inputs: Sequence[Claim]) -> Claim:
    """A choice that rests on other inputs at the default λ as the order there does, so that one number stands for both."""
    cases, sure = claim.facts.get("cases"), claim.facts.get("sure")
    at = DEFAULT_TRADEOFF
    if not cases or not claim.low <= at <= claim.high or (sure is not None and sure[0] <= at <= sure[1]):
        return claim
    of_order = {name: n for one in inputs for name, n in one.facts["cases"].items() if name in cases}
    strictest = {name: max(n, of_order.get(name, 0.0)) for name, n in cases.items()}
    return replace(claim, facts={**claim.facts, "cases": strictest})


def group_claims(assay: Judged, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """That some of these claims would not hold if huge losses struck whole groups, of which none may have been seen.

    The tests take losses that have not been seen to be as correlated inside groups as those seen. If whole groups are struck,
    G groups are G instances: they show none of a share of groups that would reverse a difference d with probability
    (B/(B + d))^G, see `statistics.pairwise_mean_tests`; G counts groups of unequal weights n_g by (Σ n_g)²/Σ n_g². A claim
    rests on the absence of such groups if this probability is above 1 - level. Baselines have no huge losses, and claims with
    a stronger condition are left out.
    """
    if assay.groups is None or assay.n_units == 1 or not assay.settings.distance_entry.floored:
        return ()
    sizes = make_units(assay.n_instances, **assay.sample()).sizes
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


def _pairs(assay: Judged, claim: Claim) -> Iterator[Pair]:
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


def _chosen(assay: Judged, rows: Rows) -> "np.ndarray | slice":
    return slice(None) if rows is None else assay.subgroups[rows[0]] == rows[1]


def _chance_of_none(assay: Judged, better: str, worse: str, tradeoff: float, rows: Rows) -> float:
    """Probability that one unit shows nothing of losses that would turn a difference around."""
    chosen = _chosen(assay, rows)
    means = [assay.overall(assay.loss(name, tradeoff)[:, chosen], chosen) for name in (better, worse)]
    gap = means[1] - means[0]
    bound = float(greatest_excess(assay, assay[better], "unified", tradeoff))
    return bound / (bound + gap) if gap > 0 and np.isfinite(gap) else 0.0


# Claims on parts of the test set: subgroups in which another model is better than the overall winner.


def part_claims(assay: Judged, winner: Ranked) -> tuple[Claim, ...]:
    """Models that are better than the overall winner in a part of the test set, at the default λ.

    The tests are those of the rankings in the parts, adjusted for all pairs of models in all parts (`subgroups`). That the
    winner was chosen by the same data only makes it harder to be beaten.
    """
    at, alpha = DEFAULT_TRADEOFF, 1 - assay.settings.level
    others = [name for name in assay.model_names if name != winner.model]
    claims = []
    for by in part_names(assay) if others else ():
        for part in subgroups_of(assay, by, whole=False):
            pvalues = {name: order_of(part.assay).better_at_default(name, winner.model) for name in others}
            leads = {
                name: difference_of(part.assay, winner.model, name, "unified")
                for name, p in pvalues.items()
                if p <= alpha
            }
            if leads:
                names = tuple(sorted(leads, key=lambda name: -float(leads[name])))
                facts = {
                    "by": by,
                    "value": part.value,
                    "instances": part.n_instances,
                    "parts": number_of_parts(assay, by),
                    "pvalues": {name: pvalues[name] for name in names},
                }
                p = max(facts["pvalues"].values())
                first = leads[names[0]]
                claims.append(Claim("subgroup", names, (winner.model,), at, at, estimate=first, pvalue=p, facts=facts))
    return tuple(claims)


# Claims on single models: what refusal gains, scores that rank backwards, and calibration.

KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused


def refusal_claims(assay: Judged, model: str) -> tuple[Claim, ...]:
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


def backward_claims(assay: Judged) -> tuple[Claim, ...]:
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


def wider_claims(assay: Judged) -> tuple[Claim, ...]:
    """The models whose sets are shown to score better at the default λ when they are widened; all hold at once."""
    found = scale_check_of(assay, DEFAULT_TRADEOFF)
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


def not_calibrated_claims(assay: Judged) -> tuple[Claim, ...]:
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


def claims_of(assay: Judged) -> tuple[Claim, ...]:
    """All claims of an assay but those of the calibration tests; see `Assay.claims`."""
    if not winners_of(assay):
        none = Claim("cannot-tell", assay.model_names, limited_by="infinite")
        return (none, *backward_claims(assay))
    winner = next(r for r in ranked_at(assay, DEFAULT_TRADEOFF) if r.rank == 1)
    differences = (
        *choice_claims(assay, choices(assay)),
        *worth_claims(assay),
        *order_claims(assay),
        *part_claims(assay, winner),
    )
    inputs = input_claims(assay, differences)
    return (
        *(_with_conditions(claim, inputs) for claim in differences),
        *inputs,
        *group_claims(assay, differences),
        *refusal_claims(assay, winner.model),
        *wider_claims(assay),
        *backward_claims(assay),
    )
