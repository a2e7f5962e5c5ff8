"""The answer card as markup; it needs no script."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from uqassay.evidence.answer import Answer, Stretch
from uqassay.evidence.headline import PRICE
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.report.markup import kept, shown
from uqassay.report.sentences.answer import (
    CAUTION,
    DEPENDS,
    Statement,
    answer_choices,
    answer_remarks,
    axis_text,
    caution_finding,
    meanings,
    stretch_text,
)
from uqassay.wording import counted, listed, listed_names, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["answer_card", "border_places", "caution_section"]

HUES, SHAPES = 8, ("", " square", " diamond", " triangle-up")  # of the models' marks, as the page's script has them
SHOWN_NAMES = 3
LONG_NAMES = 40  # characters of the names in large type; more are set smaller
NAMED_NAMES = 30  # characters of the names that are written in a stretch of the axis
ROW = 1.2  # height of a row of labels, rem
LETTER = 0.033  # width of a character of a label, as a share of the axis on a narrow screen


def answer_card(assay: "Assay") -> str:
    """The card: what to choose, the axis of λ, and what the words mean."""
    answer = assay.answer()
    said = f'<p class="depends">{DEPENDS}</p>' if len(answer.choices) > 1 else ""
    said += "".join(_choice(answer, one) for one in answer_choices(answer))
    has_axis = answer.kind in ("choose", "open", "none")
    said += _axis(answer) if has_axis else ""
    remarks = "".join(f'<li class="is-{kind}">{kept(text)}</li>' for kind, text in answer_remarks(answer))
    said += f"<ul>{remarks}</ul>" if remarks else ""
    baselines = [m.name for m in assay.models if m.baseline]
    explained = meanings(baselines, votes=assay.labels.ndim == 2, price=not has_axis)
    words = "".join(f"<dt>{kept(term)}</dt><dd>{kept(meaning)}</dd>" for term, meaning in explained)
    return f'<div class="answer">\n<div class="told-first">{said}</div>\n<dl>{words}</dl>\n</div>'


def caution_section(assay: "Assay") -> str:
    """The warnings, folded; nothing where there are none."""
    if not assay.warnings:
        return ""
    items = "".join(f"<li>{shown(note.text)}</li>" for note in assay.warnings)
    title, finding = CAUTION, kept(caution_finding([note.code for note in assay.warnings]))
    return (
        '<details class="section" id="caution" aria-labelledby="caution-h">\n'
        f'<summary><h2 id="caution-h">{title}</h2> <span class="finding">{finding}</span></summary>\n'
        f'<div class="warnings"><ul>{items}</ul></div>\n</details>'
    )


# -- what to choose --------------------------------------------------------------------------------------------------------


def _choice(answer: Answer, one: Statement) -> str:
    words = [shown(one.before), _names(answer, one.models, "or") if one.models else "", shown(one.after)]
    size = "large" if sum(map(len, one.models[:SHOWN_NAMES])) <= LONG_NAMES else "large long"
    said = f'<div class="{size}">{" ".join(filter(None, words))}</div><p class="where">{kept(one.where)}</p>'
    lines = "".join(
        f"<div><dt>{kept(label)}</dt><dd>{_names(answer, names, 'and')}</dd></div>"
        for label, names in one.others
        if names
    )
    sentences = "".join(f"<p>{kept(text)}</p>" for text, names in one.others if not names)
    return f'<div class="choice">{said}{sentences}{f"<dl>{lines}</dl>" if lines else ""}</div>'


def _names(answer: Answer, names: Sequence[str], last: str) -> str:
    """Names with their marks; those that are more than few unfold in their place."""
    each = [f'<span class="name">{_mark(answer, name)}<bdi>{shown(name)}</bdi></span>' for name in names]
    if len(each) <= SHOWN_NAMES + 1:
        return listed(each, last=last)
    rest = each[SHOWN_NAMES:]
    more = f"<details><summary>{last} {counted(len(rest), 'other')}</summary> {', '.join(rest)}</details>"
    return f"{', '.join(each[:SHOWN_NAMES])} {more}"


def _mark(answer: Answer, name: str) -> str:
    j = answer.models.index(name)
    return f'<i class="swatch{SHAPES[j // HUES % len(SHAPES)]} hue{j % HUES}"></i>'


# -- the axis of λ -----------------------------------------------------------------------------------------------------------


def _axis(answer: Answer) -> str:
    text = axis_text(answer, DEFAULT_TRADEOFF)
    stretches = "".join(_stretch(answer, s, text) for s in answer.stretches if s.low < answer.top)
    here = DEFAULT_TRADEOFF / answer.top
    to_left = here > 0.5
    room = here if to_left else 1 - here
    place = f"{'right' if to_left else 'left'}: {_percent(1 - room)}; max-width: {_percent(room)}"
    labels = _borders(answer)
    borders = "".join(
        f'<span style="{place}; top: {row * ROW:.2f}rem">{shown(words)}</span>' for row, place, words in labels
    )
    until = f'<span class="screen"> {kept(text["until"])}</span>'
    height = ROW * (1 + max((row for row, _, _ in labels), default=0))
    return (
        f'<p class="price">{kept(PRICE)}</p>'
        f'<div class="axis" role="img" aria-label="{shown(text["whole"])}">'
        f'<div class="default{" left" if to_left else ""}" style="{place}">{kept(text["default"])}{until}</div>'
        f'<div class="bar">{stretches}<i class="here" style="left: {_percent(here)}"></i></div>'
        f'<div class="borders" style="height: {height:.2f}rem">{borders}</div>'
        f'<div class="ends"><span>{kept(text["start"])}</span><span>{kept(text["end"])}</span></div></div>'
    )


def _stretch(answer: Answer, s: Stretch, text: Mapping[str, str]) -> str:
    low, high = s.low / answer.top, min(s.high / answer.top, 1.0)
    words = text.get(s.kind, "")
    if s.kind == "choose" and sum(map(len, s.models)) <= NAMED_NAMES and len(s.models) <= SHOWN_NAMES:
        words = listed_names(s.models, last="or")
    bands = "".join(f'<i class="hue{answer.models.index(name) % HUES}"></i>' for name in s.models[:SHOWN_NAMES])
    return (
        f'<span class="stretch is-{s.kind}" style="left: {_percent(low)}; width: {_percent(high - low)}" '
        f'title="{shown(stretch_text(s, answer.top))}"><b><span>{shown(words)}</span></b>{bands}</span>'
    )


def _borders(answer: Answer) -> list[tuple[int, str, str]]:
    """Labels of the ends of the stretches that something is said about: row, place and words."""
    ranges = [(s.low, s.high) for s in answer.stretches if s.kind != "open" and s.low < answer.top]
    found = []
    for at, start, _, row in border_places(ranges, answer.top):
        words, x = tradeoff(at), at / answer.top
        to_right = f"min({_percent(1 - x)}, 100% - {len(words)}ch)"  # a label near λ = 0 starts there
        found.append((row, f"left: {_percent(x)}" if start == x else f"right: {to_right}", words))
    return found


def border_places(ranges: Sequence[tuple[float, float]], top: float) -> list[tuple[float, float, float, int]]:
    """Where the labels of the ends of ranges stand: the end, where its label starts and ends on the axis, and the row.

    A label stands inside its range, and in the first row where it covers no other.

    Examples
    --------
    >>> border_places([(0.0, 0.5), (1.0, 9.0)], 2.0)
    [(0.5, 0.151, 0.25, 0), (1.0, 0.5, 0.533, 0)]
    """
    found: list[tuple[float, float, float, int]] = []
    rows: list[float] = []  # where the last label of each row ends
    for low, high in ranges:
        for at, to_left in ((low, False), (high, True)):
            if not 0 < at < top:
                continue
            x, width = at / top, LETTER * len(tradeoff(at))
            start = max(x - width, 0.0) if to_left or x + width > 1 else x
            row = next((r for r, end in enumerate(rows) if end <= start), len(rows))
            rows[row : row + 1] = [start + width]
            found.append((at, start, start + width, row))
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
