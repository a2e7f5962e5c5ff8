"""The answer of an assay: what to choose for which λ, and what cannot be told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, final

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.claims import GREATEST_USUAL, Claim, inwards
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.tradeoff import lower_envelope

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "N_COLOURS",
    "Answer",
    "Recommendation",
    "Stretch",
    "answer_of",
    "colour_order",
]


# The order in which models take colours, the same in the page and in the figures.

N_COLOURS = 8  # of the palette by Okabe and Ito


def colour_order(assay: "Assay") -> tuple[str, ...]:
    """Names of the models as given; with more models than colours by mean E at the default λ, so that the best ones differ.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        All models, without the baselines.

    Examples
    --------
    >>> import uqassay as uq
    >>> colour_order(uq.assay({"b": uq.Point([[0.5, 0.5]]), "a": uq.Point([[0.9, 0.1]])}, [0]))
    ('b', 'a')
    """
    if len(assay.model_names) <= N_COLOURS:
        return assay.model_names
    d, ns = (np.array([m.columns[key].mean() for m in assay.candidates]) for key in ("distance", "nonspecificity"))
    with np.errstate(invalid="ignore"):
        order = np.argsort(d + DEFAULT_TRADEOFF * ns, kind="stable")
    return tuple(assay.model_names[j] for j in order)


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
    tied: tuple[str, ...]  #: Other models that cannot be told from these at any λ of the range, by their mean E.
    partly: tuple[str, ...]  #: Other models that can be told from these only at some λ of the range, by their mean E.
    told: dict[str, tuple[float, float]]  #: Of each model of `partly`, the least and the greatest of these λ.
    worse: tuple[str, ...]  #: The remaining models, which are worse at every λ of the range, by their mean E.
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
    top: float  #: The greatest usual λ; the answer does not tell what happens only beyond it.

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The axis of λ from 0 to infinity without gaps.

        Examples
        --------
        >>> import numpy as np
        >>> import uqassay as uq
        >>> y = np.arange(2000) % 2
        >>> a = uq.assay({"sure": uq.Point(0.8 * np.eye(2)[y] + 0.1)}, y, calibration=())
        >>> [(s.kind, s.low, s.high) for s in a.answer().stretches]
        [('none', 0.0, 0.15), ('open', 0.15, 0.16), ('choose', 0.16, inf)]
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


def answer_of(assay: "Assay", claims: Sequence[Claim]) -> Answer:
    """The answer that claims support; see `Assay.answer`."""
    top = _top(assay)
    groups = [c for c in claims if c.kind == "top-group" and c.facts.get("lowest")]
    usual = [g for g in groups if g.low < top] or groups
    choices = tuple(_recommendation(assay, g, top) for g in usual)
    none = tuple(
        inwards(c.low, c.high)
        for c in claims
        if c.kind == "baseline-better" and c.facts.get("every_model") and c.low < top
    )
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
        condition=_condition(claims, usual),
        distance=assay.settings.distance,
        none=none,
        lowest=_lowest(assay) if kind == "one-unit" else (),
        n_instances=assay.n_instances,
        n_units=assay.n_units,
        grouped=assay.groups is not None,
        top=top,
    )


def _top(assay: "Assay") -> float:
    """The greatest usual λ of the distance, or the greatest λ of the findings if that is greater."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        scale = 1.0
    usual = GREATEST_USUAL * (scale if scale > 0 and np.isfinite(scale) else 1.0)
    return float(max(usual, DEFAULT_TRADEOFF, *assay.tradeoffs))


def _recommendation(assay: "Assay", group: Claim, top: float) -> Recommendation:
    """A top group; cut at the greatest usual λ if other models have the lowest mean only beyond it."""
    leaders = [name for low, _, name in group.facts["lowest"] if low < top]
    high = group.high
    if leaders and len(leaders) < len(group.facts["lowest"]):
        high = min(high, top)
    models = tuple(dict.fromkeys(leaders)) or group.models
    low, high = inwards(group.low, high)
    told = _told(group, models, high)
    in_order = [m.model for m in assay.ranked(min(max(DEFAULT_TRADEOFF, low), high)) if m.rank is not None]
    rest = [name for name in in_order if name not in models]
    level = {*group.others, *group.models} - set(told)
    sure = group.facts.get("sure")
    if sure is not None:
        sure = inwards(max(sure[0], low), min(sure[1], high))
    return Recommendation(
        low=low,
        high=high,
        models=models,
        tied=tuple(name for name in rest if name in level),
        partly=tuple(name for name in rest if name in told),
        told=told,
        worse=tuple(name for name in rest if name not in level and name not in told),
        cases={name: n for name, n in group.facts.get("cases", {}).items() if name in models},
        sure=sure if sure is not None and sure[0] < sure[1] else None,
    )


def _told(group: Claim, models: Sequence[str], high: float) -> dict[str, tuple[float, float]]:
    """Where the models of a group that is cut at `high` are shown to be better than those that are not worse throughout."""
    found = [(name, low, end) for name, (low, end) in group.facts["told"].items()]
    found += [
        (later, low, end) for one, later, low, end in group.facts["among"] if one in models and later not in models
    ]
    told: dict[str, tuple[float, float]] = {}
    for name, low, end in found:
        if low < high:
            first, last = told.get(name, (low, end))
            told[name] = (min(first, low), min(max(last, end), high))
    return told


def _condition(claims: Sequence[Claim], groups: Sequence[Claim]) -> Literal["", "unseen", "groups"]:
    if any(g.limited_by == "unseen" for g in groups):
        return "unseen"
    resting = {name for c in claims if c.kind == "cannot-tell" and c.limited_by == "groups" for name in c.models}
    return "groups" if resting & {name for g in groups for name in g.models} else ""


def _lowest(assay: "Assay") -> tuple[tuple[float, float, tuple[str, ...]], ...]:
    """Which models or baselines have the lowest mean E in this test set."""
    d, ns = (np.array([m.columns[key].mean() for m in assay.models]) for key in ("distance", "nonspecificity"))
    return tuple(
        (*inwards(low, high), tuple(assay.models[j].name for j in at)) for low, high, at in lower_envelope(d, ns)
    )
