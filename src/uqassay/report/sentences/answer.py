"""The answer card: what to choose, what cannot be told from it, the stretches of λ, and what the words mean."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from uqassay.evidence.answer import Answer, Recommendation, Stretch
from uqassay.evidence.headline import PRICE, condition, headline, none_clauses, range_text
from uqassay.evidence.tradeoff_ranges import inwards
from uqassay.wording import counted, listed, listed_names, sentence, tradeoff

__all__ = [
    "CAUTION",
    "DEPENDS",
    "Statement",
    "answer_choices",
    "answer_remarks",
    "axis_text",
    "caution_finding",
    "meanings",
    "stretch_text",
]

CAUTION = "Before believing it"
DEPENDS = "The choice depends on λ."
CONCERNING: Mapping[str, str] = {  # cautions that change how much to believe the answer, by their code
    "few-instances": "few instances",
    "few-groups": "few groups",
    "different-runs": "different numbers of training runs",
    "different-numbers-of-members": "different numbers of members",
    "floored": "labels that a model held to be impossible",
    "estimated-nonspecificity": "an estimated non-specificity",
    "solver-gap": "an inexact distance",
    "labels-by-columns": "labels taken by the order of the columns",
    "baseline-left-out": "a baseline left out",
}
FURTHER: Mapping[str, str] = {
    "prediction": "how predictions were read",
    "absent-classes": "classes that never occur",
    "backward-score": "an uncertainty that ranks mistakes backwards",
    "no-calibration-test": "calibration tests",
    "dependent-labels": "calibration tests",
    "calibration-sample": "calibration tests",
}
BASELINES: Mapping[str, str] = {
    "vacuous": "saying nothing, which is to allow every distribution",
    "class-prior": "always giving the class frequencies",
}


class Statement(NamedTuple):
    """One statement of the card.

    Attributes
    ----------
    before : str
        Words before the names.
    models : tuple of str
        Names that are set in large type.
    after : str
        Words behind the names, in the same type.
    where : str
        For which λ and under which condition it holds.
    others : tuple of (str, tuple of str)
        Lines about the other models: a label and names; of no names, a sentence.
    """

    before: str
    models: tuple[str, ...]
    after: str = ""
    where: str = ""
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()


def answer_choices(answer: Answer) -> list[Statement]:
    """What the card says in large type.

    Examples
    --------
    >>> import uqassay as uq
    >>> (one,) = answer_choices(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]).answer())
    >>> one.before, one.where
    ('Nothing can be told', 'From 1 instance nothing can be said about other instances.')
    """
    one = len(answer.models) == 1
    if answer.kind == "none":
        where = "At every λ saying nothing or giving the class frequencies is better."
        return [
            Statement("", answer.models, "is not worth using", where)
            if one
            else Statement("No model is worth using", (), "", where)
        ]
    if answer.kind == "choose":
        return [_choice(answer, c) for c in answer.choices]
    start = {"infinite": "No model can be chosen"}.get(answer.kind, "Nothing can be told")
    first, *more = headline(answer)
    return [Statement(start, (), "", first, tuple((text, ()) for text in more if answer.kind == "one-unit"))]


def _choice(answer: Answer, c: Recommendation) -> Statement:
    where = range_text(c.low, c.high).replace("for λ from", "for every λ from")
    where = ", ".join(filter(None, (where, condition(answer))))
    if len(answer.models) == 1:
        return Statement("", c.models, "is worth using", where)
    return Statement("Choose", c.models, "", where, _others(answer, c))


def _others(answer: Answer, c: Recommendation) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Lines about the models that are not chosen; the first, of several chosen models, about these."""
    several = len(c.models) > 1
    them = "them" if several else "it"
    lines: list[tuple[str, tuple[str, ...]]] = []
    if several:
        who = "the two" if len(c.models) == 2 else "these"
        lines.append((f"Which of {who} is better at which λ cannot be told.", ()))
    if c.tied:
        lines.append((f"Cannot be told from {them}", c.tied))
    if c.partly:
        lines.append((_worse_somewhere(answer, c), c.partly))
    if c.worse:
        lines.append(("Worse at all of these λ", c.worse))
    return tuple(lines)


def _worse_somewhere(answer: Answer, c: Recommendation) -> str:
    """Of a single model, also where; not if ranges of several models to choose could leave a gap."""
    low, high = c.told[c.partly[0]]
    first, last = inwards(low, high)
    if len(c.partly) == len(c.models) == 1 and c.high != answer.top:
        if low <= c.low and high < c.high:
            return f"Worse up to λ = {tradeoff(last)}"
        if low > c.low and high >= c.high:
            return f"Worse from λ = {tradeoff(first)} on"
    return "Worse at some of these λ"


# -- the axis of λ -------------------------------------------------------------------------------------------------------

AXIS = {
    "none": "no model",
    "open": "cannot be told",
    "start": "λ = 0: nothing",
    "end": "λ = {top}: much",
    "default": "λ = {default}, used on this page",
    "until": "until you choose another",
}


def axis_text(answer: Answer, default: float) -> dict[str, str]:
    """Words around the axis, and the whole of it in a sentence, for those who do not see it."""
    said = [stretch_text(s, answer.top) for s in answer.stretches if s.low < answer.top]
    values = {"top": tradeoff(answer.top), "default": tradeoff(default)}
    text = {name: words.format_map(values) for name, words in AXIS.items()}
    return text | {"whole": f"λ from 0 to {tradeoff(answer.top)}: {', '.join(said)}"}


def stretch_text(stretch: Stretch, top: float) -> str:
    """A stretch of the axis in words.

    Examples
    --------
    >>> stretch_text(Stretch(0.25, 9.0, "choose", ("a", "b")), 2.0), stretch_text(Stretch(0.0, 0.2, "none"), 2.0)
    ('choose a or b from 0.25 to 2', 'no model is worth using from 0 to 0.2')
    """
    said = {"none": "no model is worth using", "open": "nothing can be told"}.get(stretch.kind, "")
    said = said or f"choose {listed_names(stretch.models, last='or', most=3)}"
    return f"{said} from {tradeoff(stretch.low)} to {tradeoff(min(stretch.high, top))}"


def answer_remarks(answer: Answer) -> list[tuple[str, str]]:
    """Sentences below the axis, each with the kind of the stretches that it is about."""
    if answer.kind in ("none", "one-unit", "infinite"):
        return []
    found = [(kind, sentence([text])) for kind, text in none_clauses(answer)]
    if any(a.high < b.low for a, b in pairwise(answer.choices)):
        found.append(("open", "Between the choices, which is better cannot be told."))
    return found


# -- the words -----------------------------------------------------------------------------------------------------------


def meanings(baselines: Sequence[str], *, votes: bool, price: bool) -> list[tuple[str, str]]:
    """What E, its terms and "worth using" mean, in everyday words.

    Parameters
    ----------
    baselines : sequence of str
        Their names.
    votes : bool
        Whether labels are distributions.
    price : bool
        Whether λ, which the axis explains, is explained here.
    """
    right = "it is the distribution of the labels" if votes else "it gives the true class the probability 1"
    return [
        *([("λ", f"{PRICE.removeprefix('λ: ').capitalize()}.")] if price else []),
        (
            "E = distance + λ · non-specificity",
            "The cost of a prediction. Its mean over all instances is compared; lower is better.",
        ),
        (
            "Distance: how wrong",
            "A prediction allows one probability distribution over the classes, or a set of them. The one nearest to what "
            f"happened counts; 0 if {right}.",
        ),
        (
            "Non-specificity: how vague",
            "The size of that set: 0 if it is one distribution, greatest if every one is allowed.",
        ),
        (
            "Worth using",
            f"Shown to have a lower mean E than {', and than '.join(BASELINES[name] for name in baselines)}.",
        ),
    ]


# -- reasons for caution -------------------------------------------------------------------------------------------------


def caution_finding(codes: Sequence[str]) -> str:
    """How many warnings there are and what they are about; first those that change how much to believe the answer.

    Examples
    --------
    >>> caution_finding(["few-groups", "prediction", "floored"])
    '2 warnings on the answer: few groups and labels that a model held to be impossible; 1 more: how predictions were read.'
    >>> caution_finding(["dependent-labels", "dependent-labels"])
    '2 warnings: calibration tests.'
    """
    first = [CONCERNING[code] for code in codes if code in CONCERNING]
    rest = [FURTHER[code] for code in codes if code in FURTHER]
    start = f"{counted(len(first), 'warning')} on the answer: {listed(list(dict.fromkeys(first)))}"
    more = listed(list(dict.fromkeys(rest)))
    if not first:
        return f"{counted(len(rest), 'warning')}: {more}."
    return f"{start}; {len(rest)} more: {more}." if rest else f"{start}."
