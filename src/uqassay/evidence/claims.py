"""Everything that the verdict may say, as data."""

from typing import TYPE_CHECKING

from uqassay.evidence.choice import choice_claims, choices
from uqassay.evidence.claim import Claim
from uqassay.evidence.group_claims import group_claims
from uqassay.evidence.order_claims import order_claims
from uqassay.evidence.part_claims import part_claims
from uqassay.evidence.score_claims import backward_claims, not_calibrated_claims, refusal_claims, wider_claims
from uqassay.evidence.worth import worth_claims
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["CLAIM_COLUMNS", "claims_of"]

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
    """All claims of an assay; see `Assay.claims`."""
    if not assay.winners():
        none = Claim("cannot-tell", assay.model_names, limited_by="infinite")
        return (none, *backward_claims(assay), *not_calibrated_claims(assay))
    winner = next(r for r in assay.ranked(DEFAULT_TRADEOFF) if r.rank == 1)
    differences = (
        *choice_claims(assay, choices(assay)),
        *worth_claims(assay),
        *order_claims(assay),
        *part_claims(assay, winner),
    )
    return (
        *differences,
        *group_claims(assay, differences),
        *refusal_claims(assay, winner.model),
        *wider_claims(assay),
        *backward_claims(assay),
        *not_calibrated_claims(assay),
    )
