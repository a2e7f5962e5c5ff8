"""Tables and records on disk: .csv and .tsv, .parquet, .jsonl and .json; the list of all formats.

Readers return columns and say nothing of what they are for; `keys.roles` does.

**Text tables.** A header line, then one row per instance. Where the header of a .csv file has semicolons, tabs or vertical bars
in place of commas, these separate the cells, and decimals may have a comma (0,5), as spreadsheets write them in many countries.

**JSON Lines.** One object a line, one line per instance: ``{"probs": [0.7, 0.3], "label": 0, "id": "a17", "group": "site 2"}``
states a `Point`; a list of such lists under `probs` states `Members`, with `weights` where they have any. `logits` go through a
softmax; `lower` and `upper` state `Intervals`. An object in place of a list names the classes,
``{"probs": {"cat": 0.7, "dog": 0.3}, "label": "cat"}``. Rows may have different numbers of options, as questions of multiple
choice do: options that a row lacks get the probability 0. A .json file is a list of such objects, or one object of lists.
Records of other programs are described in `other_programs`.
"""

import csv
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import precision_of, row_chunks, still_whole, tolerance_of
from uqassay.checks import different, fail
from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import (
    PART_BYTES,
    Arrays,
    Contents,
    StoredArray,
    check_expansion,
    check_no_nan,
    mapped,
    read_npy,
    read_npz,
    read_pt,
    read_safetensors,
    read_zarr,
    text_array,
    to_unpack,
    write_npy,
    write_npz,
    write_pt,
    write_safetensors,
    write_zarr,
)
from uqassay.predictions.keys import ALIASES, KEY, PREFIX, ROLES
from uqassay.predictions.other_programs import RecordLayout, record_layout, weka_header
from uqassay.text import counted, listed

__all__ = [
    "FORMATS",
    "RECORDS",
    "TABLES",
    "Format",
    "check_sums",
    "is_record",
    "read_objects",
    "refuse_empty_cell",
]

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
WHOLE = r"(0|-?[1-9]\d{0,17})"  # the plain spelling of a number that int64 holds; "007" and "1_0" are none
SEPARATORS = ";\t|"  # in place of commas
MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
LONGEST_CELL = csv.field_size_limit()
I64_MAX = np.iinfo(np.int64).max
BLOCK_BYTES = 64 * 2**20  # of a text table that are parsed together; no row may be longer
STATEMENTS = {"probs": 0.0, "logits": -np.inf}  # what an option that a row lacks gets
ONE_VALUE = "write one object to a line, or name a file that is one list of objects .json"
OBJECT_BYTES = 30  # of Python's memory for a byte of JSON, in the worst case


# -- text tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sheet:
    """A file, the names in its header, the bytes of the header, and the character between the cells."""

    path: Path
    header: list[str]
    header_bytes: int
    separator: str

    def number(self, text: str) -> str:
        """The text of a cell with a decimal point in place of a decimal comma."""
        return text if self.separator == "," else text.replace(",", ".")


def read_csv(path: Path) -> Contents:
    """Columns of text, of whole numbers where every cell is plainly one, and of decimal numbers."""
    return _read_text(path, "")


def read_tsv(path: Path) -> Contents:
    """The same, with tabs between the cells."""
    return _read_text(path, "\t")


def write_csv(path: Path, arrays: Arrays, *, separator: str = ",") -> None:
    """Write every number with the digits that give it back exactly; all are read back as float64."""
    columns = _table_columns(arrays, ".csv" if separator == "," else ".tsv")
    stated = np.asarray(arrays["probs" if "probs" in arrays else "correct"])
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=separator, lineterminator="\n", quoting=_quoting(columns))
        writer.writerow(columns)
        for rows in row_chunks(len(stated), 8 * len(columns), chunk_bytes=2**20):
            still_whole(stated)
            writer.writerows(zip(*(column[rows].tolist() for column in columns.values()), strict=True))


def _read_text(path: Path, separator: str) -> Contents:
    try:
        sheet = _sheet(path, separator)
        columns = {column.name: column for column in _columns(sheet)}
    except UnicodeDecodeError as problem:
        raise _wrong_encoding(path) from problem
    except csv.Error as problem:
        rule = f"must be text without NUL of at most {LONGEST_CELL} characters"
        raise InputError("cells", rule, str(problem), "repair the file", code="type") from problem
    stored = {name: column.stored(index=i == 0 and _is_index(name)) for i, (name, column) in enumerate(columns.items())}
    return Contents(columns=stored, in_text=True, read_matrix=partial(_text_matrix, columns))


def _sheet(path: Path, separator: str) -> _Sheet:
    names, size = _first_row(path, separator or ",")
    separator = separator or _separator(names)
    names, size = _first_row(path, separator)
    if not names:
        fail("header", "the first line must name the columns", "it is empty", "name them proba_0, …", code="empty")
    # spaces at the end of the name of a class belong to it, as do those in every cell of text
    header = [name.lstrip() if name.lstrip().startswith(PREFIX) else name.strip() for name in names]
    sheet = _Sheet(path, weka_header(header), size, separator)
    _check_names([sheet.number(name) for name in sheet.header])
    _different(sheet.header)
    return sheet


def _first_row(path: Path, separator: str) -> tuple[list[str], int]:
    """The cells of the first row, and the bytes that it takes."""
    taken: list[str] = []

    def lines(stream: Iterable[str]) -> Iterator[str]:
        for line in stream:
            taken.append(line)
            yield line

    with path.open("rb") as start, path.open(newline="", encoding="utf-8-sig") as stream:
        mark = 3 if start.read(3) == b"\xef\xbb\xbf" else 0
        names = next(csv.reader(lines(stream), delimiter=separator), [])
    return names, mark + len("".join(taken).encode())


def _different(header: list[str]) -> list[str]:
    different(header, "header", "names of columns must be unique", "rename the columns")
    return header


def _is_index(name: str) -> bool:
    """The first column of a file that pandas wrote with its index: without a name, or as pandas names it on reading."""
    return name in ("", "Unnamed: 0")


def _check_names(header: Sequence[str]) -> None:
    """Refuse a first line that holds values: decimal numbers, alone or twice; whole numbers may be names."""
    decimals = [name for name in header if NUMBER.fullmatch(name) and "." in name]
    if decimals and (all(map(NUMBER.fullmatch, header)) or len(set(decimals)) < len(decimals)):
        remedy = "write proba_0,proba_1,… (or the names of what the columns hold) above it"
        got = f"it holds numbers, such as {_short(decimals[0])}"
        fail("header", "the first line must name the columns", got, remedy, code="missing")


def _separator(names: Sequence[str]) -> str:
    """The comma, unless names that it separates hold more names, or numbers, between other separators."""
    for separator in SEPARATORS:
        parts = [part.strip() for name in names for part in name.split(separator)]
        own = sum(name.strip().startswith(PREFIX) for name in names)
        more = sum(part.startswith(PREFIX) for part in parts)
        cells = ",".join(names).split(separator)
        numbers = len(cells) > 1 and all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells)
        if (len(names) == 1 and len(parts) > 1) or more > max(own, 1) or numbers:
            return separator
    return ","


def _columns(sheet: _Sheet) -> "list[_TextColumn]":
    """Every column as Arrow text, which takes little more memory than the file."""
    arrow = optional_package("pyarrow", "files", f"reading {sheet.path.suffix}")
    names = [str(i) for i in range(len(sheet.header))]
    if len(names) == 1:  # a blank line is an empty cell or the end of the file, which Arrow does not tell apart
        cells = [arrow.chunked_array([arrow.array([row[0] for row in _rows(sheet)], arrow.string())])]
    elif next(_rows(sheet), None) is None:
        cells = [arrow.chunked_array([arrow.array([], arrow.string())])] * len(names)
    else:
        table = _parsed(sheet, names)
        cells = [table.column(name) for name in names]
    return [_TextColumn(name, column, sheet) for name, column in zip(sheet.header, cells, strict=True)]


def _parsed(sheet: _Sheet, names: list[str]) -> Any:
    arrow = optional_package("pyarrow", "files", "reading .csv")
    reader = optional_package("pyarrow.csv", "files", "reading .csv")
    blocks = max(2**20, min(sheet.path.stat().st_size + 1, BLOCK_BYTES))
    try:
        with sheet.path.open("rb") as stream:
            stream.seek(sheet.header_bytes)
            return reader.read_csv(
                stream,
                reader.ReadOptions(column_names=names, use_threads=False, block_size=blocks),
                reader.ParseOptions(
                    delimiter=sheet.separator,
                    newlines_in_values=True,
                    invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",  # a line of spaces
                ),
                reader.ConvertOptions(column_types=dict.fromkeys(names, arrow.string()), strings_can_be_null=False),
            )
    except arrow.ArrowInvalid:
        for row, cells in enumerate(_rows(sheet)):  # a UnicodeDecodeError here names the encoding
            if len(cells) != len(names):
                raise _broken_row(row, cells, sheet) from None
        raise


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
                if len(cells) > 1:
                    raise _broken_row(reader.line_num, cells, sheet)
                yield from ([""] for _ in range(blank))
                blank = 0
                yield cells


class _TextColumn:
    """One column of a text table, as text and as numbers."""

    def __init__(self, name: str, cells: Any, sheet: _Sheet) -> None:
        compute = optional_package("pyarrow.compute", "files", "reading .csv")
        longest = compute.max(compute.binary_length(cells)).as_py() or 0
        if longest > LONGEST_CELL:
            got = f"one in the column {_short(name)} has {longest:,} bytes, beyond the limit"
            fail("cells", f"must be text of at most {LONGEST_CELL} characters", got, "repair the file", code="type")
        spaced = compute.match_substring_regex(cells, r"^\s")
        if len(cells) and compute.all(compute.or_(spaced, compute.equal(cells, ""))).as_py():
            cells = compute.utf8_ltrim_whitespace(cells)  # "a, b": the space belongs to the separator, as in the header
        self.name, self.cells, self.sheet, self.compute = name, cells, sheet, compute

    def stored(self, *, index: bool) -> StoredArray:
        """The column with its type: int64 where all cells are plain whole numbers, float64, or str."""
        text = StoredArray((len(self.cells),), "str", self.text, self.some_text, self.name, index)
        if self.is_whole:
            return StoredArray(text.shape, "int64", self.whole, name=self.name, index=index)
        if not self.is_decimal:
            return text
        if self.name in ("label", "labels") and self.exponents is not None:
            text = StoredArray.in_memory(self.exponents, self.name)
        return StoredArray(text.shape, "float64", self.filled_numbers, name=self.name, index=index, written=text)

    @property
    def trimmed(self) -> Any:
        """The cells for the parser of numbers: without spaces, with a decimal point."""
        cells = self.compute.utf8_trim_whitespace(self.cells)
        return cells if self.sheet.separator == "," else self.compute.replace_substring(cells, ",", ".")

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The cells as numbers, nan where one is empty; None if one is something else."""
        arrow = optional_package("pyarrow", "files", "reading .csv")
        if not all(NUMBER.fullmatch(cell) for cell in self.trimmed[:100].to_pylist() if cell):
            return None
        filled = self.compute.if_else(
            self.compute.equal(self.trimmed, ""), arrow.scalar(None, arrow.string()), self.trimmed
        )
        try:
            found: NDArray[np.float64] = self.compute.cast(filled, arrow.float64()).to_numpy()
        except arrow.ArrowInvalid:
            return None
        return found

    @cached_property
    def is_whole(self) -> bool:
        """True if every cell is the plain spelling of a whole number."""
        plain = re.compile(rf"\s*{WHOLE}\s*", re.ASCII)
        if not all(map(plain.fullmatch, self.cells[:100].to_pylist())):
            return False
        matches = self.compute.match_substring_regex(self.cells, rf"^\s*{WHOLE}\s*$")
        return self.compute.all(matches).as_py() is not False

    @cached_property
    def is_decimal(self) -> bool:
        """True if all cells are numbers or empty, and some number has a point or an exponent; "007" is text."""
        if self.numbers is None:
            return False
        whole = self.compute.match_substring_regex(self.trimmed, r"^([+-]?\d+|)$")
        return self.compute.all(whole).as_py() is False

    @cached_property
    def exponents(self) -> NDArray[np.int64] | None:
        """Whole numbers of which some are written with an exponent, 1.0e+00, as calzone does."""
        values = self.numbers
        if (
            values is None
            or not self.compute.any(self.compute.match_substring(self.cells, "e", ignore_case=True)).as_py()
        ):
            return None
        whole = (np.abs(values) < 2**53) & (values == np.round(values))  # False for nan
        return values.astype(np.int64) if whole.all() else None

    def text(self) -> NDArray[np.str_]:
        """The cells as they are written."""
        return text_array(self.cells.to_pylist(), self.name, self.sheet.path.stat().st_size)

    def some_text(self, start: int, stop: int) -> list[str]:
        """Some of the cells."""
        found: list[str] = self.cells.slice(start, stop - start).to_pylist()
        return found

    def whole(self) -> NDArray[np.int64]:
        """The cells as whole numbers."""
        cells = self.compute.utf8_trim_whitespace(self.cells)
        return np.asarray(self.compute.cast(cells, "int64").to_numpy())

    def filled_numbers(self) -> NDArray[np.float64]:
        """The cells as numbers; an empty one is refused."""
        empty = self.compute.index(self.trimmed, "").as_py()
        if empty >= 0:
            refuse_empty_cell(self.name, empty)
        assert self.numbers is not None
        return self.numbers

    def probabilities(self) -> NDArray[np.float64]:
        """The cells as numbers; an empty one, nan and other text are refused with their row."""
        values = self.numbers
        return self.refuse_first() if values is None or np.isnan(values).any() else values

    def refuse_first(self) -> NoReturn:
        """Refuse the first cell that holds no number; rows count from 0 below the header."""
        for row, cell in enumerate(chain.from_iterable(chunk.to_pylist() for chunk in self.cells.chunks)):
            plain = self.sheet.number(cell)
            facts = {"row": row, "value": cell}
            if not NUMBER.fullmatch(plain):
                comma = re.fullmatch(r"\s*[+-]?\d*,\d+\s*", cell, re.ASCII)
                remedy = "write decimals with a point, 0.5" if comma else "repair or drop that row"
                got = f"row {row} holds {_short(cell)!r}"
                fail(self.name, "every cell must be a number", got, remedy, code="type", facts=facts)
            if plain.strip().lower().endswith("nan"):
                rule, got = "must have a number in every row", f"row {row} holds {_short(cell)!r}"
                fail(self.name, rule, got, "repair or drop that row", code="finite", facts=facts)
        got = "some are not"
        fail(self.name, "every cell must be a number", got, "write the numbers as 0.25 or 2.5e-1", code="type")


def _text_matrix(columns: "Mapping[str, _TextColumn]", names: Sequence[str]) -> NDArray[np.float64]:
    n = len(columns[names[0]].cells)
    if not n:
        fail("rows", "at least one is needed below the header", "found none", "check the file", code="empty")
    out = np.empty((n, len(names)))
    for k, name in enumerate(names):
        out[:, k] = columns[name].probabilities()
    return out


def _wrong_encoding(path: Path) -> InputError:
    """Name the line that is not UTF-8, and the encoding that the bytes suggest."""
    found, guess = "some bytes are not", "latin-1"
    with path.open("rb") as stream:
        start = stream.read(2)
        if start in MARKS:
            found, guess = f"the file begins as {MARKS[start]}", "utf-16"
        else:
            stream.seek(0)
            for number, line in enumerate(stream, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as at:
                    byte = line[at.start : at.start + 1]
                    found = f"line {number} holds byte 0x{byte.hex()}, which is {byte.decode('latin-1')!r} in Latin-1"
                    break
    remedy = f"convert the file, for example pandas.read_csv(path, encoding={guess!r}).to_csv(path, index=False)"
    return InputError("encoding", "text must be in UTF-8", found, remedy, code="encoding", facts={"encoding": guess})


def _broken_row(row: int, cells: Sequence[str], sheet: _Sheet) -> InputError:
    commas = "quote text that contains commas, write decimals with a point, or repair that row"
    other = f"quote text that contains {sheet.separator!r}, or repair that row"
    rule, got = f"each must have {len(sheet.header)} cells, as the header", f"row {row} has {len(cells)}"
    remedy = commas if sheet.separator == "," else other
    return InputError("rows", rule, got, remedy, code="shape", facts={"row": row})


def refuse_empty_cell(name: str, row: int) -> NoReturn:
    """Raise the refusal of a cell without a value."""
    rule, remedy = "must have a value in every row", "fill or drop such rows"
    fail(name, rule, f"row {row} is empty", remedy, code="missing", facts={"row": row})


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _quoting(columns: dict[str, NDArray[Any]]) -> Literal[0, 2]:
    """Quote as little as possible; the writer alone would leave carriage returns in text without quotes."""
    texts = chain(columns, *(column.tolist() for column in columns.values() if column.dtype.kind == "U"))
    return csv.QUOTE_NONNUMERIC if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL


def _table_columns(arrays: Arrays, suffix: str) -> dict[str, NDArray[Any]]:
    """Columns of a point prediction, or of answers, by name."""
    if "correct" in arrays:
        return _of_answers(arrays)
    probs, remedy = arrays.get("probs"), "save it as .npz"
    if probs is None or probs.ndim != 2:
        held = listed(sorted(set(arrays) - {"labels", "class_names", "ids", "groups", "notes", "note_codes"}))
        got = f"this prediction has {held}" if probs is None else f"this one has {probs.shape[1]} members"
        fail("prediction", f"{suffix} holds one distribution per instance", got, remedy, code="format")
    labels = arrays.get("labels")
    if labels is not None and labels.ndim != 1:
        fail("labels", f"{suffix} holds one label per row", f"got shape {labels.shape}", remedy, code="format")
    names = arrays["class_names"].tolist() if "class_names" in arrays else [str(i) for i in range(probs.shape[1])]
    columns = {f"{PREFIX}{name}": probs[:, i] for i, name in enumerate(names)}
    return columns | {name: column for name, column in _beside(arrays).items() if name not in columns}


def _of_answers(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """What was right, the confidence, ids, groups and keys by the names of their columns."""
    return {key: arrays[key] for key in ("correct", "confidence") if key in arrays} | _beside(arrays)


def _beside(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Labels, ids, groups and keys by the names of their columns."""
    found = {column: arrays[role] for column, role in ROLES.items() if role in arrays}
    keys = arrays["key_names"].tolist() if "key_names" in arrays else []
    return {name: arrays[KEY(i)] for i, name in enumerate(keys)} | found


def check_sums(probs: NDArray[Any], suffix: str, read_back: Any = np.float64) -> None:
    """Refuse probabilities ``(…, K)`` that no longer pass as summing to 1 in the type in which a file gives them back."""
    tolerance = tolerance_of(np.empty(0, read_back))
    if tolerance_of(probs) <= tolerance:
        return
    for rows in row_chunks(len(probs), 8 * probs[:1].size):
        still_whole(probs)
        sums = probs[rows].sum(axis=-1, dtype=np.float64)
        off = np.abs(sums - 1.0) > tolerance
        if off.any():
            at = tuple(np.argwhere(off)[0])
            row = int(rows.start + at[0])
            rule = f"{suffix} is read back as {np.dtype(read_back)}, whose rows must sum to 1 within {tolerance:g}"
            got = f"row {row} of this {precision_of(probs)} prediction sums to {float(sums[at]):.6g}"
            fail("probs", rule, got, "save it as .npz, which keeps the type", code="sum", facts={"row": row})


# -- parquet ----------------------------------------------------------------------------------------------------------


def read_parquet(path: Path) -> Contents:
    """Names, types and the number of rows come from the metadata; the columns are read when they are asked for.

    The index that pandas writes beside the columns, or states as a range, is a column marked as the index.
    """
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    stated, ranges = _pandas_index(schema)
    columns = {}
    for name in _different(list(schema.names)):
        index = name in stated or re.fullmatch(r"__index_level_\d+__", name) is not None
        kind, read = _type_name(schema.field(name).type), partial(_parquet_column, path, name)
        some = partial(_parquet_rows, path, name) if kind == "str" else None
        columns[name] = StoredArray((n_rows,), kind, read, some, name, index)
    for name, steps in ranges.items():
        if name not in columns and len(steps) == n_rows:
            values = np.arange(steps.start, steps.stop, steps.step)
            columns[name] = StoredArray((n_rows,), "int64", partial(np.array, values), name=name, index=True)
    return Contents(columns=columns, read_matrix=partial(_parquet_matrix, path))


def write_parquet(path: Path, arrays: Arrays) -> None:
    """Write one column per class in the type of the probabilities."""
    arrow = optional_package("pyarrow", "files", "writing .parquet")
    parquet = optional_package("pyarrow.parquet", "files", "writing .parquet")
    columns = _table_columns(arrays, ".parquet")
    parquet.write_table(arrow.table({name: arrow.array(values) for name, values in columns.items()}), path)


def _pandas_index(schema: Any) -> tuple[set[str], dict[str, range]]:
    """Columns that pandas' metadata names as the index, and ranges, of which pandas stores no column."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        ranges = [each for each in described if isinstance(each, dict) and each.get("kind") == "range"]
        named = {
            each.get("name") or "__index_level_0__": range(each["start"], each["stop"], each["step"]) for each in ranges
        }
        return {each for each in described if isinstance(each, str)}, named
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # no metadata, or of another writer
        return set(), {}


def _type_name(kind: Any) -> str:
    """NumPy's name of an Arrow type, "str" for text, Arrow's name for what NumPy does not have."""
    arrow = optional_package("pyarrow", "files", "reading .parquet")
    if _is_text(kind) or (arrow.types.is_dictionary(kind) and _is_text(kind.value_type)):
        return "str"
    try:
        name = str(np.dtype(kind.to_pandas_dtype()))
    except (NotImplementedError, TypeError):  # such as times of a zone
        name = "object"
    return str(kind) if name == "object" else name


def _is_text(kind: Any) -> bool:
    arrow = optional_package("pyarrow", "files", "reading .parquet")
    view = getattr(arrow.types, "is_string_view", lambda _: False)
    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or view(kind))


def _parquet_matrix(path: Path, names: Sequence[str]) -> NDArray[Any]:
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        for name in names:
            kind = schema.field(name).type
            if not _type_name(kind).startswith(("float", "int", "uint")):
                fail(name, "must hold numbers", f"got {kind}", "convert that column", code="type")
        check_expansion("probs", (n_rows, len(names)), 8, path.stat().st_size)
        types = [np.dtype(schema.field(name).type.to_pandas_dtype()) for name in names]
        kind = np.result_type(*types) if all(t.kind == "f" for t in types) else np.dtype(float)
        size = max(1, PART_BYTES // (8 * len(names))) if to_unpack((n_rows, len(names)), float) else max(1, n_rows)
        parts = _side_by_side(file.iter_batches(size, columns=list(names)), names, kind)
        if to_unpack((n_rows, len(names)), float):
            return mapped("probs", (n_rows, len(names)), kind, parts)
        held = list(parts)
        return np.concatenate(held) if held else np.empty((0, len(names)), kind)


def _side_by_side(batches: Iterable[Any], names: Sequence[str], kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """The columns of the rows of each batch, ``(n, K)``; a missing value and nan are refused."""
    first = 0
    for batch in batches:
        columns = [batch.column(name) for name in names]
        for name, column in zip(names, columns, strict=True):
            _refuse_null(column, name, first)
            check_no_nan(column.to_numpy(zero_copy_only=False), name, first)
        yield np.ascontiguousarray(np.stack([c.to_numpy(zero_copy_only=False) for c in columns], axis=1), dtype=kind)
        first += len(batch)


def _refuse_null(column: Any, name: str, first: int = 0) -> None:
    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        rule, got = "must have a value in every row", f"row {row} has none, and {column.null_count} are missing"
        fail(name, rule, got, "fill or drop them", code="missing", facts={"row": row})


def _parquet_column(path: Path, name: str) -> NDArray[Any]:
    """One column; text comes as a dictionary of its distinct values, whose size is checked before it is laid out."""
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    arrow = optional_package("pyarrow", "files", "reading .parquet")
    stored = path.stat().st_size
    kind = parquet.read_schema(path).field(name).type
    with parquet.ParquetFile(path, read_dictionary=[name] if _is_text(kind) else None) as file:
        check_expansion(name, (file.metadata.num_rows,), 8, stored)
        column = file.read(columns=[name]).column(name)
    if arrow.types.is_dictionary(column.type) or _is_text(column.type):
        if not arrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if hasattr(column, "num_chunks") else column
        _refuse_null(column, name)
        distinct = column.dictionary.to_pylist()
        if all(isinstance(text, str) for text in distinct):
            longest = max(map(len, distinct), default=0)
            check_expansion(name, (len(column), max(longest, 1)), 4, stored)
            return text_array(distinct, name, stored)[column.indices.to_numpy()]
        return _from_objects(column.to_pylist(), name, kind)
    _refuse_null(column, name)
    values = column.to_numpy()
    return values if values.dtype.kind != "O" else _from_objects(column.to_pylist(), name, kind)


def _parquet_rows(path: Path, name: str, start: int, stop: int) -> list[Any]:
    """Some values of a column of text."""
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        batches = file.iter_batches(stop, columns=[name])
        found: list[Any] = next(batches).column(name).to_pylist()
    return found[start:stop]


def _from_objects(values: list[Any], name: str, kind: Any) -> NDArray[Any]:
    """Lists, decimals and other nested types: numbers or text as arrays, the rest is refused."""
    try:
        found = np.array(values)
    except ValueError:
        found = np.array(None)
    if found.dtype.kind not in "biufUS":
        fail(name, "must hold numbers or text", f"got {kind}", "convert that column", code="type")
    return found


# -- JSON Lines and JSON ----------------------------------------------------------------------------------------------


@dataclass
class _Records:
    """The values of the records so far, side by side; `widths` says how many options each has."""

    unit: str  # what a record is: a "line", an "item" or a "row"
    options: tuple[str, ...] | None = None  # of layouts that need them
    layout: RecordLayout | None = None
    key: str = ""
    n_members: int | None = None  # None for a point
    values: "array[float]" = field(default_factory=lambda: array("d"))
    widths: "array[int]" = field(default_factory=lambda: array("q"))
    places: "array[int]" = field(default_factory=lambda: array("q"))  # of each value among the names
    names: dict[str, int] | None = None
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def broken(self, line: int, rule: str, got: str, code: str, parameter: str = "") -> InputError:
        """The error about one record."""
        where = f"{self.unit} {line}"
        got, remedy = f"{where}: {got}" if parameter else got, f"repair or drop that {self.unit}"
        return InputError(parameter or where, rule, got, remedy, code=code, facts={"line": line})


def read_json_lines(path: Path, options: Sequence[str] | None = None) -> Contents:
    """Line by line; memory is that of the arrays alone. Numbers become float64.

    `options`: names of the classes, for layouts that do not list them all.
    """
    return _read_records("line", partial(_lines, path), options, path.stat().st_size)


def read_json(path: Path, options: Sequence[str] | None = None) -> Contents:
    """A list of objects, or one object of lists of one length; the whole file is held as Python objects meanwhile."""
    check_expansion("file", (path.stat().st_size,), OBJECT_BYTES, path.stat().st_size)
    items = _items(path)
    return _read_records("item", lambda: iter(items), options, path.stat().st_size)


def read_objects(records: Sequence[Any], options: Sequence[str] | None = None) -> Contents:
    """The same of Python objects, one for each instance, such as a pipeline of Hugging Face returns; rows count from 0.

    Keys may be numbers, and numbers those of NumPy.
    """
    plain = [_plain(record) for record in records]
    size = len(json.dumps(plain, default=str))  # as large as a file of them
    return _read_records("row", lambda: enumerate(plain), options, size)


def is_record(value: Any) -> bool:
    """Whether an object states one instance: in a layout of another program, or as `read_json` reads it."""
    stated = [value[key] for key in STATEMENTS if key in value] if isinstance(value, Mapping) else []
    if stated:  # numbers of one instance; an array (n, K) in each would be a training run
        one = stated[0]
        flat = isinstance(one, (list, tuple)) and bool(one) and isinstance(one[0], (int, float, np.number))
        flat |= isinstance(one, Mapping) or (isinstance(one, np.ndarray) and one.ndim == 1)
        return len(stated) == 1 and flat
    return isinstance(value, (Mapping, list, tuple)) and record_layout(_plain(value)) is not None


def _plain(value: Any) -> Any:
    """Mappings, lists and numbers as those of JSON."""
    if isinstance(value, Mapping):
        return _once([(key if isinstance(key, str) else str(_plain(key)), _plain(each)) for key, each in value.items()])
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def write_json_lines(path: Path, arrays: Arrays) -> None:
    """One line per instance; every number has the digits that give it back exactly, and is read back as float64."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{text}\n" for text in _record_texts(arrays, ".jsonl"))


def write_json(path: Path, arrays: Arrays) -> None:
    """A list of such objects, one to a line."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for i, text in enumerate(_record_texts(arrays, ".json")):
            stream.write(f"{',' if i else '['}\n{text}")
        stream.write("\n]\n")


def _record_texts(arrays: Arrays, suffix: str) -> Iterator[str]:
    if "correct" in arrays:
        columns = {key: column.tolist() for key, column in _of_answers(arrays).items()}
        for i in range(len(arrays["correct"])):
            line = {key: column[i] for key, column in columns.items()}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False)
        return
    probs = arrays.get("probs")
    if probs is None:
        held = listed(sorted(set(arrays) - {"labels", "class_names", "ids", "groups"}))
        got = f"this prediction has {held}"
        fail("prediction", f"{suffix} holds a Point or Members", got, "save it as .npz", code="format")
    names = arrays["class_names"].tolist() if "class_names" in arrays else None
    weights = arrays.get("weights")
    if weights is not None:
        weights = np.broadcast_to(weights, probs.shape[:2])
    for rows in row_chunks(len(probs), 64 * probs[:1].size, chunk_bytes=2**20):
        still_whole(probs)
        part = np.asarray(probs[rows]).tolist()
        columns = {key: column[rows].tolist() for key, column in _beside(arrays).items()}
        for i, values in enumerate(part):
            line = {"probs": _named(values, names)}
            if weights is not None:
                line["weights"] = weights[rows][i].tolist()
            line |= {key: column[i] for key, column in columns.items()}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False)


def _named(values: list[Any], names: list[str] | None) -> Any:
    if names is None:
        return values
    if isinstance(values[0], list):
        return [_named(member, names) for member in values]
    return dict(zip(names, values, strict=True))


def _read_records(
    unit: str, records: Callable[[], Iterator[tuple[int, Any]]], options: Sequence[str] | None, stored: int
) -> Contents:
    first = next(records(), None)
    if first is None:
        fail(f"{unit}s", "at least one object is needed", "found none", "check the file", code="empty")
    table = _Records(unit, None if options is None else tuple(options), record_layout(first[1]))
    order = ""
    if table.layout is not None and table.layout.find_options is not None and table.options is None:
        table.options = table.layout.find_options(record for _, record in records())
        order = "keys"
    for number, record in records():
        _take(table, _in_own_form(table, record, number), number)
    return _contents(table, stored, order)


def _in_own_form(table: _Records, record: Any, line: int) -> dict[str, Any]:
    """A record as this module describes it."""
    if table.layout is None:
        if not isinstance(record, dict):
            problem = table.broken(line, "must be one JSON object", f"it is {_as_json(record)}", "unreadable")
            whole = table.unit == "line" and isinstance(record, list) and not table.lines
            raise problem.replace(remedy=ONE_VALUE) if whole else problem
        return record
    try:
        return table.layout.read(record, table.options or ())
    except InputError as problem:
        where = f"{table.unit} {line}: {problem.got}"
        raise problem.replace(got=where, facts=problem.facts | {"line": line}) from None


def _contents(table: _Records, stored: int, order: str) -> Contents:
    lines = np.array(table.lines, dtype=np.int64)
    arrays: dict[str, StoredArray] = {}
    columns: dict[str, StoredArray] = {}
    other: dict[str, StoredArray] = {}
    notes: tuple[Note, ...] = ()
    names = table.names
    if table.key:
        places, numbered = _class_places(names)
        values, notes = _padded(table, places, stored)
        arrays[table.key] = StoredArray.in_memory(values)
        if names is not None and not _digits(names):
            in_order = sorted(names, key=lambda name: int(places[names[name]]))
            arrays["class_names"] = StoredArray.in_memory(text_array(in_order, "class_names", stored))
            order = order or ("" if numbered else "keys")
    for key, values_of_key in table.columns.items():
        if len(values_of_key) != len(lines):
            got = f"{counted(len(values_of_key), table.unit)} of {len(lines)} have it"
            fail(key, f"must be on every {table.unit} or on none", got, "add it, or leave it out", code="missing")
        column = _column(table, values_of_key, key, lines, stored)
        if column.dtype == "object" or len(column.shape) == 1:
            columns[key] = column
        else:
            role = ALIASES.get(key, key)
            known = role in (*ROLES.values(), "weights", "lower", "upper") and role not in arrays
            (arrays if known else other)[role if known else key] = column
    if table.options is not None and "lower" in arrays:
        arrays |= _point_if_precise(arrays)
        arrays["class_names"] = StoredArray.in_memory(text_array(table.options, "class_names", stored))
    labels = next((columns[key] for key in ("label", "labels") if key in columns), None)
    if table.key and names is None and labels is not None:
        _check_options(table, labels.read(), lines)
    return Contents(arrays, other, notes=notes, lines=lines, counted=table.unit, columns=columns, class_order=order)


def _point_if_precise(arrays: dict[str, StoredArray]) -> dict[str, StoredArray]:
    """Intervals of no width are probabilities."""
    lower, upper = arrays["lower"].read(), arrays["upper"].read()
    if not np.array_equal(lower, upper):
        return {}
    del arrays["lower"], arrays["upper"]
    return {"probs": StoredArray.in_memory(lower)}


# -- records ----------------------------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Number of each line that is not blank, from 1, and the value on it."""
    broken = _Records("line").broken
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                yield number, _loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as problem:
                got = f"byte 0x{line[problem.start]:02x} is not"
                raise broken(number, "must be in UTF-8", got, "encoding").replace(
                    remedy="convert the file"
                ) from problem
            except (ValueError, RecursionError) as problem:
                error = broken(number, "must be one JSON object", _reason(problem), "unreadable")
                whole = number == 1 and line.decode("utf-8-sig").lstrip().startswith(("[", "{"))
                raise (error.replace(remedy=ONE_VALUE) if whole else error) from problem


def _items(path: Path) -> list[tuple[int, Any]]:
    """The records of a file that is one JSON value, each with its number from 1."""
    remedy = "write a list of objects, one for each instance"
    try:
        found = _loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        got = f"byte 0x{problem.object[problem.start]:02x} is not"
        raise InputError("encoding", "must be in UTF-8", got, "convert the file", code="encoding") from problem
    except (ValueError, RecursionError) as problem:
        lines = isinstance(problem, json.JSONDecodeError) and problem.msg == "Extra data"
        remedy = "name a file with one object on each line .jsonl" if lines else remedy
        raise InputError("file", "must be one JSON value", _reason(problem), remedy, code="unreadable") from problem
    if isinstance(found, dict):
        found = _from_lists(found)
    if not isinstance(found, list):
        fail("file", "must be a list of objects or an object of lists", f"it is {_as_json(found)}", remedy, code="type")
    return list(enumerate(found, 1))


def _from_lists(columns: dict[str, Any]) -> Any:
    """An object of lists of one length, or of objects of such lists, as a list of objects; any other object as it is."""
    parts = {key: _from_lists(value) if isinstance(value, dict) else value for key, value in columns.items()}
    if not parts or not all(isinstance(part, list) for part in parts.values()):
        return columns
    lengths = {key: len(part) for key, part in parts.items()}
    if len(set(lengths.values())) > 1:
        got = listed([f"{key} has {length}" for key, length in lengths.items()], most=6)
        fail("file", "lists must have one length", got, "repair the lists", code="ragged")
    return [dict(zip(parts, values, strict=True)) for values in zip(*parts.values(), strict=True)]


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ; JSON allows repetitions, of which one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _reason(problem: Exception) -> str:
    return problem.msg if isinstance(problem, json.JSONDecodeError) else str(problem) or "too deep"


def _take(table: _Records, row: dict[str, Any], line: int) -> None:
    """Append one record to the table."""
    stated = [key for key in STATEMENTS if key in row]
    if len(stated) > 1:
        raise table.broken(line, "must state the instance once", f"has {listed(stated)}", "conflict")
    key = stated[0] if stated else ""
    first = f"as the first {table.unit}"
    if table.lines and key != table.key:
        got = f"has {listed(list(row)[:8])}"
        raise table.broken(line, f"must have {table.key or 'no probs'}, {first}", got, "missing")
    if key:
        table.key = key
        _take_statement(table, row[key], line)
    n_rows = len(table.lines)
    for name, value in row.items():
        if name != key:
            column = table.columns.setdefault(name, [])
            if len(column) != n_rows:
                rule = f"must be on every {table.unit} or on none"
                raise table.broken(line, rule, f"earlier {table.unit}s lack it", "missing", name)
            column.append(value)
    table.lines.append(line)


def _take_statement(table: _Records, value: Any, line: int) -> None:
    members = value if isinstance(value, list) and value and isinstance(value[0], (list, dict)) else [value]
    n_members = len(members) if members is value else None
    if not table.lines:
        table.n_members = n_members
        table.names = {} if isinstance(members[0], dict) else None
    first = f"as the first {table.unit}"
    if n_members != table.n_members:
        wanted = "one distribution" if table.n_members is None else f"{table.n_members} members"
        found = "one distribution" if n_members is None else f"{n_members} members"
        raise table.broken(line, f"must have {wanted}, {first}", f"has {found}", "shape", table.key)
    options: list[int] | None = None
    width = 0
    for member in members:
        if isinstance(member, dict) != (table.names is not None) or not isinstance(member, (list, dict)):
            wanted = "a list of numbers" if table.names is None else "an object of numbers by class name"
            got = f"has {_as_json(member)}"
            raise table.broken(line, f"must be {wanted}, as on the first {table.unit}", got, "type", table.key)
        values = list(member.values()) if isinstance(member, dict) else member
        bad = next((v for v in values if isinstance(v, bool) or not isinstance(v, (int, float))), None)
        if bad is not None or not values or None in values:
            got = "it is empty" if not values else f"holds {_as_json(bad)}"
            raise table.broken(line, "must hold numbers", got, "type", table.key)
        names = table.names
        places = list(range(len(values))) if names is None else [names.setdefault(name, len(names)) for name in member]
        if options is not None and (len(values) != width or (names is not None and set(places) != set(options))):
            rule = f"members of one {table.unit} must have the same options"
            raise table.broken(line, rule, "they differ", "shape", table.key)
        options, width = places, len(values)
        try:
            table.values.extend(map(float, values))
        except OverflowError as problem:
            raise table.broken(line, "must hold numbers of 64 bits", "one is larger", "range", table.key) from problem
        table.places.extend(places)
    table.widths.append(width)


def _class_places(names: Mapping[str, int] | None) -> tuple[NDArray[np.int64], bool]:
    """The place of each name among the classes, and whether numbers in the names give it.

    Keys have no order. Names that are 0 … K−1, or one prefix and a number, are sorted by that number.
    """
    parts = [re.fullmatch(r"(.*?)(\d{1,18})", name, re.ASCII | re.DOTALL) for name in names or ()]
    prefixes = {part[1] for part in parts if part}
    numbers = [int(part[2]) for part in parts if part]
    if len(numbers) < len(parts) or len(prefixes) != 1 or len(set(numbers)) < len(numbers):
        return np.arange(len(parts)), False
    return np.argsort(np.argsort(numbers)), True


def _padded(table: _Records, places: NDArray[np.int64], stored: int) -> tuple[NDArray[np.float64], tuple[Note, ...]]:
    """Values ``(n, K)`` or ``(n, M, K)``; options that a row lacks get what `STATEMENTS` says."""
    widths = np.array(table.widths, dtype=np.int64)
    per_row = table.n_members or 1
    n, width = len(widths), len(table.names) if table.names is not None else int(widths.max())
    check_expansion(table.key, (n, per_row, width), 8, stored)
    out = np.full((n * per_row, width), STATEMENTS[table.key])
    repeats = np.repeat(widths, per_row)
    columns = np.array(table.places, dtype=np.int64)
    if table.names is not None:
        columns = places[columns]
    out[np.repeat(np.arange(n * per_row), repeats), columns] = np.frombuffer(table.values, dtype=np.float64)
    values = out if table.n_members is None else out.reshape(n, per_row, width)
    short = int((widths < width).sum())
    if not short:
        return values, ()
    text = f"{short} of {counted(n, 'row')} have fewer than {width} options; the others have probability 0 there"
    return values, (Note("padded-options", text, {"rows": short, "options": width}),)


def _check_options(table: _Records, labels: NDArray[Any], lines: NDArray[np.int64]) -> None:
    """Refuse a label that is an option which its own row lacks."""
    widths = np.array(table.widths, dtype=np.int64)
    if labels.dtype.kind not in "iu" or labels.shape != widths.shape or (widths == widths[0]).all():
        return
    beyond = np.flatnonzero(labels >= widths)
    if beyond.size:
        row = int(beyond[0])
        got = f"it is {labels[row]} and the options are 0 … {widths[row] - 1}"
        raise table.broken(int(lines[row]), f"must be an option of its own {table.unit}", got, "range", "label")


def _digits(names: Mapping[str, int]) -> bool:
    """Whether the names are 0 … K−1 in any order."""
    return set(names) == {str(k) for k in range(len(names))}


def _column(table: _Records, values: list[Any], key: str, lines: NDArray[np.int64], stored: int) -> StoredArray:
    """Numbers, text, or lists of numbers of one length."""
    kinds = {type(value) for value in values}
    if key.lower() == "confidence" and kinds <= {int, float, type(None)}:
        stated = np.array([np.nan if value is None else value for value in values])
        return StoredArray.in_memory(stated, key)
    if kinds == {str}:
        text = text_array(values, key, stored)
        return StoredArray(text.shape, "str", lambda: text, name=key)
    if kinds <= {int, float, bool} or kinds == {list}:
        try:
            found = np.array(values, np.uint64) if kinds == {int} and max(values) > I64_MAX else np.array(values)
        except (ValueError, OverflowError):
            found = np.array(None)
        if found.dtype.kind in "biuf" and (kinds == {list} or _exact(found, values)):
            return StoredArray.in_memory(found, key)
    if ALIASES.get(key, key) not in (*ROLES.values(), "weights"):
        return StoredArray((len(values),), "object", lambda: _refuse(table, values, key, lines), name=key)
    return _refuse(table, values, key, lines)


def _exact(found: NDArray[Any], values: list[Any]) -> bool:
    """Whether whole numbers were kept: NumPy makes floats of numbers that no type of 64 bits holds together."""
    pairs = zip(found.tolist(), values, strict=True)
    return found.dtype.kind != "f" or all(int(kept) == value for kept, value in pairs if type(value) is int)


def _refuse(table: _Records, values: list[Any], key: str, lines: NDArray[np.int64]) -> Any:
    first = type(values[0])
    odd = next((i for i, value in enumerate(values) if type(value) is not first or value is None), 0)
    large = next((i for i, value in enumerate(values) if type(value) is int and abs(value) > 2**53), None)
    if {type(value) for value in values} <= {int, float} and large is not None:
        rule = "must be whole numbers from -2^63 to below 2^63 or from 0 to below 2^64, or text"
        raise table.broken(int(lines[large]), rule, f"holds {values[large]}", "range", key)
    rule = f"must be of one kind on all {table.unit}s, numbers or text"
    raise table.broken(int(lines[odd]), rule, f"holds {_as_json(values[odd])}", "type", key)


def _as_json(value: Any) -> str:
    """A value as it is written in the file, for a message."""
    return _short(json.dumps(value, ensure_ascii=False))


# -- all formats ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """How one format is read and written."""

    read: Callable[..., Contents]
    write: Callable[[Path, Arrays], None]


FORMATS = {
    ".npz": Format(read_npz, write_npz),
    ".npy": Format(read_npy, write_npy),
    ".csv": Format(read_csv, write_csv),
    ".tsv": Format(read_tsv, partial(write_csv, separator="\t")),
    ".parquet": Format(read_parquet, write_parquet),
    ".jsonl": Format(read_json_lines, write_json_lines),
    ".json": Format(read_json, write_json),
    ".safetensors": Format(read_safetensors, write_safetensors),
    ".zarr": Format(read_zarr, write_zarr),
    ".pt": Format(read_pt, write_pt),
}
TABLES = (".csv", ".tsv", ".parquet")
RECORDS = (".jsonl", ".json")  # whose readers take options
