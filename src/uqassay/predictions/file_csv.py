"""Comma-separated text: a header line, then one row per instance. Columns as in `file_tables`.

Where the header has semicolons, tabs or vertical bars in place of commas, these separate the cells, and decimals may have a
comma (0,5), as spreadsheets write them in many countries.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay._array import precision_of, row_chunks, still_whole, tolerance_of
from uqassay.errors import InputError
from uqassay.predictions.arrays_on_disk import Arrays, Contents, StoredArray, quiet, text_array
from uqassay.predictions.file_tables import (
    PREFIX,
    columns_by_type,
    probability_columns,
    table_columns,
    table_contents,
)

__all__ = ["check_sums", "read_csv", "refuse_empty_cell", "write_csv"]

_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"\s*(0|-?[1-9]\d{0,17})\s*", re.ASCII)  # the plain spelling of a number that int64 holds
_SEPARATORS = ";\t|"  # in place of commas
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class _Sheet:
    """A file, the names in its first line, and the character between its cells."""

    path: Path
    header: list[str]
    separator: str

    def number(self, text: str) -> str:
        """The text of a cell with a decimal point in place of a decimal comma."""
        return text if self.separator == "," else text.replace(",", ".")


def read_csv(path: Path) -> Contents:
    """Numbers become float64; ids, groups and labels int64 where all are plain whole numbers, else text."""
    try:
        return _read(path)
    except UnicodeDecodeError as problem:
        raise _wrong_encoding(path, problem) from problem
    except csv.Error as problem:
        raise InputError(
            "cells",
            "must be text without NUL of at most 131072 characters",
            str(problem),
            "repair the file",
            code="type",
        ) from problem


def write_csv(path: Path, arrays: Arrays) -> None:
    """Write every number with the digits that give it back exactly; all are read back as float64."""
    columns = table_columns(arrays, ".csv")
    probs = np.asarray(arrays["probs"])
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n", quoting=_quoting(columns))
        writer.writerow(columns)
        for rows in row_chunks(len(probs), 8 * len(columns), chunk_bytes=2**20):
            still_whole(probs)
            writer.writerows(zip(*(column[rows].tolist() for column in columns.values()), strict=True))


def check_sums(probs: NDArray[Any], suffix: str, read_back: Any = np.float64) -> None:
    """Refuse probabilities ``(…, K)`` that no longer pass as summing to 1 in the type in which a file gives them back.

    Parameters
    ----------
    probs : array (…, K)
    suffix : str
    read_back : dtype

    Raises
    ------
    InputError
        The sum of a row is farther from 1 than the tolerance of `read_back`.
    """
    tolerance = tolerance_of(np.empty(0, read_back))
    if tolerance_of(probs) <= tolerance:
        return
    for rows in row_chunks(len(probs), 8 * probs[:1].size):
        still_whole(probs)
        sums = probs[rows].sum(axis=-1, dtype=np.float64)
        off = np.abs(sums - 1.0) > tolerance
        if off.any():
            at = tuple(np.argwhere(off)[0])
            raise InputError(
                "probs",
                f"{suffix} is read back as {np.dtype(read_back)}, whose rows must sum to 1 within {tolerance:g}",
                f"row {rows.start + at[0]} of this {precision_of(probs)} prediction sums to {float(sums[at]):.6g}",
                "save it as .npz, which keeps the type",
                code="sum",
                facts={"row": int(rows.start + at[0])},
            )


# -- reading ----------------------------------------------------------------------------------------------------------


def _read(path: Path) -> Contents:
    sheet = _sheet(path)
    header = sheet.header
    wanted = probability_columns(header)
    others = [i for i in range(len(header)) if i not in set(wanted)]
    stored = path.stat().st_size
    columns: dict[str, StoredArray] = {}
    by_type: list[int] = []
    if others:
        texts = _texts(sheet, others)
        labels = set() if PREFIX in header else {"label", "labels"}  # a class whose name is empty has empty labels
        needed = set(header) if len(header) == 1 else labels
        columns = {header[i]: _column(texts[i], header[i], stored, needed=header[i] in needed) for i in others}
        by_type = [] if wanted else columns_by_type(header, [i for i in others if _decimal(sheet, texts[i])])
    wanted = wanted or by_type
    probs = StoredArray.in_memory(_numbers(sheet, wanted)) if wanted else None
    return table_contents(header, probs, columns, by_type)


def _sheet(path: Path) -> _Sheet:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        names = next(csv.reader(stream), [])
    separator = _separator(names)
    if separator != ",":
        with path.open(newline="", encoding="utf-8-sig") as stream:
            names = next(csv.reader(stream, delimiter=separator), [])
    if not names:
        raise InputError(
            "header",
            "the first line must name the columns",
            "it is empty",
            "name them proba_0, proba_1, …",
            code="empty",
        )
    # spaces at the end of the name of a class belong to it, as do those in every cell of text
    header = [name.lstrip() if name.lstrip().startswith(PREFIX) else name.strip() for name in names]
    sheet = _Sheet(path, header, separator)
    _check_names([sheet.number(name) for name in header])
    return sheet


def _check_names(header: Sequence[str]) -> None:
    """Refuse a first line that holds values: decimal numbers, alone or twice; whole numbers may be names."""
    decimals = [name for name in header if _NUMBER.fullmatch(name) and "." in name]
    all_numbers = all(map(_NUMBER.fullmatch, header))
    if decimals and (all_numbers or len(set(decimals)) < len(decimals)):
        raise InputError(
            "header",
            "the first line must name the columns",
            f"it holds numbers, such as {_short(decimals[0])}",
            "write proba_0,proba_1,… (or the names of what the columns hold) above it",
            code="missing",
        )


def _separator(names: Sequence[str]) -> str:
    """The comma, unless names that it separates hold more names, or numbers, between other separators."""
    for separator in _SEPARATORS:
        parts = [part.strip() for name in names for part in name.split(separator)]
        own = sum(name.strip().startswith(PREFIX) for name in names)
        more = sum(part.startswith(PREFIX) for part in parts)
        cells = ",".join(names).split(separator)
        numbers = len(cells) > 1 and all(_NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells)
        if (len(names) == 1 and len(parts) > 1) or more > max(own, 1) or numbers:
            return separator
    return ","


def _wrong_encoding(path: Path, problem: UnicodeDecodeError) -> InputError:
    """Name the line that is not UTF-8, and the encoding that the bytes suggest."""
    found, guess = f"byte 0x{problem.object[problem.start]:02x} is not", "latin-1"
    with path.open("rb") as stream:
        start = stream.read(2)
        if start in _MARKS:
            found, guess = f"the file begins as {_MARKS[start]}", "utf-16"
        else:
            stream.seek(0)
            for number, line in enumerate(stream, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as at:
                    byte = line[at.start : at.start + 1]
                    found = f"line {number} holds byte 0x{byte.hex()}, which is {byte.decode('latin-1')!r} in Latin-1"
                    break
    return InputError(
        "encoding",
        "text must be in UTF-8",
        found,
        f"convert the file, for example pandas.read_csv(path, encoding={guess!r}).to_csv(path, index=False)",
        code="encoding",
        facts={"encoding": guess},
    )


def _lines(sheet: _Sheet) -> Iterator[str]:
    """Lines below the header that are not blank, for cells of numbers."""
    with sheet.path.open(newline="", encoding="utf-8-sig") as stream:
        next(csv.reader(stream, delimiter=sheet.separator))
        yield from (sheet.number(line) for line in stream if line.strip())


def _rows(sheet: _Sheet) -> Iterator[list[str]]:
    """Cells of every line below the header that is not blank; quoted text keeps its own blank lines.

    In a file of one column a blank line, or "", is an empty cell, except for the blank lines at the end of the file.
    """
    with sheet.path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, delimiter=sheet.separator)
        alone = len(next(reader)) == 1
        blank = 0  # blank lines since the last cell
        for cells in reader:
            if not alone:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield cells
            elif not cells:
                blank += 1
            else:
                yield from ([""] for _ in range(blank))
                blank = 0
                yield cells


def _numbers(sheet: _Sheet, columns: Sequence[int]) -> NDArray[np.float64]:
    lines = _lines(sheet)
    first = next(lines, None)
    if first is None:
        raise InputError(
            "rows", "at least one is needed below the header", "found none", "check the file", code="empty"
        )
    alone = len(columns) == len(
        sheet.header
    )  # else the cells of each row were counted when the other columns were read
    try:
        with quiet():
            values = np.loadtxt(
                chain([first], lines),
                delimiter=sheet.separator,
                quotechar='"',
                comments=None,
                usecols=None if alone else columns,
                ndmin=2,
                dtype=np.float64,
            )
    except UnicodeDecodeError:
        raise
    except ValueError as problem:
        raise _broken_cell(sheet, columns) from problem
    if not alone:
        return values
    if values.shape[1] != len(sheet.header):
        raise _broken_cell(sheet, columns)
    return values if list(columns) == list(range(len(sheet.header))) else values[:, columns]


def _texts(sheet: _Sheet, columns: Sequence[int]) -> dict[int, list[str]]:
    texts: dict[int, list[str]] = {i: [] for i in columns}
    for row, cells in enumerate(_rows(sheet)):
        if len(cells) != len(sheet.header):
            raise _broken_row(row, cells, sheet)
        for i in columns:
            texts[i].append(cells[i])
    return texts


def _broken_cell(sheet: _Sheet, columns: Sequence[int]) -> InputError:
    """Name the first cell that is not a number; rows count from 0 below the header."""
    header = sheet.header
    for row, cells in enumerate(_rows(sheet)):
        if len(cells) != len(header):
            return _broken_row(row, cells, sheet)
        for i in columns:
            if not _NUMBER.fullmatch(sheet.number(cells[i])):
                comma = re.fullmatch(r"\s*[+-]?\d*,\d+\s*", cells[i], re.ASCII)
                return InputError(
                    header[i],
                    "every cell must be a number",
                    f"row {row} holds {_short(cells[i])!r}",
                    "write decimals with a point, 0.5" if comma else "repair or drop that row",
                    code="type",
                    facts={"row": row, "value": cells[i]},
                )
    return InputError(
        header[columns[0]],
        "every cell must be a number",
        "some are not",
        "write the numbers as 0.25 or 2.5e-1",
        code="type",
    )


def _broken_row(row: int, cells: Sequence[str], sheet: _Sheet) -> InputError:
    commas = "quote text that contains commas, write decimals with a point, or repair that row"
    return InputError(
        "rows",
        f"each must have {len(sheet.header)} cells, as the header",
        f"row {row} has {len(cells)}",
        commas if sheet.separator == "," else f"quote text that contains {sheet.separator!r}, or repair that row",
        code="shape",
        facts={"row": row},
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _decimal(sheet: _Sheet, texts: Sequence[str]) -> bool:
    """Whether a column holds decimal numbers: all cells are numbers or empty, and some number is no whole one."""
    filled = [sheet.number(text) for text in texts if text.strip()]
    return all(map(_NUMBER.fullmatch, filled)) and not all(map(_WHOLE.fullmatch, filled))


def _column(texts: list[str], name: str, stored: int, *, needed: bool) -> StoredArray:
    """A column of text or whole numbers; where a value is `needed` in every row, an empty cell is refused when it is read."""
    values = _typed(texts, name, stored)
    row = next((row for row, text in enumerate(texts) if not text.strip()), None) if needed else None
    if row is None:
        return StoredArray.in_memory(values)
    return StoredArray(values.shape, str(values.dtype), partial(refuse_empty_cell, name, row))


def refuse_empty_cell(name: str, row: int) -> NDArray[Any]:
    """Raise the refusal of a cell without a value."""
    raise InputError(
        name,
        "must have a value in every row",
        f"row {row} is empty",
        "fill or drop such rows",
        code="missing",
        facts={"row": row},
    )


def _typed(texts: list[str], name: str, stored: int) -> NDArray[Any]:
    """Whole numbers where every text is the plain spelling of one ("007" and "1_0" are not), else text.

    Labels may be written with an exponent, 1.0e+00, as calzone does.
    """
    if all(map(_WHOLE.fullmatch, texts)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if (
        name in ("label", "labels")
        and any("e" in text.lower() for text in texts)
        and all(map(_NUMBER.fullmatch, texts))
    ):
        numbers = np.array([float(text) for text in texts])
        if (np.abs(numbers) < 2**53).all() and (numbers == np.round(numbers)).all():
            return numbers.astype(np.int64)
    return text_array(texts, name, stored)


# -- writing ----------------------------------------------------------------------------------------------------------


def _quoting(columns: dict[str, NDArray[Any]]) -> Literal[0, 2]:
    """Quote as little as possible; the writer alone would leave carriage returns in text without quotes."""
    texts = chain(columns, *(column.tolist() for column in columns.values() if column.dtype.kind == "U"))
    return csv.QUOTE_NONNUMERIC if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL
