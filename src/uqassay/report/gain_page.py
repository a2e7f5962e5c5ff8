"""One HTML page on the gain from more data and the estimates of it; it needs no network."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from uqassay._files import plain_target
from uqassay.evidence.gain_headlines import gain_sentences
from uqassay.evidence.gain_readings import read_gain
from uqassay.evidence.gain_result import GainResult
from uqassay.evidence.gain_rows import gain_rows
from uqassay.evidence.gain_study import GainStudy
from uqassay.evidence.gain_verdict import (
    by_dataset,
    check_studies,
    gain_legend,
    result_sentences,
    untold_sentences,
)
from uqassay.report.figures.gain import (
    GAIN_LOOKS,
    plot_delay_curve,
    plot_epistemic_map,
    plot_gain_by_uncertainty,
)
from uqassay.report.figures.style import INSIDE_LEGEND, PALETTE
from uqassay.report.inline_svg import THEME, inline_svg
from uqassay.report.sentences.gain import gain_text
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
from uqassay.wording import ABSENT, count, listed, number

__all__ = ["render_gain", "write_gain_page"]

DECIMALS, FINE = 3, 4
MOST_NAMES = 6  # in a warning
SMALL = "assumption"  # notes of this code stand beside the figures of their score
HEADS = (
    *("estimate", "runs", "mean_gain", "correlation", "error", "debiased", "calibrated_error", "excess"),
    *("delayed", "random"),
)
UNDER = {"zero-one": "In accuracy", "log": "Under the log loss", "brier": "Under the Brier loss"}
PANEL = (3.9, 3.0)  # inches
DELAYS = (6.2, 3.8)
CURVES = {look.colour.lower(): f"var(--{name})" for name, look in GAIN_LOOKS.items()}
COLOURS = {
    **THEME,
    **{colour.lower(): f"var(--c{i + 1})" for i, colour in enumerate(PALETTE) if i in (3, 5, 7)},
    **CURVES,
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
        Those of `GainStudy.result`: bins, binning, map_bins.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        No studies, or one method twice on one data set.
    FileFormatError
        When the path is that of a folder, a pipe or a device.
    OSError
        When it cannot be written.
    MissingDependencyError
        When matplotlib is not installed.
    """
    plain_target(Path(path))  # before the drawing, which takes a while
    text = render_gain(studies, command=command, level=level, progress=progress, **options)
    return write_static_page(text, path)


def render_gain(
    studies: Sequence[GainStudy],
    *,
    command: str | None = None,
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> str:
    """The page as text, the same for the same studies; parameters as in `write_gain_page`."""
    from uqassay import __version__

    check_studies(studies)
    say = progress or (lambda step: None)
    text = gain_text(level=level)
    groups = by_dataset(studies)
    results = {
        (dataset, loss): [one for study in _having(group, loss) for one in study.results(loss, level=level, **options)]
        for dataset, group in groups.items()
        for loss in _losses(group)
    }
    every = [one for found in results.values() for one in found]
    places = {id(one): f"s{i}" for i, one in enumerate(every)}
    sections = []
    for (dataset, loss), found in results.items():
        sections += [f"<h2>{shown(_place(dataset, loss))}</h2>"] if len(results) > 1 else []
        for one in found:
            say(f"drawing {one.label}")
            sections.append(_score(one, places[id(one)], text))
    said: list[str] = []
    for loss in _losses(studies):
        said += [f"{UNDER[loss]}:"] if len(_losses(studies)) > 1 else []
        said += gain_sentences(_having(studies, loss), loss, level=level, **options)
    parts = {
        "version": shown(__version__),
        "title": shown(f"{', '.join(filter(None, groups)) or 'gain'}: {text['title']}"),
        "css": page_file("page.css") + page_file("static_page.css") + page_file("gain_page.css"),
        "verdict": "".join(f"<p>{kept(s)}</p>" for s in said),
        "warnings": _warnings(every, studies, text),
        "overview": "".join(
            _table(_place(*key), found, places, text, named=len(results) > 1) for key, found in results.items()
        ),
        "scores": "".join(sections),
        "untold": bullets(untold_sentences(every)),
        "how": _how(studies, every, command, text),
        "payload": static_payload(_rows(every), "gain.json"),
        "js": page_file("static_page.js"),
    }
    return filled_template("gain_page.html", parts, text)


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
    place: str, results: Sequence[GainResult], places: dict[int, str], text: dict[str, str], *, named: bool
) -> str:
    title = f"{text['table']}: {place}" if named else text["table"]
    heads = "".join(
        f'<th scope="col"{" class=text" if name == "estimate" else ""}>{shown(text[f"head_{name}"])}</th>'
        for name in HEADS
    )
    body = "".join(_row(one, places[id(one)]) for one in results)
    figure = inline_svg(
        lambda on: _untitled(plot_delay_curve(list(results), ax=on.subplots())),
        DELAYS if len(results) < INSIDE_LEGEND else (DELAYS[0] + 2.4, DELAYS[1]),
        name=f"d{places[id(results[0])]}",
        label=f"{text['delay']}: {place}",
        colours=COLOURS,
    )
    caption = f"<figcaption>{shown(text['delay_caption'])}</figcaption>"
    return (
        f'<h2>{shown(title)}</h2><p class="note">{shown(text["table_note"])}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{shown(title)}">'
        f'<table class="ranking"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<h3>{shown(text["delay"])}</h3><figure class="delays"><div class="scroll">{figure}</div>{caption}</figure>'
    )


def _row(result: GainResult, place: str) -> str:
    delay = read_gain(result).delay
    mapped = result.calibrated_error
    cells = [
        count(result.n_runs),
        with_interval(result.mean_gain.estimate, FINE),
        with_interval(result.correlation.estimate, DECIMALS),
        *(with_interval(found.estimate, FINE) for found in (result.error, result.debiased)),
        ABSENT if mapped is None else with_interval(mapped.estimate, FINE),
        with_interval(result.excess.estimate, FINE),
        with_interval(delay.gained, FINE),
        number(delay.random, FINE),
    ]
    name = f'<td class="name text"><a href="#{place}">{shown(result.label)}</a></td>'
    return f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _score(result: GainResult, place: str, text: dict[str, str]) -> str:
    draw: dict[str, Callable[[Any], Any]] = {
        "gain": lambda ax: plot_gain_by_uncertainty(result, ax=ax),
        "one_delay": lambda ax: plot_delay_curve(result, ax=ax),
    }
    if result.calibrated_error is not None:
        draw["map"] = lambda ax: plot_epistemic_map(result, ax=ax)
    figures = "".join(
        f"<figure><h4>{shown(text[name])}</h4>{_svg(of, f'{place}{i}', f'{text[name]}: {result.label}')}"
        f"<figcaption>{shown(text[f'{name}_caption'])}</figcaption></figure>"
        for i, (name, of) in enumerate(draw.items())
    )
    small = "".join(f'<p class="note">{shown(note.text)}</p>' for note in result.notes if note.code == SMALL)
    return (
        f'<div class="contender" id="{place}"><h3>{shown(result.label)}</h3>{bullets(result_sentences(result))}'
        f'<div class="panels">{figures}</div>{small}</div>'
    )


def _svg(draw: Callable[[Any], Any], name: str, label: str) -> str:
    return inline_svg(lambda on: _untitled(draw(on.subplots())), PANEL, name=name, label=label, colours=COLOURS)


def _untitled(ax: Any) -> None:
    """The page has the title as a heading."""
    ax.set_title("", loc="left")


def _warnings(results: Sequence[GainResult], studies: Sequence[GainStudy], text: dict[str, str]) -> str:
    about: dict[str, list[str]] = {}  # whom each remark is about
    for study in studies:
        for note in study.notes:
            about.setdefault(note.text, []).append(study.method)
    for one in results:
        for note in one.notes:
            if note.code != SMALL:
                about.setdefault(note.text, []).append(one.label)
    if not about:
        return ""
    items = "".join(
        f"<li>{shown(f'{listed(list(dict.fromkeys(names)), most=MOST_NAMES)}: {said}')}</li>"
        for said, names in about.items()
    )
    return f'<div class="warnings"><h2>{shown(text["warnings"])}</h2><ul>{items}</ul></div>'


def _how(studies: Sequence[GainStudy], results: Sequence[GainResult], command: str | None, text: dict[str, str]) -> str:
    said = bullets(gain_legend(results, lists=len(results) > len(_losses(studies))))
    options = results[0].options
    for study in studies:
        facts: dict[str, Any] = {"runs": study.n_runs, "seeds": list(study.seeds)}
        facts |= {"intervals of the estimates": options.bins, "binning": options.binning, "map": options.map_bins}
        facts |= {f"instances, {name}": size for name, size in study.runs[0].sizes.items()}
        title = ", ".join(filter(None, (f"{text['facts']}: {study.method}", study.dataset)))
        said += facts_list(title, facts | dict(study.facts))
    if command is not None:
        said += f"<h3>{shown(text['command'])}</h3><pre>{shown(command)}</pre>"
    return said
