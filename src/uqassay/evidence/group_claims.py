"""What claims on differences rest on where huge losses could strike whole groups of instances."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.evidence.claim import Claim
from uqassay.evidence.rank_sets import greatest_excess
from uqassay.evidence.tradeoff_ranges import FARTHEST

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["group_claims"]

UNBOUNDED = ("kl",)  # distances whose greatest value is that of the floor alone


def group_claims(assay: "Assay", claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """That some of these claims would not hold if huge losses struck whole groups, of which none may have been seen.

    The tests take losses that have not been seen to be as correlated inside groups as those seen. If whole groups are struck,
    G groups are G instances: they show none of a share of groups that would reverse a difference d with probability
    (B/(B + d))^G, see `statistics.pairwise_mean_tests`; G counts groups of unequal sizes by (Σ n_g)²/Σ n_g². A claim rests on
    the absence of such groups if this probability is above 1 - level. Baselines have no huge losses, and claims with a stronger
    condition are left out.
    """
    if assay.groups is None or assay.n_units == 1 or assay.settings.distance not in UNBOUNDED:
        return ()
    sizes = np.unique(assay.groups, return_counts=True)[1].astype(float)
    worth = float(sizes.sum() ** 2 / (sizes**2).sum())
    alpha = 1 - assay.settings.level
    resting = {
        better
        for claim in claims
        if claim.limited_by not in ("unseen", "infinite")
        for better, worse, tradeoff, rows in _pairs(assay, claim)
        if better in assay.model_names and _chance_of_none(assay, better, worse, tradeoff, rows) ** worth > alpha
    }
    if not resting:
        return ()
    names = tuple(m.name for m in assay.models if m.name in resting)
    facts = {"groups": len(sizes), "worth": worth}
    return (Claim("cannot-tell", names, limited_by="groups", facts=facts),)


Pair = tuple[str, str, float, "np.ndarray | slice"]


def _pairs(assay: "Assay", claim: Claim) -> Iterator[Pair]:
    """Pairs of a better model and a worse one, λ and instances of a claim on differences."""
    turned = claim.kind in ("worse", "baseline-better")
    if not (turned or claim.kind in ("model-better", "best", "subgroup")):
        return
    rows = assay.subgroups[claim.facts["by"]] == claim.facts["value"] if claim.kind == "subgroup" else slice(None)
    for a in claim.models:
        for b in claim.others:
            for tradeoff in {claim.low, min(claim.high, FARTHEST)}:
                yield (b, a, tradeoff, rows) if turned else (a, b, tradeoff, rows)


def _chance_of_none(assay: "Assay", better: str, worse: str, tradeoff: float, rows: "np.ndarray | slice") -> float:
    """Probability that one unit shows nothing of losses that would turn a difference around."""
    means = [float(assay.loss(name, tradeoff)[:, rows].mean()) for name in (better, worse)]
    gap = means[1] - means[0]
    bound = float(greatest_excess(assay, assay[better], "unified", tradeoff))
    return bound / (bound + gap) if gap > 0 and np.isfinite(gap) else 0.0
