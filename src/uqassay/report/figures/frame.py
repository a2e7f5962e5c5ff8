"""What all figures share: size, axes, looks of models, names, columns of numbers."""

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uqassay.arrays import Floats, as_numeric
from uqassay.checks import fail
from uqassay.evidence.data import Judged, colour_order
from uqassay.evidence.ranking import winners_of
from uqassay.losses.unified import check_tradeoff
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.statistics.units import check_choice
from uqassay.text import counted, drawable, level_text, tradeoff, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.scoring import ModelScores

__all__ = [
    "BANDED",
    "GREY",
    "PALETTE",
    "PLOT",
    "Look",
    "Marked",
    "Width",
    "at_tradeoff",
    "axes_for",
    "beside",
    "columns_width",
    "draw_legend",
    "every",
    "fitting",
    "fitting_columns",
    "given_looks",
    "headline",
    "interval_level",
    "label_axes",
    "legend_names",
    "look_at",
    "looks",
    "loss_label",
    "mark",
    "matplotlib_module",
    "model_colours",
    "named_model",
    "plain",
    "points_of",
    "quantity_label",
    "resampled_units",
    "room_for",
    "short_names",
    "swatch",
    "text_size",
    "text_width",
    "tradeoff_grid",
    "window",
    "wrapped",
    "write_columns",
]


# Names from data in a figure: letter by letter, and short where there is little room, with what tells them apart.

WORD = 12  # characters of a word that is kept whole
LEAST = 8  # characters of a name, however narrow its room
LEAST_CUT = 3  # characters that are worth a "…"
SEPARATORS = " -_./:|,;()[]+="


def printable(text: object) -> str:
    """Text in one line, with its invisible characters spelt out."""
    return visible(str(text))


def short_names(names: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """Short forms of names, distinct for distinct ones: what all have in common becomes "…", what tells them apart stays.

    Parameters
    ----------
    names : sequence of str
    fits : callable
        Whether a name has room. Names that cannot be shorter without being equal to another one stay longer.

    Examples
    --------
    >>> short_names(["experiment 7, network a", "experiment 7, network b"], lambda name: len(name) <= 12)
    ['…a', '…b']
    """
    plain = [printable(name) for name in dict.fromkeys(names)]
    most = max((len(name) for name in plain), default=0)
    found = plain
    while not all(map(fits, found)) and most > LEAST:
        most -= 1
        found = _distinct(_shortened(plain, most), found)
    shown = dict(zip(dict.fromkeys(names), found, strict=True))
    return [drawable(shown[name]) for name in names]


def _distinct(names: list[str], longer: list[str]) -> list[str]:
    """The names, and the longer form of those that are equal to another one."""
    return [long if names.count(name) > 1 else name for name, long in zip(names, longer, strict=True)]


def _shortened(names: list[str], most: int) -> list[str]:
    if all(len(name) <= most for name in names):
        return names
    if len(set(names)) == 1:
        return [_middle_cut(name, most) for name in names]
    start = _common_start(names)
    rests = [name[start:] for name in names]
    end = _common_start([rest[::-1] for rest in rests])
    inner = [rest[: len(rest) - end] for rest in rests]
    room = max(LEAST, most - (start > 0) - (end > 0))
    words = [_first_word(name) for name in inner]
    for word in dict.fromkeys(words):
        places = [i for i, own in enumerate(words) if own == word]
        after = _shortened([inner[i][len(word) :] for i in places], max(LEAST, room - len(word)))
        for i, rest in zip(places, after, strict=True):
            inner[i] = word + rest if len(inner[i]) > room else inner[i]
    return [f"{'…' * (start > 0)}{name}{'…' * (end > 0)}" for name in inner]


def _common_start(names: list[str]) -> int:
    """Number of characters that all begin with, up to the end of a word; never all characters of one of them."""
    shortest = min(len(name) for name in names)
    same = next((i for i in range(shortest) if len({name[i] for name in names}) > 1), shortest)
    cut = min(same, shortest - 1)
    whole = next((i for i in range(cut, max(same - WORD, 0), -1) if names[0][i - 1] in SEPARATORS), cut)
    return whole if whole >= LEAST_CUT else 0


def _first_word(name: str) -> str:
    end = next((i + 1 for i, c in enumerate(name[:WORD]) if c in SEPARATORS), WORD)
    return name[:end]


def _middle_cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


# Shared by all figures: one look per model, plain text, and numbers in words.


# Okabe and Ito (2008); black, the colour of text, and yellow, darkened so that it shows on white, come last
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", ">", "<", "p", "h", "*")
LINES: tuple[Any, ...] = (
    "-",
    "-.",
    (0, (6, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)  # a second model of one colour differs here
HATCHES = ("", "///", "...", "xxx")
GREY = "#737373"
BASELINES = {"vacuous": ("x", "--"), "class-prior": ("+", ":")}

LONGEST = 32  # characters of a name
BANDED = 10  # curves whose bands can be told apart; of more, bands are left out
PAPERS_CREDAL_UNCERTAINTY = "credal uncertainty of the authors' code (bits)"
MEASURES = {"credal-width": "credal width, mean over classes"}


class Look(NamedTuple):
    """How one model is drawn in every figure."""

    colour: str
    marker: str
    line: Any
    hatch: str


def look_at(place: int) -> Look:
    """Look of the model at a place in the order of colours."""
    turn = place // len(PALETTE)
    line, hatch = LINES[turn % len(LINES)], HATCHES[(place + turn) % len(HATCHES)]
    return Look(PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)], line, hatch)


def looks(assay: Judged) -> dict[str, Look]:
    """Look of every model by its place in the order of colours; baselines are grey."""
    places = {name: place for place, name in enumerate(colour_order(assay))}
    return {m.name: Look(GREY, *BASELINES[m.name], "") if m.baseline else look_at(places[m.name]) for m in assay.models}


def given_looks(coloured_as: "Judged | Mapping[str, Look] | None") -> Mapping[str, Look]:
    """The looks of an assay's models, or looks by name; none by default."""
    if coloured_as is None or isinstance(coloured_as, Mapping):
        return coloured_as or {}
    return looks(coloured_as)


def model_colours(assay: Judged) -> dict[str, str]:
    """Colour of each model and baseline in every figure, for the user's own pictures.

    Examples
    --------
    >>> import uqassay as uq
    >>> model_colours(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    {'m': '#0072B2', 'vacuous': '#737373', 'class-prior': '#737373'}
    """
    return {name: look.colour for name, look in looks(assay).items()}


# -- parts of a figure that a page hides and explains ---------------------------------------------------------------------


class Marked(NamedTuple):
    """What a page makes of an artist; see `uqassay.report.drawings.inline_svg`."""

    classes: str  #: Names by which the page finds it, such as "m0" for the first model.
    words: tuple[str, ...]  #: Shown at the pointer, one for each of its points.


def mark(artist: Any, classes: str, words: Sequence[str] = ()) -> Any:
    """The artist, with the classes and the words that it has on a page; nothing changes in a figure of its own."""
    artist.marked = Marked(classes, tuple(words))
    return artist


# -- matplotlib, only when something is drawn -------------------------------------------------------------------------


def matplotlib_module(name: str = "") -> Any:
    """Import a module of matplotlib, by default the package."""
    return import_module(f"matplotlib.{name}".rstrip("."))


def swatch(look: Look, label: str, *, line: bool = True) -> Any:
    """Legend entry of one model: its line and marker, or its marker alone."""
    return matplotlib_module("lines").Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line if line else "none",
        markersize=5,
        label=label,
    )


# -- words and numbers ------------------------------------------------------------------------------------------------


def plain(text: object, *, limit: int = LONGEST) -> str:
    r"""Text from data as matplotlib shows it letter by letter: no formulas, one line, no legend entry that vanishes.

    Examples
    --------
    >>> plain("$x_1$"), plain("two\nlines"), plain("_hidden")
    ('\\$x_1\\$', 'two\\nlines', ' _hidden')
    """
    shown = printable(text)
    return drawable(shown if len(shown) <= limit else f"{shown[: limit - 11]}…{shown[-10:]}")


def interval_level(assay: Judged) -> str:
    """The confidence level of the assay's intervals in words."""
    return level_text(assay.settings.level)


def at_tradeoff(value: float) -> str:
    """λ as the title of a figure writes it.

    Examples
    --------
    >>> at_tradeoff(0.5)
    'λ = 0.5'
    """
    return f"λ = {tradeoff(value)}"


def resampled_units(assay: Judged) -> str:
    """Number of instances, and of groups if groups are resampled."""
    text = counted(assay.n_instances, "case" if assay.weights is None else "weighted case")
    if assay.groups is not None:
        text += f" in {counted(len(np.unique(assay.groups)), 'group')}"
    return text


def quantity_label(assay: Judged, quantity: str) -> str:
    """Axis label of a column, with its unit."""
    if quantity == "distance":
        return assay.settings.distance_entry.axis
    if quantity == "nonspecificity":
        size = NONSPECIFICITIES[assay.settings.nonspecificity]
        return (
            PAPERS_CREDAL_UNCERTAINTY if assay.settings.convention == "paper" and size.of_sizes is None else size.axis
        )
    return MEASURES.get(quantity, quantity.replace("-", " ") + (" (nats)" if "entropy" in quantity else ""))


def loss_label(assay: Judged, weight: str = "λ·") -> str:
    """Axis label of the unified loss; it is in nats where both of its terms are."""
    units = assay.settings.distance_entry.unit, NONSPECIFICITIES[assay.settings.nonspecificity].unit
    both = set(units) == {"nats"} and quantity_label(assay, "nonspecificity") != PAPERS_CREDAL_UNCERTAINTY
    return f"E = d + {weight}NS" + (" (nats)" if both else "")


# -- arguments ---------------------------------------------------------------------------------------------------------


def named_model(assay: Judged, model: str) -> "ModelScores":
    """The scores of a model; baselines are refused."""
    found = assay[model]
    if found.baseline:
        fail(
            "model",
            "must be a model to choose from",
            f"got the baseline {model!r}",
            "name one of assay.model_names",
            code="type",
        )
    return found


def tradeoff_grid(assay: Judged, tradeoffs: ArrayLike | None, n: int) -> Floats:
    """The λ asked for, increasing; by default n of them from 0 past the last change of the winner, within reason."""
    if tradeoffs is None:
        top = assay.tradeoffs[-1]
        last = max((low for low, _, _ in winners_of(assay)), default=0.0)
        top = max(top, 1.25 * last) if last <= 2 * top else top
        return np.union1d(np.linspace(0.0, top if top > 0 else 1.0, n).round(12), assay.tradeoffs)
    grid = np.unique(as_numeric(tradeoffs, "tradeoffs", ndim=1).astype(np.float64))
    for value in grid.tolist():
        check_tradeoff(value)
    if len(grid) < 2:
        fail(
            "tradeoffs", "needs at least two different λ", "got one", "plot_ranking shows a single one", code="mismatch"
        )
    return grid


def window(values: Floats, *, from_zero: bool) -> tuple[float, float]:
    """Ends of an axis around finite values; from 0 where that is near."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    near_zero = (from_zero and 0 <= low < 0.6 * high) or low == 0.0
    return 0.0 if near_zero else low - margin, high + margin


# The room of a figure: its width in a paper, the size of its texts, what fits, and the place of labels and legends.

Width = Literal["column", "text"]
INCHES = {"column": 3.3, "text": 6.8}  # of one column and of the whole text of a paper
TITLE = {"column": 0.3, "text": 0.0}  # inches of the further lines that a title has in a column
LEAST_POINTS = 7.0  # of any text
AXES = 0.775  # share of a figure that its only axes have before the layout
SIDE = 38.0  # points of a y axis with its label and tick labels
WIDE = 300.0  # points from which a legend stands to the right of the axes
BESIDE = 12  # entries of a legend to the right; longer ones stand below the axes
LINE = 1.42  # distance between two lines of a legend, in sizes of its text
FONTS = [f"font.{name}" for name in ("family", "style", "variant", "stretch")]
FONTS += [f"font.{name}" for name in ("serif", "sans-serif", "cursive", "fantasy", "monospace")]
HANDLE, GAP = 2.6, 1.6  # width of a legend's handle and distance between columns, in sizes of its text


def text_size() -> float:
    """Size of all texts, in points: three quarters of matplotlib's "font.size", but at least 7."""
    return max(LEAST_POINTS, 0.75 * float(matplotlib_module().rcParams["font.size"]))


def text_width(texts: Sequence[str], *, weight: Literal["normal", "bold"] = "normal") -> float:
    """Width of the longest of some texts, in points."""
    settings = matplotlib_module().rcParams
    fonts = tuple(str(settings[name]) for name in FONTS)
    lines = [line.replace(r"\$", "$") for text in texts for line in text.split("\n")]
    return max((_line_width(line, text_size(), weight, fonts) for line in lines if line), default=0.0)


@lru_cache(maxsize=4096)  # names are shortened letter by letter, and several figures show the same names
def _line_width(line: str, size: float, weight: str, fonts: tuple[str, ...]) -> float:
    """Width of a line in points; `fonts` are the settings that the font depends on."""
    properties = matplotlib_module("font_manager").FontProperties(size=size, weight=weight)
    measured = matplotlib_module("textpath").text_to_path.get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph that the font lacks is told when it is drawn
        return float(measured(line, properties, ismath=False)[0])


# -- room ---------------------------------------------------------------------------------------------------------------


def points_of(ax: Any) -> float:
    """Points that axes have for themselves with their labels, before a layout engine moves them."""
    return float(ax.bbox.width / ax.figure.dpi * 72 / AXES)


def room_for(ax: "Axes | None", width: Width) -> float:
    """Points from the left end to the right end of a figure, or of the room of `ax`."""
    check_choice(width, "width", tuple(INCHES))
    return 72 * INCHES[width] if ax is None else points_of(ax)


def axes_for(ax: "Axes | None", width: Width, height: float, *, legend: Sequence[str] = ()) -> Any:
    """Return `ax`, or the axes of a new figure, with texts of one size and without a frame.

    Parameters
    ----------
    ax : Axes or None
    width : {"column", "text"}
        3.3 or 6.8 inches, for a new figure.
    height : float
        In inches, for a new figure, without a legend below the axes.
    legend : sequence of str
        Texts of the legend that will be drawn: where it stands below, the figure is that much higher.
    """
    room = room_for(ax, width)
    if ax is None:
        columns = _columns(legend, room)
        below = LINE * text_size() * math.ceil(len(legend) / columns) / 72 if columns else 0.0
        size = INCHES[width], height + below + TITLE[width]
        ax = matplotlib_module("pyplot").subplots(figsize=size, layout="constrained")[1]
    ax.tick_params(labelsize=text_size())
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def fitting(names: Sequence[str], points: float) -> list[str]:
    """Names that fit into so many points, as matplotlib shows them letter by letter; see `short_names`."""
    return short_names(names, lambda name: text_width([name]) <= points)


def every(size: float) -> int:
    """Of labels across rows or columns of so many points, the first of how many has room for its line."""
    return math.ceil(1.25 * text_size() / size)


def wrapped(text: str, points: float) -> list[str]:
    """Lines of whole words that fit into so many points; "λ = 1" stays together."""
    lines: list[str] = []
    for word in re.split("(?<!=) (?!=)", text):
        if lines and text_width([f"{lines[-1]} {word}"]) <= points:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


# -- labels, title, legend ----------------------------------------------------------------------------------------------


def label_axes(ax: Any, x: str = "", y: str = "", *, taken: float = SIDE) -> None:
    """Names of the axes, broken into lines where they are longer than the axes.

    `taken` are points of the width that are not the axes: names or the y axis to the left, numbers to the right.
    """
    if x:
        ax.set_xlabel("\n".join(wrapped(x, points_of(ax) - taken)), fontsize=text_size())
    if y:
        height = float(ax.bbox.height / ax.figure.dpi * 72)
        ax.set_ylabel("\n".join(wrapped(y, height)), fontsize=text_size())


def headline(ax: Any, *parts: str, pad: float | None = None, taken: float = SIDE) -> None:
    """Small title above the axes: parts with ";" between them, broken into lines by the width; `taken` as in `label_axes`."""
    room = points_of(ax) - taken
    lines: list[str] = []
    for part in filter(None, parts):
        if lines and text_width([f"{lines[-1]}; {part}"]) <= room:
            lines[-1] += f"; {part}"
        else:
            lines += wrapped(part, room)
    ax.set_title("\n".join(lines), loc="left", fontsize=text_size(), pad=pad)


def beside(ax: Any, legend: Sequence[str]) -> float:
    """Points that the y axis and a legend to the right take; see `label_axes`."""
    standing = legend and not _columns(legend, points_of(ax))
    return SIDE + (text_width(legend) + HANDLE * text_size() + 12 if standing else 0.0)


def legend_names(names: Sequence[str], room: float, more: Sequence[str] = ()) -> list[str]:
    """Names of models as the entries of a legend have room for them, each followed by its text of `more`."""
    if room >= WIDE and len(names) <= BESIDE:
        points = 0.3 * room
    else:
        points = (room - SIDE) / (2 if len(names) > BESIDE else 1) - (HANDLE + GAP) * text_size()
    found = fitting(names, max(points - text_width(list(more)), 0.25 * points))
    return [f"{name}{text}" for name, text in zip(found, more or [""] * len(found), strict=True)]


def draw_legend(ax: Any, handles: Sequence[Any], *, below: float = 0.0, apart: float = 8.0) -> None:
    """Legend outside the axes: to the right where there is room, else below them and their label.

    `below` are points that tick labels take in addition to one line, `apart` those to the right of the axes that are taken.
    """
    labels = [handle.get_label() for handle in handles]
    columns = _columns(labels, points_of(ax))
    lines = 1 + (ax.get_xlabel().count("\n") + 1 if ax.get_xlabel() else 0)
    corner, away = (
        ((0.0, 0.0), (0.0, -(10 + below + 1.25 * text_size() * lines))) if columns else ((1.0, 1.0), (apart, 0.0))
    )
    moved = matplotlib_module("transforms").ScaledTranslation(away[0] / 72, away[1] / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=list(handles),
        fontsize=text_size(),
        loc="upper left",
        borderaxespad=0.0,
        frameon=False,
        handlelength=2.0,
        handletextpad=0.6,
        columnspacing=GAP,
        labelspacing=0.25,
        bbox_to_anchor=corner,
        bbox_transform=ax.transAxes + moved,
        ncols=columns or 1,
    )


def _columns(labels: Sequence[str], room: float) -> int:
    """Columns of a legend below the axes; 0 for one that stands to the right."""
    if not labels or (room >= WIDE and len(labels) <= BESIDE):
        return 0
    gap = GAP * text_size()
    entry = text_width(labels) + HANDLE * text_size()
    return min(len(labels), max(1, int((room - SIDE + gap) / (entry + gap))))


# Columns of numbers to the right of the axes, one line for each row of a figure.

PLOT = 95.0  # points that the axes keep at least
COLUMN_GAP = 10.0  # points before each column

Columns = Sequence[Sequence[str]]  # each with its head


def columns_width(columns: Columns) -> float:
    """Points that columns take with the gaps before them."""
    return sum(_width(column) + COLUMN_GAP for column in columns)


def _width(column: Sequence[str]) -> float:
    return max(text_width(column[:1], weight="bold"), text_width(column))


def fitting_columns(columns: Columns, points: float, *, first: Sequence[int]) -> list[Sequence[str]]:
    """The columns that leave the axes their room out of so many points, in their order; `first` are the more important ones."""
    kept: set[int] = set()
    for i in first:
        if columns_width([columns[k] for k in {*kept, i}]) <= points - PLOT:
            kept.add(i)
    return [column for i, column in enumerate(columns) if i in kept]


def write_columns(
    ax: Any, columns: Columns, places: Sequence[float], *, top: float, bold: Sequence[bool] | None = None
) -> None:
    """Write the cells at their places on the y axis, and the heads above `top`."""
    style: dict[str, Any] = {
        "xycoords": ax.get_yaxis_transform(),
        "textcoords": "offset points",
        "fontsize": text_size(),
        "annotation_clip": False,
    }
    offset = 0.0
    for head, *cells in columns:
        offset += COLUMN_GAP
        ax.annotate(head, (1.0, top), (offset, 4), **style, va="bottom", fontweight="bold")
        weights = ["bold" if b else "normal" for b in bold or [False] * len(cells)]
        for text, place, weight in zip(cells, places, weights, strict=True):
            if text:
                ax.annotate(text, (1.0, place), (offset, 0), **style, va="center", fontweight=weight)
        offset += _width([head, *cells])
