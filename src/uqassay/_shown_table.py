"""A small table of texts to read, with the best cells marked: as plain text, Markdown, LaTeX and HTML."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from uqassay._markup import html_text, latex_text, markdown_text
from uqassay.wording import counted, number, significant, text_table, visible

__all__ = ["Bar", "ShownCell", "ShownRow", "ShownTable", "estimate_cell"]

MOST_ROWS = 12  # in a notebook; the line below says how many more there are
NARROWEST = 16  # characters of a column of words that a narrow page leaves together
WIDTH, HEIGHT, MARGIN = 140.0, 18.0, 6.0  # of the drawing of one row, in pixels
FAINT = "opacity:.6"
LINE = "border-bottom:1px solid rgba(128,128,128,.5)"


class ShownCell(NamedTuple):
    """Text of a cell; `best` is the best of its column, `tied` cannot be told from the best. `after` is never marked."""

    text: str
    best: bool = False
    tied: bool = False
    after: str = ""


class Bar(NamedTuple):
    """A value with its interval, drawn beside its row; nan where there is none."""

    value: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class ShownRow:
    """Cells of a row. References (baselines) are set apart, and have no part in the range of the drawing."""

    cells: tuple[ShownCell, ...]
    reference: bool = False
    bar: Bar | None = None


def estimate_cell(value: float, low: float, high: float, decimals: int = 3) -> ShownCell:
    """A number with its interval, where it has one.

    Examples
    --------
    >>> estimate_cell(0.5, 0.4, 0.6)
    ShownCell(text='0.500', best=False, tied=False, after='[0.400, 0.600]')
    """
    ends = f"[{number(low, decimals)}, {number(high, decimals)}]" if low < high else ""
    return ShownCell(number(value, decimals), after=ends)


@final
@dataclass(frozen=True)
class ShownTable:
    """Rows under a header.

    Attributes
    ----------
    header : tuple of str
    rows : tuple of ShownRow
    caption : str
        What the numbers mean, in sentences.
    marks : str
        What bold and underlined mean; plain text shows neither.
    n_words : int
        Number of first columns that hold words, to the left; numbers stand to the right.
    """

    header: tuple[str, ...]
    rows: tuple[ShownRow, ...]
    caption: str = ""
    marks: str = ""
    n_words: int = 1

    def as_text(self) -> list[str]:
        """Lines of plain text; none without rows."""
        if not self.rows:
            return []
        words = self.n_words
        cells = [[visible(f"{cell.text} {cell.after}".rstrip()) for cell in row.cells] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.header, *cells, strict=True)]

        def line(texts: Sequence[str]) -> list[str]:
            left = "  ".join(text.ljust(width) for text, width in zip(texts[:words], widths, strict=False))
            return [left, *texts[words:]]

        return [text.rstrip() for text in text_table(line(self.header), map(line, cells))]

    def as_markdown(self) -> str:
        """A table of GitHub's Markdown: the best in bold, those tied with it underlined."""
        rule = [":--" if i < self.n_words else "--:" for i in range(len(self.header))]
        lines = [list(map(markdown_text, self.header)), rule]
        lines += [[_marked(cell, markdown_text, "**{}**", "<ins>{}</ins>") for cell in row.cells] for row in self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        said = self._said()
        return f"{table}\n\n{markdown_text(said)}" if said else table

    def as_latex(self) -> str:
        """A table of LaTeX with booktabs: the best in bold, those tied with it underlined."""
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{latex_text(self._said())}}}",
            r"\centering",
            rf"\begin{{tabular}}{{{'l' * self.n_words}{'r' * (len(self.header) - self.n_words)}}}",
            r"\toprule",
            rf"{' & '.join(map(latex_text, self.header))} \\",
        ]
        kinds = [None, *(row.reference for row in self.rows)]
        for before, row in zip(kinds, self.rows, strict=False):
            if row.reference is not before:
                lines.append(r"\midrule")
            cells = (_marked(cell, latex_text, r"\textbf{{{}}}", r"\underline{{{}}}") for cell in row.cells)
            lines.append(rf"{' & '.join(cells)} \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])

    def as_html(self) -> str:
        """A table of HTML without colours, for light and dark pages, with the bars drawn beside the rows; none without rows."""
        if not self.rows:
            return ""
        shown = self.rows if len(self.rows) <= MOST_ROWS + 1 else self.rows[:MOST_ROWS]
        scale = _Scale.of(shown)
        head = "".join(
            self._html_cell("th", i, f"font-weight:600;{LINE}", html_text(t)) for i, t in enumerate(self.header)
        )
        head += "" if scale is None else f'<th style="{LINE}"></th>'
        lines = []
        for row in shown:
            texts = [_marked(cell, html_text, "<b>{}</b>", "<u>{}</u>") for cell in row.cells]
            faint = FAINT if row.reference else ""
            cells = "".join(self._html_cell("td", i, faint, text) for i, text in enumerate(texts))
            drawn = "" if scale is None else f'<td style="padding:0 0 0 6px;{faint}">{scale.drawn(row.bar)}</td>'
            lines.append(f'<tr style="background:none">{cells}{drawn}</tr>')
        if scale is not None:
            empty = f'<td colspan="{len(self.header)}"></td>'
            lines.append(f'<tr style="background:none">{empty}<td style="padding:0 0 0 6px">{scale.axis()}</td></tr>')
        rest = len(self.rows) - len(shown)
        more = f"<p>{counted(rest, 'more row')}, which to_markdown() shows too.</p>" if rest else ""
        said = self._said()
        caption = f'<p style="{FAINT}">{html_text(said)}</p>' if said else ""
        table = (
            f'<table style="border-collapse:collapse;margin:.5em 0;font-size:inherit"><thead><tr>{head}</tr></thead>'
        )
        body = f"<tbody>{''.join(lines)}</tbody>"
        return f'<div style="overflow-x:auto">{table}{body}</table></div>{more}{caption}'

    def _said(self) -> str:
        marked = any(cell.best or cell.tied for row in self.rows for cell in row.cells)
        return " ".join(filter(None, (self.caption, self.marks if marked else "")))

    def _html_cell(self, tag: str, i: int, style: str, text: str) -> str:
        side = "text-align:right;white-space:nowrap"
        if i < self.n_words:
            longest = max(len(text) for text in (self.header[i], *(row.cells[i].text for row in self.rows)))
            side = f"text-align:left;min-width:{min(longest, NARROWEST)}ch;max-width:24em;overflow-wrap:anywhere"
        look = f"{side};padding:2px 10px 2px 0;font-variant-numeric:tabular-nums;{style}"
        return f'<{tag} style="{look}">{text}</{tag}>'


def _marked(cell: ShownCell, escaped: Callable[[str], str], best: str, tied: str) -> str:
    text = escaped(cell.text)
    text = best.format(text) if cell.best else tied.format(text) if cell.tied else text
    return f"{text} {escaped(cell.after)}" if cell.after else text


# -- the drawing beside the rows -----------------------------------------------------------------------------------------


class _Scale(NamedTuple):
    """The range of values that the drawings of all rows share."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[ShownRow]) -> "_Scale | None":
        """The range of the rows that are no references; None where nothing is to be drawn."""
        ends = [
            end for row in rows if row.bar is not None and not row.reference for end in row.bar if math.isfinite(end)
        ]
        return cls(min(ends), max(ends)) if ends and min(ends) < max(ends) else None

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return MARGIN + (WIDTH - 2 * MARGIN) * min(max(share, 0.0), 1.0)

    def drawn(self, bar: Bar | None) -> str:
        """A dot with the line of its interval; an arrow for a value outside the range."""
        if bar is None or math.isnan(bar.value):
            return ""
        y, x = HEIGHT / 2, self.place(bar.value)
        if not self.low <= bar.value <= self.high:
            tip = 5 if bar.value > self.high else -5
            marks = f'<path d="M{x:.1f} {y - 4:g}L{x + tip:.1f} {y:g}L{x:.1f} {y + 4:g}z" fill="currentColor"/>'
        else:
            marks = f'<circle cx="{x:.1f}" cy="{y:g}" r="3.5" fill="currentColor"/>'
            if math.isfinite(bar.low) and math.isfinite(bar.high):
                ends = f'x1="{self.place(bar.low):.1f}" x2="{self.place(bar.high):.1f}"'
                marks += f'<line {ends} y1="{y:g}" y2="{y:g}" stroke="currentColor" stroke-width="1.6"/>'
        return _svg(marks, HEIGHT)

    def axis(self) -> str:
        """The ends of the range, below the last row."""
        line = (
            f'<line x1="{MARGIN:g}" x2="{WIDTH - MARGIN:g}" y1="1" y2="1" stroke="currentColor" stroke-opacity=".5"/>'
        )
        ends = ((self.low, MARGIN, "start"), (self.high, WIDTH - MARGIN, "end"))
        texts = "".join(
            f'<text x="{x:g}" y="14" font-size="11" fill="currentColor" text-anchor="{anchor}">{significant(end)}</text>'
            for end, x, anchor in ends
        )
        return _svg(line + texts, HEIGHT)


def _svg(marks: str, height: float) -> str:
    size = f'width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} aria-hidden="true" style="display:block">{marks}</svg>'
