"""Pieces of the pages whose figures are drawn beforehand: lists, tables, figures, contenders, warnings, settings."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from uqassay._json import plain
from uqassay.notes import Note
from uqassay.report.markup import kept, shown
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, interval, listed_names, number

__all__ = [
    "bullets",
    "contender_section",
    "facts_list",
    "figure_data",
    "how_to_read",
    "in_groups",
    "overview_figure",
    "overview_row",
    "overview_table",
    "panels",
    "warning_list",
    "with_ends",
    "with_interval",
]

Item = TypeVar("Item")

MOST_NAMES = 6  # in a warning


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a list; nothing without sentences."""
    return f"<ul>{''.join(f'<li>{kept(s)}</li>' for s in sentences)}</ul>" if sentences else ""


def with_interval(value: Estimate, decimals: int) -> str:
    """A number with its interval below it, as the content of a cell."""
    return with_ends(float(value), value.low, value.high, decimals=decimals)


def with_ends(value: float, low: float, high: float, *, decimals: int) -> str:
    """The same for a number and the ends of its interval, or of a band."""
    ends = interval(low, high, decimals)
    return number(value, decimals) + ("" if ends == ABSENT else f'<span class="i">{ends}</span>')


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


def overview_figure(title: str, figure: str, data: str, caption: str) -> str:
    """A figure with its data, which scrolls where the page is narrower; nothing without a figure."""
    if not figure:
        return ""
    held = f'<div class="scroll" tabindex="0" role="group" aria-label="{shown(title)}">{figure}</div>'
    return f'<figure class="overview">{held}{data}<figcaption>{shown(caption)}</figcaption></figure>'


# -- contenders ---------------------------------------------------------------------------------------------------------


def panels(
    figures: Mapping[str, str],
    text: Mapping[str, str],
    *,
    data: Mapping[str, str] | None = None,
    level: int = 4,
    captions: bool = True,
) -> str:
    """Figures side by side, each with its heading `text[NAME]`, its data from `figure_data` and its caption
    `text[NAME_caption]`, where there are any; `level` is that of the headings.
    """
    drawn = []
    for name, figure in figures.items():
        caption = text.get(f"{name}_caption", "") if captions else ""
        below = f"<figcaption>{shown(caption)}</figcaption>" if caption else ""
        heading = f"<h{level}>{shown(text[name])}</h{level}>"
        drawn.append(f"<figure>{heading}{figure}{(data or {}).get(name, '')}{below}</figure>")
    return f'<div class="panels">{"".join(drawn)}</div>'


def figure_data(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], text: Mapping[str, str]) -> str:
    """The numbers of a figure as a folded table, for readers who do not see it.

    The first cell of a row is its heading, as text; the others are markup.
    """
    cells = "".join(f'<th scope="col"{"" if i else " class=text"}>{shown(head)}</th>' for i, head in enumerate(heads))
    body = "".join(
        f'<tr><th scope="row" class="text">{shown(first)}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    summary = f'{shown(text["data"])}<span class="visually-hidden">: {shown(caption)}</span>'
    return (
        f'<details class="chart-data"><summary>{summary}</summary>'
        f'<div class="scroll short" tabindex="0" role="group" aria-label="{shown(caption)}"><table>'
        f"<caption><span>{shown(caption)}</span></caption>"
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def contender_section(label: str, place: str, sentences: Sequence[str], markup: str) -> str:
    """The section of one contender, which the overview links to: its name, its sentences, and what follows them."""
    return f'<div class="contender" id="{place}"><h3>{shown(label)}</h3>{bullets(sentences)}{markup}</div>'


# -- notes and settings -------------------------------------------------------------------------------------------------


def warning_list(notes: Iterable[tuple[str, Note]], text: Mapping[str, str]) -> str:
    """Notes with the names that each is about, every note once; nothing without notes."""
    about: dict[str, dict[str, None]] = {}  # names in order, each once
    for name, note in notes:
        about.setdefault(note.text, {})[name] = None
    items = [f"{listed_names(list(names), most=MOST_NAMES)}: {said}" for said, names in about.items()]
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
