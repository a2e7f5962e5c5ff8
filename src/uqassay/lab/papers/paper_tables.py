"""The papers' printed tables and cells: as they are printed, and with our numbers under the printed ones."""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import Any, NamedTuple, final

from uqassay.checks import fail, one_of
from uqassay.lab.papers.rounding import SLACK
from uqassay.results import ShownCell, ShownRow, ShownTable, csv_text
from uqassay.text import ABSENT, interval, listed, number, pvalue

__all__ = [
    "FORMATS",
    "PM",
    "Column",
    "FilledTable",
    "PaperTable",
    "Part",
    "PrintedCell",
    "Tables",
    "known_format",
    "mean_and_spread",
    "printed_table",
    "table_named",
    "tables_by_name",
]

Tables = Mapping[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell of a paper's table, with our value."""

    name: str  #: Where the cell is printed, for example ``"table2/lambda=0.2/RS-NN/e"``
    paper: float  #: The printed value; nan where the paper prints none
    ours: float  #: Our value; nan if the paper's numbers give only bounds for the cell
    #: The interval in which the printed value agrees with ours; nan if there is none
    low: float
    high: float
    #: Whether the printed value lies in the interval; None without a printed value or without an interval
    agrees: bool | None
    note: str = ""  #: The reason for a disagreement

    @classmethod
    def within(cls, name: str, paper: float, ours: float, low: float, high: float, *, note: str = "") -> "PrintedCell":
        """Compare a printed value with an interval.

        Parameters
        ----------
        name, paper, ours, low, high, note
            As the attributes; ``paper``, ``low`` or ``high`` may be nan.

        Returns
        -------
        PrintedCell
            Its ``agrees`` compares ``paper`` with the interval.

        Examples
        --------
        >>> PrintedCell.within("table1/DE/e", 0.415, 0.416, 0.4145, 0.4175).agrees
        True
        """
        known = not any(math.isnan(value) for value in (paper, low, high))
        agrees = low - SLACK <= paper <= high + SLACK if known else None
        return cls(name, paper, ours, low, high, agrees, note)


def printed_table(name: str) -> list[dict[str, str]]:
    """Read one of the papers' tables that come with the package.

    Parameters
    ----------
    name : str
        The table's name, for example ``"unified_table1"``.

    Returns
    -------
    list of dict
        One dictionary per row, by column name. Values are text, so that no printed digit is lost; the text is empty if the
        paper prints no value.

    Examples
    --------
    >>> printed_table("unified_table2_cifar10_ranking")[0]
    {'tradeoff': '0.1', 'rank': '1', 'model': 'DE', 'e_mean': '0.069'}
    """
    folder = resources.files(__package__) / "printed"
    known = sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))
    one_of(name, "name", known)
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def tables_by_name(known: Mapping[str, str], given: Tables | None = None) -> Tables:
    """The rows of printed tables by short name.

    Parameters
    ----------
    known : mapping of str to str
        Name for `printed_table` by short name.
    given : mapping of str to sequence of dict, optional
        Rows by short name, instead of those in the package.

    Examples
    --------
    >>> len(tables_by_name({"table1": "unified_table1"}, {"table1": []})["table1"])
    0
    """
    for table in given or ():
        one_of(table, "tables", known)
    return {table: printed_table(name) for table, name in known.items()} | dict(given or {})


# Where each cell of a table stands, and how it is written.
#
# A table says which names of cells, such as ``table2/lambda=0.2/RS-NN/e``, stand in which row and column. The printed numbers
# come from the tables of the package, digits as printed.

FORMATS = ("text", "csv", "markdown", "latex")
PM = "{} ± {}"
MARK = "*"
MEANING = "the printed value lies outside the interval"
ALPHA = 0.05  # the level of verdicts
OURS = "ours"
LINES = ("printed", OURS, "interval")
FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")

Place = tuple[tuple[str, ...], str, int]  # row, column, part


@final
@dataclass(frozen=True)
class Column:
    """A column of a printed table."""

    name: str
    title: str
    #: Columns of the package's table, one for each part of a cell; empty if `PaperTable.values` has them
    printed: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()  #: Its part in the names of cells, the preferred one first; () is the name alone
    #: Whether the paper prints if a test rejects, and ours is a p-value, or in cells ``…/rejected…`` a share of rejections
    verdict: bool = False


@final
@dataclass(frozen=True)
class Part:
    """One number of a printed cell."""

    #: Names of cells with fields in braces, the preferred ones first; ``{part:kl|ns}`` restricts a field
    names: tuple[str, ...]
    name: str = ""  #: For CSV; empty for the main number


def mean_and_spread(suffix: str, *names: str) -> tuple[Part, Part]:
    """A mean and its ±, whose names have a suffix."""
    return Part(names), Part(tuple(name + suffix for name in names), suffix.strip("_/"))


@final
@dataclass(frozen=True)
class PaperTable:
    """How a paper prints a table."""

    title: str
    source: str  #: The package's table
    rows: Mapping[str, str]  #: Fields of names that make up a row, with their titles
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]  #: The numbers of a cell
    form: str = "{}"  #: How the numbers of a cell stand together, with one pair of braces for each
    column: str = "{column}"  #: The name of a column from fields
    #: Columns of the package's table with the numbers of a cell, where a row of it is a single cell
    values: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)  #: What names of cells have in place of a printed word
    #: Rows of the package's table that belong here, by the values of a field; all by default
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open: bool = False  #: Whether columns that are not printed are added
    ranked: bool = False  #: Whether a cell is a model, ordered by its first number
    selects: Mapping[str, str] = field(default_factory=dict)  #: Options of the protocol that make these numbers

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

    def printed_number(self, name: str) -> float:
        """The printed number of a cell by its name; nan where the paper prints none."""
        found = self.place(name)
        text = "" if found is None else self.printed.get(found[0], "")
        return float(text) if text and text not in ("True", "False") else math.nan

    @cached_property
    def decimals(self) -> dict[tuple[str, int], int]:
        """The usual number of printed decimals by column and part."""
        counts: dict[tuple[str, int], Counter[int]] = {}
        for (_, column, i), text in self.printed.items():
            if text:
                counts.setdefault((column, i), Counter())[len(text.partition(".")[2])] += 1
        return {place: max(counter, key=lambda n: (counter[n], n)) for place, counter in counts.items()}

    def place(self, name: str) -> tuple[Place, int] | None:
        """Where a cell of this name stands, and how much its name is preferred (0: most); None outside the table."""
        for i, preference, pattern in self._patterns:
            match = pattern.fullmatch(name)
            if match is None:
                continue
            fields = match.groupdict()
            column, later = self._names.get(self.column.format(**fields), ("", 0))
            if not column and self.open:
                column = self.column.format(**fields)
            if column:
                return (tuple(fields.get(row) or "" for row in self.rows), column, i), preference + later
        return None

    @cached_property
    def _names(self) -> dict[str, tuple[str, int]]:
        """The column of each part of a name, and how much it is preferred."""
        return {name: (c.name, later) for c in self.columns for later, name in enumerate(c.cells or (c.name,))}

    @cached_property
    def _patterns(self) -> list[tuple[int, int, re.Pattern[str]]]:
        """The later parts first: their names are longer."""
        return [
            (i, preference, re.compile(_expression(name)))
            for i, part in reversed(list(enumerate(self.parts)))
            for preference, name in enumerate(part.names)
        ]

    def filled(self, cells: Sequence[PrintedCell]) -> "FilledTable":
        """The table with our numbers.

        Parameters
        ----------
        cells : sequence of PrintedCell
            Of all tables; those with names of this table are taken. The interval is that of a cell ``NAME/interval`` where
            there is one.

        Returns
        -------
        FilledTable
            Printed rows in their order, then rows that the paper has not, such as those of other data sets. Printed rows are
            left out if all our numbers are in other rows and have printed numbers with them.
        """
        own = {cell.name: cell for cell in cells}
        placed: dict[Place, PrintedCell] = {}
        best: dict[Place, int] = {}
        for cell in cells:
            found = self.place(cell.name)
            if found is not None and found[1] <= best.get(found[0], found[1]):
                placed[found[0]], best[found[0]] = cell, found[1]
        printed_rows = dict.fromkeys(key for key, _, _ in self.printed)
        own_rows = dict.fromkeys(key for key, _, _ in placed)
        keys = list(dict.fromkeys((*printed_rows, *own_rows)))
        beside = any(not math.isnan(cell.paper) for cell in placed.values())
        if beside and not any(key in printed_rows for key in own_rows):
            keys = list(own_rows)
        known = {column.name for column in self.columns}
        further = dict.fromkeys(column for _, column, _ in placed if column not in known)
        columns = (*self.columns, *(Column(name, name.replace("/", " ")) for name in further))
        back = {ours: printed for printed, ours in self.renamed.items() if ours}
        rows = []
        for key in keys:
            values = [
                tuple(self._value((key, column.name, i), placed, own) for i in range(len(self.parts)))
                for column in columns
            ]
            rows.append(FilledRow(tuple(back.get(label, label) for label in key), tuple(values)))
        return FilledTable(self, columns, tuple(rows))

    def _value(self, place: Place, placed: Mapping[Place, PrintedCell], own: Mapping[str, PrintedCell]) -> "CellValue":
        printed, decimals, cell = self.printed.get(place, ""), self.decimals.get(place[1:], 3), placed.get(place)
        if cell is None:
            return CellValue(printed, decimals=decimals)
        if not printed and not math.isnan(cell.paper):  # a number of another row, such as that of a similar data set
            usual = f"{cell.paper:.{decimals}f}"
            printed = usual if float(usual) == cell.paper else f"{cell.paper:g}"
        span = own.get(f"{cell.name}/interval", cell)
        return CellValue(printed, cell.ours, span.low, span.high, cell.agrees, decimals, cell.name)


def _expression(name: str) -> str:
    """The regular expression of a name with fields in braces."""
    parts, end = [], 0
    for match in FIELD.finditer(name):
        parts += [re.escape(name[end : match.start()]), f"(?P<{match[1]}>{match[2] or '[^/]+'})"]
        end = match.end()
    return "".join([*parts, re.escape(name[end:])])


# ---- with our numbers ------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class CellValue:
    """One number of a cell: as printed, and ours."""

    printed: str = ""  #: Digits as printed; empty where the paper prints none
    ours: float = math.nan  #: nan without one
    #: The interval of ours; nan without one
    low: float = math.nan
    high: float = math.nan
    agrees: bool | None = None
    decimals: int = 3  #: For our number
    name: str = ""  #: Of the cell that ours comes from


class FilledRow(NamedTuple):
    """A row: its labels, one for each field, and its cells, one for each column, with a value for each part."""

    labels: tuple[str, ...]
    cells: tuple[tuple[CellValue, ...], ...]


@final
@dataclass(frozen=True)
class FilledTable:
    """A printed table with our numbers."""

    layout: PaperTable
    columns: tuple[Column, ...]  #: Those of the layout, and further ones of an open layout
    rows: tuple[FilledRow, ...]

    def written(self, format: str = "text", width: int | None = None) -> str:
        """The table in one of `FORMATS`.

        Parameters
        ----------
        width : int, optional
            Characters of a line of text; columns for which there is no room stand in further blocks.
        """
        if known_format(format) == "csv":
            return csv_text(list(self.exact()))
        if format == "text":
            shown = self.shown(grouped=True)
            return "\n".join([shown.caption, *shown.as_text(width, repeated=2), *filter(None, [shown.note])])
        shown = self.shown()
        return shown.as_markdown() if format == "markdown" else shown.as_latex()

    def exact(self) -> Iterator[dict[str, Any]]:
        """The rows with printed digits and exact numbers: ``…_paper``, ``…_ours``, ``…_low``, ``…_high``, ``…_agrees``."""
        for labels, cells in self.rows:
            row: dict[str, Any] = {list(self.layout.rows)[i]: labels[i] for i in self._fields}
            for column, values in zip(self.columns, cells, strict=True):
                for part, value in zip(self.layout.parts, values, strict=True):
                    stem = "_".join(filter(None, (column.name.replace("/", "_"), part.name)))
                    numbers = (value.printed, value.ours, value.low, value.high, value.agrees)
                    ends = ("paper", "ours", "low", "high", "agrees")
                    row |= {f"{stem}_{end}": number for end, number in zip(ends, numbers, strict=True)}
            yield row

    def shown(self, *, grouped: bool = False) -> ShownTable:
        """Under each printed row ours and the interval; a mark where the printed value lies outside it.

        Parameters
        ----------
        grouped : bool
            One column of labels: rows that share all labels but the last stand under a line with these.
        """
        names = [list(self.layout.rows.values())[i] for i in self._fields]
        rows: list[tuple[str, ...]] = []
        above: tuple[str, ...] = ()
        for row in self.rows:
            labels = tuple(row.labels[i] for i in self._fields)
            if grouped and labels[:-1] != above:
                above = labels[:-1]
                rows.append((", ".join(filter(None, above)), *("" for _ in (LINES[0], *self.columns))))
            first = (f"{'  ' if above else ''}{labels[-1]}",) if grouped else labels
            for i, (name, line) in enumerate(self._lines(row).items()):
                rows.append((*(first if i == 0 else ("" for _ in first)), name, *line))
        titles = [column.title for column in self.columns]
        if self.layout.ranked:
            titles = [str(place) for place in range(1, len(titles) + 1)]
        heading = [", ".join(filter(None, names))] if grouped else names
        disagree = any(value.agrees is False for row in self.rows for cell in row.cells for value in cell)
        return ShownTable(
            (*heading, "", *titles),
            tuple(ShownRow(tuple(map(ShownCell, row))) for row in rows),
            self.layout.title,
            n_words=1 if grouped else len(names) + 1,
            note=f"{MARK} {MEANING}" if disagree else "",
        )

    @cached_property
    def _fields(self) -> list[int]:
        """Fields of the rows that say something: not those that are empty, or "exact", throughout."""
        held = [{row.labels[i] for row in self.rows} for i in range(len(self.layout.rows))]
        return [i for i, labels in enumerate(held) if labels not in ({""}, {"exact"})]

    def _lines(self, row: FilledRow) -> dict[str, tuple[str, ...]]:
        """Printed values, ours and intervals by name; lines without any are left out, but for ours."""
        lines = self._by_rank(row) if self.layout.ranked else self._in_place(row)
        said = {name: line for name, line in zip(LINES, lines, strict=True) if any(text != ABSENT for text in line)}
        return said if OURS in said else dict(list(said.items())[:1]) | {OURS: lines[1]}

    def _in_place(self, row: FilledRow) -> list[tuple[str, ...]]:
        """The lines of a row whose cells stand in the order of the columns."""
        form, spans = self.layout.form, "; ".join(["{}"] * len(self.layout.parts))
        return [
            tuple(_joined(form, map(_printed, cell)) for cell in row.cells),
            tuple(
                _verdict(cell[0]) if column.verdict else _joined(form, (f"{_number(v)}{_mark(v)}" for v in cell))
                for column, cell in zip(self.columns, row.cells, strict=True)
            ),
            tuple(_joined(spans, map(_interval, cell)) for cell in row.cells),
        ]

    def _by_rank(self, row: FilledRow) -> list[tuple[str, ...]]:
        """The lines of a ranking: the models in the printed order, and in ours."""
        cells = [(c.title, rank, mean) for c, (rank, mean) in zip(self.columns, row.cells, strict=True)]
        printed = sorted((cell for cell in cells if cell[1].printed), key=lambda cell: float(cell[1].printed))
        own = sorted((cell for cell in cells if not math.isnan(cell[1].ours)), key=lambda cell: cell[1].ours)
        lines = [
            [_named(title, _printed(mean)) for title, _, mean in printed],
            [f"{_named(title, _number(mean))}{_mark(rank, mean)}" for title, rank, mean in own],
            [_interval(mean) for _, _, mean in own],
        ]
        return [(*line, *(ABSENT for _ in range(len(cells) - len(line)))) for line in lines]


def table_named(layouts: Mapping[str, PaperTable], table: str | int, protocol: str) -> PaperTable:
    """A table of a paper by its name or number: "table1", "1" or 1.

    Parameters
    ----------
    protocol : str
        For errors.
    """
    name = f"table{str(table).removeprefix('table')}"
    if name not in layouts:
        numbers = listed([one.removeprefix("table") for one in layouts], last="or")
        rule = (
            f"must be a table of the paper of {protocol}, {numbers}" if layouts else f"{protocol} has no printed table"
        )
        fail("table", rule, f"got {table!r}", "choose one of them" if layouts else "leave it out", code="choice")
    return layouts[name]


def known_format(name: str) -> str:
    """The name of a format, checked."""
    return one_of(name, "format", FORMATS, "text is the default")


def _joined(form: str, texts: Iterator[str]) -> str:
    """The numbers of a cell in the printed form; the first alone if there is no other."""
    first, *others = texts
    return first if all(text == ABSENT for text in others) else form.format(first, *others)


def _printed(value: CellValue) -> str:
    return value.printed.replace("-", "−") if value.printed else ABSENT


def _number(value: CellValue) -> str:
    return number(value.ours, value.decimals, bounded=True)


def _interval(value: CellValue) -> str:
    """The interval, with a further decimal where its ends would look the same."""
    if _is_share(value):
        return f"{100 * value.low:.0f} to {100 * value.high:.0f} %"
    ends = {number(end, value.decimals) for end in (value.low, value.high)}
    return interval(value.low, value.high, value.decimals + (len(ends) == 1))


def _is_share(value: CellValue) -> bool:
    """Whether ours is the share of trainings that a test rejects."""
    return value.name.rpartition("/")[2].startswith("rejected")


def _verdict(value: CellValue) -> str:
    if math.isnan(value.ours):
        return ABSENT
    if _is_share(value):
        return f"{100 * value.ours:.0f} % of runs"
    return f"{value.ours <= ALPHA} (p {pvalue(value.ours)})"


def _named(model: str, mean: str) -> str:
    return model if mean == ABSENT else f"{model} {mean}"


def _mark(*values: CellValue) -> str:
    return MARK if any(value.agrees is False for value in values) else ""
