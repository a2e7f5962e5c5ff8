"""Claims on single models: what refusal gains, scores that rank backwards, and calibration."""

from typing import TYPE_CHECKING

import numpy as np

from uqassay.evidence.backward import METRIC
from uqassay.evidence.calibration_statements import calibration_claims
from uqassay.evidence.claim import Claim
from uqassay.evidence.mistake_ranking import reference_score, refusal
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["KEPT", "backward_claims", "not_calibrated_claims", "refusal_claims", "wider_claims"]

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
        "accuracy_kept": float(kept),
        "accuracy_kept_low": kept.low,
        "accuracy_kept_high": kept.high,
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
