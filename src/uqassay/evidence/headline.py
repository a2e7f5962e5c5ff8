"""The headline of an assay: which model to choose for which λ, who cannot be told from it, and where none is worth using."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.claim import Claim
from uqassay.evidence.tradeoff_ranges import GREATEST_USUAL, inwards
from uqassay.metrics.choice_of_tradeoff import lower_envelope
from uqassay.wording import counted, listed, sentence, tradeoff, without_direction

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["LINE", "LINES", "headline"]

LINE, LINES = 110, 3  # characters of one line of the page's box at a width of 1200 pixels, and the lines of a headline
SHOWN_NAMES, SHOWN_RANGES = 3, 3


def headline(assay: "Assay", claims: Sequence[Claim]) -> tuple[str, ...]:
    """At most three sentences; see `Assay.headline`."""
    if any(c.kind == "cannot-tell" and c.limited_by == "infinite" for c in claims):
        return ("No model has a finite mean E, so none can be chosen; give a floor above 0.",)
    if assay.n_units == 1:
        return tuple(map(without_direction, _one_unit(assay)))
    groups = [c for c in claims if c.kind == "top-group" and c.facts.get("lowest")]
    no_model = [c for c in claims if c.kind == "baseline-better" and c.facts.get("every_model")]
    condition = _condition(assay, claims, groups)
    for most in (SHOWN_NAMES, 2, 1, 0, -1):  # fewer names, in the end their number alone, until three lines hold all
        said = _sentences(assay, groups, no_model, most, condition)
        if sum(-(-len(text) // LINE) for text in said) <= LINES:
            break
    return tuple(map(without_direction, said))


def _condition(assay: "Assay", claims: Sequence[Claim], groups: Sequence[Claim]) -> str:
    """What a choice rests on; in the sentence itself, which must not be quoted without it."""
    if any(g.limited_by == "unseen" for g in groups):
        return f"if these {counted(assay.n_instances, 'instance')}, too few to exclude it, miss no rare huge loss: "
    resting = {name for c in claims if c.kind == "cannot-tell" and c.limited_by == "groups" for name in c.models}
    if resting & {name for g in groups for name in g.models}:
        return f"if no huge losses strike whole groups, which {counted(assay.n_units, 'group')} cannot exclude: "
    return ""


def _sentences(
    assay: "Assay", groups: Sequence[Claim], no_model: Sequence[Claim], most: int, condition: str
) -> list[str]:
    usual = _usual(assay)
    no_model = [c for c in no_model if c.low < usual]
    said = [_choice(assay, groups, most, condition) if groups else _no_choice(assay, no_model)]
    said.append(_where_none(assay, groups, no_model, usual))
    return [text for text in said if text]


def _usual(assay: "Assay") -> float:
    """The greatest usual λ; the headline does not tell what happens beyond."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        return GREATEST_USUAL
    return GREATEST_USUAL * scale if scale > 0 and np.isfinite(scale) else GREATEST_USUAL


# -- the choice ---------------------------------------------------------------------------------------------------------


def _choice(assay: "Assay", groups: Sequence[Claim], most: int, condition: str) -> str:
    shown = groups[:SHOWN_RANGES]
    if len(assay.candidates) == 1:
        clauses = [f"{_where(g.low, g.high)} {g.models[0]} is worth using" for g in shown]
    else:
        clauses = [f"{_where(g.low, g.high)} choose {_names(g, most)}{_ties(assay, g, most)}" for g in shown]
    clauses[0] = f"{condition}{clauses[0]}"
    if len(groups) > len(shown):
        clauses.append(f"for greater λ the choice changes {counted(len(groups) - len(shown), 'more time')}")
    elif any(a.high < b.low for a, b in pairwise(groups)):
        clauses.append("between, that cannot be told" if len(groups) == 2 else "in between, that cannot be told")
    return sentence(clauses)


def _names(group: Claim, most: int) -> str:
    return listed(group.models, last="or", most=max(most, 1))


def _where(low: float, high: float) -> str:
    """A range of λ in words."""
    low, high = inwards(low, high)
    if np.isinf(high):
        return "at every λ" if low == 0 else f"for λ from {tradeoff(low)} on"
    if tradeoff(low) == tradeoff(high):
        return f"for λ near {tradeoff(low)}"
    return f"for λ up to {tradeoff(high)}" if low == 0 else f"for λ from {tradeoff(low)} to {tradeoff(high)}"


def _ties(assay: "Assay", group: Claim, most: int) -> str:
    """Which models cannot be told from the chosen ones."""
    partly = group.facts["partly"]
    never = [name for name in group.others if name not in partly]
    rest = len(assay.candidates) - len(group.models)
    if most < 0 and group.others:
        told = rest - len(group.others) or "none"
        return f" (throughout told from {told} of the {rest} others)"
    parts = []
    if len(group.models) > 1:
        nor = ""
        if never:
            who = f"the {counted(rest, 'other')}" if len(never) == rest > most else _listed(never, most)
            nor = f", nor {who} from them"
        parts.append(f"where each is better cannot be told{nor}")
    elif never:
        who = (
            f"none of the {rest} others can" if len(never) == rest > max(most, 1) else f"{_listed(never, most)} cannot"
        )
        parts.append(f"{who} be told from it")
    if partly:
        parts.append(_at_some(group, most))
    return f" ({'; '.join(parts)})" if parts else ""


def _at_some(group: Claim, most: int) -> str:
    """Models that can be told from the chosen ones at some λ; of a single one, where it cannot."""
    them = "them" if len(group.models) > 1 else "it"
    partly = group.facts["partly"]
    name, *others = partly
    low, high = group.facts["told"][name]
    if not others and low <= group.low:
        return f"above {tradeoff(high)} {name} cannot be told from {them}"
    if not others and high >= group.high:
        return f"below {tradeoff(low)} {name} cannot be told from {them}"
    return f"{_listed(partly, most)} can be told from {them} only at some of these λ"


def _listed(names: Sequence[str], most: int) -> str:
    """Names, or their number where there are more than can be shown."""
    return counted(len(names), "other") if most == 0 and len(names) > 1 else listed(names, most=max(most, 1))


def _no_choice(assay: "Assay", no_model: Sequence[Claim]) -> str:
    if any(c.low == 0 and np.isinf(c.high) for c in no_model):
        return ""
    one = len(assay.candidates) == 1
    subject = assay.model_names[0] if one else "any model"
    return f"At no λ is {subject} shown to be better than saying nothing and than the class frequencies."


# -- where no model is worth using ---------------------------------------------------------------------------------------


def _where_none(assay: "Assay", groups: Sequence[Claim], no_model: Sequence[Claim], usual: float) -> str:
    """Where every model is worse than a baseline, and where that cannot be told."""
    places = []
    for c in no_model:
        low, high = inwards(c.low, c.high)
        if low == 0:
            places.append("at any λ" if np.isinf(high) else f"below λ = {tradeoff(high)}")
        else:
            places.append(f"above λ = {tradeoff(low)}" if not places else f"above {tradeoff(low)}")
    subject = f"{assay.model_names[0]} is not" if len(assay.candidates) == 1 else "no model is"
    clauses = []
    if places == ["at any λ"]:
        whom = assay.model_names[0] if len(assay.candidates) == 1 else "any model"
        clauses.append(f"at no λ is {whom} worth using: saying nothing or giving the class frequencies is better")
    elif places:
        clauses.append(f"{listed(places)} {subject} worth using")
    unclear = [_between(low, high) for low, high in _open(groups, no_model) if low < usual]
    if unclear and groups:
        clauses.append(f"{listed(unclear)} that cannot be told" if places else f"{listed(unclear)} {_unknown(assay)}")
    return sentence(clauses)


def _unknown(assay: "Assay") -> str:
    subject = assay.model_names[0] if len(assay.candidates) == 1 else "any model"
    return f"it cannot be told whether {subject} is worth using"


def _open(groups: Sequence[Claim], no_model: Sequence[Claim]) -> list[tuple[float, float]]:
    """Ranges of λ between those of the claims; what lies between two choices belongs to them."""
    taken = sorted(
        [inwards(c.low, c.high) for c in no_model] + ([inwards(groups[0].low, groups[-1].high)] if groups else [])
    )
    at, found = 0.0, []
    for low, high in taken:
        if low > at:
            found.append((at, low))
        at = max(at, high)
    if not np.isinf(at):
        found.append((at, float("inf")))
    return found


def _between(low: float, high: float) -> str:
    if np.isinf(high):
        return f"above {tradeoff(low)}"
    return f"below {tradeoff(high)}" if low == 0 else f"from {tradeoff(low)} to {tradeoff(high)}"


# -- one instance or group ------------------------------------------------------------------------------------------------


def _one_unit(assay: "Assay") -> list[str]:
    only = "1 instance" if assay.groups is None else "1 group"
    d, ns = (np.array([m.columns[key].mean() for m in assay.models]) for key in ("distance", "nonspecificity"))
    clauses = []
    for low, high, places in lower_envelope(d, ns):
        lowest = listed([assay.models[j].name for j in places], last="or")
        clauses.append(f"{lowest} {_where(low, high)}")
    return [
        f"From {only} nothing can be said about other instances.",
        f"In it the lowest mean E is that of {listed(clauses, most=SHOWN_RANGES)}.",
    ]
