"""The room of a figure: its width in a paper, the size of its texts, what fits, and the place of labels and legends."""

import math
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from uqassay.report.figures.names import short_names
from uqassay.report.figures.style import matplotlib_module
from uqassay.statistics.samples import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Width",
    "axes_for",
    "beside",
    "draw_legend",
    "every",
    "fitting",
    "headline",
    "label_axes",
    "legend_names",
    "points_of",
    "room_for",
    "text_size",
    "text_width",
    "wrapped",
]

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
