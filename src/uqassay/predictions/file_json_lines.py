"""JSON Lines: one object a line, one line per instance, for `Point` and `Members`.

``{"probs": [0.7, 0.3], "label": 0, "id": "a17", "group": "site 2"}`` states a `Point`; a list of such lists under `probs`
states `Members`, with `weights` where they have any. `logits` go through a softmax. An object in place of a list names the
classes,
``{"probs": {"cat": 0.7, "dog": 0.3}, "label": "cat"}``.

Rows may have different numbers of options, as questions of multiple choice do: options that a row lacks get the probability 0.
"""

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks, still_whole
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Arrays, Contents, StoredArray, check_expansion, text_array
from uqassay.wording import counted, listed

__all__ = ["read_json_lines", "write_json_lines"]

STATEMENTS = {"probs": 0.0, "logits": -np.inf}  # what an option that a row lacks gets
ROLES = {"label": "labels", "labels": "labels", "id": "ids", "ids": "ids", "group": "groups", "groups": "groups"}


@dataclass
class _Table:
    """The values of the lines so far, side by side; `widths` says how many options each row has."""

    key: str = ""
    n_members: int | None = None  # None for a point
    values: "array[float]" = field(default_factory=lambda: array("d"))
    widths: "array[int]" = field(default_factory=lambda: array("q"))
    options: "array[int]" = field(default_factory=lambda: array("q"))  # place of each value among the names
    names: dict[str, int] | None = None
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    columns: dict[str, list[Any]] = field(default_factory=dict)


def read_json_lines(path: Path) -> Contents:
    """Line by line; memory is that of the arrays alone. Numbers become float64."""
    table = _Table()
    for number, row in _objects(path):
        _take(table, row, number)
    if not table.lines:
        raise InputError("lines", "at least one object is needed", "found none", "check the file", code="empty")
    stored = path.stat().st_size
    lines = np.array(table.lines, dtype=np.int64)
    arrays: dict[str, StoredArray] = {}
    other: dict[str, StoredArray] = {}
    notes: tuple[Note, ...] = ()
    if table.key:
        values, notes = _padded(table, stored)
        arrays[table.key] = StoredArray.in_memory(values)
        if table.names is not None and not _digits(table.names):
            arrays["class_names"] = StoredArray.in_memory(text_array(list(table.names), "class_names", stored))
    for key, column in table.columns.items():
        if len(column) != len(lines):
            raise InputError(
                key,
                "must be on every line or on none",
                f"{counted(len(column), 'line')} of {len(lines)} have it",
                "add it, or leave it out",
                code="missing",
            )
        role = ROLES.get(key, key)
        known = role in (*ROLES.values(), "weights") and role not in arrays
        (arrays if known else other)[role if known else key] = _column(column, key, lines, stored)
    if table.key and table.names is None and "labels" in arrays:
        _check_options(table, arrays["labels"].read(), lines)
    if other and table.key:
        note = Note("columns-ignored", f"keys ignored: {listed(list(other), most=8)}", {"columns": tuple(other)})
        notes = (*notes, note)
    return Contents(arrays, other, notes=notes, lines=lines)


def write_json_lines(path: Path, arrays: Arrays) -> None:
    """One line per instance; every number has the digits that give it back exactly, and is read back as float64."""
    probs = arrays.get("probs")
    if probs is None:
        raise InputError(
            "prediction",
            ".jsonl holds a Point or Members",
            f"this prediction has {listed(sorted(set(arrays) - {'labels', 'class_names', 'ids', 'groups'}))}",
            "save it as .npz",
            code="format",
        )
    names = arrays["class_names"].tolist() if "class_names" in arrays else None
    weights = arrays.get("weights")
    if weights is not None:
        weights = np.broadcast_to(weights, probs.shape[:2])
    beside = {"label": "labels", "id": "ids", "group": "groups"}
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for rows in row_chunks(len(probs), 64 * probs[:1].size, chunk_bytes=2**20):
            still_whole(probs)
            part = np.asarray(probs[rows]).tolist()
            columns = {key: arrays[role][rows].tolist() for key, role in beside.items() if role in arrays}
            for i, values in enumerate(part):
                line: dict[str, Any] = {"probs": _named(values, names)}
                if weights is not None:
                    line["weights"] = weights[rows][i].tolist()
                line |= {key: column[i] for key, column in columns.items()}
                stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")


# -- lines ------------------------------------------------------------------------------------------------------------


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of each line that is not blank, from 1, and the object on it."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), object_pairs_hook=_once)
            except UnicodeDecodeError as problem:
                raise InputError(
                    f"line {number}", "must be in UTF-8", f"byte 0x{line[problem.start]:02x} is not", "convert the file",
                    code="encoding", facts={"line": number},
                ) from problem  # fmt: skip
            except (ValueError, RecursionError) as problem:
                reason = problem.msg if isinstance(problem, json.JSONDecodeError) else str(problem) or "too deep"
                raise _no_object(number, line, reason) from problem
            if not isinstance(row, dict):
                raise _no_object(number, line, f"it is {_as_json(row)}")
            yield number, row


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ; JSON allows repetitions, of which one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _no_object(number: int, line: bytes, got: str) -> InputError:
    """The refusal of a line that is no object; on the first line, that of a file that is one JSON value."""
    problem = _broken(number, "must be one JSON object", got, "unreadable")
    whole = number == 1 and line.decode("utf-8-sig").lstrip().startswith(("[", "{"))
    remedy = "write one object to a line, without brackets and commas around them (jq -c '.[]' does so)"
    return problem.replace(remedy=remedy) if whole else problem


def _broken(line: int, rule: str, got: str, code: str, parameter: str = "") -> InputError:
    where = f"line {line}"
    return InputError(
        parameter or where,
        rule,
        f"{where}: {got}" if parameter else got,
        "repair or drop that line",
        code=code,
        facts={"line": line},
    )


def _take(table: _Table, row: dict[str, Any], line: int) -> None:
    """Append one line to the table."""
    stated = [key for key in STATEMENTS if key in row]
    if len(stated) > 1:
        raise _broken(line, "must state the instance once", f"has {listed(stated)}", "conflict")
    key = stated[0] if stated else ""
    if table.lines and key != table.key:
        raise _broken(
            line, f"must have {table.key or 'no probs'}, as the first line", f"has {listed(list(row)[:8])}", "missing"
        )
    if key:
        table.key = key
        _take_statement(table, row[key], line)
    n_rows = len(table.lines)
    for name, value in row.items():
        if name != key:
            column = table.columns.setdefault(name, [])
            if len(column) != n_rows:
                raise _broken(line, "must be on every line or on none", "earlier lines lack it", "missing", name)
            column.append(value)
    table.lines.append(line)


def _take_statement(table: _Table, value: Any, line: int) -> None:
    members = value if isinstance(value, list) and value and isinstance(value[0], (list, dict)) else [value]
    n_members = len(members) if members is value else None
    if not table.lines:
        table.n_members = n_members
        table.names = {} if isinstance(members[0], dict) else None
    if n_members != table.n_members:
        wanted = "one distribution" if table.n_members is None else f"{table.n_members} members"
        found = "one distribution" if n_members is None else f"{n_members} members"
        raise _broken(line, f"must have {wanted}, as the first line", f"has {found}", "shape", table.key)
    options: list[int] | None = None
    width = 0
    for member in members:
        if isinstance(member, dict) != (table.names is not None) or not isinstance(member, (list, dict)):
            wanted = "a list of numbers" if table.names is None else "an object of numbers by class name"
            raise _broken(line, f"must be {wanted}, as on the first line", f"has {_as_json(member)}", "type", table.key)
        values = list(member.values()) if isinstance(member, dict) else member
        bad = next((v for v in values if isinstance(v, bool) or not isinstance(v, (int, float))), None)
        if bad is not None or not values or None in values:
            got = "it is empty" if not values else f"holds {_as_json(bad)}"
            raise _broken(line, "must hold numbers", got, "type", table.key)
        places = (
            [_place(table.names, name) for name in member] if isinstance(member, dict) else list(range(len(values)))
        )
        if options is not None and (len(values) != width or (table.names is not None and set(places) != set(options))):
            raise _broken(line, "members of one line must have the same options", "they differ", "shape", table.key)
        options, width = places, len(values)
        try:
            table.values.extend(map(float, values))
        except OverflowError as problem:
            raise _broken(line, "must hold numbers of 64 bits", "one is larger", "range", table.key) from problem
        table.options.extend(places)
    table.widths.append(width)


def _place(names: dict[str, int] | None, name: str) -> int:
    assert names is not None
    return names.setdefault(name, len(names))


# -- columns ----------------------------------------------------------------------------------------------------------


def _padded(table: _Table, stored: int) -> tuple[NDArray[np.float64], tuple[Note, ...]]:
    """Values ``(n, K)`` or ``(n, M, K)``; options that a row lacks get what `STATEMENTS` says."""
    widths = np.array(table.widths, dtype=np.int64)
    per_row = table.n_members or 1
    n, width = len(widths), len(table.names) if table.names is not None else int(widths.max())
    check_expansion(table.key, (n, per_row, width), 8, stored)
    out = np.full((n * per_row, width), STATEMENTS[table.key])
    repeats = np.repeat(widths, per_row)
    columns = np.array(table.options, dtype=np.int64)
    if table.names is not None and _digits(table.names):
        order = np.array([int(name) for name in table.names])
        columns = order[columns]
    out[np.repeat(np.arange(n * per_row), repeats), columns] = np.frombuffer(table.values, dtype=np.float64)
    values = out if table.n_members is None else out.reshape(n, per_row, width)
    short = int((widths < width).sum())
    if not short:
        return values, ()
    text = f"{short} of {counted(n, 'row')} have fewer than {width} options; the others have probability 0 there"
    return values, (Note("padded-options", text, {"rows": short, "options": width}),)


def _check_options(table: _Table, labels: NDArray[Any], lines: NDArray[np.int64]) -> None:
    """Refuse a label that is an option which its own row lacks."""
    widths = np.array(table.widths, dtype=np.int64)
    if labels.dtype.kind not in "iu" or labels.shape != widths.shape or (widths == widths[0]).all():
        return
    beyond = np.flatnonzero(labels >= widths)
    if beyond.size:
        row = int(beyond[0])
        got = f"it is {labels[row]} and the options are 0 … {widths[row] - 1}"
        raise _broken(int(lines[row]), "must be an option of its own line", got, "range", "label")


def _digits(names: Mapping[str, int]) -> bool:
    """Whether the names are 0 … K−1 in any order, which then is the order of the classes."""
    return set(names) == {str(k) for k in range(len(names))}


def _column(values: list[Any], key: str, lines: NDArray[np.int64], stored: int) -> StoredArray:
    """Numbers, text, or lists of numbers of one length."""
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return StoredArray.in_memory(text_array(values, key, stored))
    if kinds <= {int, float, bool} or kinds == {list}:
        try:
            array = np.array(values)
        except (ValueError, OverflowError):
            array = np.array(None)
        if array.dtype.kind in "biuf":
            return StoredArray.in_memory(array)
    if ROLES.get(key, key) not in (*ROLES.values(), "weights"):
        return StoredArray((len(values),), "object", lambda: _refuse(values, key, lines))
    return _refuse(values, key, lines)


def _refuse(values: list[Any], key: str, lines: NDArray[np.int64]) -> Any:
    first = type(values[0])
    odd = next((i for i, value in enumerate(values) if type(value) is not first or value is None), 0)
    raise _broken(
        int(lines[odd]),
        "must be of one kind on all lines, numbers or text",
        f"holds {_as_json(values[odd])}",
        "type",
        key,
    )


def _as_json(value: Any) -> str:
    """A value as it is written in the file, for a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _named(values: list[Any], names: list[str] | None) -> Any:
    if names is None:
        return values
    if isinstance(values[0], list):
        return [_named(member, names) for member in values]
    return dict(zip(names, values, strict=True))
