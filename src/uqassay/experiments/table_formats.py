"""A filled table as text, CSV and LaTeX."""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from uqassay._markup import latex_text
from uqassay.errors import InputError
from uqassay.experiments.table_layout import CellValue, FilledCell, FilledRow, FilledTable, LayoutColumn
from uqassay.wording import ABSENT, interval, listed, number, pvalue, text_table, visible

__all__ = ["FORMATS", "MARK", "known_format", "table_csv", "table_latex", "table_text"]

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
    table : FilledTable
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
    """CSV: one line for each row; ``…_paper``, ``…_ours``, ``…_low``, ``…_high`` and ``…_agrees`` for each printed number.

    Parameters
    ----------
    table : FilledTable
    """
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
    """LaTeX with booktabs, as `table_text`.

    Parameters
    ----------
    table : FilledTable
    """
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
    """The name of a format.

    Raises
    ------
    InputError
        There is no such format.
    """
    if name not in FORMATS:
        known = listed(list(FORMATS), last="or")
        raise InputError("format", f"must be {known}", f"got {name!r}", "text is the default", code="choice")
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
