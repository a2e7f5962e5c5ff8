"""Stored results of measurements, each a table with the code that made it: docs/results/NAME.json.

Scripts that measure store their tables here; `benchmarks.docs_numbers` writes them into the pages. This file is a part of the
code of every script that uses it, so a change here makes their tables older than their code.
"""

import json
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / "src"))  # so that it also runs uninstalled

from uqassay._files import whole_file
from uqassay.bench.cell import code_version
from uqassay.errors import InputError

__all__ = ["NAME", "NOT_RECORDED", "ROOT", "Source", "Stored", "Table", "store", "stored_results"]

SCHEMA = "uqassay.docs-table/1"
NAME = r"[\w-]+"
NOT_RECORDED = "not recorded"  # code of tables that are older than this mechanism, or that several versions made


@dataclass(frozen=True)
class Table:
    """A table of text cells, and lines of Markdown beneath it; either may be missing."""

    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    text: Sequence[str] = ()

    def markdown(self) -> list[str]:
        """Lines of Markdown."""
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row needs one cell for each column")
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, *self.rows)] if self.columns else []
        lines[1:1] = ["|" + "---|" * len(self.columns)] if lines else []
        return [*lines, *([""] if lines and self.text else []), *self.text]


@dataclass(frozen=True)
class Source:
    """What makes a table.

    Attributes
    ----------
    command : str
        Run at the root of the repository; it stores the table again.
    function : str
        ``"module:function"`` that measures, as in `uqassay.bench.cell.code_version`.
    rests_on : tuple of str
        Further modules that the numbers depend on.
    cost : str
        How long the command takes.
    """

    command: str
    function: str
    rests_on: tuple[str, ...] = ()
    cost: str = ""

    def code(self) -> str:
        """Digest of the present code; empty if it is no longer there."""
        try:
            return code_version(self.function, tuple(self.rests_on))
        except InputError:
            return ""


@dataclass(frozen=True)
class Stored:
    """A stored table, the digest of the code that made it, and the day."""

    name: str
    source: Source
    code: str
    made: str
    table: Table = field(default_factory=Table)

    @property
    def is_older(self) -> bool:
        """Whether the code that it measures is no longer the code that made it."""
        return self.source.code() != self.code


def store(name: str, table: Table, source: Source, *, code: str = "", root: Path = ROOT) -> None:
    """Store a table under a name; `code` is the digest of the code that made it, by default the present one.

    Raises
    ------
    ValueError
        A name of other characters, or rows without one cell for each column.
    InputError
        No code to measure.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(f"a name has letters, digits and hyphens; got {name!r}")
    table.markdown()  # refuses rows of other lengths
    code = code or code_version(source.function, tuple(source.rests_on))
    content = {"schema": SCHEMA, "name": name, **asdict(source), "code": code, "made": _today()}
    content |= {"columns": list(table.columns), "rows": [list(row) for row in table.rows], "text": list(table.text)}
    path = root / "docs" / "results" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def stored_results(root: Path = ROOT) -> list[Stored]:
    """All stored tables, by name."""
    return [_read(path) for path in sorted((root / "docs" / "results").glob("*.json"))]


# -- helpers -----------------------------------------------------------------------------------------------------------


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _read(path: Path) -> Stored:
    held = json.loads(path.read_text(encoding="utf-8"))
    if held["schema"] != SCHEMA or held["name"] != path.stem:
        raise ValueError(f"{path} is not a stored table of this name")
    source = Source(held["command"], held["function"], tuple(held["rests_on"]), held["cost"])
    return Stored(path.stem, source, held["code"], held["made"], Table(held["columns"], held["rows"], held["text"]))
