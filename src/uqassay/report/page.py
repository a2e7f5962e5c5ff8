"""The report: one HTML page that needs no network, drawn from the numbers of an assay."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.answer import Answer, Stretch
from uqassay.evidence.data import colour_order
from uqassay.evidence.lens import LENSES, RANKING, Lens, lenses
from uqassay.evidence.order import order_of, rank_sets_at
from uqassay.evidence.sentences import PRICE, details
from uqassay.evidence.tables import to_json
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.measures.registry import SCORES
from uqassay.metrics.tradeoff import tradeoff_range
from uqassay.report.definitions import page_definitions
from uqassay.report.drawings import DATA, figure_data, inline_svg, lens_drawings
from uqassay.report.figures.frame import PALETTE, matplotlib_module
from uqassay.report.first_screen import metrics_markup, of_the_answer, warnings_on_answer
from uqassay.report.markup import deflated, filled, json_for_script, kept, page_file, write_html
from uqassay.report.sections import (
    InstancePacker,
    calibration_section,
    confidence_lines,
    densities,
    mean_regions,
    mistakes_section,
    parts_section,
    rank_sets_section,
    refusal_section,
    sets_section,
    votes_section,
)
from uqassay.report.sentences import (
    CAUTION,
    NUMBERS,
    Statement,
    answer_choices,
    answer_remarks,
    answer_sentence,
    axis_text,
    beyond_sentence,
    caution_finding,
    compared_sentence,
    cost_label,
    depends_sentence,
    kind_text,
    meanings,
    order_values,
    page_sentences,
    section_findings,
    stretch_text,
    template_sentences,
    winner_sentence,
)
from uqassay.results import plain, row_of, spread
from uqassay.text import counted, html_text, level_text, listed, listed_names, named, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = [
    "SECTIONS",
    "STEPS",
    "answer_card",
    "border_places",
    "caution_section",
    "find_ahead",
    "lens_sections",
    "payload",
    "render",
    "tradeoff_grid",
    "write_page",
]


# The questions a report answers next to the choice of a model: one section each, left out where nothing was found.

#: Lenses that are drawn otherwise than by the table and the figures of their result: assay → what the page's script draws
#: under the id of the lens, with its "finding" in a sentence; or None where there is nothing to show.
SECTIONS: Mapping[str, Callable[["Assay"], dict[str, Any] | None]] = {
    "mistakes": mistakes_section,
    "refusal": refusal_section,
    "calibration": calibration_section,
    "sets": sets_section,
    "votes": votes_section,
    "parts": parts_section,
}
FIGURE = 6.4, 3.6  # inches of a figure of a lens


def lens_sections(assay: "Assay", *, progress: Callable[[str], None] = lambda step: None) -> list[dict[str, Any]]:
    """The findings of every lens but the ranking, which has fixed sections; a lens without findings is absent.

    `progress` is called with the id of each lens when it begins.
    """
    sections = []
    for lens in lenses():
        if lens is RANKING:
            continue
        progress(lens.id)
        found = SECTIONS[lens.id](assay) if lens.id in SECTIONS else _shown_section(lens, assay)
        if found is not None:
            sections.append({"id": lens.id, "title": lens.question, "short": lens.short, **found})
    return sections


def _shown_section(lens: Lens, assay: "Assay") -> dict[str, Any] | None:
    """Sentences, table and figures of what a lens measured, as markup that needs no script."""
    found = lens.measure(assay)
    if found is None:
        return None
    first, *others = found._shown_sentences() or [f"{found._shown_title()}."]
    parts = [f"<p>{kept(text)}</p>" for text in others]
    parts += [found._shown_table().as_html(), *(f"<p>{kept(text)}</p>" for text in found._shown_notes())]
    for i, (title, draw) in enumerate(lens.figures(found).items()):
        with _model_colours():
            svg = inline_svg(partial(_on_axes, draw), FIGURE, name=f"{lens.id}-{i}", label=title)
        numbers = ""
        if (data := getattr(draw, "data", None)) is not None:  # where there are none, the table above has the numbers
            heads, rows = data()
            numbers = figure_data(title, heads, ([first, *map(html_text, others)] for first, *others in rows), DATA)
        parts.append(f'<figure><h3>{html_text(title)}</h3><div class="drawing">{svg}</div>{numbers}</figure>')
    return {"finding": first, "markup": "".join(parts)}


def _model_colours() -> AbstractContextManager[None]:
    """Matplotlib's "C0" is the colour of the first model, and so on."""
    matplotlib = matplotlib_module()
    found: AbstractContextManager[None] = matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=PALETTE)})
    return found


def _on_axes(draw: Callable[[Any], object], figure: Any) -> None:
    draw(figure.subplots())


# Everything the page shows, as plain values computed from an `Assay` alone.

SCHEMA = "uqassay.page/1"
WORK = 4e7  # models × runs × instances × λ of the rankings kept; fewer λ where it would be more
PAIR_WORK = 5e7  # pairs of models × instances × λ, likewise
SUMMARISED = ("total-entropy", "epistemic-entropy", "credal-width")  # and those computed on request only
STEPS = (
    *("scores", "findings", "conclusions", "rankings", "rank sets", "pictures"),
    *(lens.id for lens in LENSES if lens is not RANKING),
    "drawings",
    "instances",
)  # parts of the page in the order in which they are made
ABSTENTION_COSTS = (0.01, 0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)


def payload(
    assay: "Assay", *, command: str | None = None, progress: Callable[[str], None] = lambda step: None
) -> dict[str, Any]:
    """Values of the page that a strict JSON writer takes.

    Parameters
    ----------
    assay : Assay
    command : str, optional
        The command line that makes the page again.
    progress : callable, optional
        Called with the name of each part when it begins: all of `STEPS` but the last two.

    Returns
    -------
    dict
        "assay": findings and settings as `Assay.to_json` gives them; "ranking": `Assay.ranked` at every λ of
        `tradeoff_grid`; "rank_sets": the ranks that each model can have by other metrics; "regions", "densities",
        "confidence": from all instances; "lenses": one entry per further question; "definitions"; "text": sentences and
        templates of the fixed sections. `single_instances` gives the rest.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = payload(uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 1]))
    >>> p["models"][0]["name"], p["ranking"]["grid"][:3]
    ('m', [0.0, 0.01, 0.02])
    """
    grid = tradeoff_grid(assay)
    definitions = page_definitions(assay.settings, label_distributions=assay.labels.ndim == 2)
    measures = [m for m in ("nonspecificity", "total-entropy") if m in assay.candidates[0].columns]
    stages: dict[str, Callable[[], dict[str, Any]]] = {
        "scores": lambda: _found_before(assay.mistake_ranking()),
        "findings": lambda: _found_before(assay.rows("findings")),
        "conclusions": lambda: {
            "assay": to_json(assay),
            "models": _models(assay),
            "facts": _facts(assay),
            "text": page_sentences(assay),
            "definitions": {name: one._asdict() for name, one in definitions.items()},
        },
        "rankings": lambda: {"ranking": _ranking(assay, grid)},
        "rank sets": lambda: {"rank_sets": rank_sets_section(assay)},
        "pictures": lambda: (
            {"regions": {}, "densities": {}, "confidence": {}}
            if assay.of_answers
            else {
                "regions": mean_regions(assay),
                "densities": densities(assay, float(grid[-1])),
                "confidence": confidence_lines(assay, tuple(measures)),
            }
        ),
    }
    values: dict[str, Any] = {"schema": SCHEMA, "command": command}
    for stage, build in stages.items():
        progress(stage)
        values |= {name: value if name == "assay" else plain(value) for name, value in build().items()}
    return values | {"lenses": plain(lens_sections(assay, progress=progress))}


def find_ahead(assay: "Assay") -> None:
    """Find most of what the page shows and no test of calibration changes; the assay keeps it."""
    assay.mistake_ranking()
    for at in assay.tradeoffs:
        assay.scale_check(at)
    _ranking(assay, tradeoff_grid(assay))


def _found_before(found: object) -> dict[str, Any]:
    """Fill the assay's cache; adds nothing to the page."""
    return {}


def _models(assay: "Assay") -> list[dict[str, Any]]:
    places = {name: place for place, name in enumerate(colour_order(assay))}
    return [_model(assay, m) | {"colour": places.get(m.name)} for m in assay.models]


def _model(assay: "Assay", m: "ModelScores") -> dict[str, Any]:
    return {
        "name": m.name,
        "kind": m.kind,
        "kind_text": kind_text(m),
        "baseline": m.baseline,
        "runs": m.n_runs,
        "points": m.n_points,
        "precise": m.n_points == 1,
        "accuracy": assay.overall(m.columns["correct"]),
        "notes": plain(m.notes),
    }


def _facts(assay: "Assay") -> dict[str, Any]:
    settings = assay.settings
    return {
        "instances": assay.n_instances,
        "classes": assay.n_classes,
        "answers": assay.of_answers,
        "groups": None if assay.groups is None else len(np.unique(assay.groups)),
        "distributions": assay.labels.ndim == 2,
        "level": settings.level,
        "level_text": level_text(settings.level),
        "draws": settings.n_draws,
        "resampled": assay.n_units,
        "distance": settings.distance,
        "distance_metric": settings.distance_metric,
        "measures": [m for m in settings.measures if m in SUMMARISED or (m in SCORES and SCORES[m].on_request)],
    }


def _stated(assay: "Assay") -> list[str]:
    """What a second table has of each model: distance, non-specificity and uncertainties."""
    return [assay.settings.distance_metric, "nonspecificity", *_facts(assay)["measures"]]


def tradeoff_grid(assay: "Assay") -> NDArray[np.float64]:
    """The λ of the page: evenly spaced from 0 past the last change of the winner, with `assay.tradeoffs` and 0.5.

    The grid ends at ten times the usual largest λ at the latest; the page names the winners beyond.

    Examples
    --------
    >>> import uqassay as uq
    >>> grid = tradeoff_grid(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    >>> len(grid), float(grid[-1])
    (201, 2.0)
    """
    scale = _scale(assay)
    last = max((low for low, _, _ in assay.winners()), default=0.0)
    top = max(2 * scale, assay.tradeoffs[-1], DEFAULT_TRADEOFF)
    top = max(top, min(1.2 * last, 10 * top))
    work = sum(m.n_runs for m in assay.models) * assay.n_instances
    pairs = len(assay.models) * (len(assay.models) - 1) / 2 * assay.n_instances
    intervals = int(np.clip(min(WORK / work, PAIR_WORK / pairs if pairs else np.inf), 21, 201)) - 1
    wanted = top / intervals
    power = 10.0 ** np.floor(np.log10(wanted))
    step = next(float(f) * power for f in (1, 2, 5, 10) if f * power >= wanted * (1 - 1e-9))
    even = np.round(np.arange(int(np.ceil(top / step - 1e-9)) + 1) * step, 12)
    return np.union1d(even, [*assay.tradeoffs, DEFAULT_TRADEOFF])


def _scale(assay: "Assay") -> float:
    """How λ shrinks from KL to this assay's distance; 1 where that cannot be known."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        return 1.0
    return scale if scale > 0 else 1.0


def _ranking(assay: "Assay", grid: NDArray[np.float64]) -> dict[str, Any]:
    """Tables of all models along λ, the winners with their words, changes of the order, the questionnaire."""
    tables: dict[str, list[dict[str, Any]]] = {m.name: [] for m in assay.models}
    order, findings, yardsticks = [], list[dict[str, Any]](), order_of(assay).yardsticks
    rank_sets_at(assay, grid.tolist())  # those of all λ together, which `ranked` takes
    for at in grid.tolist():
        ranked = assay.ranked(at)
        order.append([r.model for r in ranked if r.rank is not None or r.model in yardsticks])
        findings.append(order_values(assay, at))
        for r in ranked:
            below = tuple(name for name in r.below if name in yardsticks)
            tables[r.model].append(_ranked(replace(r, below=below), one=assay.n_units == 1))
    place = {m.name: j for j, m in enumerate(assay.models)}
    winners = [(low, high, list(names)) for low, high, names in assay.winners()]
    changes = [{"at": at, "below": a, "above": b} for at, a, b in assay.ranking_changes()]
    top = float(grid[-1])
    return {
        "grid": grid.tolist(),
        "reference": int(np.flatnonzero(grid == DEFAULT_TRADEOFF)[0]),
        "models": [{key: [row[key] for row in tables[m.name]] for key in tables[m.name][0]} for m in assay.models],
        "order": [[place[name] for name in names] for names in order],
        "winners": [
            {"low": low, "high": high, "models": names, "name": listed_names(names)}
            | {"words": winner_sentence(low, high, names, top)}
            for low, high, names in winners
        ],
        "beyond": beyond_sentence(assay, winners, top),
        "changes": changes,
        "findings": _stretches(findings),
        "questions": _questions(winners, _scale(assay)),
        "scale": _scale(assay),
    }


def _stretches(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings that are the same at neighbouring λ once, each "from" its first place of the grid."""
    return [{"from": i} | found for i, found in enumerate(findings) if not i or found != findings[i - 1]]


def _ranked(row: "Ranked", *, one: bool) -> dict[str, Any]:
    """One model at one λ; with `one` instance or group there is nothing to resample, so no share of resamples."""
    names = ("win_share", "difference", "pvalue_adjusted", "limited_by", "rank_low", "rank_high", "top", "below")
    found = spread("estimate", row.estimate, prefix="") | row_of(row, *names)
    return found | {"win_share": None} if one else found


def _questions(winners: Sequence[tuple[float, float, Sequence[str]]], scale: float) -> list[dict[str, Any]]:
    """The λ and the sentence for every answer of the questionnaire."""
    out = []
    for abstention, cost in ((False, None), *((True, cost) for cost in ABSTENTION_COSTS)):
        found = _range(abstention, cost, scale)
        answer = answer_sentence(found["low"], found["high"], found["reason"], winners)
        label = "" if cost is None else cost_label(cost)
        out.append({"abstention": abstention, "cost": cost, "label": label, **found, "answer": answer})
    return out


def _range(abstention: bool, cost: float | None, scale: float) -> dict[str, Any]:
    low, high, reason = tradeoff_range(abstention, cost)
    reason = reason.replace(f"{1 / 3:g}", "1/3")
    if scale != 1.0:
        reason += (
            f" For this distance λ is multiplied by {scale:.3g}, the ratio of the largest distance to the largest KL."
        )
    return {"low": low * scale, "high": high * scale, "reason": reason}


# The answer card as markup; it needs no script.

HUES, SHAPES = 8, ("", " square", " diamond", " triangle-up")  # of the models' marks, as the page's script has them
SHOWN_NAMES = 3
LONG_NAMES = 40  # characters of the names in large type; more are set smaller
NAMED_NAMES = 30  # characters of the names that are written in a stretch of the axis
ROW = 1.2  # height of a row of labels, rem
LETTER = 0.033  # width of a character of a label, as a share of the axis on a narrow screen


def answer_card(assay: "Assay") -> str:
    """The card: what to choose, the axis of λ, and what the words mean."""
    answer = assay.answer()
    depends = depends_sentence(answer)
    said = f'<p class="depends">{kept(depends)}</p>' if depends else ""
    said += "".join(_choice(answer, one) for one in answer_choices(answer))
    has_axis = answer.priced and answer.kind in ("choose", "open", "none")
    said += _axis(answer) if has_axis else ""
    remarks = "".join(f'<li class="is-{kind}">{kept(text)}</li>' for kind, text in answer_remarks(answer))
    said += f"<ul>{remarks}</ul>" if remarks else ""
    votes, several = assay.labels.ndim == 2, answer.kind == "choose" and len(answer.models) > 1
    explained = meanings(order_of(assay).yardsticks, answer.loss, votes=votes, price=not has_axis, several=several)
    words = "".join(f"<dt>{kept(term)}</dt><dd>{kept(meaning)}</dd>" for term, meaning in explained)
    return f'<div class="answer">\n<div class="told-first">{said}</div>\n<dl>{words}</dl>\n</div>'


def caution_section(assay: "Assay") -> str:
    """The warnings that do not change the answer, folded; nothing where there are none."""
    on_answer = of_the_answer(assay.warnings)
    others = [note for note in assay.warnings if note not in on_answer]
    if not others:
        return ""
    items = "".join(f"<li>{html_text(note.text)}</li>" for note in others)
    title, finding = CAUTION, kept(caution_finding([note.code for note in others]))
    return (
        '<details class="section" id="caution" aria-labelledby="caution-h">\n'
        f'<summary><h2 id="caution-h">{title}</h2> <span class="finding">{finding}</span></summary>\n'
        f'<div class="warnings"><ul>{items}</ul></div>\n</details>'
    )


# -- what to choose --------------------------------------------------------------------------------------------------------


def _choice(answer: Answer, one: Statement) -> str:
    words = [html_text(one.before), _names(answer, one.models, "or") if one.models else "", html_text(one.after)]
    size = "large" if sum(map(len, one.models[:SHOWN_NAMES])) <= LONG_NAMES else "large long"
    said = f'<div class="{size}">{" ".join(filter(None, words))}</div>'
    said += f'<p class="where">{kept(one.where)}</p>' if one.where else ""
    lines = "".join(
        f"<div><dt>{kept(label)}</dt><dd>{_names(answer, names, 'and')}</dd></div>"
        for label, names in one.others
        if names
    )
    sentences = "".join(f"<p>{kept(text)}</p>" for text, names in one.others if not names)
    return f'<div class="choice">{said}{sentences}{f"<dl>{lines}</dl>" if lines else ""}</div>'


def _names(answer: Answer, names: Sequence[str], last: str) -> str:
    """Names with their marks; those that are more than few unfold in their place."""
    each = [f'<span class="name">{_mark(answer, name)}<bdi>{html_text(name)}</bdi></span>' for name in names]
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
        f'<span style="{place}; top: {row * ROW:.2f}rem">{html_text(words)}</span>' for row, place, words in labels
    )
    until = f'<span class="screen"> {kept(text["until"])}</span>'
    height = ROW * (1 + max((row for row, _, _ in labels), default=0))
    return (
        f'<p class="price">{kept(PRICE)}</p>'
        f'<div class="axis" role="img" aria-label="{html_text(text["whole"])}">'
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
        f'title="{html_text(stretch_text(s, answer.top))}"><b><span>{html_text(words)}</span></b>{bands}</span>'
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
            if not 0 < at < top or (found and found[-1][0] == at):  # an end that two ranges share has one label
                continue
            x, width = at / top, LETTER * len(tradeoff(at))
            start = max(x - width, 0.0) if to_left or x + width > 1 else x
            row = next((r for r, end in enumerate(rows) if end <= start), len(rows))
            rows[row : row + 1] = [start + width]
            found.append((at, start, start + width, row))
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


# The report: one HTML page that needs no network, drawn from the numbers of an `Assay` alone.

SCRIPTS = (
    "wording.js",
    "base.js",
    "sections.js",
    "labels.js",
    "tables.js",
    "metrics.js",
    "chart_tables.js",
    "shown_models.js",
    "ranking.js",
    "rank_sets.js",
    "picture.js",
    "label_places.js",
    "pointer.js",
    "charts.js",
    "drawn.js",
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
    "sets.js",
    "instances.js",
    "instance_pictures.js",
    "method.js",
    "scheme.js",
    "main.js",
)
STYLES = ("page.css", "metrics.css", "narrow.css", "print.css", "answer.css", "models.css")
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
    """
    return write_html(lambda: render(assay, command=command, progress=progress), path)


def render(assay: "Assay", *, command: str | None = None, progress: Callable[[str], None] = lambda step: None) -> str:
    """The page as text; parameters as in `write_page`."""
    from uqassay import __version__

    with InstancePacker(assay) as packer:
        packer.start()
        values = payload(assay, command=command, progress=lambda step: progress(f"writing the page: {step}"))
        progress(f"writing the page: {STEPS[-2]}")
        sections = values.pop("lenses")  # they may be half of all, and the first charts do not wait for them
        figures = lens_drawings(assay)  # deflated they take an eighth
        drawn_by_script = [
            section | {"figures": figures.get(section["id"], {})} for section in sections if "markup" not in section
        ]
        packed, packed_lenses = (deflated(json_for_script(part)) for part in (values, drawn_by_script))
        progress(f"writing the page: {STEPS[-1]}")
        instances = json_for_script(packer.at(len(packed) + len(packed_lenses)))
    names = ", ".join(map(named, assay.model_names))
    parts = {
        "title": html_text(f"{names} – uqassay report"),
        "heading": html_text(_heading(assay)),
        "version": html_text(__version__),
        "css": "\n".join(page_file(name) for name in STYLES),
        "answer": answer_card(assay),
        "caution": caution_section(assay),
        "priced": "" if order_of(assay).priced else f' class="unpriced{" answers" if assay.of_answers else ""}"',
        "compared": kept(compared_sentence(assay)),
        "metrics": metrics_markup(assay.metrics()),
        "metrics_said": kept(assay.metrics().shown_table().said()),
        "metrics_explained": kept(assay.metrics().explained(assay.metrics().metrics)),
        "on_answer": warnings_on_answer(assay),
        "stated": "" if assay.of_answers else metrics_markup(assay.metrics(metrics=_stated(assay))),
        "numbers": _numbers(assay, sections),
        "command": _command(command),
        "lens_links": "".join(f' <a href="#lens-{x["id"]}">{html_text(x["short"])}</a>' for x in sections),
        "lenses": "\n\n".join(map(_lens, sections)),
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
    told = {"best", "conditions"}  # by the section on the choice of λ, and by the card
    if assay.answer().condition == "groups":
        told.add("groups")
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
    """The folded section of a lens; the page's script fills it, unless its markup is there."""
    place = f"lens-{lens['id']}"
    heading = f'<h2 id="{place}-h">{html_text(lens["title"])}</h2>'
    finding = f'<span class="finding" id="{place}-finding">{kept(lens["finding"])}</span>'
    summary = f"<summary>{heading} {finding}</summary>"
    inside = f"{summary}\n  {lens['markup']}" if "markup" in lens else summary
    return f'<details class="section" id="{place}" aria-labelledby="{place}-h">\n  {inside}\n</details>'


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
    return re.sub(r"\{(\w+)\}", lambda place: ELEMENTS[place[1]], html_text(text))
