"""Parquet tables. Columns as in `file_tables`, with their types; only the columns asked for are read."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.predictions.arrays_on_disk import Arrays, Contents, StoredArray, check_expansion, mapped, to_unpack
from uqassay.predictions.file_tables import probability_columns, table_columns, table_contents

__all__ = ["read_parquet", "write_parquet"]

PART_BYTES = 16 * 2**20  # of rows that are unpacked together, in float64


def read_parquet(path: Path) -> Contents:
    """Names, types and the number of rows come from the metadata; the columns are read when they are asked for."""
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    header = [name for name in schema.names if not name.startswith("__")]  # without the index that pandas adds
    types = {name: _numpy_name(schema.field(name).type) for name in header if schema.names.count(name) == 1}
    wanted = [header[i] for i in probability_columns(header)]
    columns = {
        name: StoredArray((n_rows,), types[name], partial(_column, path, name))
        for name in header
        if name not in set(wanted)
    }
    probs = None
    if wanted:
        shown = ", ".join(sorted({types[name] for name in wanted}))
        probs = StoredArray((n_rows, len(wanted)), shown, partial(_numbers, path, wanted))
    return table_contents(header, probs, columns)


def write_parquet(path: Path, arrays: Arrays) -> None:
    """Write one column per class in the type of the probabilities."""
    arrow = optional_package("pyarrow", "files", "writing .parquet")
    parquet = optional_package("pyarrow.parquet", "files", "writing .parquet")
    columns = table_columns(arrays, ".parquet")
    parquet.write_table(arrow.table({name: arrow.array(values) for name, values in columns.items()}), path)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _numpy_name(arrow_type: Any) -> str:
    try:
        name = str(np.dtype(arrow_type.to_pandas_dtype()))
    except (NotImplementedError, TypeError):  # no NumPy counterpart, such as categories or times of a zone
        name = "object"
    return str(arrow_type) if name == "object" else name


def _numbers(path: Path, names: Sequence[str]) -> NDArray[Any]:
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    with parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        for name in names:
            kind = schema.field(name).type
            if _numpy_name(kind)[:3] not in ("flo", "int", "uin", "hal"):
                raise InputError(name, "must hold numbers", f"got {kind}", "convert that column", code="type")
        check_expansion("probs", (n_rows, len(names)), 8, path.stat().st_size)
        if to_unpack((n_rows, len(names)), float):
            types = [np.dtype(schema.field(name).type.to_pandas_dtype()) for name in names]
            kind = np.result_type(*types) if all(t.kind == "f" for t in types) else np.dtype(float)
            size = max(1, PART_BYTES // (8 * len(names)))
            parts = (_side_by_side(part, names, kind) for part in file.iter_batches(size, columns=list(names)))
            return mapped("probs", (n_rows, len(names)), kind, parts)
        table = file.read(columns=list(names))
    return np.stack([table.column(name).to_numpy() for name in names], axis=1)


def _side_by_side(part: Any, names: Sequence[str], kind: np.dtype[Any]) -> NDArray[Any]:
    """The columns of some rows, ``(n, K)``; missing values become nan, which predictions refuse."""
    columns = [part.column(name).to_numpy(zero_copy_only=False) for name in names]
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=kind)


def _column(path: Path, name: str) -> NDArray[Any]:
    """One column; text comes as a dictionary of its distinct values, whose size is checked before it is laid out."""
    parquet = optional_package("pyarrow.parquet", "files", "reading .parquet")
    arrow = optional_package("pyarrow", "files", "reading .parquet")
    stored = path.stat().st_size
    kind = parquet.read_schema(path).field(name).type
    is_text = arrow.types.is_string(kind) or arrow.types.is_large_string(kind)
    with parquet.ParquetFile(path, read_dictionary=[name] if is_text else None) as file:
        check_expansion(name, (file.metadata.num_rows,), 8, stored)
        column = file.read(columns=[name]).column(name)
    if column.null_count:
        raise InputError(
            name,
            "must have a value in every row",
            f"{column.null_count} are missing",
            "fill or drop them",
            code="missing",
        )
    if arrow.types.is_dictionary(column.type):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        distinct = column.dictionary.to_pylist()
        if all(isinstance(text, str) for text in distinct):
            longest = max(map(len, distinct), default=0)
            check_expansion(name, (len(column), max(longest, 1)), 4, stored)
            return np.array(distinct, dtype=str)[column.indices.to_numpy()]
    values = column.to_numpy(zero_copy_only=False) if hasattr(column, "indices") else column.to_numpy()
    if values.dtype.kind != "O":
        return values
    return _from_objects(column.to_pylist(), name, kind)


def _from_objects(values: list[Any], name: str, kind: Any) -> NDArray[Any]:
    """Lists, decimals and other nested types: numbers or text as arrays, the rest is refused."""
    try:
        array = np.array(values)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "biufUS":
        raise InputError(name, "must hold numbers or text", f"got {kind}", "convert that column", code="type")
    return array
