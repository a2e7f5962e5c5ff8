"""Columns of numbers to the right of the axes, one line for each row of a figure."""

from collections.abc import Sequence
from typing import Any

from uqassay.report.figures.layout import text_size, text_width

__all__ = ["PLOT", "columns_width", "fitting_columns", "write_columns"]

PLOT = 95.0  # points that the axes keep at least
GAP = 10.0  # points before each column

Columns = Sequence[Sequence[str]]  # each with its head


def columns_width(columns: Columns) -> float:
    """Points that columns take with the gaps before them."""
    return sum(_width(column) + GAP for column in columns)


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
        offset += GAP
        ax.annotate(head, (1.0, top), (offset, 4), **style, va="bottom", fontweight="bold")
        weights = ["bold" if b else "normal" for b in bold or [False] * len(cells)]
        for text, place, weight in zip(cells, places, weights, strict=True):
            if text:
                ax.annotate(text, (1.0, place), (offset, 0), **style, va="center", fontweight=weight)
        offset += _width([head, *cells])
