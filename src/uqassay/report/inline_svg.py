"""Figures of matplotlib as SVG inside a page: the page's colours and fonts, the same bytes for the same figure."""

import io
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from uqassay.report.figures.style import matplotlib_module
from uqassay.report.markup import shown

__all__ = ["inline_axes", "inline_svg"]

SALT = "uqassay"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
THEME = {"#000000": "var(--ink)", "#ffffff": "var(--card)", "#737373": "var(--soft)"}
POINTS_TO_PIXELS = 4 / 3
FONT_SIZE = 11.5  # texts are three quarters of it, in points: 11.5 pixels


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
        if colours != {}:
            for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
                patch.set(facecolor="none", edgecolor="none")
        # not `savefig`, which draws twice: first unseen for the layout
        canvas = matplotlib_module("backends.backend_svg").FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _as_element(stream.getvalue(), name, label, THEME if colours is None else colours)


def inline_axes(
    draw: Callable[[Any], object], size: tuple[float, float], *, name: str, label: str, colours: Mapping[str, str]
) -> str:
    """The same for a figure with one axes, which `draw` takes, and without its title, which the page has as a heading."""

    def on(figure: Any) -> None:
        ax = figure.subplots()
        draw(ax)
        ax.set_title("", loc="left")

    return inline_svg(on, size, name=name, label=label, colours=colours)


def _as_element(text: str, name: str, label: str, colours: Mapping[str, str]) -> str:
    width = float(re.search(r'<svg[^>]*? width="([\d.]+)pt"', text)[1])  # type: ignore[index]
    viewed = re.search(r'viewBox="([^"]+)"', text)[1]  # type: ignore[index]
    body = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"'DejaVu Sans'[^;\"]*", FONT, body)
    body = re.sub(r"#[0-9a-f]{6}\b(?=[;\"])", lambda found: colours.get(found[0], found[0]), body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    pixels = round(width * POINTS_TO_PIXELS)
    scheme = "" if colours else " paper"
    return (
        f'<svg class="drawn{scheme}" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{viewed}" role="img" '
        f'aria-label="{shown(label)}" style="max-width: {pixels}px">{body}</svg>'
    )
