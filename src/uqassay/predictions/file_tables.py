"""Point predictions as tables: csv and parquet, one row per instance.

Columns `proba_0`, `proba_1`, … or `proba_<name of the class>` hold the probabilities, in the order in which they
appear; `label` (a name of a class, or its index where the columns are `proba_0`, `proba_1`, …), `id` and `group` are
optional; other columns are ignored, and a note says so. (The tables of calzone,
`proba_0`, …, `subgroup_1`, …, `label`, are of this form.)
"""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks, tolerance_of
from uqassay.errors import InputError
from uqassay.predictions.file_formats import Arrays, Contents, StoredArray, optional_package
from uqassay.predictions.named_arrays import ALIASES

PREFIX = "proba_"
ROLES = {"label": "labels", "id": "ids", "group": "groups"}


# -- csv --------------------------------------------------------------------------------------------------------------


def read_csv(path: Path) -> Contents:
    """Comma-separated text with a header line; numbers become float64, ids and groups int64 where all are whole."""
    header = _csv_header(path)
    probability_columns = [i for i, name in enumerate(header) if name.startswith(PREFIX)]
    columns: dict[str, StoredArray] = {}
    others = [i for i in range(len(header)) if i not in probability_columns]
    if others:
        texts = _csv_texts(path, header, others)
        columns = {header[i]: StoredArray.in_memory(_typed(texts[i])) for i in others}
    probs = StoredArray.in_memory(_csv_numbers(path, header, probability_columns)) if probability_columns else None
    return table_contents(header, probs, columns)


def write_csv(path: Path, arrays: Arrays) -> None:
    """Every number with the digits that give it back exactly; read back as float64, whatever it was."""
    columns = table_columns(arrays, ".csv")
    probs = np.asarray(arrays["probs"])
    if probs.dtype in (np.float16, np.float32):
        off = np.abs(probs.sum(axis=1, dtype=np.float64) - 1.0) > tolerance_of(np.empty(0))
        if off.any():
            row = int(np.flatnonzero(off)[0])
            total = float(probs[row].sum(dtype=np.float64))
            raise InputError(
                f".csv is read back as float64, whose rows must sum to 1 within 1e-06; row {row} of this {probs.dtype} "
                f"prediction sums to {total:.6g}; save it as .parquet or .npz, which keep the type."
            )
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n", quoting=_quoting(columns))
        writer.writerow(columns)
        for rows in row_chunks(len(probs), 8 * len(columns), chunk_bytes=2**20):
            writer.writerows(zip(*(column[rows].tolist() for column in columns.values()), strict=True))


def _quoting(columns: dict[str, NDArray[Any]]) -> Literal[0, 2]:
    """Quote as little as possible; the writer alone would leave carriage returns in text without quotes."""
    texts = chain(columns, *(column.tolist() for column in columns.values() if column.dtype.kind == "U"))
    return csv.QUOTE_NONNUMERIC if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL


def _csv_header(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        header = next(csv.reader(stream), [])
    if not header:
        raise InputError(
            "header",
            "the first line must name the columns",
            "it is empty",
            "name them proba_0, proba_1, …",
            code="empty",
        )
    # spaces at the end of the name of a class belong to it, as do those in every cell of text
    return [name.lstrip() if name.lstrip().startswith(PREFIX) else name.strip() for name in header]


def _csv_lines(path: Path) -> Iterator[str]:
    """Lines below the header that are not blank, for cells of numbers."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        next(csv.reader(stream))
        yield from (line for line in stream if line.strip())


def _csv_rows(path: Path) -> Iterator[list[str]]:
    """Cells of every line below the header that is not blank; quoted text keeps its own blank lines."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream)
        next(reader)
        yield from (cells for cells in reader if len(cells) > 1 or (cells and cells[0].strip()))


def _csv_numbers(path: Path, header: Sequence[str], columns: Sequence[int]) -> NDArray[np.float64]:
    lines = _csv_lines(path)
    first = next(lines, None)
    if first is None:
        raise InputError(
            "rows", "at least one is needed below the header", "found none", "check the file", code="empty"
        )
    try:
        return np.loadtxt(
            chain([first], lines),
            delimiter=",",
            quotechar='"',
            comments=None,
            usecols=columns,
            ndmin=2,
            dtype=np.float64,
        )
    except ValueError as problem:
        raise InputError(_broken_cell(path, header, columns)) from problem


def _csv_texts(path: Path, header: Sequence[str], columns: Sequence[int]) -> dict[int, list[str]]:
    texts: dict[int, list[str]] = {i: [] for i in columns}
    for row, cells in enumerate(_csv_rows(path)):
        if len(cells) != len(header):
            raise InputError(_broken_row(row, cells, header))
        for i in columns:
            texts[i].append(cells[i])
    return texts


def _broken_cell(path: Path, header: Sequence[str], columns: Sequence[int]) -> str:
    """Where the first cell is that is not a number; rows count from 0 below the header."""
    for row, cells in enumerate(_csv_rows(path)):
        if len(cells) != len(header):
            return _broken_row(row, cells, header)
        for i in columns:
            try:
                float(cells[i])
            except ValueError:
                return (
                    f"{header[i]}: every cell must be a number; row {row} holds {cells[i]!r}; repair or drop that row."
                )
    return f"{header[columns[0]]}: every cell must be a number; some are not; write the numbers as 0.25 or 2.5e-1."


def _broken_row(row: int, cells: Sequence[str], header: Sequence[str]) -> str:
    return (
        f"row {row}: must have {len(header)} cells, as many as the header; it has {len(cells)}; "
        "quote text that contains commas, or repair that row."
    )


def _typed(texts: list[str]) -> NDArray[Any]:
    """Whole numbers where every text is the plain spelling of one ("007" is not), else text."""
    try:
        whole = [int(text) for text in texts]
    except ValueError:
        return np.array(texts, dtype=str)
    plain = all(str(number) == text.strip() and abs(number) < 2**63 for number, text in zip(whole, texts, strict=True))
    return np.array(whole, dtype=np.int64) if plain else np.array(texts, dtype=str)


# -- parquet ----------------------------------------------------------------------------------------------------------


def read_parquet(path: Path) -> Contents:
    """Columns with their types; only the columns asked for are read."""
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    header = [name for name in schema.names if not name.startswith("__")]  # without the index that pandas adds
    types = {name: _numpy_name(schema.field(name).type) for name in header}
    wanted = [name for name in header if name.startswith(PREFIX)]
    columns = {
        name: StoredArray((n_rows,), types[name], lambda name=name: _parquet_column(path, name))  # type: ignore[misc]
        for name in header
        if name not in wanted
    }
    probs = None
    if wanted:
        shown = ", ".join(sorted({types[name] for name in wanted}))
        probs = StoredArray((n_rows, len(wanted)), shown, lambda: _parquet_numbers(path, wanted))
    return table_contents(header, probs, columns)


def write_parquet(path: Path, arrays: Arrays) -> None:
    """One column per class in the type of the probabilities."""
    arrow = optional_package("pyarrow", "files", "writing .parquet")
    parquet = optional_package("pyarrow.parquet", "files", "writing .parquet")
    columns = table_columns(arrays, ".parquet")
    parquet.write_table(arrow.table({name: arrow.array(values) for name, values in columns.items()}), path)


def _numpy_name(arrow_type: Any) -> str:
    try:
        name = str(np.dtype(arrow_type.to_pandas_dtype()))
    except NotImplementedError:  # no NumPy counterpart, such as a dictionary of categories
        name = "object"
    return str(arrow_type) if name == "object" else name


def _parquet_numbers(path: Path, names: Sequence[str]) -> NDArray[Any]:
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    table = parquet.read_table(path, columns=list(names))
    columns = [table.column(name).to_numpy() for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "fiu":
            raise InputError(
                name, "must hold numbers", f"got {table.schema.field(name).type}", "convert that column", code="type"
            )
    return np.stack(columns, axis=1)


def _parquet_column(path: Path, name: str) -> NDArray[Any]:
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    column = parquet.read_table(path, columns=[name]).column(name)
    if column.null_count:
        raise InputError(
            name,
            "must have a value in every row",
            f"{column.null_count} are missing",
            "fill or drop them",
            code="undefined",
        )
    values = column.to_numpy()
    return np.array(column.to_pylist()) if values.dtype.kind == "O" else values


# -- shared by both ---------------------------------------------------------------------------------------------------


def table_contents(header: Sequence[str], probs: StoredArray | None, columns: dict[str, StoredArray]) -> Contents:
    """Give the columns their roles; class names come from the names of the columns."""
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(
            "header",
            "names must be unique",
            f"{repeated[0]!r} occurs more than once",
            "rename the columns",
            code="duplicate",
        )
    arrays: dict[str, StoredArray] = {}
    if probs is not None:
        arrays["probs"] = probs
        names = [name.removeprefix(PREFIX) for name in header if name.startswith(PREFIX)]
        if not _are_indices(names):
            arrays["class_names"] = StoredArray.in_memory(np.array(names))
    other = {}
    for name, column in columns.items():
        role = ROLES.get(name, ALIASES.get(name, name))
        if role in ROLES.values() and role not in arrays:
            arrays[role] = column
        else:
            other[name] = column
    if "class_names" in arrays and "labels" in arrays:  # the label 1 is the column proba_1, wherever it stands
        column = arrays["labels"]
        arrays["labels"] = StoredArray(column.shape, column.dtype, lambda: _names_of(column.read()))
    notes = (f"columns ignored: {', '.join(other)}",) if other and probs is not None else ()
    return Contents(arrays, other, notes)


def table_columns(arrays: Arrays, suffix: str) -> dict[str, NDArray[Any]]:
    """Columns of a point prediction by name; what a table cannot hold is refused, but notes are dropped."""
    probs = arrays.get("probs")
    if probs is None or probs.ndim != 2:
        raise InputError(f"{suffix} holds one point prediction and nothing else; save this prediction as .npz.")
    labels = arrays.get("labels")
    if labels is not None and labels.ndim != 1:
        raise InputError(f"{suffix} holds one label per row; got labels of shape {labels.shape}; save them as .npz.")
    names = arrays["class_names"].tolist() if "class_names" in arrays else [str(i) for i in range(probs.shape[1])]
    columns = {f"{PREFIX}{name}": probs[:, i] for i, name in enumerate(names)}
    columns |= {column: arrays[role] for column, role in ROLES.items() if role in arrays}
    if labels is not None and not _are_indices(names):
        columns["label"] = np.array(names)[labels.astype(np.int64)]
    return columns


def _are_indices(names: Sequence[str]) -> bool:
    return list(names) == [str(i) for i in range(len(names))]


def _names_of(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as text, whole numbers without a decimal point."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    return labels.astype(str)
