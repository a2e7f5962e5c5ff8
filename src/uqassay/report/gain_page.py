"""One HTML page on the gain from more data and the estimates of it; it needs no network."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from uqassay.notes import Note
from uqassay.report.figures.gain import (
    GAIN_LOOKS,
    plot_delay_curve,
    plot_epistemic_map,
    plot_gain_by_uncertainty,
)
from uqassay.report.figures.style import PALETTE
from uqassay.report.gain_data import delay_data, gain_data, map_data
from uqassay.report.inline_svg import THEME, inline_axes
from uqassay.report.markup import shown, write_html
from uqassay.report.sentences.gain import gain_text
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
from uqassay.wording import ABSENT, count, number

__all__ = ["render_gain", "write_gain_page"]

DECIMALS, FINE = 3, 4
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
        Those of `GainStudy.result`: bins, binning, map_bins, cross_fit.

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
    return f"{table}<h3>{shown(text['delay'])}</h3>{drawn}"


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
    small = "".join(f'<p class="note">{shown(note.text)}</p>' for note in result.notes if note.code == SMALL)
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
        facts |= {f"instances, {name}": size for name, size in study.runs[0].sizes.items()}
        found.append((", ".join(filter(None, (study.method, study.dataset))), facts | dict(study.facts)))
    return found


def _map_of(study: GainStudy, results: Sequence[GainResult]) -> str:
    """Where the map comes from."""
    own = next(one for one in results if (one.method, one.dataset) == (study.method, study.dataset))
    if own.n_folds:
        return f"cross-fitted in {own.n_folds} folds"
    return ABSENT if own.calibrated_error is None else own.options.map_bins
