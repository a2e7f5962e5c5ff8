"""The pages of the gain and of the disentanglement, with figures drawn beforehand."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from uqassay.evidence.disentanglement import DisentanglementBehaviour, disentanglement_behaviour
from uqassay.evidence.disentanglement_runs import EXPERIMENTS, KINDS, Contender, RankedContender, rank_disentanglement
from uqassay.evidence.disentanglement_runs import by_dataset as contenders_by_dataset
from uqassay.evidence.disentanglement_words import contender_sentences, disentanglement_sentences, legend_sentences
from uqassay.evidence.gain import GainResult, GainStudy, gain_rows
from uqassay.evidence.gain_words import (
    by_dataset,
    check_studies,
    gain_legend,
    gain_sentences,
    read_gain,
    result_sentences,
    untold_sentences,
)
from uqassay.evidence.over_runs import Curve
from uqassay.metrics import DoubtSources, EpistemicTrend, EstimateCorrelations
from uqassay.metrics.disentanglement import QUANTILES
from uqassay.notes import Note
from uqassay.report.drawings import THEME, figure_data, inline_axes, inline_svg
from uqassay.report.figures.frame import PALETTE
from uqassay.report.figures.studies import (
    GAIN_LOOKS,
    INK,
    LOOKS,
    SOURCES,
    TERMS,
    computed_curves,
    plot_delay_curve,
    plot_disentanglement_curves,
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_doubt_sources,
    plot_epistemic_map,
    plot_epistemic_trend,
    plot_estimate_correlations,
    plot_expected_behaviour,
    plot_gain_by_uncertainty,
    plot_left_out_classes,
    shown_classes,
)
from uqassay.report.markup import filled, json_for_script, kept, page_file, write_html
from uqassay.report.sentences import general_sentences
from uqassay.report.study_sentences import disentanglement_text, gain_text
from uqassay.results import plain
from uqassay.statistics import Estimate
from uqassay.text import ABSENT, count, html_text, interval, listed_names, number, percent, pvalue

__all__ = [
    "behaviour_data",
    "behaviour_figures",
    "bullets",
    "contender_data",
    "contender_figures",
    "contender_section",
    "delay_data",
    "expected_figures",
    "facts_list",
    "gain_data",
    "how_to_read",
    "in_groups",
    "map_data",
    "overview_figure",
    "overview_row",
    "overview_table",
    "panels",
    "ranking_data",
    "ranking_figure",
    "render_disentanglement",
    "render_gain",
    "static_page",
    "warning_list",
    "with_ends",
    "with_interval",
    "write_disentanglement_page",
    "write_gain_page",
]


# Pages whose figures are drawn beforehand: their common frame.

SCRIPTS = ("scheme.js", "static_page.js")
STYLES = ("page", "narrow", "print", "static_page")


def static_page(
    name: str,
    parts: Mapping[str, str],
    text: Mapping[str, str],
    *,
    title: str,
    verdict: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
) -> str:
    """A page as text, the same for the same content.

    Parameters
    ----------
    name : str
        The sections of the page are in the template NAME_page.html, its colours in NAME_page.css; the reader downloads the
        numbers as NAME.json.
    parts : dict of str to str
        Markup by the name of its place: "warnings", "overview" and "how" of the frame, and those of the template.
    text : dict of str to str
        Plain text of the places that begin with "text."; "nav_ID" is the link to section ID.
    title : str
        Before the words of the title in `text`.
    verdict : sequence of str
        Sentences at the top.
    rows : sequence of dict
        The numbers for download.
    """
    from uqassay import __version__

    own = page_file(f"{name}_page.html")
    places = {
        **parts,
        **{f"text.{key}": html_text(value) for key, value in text.items()},
        "version": html_text(__version__),
        "title": html_text(f"{title}: {text['title']}"),
        "css": "".join(page_file(f"{one}.css") for one in (*STYLES, f"{name}_page")),
        "verdict": "".join(f"<p>{kept(sentence)}</p>" for sentence in verdict),
        "payload": _payload(rows, f"{name}.json"),
        "js": "".join(page_file(script) for script in SCRIPTS),
    }
    linked = ("findings", *re.findall(r'<section id="(\w+)"', own), "how")
    places["nav"] = " ".join(f'<a href="#{one}">{places[f"text.nav_{one}"]}</a>' for one in linked)
    places["head"] = filled(page_file("head.html"), places)
    return filled(page_file("static_page.html"), {**places, "sections": filled(own, places)})


def _payload(rows: Sequence[Mapping[str, Any]], download: str) -> str:
    """JSON of the page: its rows, the name of the file to download, and the words of the colour scheme."""
    general = {name: value for name, value in general_sentences().items() if name.startswith("scheme")}
    return json_for_script({"text": {"general": general}, "download": download, "rows": plain(list(rows))})


# Pieces of the pages whose figures are drawn beforehand: lists, tables, figures, contenders, warnings, settings.

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
        found += [f"<h2>{html_text(name)}</h2>"] if len(groups) > 1 else []
        found += [draw(one) for one in items]
    return "".join(found)


# -- overview -----------------------------------------------------------------------------------------------------------


def overview_table(title: str, note: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """A heading, a note and a table of rows from `overview_row`; the first column is text."""
    cells = "".join(
        f'<th scope="col"{"" if i else " class=text"}>{html_text(head)}</th>' for i, head in enumerate(heads)
    )
    return (
        f'<h2>{html_text(title)}</h2><p class="note">{html_text(note)}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html_text(title)}">'
        f'<table class="ranking"><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def overview_row(label: str, place: str, cells: Sequence[str] | str, *, width: int, best: bool = False) -> str:
    """A row that begins with the link to a contender's section: markup of its cells, or one text across all of them."""
    if isinstance(cells, str):
        held = f'<td class="text" colspan="{width - 1}">{html_text(cells)}</td>'
    else:
        held = "".join(f"<td>{cell}</td>" for cell in cells)
    name = f'<td class="name text"><a href="#{place}">{html_text(label)}</a></td>'
    return f"<tr{' class=best' if best else ''}>{name}{held}</tr>"


def overview_figure(title: str, figure: str, data: str, caption: str) -> str:
    """A figure with its data, which scrolls where the page is narrower; nothing without a figure."""
    if not figure:
        return ""
    held = f'<div class="scroll" tabindex="0" role="group" aria-label="{html_text(title)}">{figure}</div>'
    return f'<figure class="overview">{held}{data}<figcaption>{html_text(caption)}</figcaption></figure>'


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
        below = f"<figcaption>{html_text(caption)}</figcaption>" if caption else ""
        heading = f"<h{level}>{html_text(text[name])}</h{level}>"
        drawn.append(f"<figure>{heading}{figure}{(data or {}).get(name, '')}{below}</figure>")
    return f'<div class="panels">{"".join(drawn)}</div>'


def contender_section(label: str, place: str, sentences: Sequence[str], markup: str) -> str:
    """The section of one contender, which the overview links to: its name, its sentences, and what follows them."""
    return f'<div class="contender" id="{place}"><h3>{html_text(label)}</h3>{bullets(sentences)}{markup}</div>'


# -- notes and settings -------------------------------------------------------------------------------------------------


def warning_list(notes: Iterable[tuple[str, Note]], text: Mapping[str, str]) -> str:
    """Notes with the names that each is about, every note once; nothing without notes."""
    about: dict[str, dict[str, None]] = {}  # names in order, each once
    for name, note in notes:
        about.setdefault(note.text, {})[name] = None
    items = [f"{listed_names(list(names), most=MOST_NAMES)}: {said}" for said, names in about.items()]
    if not items:
        return ""
    held = "".join(f"<li>{html_text(item)}</li>" for item in items)
    return f'<div class="warnings"><h2>{html_text(text["warnings"])}</h2><ul>{held}</ul></div>'


def how_to_read(
    legend: Sequence[str], facts: Iterable[tuple[str, Mapping[str, Any]]], command: str | None, text: Mapping[str, str]
) -> str:
    """Sentences on the quantities, the settings of each study below its name, and the command that makes the page again."""
    found = bullets(legend) + "".join(facts_list(f"{text['facts']}: {name}", held) for name, held in facts)
    if command is not None:
        found += f"<h3>{html_text(text['command'])}</h3><pre>{html_text(command)}</pre>"
    return found


def facts_list(title: str, facts: Mapping[str, Any]) -> str:
    """A heading and a list of facts."""
    items = "".join(
        f"<dt>{html_text(str(key))}</dt><dd>{html_text(_plainly(value))}</dd>" for key, value in facts.items()
    )
    return f'<h3>{html_text(title)}</h3><dl class="facts">{items}</dl>'


def _plainly(value: Any) -> str:
    """A fact as text: lists by commas, everything nested as JSON."""
    value = plain(value)
    if isinstance(value, list) and not any(isinstance(part, (list, dict)) for part in value):
        return ", ".join(map(_plainly, value))
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) or value is None else str(value)


# The numbers of the figures of the gain page, as folded tables below them.

DECIMALS = 4
CURVES = ("epistemic", "gain", "calibrated", "true")


def gain_data(result: GainResult, text: Mapping[str, str]) -> str:
    """Means of the curves in each interval of the estimates."""
    bins = result.bins
    curves = {name: curve for name in CURVES if (curve := getattr(bins, name)) is not None}
    heads = [text["data_interval"], *(text[f"data_{name}"] for name in curves)]
    rows = [[str(m + 1), *(_at(curve, m) for curve in curves.values())] for m in range(bins.n_bins)]
    return figure_data(f"{text['gain']}: {result.label}", heads, rows, text)


def delay_data(results: Sequence[GainResult], caption: str, text: Mapping[str, str]) -> str:
    """Gain of each estimate and of a random choice, by the share of the cases that wait."""
    random = {(one.method, one.dataset): one for one in results}  # the same for all estimates of a method
    heads = [text["data_share"]]
    heads += [one.label if len(results) > 1 else text["data_gained"] for one in results]
    heads += [
        f"{text['data_random']}: {one.method}" if len(random) > 1 else text["data_random"] for one in random.values()
    ]
    rows = [
        [
            percent(share),
            *(_at(one.delay.gained, s) for one in results),
            *(number(float(one.delay.random.mean[s]), DECIMALS) for one in random.values()),
        ]
        for s, share in enumerate(results[0].delay.shares.tolist())
    ]
    return figure_data(caption, heads, rows, text)


def map_data(result: GainResult, text: Mapping[str, str]) -> str:
    """The points between which each map is a straight line."""
    maps = []
    for r, run in enumerate(result.runs):
        if run.gain_map is not None:
            maps.append((f"{text['data_run']} {r + 1}", run.gain_map))
        folds = () if run.cross_fit is None else run.cross_fit.fold_maps
        without = f"{text['data_run']} {r + 1}, {text['data_without_fold']}"
        maps += [(f"{without} {f + 1}", one) for f, one in enumerate(folds)]
    rows = [[name, *(number(v, DECIMALS) for v in knot)] for name, one in maps for knot in one.knots.tolist()]
    heads = [text[f"data_{name}"] for name in ("map", "epistemic", "gain")]
    return figure_data(f"{text['map']}: {result.label}", heads, rows, text)


def _at(curve: Curve, place: int) -> str:
    """One point of a curve with its band."""
    return with_ends(*(float(part[place]) for part in (curve.mean, curve.low, curve.high)), decimals=DECIMALS)


# One HTML page on the gain from more data and the estimates of it; it needs no network.

GAIN_DECIMALS, FINE = 3, 4
SMALL = "assumption"  # notes of this code stand beside the figures of their score
HEADS = (
    "estimate",
    "runs",
    "mean_gain",
    "correlation",
    "error",
    "debiased",
    "calibrated_error",
    "excess",
    "delayed",
    "random",
)
UNDER = {"zero-one": "In accuracy", "log": "Under the log loss", "brier": "Under the Brier loss"}
PANEL = (3.9, 3.0)  # inches
DELAYS = (7.6, 3.8)
GAIN_CURVES = {look.colour.lower(): f"var(--{name})" for name, look in GAIN_LOOKS.items()}
COLOURS = {
    **THEME,
    **{colour.lower(): f"var(--c{i + 1})" for i, colour in enumerate(PALETTE) if i in (3, 5, 7)},
    **GAIN_CURVES,
}


def write_gain_page(
    studies: Sequence[GainStudy],
    path: str | Path,
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Path:
    """Write the page to one file, whole or not at all.

    Parameters
    ----------
    studies : sequence of GainStudy
        Of one or several methods and data sets, with different methods on one data set.
    path : str or Path
    command : str, optional
        The command line that makes the page again.
    level : float
        Confidence level of the intervals.
    progress : callable, optional
        Is told what is being drawn.
    **options
        Those of `GainStudy.result`: bins, binning, map_bins, cross_fit.

    Returns
    -------
    Path
    """
    return write_html(lambda: render_gain(studies, command=command, level=level, progress=progress, **options), path)


def render_gain(
    studies: Sequence[GainStudy],
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> str:
    """The page as text, the same for the same studies; parameters as in `write_gain_page`."""
    check_studies(studies)
    say = progress or (lambda step: None)
    text = gain_text(level=level)
    groups = by_dataset(studies)
    results = {
        _place(dataset, loss): [
            one for study in _having(group, loss) for one in study.results(loss, level=level, **options)
        ]
        for dataset, group in groups.items()
        for loss in _losses(group)
    }
    every = [one for found in results.values() for one in found]
    places = {id(one): f"s{i}" for i, one in enumerate(every)}

    def section(one: GainResult) -> str:
        say(f"drawing {one.label}")
        return _score(one, places[id(one)], text)

    said: list[str] = []
    for loss in _losses(studies):
        said += [f"{UNDER[loss]}:"] if len(_losses(studies)) > 1 else []
        said += gain_sentences(_having(studies, loss), loss, level=level, **options)
    legend = gain_legend(every, lists=len(every) > len(_losses(studies)))
    parts = {
        "warnings": warning_list(_notes(studies, every), text),
        "overview": "".join(
            _table(f"{text['table']}: {place}" if len(results) > 1 else text["table"], place, found, places, text)
            for place, found in results.items()
        ),
        "scores": in_groups(results, section),
        "untold": bullets(untold_sentences(every)),
        "how": how_to_read(legend, _facts(studies, every), command, text),
    }
    title = ", ".join(filter(None, groups)) or "gain"
    return static_page("gain", parts, text, title=title, verdict=said, rows=_rows(every))


def _losses(studies: Sequence[GainStudy]) -> tuple[str, ...]:
    """The losses of all studies."""
    return tuple(dict.fromkeys(loss for study in studies for loss in study.losses))


def _having(studies: Sequence[GainStudy], loss: str) -> list[GainStudy]:
    return [study for study in studies if loss in study.losses]


def _place(dataset: str, loss: str) -> str:
    return f"{dataset}, {loss} loss" if dataset else f"{loss} loss"


def _rows(results: Sequence[GainResult]) -> list[dict[str, Any]]:
    return [
        {"finding": name, **row} for name in ("scores", "runs", "bins", "delay") for row in gain_rows(results, name)
    ]


# -- sections -----------------------------------------------------------------------------------------------------------


def _table(
    title: str, place: str, results: Sequence[GainResult], places: Mapping[int, str], text: Mapping[str, str]
) -> str:
    rows = [_row(one, places[id(one)]) for one in results]
    label = f"{text['delay']}: {place}"
    figure = inline_axes(
        lambda ax: plot_delay_curve(list(results), ax=ax),
        DELAYS,
        name=f"d{places[id(results[0])]}",
        label=label,
        colours=COLOURS,
    )
    drawn = overview_figure(label, figure, delay_data(results, label, text), text["delay_caption"])
    table = overview_table(title, text["table_note"], [text[f"head_{name}"] for name in HEADS], rows)
    return f"{table}<h3>{html_text(text['delay'])}</h3>{drawn}"


def _row(result: GainResult, place: str) -> str:
    delay = read_gain(result).delay
    mapped = result.calibrated_error
    cells = [
        count(result.n_runs),
        with_interval(result.mean_gain.estimate, FINE),
        with_interval(result.correlation.estimate, GAIN_DECIMALS),
        *(with_interval(found.estimate, FINE) for found in (result.error, result.debiased)),
        ABSENT if mapped is None else with_interval(mapped.estimate, FINE),
        with_interval(result.excess.estimate, FINE),
        with_interval(delay.gained, FINE),
        number(delay.random, FINE),
    ]
    return overview_row(result.label, place, cells, width=len(HEADS))


def _score(result: GainResult, place: str, text: Mapping[str, str]) -> str:
    draw: dict[str, Callable[[Any], Any]] = {
        "gain": lambda ax: plot_gain_by_uncertainty(result, ax=ax),
        "one_delay": lambda ax: plot_delay_curve(result, ax=ax),
    }
    data = {
        "gain": gain_data(result, text),
        "one_delay": delay_data([result], f"{text['one_delay']}: {result.label}", text),
    }
    if result.calibrated_error is not None:
        draw["map"] = lambda ax: plot_epistemic_map(result, ax=ax)
        data["map"] = map_data(result, text)
    figures = {
        name: inline_axes(of, PANEL, name=f"{place}{i}", label=f"{text[name]}: {result.label}", colours=COLOURS)
        for i, (name, of) in enumerate(draw.items())
    }
    small = "".join(f'<p class="note">{html_text(note.text)}</p>' for note in result.notes if note.code == SMALL)
    captions = {**text, "map_caption": text["cross_fit_caption"]} if result.n_folds else text
    return contender_section(
        result.label, place, result_sentences(result), panels(figures, captions, data=data) + small
    )


# -- notes and settings -------------------------------------------------------------------------------------------------


def _notes(studies: Sequence[GainStudy], results: Sequence[GainResult]) -> list[tuple[str, Note]]:
    found = [(study.method, note) for study in studies for note in study.notes]
    return found + [(one.label, note) for one in results for note in one.notes if note.code != SMALL]


def _facts(studies: Sequence[GainStudy], results: Sequence[GainResult]) -> list[tuple[str, dict[str, Any]]]:
    options = results[0].options
    found = []
    for study in studies:
        facts: dict[str, Any] = {"runs": study.n_runs, "seeds": list(study.seeds)}
        facts |= {
            "intervals of the estimates": options.bins,
            "binning": options.binning,
            "map": _map_of(study, results),
        }
        facts |= {f"cases, {name}": size for name, size in study.runs[0].sizes.items()}
        found.append((", ".join(filter(None, (study.method, study.dataset))), facts | dict(study.facts)))
    return found


def _map_of(study: GainStudy, results: Sequence[GainResult]) -> str:
    """Where the map comes from."""
    own = next(one for one in results if (one.method, one.dataset) == (study.method, study.dataset))
    if own.n_folds:
        return f"cross-fitted in {own.n_folds} folds"
    return ABSENT if own.calibrated_error is None else own.options.map_bins


# The numbers of the figures of the disentanglement page, as folded tables below them.

TERM_DECIMALS = 3
Text = Mapping[str, str]


def ranking_data(caption: str, rows: Sequence[RankedContender], text: Text) -> str:
    """Errors of the contenders that have one, and the lines that they are compared with; empty without an error."""
    errors = {row.contender.label: row.found for row in rows if row.found is not None}
    if not errors:
        return ""
    found = next(iter(errors.values()))
    lines = {"floor": found.floor, "together": found.together, "line_chance": found.chance}
    held = [[label, _cell(one.error)] for label, one in errors.items()]
    held += [[text[name], number(value, TERM_DECIMALS)] for name, value in lines.items()]
    return figure_data(caption, [text["head_contender"], text["head_error"]], held, text)


def contender_data(contender: Contender, text: Text, *, level: float) -> dict[str, str]:
    """By the names of `contender_figures`: curves of each experiment, the four terms, and the classes left out."""

    def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        return figure_data(f"{text[name]}: {contender.label}", heads, rows, text)

    held = {}
    for name in EXPERIMENTS[:2]:
        if name in contender.study.measured:
            held[name] = table(name, *_curves(contender, name, text, level))
    if contender.has_error:
        terms = contender.disentanglement(level=level).terms
        held["terms"] = table(
            "terms",
            [text["head_term"], text["head_deviation"], "r"],
            [[TERMS[t.experiment, t.estimate], _cell(t.deviation), _cell(t.correlation)] for t in terms],
        )
    if contender.has_classes:
        found = contender.study.detection(contender.decomposition, level=level)
        names = contender.study.class_names
        rows = [[text["mean"], *(_cell(getattr(found, f"{kind}_mean")) for kind in KINDS)]]
        rows += [[names[k], *(_cell(found.of_class(k, kind)) for kind in KINDS)] for k in shown_classes(contender)]
        held[EXPERIMENTS[2]] = table(EXPERIMENTS[2], [text["head_class"], *(text[kind] for kind in KINDS)], rows)
    return held


def _curves(contender: Contender, name: str, text: Text, level: float) -> tuple[list[str], list[list[str]]]:
    drawn = computed_curves(contender, name, level=level)
    heads = [text[f"head_{name}"], *(text[f"head_{kind}"] for kind in drawn.bands)]
    heads += [f"{text[f'head_{kind}']}, {text['expected_curve']}" for kind in drawn.expected]
    rows = [
        [
            percent(condition),
            *(
                with_ends(*(float(part[i]) for part in (band.mean, band.low, band.high)), decimals=TERM_DECIMALS)
                for band in drawn.bands.values()
            ),
            *(number(float(values[i]), TERM_DECIMALS) for values in drawn.expected.values()),
        ]
        for i, condition in enumerate(drawn.conditions.tolist())
    ]
    return heads, rows


def behaviour_data(found: DisentanglementBehaviour, text: Text) -> dict[str, str]:
    """By the names of `behaviour_figures`: trend, sources of doubt, correlations of all estimates."""
    return {
        **({} if found.trend is None else {"trend": _trend(found.trend, text)}),
        **({} if found.doubts is None else {"doubts": _doubts(found.doubts, text)}),
        **({} if found.correlations is None else {"correlations": _correlations(found.correlations, text)}),
    }


def _trend(found: EpistemicTrend, text: Text) -> str:
    """Mean over the runs, and the quantiles of the instances, by the share of the training instances."""
    heads = [text["head_dataset-size"], text["mean"], *(f"{percent(q, 0)} {text['quantile']}" for q in QUANTILES)]
    rows = [
        [percent(share), *(number(float(v), TERM_DECIMALS) for v in (found.means[:, c].mean(), *found.quantiles[:, c]))]
        for c, share in enumerate(found.shares.tolist())
    ]
    return figure_data(text["trend"], heads, rows, text)


def _doubts(found: DoubtSources, text: Text) -> str:
    """Correlation of the estimate with each source, by the share of the training instances."""
    held = {(one.share, one.source): _cell(one.correlation) for one in found.found}
    rows = [
        [percent(share), *(held.get((share, source), ABSENT) for source in SOURCES)] for share in found.shares.tolist()
    ]
    return figure_data(text["doubts"], [text["head_dataset-size"], *SOURCES.values()], rows, text)


def _correlations(found: EstimateCorrelations, text: Text) -> str:
    """The matrix of correlations."""
    rows = [
        [name, *(number(float(v), 2) for v in values)] for name, values in zip(found.names, found.matrix, strict=True)
    ]
    return figure_data(text["correlations"], [text["head_estimate"], *found.names], rows, text)


def _cell(value: Estimate) -> str:
    return with_interval(value, TERM_DECIMALS)


# Figures of the page of the disentanglement benchmark, as elements of the page by their names.

PANEL_COLOURS = {**THEME, INK: "var(--ink)", **{look.colour.lower(): f"var(--{kind})" for kind, look in LOOKS.items()}}
Draw = Callable[[Any], Any]
PANEL_SIZE = (3.7, 2.7)  # inches


def expected_figures() -> dict[str, str]:
    """The expected behaviour in each experiment."""

    def of(experiment: str) -> Draw:
        return lambda ax: plot_expected_behaviour(experiment, ax=ax, legend=False)

    return {name: _svg(of(name), PANEL_SIZE, f"e{i}", name) for i, name in enumerate(EXPERIMENTS)}


def ranking_figure(ranked: Sequence[RankedContender], *, name: str, level: float) -> str:
    """The ranking of one data set; empty where no contender has an error."""
    rows = [row for row in ranked if row.found is not None]
    if not rows:
        return ""
    size = (7.0, 1.2 + 0.32 * len(rows))
    return _svg(lambda ax: plot_disentanglement_ranking(rows, ax=ax, level=level), size, name, "ranking")


def contender_figures(contender: Contender, *, name: str, level: float) -> dict[str, str]:
    """Curves of each experiment, the four terms, and the classes left out, where they were run."""

    def curves(experiment: str) -> Draw:
        return lambda ax: plot_disentanglement_curves(contender, experiment, ax=ax, level=level, legend=False)

    drawn = {}
    for i, experiment in enumerate(EXPERIMENTS[:2]):
        if experiment in contender.study.measured:
            label = f"{experiment}: {contender.label}"
            drawn[experiment] = _svg(curves(experiment), PANEL_SIZE, f"{name}x{i}", label)
    if contender.has_error:
        drawn["terms"] = _svg(
            lambda ax: plot_disentanglement_terms(contender, ax=ax, level=level),
            (PANEL_SIZE[0], 2.2),
            f"{name}t",
            f"terms: {contender.label}",
        )
    if contender.has_classes:
        size = (PANEL_SIZE[0], 1.2 + 0.24 * (1 + len(shown_classes(contender))))
        drawn[EXPERIMENTS[2]] = _svg(
            lambda ax: plot_left_out_classes(contender, ax=ax, level=level),
            size,
            f"{name}k",
            f"{EXPERIMENTS[2]}: {contender.label}",
        )
    return drawn


def behaviour_figures(found: DisentanglementBehaviour, *, name: str) -> dict[str, str]:
    """Figures beyond the disentanglement error: trend, sources of doubt, correlations of all estimates."""
    drawn = {}
    if (trend := found.trend) is not None:
        drawn["trend"] = _svg(lambda ax: plot_epistemic_trend(trend, ax=ax), PANEL_SIZE, f"{name}e", "trend")
    if (doubts := found.doubts) is not None:
        drawn["doubts"] = _svg(lambda ax: plot_doubt_sources(doubts, ax=ax), PANEL_SIZE, f"{name}d", "sources of doubt")
    if (correlations := found.correlations) is not None:
        side = 2.6 + 0.32 * len(correlations.names)
        drawn["correlations"] = inline_svg(
            lambda figure: plot_estimate_correlations(correlations, ax=figure.subplots()),
            (side, side),
            name=f"{name}m",
            label="correlations",
            colours={},
        )
    return drawn


def _svg(draw: Draw, size: tuple[float, float], name: str, label: str) -> str:
    return inline_axes(draw, size, name=name, label=label, colours=PANEL_COLOURS)


# One HTML page on the disentanglement of one or several contenders; it needs no network.

DISENTANGLEMENT_DECIMALS = 2
DISENTANGLEMENT_HEADS = (
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
    groups = contenders_by_dataset(contenders)
    text = disentanglement_text(level=level)
    ranked = {name: rank_disentanglement(group, level=level) for name, group in groups.items()}
    every = [row for rows in ranked.values() for row in rows]
    places = {id(row.contender): f"c{i}" for i, row in enumerate(every)}

    def section(row: RankedContender) -> str:
        say(f"drawing {row.contender.label}")
        return _contender(row.contender, places[id(row.contender)], text, level)

    parts = {
        "warnings": warning_list(_disentanglement_notes(contenders), text),
        "overview": "".join(
            _ranking(f"{text['ranking']}: {name}" if len(groups) > 1 else text["ranking"], rows, places, text, level)
            for name, rows in ranked.items()
        ),
        "expected": panels(expected_figures(), text, level=3, captions=False),
        "key": _key(text),
        "contenders": in_groups(ranked, section),
        "how": how_to_read(legend_sentences(level=level), _disentanglement_facts(contenders), command, text),
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
    return (
        overview_table(title, text["ranking_note"], [text[f"head_{name}"] for name in DISENTANGLEMENT_HEADS], table)
        + drawn
    )


def _ranking_row(row: RankedContender, place: str) -> str:
    one, found = row.contender, row.found
    if found is None:
        return overview_row(one.label, place, row.notes[0].text, width=len(DISENTANGLEMENT_HEADS))
    cells = [
        with_interval(found.error, DISENTANGLEMENT_DECIMALS),
        *(with_interval(term.correlation, DISENTANGLEMENT_DECIMALS) for term in found.terms),
        count(one.study.n_runs),
        *(pvalue(p) for p in (one.chance_test.pvalue, one.names_test.pvalue, row.pvalue_adjusted)),
    ]
    return overview_row(one.label, place, cells, width=len(DISENTANGLEMENT_HEADS), best=row.rank == 1)


def _contender(contender: Contender, place: str, text: Mapping[str, str], level: float) -> str:
    figures = contender_figures(contender, name=place, level=level)
    markup = panels(figures, text, data=contender_data(contender, text, level=level))
    found = disentanglement_behaviour(contender.study, contender.decomposition, level=level)
    beyond = behaviour_figures(found, name=f"{place}b")
    if beyond or found.sentences:
        summary = f"<summary>{html_text(text['beyond'])}</summary>"
        held = panels(beyond, text, data=behaviour_data(found, text))
        markup += f"<details>{summary}{bullets(found.sentences)}{held}</details>"
    return contender_section(contender.label, place, contender_sentences(contender, level=level), markup)


def _key(text: Mapping[str, str]) -> str:
    items = [
        f'<li><span class="swatch{shape}" style="background: var(--{name})"></span>{html_text(text[name])}</li>'
        for name, shape in SHAPES.items()
    ]
    dashed = f'<li><span class="dash"></span>{html_text(text["dashed"])}</li>'
    return f'<ul class="key" aria-label="{html_text(text["key"])}">{"".join(items)}{dashed}</ul>'


# -- notes and settings -------------------------------------------------------------------------------------------------


def _disentanglement_notes(contenders: Sequence[Contender]) -> list[tuple[str, Note]]:
    return [
        (one.label, note)
        for one in contenders
        for note in (*one.study.notes, *(one.disentanglement().notes if one.has_error else ()))
    ]


def _disentanglement_facts(contenders: Sequence[Contender]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for study in {id(one.study): one.study for one in contenders}.values():
        facts: dict[str, Any] = {"runs": study.n_runs, "seeds": list(study.seeds), **study.facts}
        for name in EXPERIMENTS:
            if name in study.measured:
                facts[f"{name} conditions"] = list(study.measured[name].conditions)
        found.append((f"{study.method}, {study.dataset}", facts))
    return found
