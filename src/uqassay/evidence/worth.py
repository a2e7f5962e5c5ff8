"""Where in λ a model is worth using: better than every baseline; and where none is."""

from typing import TYPE_CHECKING

import numpy as np

from uqassay.evidence.claim import Claim
from uqassay.evidence.tradeoff_ranges import FARTHEST, GREATEST_USUAL, GRID, Range, TestsAgainst, anchored, limit
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["better_than_baselines", "no_model_ranges", "worth_claims"]

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
