"""One HTML page on the disentanglement of one or several contenders; it needs no network."""

import html
import json
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from uqassay._files import plain_target, whole_file
from uqassay._json import plain
from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender, by_dataset, rank_disentanglement
from uqassay.evidence.disentanglement_verdict import (
    contender_sentences,
    disentanglement_sentences,
    legend_sentences,
)
from uqassay.notes import Note, distinct
from uqassay.report.disentanglement_figures import (
    behaviour_figures,
    contender_figures,
    expected_figures,
    ranking_figure,
)
from uqassay.report.page import json_for_script
from uqassay.report.sentences.disentanglement import disentanglement_text
from uqassay.report.sentences.general import general_sentences
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, count, interval, number, pvalue, without_direction

__all__ = ["render_disentanglement", "write_disentanglement_page"]

DECIMALS = 2
HEADS = (
    *("contender", "error", "size_aleatoric", "size_epistemic", "noise_aleatoric", "noise_epistemic"),
    *("runs", "chance", "names", "best"),
)
SHAPES = {"aleatoric": "", "epistemic": " square", "accuracy": " triangle-up"}


def write_disentanglement_page(
    contenders: Sequence[Contender],
    path: str | Path,
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write the page to one file, whole or not at all.

    Parameters
    ----------
    contenders : sequence of Contender
        On one or several data sets.
    path : str or Path
    command : str, optional
        The command line that makes the page again.
    level : float
        Confidence level of the intervals.
    progress : callable, optional
        Is told what is being drawn.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        No contenders, or one label twice on one data set.
    FileFormatError
        When the path is that of a folder, a pipe or a device.
    OSError
        When it cannot be written.
    MissingDependencyError
        When matplotlib is not installed.
    """
    target = plain_target(Path(path))
    text = render_disentanglement(contenders, command=command, level=level, progress=progress)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)


def render_disentanglement(
    contenders: Sequence[Contender],
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
) -> str:
    """The page as text, the same for the same contenders; parameters as in `write_disentanglement_page`."""
    from uqassay import __version__

    say = progress or (lambda step: None)
    groups = by_dataset(contenders)
    text = disentanglement_text(level=level)
    ranked = {name: rank_disentanglement(group, level=level) for name, group in groups.items()}
    places = {id(row.contender): f"c{i}" for i, row in enumerate(row for rows in ranked.values() for row in rows)}
    sections = []
    for name, rows in ranked.items():
        sections += [f"<h2>{_shown(name)}</h2>"] if len(groups) > 1 else []
        for row in rows:
            say(f"drawing {row.contender.label}")
            sections.append(_contender(row.contender, places[id(row.contender)], text, level))
    parts = {
        "version": _shown(__version__),
        "title": _shown(f"{', '.join(groups)}: {text['title']}"),
        "css": _part("page.css") + _part("disentanglement_page.css"),
        "verdict": "".join(f"<p>{_kept(s)}</p>" for s in disentanglement_sentences(contenders, level=level)),
        "warnings": _warnings(contenders, text),
        "ranking": "".join(
            _ranking(name, rows, places, text, level, named=len(groups) > 1) for name, rows in ranked.items()
        ),
        "expected": _figures(expected_figures(), text, captions=False),
        "key": _key(text),
        "contenders": "".join(sections),
        "how": _how(contenders, command, text, level),
        "payload": json_for_script(_payload(ranked)),
        "js": _part("disentanglement_page.js"),
    }
    parts |= {f"text.{name}": html.escape(value) for name, value in text.items()}
    # one pass, so that a place in a value stays text
    return re.sub(r"\{\{([\w.-]+)\}\}", lambda place: parts[place[1]], _part("disentanglement_page.html"))


def _payload(ranked: dict[str, tuple[RankedContender, ...]]) -> dict[str, Any]:
    general = general_sentences()
    labels = {name: general["scheme"].format(scheme=name) for name in general["schemes"]}
    return {
        "schemes": general["schemes"],
        "scheme_labels": labels | {"auto": general["scheme_auto"]},
        "rows": [row.to_dict() for rows in ranked.values() for row in rows],
    }


# -- sections -----------------------------------------------------------------------------------------------------------


def _ranking(
    dataset: str,
    rows: Sequence[RankedContender],
    places: dict[int, str],
    text: dict[str, str],
    level: float,
    *,
    named: bool,
) -> str:
    title = f"{text['ranking']}: {dataset}" if named else text["ranking"]
    heads = "".join(
        f'<th scope="col"{" class=text" if name == "contender" else ""}>{_shown(text[f"head_{name}"])}</th>'
        for name in HEADS
    )
    body = "".join(_ranking_row(row, places[id(row.contender)]) for row in rows)
    figure = ranking_figure(rows, name=f"r{places[id(rows[0].contender)]}", level=level)
    caption = f"<figcaption>{_shown(text['ranking_figure'])}</figcaption>"
    drawn = f'<figure class="ranked"><div class="scroll">{figure}</div>{caption}</figure>'
    return (
        f'<h2>{_shown(title)}</h2><p class="note">{_shown(text["ranking_note"])}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_shown(title)}">'
        f'<table class="ranking"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{drawn if figure else ""}'
    )


def _ranking_row(row: RankedContender, place: str) -> str:
    one, found = row.contender, row.found
    name = f'<td class="name text"><a href="#{place}">{_shown(one.label)}</a></td>'
    if found is None:
        why = _shown(row.notes[0].text)
        return f'<tr>{name}<td class="text" colspan="{len(HEADS) - 1}">{why}</td></tr>'
    values = [_with_interval(found.error), *(_with_interval(term.correlation) for term in found.terms)]
    values += [count(one.study.n_runs)]
    values += [pvalue(p) for p in (one.chance_test.pvalue, one.names_test.pvalue, row.pvalue_adjusted)]
    cells = "".join(f"<td>{value}</td>" for value in values)
    return f"<tr{' class=best' if row.rank == 1 else ''}>{name}{cells}</tr>"


def _with_interval(value: Estimate) -> str:
    ends = interval(value.low, value.high, DECIMALS)
    return number(float(value), DECIMALS) + ("" if ends == ABSENT else f'<span class="i">{ends}</span>')


def _contender(contender: Contender, place: str, text: dict[str, str], level: float) -> str:
    sentences = contender_sentences(contender, level=level)
    beyond, said = behaviour_figures(contender, name=f"{place}b", level=level)
    further = ""
    if beyond or said:
        further = (
            f"<details><summary>{_shown(text['beyond'])}</summary>{_list(said)}"
            f'<div class="panels">{_figures(beyond, text)}</div></details>'
        )
    figures = contender_figures(contender, name=place, level=level)
    return (
        f'<div class="contender" id="{place}"><h3>{_shown(contender.label)}</h3>{_list(sentences)}'
        f'<div class="panels">{_figures(figures, text)}</div>{further}</div>'
    )


def _figures(figures: dict[str, str], text: dict[str, str], *, captions: bool = True) -> str:
    shown = []
    for name, figure in figures.items():
        caption = text.get(f"{name}_caption", "") if captions else ""
        below = f"<figcaption>{_shown(caption)}</figcaption>" if caption else ""
        shown.append(f"<figure><h4>{_shown(text[name])}</h4>{figure}{below}</figure>")
    return "".join(shown)


def _key(text: dict[str, str]) -> str:
    items = [
        f'<li><span class="swatch{shape}" style="background: var(--{name})"></span>{_shown(text[name])}</li>'
        for name, shape in SHAPES.items()
    ]
    dashed = f'<li><span class="dash"></span>{_shown(text["dashed"])}</li>'
    return f'<ul class="key" aria-label="{_shown(text["key"])}">{"".join(items)}{dashed}</ul>'


def _warnings(contenders: Sequence[Contender], text: dict[str, str]) -> str:
    notes: list[Note] = []
    for one in contenders:
        found = [*one.study.notes, *(one.disentanglement().notes if one.has_error else ())]
        notes += [Note(note.code, f"{one.label}: {note.text}") for note in found]
    if not notes:
        return ""
    items = "".join(f"<li>{_shown(note.text)}</li>" for note in distinct(notes))
    return f'<div class="warnings"><h2>{_shown(text["warnings"])}</h2><ul>{items}</ul></div>'


def _how(contenders: Sequence[Contender], command: str | None, text: dict[str, str], level: float) -> str:
    shown = _list(legend_sentences(level=level))
    studies = {id(one.study): one.study for one in contenders}
    for study in studies.values():
        facts = {"runs": study.n_runs, "seeds": ", ".join(map(str, study.seeds)), **study.facts}
        for name in EXPERIMENTS:
            if name in study.measured:
                facts[f"{name} conditions"] = [f"{value:g}" for value in study.measured[name].conditions]
        items = "".join(
            f"<dt>{_shown(str(key))}</dt><dd>{_shown(_plainly(value))}</dd>" for key, value in facts.items()
        )
        title = f"{text['facts']}: {study.method}, {study.dataset}"
        shown += f'<h3>{_shown(title)}</h3><dl class="facts">{items}</dl>'
    if command is not None:
        shown += f"<h3>{_shown(text['command'])}</h3><pre>{_shown(command)}</pre>"
    return shown


def _plainly(value: Any) -> str:
    """A fact as text: lists by commas, everything nested as JSON."""
    value = plain(value)
    if isinstance(value, list) and not any(isinstance(part, (list, dict)) for part in value):
        return ", ".join(map(_plainly, value))
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) or value is None else str(value)


# -- pieces -------------------------------------------------------------------------------------------------------------


def _shown(text: str) -> str:
    return html.escape(without_direction(text))


def _kept(text: str) -> str:
    """No line break inside "r = 0.5", "95 %" and "p &lt; .001"."""
    return re.sub(r"(?<=[rp]) (=|≤|≥|&lt;) (?=[−0-9.])", "\u00a0\\1\u00a0", _shown(text)).replace(" %", "\u00a0%")


def _list(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_kept(s)}</li>' for s in sentences)}</ul>" if sentences else ""


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
