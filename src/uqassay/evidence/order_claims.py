"""Claims on the order of models and baselines at the default λ, from the tests of all pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.claim import Claim
from uqassay.evidence.findings import loss_estimate, one_run
from uqassay.evidence.ranking import Ranked
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.statistics import Estimate

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["BOUNDED", "order_claims", "same_models"]

BOUNDED = ("brier", "accuracy")  # metrics that one more instance cannot change much


def order_claims(assay: "Assay") -> tuple[Claim, ...]:
    """What can be told at the default λ: the winner and its rivals, models with the same losses, and the baselines.

    Raises
    ------
    InputError
        If no model has a finite mean E.
    """
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
    return claims


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
