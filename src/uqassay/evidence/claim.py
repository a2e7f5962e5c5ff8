"""A claim: what may be said about the models of an assay, as data, before it is put into words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from uqassay.statistics import Estimate

__all__ = ["KINDS", "Claim"]

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
    """One thing that may be said about the models of an assay.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    models, others : tuple of str
        Subject and object, see `KINDS`.
    low, high : float
        Range of λ in which the claim holds, of which `high` may be infinite; both are the same for a single λ, and nan if the
        claim does not depend on λ.
    metric : str
        "unified" for E; else the metric or score.
    estimate : Estimate or None
        The number that the claim is about, such as a difference of means, with its interval.
    pvalue : float
        Adjusted p-value of the claim, over its whole range the greatest; nan if there is no test.
    limited_by : str
        What limits the claim: "skewness", "unseen" losses, huge losses of whole "groups", one of the "units", "infinite" means,
        what "refusal" gains, or "".
    facts : mapping
        Further numbers and names, by the kind of claim.
    """

    kind: str
    models: tuple[str, ...]
    others: tuple[str, ...] = ()
    low: float = float("nan")
    high: float = float("nan")
    metric: str = "unified"
    estimate: Estimate | None = None
    pvalue: float = float("nan")
    limited_by: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain values, the interval spread out."""
        found = self.estimate
        return {
            "kind": self.kind,
            "models": self.models,
            "others": self.others,
            "low": self.low,
            "high": self.high,
            "metric": self.metric,
            "estimate": None if found is None else float(found),
            "estimate_low": None if found is None else found.low,
            "estimate_high": None if found is None else found.high,
            "level": None if found is None else found.level,
            "pvalue": self.pvalue,
            "limited_by": self.limited_by,
            "facts": dict(self.facts),
        }
