"""Pieces of the pages whose figures are drawn beforehand: lists, tables, figures, contenders, warnings, settings."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from uqassay._json import plain
from uqassay.notes import Note
from uqassay.report.markup import kept, shown
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, interval, listed, number

__all__ = [
    "bullets",
    "contender_section",
    "facts_list",
    "how_to_read",
    "in_groups",
    "overview_figure",
    "overview_row",
    "overview_table",
    "panels",
    "warning_list",
    "with_interval",
]

Item = TypeVar("Item")

MOST_NAMES = 6  # in a warning


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a list; nothing without sentences."""
    return f"<ul>{''.join(f'<li>{kept(s)}</li>' for s in sentences)}</ul>" if sentences else ""


def with_interval(value: Estimate, decimals: int) -> str:
    """A number with its interval below it, as the content of a cell."""
    ends = interval(value.low, value.high, decimals)
    return number(float(value), decimals) + ("" if ends == ABSENT else f'<span class="i">{ends}</span>')


def in_groups(groups: Mapping[str, Sequence[Item]], draw: Callable[[Item], str]) -> str:
    """The markup of every item, below the name of its group if there are several groups."""
    found = []
    for name, items in groups.items():
        found += [f"<h2>{shown(name)}</h2>"] if len(groups) > 1 else []
        found += [draw(one) for one in items]
    return "".join(found)


# -- overview -----------------------------------------------------------------------------------------------------------


def overview_table(title: str, note: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """A heading, a note and a table of rows from `overview_row`; the first column is text."""
    cells = "".join(f'<th scope="col"{"" if i else " class=text"}>{shown(head)}</th>' for i, head in enumerate(heads))
    return (
        f'<h2>{shown(title)}</h2><p class="note">{shown(note)}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{shown(title)}">'
        f'<table class="ranking"><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def overview_row(label: str, place: str, cells: Sequence[str] | str, *, width: int, best: bool = False) -> str:
    """A row that begins with the link to a contender's section: markup of its cells, or one text across all of them."""
    if isinstance(cells, str):
        held = f'<td class="text" colspan="{width - 1}">{shown(cells)}</td>'
    else:
        held = "".join(f"<td>{cell}</td>" for cell in cells)
    name = f'<td class="name text"><a href="#{place}">{shown(label)}</a></td>'
    return f"<tr{' class=best' if best else ''}>{name}{held}</tr>"


def overview_figure(figure: str, caption: str) -> str:
    """A figure that scrolls where the page is narrower; nothing without a figure."""
    if not figure:
        return ""
    below = f"<figcaption>{shown(caption)}</figcaption>"
    return f'<figure class="overview"><div class="scroll">{figure}</div>{below}</figure>'


# -- contenders ---------------------------------------------------------------------------------------------------------


def panels(figures: Mapping[str, str], text: Mapping[str, str], *, captions: bool = True) -> str:
    """Figures side by side, each with its heading `text[NAME]` and its caption `text[NAME_caption]`, if there is one."""
    drawn = []
    for name, figure in figures.items():
        caption = text.get(f"{name}_caption", "") if captions else ""
        below = f"<figcaption>{shown(caption)}</figcaption>" if caption else ""
        drawn.append(f"<figure><h4>{shown(text[name])}</h4>{figure}{below}</figure>")
    return f'<div class="panels">{"".join(drawn)}</div>'


def contender_section(label: str, place: str, sentences: Sequence[str], markup: str) -> str:
    """The section of one contender, which the overview links to: its name, its sentences, and what follows them."""
    return f'<div class="contender" id="{place}"><h3>{shown(label)}</h3>{bullets(sentences)}{markup}</div>'


# -- notes and settings -------------------------------------------------------------------------------------------------


def warning_list(notes: Iterable[tuple[str, Note]], text: Mapping[str, str]) -> str:
    """Notes with the names that each is about, every note once; nothing without notes."""
    about: dict[str, dict[str, None]] = {}  # names in order, each once
    for name, note in notes:
        about.setdefault(note.text, {})[name] = None
    items = [f"{listed(list(names), most=MOST_NAMES)}: {said}" for said, names in about.items()]
    if not items:
        return ""
    held = "".join(f"<li>{shown(item)}</li>" for item in items)
    return f'<div class="warnings"><h2>{shown(text["warnings"])}</h2><ul>{held}</ul></div>'


def how_to_read(
    legend: Sequence[str], facts: Iterable[tuple[str, Mapping[str, Any]]], command: str | None, text: Mapping[str, str]
) -> str:
    """Sentences on the quantities, the settings of each study below its name, and the command that makes the page again."""
    found = bullets(legend) + "".join(facts_list(f"{text['facts']}: {name}", held) for name, held in facts)
    if command is not None:
        found += f"<h3>{shown(text['command'])}</h3><pre>{shown(command)}</pre>"
    return found


def facts_list(title: str, facts: Mapping[str, Any]) -> str:
    """A heading and a list of facts."""
    items = "".join(f"<dt>{shown(str(key))}</dt><dd>{shown(_plainly(value))}</dd>" for key, value in facts.items())
    return f'<h3>{shown(title)}</h3><dl class="facts">{items}</dl>'


def _plainly(value: Any) -> str:
    """A fact as text: lists by commas, everything nested as JSON."""
    value = plain(value)
    if isinstance(value, list) and not any(isinstance(part, (list, dict)) for part in value):
        return ", ".join(map(_plainly, value))
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) or value is None else str(value)
