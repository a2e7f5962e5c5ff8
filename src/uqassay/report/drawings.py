"""Figures of matplotlib inside a page: SVG in its colours, the words at the pointer, the numbers as folded tables."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uqassay.arrays import Floats
from uqassay.evidence.scale import scaled_coverage
from uqassay.evidence.sentences import measure_label
from uqassay.report.definitions import score_label
from uqassay.report.figures.assay import (
    DrawnCoverage,
    draw_coverage_curves,
    draw_reliability,
    draw_risk_coverage,
    tenths_of,
)
from uqassay.report.figures.calibration import MANY_MEMBERS, NULL, draw_tests, run_of
from uqassay.report.figures.frame import (
    BANDED,
    Marked,
    axes_for,
    label_axes,
    looks,
    mark,
    matplotlib_module,
    short_names,
)
from uqassay.report.markup import kept
from uqassay.report.sections import COVERAGES, FIRST_SCORE, FIRST_SHARE, REFUSED, best_scores, ranked_scores, risk_curve
from uqassay.report.sentences import FEW
from uqassay.text import (
    ABSENT,
    count,
    html_text,
    level_text,
    listed,
    number,
    part_of,
    percent,
    percent_interval,
    pvalue,
    significant,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["THEME", "Drawing", "figure_data", "inline_axes", "inline_svg", "lens_drawings", "load_ahead"]


# The drawings of the page of an assay, each with its caption and its numbers.

PANEL = 4.8, 3.3  # inches: on a narrow screen the texts still have ten pixels
ROW = 0.2  # inches of a row
COLOURS = {
    "#0072b2": "var(--blue)",
    "#000000": "var(--ink)",
    "#ffffff": "var(--page)",
    "#737373": "var(--soft)",
    "#999999": "var(--faint)",
    "#c7c7c7": "var(--bar)",
}
FEW_BANDS = "Bands are drawn for up to four models."
NAME = 22  # characters of a model's name beside its row
DATA = {"data": "Data of this chart"}


class Drawing(NamedTuple):
    """A figure of the page, with what stands around it."""

    name: str  #: The id of the figure.
    title: str
    svg: str
    caption: str
    data: str = ""  #: A folded table of its numbers.

    def markup(self) -> str:
        """The content of the figure; text from data is escaped."""
        held = f'<div class="drawing">{self.svg}</div>{self.data}<figcaption>{kept(self.caption)}</figcaption>'
        return f"<h3>{html_text(self.title)}</h3>{held}"


def lens_drawings(assay: "Assay") -> dict[str, dict[str, str]]:
    """The figures of each section as markup by their ids; a section without any is absent."""
    found = {
        "mistakes": [_curves(assay)],
        "calibration": [_tests(assay), _reliability(assay)],
        "sets": [_coverage(assay)],
    }
    drawn = {lens: {one.name: one.markup() for one in drawings if one is not None} for lens, drawings in found.items()}
    return {lens: figures for lens, figures in drawn.items() if figures}


def _curves(assay: "Assay") -> Drawing | None:
    """Risk-coverage curves by the first score of the section (class "first") and by each model's best one ("best")."""
    pairs: dict[tuple[str, str], str] = {}
    for model, best in best_scores(assay).items():
        if best is not None and FIRST_SCORE in ranked_scores(assay, model):
            pairs[model, FIRST_SCORE] = "first"
        if best is not None:
            pairs[model, best] = f"{pairs.get((model, best), '')} best".strip()
    if not pairs:
        return None
    # those by the best score and the lines of shares that are not chosen are off, until the page's script says otherwise
    first = any("first" in classes for classes in pairs.values())
    classes = {pair: one if "first" in one or not first else f"{one} off" for pair, one in pairs.items()}
    coverages = [c for c in COVERAGES if c * assay.n_instances >= 1]
    curves = {pair: risk_curve(assay, *pair, coverages) for pair in pairs}
    title = "Errors among the predictions kept"

    def draw(figure: Any) -> None:
        ax = axes_for(figure.subplots(), "text", 0.0)
        draw_risk_coverage(ax, assay, coverages, curves, banded=len(assay.model_names) <= BANDED, classes=classes)
        shares = [share for share in REFUSED if share * assay.n_instances >= 1]
        chosen = next(share for share in shares if share >= FIRST_SHARE)
        for share in shares:
            line = ax.axvline(1 - share, color="black", linewidth=1.2)
            mark(line, f"share share-{100 * share:g}{'' if share == chosen else ' off'}")
        label_axes(ax, "share of the cases kept, least uncertain first", "share of them that is wrong")

    rows, tenths = [], tenths_of(coverages)
    for (model, score), curve in curves.items():
        ends = [(percent(risk), percent_interval(low, high)) for risk, low, high in curve[:, tenths].T.tolist()]
        rows.append(
            [model, score_label(score), *(f'{risk}<span class="i">{interval}</span>' for risk, interval in ends)]
        )
    level = level_text(assay.settings.level)
    wrong = "share of the votes against the predicted class" if assay.labels.ndim == 2 else "share of wrong predictions"
    return Drawing(
        "mistakes-curve",
        title,
        inline_svg(draw, PANEL, name="curves", label=title, colours=COLOURS),
        f"The {wrong} among the cases kept. The bands are {level} intervals that hold for each share separately. {FEW_BANDS} "
        "The upright line is at the share chosen above. The axis is cut where few cases make a band wide.",
        figure_data(
            "Error rate among the least uncertain cases, by their share.",
            ["Model", "By", *(percent(coverages[i], 0) for i in tenths)],
            rows,
            DATA,
        ),
    )


def _reliability(assay: "Assay") -> Drawing | None:
    bins = {m.name: assay.reliability(m.name) for m in assay.candidates if m.states_confidence}
    if not bins:
        return None
    title, caption = (
        "How far off is the confidence of each model?",
        "Accuracy by confidence, in the bins that hold cases.",
    )
    rows = [
        [
            model,
            percent_interval(b.edges[k], b.edges[k + 1], 0),
            percent(float(b.confidence[k])),
            f'{percent(float(b.accuracy[k]))}<span class="i">{percent_interval(b.band_low[k], b.band_high[k])}</span>',
            count(int(b.count[k])),
        ]
        for model, b in bins.items()
        for k in np.flatnonzero(b.count > 0).tolist()
    ]
    heads = ["Model", "Confidence", "Mean", "Accuracy", "Cases"]

    def draw(figure: Any) -> None:
        draw_reliability(axes_for(figure.subplots(), "text", 0.0), assay, bins)

    return Drawing(
        "reliability",
        title,
        inline_svg(draw, PANEL, name="reliability", label=title, colours=COLOURS),
        "Accuracy in ten bins of confidence. A calibrated model follows the diagonal. The lines up and down are a band that "
        f"holds in all bins of a model together ({level_text(assay.settings.level)}). {FEW_BANDS} Larger marks hold more "
        f"cases; open marks fewer than {FEW}.",
        figure_data(caption, heads, rows, DATA),
    )


def _tests(assay: "Assay") -> Drawing | None:
    """All tests against what chance gives, a panel for each measure."""
    tested = [t for t in assay.calibration if t.tested != "nothing"]
    if not tested:
        return None
    measures = {t.measure: [other for other in tested if other.measure == t.measure] for t in tested}
    rows = []
    for t in tested:
        which = [f"{t.model}{run_of(assay, t)}", measure_label(t.measure)]
        if t.n_members < 2:
            rows.append([*which, ABSENT, ABSENT, significant(t.statistic), pvalue(t.pvalue)])
        for i in _heaviest(t.weights) if t.n_members > 1 else ():
            weight = ABSENT if np.isnan(t.weights).any() else number(float(t.weights[i]), 2, bounded=True)
            value = significant(float(t.member_values[i])) if len(t.member_values) else ABSENT
            p = pvalue(float(t.member_pvalues[i])) if len(t.member_pvalues) else ABSENT
            rows.append([*which, str(i + 1), weight, value, p])

    def draw(figure: Any) -> None:
        heights = [len(tests) + 2.4 for tests in measures.values()]
        for ax, (measure, tests) in zip(
            figure.subplots(len(measures), height_ratios=heights, squeeze=False)[:, 0], measures.items(), strict=True
        ):
            names = short_names([t.model for t in tests], lambda name: len(name) <= NAME)
            draw_tests(
                axes_for(ax, "text", 0.0),
                assay,
                tests,
                [n + run_of(assay, t) for n, t in zip(names, tests, strict=True)],
            )
            label_axes(ax, measure_label(measure))
            ax.tick_params(axis="y", length=0)
            ax.locator_params(axis="x", nbins=6)

    mixed = any(t.n_members > 1 for t in tested)
    title = "Could chance explain it?"
    more = " Open mark: the model’s mean. Small ticks: single members." if mixed else ""
    data = (
        "Single members: the weight in the best mixture, the measure of the member alone and its p-value, not adjusted."
    )
    return Drawing(
        "calibration-tests",
        title,
        inline_svg(
            draw,
            (PANEL[0], 0.1 + ROW * sum(len(tests) + 2.4 for tests in measures.values())),
            name="tests",
            label=title,
            colours=COLOURS,
        ),
        f"Mark: {'the best mixture' if mixed else 'the value found'}. Grey: where {100 * NULL:g} % of the values lie that "
        f"chance gives a calibrated model; a mark to the right of it speaks against calibration.{more}",
        figure_data(data, ["Model", "Measure", "Member", "Weight", "Value", "p"], rows, DATA),
    )


def _heaviest(weights: Floats) -> list[int]:
    """The members in their order, or the heaviest of many."""
    if len(weights) <= MANY_MEMBERS:
        return list(range(len(weights)))
    return np.argsort(-weights, kind="stable")[:MANY_MEMBERS].tolist()


def _coverage(assay: "Assay") -> Drawing | None:
    """Labels covered by the sets of each model with their spread scaled, against their non-specificity."""
    curves, rows, judged = [], [], dict[int, None]()
    places = {m.name: j for j, m in enumerate(assay.models)}
    for model, scaled in assay.scaled.items():
        found = scaled_coverage(assay, model)
        if not found:
            continue
        judged[len(scaled.judged)] = None
        words = []
        for scale, e, ns in found:
            covered, ends = percent(float(e)), percent_interval(e.low, e.high)
            rows.append([model, f"{scale:.3g}", f'{covered}<span class="i">{ends}</span>', f"{ns:.3g}"])
            words.append(f"{model}, s = {scale:.3g}: {covered} of the labels{_in_brackets(ends)}, NS {ns:.3g}")
        share, low, high = np.array([(float(e), e.low, e.high) for _, e, _ in found]).T
        size = np.array([ns for _, _, ns in found])
        curve = DrawnCoverage(size, share, low, high, scaled.own, f"m{places[model]}", tuple(words))
        curves.append((curve, looks(assay)[model]))
    if not curves:
        return None
    title = "If the sets were wider or narrower"

    def draw(figure: Any) -> None:
        ax = axes_for(figure.subplots(), "text", 0.0)
        draw_coverage_curves(ax, *zip(*curves, strict=True))
        label_axes(ax, "mean non-specificity, nats", "labels covered")

    on = listed([part_of(n, assay.n_instances, "case") for n in judged], last="or")
    return Drawing(
        "sets-curve",
        title,
        inline_svg(draw, PANEL, name="sets", label=title, colours=COLOURS),
        "Each point is a model with its sets scaled about their centres: s · (set − centre) + centre, cut at the edge of what "
        "is possible. The large point is the model as it is (s = 1). Wider sets usually cover more, so compare models at the "
        "same non-specificity NS. Covered: some distribution in the set has the label as its most probable class "
        f"(E-admissibility). On {on}; the band is the {level_text(assay.settings.level)} interval of each point by itself. "
        f"{FEW_BANDS}",
        figure_data(
            "Labels covered by the scaled sets, and their mean non-specificity NS.",
            ["Model", "s", "Covered", "NS"],
            rows,
            DATA,
        ),
    )


def _in_brackets(ends: str) -> str:
    return "" if ends == ABSENT else f" ({ends})"


# Figures of matplotlib as SVG inside a page: the page's colours and fonts, the same bytes for the same figure.

SALT = "uqassay"
THEME = {"#000000": "var(--ink)", "#ffffff": "var(--card)", "#737373": "var(--soft)"}
POINTS_TO_PIXELS = 4 / 3
FONT_SIZE = 11.5  # texts are three quarters of it, in points: 11.5 pixels


def load_ahead() -> None:
    """Import matplotlib on a thread of its own, a quarter of a second, while models are scored."""
    Thread(target=lambda: [matplotlib_module(name) for name in ("figure", "backends.backend_svg")], daemon=True).start()


def inline_svg(
    draw: Callable[[Any], object],
    size: tuple[float, float],
    *,
    name: str,
    label: str,
    colours: Mapping[str, str] | None = None,
) -> str:
    """Draw on a new figure and return it as an element of a page.

    Parameters
    ----------
    draw : callable
        Takes the matplotlib Figure.
    size : tuple of float
        In inches; the element is at most this large and shrinks with its column.
    name : str
        Of letters, digits and hyphens, unique on the page: the prefix of all ids in the figure.
    label : str
        Text for readers who do not see the figure.
    colours : mapping of str to str, optional
        CSS colours in place of colours of the figure (in lower case). By default black, white and grey follow the page's
        scheme; an empty mapping leaves every colour, on white.

    Returns
    -------
    str
        The same for the same figure: ids depend on the content, and there is no date.
    """
    figure = matplotlib_module("figure").Figure(figsize=size, layout="constrained")
    stream = io.StringIO()
    options = {"font.size": FONT_SIZE, "svg.fonttype": "none", "svg.hashsalt": SALT, "svg.image_inline": True}
    with matplotlib_module().rc_context(options), warnings.catch_warnings():
        # the text stays text: the browser has glyphs that the fonts of matplotlib lack
        warnings.filterwarnings("ignore", r"Glyph \d+ |Matplotlib currently does not support", UserWarning)
        draw(figure)
        marked = [artist for ax in figure.axes for artist in ax.get_children() if hasattr(artist, "marked")]
        for k, artist in enumerate(marked):
            artist.set_gid(f"marked{k}")
        if colours != {}:
            for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
                patch.set(facecolor="none", edgecolor="none")
        # not `savefig`, which draws twice: first unseen for the layout
        canvas = matplotlib_module("backends.backend_svg").FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    marks = [artist.marked for artist in marked]
    return _as_element(stream.getvalue(), name, label, THEME if colours is None else colours, marks)


def inline_axes(
    draw: Callable[[Any], object], size: tuple[float, float], *, name: str, label: str, colours: Mapping[str, str]
) -> str:
    """The same for a figure with one axes, which `draw` takes, and without its title, which the page has as a heading."""

    def on(figure: Any) -> None:
        ax = figure.subplots()
        draw(ax)
        ax.set_title("", loc="left")

    return inline_svg(on, size, name=name, label=label, colours=colours)


def _as_element(text: str, name: str, label: str, colours: Mapping[str, str], marks: Sequence[Marked]) -> str:
    width = float(re.search(r'<svg[^>]*? width="([\d.]+)pt"', text)[1])  # type: ignore[index]
    viewed = re.search(r'viewBox="([^"]+)"', text)[1]  # type: ignore[index]
    body = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r" font-family: [^;\"]*;?", "", body)  # that of the page
    body = re.sub(r"#[0-9a-f]{6}\b(?=[;\"])", lambda found: colours.get(found[0], found[0]), body)
    body = re.sub(r' (?:d|x|y|transform)="[^"]*"', _shorter, body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    for k, one in enumerate(marks):
        body = _with_mark(body, f'<g id="marked{k}">', one)
    body = re.sub(r'<g id="[^"]*"', "<g", body)  # nothing refers to a group
    body = re.sub(r' transform="rotate\(-0 [^"]*"|<g/>\n|\n(?=["<z])', "", body)
    body = _with_short_ids(body, name)
    pixels = round(width * POINTS_TO_PIXELS)
    scheme = "" if colours else " paper"
    return (
        f'<svg class="drawn{scheme}" viewBox="{viewed}" role="img" '
        f'aria-label="{html_text(label)}" style="max-width: {pixels}px">{body}</svg>'
    )


def _shorter(attribute: re.Match[str]) -> str:
    """Coordinates to a hundredth of a point, and a path without what a line from point to point does not need."""
    short = re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])
    return re.sub(r"\s*\n?([MCQ]) ", r"\1", re.sub(r"\s*\nL ", "L", short))


def _with_mark(body: str, group: str, marked: Marked) -> str:
    """The element of an artist with its classes, and its words as the titles of its points, or else of its lines."""
    begin = body.find(group)
    if begin < 0:  # nothing was drawn
        return body
    end = _end_of_group(body, begin)
    held = body[begin + len(group) : end]
    points = re.findall(r"<use [^>]*/>", held)
    found = points or re.findall(r"<path [^>]*/>", held)
    if marked.words:
        words = iter(marked.words)
        kind = "use" if points else "path"
        held = re.sub(rf"<{kind} ([^>]*)/>", lambda one: _titled(kind, one, next(words, "")), held)
    assert not marked.words or len(found) == len(marked.words), "each point has its words"
    styles = {re.search(r' style="[^"]*"|$', one)[0] for one in points}  # type: ignore[index]
    shared = styles.pop() if len(styles) == 1 else ""  # once, where it is that of all points
    if shared:
        held = re.sub(rf"(<use [^>]*){re.escape(shared)}", r"\1", held)
    named = f' class="{marked.classes}"' if marked.classes else ""
    return f"{body[:begin]}<g{named}{shared}>{held}{body[end:]}"


def _titled(kind: str, element: re.Match[str], words: str) -> str:
    return f"<{kind} {element[1].rstrip()}><title>{html_text(words)}</title></{kind}>"


def _with_short_ids(body: str, name: str) -> str:
    """Ids that are unique on the page: the name of the figure with a number."""
    short = {found: f"{name}-{k}" for k, found in enumerate(re.findall(r'\bid="([^"]+)"', body))}
    return re.sub(
        r'(\bid="|url\(#|href="#)([^")]+)', lambda found: found[1] + short[found[2]], body.replace("xlink:href", "href")
    )


def _end_of_group(body: str, begin: int) -> int:
    """Where the group that begins there ends."""
    depth = 0
    for tag in re.compile(r"<g[ >]|</g>").finditer(body, begin):
        depth += 1 if tag[0] != "</g>" else -1
        if depth == 0:
            return tag.start()
    return len(body)


def figure_data(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], text: Mapping[str, str]) -> str:
    """The numbers of a figure as a folded table, for readers who do not see it.

    The first cell of a row is its heading, as text; the others are markup.
    """
    cells = "".join(
        f'<th scope="col"{"" if i else " class=text"}>{html_text(head)}</th>' for i, head in enumerate(heads)
    )
    body = "".join(
        f'<tr><th scope="row" class="text">{html_text(first)}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    summary = f'{html_text(text["data"])}<span class="visually-hidden">: {html_text(caption)}</span>'
    return (
        f'<details class="chart-data"><summary>{summary}</summary>'
        f'<div class="scroll short" tabindex="0" role="group" aria-label="{html_text(caption)}"><table>'
        f"<caption><span>{html_text(caption)}</span></caption>"
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )
