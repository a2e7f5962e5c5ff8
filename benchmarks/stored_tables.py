"""Stored results of measurements, each a table with the code that made it: docs/results/NAME.json.

Scripts that measure store their tables here; `benchmarks.docs_numbers` writes them into the pages. A result keeps a digest of
each module that the measuring function rests on, so a table that is older than its code names the modules that have changed.
How a table is written does not count: neither this file nor those of `benchmarks.measured`.
"""

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / "src"))  # so that it also runs uninstalled

from benchmarks.source_digests import code_modules, code_version
from uqassay.errors import InputError
from uqassay.files import whole_file

__all__ = ["NAME", "NOT_RECORDED", "ROOT", "Source", "Stored", "Table", "store", "stored_results"]

SCHEMA = "uqassay.docs-table/1"
NAME = r"[\w-]+"
NOT_RECORDED = "not recorded"  # code of tables that are older than this mechanism, or that several versions made
BENCH = ("cell", "runner", "store")
KEEPERS = (  # keep results and change none
    "benchmarks.keyed_lines",
    "benchmarks.stored_tables",
    "uqassay.files",
    *(f"uqassay.lab.bench.{name}" for name in BENCH),
)
WORDS = ("uqassay.errors", "uqassay.notes", "uqassay.text")  # hold sentences, which change no number
DIGITS = 12  # of the digest of a module that are kept


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
        ``"module:function"`` that measures, as in `benchmarks.source_digests.code_version`.
    rests_on : tuple of str
        Further modules that the numbers depend on.
    cost : str
        How long the command takes.
    quotes : bool
        Whether the table has sentences of the package, so that the modules with its words count.
    prints : bool
        Whether the command prints the numbers and stores nothing.
    """

    command: str
    function: str
    rests_on: tuple[str, ...] = ()
    cost: str = ""
    quotes: bool = False
    prints: bool = False

    def code(self) -> str:
        """Digest of the present code; empty if it is no longer there."""
        try:
            return code_version(self.function, tuple(self.rests_on))
        except InputError:
            return ""

    def modules(self) -> dict[str, str]:
        """Digest of each module of the present code; empty if it is no longer there."""
        try:
            found = code_modules(self.function, tuple(self.rests_on))
        except InputError:
            return {}
        return self.counted({name: digest[:DIGITS] for name, digest in sorted(found.items())})

    def counted(self, modules: Mapping[str, str]) -> dict[str, str]:
        """The modules that may change the table."""
        left_out = KEEPERS if self.quotes else KEEPERS + WORDS
        return {name: digest for name, digest in modules.items() if name not in left_out}


@dataclass(frozen=True)
class Stored:
    """A stored table, the code that made it, and the day.

    Attributes
    ----------
    code : str
        Digest of the code that made it.
    modules : mapping
        Digest of each module of that code; empty if they are not known.
    transcribed : str
        The version of the page from which the numbers were copied, if no code stored them.
    """

    name: str
    source: Source
    code: str
    made: str
    table: Table = field(default_factory=Table)
    modules: Mapping[str, str] = field(default_factory=dict)
    transcribed: str = ""

    @property
    def is_older(self) -> bool:
        """Whether the code that it measures may no longer be the code that made it."""
        if self.transcribed or not self.modules:
            return bool(self.transcribed) or self.source.code() != self.code
        return bool(self.changed)

    @property
    def changed(self) -> list[str]:
        """The modules that have changed, come or gone since; empty if those of then are not known."""
        then, now = self.source.counted(self.modules), self.source.modules()
        return sorted(name for name in then.keys() | now if then.get(name) != now.get(name) and then)


def store(name: str, table: Table, source: Source, *, code: str = "", transcribed: str = "", root: Path = ROOT) -> None:
    """Store a table under a name.

    Parameters
    ----------
    name : str
    table : Table
    source : Source
    code : str
        Digest of the code that made it, as `Source.code` gave it before the measuring; by default the present one.
    transcribed : str
        The version of the page from which the numbers are copied, if no code made them here.
    root : path
        Of the repository.

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
    present = source.code() if code or transcribed else code_version(source.function, tuple(source.rests_on))
    code = NOT_RECORDED if transcribed else code or present
    content = {"schema": SCHEMA, "name": name, **asdict(source), "code": code, "made": _today()}
    content |= {"transcribed": transcribed} if transcribed else {}
    content |= {"modules": source.modules()} if code == present else {}
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
    flags = {name: held.get(name, False) for name in ("quotes", "prints")}
    source = Source(held["command"], held["function"], tuple(held["rests_on"]), held["cost"], **flags)
    table = Table(held["columns"], held["rows"], held["text"])
    modules, transcribed = held.get("modules", {}), held.get("transcribed", "")
    return Stored(path.stem, source, held["code"], held["made"], table, modules, transcribed)
