"""The report: one HTML page that needs no network, drawn from the numbers of an `Assay` alone."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.evidence.verdict import details
from uqassay.report.answer import answer_card, caution_section
from uqassay.report.instances import InstancePacker
from uqassay.report.markup import deflated, filled, json_for_script, kept, page_file, shown, write_html
from uqassay.report.page_data import STEPS, payload
from uqassay.report.sentences.comparison import comparison_sentences
from uqassay.report.sentences.sections import NUMBERS, section_findings
from uqassay.report.sentences.template import template_sentences
from uqassay.wording import listed_names, named

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["render", "write_page"]

SCRIPTS = (
    "wording.js",
    "base.js",
    "sections.js",
    "labels.js",
    "tables.js",
    "chart_tables.js",
    "shown_models.js",
    "ranking.js",
    "rank_sets.js",
    "picture.js",
    "label_places.js",
    "pointer.js",
    "charts.js",
    "plane.js",
    "lines.js",
    "ridges.js",
    "scatter.js",
    "lenses.js",
    "mistakes.js",
    "mistakes_pieces.js",
    "mistakes_charts.js",
    "matrix.js",
    "refusal.js",
    "calibration.js",
    "calibration_closely.js",
    "calibration_charts.js",
    "sets.js",
    "instances.js",
    "instance_pictures.js",
    "method.js",
    "scheme.js",
    "main.js",
)
STYLES = ("page.css", "narrow.css", "print.css", "answer.css", "models.css")
LONG_HEADING = 60  # characters of the models' names; more would take several lines
ELEMENTS = {
    "tradeoff": "<span data-lambda></span>",
    "costs": '<select id="cost"></select>',
    "labels_hashed": "<code>sha256(y.tobytes())</code>",
}


def write_page(
    assay: "Assay",
    path: str | Path,
    *,
    command: str | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Path:
    """Write the report to one file, whole or not at all; a symbolic link stays, and the file that it leads to changes.

    Parameters
    ----------
    assay : Assay
    path : str or Path
    command : str, optional
        The command line that makes the page again; the page offers it to copy.
    progress : callable, optional
        Called with a sentence on each of `page_data.STEPS` when it begins.

    Returns
    -------
    Path

    Raises
    ------
    FileFormatError
        When the path is that of a folder, a pipe or a device.
    OSError
        When it cannot be written.
    """
    return write_html(lambda: render(assay, command=command, progress=progress), path)


def render(assay: "Assay", *, command: str | None = None, progress: Callable[[str], None] = lambda step: None) -> str:
    """The page as text; parameters as in `write_page`."""
    from uqassay import __version__

    with InstancePacker(assay) as packer:
        packer.start()
        values = payload(assay, command=command, progress=lambda step: progress(f"writing the page: {step}"))
        progress(f"writing the page: {STEPS[-1]}")
        lenses = values.pop("lenses")  # they may be half of all, and the first charts do not wait for them
        packed, packed_lenses = (deflated(json_for_script(part)) for part in (values, lenses))
        instances = json_for_script(packer.at(len(packed) + len(packed_lenses)))
    names = ", ".join(map(named, assay.model_names))
    parts = {
        "title": shown(f"{names} – uqassay report"),
        "heading": shown(_heading(assay)),
        "version": shown(__version__),
        "css": "\n".join(page_file(name) for name in STYLES),
        "answer": answer_card(assay),
        "caution": caution_section(assay),
        "compared": kept(comparison_sentences(assay)["compared"]),
        "numbers": _numbers(assay, lenses),
        "command": _command(command),
        "lens_links": "".join(f' <a href="#lens-{x["id"]}">{shown(x["short"])}</a>' for x in lenses),
        "lenses": "\n\n".join(map(_lens, lenses)),
        "payload": packed,
        "lens_values": packed_lenses,
        "instances": instances,
        "js": "\n".join(page_file(name) for name in SCRIPTS),
    }
    parts |= {f"finding.{name}": kept(text) for name, text in section_findings(assay).items()}
    parts |= {f"text.{name}": _marked(text) for name, text in template_sentences(assay).items()}
    return filled(page_file("page.html"), {**parts, "head": filled(page_file("head.html"), parts)})


def _numbers(assay: "Assay", lenses: Sequence[Mapping[str, Any]]) -> str:
    """The section on the differences behind the answer, without the sentences that other sections begin with."""
    told = {"best"}  # by the section on the choice of λ
    refusing = next((c for c in assay.claims() if "refusal" in (c.kind, c.limited_by)), None)
    lens = next((lens for lens in lenses if lens["id"] == "mistakes" and lens.get("views")), None)
    if refusing and lens and refusing.models[0] == _most_accurate(lens):
        told.add("refusal")
    sentences = "".join(f"<p>{kept(text)}</p>" for text in details(assay, without=told))
    if not sentences:
        return ""
    title, finding = map(kept, NUMBERS)
    summary = f'<summary><h2 id="numbers-h">{title}</h2> <span class="finding">{finding}</span></summary>'
    inside = f'{summary}\n    <div class="numbers">{sentences}</div>'
    return f'<details class="section" id="numbers" aria-labelledby="numbers-h">\n    {inside}\n  </details>'


def _most_accurate(lens: Mapping[str, Any]) -> str | None:
    """The model that the lens on mistakes names first: the most accurate one after its usual refusal."""
    first, k = lens["first"], lens["refused"].index(lens["first"]["share"])
    kept_by = {
        m["model"]: s["refusals"][k][0]
        for m in lens["models"]
        for s in m["scores"]
        if s["score"] == first["score"] and not m["unmixed"]
    }
    return max(kept_by, key=kept_by.__getitem__, default=None)


def _lens(lens: Mapping[str, Any]) -> str:
    """The folded section of a lens; the page's script fills it."""
    place = f"lens-{lens['id']}"
    heading = f'<h2 id="{place}-h">{shown(lens["title"])}</h2>'
    finding = f'<span class="finding" id="{place}-finding">{kept(lens["finding"])}</span>'
    summary = f"<summary>{heading} {finding}</summary>"
    return f'<details class="section" id="{place}" aria-labelledby="{place}-h">\n  {summary}\n</details>'


def _command(command: str | None) -> str:
    """The command in plain sight, by which `uqassay bench` knows its own pages; bytes that are no text are escaped."""
    if command is None:
        return ""
    shown = html.escape(command.encode("utf-8", "backslashreplace").decode("utf-8"))
    return f'<pre id="command-text" tabindex="0">{shown}</pre>'


def _heading(assay: "Assay") -> str:
    names = assay.model_names
    if len(names) == 1:
        return f"Does {named(names[0])} know what it does not know?"
    if len(names) <= 4 and sum(map(len, names)) <= LONG_HEADING:
        return f"Which to use: {listed_names(names, last='or')}?"
    return f"Which of these {len(names)} models to use?"


def _marked(text: str) -> str:
    """A sentence of the template as markup, with its elements in their places."""
    return re.sub(r"\{(\w+)\}", lambda place: ELEMENTS[place[1]], shown(text))
