"""The tables that `reproduce --table` prints, and the options of the protocol that make their numbers."""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uqassay.cli.reproduce_help import flag
from uqassay.cli.streams import is_terminal
from uqassay.errors import InputError
from uqassay.wording import listed

if TYPE_CHECKING:
    from uqassay.experiments.reproduction import Reproduction
    from uqassay.experiments.table_layout import Layout

__all__ = ["chosen_tables", "selected_by", "table_lines"]

ALL = "all"


def chosen_tables(name: str, tables: Sequence[str], format: str | None, *, as_json: bool) -> "dict[str, Layout]":
    """The layouts of the tables that were asked for, by name, checked before anything is computed.

    Parameters
    ----------
    name : str
        A protocol.
    tables : sequence of str
        Their numbers, or "all".
    format : str or None
    as_json : bool
        Whether --json was given.

    Raises
    ------
    InputError
        No such table, one named twice, or options that exclude each other.

    Examples
    --------
    >>> list(chosen_tables("credal-calibration", ["all"], None, as_json=False))
    ['table1', 'table2']
    """
    from uqassay.experiments.paper_layouts import LAYOUTS, layout_of
    from uqassay.experiments.table_formats import known_format

    if not tables:
        if format is not None:
            raise InputError("--format", "is of --table", f"got {format!r} without it", "add --table", code="conflict")
        return {}
    if as_json:
        raise InputError("--table", "excludes --json", "got both", "--format csv is for machines", code="conflict")
    if ALL in tables and len(tables) > 1:
        raise InputError(
            "--table", "all stands alone", f"got {listed(list(tables))}", "leave the others out", code="conflict"
        )
    try:
        known_format("text" if format is None else format)
        found: dict[str, Layout] = {}
        for table in LAYOUTS.get(name, {}) if list(tables) == [ALL] else tables:
            key = f"table{table.removeprefix('table')}"
            if key in found:
                raise InputError("table", "must be named once", f"got {table} twice", "remove one", code="duplicate")
            found[key] = layout_of(name, table)
    except InputError as problem:
        raise problem.replace(parameter=flag(problem.parameter)) from problem
    return found


def selected_by(tables: "Mapping[str, Layout]", options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the protocol that make the numbers of these tables.

    Parameters
    ----------
    tables : dict of str to Layout
    options : dict
        Those that were given.

    Raises
    ------
    InputError
        Another value was given, or two tables need different values.

    Examples
    --------
    >>> selected_by(chosen_tables("credal-calibration", ["1"], None, as_json=False), {})
    {'figure': 'table1'}
    """
    found: dict[str, Any] = {}
    for name, layout in tables.items():
        for option, value in layout.selects.items():
            given = found.get(option, options.get(option, value))
            if given != value:
                number = name.removeprefix("table")
                raise InputError(
                    "--table",
                    f"excludes {flag(option)}"
                    if option in options
                    else "must be one of tables that need separate runs",
                    f"got {flag(option)} {given} and --table {number}"
                    if option in options
                    else f"got {' and '.join(tables)}",
                    "leave one of them out",
                    code="conflict",
                )
            found[option] = value
    return found


def table_lines(result: "Reproduction", tables: Sequence[str], format: str) -> str:
    """The tables, each after an empty line, and in text the notes on them; in a terminal no line is too long.

    Parameters
    ----------
    result : Reproduction
    tables : sequence of str
    format : str
    """
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    texts = [result.table(table, format=format, width=width) for table in tables]
    about = [note for note in result.notes if _is_about(note, tables)]
    notes = [f"note: {note}" for note in about] if format == "text" else []
    return "\n\n".join([*texts, "\n".join(notes)]).rstrip("\n")


def _is_about(note: str, tables: Sequence[str]) -> bool:
    """Whether a note names one of the tables, or none at all."""
    named = set(re.findall(r"\btable\d+\b", note))
    return not named or not named.isdisjoint(tables)
