"""One HTML page on the disentanglement of one or several contenders; it needs no network."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from uqassay.evidence.disentanglement_behaviour import disentanglement_behaviour
from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender, by_dataset, rank_disentanglement
from uqassay.evidence.disentanglement_verdict import (
    contender_sentences,
    disentanglement_sentences,
    legend_sentences,
)
from uqassay.notes import Note
from uqassay.report.disentanglement_data import behaviour_data, contender_data, ranking_data
from uqassay.report.disentanglement_figures import (
    behaviour_figures,
    contender_figures,
    expected_figures,
    ranking_figure,
)
from uqassay.report.markup import shown, write_html
from uqassay.report.sentences.disentanglement import disentanglement_text
from uqassay.report.static_page import static_page
from uqassay.report.static_pieces import (
    bullets,
    contender_section,
    how_to_read,
    in_groups,
    overview_figure,
    overview_row,
    overview_table,
    panels,
    warning_list,
    with_interval,
)
from uqassay.wording import count, pvalue

__all__ = ["render_disentanglement", "write_disentanglement_page"]

DECIMALS = 2
HEADS = (
    "contender",
    "error",
    "size_aleatoric",
    "size_epistemic",
    "noise_aleatoric",
    "noise_epistemic",
    "runs",
    "chance",
    "names",
    "best",
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
    return write_html(lambda: render_disentanglement(contenders, command=command, level=level, progress=progress), path)


def render_disentanglement(
    contenders: Sequence[Contender],
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
) -> str:
    """The page as text, the same for the same contenders; parameters as in `write_disentanglement_page`."""
    say = progress or (lambda step: None)
    groups = by_dataset(contenders)
    text = disentanglement_text(level=level)
    ranked = {name: rank_disentanglement(group, level=level) for name, group in groups.items()}
    every = [row for rows in ranked.values() for row in rows]
    places = {id(row.contender): f"c{i}" for i, row in enumerate(every)}

    def section(row: RankedContender) -> str:
        say(f"drawing {row.contender.label}")
        return _contender(row.contender, places[id(row.contender)], text, level)

    parts = {
        "warnings": warning_list(_notes(contenders), text),
        "overview": "".join(
            _ranking(f"{text['ranking']}: {name}" if len(groups) > 1 else text["ranking"], rows, places, text, level)
            for name, rows in ranked.items()
        ),
        "expected": panels(expected_figures(), text, level=3, captions=False),
        "key": _key(text),
        "contenders": in_groups(ranked, section),
        "how": how_to_read(legend_sentences(level=level), _facts(contenders), command, text),
    }
    return static_page(
        "disentanglement",
        parts,
        text,
        title=", ".join(groups),
        verdict=disentanglement_sentences(contenders, level=level),
        rows=[row.to_dict() for row in every],
    )


# -- sections -----------------------------------------------------------------------------------------------------------


def _ranking(
    title: str, rows: Sequence[RankedContender], places: Mapping[int, str], text: Mapping[str, str], level: float
) -> str:
    table = [_ranking_row(row, places[id(row.contender)]) for row in rows]
    figure = ranking_figure(rows, name=f"r{places[id(rows[0].contender)]}", level=level)
    drawn = overview_figure(title, figure, ranking_data(title, rows, text), text["ranking_figure"])
    return overview_table(title, text["ranking_note"], [text[f"head_{name}"] for name in HEADS], table) + drawn


def _ranking_row(row: RankedContender, place: str) -> str:
    one, found = row.contender, row.found
    if found is None:
        return overview_row(one.label, place, row.notes[0].text, width=len(HEADS))
    cells = [
        with_interval(found.error, DECIMALS),
        *(with_interval(term.correlation, DECIMALS) for term in found.terms),
        count(one.study.n_runs),
        *(pvalue(p) for p in (one.chance_test.pvalue, one.names_test.pvalue, row.pvalue_adjusted)),
    ]
    return overview_row(one.label, place, cells, width=len(HEADS), best=row.rank == 1)


def _contender(contender: Contender, place: str, text: Mapping[str, str], level: float) -> str:
    figures = contender_figures(contender, name=place, level=level)
    markup = panels(figures, text, data=contender_data(contender, text, level=level))
    found = disentanglement_behaviour(contender.study, contender.decomposition, level=level)
    beyond = behaviour_figures(found, name=f"{place}b")
    if beyond or found.sentences:
        summary = f"<summary>{shown(text['beyond'])}</summary>"
        held = panels(beyond, text, data=behaviour_data(found, text))
        markup += f"<details>{summary}{bullets(found.sentences)}{held}</details>"
    return contender_section(contender.label, place, contender_sentences(contender, level=level), markup)


def _key(text: Mapping[str, str]) -> str:
    items = [
        f'<li><span class="swatch{shape}" style="background: var(--{name})"></span>{shown(text[name])}</li>'
        for name, shape in SHAPES.items()
    ]
    dashed = f'<li><span class="dash"></span>{shown(text["dashed"])}</li>'
    return f'<ul class="key" aria-label="{shown(text["key"])}">{"".join(items)}{dashed}</ul>'


# -- notes and settings -------------------------------------------------------------------------------------------------


def _notes(contenders: Sequence[Contender]) -> list[tuple[str, Note]]:
    return [
        (one.label, note)
        for one in contenders
        for note in (*one.study.notes, *(one.disentanglement().notes if one.has_error else ()))
    ]


def _facts(contenders: Sequence[Contender]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for study in {id(one.study): one.study for one in contenders}.values():
        facts: dict[str, Any] = {"runs": study.n_runs, "seeds": list(study.seeds), **study.facts}
        for name in EXPERIMENTS:
            if name in study.measured:
                facts[f"{name} conditions"] = list(study.measured[name].conditions)
        found.append((f"{study.method}, {study.dataset}", facts))
    return found
