"""The first screen of the page as markup: the table of metrics, and the warnings that change the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uqassay.evidence.data import Judged
from uqassay.notes import Note, reason
from uqassay.report.markup import kept
from uqassay.report.sentences import CONCERNING, kind_text, more_warnings
from uqassay.results import plain
from uqassay.text import ABSENT, html_text, number

if TYPE_CHECKING:
    from uqassay.evidence.metric_table import MeasuredMetric, Metrics

__all__ = ["metrics_markup", "of_the_answer", "warnings_on_answer"]

SHOWN_WARNINGS = 2  # before the others unfold


def metrics_markup(metrics: "Metrics") -> str:
    """Models in rows, metrics in columns, each with its interval; the best bold, those not shown to be worse underlined.

    The page's script lets the headings sort, and filters many models by name. The table can be read without it.
    """
    assay = metrics.assay
    heads = ['<th class="text" scope="col" aria-sort="none"><button type="button" class="sort">Model</button></th>']
    for metric, title in zip(metrics.metrics, metrics.headings(), strict=True):
        defined = "distance" if metric == assay.settings.distance_metric else metric
        held = (title[0].upper() + title[1:]).replace(" ↑", "\u00a0↑").replace(" ↓", "\u00a0↓")
        sort = f'<button type="button" class="sort">{kept(held)}</button>'
        what = f'<button type="button" class="what" data-define="{html_text(defined)}">?</button>'
        heads.append(f'<th scope="col" aria-sort="none"><span class="head">{sort}{what}</span></th>')
    decimals = metrics.decimals()
    places = {m.name: j for j, m in enumerate(assay.models)}
    rows = []
    for name, measured in metrics.by_model().items():
        named = f'<span class="named"><bdi>{html_text(name)}</bdi></span><span class="i">{_kind(assay, name)}</span>'
        cells = "".join(_cell(one, decimals[one.metric]) for one in measured)
        baseline = ' class="baseline"' if measured[0].baseline else ""
        rows.append(f'<tr{baseline} data-place="{places[name]}"><td class="name text">{named}</td>{cells}</tr>')
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _kind(assay: Judged, name: str) -> str:
    return html_text(kind_text(assay[name]))


def _cell(one: "MeasuredMetric", decimals: int) -> str:
    """The number with its interval below; of a missing number the reason at the pointer."""
    found = one.estimate
    if found != found:
        return f'<td><span title="{html_text(reason(found.notes) or "not defined")}">{ABSENT}</span></td>'
    text = html_text(number(float(found), decimals))
    marked = f"<b>{text}</b>" if one.best else f"<u>{text}</u>" if one.tied else f"<span>{text}</span>"
    ends = f'<span class="i">{number(found.low, decimals)}–{number(found.high, decimals)}</span>'
    return f'<td data-value="{plain(float(found))}">{marked}{ends if found.low < found.high else ""}</td>'


def of_the_answer(warnings: Sequence[Note]) -> list[Note]:
    """The warnings that change how much to believe the answer."""
    return [note for note in warnings if note.code in CONCERNING]


def warnings_on_answer(assay: Judged) -> str:
    """The warnings that change how much to believe the answer, of which the first are not folded; nothing without any."""
    items = [f"<li>{html_text(note.text)}</li>" for note in of_the_answer(assay.warnings)]
    if not items:
        return ""
    first, rest = items[:SHOWN_WARNINGS], items[SHOWN_WARNINGS:]
    more = f"<details><summary>{kept(more_warnings(len(rest)))}</summary><ul>{''.join(rest)}</ul></details>"
    return f'<div class="warnings" id="on-answer"><ul>{"".join(first)}</ul>{more if rest else ""}</div>'
