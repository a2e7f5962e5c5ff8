"""Measured tables by name, and what the functions that make them share.

A function is registered with the names of the tables that it returns, the page of the archive on which they stand, and its
golden run (`benchmarks.stored_tables`), by default one sample of each cell. Its one parameter is the number of samples, whose
default is that of the guide; the first lines of its docstring are the headings above the tables.
"""

import inspect
import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.stored_tables import ROOT, Source, Table, golden_numbers, store

__all__ = ["MEASURED", "Measurement", "joined", "measured", "numbers", "percents", "printed", "printed_rows"]

Maker = Callable[..., Table | tuple[Table, ...]]


@dataclass(frozen=True)
class Measurement:
    """A function that makes some tables.

    Attributes
    ----------
    names : tuple of str
        Of the tables, in the order in which `make` returns them.
    titles : tuple of str
        Their headings.
    make : callable
        Returns the table, or a tuple of them; takes the number of samples.
    source : Source
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    make: Maker
    source: Source

    def tables(self, size: int | None = None) -> dict[str, Table]:
        """Measure; the tables by name."""
        made = self.make() if size is None else self.make(size)
        return dict(zip(self.names, made if isinstance(made, tuple) else (made,), strict=True))

    def store(self, root: Path = ROOT) -> dict[str, Table]:
        """Measure at the size of the guide and store the tables, each with the golden run before and the time that it took."""
        golden = golden_numbers(self.source) if self.source.golden else {}
        start = time.process_time()
        made = self.tables()
        minutes = (time.process_time() - start) / 60
        size = inspect.signature(self.make).parameters["size"].default
        cost = f"size {size:,}: " + (f"{minutes:.1f} minutes of a core" if minutes >= 0.1 else "seconds")
        for title, (name, table) in zip(self.titles, made.items(), strict=True):
            store(name, table, replace(self.source, cost=cost, title=title), golden=golden, root=root)
        return made


MEASURED: dict[str, Measurement] = {}  # by the name of a table


def measured(
    *names: str, page: str, golden: Callable[[], object] | None = None, timed: bool = False
) -> Callable[[Maker], Maker]:
    """Register a function that makes these tables; `timed`: they hold times or memory and have no golden run."""

    def register(make: Maker) -> Maker:
        make.golden = golden or partial(make, 1)  # type: ignore[attr-defined]
        place = "" if timed else f"{make.__module__}:{make.__name__}"
        lines = [line.strip().rstrip(".") for line in (make.__doc__ or "").splitlines() if line.strip()]
        titles = tuple(lines[: len(names)])
        if len(titles) != len(names):
            raise ValueError(f"{make.__name__} needs a line of its docstring for each table")
        source = Source(f"python -m benchmarks.measured {names[0]}", place, page=page)
        if twice := [name for name in names if name in MEASURED]:
            raise ValueError(f"registered twice: {', '.join(twice)}")
        MEASURED.update(dict.fromkeys(names, Measurement(names, titles, make, source)))
        return make

    return register


def printed(function: Callable[..., object], *arguments: object) -> list[str]:
    """The lines that a function prints."""
    with redirect_stdout(io.StringIO()) as stream:
        function(*arguments)
    return stream.getvalue().splitlines()


def printed_rows(function: Callable[..., object], *arguments: object) -> list[list[str]]:
    """The cells of the Markdown rows that a function prints; what else it prints is left out."""
    lines = [line.strip() for line in printed(function, *arguments) if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if set(line) - set("|- ")]


def numbers(line: str) -> list[str]:
    """The numbers at the end of a line, as they are written."""
    found = re.search(r"(?:(?:[\s/]+|^)-?\d+(?:\.\d+)?)+$", line.rstrip())
    return re.findall(r"-?\d+(?:\.\d+)?", found[0]) if found else []


def percents(shares: Iterable[float], digits: int = 1) -> str:
    """Percentages with a stroke between them."""
    return " / ".join(f"{100 * share:.{digits}f}" for share in shares)


def joined(cells: Sequence[str], of: int) -> Iterator[str]:
    """So many cells together, with a stroke between them."""
    for i in range(0, len(cells), of):
        yield " / ".join(cells[i : i + of])
