"""Where output goes and how it fits: consoles, plain lines, JSON, tables for a narrow terminal."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uqassay.results import ShownCell, ShownTable, wrapped_heading
from uqassay.text import listed, visible
from uqassay.text import visible as printable

__all__ = [
    "ShownColumns",
    "add_names",
    "complain",
    "explained",
    "fitted_table",
    "is_terminal",
    "open_console",
    "plain_table",
    "print_json",
    "print_note",
    "print_text",
    "printable",
    "progress",
    "shell_line",
    "unicode_text",
]


# Text as a terminal and a shell need it: control characters spelt out, bytes that are no UTF-8, quoted arguments.


def unicode_text(argument: str) -> str:
    r"""A command-line argument as valid Unicode text; bytes that are no UTF-8 are spelt out.

    Python keeps such bytes, and in an ASCII locale all bytes beyond ASCII, as lone surrogates.

    Examples
    --------
    >>> unicode_text("mod\udce9"), unicode_text("\udcce\udcbb"), unicode_text("λ")
    ('mod\\xe9', 'λ', 'λ')
    """
    try:
        given = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        given = argument.encode("utf-8", "backslashreplace")
    return given.decode("utf-8", "backslashreplace")


def shell_line(arguments: Iterable[str]) -> str:
    r"""Command-line arguments as a shell reads them, with bytes that are no UTF-8 as ``$'…'``.

    Examples
    --------
    >>> print(shell_line(["uqassay", "a b.npz", "mod\udce9.npz"]))
    uqassay 'a b.npz' $'mod\xe9.npz'
    """
    words = []
    for argument in arguments:
        whole = unicode_text(argument)
        if whole.count("\\") == argument.count("\\"):
            words.append(shlex.quote(whole))
        else:
            spelt = unicode_text(argument.replace("\\", "\\\\").replace("'", "\\'"))
            words.append(f"$'{spelt}'")
    return " ".join(words)


# Where output goes: consoles, plain lines, notes and JSON on standard output, sentences and progress on standard error.

UNBOUNDED = 10_000  # columns where the stream is no terminal, so that nothing is folded or cut


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise the error again: `main` has an exit code for it, and Rich would exit with that of a failed check."""
        raise


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal."""
    return hasattr(stream, "isatty") and stream.isatty()


def open_console(stream: TextIO | None = None) -> Console:
    """A console on a stream, by default standard output: no markup, and plain and unfolded where it is no terminal."""
    stream = sys.stdout if stream is None else stream
    terminal = is_terminal(stream)
    plain = not terminal or bool(os.environ.get("NO_COLOR"))
    return _Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if plain else "auto",
        force_terminal=None if terminal else False,
        width=None if terminal else UNBOUNDED,
    )


def print_text(text: str) -> None:
    """Plain lines, never cut or folded, so that paths and commands can be copied."""
    console = open_console()
    for line in text.splitlines():
        console.print(Text(visible(line)), soft_wrap=True)


def print_note(text: str) -> None:
    """A remark on the results above it, with a full stop at its end."""
    open_console().print(Text.assemble(("Note: ", "yellow"), visible(text if text.endswith(".") else f"{text}.")))


def print_json(value: Any) -> None:
    """Strict JSON on standard output: no NaN, and ASCII alone, so that every encoding of a terminal takes it."""
    from uqassay.results import plain

    print(json.dumps(plain(value), allow_nan=False, indent=2))


def complain(sentence: str) -> None:
    """One sentence on standard error, on one line."""
    print(visible(" ".join(sentence.split())), file=sys.stderr)


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """A line on standard error where that is a terminal: the step, a bar, the time since the start.

    Yields a function that is called with the name of each step when it begins.
    """
    console = open_console(sys.stderr)
    if not console.is_terminal or not is_terminal(sys.stderr):
        yield lambda step: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    named = TextColumn(
        "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
    )
    columns = (SpinnerColumn(), named, BarColumn(20), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("", total=steps, completed=-1)

        def say(step: str) -> None:
            done = bar.tasks[task].completed + 1
            # the kinds of predictions decide how many steps there are, so the bar makes room for one that was not counted
            bar.update(task, description=visible(step), completed=done, total=max(steps, done + 1), refresh=True)

        yield say


# Tables that fit a terminal: on a narrow one the least important columns are left out, and a line below names them.

GAP = 2  # blanks between two columns
LEAST_NAME = 10  # width that the names of the models keep on the narrowest terminal: a number needs its name


def plain_table(*, header: bool = True) -> Table:
    """An empty table without lines."""
    return Table(box=None, show_header=header, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")


def fitted_table(
    columns: Mapping[str, Sequence[str]],
    *,
    width: int,
    spare: Sequence[str] = (),
    words: Collection[str] = (),
    styles: Sequence[str] = (),
) -> Table:
    """A table of as many columns as there is room for; a line below it names the others.

    Parameters
    ----------
    columns : dict of str to sequence of str
        Cells by header; one header is "model". Blanks at the end of a header tell equal headers apart, and are not shown.
    width : int
        Columns of the terminal.
    spare : sequence of str
        Headers that may be left out, the last of them first.
    words : collection of str
        Headers of columns of text, aligned at the left; numbers are aligned at the right.
    styles : sequence of str
        One for each row.

    Examples
    --------
    >>> columns = {"model": ["a", "b"], "mean E": ["0.25", "0.50"], "accuracy": ["90.0 %", "80.0 %"]}
    >>> table = fitted_table(columns, width=16, spare=["accuracy"])
    >>> [column.header for column in table.columns]
    ['model', 'mean E']
    >>> print(table.caption)
    No room for accuracy: widen the terminal, or pipe through cat.
    """
    shown = dict(columns)
    may_go = list(spare)
    name_width = max(12, width // 3)

    def needed() -> int:
        widths = {header: max(map(cell_len, (header.rstrip(), *cells)), default=0) for header, cells in shown.items()}
        folded = max(0, widths["model"] - name_width)
        return sum(widths.values()) + GAP * (len(widths) - 1) - folded

    while may_go and needed() > width:
        shown.pop(may_go.pop(), None)
    table = plain_table()
    if hidden := [header.strip() for header in columns if header not in shown]:
        table.caption = Text(f"No room for {listed(hidden)}: widen the terminal, or pipe through cat.", "dim")
        table.caption_justify = "left"
    for header, cells in shown.items():
        if header == "model":
            add_names(table, cells, name_width)
        else:
            side: Literal["left", "right"] = "left" if header in words else "right"
            table.add_column(header.rstrip(), justify=side, no_wrap=needed() <= width, overflow="fold")
    rows = list(zip(*shown.values(), strict=True))
    for style, row in zip(styles or [""] * len(rows), rows, strict=True):
        table.add_row(*map(Text, row), style=style)
    return table


@dataclass(frozen=True)
class ShownColumns:
    """The columns of a table that a result shows, laid out for a terminal."""

    shown: ShownTable
    columns: tuple[int, ...]  #: Those that there is room for.
    below: bool  #: Whether intervals stand below their numbers.
    width: int  #: Columns of the terminal.

    @classmethod
    def fitting(cls, shown: ShownTable, *, width: int, spare: Sequence[int] = ()) -> "ShownColumns":
        """All columns, intervals beside or else below their numbers; without room all but some spare ones, the last first."""
        found, may_go = cls(shown, tuple(range(len(shown.header))), below=False, width=width), list(spare)
        if found._needed() > width:
            found = replace(found, below=True)
        while found.below and may_go and found._needed() > width:
            left_out = may_go.pop()
            found = replace(found, columns=tuple(j for j in found.columns if j != left_out))
        return found

    def table(self) -> Table:
        """The table: the best in bold, baselines dim; a line below it names the columns without room."""
        table, shown = plain_table(), self.shown
        hidden = [title.rstrip(" ↑↓") for j, title in enumerate(shown.header) if j not in self.columns]
        if hidden:
            table.caption = Text(f"No room for {listed(hidden)}: widen the terminal, or pipe through cat.", "dim")
            table.caption_justify = "left"
        texts = shown.plain_texts()
        heads = {j: wrapped_heading(shown.header[j], self._lines(j)) for j in self.columns}
        tallest = max(map(len, heads.values()))
        names, *numbers = self.columns
        blank = "\n" * (tallest - 1)
        add_names(table, [row[names] for row in texts], self._name_width, f"{blank}{shown.header[names]}")
        for j in numbers:
            table.add_column("\n".join([*[""] * (tallest - len(heads[j])), *heads[j]]), justify="right")
        for row, text in zip(shown.rows, texts, strict=True):
            cells = [self._cell(row.cells[j], text[j]) for j in numbers]
            table.add_row(Text(text[names]), *cells, style="dim" if row.reference else "")
        return table

    @property
    def _name_width(self) -> int:
        return max(12, self.width // 3)

    def _cell(self, cell: ShownCell, text: str) -> Text:
        number = Text(text, "bold" if cell.best else "underline" if cell.tied else "")
        return Text.assemble(number, "\n" if self.below else " ", visible(cell.after)) if cell.after else number

    def _lines(self, j: int) -> list[str]:
        """The lines of a column that its width follows."""
        texts = [row[j] for row in self.shown.plain_texts()]
        afters = [visible(row.cells[j].after) for row in self.shown.rows]
        pairs = list(zip(texts, afters, strict=True))
        return [part for pair in pairs for part in pair] if self.below else [" ".join(filter(None, p)) for p in pairs]

    def _needed(self) -> int:
        """Columns of a terminal that hold the table."""
        lines = {j: self._lines(j) for j in self.columns}
        widths = [max(map(cell_len, (*wrapped_heading(self.shown.header[j], of), *of))) for j, of in lines.items()]
        return min(widths[0], self._name_width) + sum(GAP + one for one in widths[1:])


def add_names(table: Table, names: Sequence[str], width: int, heading: str = "model") -> None:
    """Add the column of the models' names: long names are folded at `width`."""
    longest = max(map(cell_len, (heading.strip(), *names)))
    table.add_column(heading, overflow="fold", min_width=min(LEAST_NAME, longest), max_width=width)


def explained(said: Mapping[str, str], *tables: Table) -> str:
    """The explanations of those columns that the tables show.

    Parameters
    ----------
    said : dict of str to str
        Explanation by header, or by the first words of a header.
    *tables : Table

    Examples
    --------
    >>> table = fitted_table({"model": [], "p": []}, width=80)
    >>> explained({"p": "p: paired test", "rank": "rank: all that are possible"}, table)
    'p: paired test'
    """
    headers = [f"{column.header} " for table in tables for column in table.columns]
    return "; ".join(words for name, words in said.items() if any(header.startswith(f"{name} ") for header in headers))
