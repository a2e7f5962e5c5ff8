"""A paper's printed table as a layout, and its cells filled with printed and own values.

A layout says which names of cells, such as ``table2/lambda=0.2/RS-NN/e``, stand in which row and column. The printed numbers
come from the tables of the package, digits as printed.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

from uqassay.experiments.printed_cells import PrintedCell, printed_table

__all__ = ["CellPart", "CellValue", "FilledCell", "FilledRow", "FilledTable", "Layout", "LayoutColumn", "filled"]

_FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")
Place = tuple[tuple[str, ...], str, int]  # row, column, part


@final
@dataclass(frozen=True)
class LayoutColumn:
    """A column of a printed table.

    Attributes
    ----------
    name : str
        Its part in the names of cells.
    title : str
    printed : tuple of str
        Columns of the package's table, one for each part of a cell; empty if `Layout.values` has them.
    """

    name: str
    title: str
    printed: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class CellPart:
    """One number of a printed cell.

    Attributes
    ----------
    names : tuple of str
        Names of cells with fields in braces, the preferred ones first; ``{part:kl|ns}`` restricts a field.
    name : str
        For CSV; empty for the main number.
    """

    names: tuple[str, ...]
    name: str = ""


@final
@dataclass(frozen=True)
class Layout:
    """How a paper prints a table.

    Attributes
    ----------
    title : str
    source : str
        The package's table.
    rows : dict of str to str
        Fields of names that make up a row, with their titles.
    columns : tuple of LayoutColumn
    parts : tuple of CellPart
        The numbers of a cell.
    form : str
        How the numbers of a cell stand together, with one pair of braces for each.
    column : str
        The name of a column from fields.
    values : tuple of str
        Columns of the package's table with the numbers of a cell, where a row of it is a single cell.
    renamed : dict of str to str
        What names of cells have in place of a printed word.
    only : dict of str to tuple of str
        Rows of the package's table that belong here, by the values of a field; all by default.
    open : bool
        Whether columns that are not printed are added.
    ranked : bool
        Whether a cell is a model, ordered by its first number.
    verdicts : set of str
        Columns where the paper prints whether a test rejects and ours is a p-value.
    selects : dict of str to str
        Options of the protocol that make these numbers.
    """

    title: str
    source: str
    rows: Mapping[str, str]
    columns: tuple[LayoutColumn, ...]
    parts: tuple[CellPart, ...]
    form: str = "{}"
    column: str = "{column}"
    values: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open: bool = False
    ranked: bool = False
    verdicts: frozenset[str] = frozenset()
    selects: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def printed(self) -> dict[Place, str]:
        """The printed numbers, digits as printed, in the order of the printed table."""
        found: dict[Place, str] = {}
        for raw in printed_table(self.source):
            row = {name: self.renamed.get(text, text) for name, text in raw.items()}
            if any(row[name] not in values for name, values in self.only.items()):
                continue
            key = tuple(row.get(name, "") for name in self.rows)
            for column in self.columns:
                for i, source in enumerate(column.printed):
                    found[key, column.name, i] = raw[source]
            for i, source in enumerate(self.values):
                found[key, self.column.format(**row), i] = raw[source]
        return found

    @cached_property
    def decimals(self) -> dict[tuple[str, int], int]:
        """The usual number of printed decimals by column and part."""
        counts: dict[tuple[str, int], Counter[int]] = {}
        for (_, column, i), text in self.printed.items():
            if text:
                counts.setdefault((column, i), Counter())[len(text.partition(".")[2])] += 1
        return {place: max(counter, key=lambda n: (counter[n], n)) for place, counter in counts.items()}

    @cached_property
    def digits(self) -> dict[tuple[str, int, float], str]:
        """Printed digits by column, part and value."""
        return {(column, i, float(text)): text for (_, column, i), text in self.printed.items() if _is_number(text)}

    def place(self, name: str) -> tuple[Place, int] | None:
        """Where a cell of this name stands, and how much its name is preferred (0: most); None outside the table."""
        for i, preference, pattern in self._patterns:
            match = pattern.fullmatch(name)
            if match is None:
                continue
            fields = match.groupdict()
            column = self.column.format(**fields)
            if not self.open and column not in self._known:
                continue
            return (tuple(fields.get(row) or "" for row in self.rows), column, i), preference
        return None

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns)

    @cached_property
    def _patterns(self) -> list[tuple[int, int, re.Pattern[str]]]:
        """The later parts first: their names are longer."""
        return [
            (i, preference, re.compile(_expression(name)))
            for i, part in reversed(list(enumerate(self.parts)))
            for preference, name in enumerate(part.names)
        ]


@final
@dataclass(frozen=True)
class CellValue:
    """One number of a cell: as printed, and ours.

    Attributes
    ----------
    printed : str
        Digits as printed; empty where the paper prints none.
    ours : float
        nan without one.
    low, high : float
        The interval of ours; nan without one.
    agrees : bool or None
    decimals : int
        For our number.
    """

    printed: str = ""
    ours: float = math.nan
    low: float = math.nan
    high: float = math.nan
    agrees: bool | None = None
    decimals: int = 3


@final
@dataclass(frozen=True)
class FilledCell:
    """The numbers of a cell, one for each part."""

    values: tuple[CellValue, ...]


@final
@dataclass(frozen=True)
class FilledRow:
    """A row: its labels, one for each field, and its cells, one for each column."""

    labels: tuple[str, ...]
    cells: tuple[FilledCell, ...]


@final
@dataclass(frozen=True)
class FilledTable:
    """A printed table with our numbers.

    Attributes
    ----------
    layout : Layout
    columns : tuple of LayoutColumn
        Those of the layout, and further ones of an open layout.
    rows : tuple of FilledRow
    """

    layout: Layout
    columns: tuple[LayoutColumn, ...]
    rows: tuple[FilledRow, ...]

    @property
    def columns_shown(self) -> tuple[str, ...]:
        """Titles of the columns for the reader: those of a ranking are places."""
        if self.layout.ranked:
            return tuple(map(str, range(1, len(self.columns) + 1)))
        return tuple(column.title for column in self.columns)


def filled(layout: Layout, cells: Sequence[PrintedCell]) -> FilledTable:
    """Fill a layout.

    Parameters
    ----------
    layout : Layout
    cells : sequence of PrintedCell
        Of all tables; those with names of this table are taken. The interval is that of a cell ``NAME/interval`` where there
        is one.

    Returns
    -------
    FilledTable
        Printed rows in their order, then rows that the paper has not, such as those of other data sets. Printed rows are left
        out if all our numbers are in other rows and have printed numbers with them.
    """
    own = {cell.name: cell for cell in cells}
    placed: dict[Place, PrintedCell] = {}
    best: dict[Place, int] = {}
    for cell in cells:
        found = layout.place(cell.name)
        if found is not None and found[1] <= best.get(found[0], found[1]):
            placed[found[0]], best[found[0]] = cell, found[1]
    printed_rows = dict.fromkeys(key for key, _, _ in layout.printed)
    own_rows = dict.fromkeys(key for key, _, _ in placed)
    keys = list(dict.fromkeys((*printed_rows, *own_rows)))
    beside = any(not math.isnan(cell.paper) for cell in placed.values())
    if beside and not any(key in printed_rows for key in own_rows):
        keys = list(own_rows)
    columns = layout.columns
    if layout.open:
        further = dict.fromkeys(column for _, column, _ in placed if column not in {c.name for c in columns})
        columns = (*columns, *(LayoutColumn(name, name.replace("/", " ")) for name in further))
    return FilledTable(layout, columns, tuple(_rows(layout, columns, keys, placed, own)))


def _rows(
    layout: Layout,
    columns: Sequence[LayoutColumn],
    keys: Sequence[tuple[str, ...]],
    placed: Mapping[Place, PrintedCell],
    own: Mapping[str, PrintedCell],
) -> Iterator[FilledRow]:
    back = {ours: printed for printed, ours in layout.renamed.items() if ours}
    for key in keys:
        cells = []
        for column in columns:
            values = []
            for i in range(len(layout.parts)):
                place = key, column.name, i
                values.append(_value(layout, place, placed.get(place), own))
            cells.append(FilledCell(tuple(values)))
        yield FilledRow(tuple(back.get(label, label) for label in key), tuple(cells))


def _value(layout: Layout, place: Place, cell: PrintedCell | None, own: Mapping[str, PrintedCell]) -> CellValue:
    printed = layout.printed.get(place, "")
    decimals = layout.decimals.get(place[1:], 3)
    if cell is None:
        return CellValue(printed, decimals=decimals)
    if not printed and not math.isnan(cell.paper):  # a number of another row, such as that of a similar data set
        printed = (
            f"{cell.paper:.{decimals}f}" if float(f"{cell.paper:.{decimals}f}") == cell.paper else f"{cell.paper:g}"
        )
    interval = own.get(f"{cell.name}/interval", cell)
    return CellValue(printed, cell.ours, interval.low, interval.high, cell.agrees, decimals)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text))


def _expression(name: str) -> str:
    """The regular expression of a name with fields in braces."""
    parts, end = [], 0
    for match in _FIELD.finditer(name):
        parts += [re.escape(name[end : match.start()]), f"(?P<{match[1]}>{match[2] or '[^/]+'})"]
        end = match.end()
    return "".join([*parts, re.escape(name[end:])])
