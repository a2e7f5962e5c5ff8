"""Stored results of measurements, each a table with a golden run of what it measures: docs/results/NAME.json.

Scripts that measure store their tables here; `benchmarks.docs_numbers` writes them into the pages. A **golden run** is a tiny
run of the functions that the table measures, with a fixed seed, a second at most. Its numbers are kept with the table. A table
is stale when the golden run of the present code gives other numbers: a change that changes no output makes nothing stale, and
one that does names what changed. Times and memory have no golden run: they are those of their day and machine.
"""

import functools
import importlib
import json
import math
import numbers
import re
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / "src"))  # so that it also runs uninstalled

from uqassay.files import whole_file
from uqassay.statistics import Estimate

__all__ = ["NAME", "ROOT", "Source", "Stored", "Table", "golden_numbers", "store", "stored_results"]

SCHEMA = "uqassay.docs-table/2"
NAME = r"[\w-]+"
TOLERANCE = 1e-4  # relative; another BLAS moves the last digits, a change of the method more
DIGITS = 7  # that are kept
MEASURING = ("tests.", "benchmarks.")  # what the package returns to functions of these modules is recorded
Golden = Mapping[str, Sequence[float]]


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
    golden : str
        ``"module:function"``, called without arguments, or its attribute ``golden`` if it has one: the golden run.
        Empty for times and memory.
    cost : str
        How long the command takes.
    page, title : str
        Page of the archive (``"ranking"`` is docs/evidence-ranking.md) and heading there. Without a page, the table stands only
        where a page has its marks.
    """

    command: str
    golden: str
    cost: str = ""
    page: str = ""
    title: str = ""


@dataclass(frozen=True)
class Stored:
    """A stored table, the golden numbers of the code that made it, and the day.

    Attributes
    ----------
    golden : mapping
        As `golden_numbers` gave them; empty if the code that made the table did not record them.
    commit : str
        If not empty, the golden run was made afterwards, by the code of this commit, which stored the table.
    """

    name: str
    source: Source
    made: str
    table: Table = field(default_factory=Table)
    golden: Golden = field(default_factory=dict)
    commit: str = ""

    def why_stale(self) -> str:
        """What the present code does otherwise; empty if nothing."""
        if not self.source.golden:
            return ""
        if not self.golden:
            return "no golden run of the code that made it"
        try:
            now = golden_numbers(self.source)
        except Exception as error:  # whatever the measured code has become
            return f"its golden run fails: {type(error).__name__}: {error}"
        for name, before in self.golden.items():
            same = (np.allclose(before, found, rtol=TOLERANCE, atol=1e-9) for found in now.values())
            if not any(same):  # under whatever name: a new name changes no number
                shown = _shown(now[name]) if name in now else "not computed"
                return f"{name} was {_shown(before)}, is {shown}"
        return ""


def golden_numbers(source: Source) -> Golden:
    """Run a golden run: for each number its count, mean and root mean square.

    Recorded are the numbers that functions of uqassay return to the modules that measure, by function and field, and what the
    golden run itself returns.
    """
    module, _, name = source.golden.partition(":")
    function = getattr(importlib.import_module(module), name)
    found: dict[str, list[float]] = {}
    with _Recorded(found), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny samples warn
        returned = getattr(function, "golden", function)()
    for place, value in _numbers(returned, "golden run"):
        found.setdefault(place, []).append(value)
    kept: dict[str, list[float]] = {}
    for place, values in sorted(found.items()):
        x = np.array(values)
        x = np.where(np.isfinite(x), x, -1.0)  # undefined counts, too
        kept[place] = [float(f"{v:.{DIGITS}g}") for v in (x.size, x.mean(), math.sqrt((x**2).mean()))]
    return kept


def store(
    name: str, table: Table, source: Source, *, golden: Golden | None = None, commit: str = "", root: Path = ROOT
) -> None:
    """Store a table under a name.

    Parameters
    ----------
    name : str
    table : Table
    source : Source
    golden : mapping
        Numbers of the golden run before the measuring; by default it is run now. An empty one means that they are not known.
    commit : str
        That computed the golden numbers, if it was not the present code.
    root : path
        Of the repository.

    Raises
    ------
    ValueError
        A name of other characters, or rows without one cell for each column.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(f"a name has letters, digits and hyphens; got {name!r}")
    table.markdown()  # refuses rows of other lengths
    if golden is None:
        golden = golden_numbers(source) if source.golden else {}
    content = {"schema": SCHEMA, "name": name, **asdict(source), "made": time.strftime("%Y-%m-%d", time.gmtime())}
    write_stored(content | {"commit": commit, "numbers": dict(golden)} | _cells(table), root)


def write_stored(content: Mapping[str, object], root: Path = ROOT) -> None:
    """Write the file of a stored table."""
    path = root / "docs" / "results" / f"{content['name']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def stored_results(root: Path = ROOT) -> list[Stored]:
    """All stored tables, by name."""
    return [_read(path) for path in sorted((root / "docs" / "results").glob("*.json"))]


# -- helpers -----------------------------------------------------------------------------------------------------------


class _Recorded:
    """While it is entered, functions of uqassay that modules of `MEASURING` hold by name record what they return."""

    def __init__(self, found: dict[str, list[float]]) -> None:
        self.found = found
        self.held: list[tuple[types.ModuleType, str, Callable[..., object]]] = []
        self.inside = False

    def __enter__(self) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith(MEASURING):
                for own, value in list(vars(module).items()):
                    if hasattr(value, "cache_clear"):  # what an earlier run has kept would not be recorded
                        value.cache_clear()
                    if isinstance(value, types.FunctionType) and value.__module__.startswith("uqassay."):
                        self.held.append((module, own, value))
                        setattr(module, own, self._recording(value))

    def __exit__(self, *_: object) -> None:
        for module, own, value in self.held:
            setattr(module, own, value)

    def _recording(self, function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def recording(*arguments: object, **options: object) -> object:
            if self.inside:  # called by the package through a function that a test handed to it
                return function(*arguments, **options)
            self.inside = True
            try:
                returned = function(*arguments, **options)
            finally:
                self.inside = False
            for place, value in _numbers(returned, function.__name__):
                self.found.setdefault(place, []).append(value)
            return returned

        return recording


def _numbers(value: object, place: str) -> Iterator[tuple[str, float]]:
    """The numbers in what a function returned, each with its place; texts count where they are numbers."""
    if isinstance(value, Estimate):
        yield from (
            (f"{place}.{end}", float(x)) for end, x in (("value", value), ("low", value.low), ("high", value.high))
        )
    elif isinstance(value, bool | numbers.Real | np.bool_):
        yield place, float(value)
    elif isinstance(value, Table):
        cells = [cell for row in value.rows for cell in row]
        yield from ((place, float(x)) for cell in cells for x in re.findall(r"\d*\.?\d+", cell))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        yield from ((place, float(x)) for x in value.ravel()[:1000])
    elif is_dataclass(value) and not isinstance(value, type):
        held = {own.name: getattr(value, own.name) for own in fields(value)}
        if not any(map(callable, held.values())):  # a tool is no result
            for own, one in held.items():
                yield from _numbers(one, f"{place}.{own}")
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _numbers(one, place)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(one, place)


def _shown(numbers_kept: Sequence[float]) -> str:
    count, mean, _ = numbers_kept
    return f"{mean:.4g} on average of {count:g}"


def _cells(table: Table) -> dict[str, object]:
    return {"columns": list(table.columns), "rows": [list(row) for row in table.rows], "text": list(table.text)}


def _read(path: Path) -> Stored:
    held = json.loads(path.read_text(encoding="utf-8"))
    if held["schema"] != SCHEMA or held["name"] != path.stem:
        raise ValueError(f"{path} is not a stored table of this name")
    source = Source(**{own.name: held[own.name] for own in fields(Source)})
    table = Table(held["columns"], held["rows"], held["text"])
    return Stored(path.stem, source, held["made"], table, held["numbers"], held["commit"])
