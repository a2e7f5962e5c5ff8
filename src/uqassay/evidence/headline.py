"""The headline of an assay: its answer in one or two sentences."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from uqassay.evidence.answer import Answer, Recommendation, Stretch
from uqassay.wording import counted, listed, listed_names, sentence, tradeoff, visible

__all__ = ["PRICE", "condition", "headline", "none_clauses", "range_text"]

PRICE = "λ: how much a vague answer costs you, compared with a wrong one"
SHOWN_NAMES, SHOWN_RANGES = 3, 3
SHOWN_LENGTH = 60  # characters of the names of a list; more are counted


def headline(answer: Answer) -> tuple[str, ...]:
    """At most two sentences; marks of direction in names are replaced."""
    if answer.kind == "infinite":
        said = ["No model has a finite mean E, so none can be chosen; give a floor above 0."]
    elif answer.kind == "one-unit":
        said = _one_unit(answer)
    else:
        said = [_choice(answer) if answer.choices else _no_choice(answer), _none_sentence(answer)]
    return tuple(visible(text) for text in said if text)


def condition(answer: Answer) -> str:
    """What the choices rest on, as the beginning of the sentence, which must not be quoted without it; else nothing.

    Examples
    --------
    >>> import uqassay as uq
    >>> y = [0, 1] * 100
    >>> a = uq.assay({"sure": uq.Point([[0.9, 0.1], [0.1, 0.9]] * 100)}, y, calibration=())
    >>> condition(a.answer())
    'if these 200 instances, too few to exclude it, miss no rare huge loss'
    """
    if answer.condition == "unseen":
        return f"if these {counted(answer.n_instances, 'instance')}, too few to exclude it, miss no rare huge loss"
    if answer.condition == "groups":
        return f"if no huge losses strike whole groups, which {counted(answer.n_units, 'group')} cannot exclude"
    return ""


def range_text(low: float, high: float) -> str:
    """A range of λ in words.

    Examples
    --------
    >>> range_text(0.0, 0.25), range_text(0.25, 2.0), range_text(0.25, float("inf")), range_text(0.251, 0.252)
    ('for λ up to 0.25', 'for λ from 0.25 to 2', 'for λ from 0.25 on', 'for λ near 0.25')
    """
    if np.isinf(high):
        return "at every λ" if low == 0 else f"for λ from {tradeoff(low)} on"
    if tradeoff(low) == tradeoff(high):
        return f"for λ near {tradeoff(low)}"
    return f"for λ up to {tradeoff(high)}" if low == 0 else f"for λ from {tradeoff(low)} to {tradeoff(high)}"


# -- the choice ---------------------------------------------------------------------------------------------------------


def _choice(answer: Answer) -> str:
    choices = answer.choices
    shown = choices[:SHOWN_RANGES]
    most = SHOWN_NAMES if len(shown) == 1 else 1
    if len(answer.models) == 1:
        clauses = [f"{range_text(c.low, c.high)} {c.models[0]} is worth using" for c in shown]
    else:
        names = [listed_names(c.models, last="or", most=max(1, _fitting(c.models, most))) for c in shown]
        clauses = [
            f"{range_text(c.low, c.high)} choose {name}{_ties(answer, c, most)}"
            for c, name in zip(shown, names, strict=True)
        ]
    if rests_on := condition(answer):
        clauses[0] = f"{rests_on}: {clauses[0]}"
    if len(choices) > len(shown):
        clauses.append(f"for greater λ the choice changes {counted(len(choices) - len(shown), 'more time')}")
    elif any(a.high < b.low for a, b in pairwise(choices)):
        clauses.append("between, that cannot be told" if len(choices) == 2 else "in between, that cannot be told")
    return sentence(clauses)


def _fitting(names: Sequence[str], most: int) -> int:
    """How many of the names, at most `most`, have room."""
    lengths = np.cumsum([len(name) for name in names[:most]])
    return int((lengths <= SHOWN_LENGTH).sum())


def _ties(answer: Answer, choice: Recommendation, most: int) -> str:
    """Which models cannot be told from the chosen ones; by their number where they are many."""
    several = len(choice.models) > 1
    them = "them" if several else "it"
    loose = (*choice.tied, *choice.partly)
    parts = ["where each is better cannot be told"] if several else []
    if len(loose) > 1 and _fitting(loose, most) < len(loose):
        parts.append(f"{_number_of(answer, choice)} be told from {them}")
        return f" ({'; '.join(parts)})"
    if choice.tied and several:
        parts[0] += f", nor {listed_names(choice.tied)} from them"
    elif choice.tied:
        parts.append(f"{listed_names(choice.tied)} cannot be told from it")
    if choice.partly:
        parts.append(_at_some(choice, them))
    return f" ({'; '.join(parts)})" if parts else ""


def _number_of(answer: Answer, choice: Recommendation) -> str:
    rest = len(answer.models) - len(choice.models)
    loose = len(choice.tied) + len(choice.partly)
    always = " always" if choice.partly else ""
    if loose < rest:
        return f"{loose} of the {rest} others cannot{always}"
    return f"the {rest} others cannot always" if choice.partly else f"none of the {rest} others can"


def _at_some(choice: Recommendation, them: str) -> str:
    """Models that can be told from the chosen ones at some λ; of a single one, where it cannot."""
    name, *others = choice.partly
    low, high = choice.told[name]
    if not others and low <= choice.low and high < choice.high:
        return f"above {tradeoff(high)} {name} cannot be told from {them}"
    if not others and low > choice.low and high >= choice.high:
        return f"below {tradeoff(low)} {name} cannot be told from {them}"
    return f"{listed_names(choice.partly)} can be told from {them} only at some of these λ"


def _no_choice(answer: Answer) -> str:
    if answer.kind == "none":
        return ""
    subject = answer.models[0] if len(answer.models) == 1 else "any model"
    return f"At no λ is {subject} shown to be better than saying nothing and than the class frequencies."


# -- where no model is worth using ---------------------------------------------------------------------------------------


def _none_sentence(answer: Answer) -> str:
    """Where every model is worse than a baseline, and outside the choices where that cannot be told; or nothing."""
    if answer.kind == "none":
        whom = answer.models[0] if len(answer.models) == 1 else "any model"
        return f"At no λ is {whom} worth using: saying nothing or giving the class frequencies is better."
    return sentence([text for _, text in none_clauses(answer)])


def none_clauses(answer: Answer) -> list[tuple[str, str]]:
    """The clauses of that sentence, each with the kind of the stretches that it is about: "none", "open"."""
    one = len(answer.models) == 1
    places = []
    for low, high in answer.none:
        if low == 0:
            places.append(f"below λ = {tradeoff(high)}")
        else:
            places.append(f"above λ = {tradeoff(low)}" if not places else f"above {tradeoff(low)}")
    subject = f"{answer.models[0]} is not" if one else "no model is"
    clauses = [("none", f"{listed(places)} {subject} worth using")] if places else []
    if unclear := [_between(s.low, s.high) for s in _outside(answer)]:
        whom = answer.models[0] if one else "any model"
        unknown = "that cannot be told" if places else f"it cannot be told whether {whom} is worth using"
        clauses.append(("open", f"{listed(unclear)} {unknown}"))
    return clauses


def _outside(answer: Answer) -> list[Stretch]:
    """What is left open below and above the choices, in the usual range; what lies between two choices belongs to them."""
    if not answer.choices:
        return []
    first, last = answer.choices[0].low, answer.choices[-1].high
    opened = [s for s in answer.stretches if s.kind == "open" and s.low < answer.top]
    return [s for s in opened if s.high <= first or s.low >= last]


def _between(low: float, high: float) -> str:
    if np.isinf(high):
        return f"above {tradeoff(low)}"
    return f"below {tradeoff(high)}" if low == 0 else f"from {tradeoff(low)} to {tradeoff(high)}"


# -- one instance or group ------------------------------------------------------------------------------------------------


def _one_unit(answer: Answer) -> list[str]:
    only = "1 group" if answer.grouped else "1 instance"
    clauses = [f"{listed_names(names, last='or')} {range_text(low, high)}" for low, high, names in answer.lowest]
    return [
        f"From {only} nothing can be said about other instances.",
        f"In it the lowest mean E is that of {listed(clauses, most=SHOWN_RANGES)}.",
    ]
