"""The papers' printed tables as layouts: which cell stands where, and how it is written."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import final

from uqassay.checks import fail
from uqassay.lab.papers.printed_cells import PrintedCell, printed_table
from uqassay.text import ABSENT, interval, latex_text, listed, number, pvalue, text_table, visible

__all__ = [
    "FORMATS",
    "LAYOUTS",
    "CellPart",
    "FilledTable",
    "Layout",
    "LayoutColumn",
    "filled",
    "known_format",
    "layout_of",
    "table_csv",
    "table_latex",
    "table_text",
]


# A paper's printed table as a layout, and its cells filled with printed and own values.
#
# A layout says which names of cells, such as ``table2/lambda=0.2/RS-NN/e``, stand in which row and column. The printed
# numbers come from the tables of the package, digits as printed.

_FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")
Place = tuple[tuple[str, ...], str, int]  # row, column, part


@final
@dataclass(frozen=True)
class LayoutColumn:
    """A column of a printed table."""

    name: str  #: Its part in the names of cells
    title: str
    #: Columns of the package's table, one for each part of a cell; empty if `Layout.values` has them
    printed: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class CellPart:
    """One number of a printed cell."""

    #: Names of cells with fields in braces, the preferred ones first; ``{part:kl|ns}`` restricts a field
    names: tuple[str, ...]
    name: str = ""  #: For CSV; empty for the main number


@final
@dataclass(frozen=True)
class Layout:
    """How a paper prints a table."""

    title: str
    source: str  #: The package's table
    rows: Mapping[str, str]  #: Fields of names that make up a row, with their titles
    columns: tuple[LayoutColumn, ...]
    parts: tuple[CellPart, ...]  #: The numbers of a cell
    form: str = "{}"  #: How the numbers of a cell stand together, with one pair of braces for each
    column: str = "{column}"  #: The name of a column from fields
    #: Columns of the package's table with the numbers of a cell, where a row of it is a single cell
    values: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)  #: What names of cells have in place of a printed word
    #: Rows of the package's table that belong here, by the values of a field; all by default
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open: bool = False  #: Whether columns that are not printed are added
    ranked: bool = False  #: Whether a cell is a model, ordered by its first number
    #: Columns where the paper prints whether a test rejects and ours is a p-value
    verdicts: frozenset[str] = frozenset()
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
    """One number of a cell: as printed, and ours."""

    printed: str = ""  #: Digits as printed; empty where the paper prints none
    ours: float = math.nan  #: nan without one
    #: The interval of ours; nan without one
    low: float = math.nan
    high: float = math.nan
    agrees: bool | None = None
    decimals: int = 3  #: For our number


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
    """A printed table with our numbers."""

    layout: Layout
    columns: tuple[LayoutColumn, ...]  #: Those of the layout, and further ones of an open layout
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


# A filled table as text, CSV and LaTeX.

MARK = "*"
ALPHA = 0.05  # the level of verdicts
SPANS = {n: "; ".join(["{}"] * n) for n in (1, 2, 3)}  # intervals of the numbers of a cell
OURS = "ours"
LINES = ("printed", OURS, "interval")
MEANING = "the printed value lies outside the interval"


@final
@dataclass(frozen=True)
class _Lines:
    """A row of the table as lines of text by name: printed values, ours and intervals; lines without any are left out."""

    labels: tuple[str, ...]
    lines: dict[str, tuple[str, ...]]


def table_text(table: FilledTable, width: int | None = None) -> str:
    """Plain text: under each printed row ours and the interval; a mark where the printed value lies outside it.

    Parameters
    ----------
    width : int, optional
        Characters of a line. Columns for which there is no room stand in further blocks with the same rows.
    """
    titles, rows = _shown(table)
    body: list[tuple[str, ...]] = []
    above: tuple[str, ...] = ()
    for row in rows:
        if len(row.labels) > 1 and row.labels[:-1] != above:
            above = row.labels[:-1]
            body.append((", ".join(filter(None, above)), *("" for _ in titles[1:])))
        indent = "  " if len(row.labels) > 1 else ""
        for i, (name, line) in enumerate(row.lines.items()):
            body.append((f"{indent}{row.labels[-1]}" if i == 0 else "", name, *line))
    blocks = [
        "\n".join(line.rstrip() for line in text_table(*_of_columns(titles, body, columns)))
        for columns in _blocks([titles, *body], width)
    ]
    return "\n".join([table.layout.title, "\n\n".join(blocks), *_remarks(table)])


def table_csv(table: FilledTable) -> str:
    """CSV: one line for each row; ``…_paper``, ``…_ours``, ``…_low``, ``…_high`` and ``…_agrees`` for each printed number."""
    fields = _fields(table)
    header = [list(table.layout.rows)[i] for i in fields]
    parts = table.layout.parts
    for column in table.columns:
        for part in parts:
            stem = "_".join(filter(None, (column.name.replace("/", "_"), part.name)))
            header += [f"{stem}_{end}" for end in ("paper", "ours", "low", "high", "agrees")]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line = [visible(row.labels[i]) for i in fields]
        for cell in row.cells:
            for value in cell.values:
                agrees = "" if value.agrees is None else str(value.agrees).lower()
                line += [value.printed, *map(_plain, (value.ours, value.low, value.high)), agrees]
        writer.writerow(line)
    return stream.getvalue().rstrip("\n")


def table_latex(table: FilledTable) -> str:
    """LaTeX with booktabs, as `table_text`."""
    titles, rows = _shown(table)
    fields = _fields(table)
    names = [list(table.layout.rows.values())[i] for i in fields]
    header = " & ".join(map(latex_text, (*names, "", *titles[2:])))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        rf"\caption{{{latex_text(table.layout.title)}}}",
        r"\centering",
        rf"\begin{{tabular}}{{{'l' * (len(fields) + 1)}{'r' * len(table.columns_shown)}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
    ]
    for row in rows:
        for i, (name, line) in enumerate(row.lines.items()):
            labels = row.labels if i == 0 else [""] * len(row.labels)
            lines.append(rf"{' & '.join(map(latex_text, (*labels, name, *line)))} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par {latex_text(remark)}" for remark in _remarks(table)]
    return "\n".join([*lines, r"\end{table}"])


FORMATS: dict[str, Callable[..., str]] = {"text": table_text, "csv": table_csv, "latex": table_latex}


def known_format(name: str) -> str:
    """The name of a format."""
    if name not in FORMATS:
        known = listed(list(FORMATS), last="or")
        fail("format", f"must be {known}", f"got {name!r}", "text is the default", code="choice")
    return name


# ---- blocks of columns -----------------------------------------------------------------------------------------------


def _blocks(lines: Sequence[Sequence[str]], width: int | None) -> list[list[int]]:
    """The columns that stand together: as many as there is room for, at least one, after the two with the names of the rows."""
    widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    blocks: list[list[int]] = [[]]
    for column in range(2, len(widths)):
        wide = sum(widths[:2]) + sum(widths[one] for one in (*blocks[-1], column))
        if width is not None and blocks[-1] and wide > width:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _of_columns(
    titles: Sequence[str], body: Sequence[Sequence[str]], columns: Sequence[int]
) -> tuple[list[str], list[list[str]]]:
    """The header and the lines with these columns alone."""
    chosen = [0, 1, *columns]
    return [titles[i] for i in chosen], [[line[i] for i in chosen] for line in body]


# ---- rows as lines ---------------------------------------------------------------------------------------------------


def _shown(table: FilledTable) -> tuple[list[str], list[_Lines]]:
    """The header, and the rows with the labels that say something."""
    fields = _fields(table)
    names = [list(table.layout.rows.values())[i] for i in fields]
    rows = []
    for row in table.rows:
        labels = tuple(row.labels[i] for i in fields)
        lines = _ranked(table, row) if table.layout.ranked else _in_place(table, row)
        said = {name: line for name, line in zip(LINES, lines, strict=True) if any(text != ABSENT for text in line)}
        rows.append(_Lines(labels, said if OURS in said else dict(list(said.items())[:1]) | {OURS: lines[1]}))
    return [", ".join(filter(None, names)), "", *table.columns_shown], rows


def _fields(table: FilledTable) -> list[int]:
    """Fields of the rows that say something: not those that are empty, or "exact", throughout."""
    held = [{row.labels[i] for row in table.rows} for i in range(len(table.layout.rows))]
    return [i for i, labels in enumerate(held) if labels not in ({""}, {"exact"})]


def _in_place(table: FilledTable, row: FilledRow) -> list[tuple[str, ...]]:
    """The lines of a row whose cells stand in the order of the columns."""
    pairs = list(zip(table.columns, row.cells, strict=True))
    form = table.layout.form
    return [
        tuple(_joined(form, [_printed(value) for value in cell.values]) for _, cell in pairs),
        tuple(_ours(form, cell, verdict=column.name in table.layout.verdicts) for column, cell in pairs),
        tuple(_joined(SPANS[len(cell.values)], list(map(_interval, cell.values))) for _, cell in pairs),
    ]


def _ranked(table: FilledTable, row: FilledRow) -> list[tuple[str, ...]]:
    """The lines of a ranking: the models in the printed order, and in ours."""
    cells = list(zip(table.columns, row.cells, strict=True))
    printed = [pair for pair in cells if pair[1].values[0].printed]
    printed.sort(key=lambda pair: float(pair[1].values[0].printed))
    own = [pair for pair in cells if not math.isnan(pair[1].values[0].ours)]
    own.sort(key=lambda pair: pair[1].values[0].ours)
    n = len(table.columns)
    return [
        _padded([_model(column, _printed(cell.values[1])) for column, cell in printed], n),
        _padded([f"{_model(column, _number(cell.values[1]))}{_mark(cell)}" for column, cell in own], n),
        _padded([_interval(cell.values[1]) for _, cell in own], n),
    ]


def _padded(texts: Sequence[str], n: int) -> tuple[str, ...]:
    return (*texts, *(ABSENT for _ in range(n - len(texts))))


def _model(column: LayoutColumn, mean: str) -> str:
    return column.title if mean == ABSENT else f"{column.title} {mean}"


def _ours(form: str, cell: FilledCell, *, verdict: bool) -> str:
    if verdict:
        p = cell.values[0].ours
        return ABSENT if math.isnan(p) else f"{p <= ALPHA} (p {pvalue(p)})"
    return _joined(form, [f"{_number(value)}{MARK if value.agrees is False else ''}" for value in cell.values])


def _joined(form: str, texts: Sequence[str]) -> str:
    """The numbers of a cell in the printed form; the first alone if there is no other."""
    if all(text == ABSENT for text in texts[1:]):
        return texts[0]
    return form.format(*texts)


def _printed(value: CellValue) -> str:
    return value.printed.replace("-", "−") if value.printed else ABSENT


def _number(value: CellValue) -> str:
    return number(value.ours, value.decimals, bounded=True)


def _interval(value: CellValue) -> str:
    """The interval, with a further decimal where its ends would look the same."""
    ends = {number(end, value.decimals) for end in (value.low, value.high)}
    return interval(value.low, value.high, value.decimals + (len(ends) == 1))


def _mark(cell: FilledCell) -> str:
    return MARK if any(value.agrees is False for value in cell.values) else ""


def _remarks(table: FilledTable) -> list[str]:
    """What a mark means, if there is one."""
    values = [value for row in table.rows for cell in row.cells for value in cell.values]
    return [f"{MARK} {MEANING}"] if any(value.agrees is False for value in values) else []


# ---- characters ------------------------------------------------------------------------------------------------------


def _plain(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


# The tables that the papers print, as layouts, by protocol.

PM = "{} ± {}"


def _parts(suffix: str, *names: str) -> tuple[CellPart, CellPart]:
    """A mean and its ±, whose names have a suffix."""
    return CellPart(names), CellPart(tuple(name + suffix for name in names), suffix.strip("_/"))


# ---- paper 000, unified evaluation -----------------------------------------------------------------------------------

SETS = ("LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN")
ALL = (*SETS, "SNN", "LB-BNN Avg", "DE Avg", "DDU")
TERMS = {"kl": "KL", "ns": "NS", "e": "E"}
SETTING = {"dataset": "Dataset", "convention": "Convention"}


def _means(name: str, title: str) -> LayoutColumn:
    return LayoutColumn(name, title, (f"{name}_mean", f"{name}_sd"))


def _by_part(term: str, part: str) -> LayoutColumn:
    short = {"correct": "CC", "incorrect": "ICC"}[part]
    return LayoutColumn(f"{term}_{part}", f"{TERMS[term]} {short}", (f"{term}_{part}_mean", f"{term}_{part}_sd"))


BY_PART = tuple(_by_part(term, part) for term in TERMS for part in ("correct", "incorrect"))


def _ranking(title: str, source: str, models: tuple[str, ...], *names: str, **rows: str) -> Layout:
    """A table of rankings: at each λ the models by their mean E."""
    return Layout(
        title,
        source,
        {**SETTING, **rows, "tradeoff": "λ"},
        tuple(LayoutColumn(model, model) for model in models),
        (
            CellPart(tuple(f"{name}/rank" for name in names), "rank"),
            CellPart(tuple(f"{name}/e" for name in names), "e"),
        ),
        form="{} {}",
        column="{model}",
        values=("rank", "e_mean"),
        ranked=True,
    )


UNIFIED = {
    "table1": Layout(
        "Table 1: KL, non-specificity (NS) and E at λ = 1",
        "unified_table1",
        {**SETTING, "model": "Model"},
        (
            LayoutColumn("accuracy_percent", "Accuracy (%)", ("accuracy_percent",)),
            LayoutColumn("ece", "ECE", ("ece",)),
            *(_means(name, title) for name, title in TERMS.items()),
        ),
        _parts("_sd", "table1/{dataset}/{model}/{column}", "table1/{dataset}/{convention}/{model}/{column}"),
        PM,
    ),
    "table2": _ranking(
        "Table 2: models by mean E, CIFAR-10",
        "unified_table2_cifar10_ranking",
        SETS,
        "table2/lambda={tradeoff}/{model}",
        "table2/{dataset}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table3": Layout(
        "Table 3: E of four models at three λ",
        "unified_table3_toy_ranking",
        {"model": "Model"},
        (
            LayoutColumn("kl", "KL", ("kl",)),
            LayoutColumn("ns", "NS", ("ns",)),
            *(LayoutColumn(tradeoff, f"E and rank, λ = {tradeoff}") for tradeoff in ("0.1", "0.5", "2")),
        ),
        (
            CellPart(("table3/lambda={tradeoff}/{model}/e",)),
            CellPart(("table3/lambda={tradeoff}/{model}/rank",), "rank"),
        ),
        "{}, {}",
        column="{tradeoff}",
        values=("e", "rank"),
    ),
    "table4": Layout(
        "Table 4: vertices of the credal set, correct (CC) and incorrect (ICC) predictions, CIFAR-10",
        "unified_table4_vertices_4class",
        {**SETTING, "model": "Model", "vertices": "Vertices"},
        BY_PART,
        _parts(
            "_sd",
            "table4/{model}/{vertices}/{part}/{term}",
            "table4/{dataset}/{convention}/{model}/{vertices}/{part}/{term}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table5": _ranking(
        "Table 5: models by mean E with KL and JS divergence, CIFAR-10",
        "unified_table5_cifar10_kl_vs_js",
        ALL,
        "table5/{distance}/lambda={tradeoff}/{model}",
        "table5/{dataset}/{convention}/{distance}/lambda={tradeoff}/{model}",
        distance="Metric",
    ),
    "table6": _ranking(
        "Table 6: models by mean E with non-specificity (NS) and credal uncertainty (CU), CIFAR-10",
        "unified_table6_cifar10_ns_vs_cu",
        ALL,
        "table6/{nonspecificity}/lambda={tradeoff}/{model}",
        "table6/{dataset}/{convention}/{nonspecificity}/lambda={tradeoff}/{model}",
        nonspecificity="Metric",
    ),
    "table7": Layout(
        "Table 7: correct (CC) and incorrect (ICC) predictions apart, λ = 1",
        "unified_table7_correct_incorrect",
        {**SETTING, "model": "Model"},
        BY_PART,
        _parts(
            "_sd",
            "table7/{dataset}/{model}/{part:correct|incorrect}/{term}",
            "table7/{dataset}/{convention}/{model}/{term:kl|ns|e}_{part:correct|incorrect}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table8": Layout(
        "Table 8: mean E against λ",
        "unified_table8_tradeoff",
        {**SETTING, "tradeoff": "λ"},
        tuple(LayoutColumn(model, model) for model in SETS),
        _parts(
            "_sd",
            "table8/{dataset}/lambda={tradeoff}/{model}/e",
            "table8/{dataset}/{convention}/lambda={tradeoff}/{model}/e",
        ),
        PM,
        column="{model}",
        values=("e_mean", "e_sd"),
    ),
    "table9": _ranking(
        "Table 9: models by mean E, MNIST",
        "unified_table9_mnist_ranking",
        SETS,
        "table9/lambda={tradeoff}/{model}",
        "table2/{dataset:mnist}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table10": _ranking(
        "Table 10: models by mean E, CIFAR-100",
        "unified_table10_cifar100_ranking",
        tuple(model for model in SETS if model != "E-CNN"),
        "table10/lambda={tradeoff}/{model}",
        "table2/{dataset:cifar-100}/{convention}/lambda={tradeoff}/{model}",
    ),
}

# ---- paper 001, calibration of credal predictors ---------------------------------------------------------------------

CREDAL_NAMES = {
    "CIFAR-10": "cifar-10",
    "CALTECH-101": "caltech-101",
    "CALTECH-256": "caltech-256",
    "PLANTCLEF2015": "plantclef",
    "BACTERIA": "bacteria",
    "PROTEINS": "proteins",
    "MOB": "MobileNetV2",
    "VGG": "VGG16",
    "-": "",
}
ENSEMBLES = ("{dataset:[^/,]+}, {architecture}", "{dataset}")
CONVENTIONS = ("exact", "{convention}")
CREDAL = {
    "table1": Layout(
        "Table 1: averages and weighted averages of four predictors",
        "credal_calibration_table1",
        {"dataset": "Dataset", "architecture": "Arch.", "convention": "Convention", "predictor": "Predictor"},
        (
            LayoutColumn("avg_accuracy", "Acc.", ("avg_accuracy",)),
            LayoutColumn("avg_ece_conf", "ECE conf", ("avg_ece_conf",)),
            LayoutColumn("avg_ece_classwise", "ECE cwise", ("avg_ece_classwise",)),
            LayoutColumn("p_conf_random", "Rej. H0", ("reject_conf",)),
            LayoutColumn("weighted_conf_accuracy", "λ conf Acc.", ("weighted_conf_accuracy",)),
            LayoutColumn("weighted_conf_ece_conf", "ECE conf", ("weighted_conf_ece_conf",)),
            LayoutColumn("p_classwise_random", "Rej. H0", ("reject_classwise",)),
            LayoutColumn("weighted_classwise_accuracy", "λ cwise Acc.", ("weighted_classwise_accuracy",)),
            LayoutColumn("weighted_classwise_ece_classwise", "ECE cwise", ("weighted_classwise_ece_classwise",)),
        ),
        (
            CellPart(
                tuple(f"table1/{place}/{{predictor}}/{end}/{{column}}" for end in CONVENTIONS for place in ENSEMBLES)
            ),
        ),
        renamed=CREDAL_NAMES,
        verdicts=frozenset({"p_conf_random", "p_classwise_random"}),
        selects={"figure": "table1"},
    ),
    "table2": Layout(
        "Table 2: classes K, features D and instances N of the data sets",
        "credal_calibration_table2_datasets",
        {"dataset": "Dataset"},
        (
            LayoutColumn("classes", "K", ("classes",)),
            LayoutColumn("features", "D", ("features",)),
            LayoutColumn("n_train", "N train", ("n_train",)),
            LayoutColumn("n_calibration", "N cal.", ("n_calibration",)),
            LayoutColumn("n_test", "N test", ("n_test",)),
        ),
        (CellPart(("table2/{dataset}/{column}",)),),
        selects={"figure": "table2"},
    ),
}

# ---- paper 002, epistemic gain ---------------------------------------------------------------------------------------

GAIN_COLUMNS = (
    LayoutColumn("correlation", "ρ epi", ("rho_epi_mean", "rho_epi_sd")),
    LayoutColumn("eece", "EECE", ("eece_mean", "eece_sd")),
    LayoutColumn("calibrated", "Calib. EECE", ("calibrated_eece_mean", "calibrated_eece_sd")),
)
GAIN_ROWS = {"dataset": "Dataset", "spread": "Spread", "share": "p", "method": "Classifier", "estimator": "Method"}
GAIN_NAMES = {
    "mutual_information": "mutual-information",
    "EMNIST-Letters": "emnist-balanced",
    "Kuzushiji-49": "kuzushiji-49",
}
_END = "{method}/{estimator}/{column}"
GAIN = {
    "table1": Layout(
        "Table 1: evaluation metrics on toy data",
        "epistemic_gain_tables",
        GAIN_ROWS,
        GAIN_COLUMNS,
        _parts(
            "/sd",
            f"table1/{{dataset}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/p={{share}}/{_END}",
        ),
        PM,
        renamed=GAIN_NAMES,
        only={"dataset": ("toy",)},
    ),
    "table2": Layout(
        "Table 2: evaluation metrics on real data",
        "epistemic_gain_tables",
        GAIN_ROWS,
        GAIN_COLUMNS,
        _parts("/sd", f"table2/{{dataset}}/{_END}"),
        PM,
        renamed=GAIN_NAMES,
        only={"dataset": ("emnist-balanced", "kuzushiji-49")},
    ),
}

# ---- paper 003, ranking metrics --------------------------------------------------------------------------------------

RANKING = {
    "table1": Layout(
        "Table 1: correlation with the ground truth rankings, in percent (95 % interval)",
        "ground_truth_free_table1",
        {"dataset": "Dataset", "metric": "Metric"},
        (
            LayoutColumn(
                "misclassification", "φ, misclassification", ("corr_misclassification_percent", "low", "high")
            ),
            LayoutColumn("misalignment", "ψ, misalignment", ("corr_misalignment_percent", "low2", "high2")),
        ),
        (
            CellPart(("table1/{dataset}/{metric}/{column}/r", "table1/{dataset}/{metric}/{column}")),
            CellPart(("table1/{dataset}/{metric}/{column}/low",), "low_limit"),
            CellPart(("table1/{dataset}/{metric}/{column}/high",), "high_limit"),
        ),
        "{} ({}; {})",
    ),
}

# ---- paper 004, disentanglement --------------------------------------------------------------------------------------

DATASETS = {"CIFAR10": "cifar-10", "Fashion MNIST": "fashion-mnist", "Wine": "wine", "BCI": "bci", "Average": "average"}
ESTIMATES = tuple(
    LayoutColumn(f"{short}/{name}", f"{short} {title}")
    for short in ("GL", "IT")
    for name, title in (("aleatoric", "AU"), ("epistemic", "EU"))
)


def _estimates(title: str, table: str, source: str, value: str, *, dataset: str = "{dataset}") -> Layout:
    """A table of both estimates of both decompositions; correlations of pooled curves are those that the paper prints."""
    place, estimate = f"{table}/{dataset}/{{method}}/{{decomposition}}", "{uncertainty:aleatoric|epistemic}"
    names = [f"{place}/{between}{estimate}{end}" for end in ("/pooled", "") for between in ("", "{convention}/")]
    return Layout(
        title,
        source,
        ({"dataset": "Dataset"} if dataset == "{dataset}" else {}) | {"convention": "Convention", "method": "Method"},
        ESTIMATES,
        (CellPart(tuple(names)),),
        column="{decomposition}/{uncertainty}",
        values=(value,),
        renamed=DATASETS,
        open=True,
    )


DISENTANGLEMENT = {
    "table1": _estimates(
        "Table 1: ROC-AUC for the class left out, CIFAR-10",
        "table1",
        "disentanglement_table1_cifar10_rocauc",
        "roc_auc",
        dataset="cifar-10",
    ),
    "table2": Layout(
        "Table 2: disentanglement error",
        "disentanglement_table2_error",
        {"decomposition": "", "convention": "Convention", "method": "Model"},
        tuple(LayoutColumn(name, title) for title, name in DATASETS.items()),
        _parts(
            "/ci95",
            "table2/{dataset}/{method}/{decomposition}",
            "table2/{dataset}/{method}/{decomposition}/{convention:(?!interval$)[^/]+}",
        ),
        PM,
        column="{dataset}",
        values=("error", "ci95"),
        renamed=DATASETS,
        open=True,
    ),
    "table3": _estimates(
        "Table 3: correlation of accuracy and confidence over the size of the training set",
        "table3",
        "disentanglement_table3_dataset_size_pcc",
        "pcc",
    ),
    "table4": _estimates(
        "Table 4: correlation of accuracy and confidence over label noise",
        "table4",
        "disentanglement_table4_label_noise_pcc",
        "pcc",
    ),
    "table5": _estimates(
        "Table 5: ROC-AUC for the class left out", "table5", "disentanglement_table5_ood_rocauc", "roc_auc"
    ),
}

LAYOUTS: Mapping[str, Mapping[str, Layout]] = MappingProxyType(
    {
        "unified-tables": UNIFIED,
        "unified": UNIFIED,
        "credal-calibration": CREDAL,
        "epistemic-gain": GAIN,
        "ranking-intervals": RANKING,
        "ranking-synthetic": RANKING,
        "ranking-cifar10h": RANKING,
        "ranking-cifar10h-probes": RANKING,
        "ranking-imagenet-real": RANKING,
        "ranking-oasst2": RANKING,
        "disentanglement-tables": DISENTANGLEMENT,
        "disentanglement": DISENTANGLEMENT,
    }
)


def layout_of(protocol: str, table: str | int) -> Layout:
    """The layout of a table.

    Parameters
    ----------
    table : str or int
        "table1", "1" or 1.

    Examples
    --------
    >>> layout_of("ranking-oasst2", 1) is layout_of("ranking-intervals", "table1")
    True
    """
    known = LAYOUTS.get(protocol, {})
    name = f"table{str(table).removeprefix('table')}"
    if name not in known:
        numbers = listed([one.removeprefix("table") for one in known], last="or")
        rule = f"must be a table of the paper of {protocol}, {numbers}" if known else f"{protocol} has no printed table"
        fail("table", rule, f"got {table!r}", "choose one of them" if known else "leave it out", code="choice")
    return known[name]
