"""Results shown everywhere alike: tables as text, Markdown, LaTeX, HTML and plain JSON values."""

import csv
import io
import json
import math
import os
import textwrap
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import numpy as np

from uqassay.errors import FileFormatError
from uqassay.files import MAX_TEXT, read_bytes
from uqassay.notes import Note
from uqassay.text import counted, html_text, latex_text, markdown_text, number, significant, text_table, visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "MOST_ROWS",
    "Bar",
    "Plain",
    "Shown",
    "ShownCell",
    "ShownRow",
    "ShownTable",
    "Text",
    "as_table",
    "csv_text",
    "encodable",
    "estimate_cell",
    "number_from_json",
    "plain",
    "plain_of",
    "read_json",
    "row_of",
    "spread",
    "wrapped_heading",
]


# A small table of texts to read, with the best cells marked: as plain text, Markdown, LaTeX and HTML.

COLUMNS = 88  # characters of a line
HEADING = 15  # characters of a heading that stand in one line, whatever is below it
MOST_ROWS = 12  # in a notebook; the line below says how many more there are
NARROWEST = 16  # characters of a column of words that a narrow page leaves together
WIDTH, HEIGHT, MARGIN = 140.0, 18.0, 6.0  # of the drawing of one row, in pixels
FAINT = "opacity:.7"
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
    """Rows under a header."""

    header: tuple[str, ...]
    rows: tuple[ShownRow, ...]
    caption: str = ""  #: What the numbers mean, in sentences.
    marks: str = ""  #: What bold and underlined mean; plain text shows neither.
    n_words: int = 1  #: Number of first columns that hold words, to the left; numbers stand to the right.
    note: str = ""  #: A line below the table, in every form but plain text.
    #: What * and ° behind a number mean, which plain text has in the place of bold and underlined; without it there are none.
    plain_marks: str = ""
    more: str = ""  #: Sentences that follow the caption and what the marks mean.
    #: Whether what stands `after` a number may stand below it: in HTML, and in plain text that would be too wide.
    below: bool = False

    def as_text(self, width: int | None = None, *, repeated: int | None = None) -> list[str]:
        """Lines of plain text; none without rows.

        Parameters
        ----------
        width : int, optional
            Characters of a line, by default as many as it takes, with `below` `COLUMNS`. Columns for which there is no room
            follow in further blocks, after an empty line.
        repeated : int, optional
            Number of first columns that every block has, by default those of words.
        """
        if not self.rows:
            return []
        width = COLUMNS if self.below and width is None else width
        texts = self.plain_texts()
        afters = [[visible(cell.after) for cell in row.cells] for row in self.rows]
        pairs = [list(zip(*both, strict=True)) for both in zip(texts, afters, strict=True)]
        body = [list(self.header), *([f"{text} {after}" if after else text for text, after in row] for row in pairs)]
        lines = self._lines(body)
        if self.below and width is not None and max(map(len, lines)) > width:
            cells = [list(line) for both in zip(texts, afters, strict=True) for line in both if any(line)]
            columns = zip(self.header, zip(*cells, strict=True), strict=True)
            heads = [wrapped_heading(title, column) for title, column in columns]
            body = [*map(list, zip_longest(*heads, fillvalue="")), *cells]
        found: list[str] = []
        for block in _column_blocks(body, width, self.n_words if repeated is None else repeated):
            part = [[line[i] for i in block] for line in body]
            found += [*([""] if found else []), *self._lines([line for line in part if any(line)])]
        return found

    def plain_texts(self) -> list[list[str]]:
        """Texts of all cells; marks follow the numbers, and blanks where other rows of the column have marks."""
        texts = [[visible(cell.text) for cell in row.cells] for row in self.rows]
        if not self.plain_marks:
            return texts
        signs = [["*" if cell.best else "°" if cell.tied else " " for cell in row.cells] for row in self.rows]
        marked = [any(sign != " " for sign in column) for column in zip(*signs, strict=True)]
        return [
            [text + sign * has for text, sign, has in zip(*row, marked, strict=True)]
            for row in zip(texts, signs, strict=True)
        ]

    def _lines(self, body: Sequence[Sequence[str]]) -> list[str]:
        """Aligned lines, of which the first is the header."""
        widths = [max(map(len, column)) for column in zip(*body, strict=True)]

        def line(texts: Sequence[str]) -> list[str]:
            left = "  ".join(text.ljust(width) for text, width in zip(texts, widths[: self.n_words], strict=False))
            return [left, *texts[self.n_words :]]

        head, *others = map(line, body)
        return [text.rstrip() for text in text_table(head, others)]

    def as_markdown(self) -> str:
        """A table of GitHub's Markdown: the best in bold, those tied with it underlined."""
        rule = [":--" if i < self.n_words else "--:" for i in range(len(self.header))]
        lines = [list(map(markdown_text, self.header)), rule]
        lines += [[_marked(cell, markdown_text, "**{}**", "<ins>{}</ins>") for cell in row.cells] for row in self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join([table, *(markdown_text(text) for text in (self.said(), self.note) if text)])

    def as_latex(self) -> str:
        """A table of LaTeX with booktabs: the best in bold, those tied with it underlined."""
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{latex_text(self.said())}}}",
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
        below = [rf"\par {latex_text(self.note)}"] if self.note else []
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *below, r"\end{table}"])

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
            texts = [self._html_texts(cell) for cell in row.cells]
            faint = FAINT if row.reference else ""
            cells = "".join(self._html_cell("td", i, faint, text) for i, text in enumerate(texts))
            drawn = "" if scale is None else f'<td style="padding:0 0 0 6px;{faint}">{scale.drawn(row.bar)}</td>'
            lines.append(f'<tr style="background:none">{cells}{drawn}</tr>')
        if scale is not None:
            empty = f'<td colspan="{len(self.header)}"></td>'
            lines.append(f'<tr style="background:none">{empty}<td style="padding:0 0 0 6px">{scale.axis()}</td></tr>')
        rest = len(self.rows) - len(shown)
        more = f"<p>{counted(rest, 'more row')}, which to_markdown() shows too.</p>" if rest else ""
        said = " ".join(filter(None, (self.said(), self.note)))
        caption = f'<p style="{FAINT}">{html_text(said)}</p>' if said else ""
        table = (
            f'<table style="border-collapse:collapse;margin:.5em 0;font-size:inherit"><thead><tr>{head}</tr></thead>'
        )
        body = f"<tbody>{''.join(lines)}</tbody>"
        return f'<div style="overflow-x:auto" tabindex="0">{table}{body}</table></div>{more}{caption}'

    def said(self, *, plain: bool = False) -> str:
        """The caption and what the marks mean, where there are any; in `plain` text those that it has."""
        marked = any(cell.best or cell.tied for row in self.rows for cell in row.cells)
        marks = self.plain_marks if plain else self.marks
        return " ".join(filter(None, (self.caption, marks if marked else "", self.more)))

    def _html_texts(self, cell: ShownCell) -> str:
        if not self.below:
            return _marked(cell, html_text, "<b>{}</b>", "<u>{}</u>")
        marked = _marked(cell._replace(after=""), html_text, "<b>{}</b>", "<u>{}</u>")
        return (
            f'{marked}<br><span style="font-size:.8em;{FAINT}">{html_text(cell.after)}</span>' if cell.after else marked
        )

    def _html_cell(self, tag: str, i: int, style: str, text: str) -> str:
        side = "text-align:right;white-space:nowrap"
        if i < self.n_words:
            longest = max(len(text) for text in (self.header[i], *(row.cells[i].text for row in self.rows)))
            side = f"text-align:left;min-width:{min(longest, NARROWEST)}ch;max-width:24em;overflow-wrap:anywhere"
        look = f"{side};padding:2px 10px 2px 0;font-variant-numeric:tabular-nums;{style}"
        return f'<{tag} style="{look}">{text}</{tag}>'


def _column_blocks(lines: Sequence[Sequence[str]], width: int | None, n_first: int) -> list[list[int]]:
    """The columns of each block: the first ones, then as many others as there is room for, at least one."""
    first, widths = list(range(n_first)), [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    blocks = [[*first]]
    for column in range(n_first, len(widths)):
        wide = sum(widths[one] for one in (*blocks[-1], column))
        if width is not None and len(blocks[-1]) > n_first and wide > width:
            blocks.append([*first])
        blocks[-1].append(column)
    return blocks


def _marked(cell: ShownCell, escaped: Callable[[str], str], best: str, tied: str) -> str:
    text = escaped(cell.text)
    text = best.format(text) if cell.best else tied.format(text) if cell.tied else text
    return f"{text} {escaped(cell.after)}" if cell.after else text


def wrapped_heading(title: str, column: Sequence[str]) -> list[str]:
    """A heading in lines that are no wider than the column below it, or than `HEADING`, where its words allow that."""
    held = title.replace(" ↑", "\u00a0↑").replace(" ↓", "\u00a0↓")
    lines = textwrap.wrap(held, max(HEADING, *map(len, column)), break_long_words=False, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines] or [""]


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


# How a result is shown: by `repr`, in a notebook, as a summary, as Markdown and LaTeX. One mechanism for all results.


class Text(str):
    r"""Text that a notebook and a prompt show as it is, with its line breaks and without quotation marks.

    Examples
    --------
    >>> Text("two\nlines")
    two
    lines
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Shown:
    """Gives a result its `repr`, its look in a notebook, `summary`, `to_markdown` and `to_latex`.

    A class states a title, what was found in sentences, and a table; it is a dataclass with ``repr=False``.
    """

    _shown_more: ClassVar[str] = "summary()"  # where more is to be found

    @abstractmethod
    def _shown_title(self) -> str:
        """What was judged, without a full stop."""

    @abstractmethod
    def _shown_sentences(self) -> Sequence[str]:
        """What was found: sentences that a procedure stands behind."""

    @abstractmethod
    def _shown_table(self) -> ShownTable:
        """The main numbers."""

    def _written_table(self) -> ShownTable:
        """The table of Markdown and LaTeX; by default the main numbers."""
        return self._shown_table()

    def _shown_details(self) -> Sequence[str]:
        """Further sentences, of the summary alone."""
        return ()

    def _shown_notes(self) -> Sequence[str]:
        """What limits the result, one sentence each."""
        return ()

    def __repr__(self) -> str:
        return "\n".join([*self._heading(), *_folded(f"More: {self._shown_more}", indent="  ")])

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html_text(note)}</li>" for note in self._shown_notes())
        folded = f"<details><summary>{_counted_notes(self._shown_notes())}</summary><ul>{notes}</ul></details>"
        more = html_text(self._shown_more)
        return "".join(
            [
                '<div class="uqassay" style="max-width:64em;line-height:1.4">',
                f'<p style="margin:.2em 0;opacity:.75">{html_text(self._shown_title())}</p>',
                *(
                    f'<p style="margin:.2em 0;font-weight:600">{html_text(text)}</p>'
                    for text in self._shown_sentences()
                ),
                self._shown_table().as_html(),
                folded if notes else "",
                f'<p style="margin:.2em 0;opacity:.75">More: <code style="background:none">{more}</code></p>',
                "</div>",
            ]
        )

    def summary(self) -> Text:
        """All of it as text: what was judged, what was found, the main numbers, what limits them."""
        details = [line for text in self._shown_details() for line in _folded(text, indent="  ")]
        notes = [line for note in self._shown_notes() for line in _folded(f"! {note}", indent="  ", hanging="    ")]
        table = self._shown_table()
        numbers = [*table.as_text(), *_folded(table.said(plain=True), indent="  ")]
        parts = [
            [*self._heading(noted=False), *details],
            numbers,
            notes,
            [*_folded(f"More: {self._shown_more}", indent="  ")],
        ]
        return Text("\n\n".join("\n".join(part) for part in parts if part))

    def to_markdown(self) -> Text:
        """What was found and the main numbers as Markdown for GitHub, to be pasted into a pull request."""
        return self._markdown(self._written_table())

    def _markdown(self, table: ShownTable) -> Text:
        sentences = [f"**{markdown_text(text)}**" for text in self._shown_sentences()]
        parts = [*sentences, markdown_text(f"{self._shown_title()}."), table.as_markdown()]
        if notes := self._shown_notes():
            parts += ["Warnings:", "\n".join(f"* {markdown_text(note)}" for note in notes)]
        return Text("\n\n".join(parts))

    def to_latex(self) -> Text:
        """The main numbers as a table of LaTeX, which needs the package booktabs."""
        return Text(self._written_table().as_latex())

    def _heading(self, *, noted: bool = True) -> list[str]:
        lines = _folded(self._shown_title())
        for text in self._shown_sentences():
            lines += _folded(text, indent="  ")
        return [*lines, f"  {_counted_notes(self._shown_notes())}"] if noted and self._shown_notes() else lines


def _counted_notes(notes: Sequence[str]) -> str:
    return "1 warning" if len(notes) == 1 else f"{len(notes)} warnings"


def _folded(text: str, *, indent: str = "", hanging: str = "") -> list[str]:
    return textwrap.wrap(
        visible(text), COLUMNS, initial_indent=indent, subsequent_indent=hanging or indent, break_on_hyphens=False
    )


# Values for strict JSON, which has neither nan nor infinities: one way to write them, one to read them.


def plain(value: Any) -> Any:
    """A value that strict JSON can hold: nan becomes None, infinities become "Infinity" and "-Infinity".

    Examples
    --------
    >>> plain({"p": float("nan"), "limits": np.array([0.5, np.inf]), "n": np.int64(3)})
    {'p': None, 'limits': [0.5, 'Infinity'], 'n': 3}
    """
    kind = type(value)
    if kind is float or isinstance(value, float):  # most values, among them numbers of NumPy and of estimates
        return float(value) if math.isfinite(value) else _not_finite(float(value))
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is dict or isinstance(value, Mapping):  # the second is slow: it looks for registered kinds
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        kinds = set(map(type, value))
        if kinds == {float} and all(map(math.isfinite, value)):  # most lists
            return list(value)
        if kinds <= {str, int, bool, type(None)}:
            return list(value)
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, np.floating):
        return plain(float(value))
    return value


def plain_of(record: Any, *names: str) -> dict[str, Any]:
    """Plain values of these attributes of a record, by default of all fields of a dataclass.

    Examples
    --------
    >>> plain_of(Note("edge", "at the end"), "code", "text")
    {'code': 'edge', 'text': 'at the end'}
    """
    return {name: _plain_part(getattr(record, name)) for name in names or [each.name for each in fields(record)]}


def as_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> "pd.DataFrame":
    """Rows as a table of pandas with these columns."""
    import pandas

    texts = [{name: encodable(value) for name, value in row.items()} for row in rows]
    return pandas.DataFrame(texts, columns=list(columns))


def encodable(value: Any) -> Any:
    """Text whose lone surrogates are spelt out, because the columns of pandas are UTF-8; other values as they are."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


class Plain:
    """Gives a dataclass `to_dict`."""

    _plain: ClassVar[str] = ""  # names of attributes; empty for all fields

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON: nan becomes None, and infinities become "Infinity" and "-Infinity"."""
        return plain_of(self, *self._plain.split())


def spread(name: str, found: Any, *, prefix: str | None = None) -> dict[str, float | None]:
    """An estimate as fields of a row: NAME, NAME_low and NAME_high, each None where there is no estimate.

    `prefix` stands before "low" and "high" in place of NAME with an underscore.

    Examples
    --------
    >>> from uqassay.statistics import mean_estimate
    >>> list(spread("gain", mean_estimate([0.0, 1.0]))), spread("estimate", None, prefix="")
    (['gain', 'gain_low', 'gain_high'], {'estimate': None, 'low': None, 'high': None})
    """
    before = f"{name}_" if prefix is None else prefix
    numbers = (None, None, None) if found is None else (float(found), found.low, found.high)
    return dict(zip((name, f"{before}low", f"{before}high"), numbers, strict=True))


def row_of(record: Any, *names: str) -> dict[str, Any]:
    """These attributes of a record, by default its fields, as a row: estimates with the ends of their intervals."""
    row: dict[str, Any] = {}
    for name in names or [each.name for each in fields(record)]:
        value = getattr(record, name)
        row |= spread(name, value) if isinstance(value, float) and hasattr(value, "low") else {name: value}
    return row


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV: a header and a line for each row, numbers exact, nothing where there is no value.

    Examples
    --------
    >>> print(csv_text([{"model": "DE", "loss": 1 / 3, "agrees": True}, {"model": "EDL", "loss": math.nan, "agrees": None}]))
    model,loss,agrees
    DE,0.3333333333333333,true
    EDL,,
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows([_csv_field(value) for value in row.values()] for row in rows)
    return stream.getvalue().rstrip("\n")


def _csv_field(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else visible(str(value))


def _plain_part(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):  # a named tuple
        return plain(value._asdict())
    if is_dataclass(value):
        return plain_of(value)
    if isinstance(value, tuple | list):
        return [_plain_part(each) for each in value]
    return plain(value)


def _not_finite(number: float) -> str | None:
    if math.isnan(number):
        return None
    return "Infinity" if number > 0 else "-Infinity"


def number_from_json(value: Any) -> float:
    """The number that `plain` wrote.

    Examples
    --------
    >>> number_from_json(None), number_from_json("-Infinity")
    (nan, -inf)
    """
    return float("nan" if value is None else value)


def read_json(path: str | os.PathLike[str], most: int = MAX_TEXT) -> Any:
    """The value in a file of JSON, which takes at most forty times the memory of its text.

    Parameters
    ----------
    path : path
    most : int
        Greatest number of bytes.

    Raises
    ------
    FileFormatError
        No plain file, a longer one, or one that holds no JSON in UTF-8.
    OSError
        There is no such file, or it may not be read.
    """
    content = read_bytes(path, most)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:  # RecursionError: deeply nested
        raise FileFormatError(
            "path",
            "must hold JSON in UTF-8",
            f"{os.fspath(path)} does not ({type(problem).__name__})",
            "write it again",
            code="unreadable",
        ) from problem
