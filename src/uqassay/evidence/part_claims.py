"""Claims on parts of the test set: subgroups in which another model is better than the overall winner."""

from typing import TYPE_CHECKING

import numpy as np

from uqassay.evidence.claim import Claim
from uqassay.evidence.ranking import Ranked
from uqassay.evidence.tradeoff_ranges import TestsAgainst
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.statistics import Estimate, holm, paired_mean_test

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["SUBGROUP_VALUES", "part_claims"]

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
