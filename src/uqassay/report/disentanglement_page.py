"""One HTML page on the disentanglement of one or several contenders; it needs no network."""

from collections.abc import Callable, Sequence
from pathlib import Path

from uqassay._files import plain_target
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
from uqassay.report.sentences.disentanglement import disentanglement_text
from uqassay.report.static_page import (
    bullets,
    facts_list,
    filled_template,
    kept,
    page_file,
    shown,
    static_payload,
    with_interval,
    write_static_page,
)
from uqassay.wording import count, pvalue

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
    plain_target(Path(path))  # before the drawing, which takes a while
    text = render_disentanglement(contenders, command=command, level=level, progress=progress)
    return write_static_page(text, path)


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
        sections += [f"<h2>{shown(name)}</h2>"] if len(groups) > 1 else []
        for row in rows:
            say(f"drawing {row.contender.label}")
            sections.append(_contender(row.contender, places[id(row.contender)], text, level))
    parts = {
        "version": shown(__version__),
        "title": shown(f"{', '.join(groups)}: {text['title']}"),
        "css": page_file("page.css") + page_file("static_page.css") + page_file("disentanglement_page.css"),
        "verdict": "".join(f"<p>{kept(s)}</p>" for s in disentanglement_sentences(contenders, level=level)),
        "warnings": _warnings(contenders, text),
        "overview": "".join(
            _ranking(name, rows, places, text, level, named=len(groups) > 1) for name, rows in ranked.items()
        ),
        "expected": _figures(expected_figures(), text, captions=False),
        "key": _key(text),
        "contenders": "".join(sections),
        "how": _how(contenders, command, text, level),
        "payload": static_payload([row.to_dict() for rows in ranked.values() for row in rows], "disentanglement.json"),
        "js": page_file("static_page.js"),
    }
    return filled_template("disentanglement_page.html", parts, text)


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
        f'<th scope="col"{" class=text" if name == "contender" else ""}>{shown(text[f"head_{name}"])}</th>'
        for name in HEADS
    )
    body = "".join(_ranking_row(row, places[id(row.contender)]) for row in rows)
    figure = ranking_figure(rows, name=f"r{places[id(rows[0].contender)]}", level=level)
    caption = f"<figcaption>{shown(text['ranking_figure'])}</figcaption>"
    drawn = f'<figure class="ranked"><div class="scroll">{figure}</div>{caption}</figure>'
    return (
        f'<h2>{shown(title)}</h2><p class="note">{shown(text["ranking_note"])}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{shown(title)}">'
        f'<table class="ranking"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{drawn if figure else ""}'
    )


def _ranking_row(row: RankedContender, place: str) -> str:
    one, found = row.contender, row.found
    name = f'<td class="name text"><a href="#{place}">{shown(one.label)}</a></td>'
    if found is None:
        why = shown(row.notes[0].text)
        return f'<tr>{name}<td class="text" colspan="{len(HEADS) - 1}">{why}</td></tr>'
    values = [
        with_interval(found.error, DECIMALS),
        *(with_interval(term.correlation, DECIMALS) for term in found.terms),
    ]
    values += [count(one.study.n_runs)]
    values += [pvalue(p) for p in (one.chance_test.pvalue, one.names_test.pvalue, row.pvalue_adjusted)]
    cells = "".join(f"<td>{value}</td>" for value in values)
    return f"<tr{' class=best' if row.rank == 1 else ''}>{name}{cells}</tr>"


def _contender(contender: Contender, place: str, text: dict[str, str], level: float) -> str:
    sentences = contender_sentences(contender, level=level)
    beyond, said = behaviour_figures(contender, name=f"{place}b", level=level)
    further = ""
    if beyond or said:
        further = (
            f"<details><summary>{shown(text['beyond'])}</summary>{bullets(said)}"
            f'<div class="panels">{_figures(beyond, text)}</div></details>'
        )
    figures = contender_figures(contender, name=place, level=level)
    return (
        f'<div class="contender" id="{place}"><h3>{shown(contender.label)}</h3>{bullets(sentences)}'
        f'<div class="panels">{_figures(figures, text)}</div>{further}</div>'
    )


def _figures(figures: dict[str, str], text: dict[str, str], *, captions: bool = True) -> str:
    drawn = []
    for name, figure in figures.items():
        caption = text.get(f"{name}_caption", "") if captions else ""
        below = f"<figcaption>{shown(caption)}</figcaption>" if caption else ""
        drawn.append(f"<figure><h4>{shown(text[name])}</h4>{figure}{below}</figure>")
    return "".join(drawn)


def _key(text: dict[str, str]) -> str:
    items = [
        f'<li><span class="swatch{shape}" style="background: var(--{name})"></span>{shown(text[name])}</li>'
        for name, shape in SHAPES.items()
    ]
    dashed = f'<li><span class="dash"></span>{shown(text["dashed"])}</li>'
    return f'<ul class="key" aria-label="{shown(text["key"])}">{"".join(items)}{dashed}</ul>'


def _warnings(contenders: Sequence[Contender], text: dict[str, str]) -> str:
    notes: list[Note] = []
    for one in contenders:
        found = [*one.study.notes, *(one.disentanglement().notes if one.has_error else ())]
        notes += [Note(note.code, f"{one.label}: {note.text}") for note in found]
    if not notes:
        return ""
    items = "".join(f"<li>{shown(note.text)}</li>" for note in distinct(notes))
    return f'<div class="warnings"><h2>{shown(text["warnings"])}</h2><ul>{items}</ul></div>'


def _how(contenders: Sequence[Contender], command: str | None, text: dict[str, str], level: float) -> str:
    shown_facts = bullets(legend_sentences(level=level))
    studies = {id(one.study): one.study for one in contenders}
    for study in studies.values():
        facts = {"runs": study.n_runs, "seeds": ", ".join(map(str, study.seeds)), **study.facts}
        for name in EXPERIMENTS:
            if name in study.measured:
                facts[f"{name} conditions"] = [f"{value:g}" for value in study.measured[name].conditions]
        shown_facts += facts_list(f"{text['facts']}: {study.method}, {study.dataset}", facts)
    if command is not None:
        shown_facts += f"<h3>{shown(text['command'])}</h3><pre>{shown(command)}</pre>"
    return shown_facts
