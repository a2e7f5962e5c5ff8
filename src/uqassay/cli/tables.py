"""Tables that fit a terminal: on a narrow one the least important columns are left out, and a line below names them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from uqassay.wording import listed

__all__ = ["GAP", "add_names", "explained", "fitted_table", "plain_table"]

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


def add_names(table: Table, names: Sequence[str], width: int) -> None:
    """Add the column of the models' names: long names are folded at `width`."""
    longest = max(map(cell_len, ("model", *names)))
    table.add_column("model", overflow="fold", min_width=min(LEAST_NAME, longest), max_width=width)


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
