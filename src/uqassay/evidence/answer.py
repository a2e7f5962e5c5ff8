"""The answer of an assay: what to choose for which λ, and what cannot be told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, final

import numpy as np

from uqassay.evidence.choice import greatest_usual
from uqassay.evidence.claims import Claim
from uqassay.evidence.data import Judged, colour_order
from uqassay.evidence.lens import RANKING, claims_by
from uqassay.evidence.order import LEAST, MEAN_E, inwards, loss_name, order_of
from uqassay.evidence.ranking import ranked_at
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.tradeoff import lower_envelope

__all__ = [
    "Answer",
    "Recommendation",
    "Stretch",
    "answer_from_claims",
    "answer_of",
]


# The answer of an assay: what to choose for which λ, what cannot be told from it, and where no model is worth using.


@final
@dataclass(frozen=True)
class Recommendation:
    """A range of λ, the models to choose there, and what is known of the others there."""

    #: low, high: Rounded inwards; `high` may be infinite.
    low: float
    high: float
    #: The models with the lowest mean E, each at some λ of the range. Where each of several is better cannot be told.
    models: tuple[str, ...]
    tied: tuple[str, ...]  #: Other models that none is shown to be better than at any λ of the range, by their mean E.
    partly: tuple[
        str, ...
    ]  #: Other models that some model is shown to be better than at some λ of the range, by their mean E.
    told: dict[str, tuple[tuple[float, float], ...]]  #: Of each model of `partly`, the ranges of these λ.
    worse: tuple[str, ...]  #: The remaining models: at every λ of the range some model is shown to be better.
    lowest: tuple[
        tuple[float, str], ...
    ]  #: The chosen models in turn, each with the λ up to which it has the lowest mean E.
    #: Of models that may fail outright on inputs unlike those seen, 1 over the share of such inputs up to which the choice
    #: holds, and the range of λ, if any, in which it does not rest on that.
    cases: Mapping[str, float]
    sure: tuple[float, float] | None


class Stretch(NamedTuple):
    """A stretch of the axis of λ: models to choose, no model worth using, or left open."""

    low: float
    high: float
    kind: Literal["choose", "none", "open"]
    models: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Answer:
    """What the headline and the first card of the page say, as data; made from the claims of an assay alone."""

    #: Whether there is a model to choose, none is worth using at any λ, nothing can be told, there is one instance or
    #: group alone, or every mean E is infinite.
    kind: Literal["choose", "none", "open", "one-unit", "infinite"]
    models: tuple[str, ...]  #: All models, without the baselines, in the order of their colours.
    choices: tuple[Recommendation, ...]  #: From the least λ; empty but for "choose".
    #: What the choices rest on: that no rare huge losses are missing from the test set, or that none strike whole
    #: groups.
    condition: Literal["", "unseen", "groups"]
    #: Ranges of λ in which no model is worth using, because each is worse than a baseline; rounded inwards.
    none: tuple[tuple[float, float], ...]
    #: For "one-unit", which models or baselines have the lowest E there, by ranges of λ; else empty.
    lowest: tuple[tuple[float, float, tuple[str, ...]], ...]
    n_instances: int
    n_units: int
    grouped: bool  #: Whether the units are groups.
    distance: str  #: A name of `credal.DISTANCES`.
    #: What is compared: "mean E", or the name of the distance where no model has a set, so that nothing depends on λ.
    loss: str
    baselines: bool  #: Whether models are compared with baselines, which answers are not.
    top: float  #: The greatest usual λ; the answer does not tell what happens only beyond it.

    @property
    def priced(self) -> bool:
        """Whether anything depends on λ."""
        return self.loss == MEAN_E

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The axis of λ from 0 to infinity without gaps.

        Examples
        --------
        >>> import numpy as np
        >>> import uqassay as uq
        >>> y = np.arange(2000) % 2
        >>> sure = 0.8 * np.eye(2)[y] + 0.1
        >>> a = uq.assay({"sure": uq.Intervals(sure - 0.01, sure + 0.01)}, y, calibration=())
        >>> [(s.kind, s.low, s.high) for s in a.answer().stretches]
        [('none', 0.0, 0.13), ('open', 0.13, 0.15), ('choose', 0.15, 42.91), ('open', 42.91, 43.25), ('none', 43.25, inf)]
        """
        known = [Stretch(c.low, c.high, "choose", c.models) for c in self.choices]
        known += [Stretch(low, high, "none") for low, high in self.none]
        at, found = 0.0, []
        for one in sorted(known):
            if one.low > at:
                found.append(Stretch(at, one.low, "open"))
            found.append(one)
            at = one.high
        return tuple(found) if np.isinf(at) else (*found, Stretch(at, float("inf"), "open"))


def answer_of(assay: Judged) -> Answer:
    """The answer that the claims about all losses support; see `Assay.answer`."""
    return assay.shared.once("answer", lambda: answer_from_claims(assay, claims_by(assay, RANKING)))


def answer_from_claims(assay: Judged, claims: Sequence[Claim]) -> Answer:
    """The answer that these claims support."""
    top = greatest_usual(assay)
    groups = [c for c in claims if c.kind == "top-group" and c.facts.get("lowest") and c.high > LEAST]
    choices = tuple(_recommendation(assay, g, *ends) for g, ends in zip(groups, _rounded_ends(groups), strict=True))
    worse = [c for c in claims if c.kind == "baseline-better" and c.facts.get("every_model")]
    none = tuple(inwards(c.low, c.high) for c in worse if c.high > LEAST)
    kind: Literal["choose", "none", "open", "one-unit", "infinite"] = "choose" if choices else "open"
    if any(c.kind == "cannot-tell" and c.limited_by == "infinite" for c in claims):
        kind = "infinite"
    elif assay.n_units == 1:
        kind = "one-unit"
    elif any(low == 0 and np.isinf(high) for low, high in none):
        kind = "none"
    return Answer(
        kind=kind,
        models=colour_order(assay),
        choices=choices if kind == "choose" else (),
        condition=_condition(claims, groups),
        distance=assay.settings.distance,
        loss=loss_name(assay),
        baselines=bool(order_of(assay).yardsticks),
        none=none,
        lowest=_lowest(assay) if kind == "one-unit" else (),
        n_instances=assay.n_instances,
        n_units=assay.n_units,
        grouped=assay.groups is not None,
        top=top,
    )


def _rounded_ends(groups: Sequence[Claim]) -> list[tuple[float, float]]:
    """The ranges with ends of two digits: rounded inwards, and a border that two of them share into the one that says more."""
    ends = [list(inwards(g.low, g.high)) for g in groups]
    for k, (below, above) in enumerate(pairwise(groups)):
        if below.high == above.low:
            says_more = {*above.models, *above.others} - {
                *below.models,
                *below.others,
            }  # these are worse below the border
            ends[k][1] = ends[k + 1][0] = (
                inwards(below.low, below.high)[1] if says_more else inwards(above.low, above.high)[0]
            )
    for k, g in enumerate(groups):
        if ends[k][0] >= ends[k][1]:  # too short for two digits
            ends[k] = [g.low, g.high]
            for side, other in ((0, k - 1), (1, k + 1)):
                if 0 <= other < len(groups) and (groups[other].high, groups[other].low)[side] == (g.low, g.high)[side]:
                    ends[other][1 - side] = ends[k][side]
    return [(low, high) for low, high in ends]


def _recommendation(assay: Judged, group: Claim, low: float, high: float) -> Recommendation:
    """A top group, for λ from `low` to `high`."""
    told = {
        name: tuple(
            (low if a <= low else first, high if b >= high else last)
            for a, b, first, last in ((a, b, *inwards(a, b)) for a, b in ranges)
            if max(a, low) < min(b, high)
        )
        for name, ranges in group.facts["told"].items()
    }
    throughout = [name for name, ranges in told.items() if ranges == ((low, high),)]
    nowhere = [name for name, ranges in told.items() if not ranges]
    told = {name: ranges for name, ranges in told.items() if name not in (*throughout, *nowhere)}
    in_order = [m.model for m in ranked_at(assay, min(max(DEFAULT_TRADEOFF, low), high)) if m.rank is not None]
    rest = [name for name in in_order if name not in group.models]
    sure = group.facts.get("sure")
    if sure is not None:
        sure = inwards(max(sure[0], low), min(sure[1], high))
    return Recommendation(
        low=low,
        high=high,
        models=group.models,
        tied=tuple(name for name in rest if name in group.others and name not in (*told, *throughout)),
        partly=tuple(name for name in rest if name in told),
        told=told,
        worse=tuple(name for name in rest if name not in group.others or name in throughout),
        lowest=tuple((high if end >= high else inwards(low, end)[1], name) for _, end, name in group.facts["lowest"]),
        cases=group.facts.get("cases", {}),
        sure=sure if sure is not None and sure[0] < sure[1] else None,
    )


def _condition(claims: Sequence[Claim], groups: Sequence[Claim]) -> Literal["", "unseen", "groups"]:
    if any(g.limited_by == "unseen" for g in groups):
        return "unseen"
    resting = {name for c in claims if c.kind == "cannot-tell" and c.limited_by == "groups" for name in c.models}
    return "groups" if resting & {name for g in groups for name in g.models} else ""


def _lowest(assay: Judged) -> tuple[tuple[float, float, tuple[str, ...]], ...]:
    """Which models or baselines have the lowest mean E in this test set."""
    order = order_of(assay)
    models = [assay[name] for name in (*order.models, *order.yardsticks)]
    d, ns = (np.array([assay.overall(m.columns[key]) for m in models]) for key in ("distance", "nonspecificity"))
    return tuple((*inwards(low, high), tuple(models[j].name for j in at)) for low, high, at in lower_envelope(d, ns))
