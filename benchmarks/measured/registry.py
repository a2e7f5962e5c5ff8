"""Measured tables by name, and what the functions that make them share.

A function is registered with the names of the tables that it returns, the function that measures (``"module:function"``, whose
modules the stored result keeps), and its cost. Its one parameter is the number of samples, whose default is that of the guide.
"""

import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.stored_tables import ROOT, Source, Table, store

__all__ = ["MEASURED", "Measurement", "joined", "measured", "numbers", "percents", "printed", "printed_rows"]

Maker = Callable[..., Table | tuple[Table, ...]]


@dataclass(frozen=True)
class Measurement:
    """A function that makes some tables.

    Attributes
    ----------
    names : tuple of str
        Of the tables, in the order in which `make` returns them.
    make : callable
        Returns the table, or a tuple of them; takes the number of samples.
    source : Source
    """

    names: tuple[str, ...]
    make: Maker
    source: Source

    def tables(self, size: int | None = None) -> dict[str, Table]:
        """Measure; the tables by name."""
        made = self.make() if size is None else self.make(size)
        return dict(zip(self.names, made if isinstance(made, tuple) else (made,), strict=True))

    def store(self, root: Path = ROOT) -> dict[str, Table]:
        """Measure at the size of the guide and store the tables, each with the code and the time that it took."""
        code, start = self.source.code(), time.process_time()
        made = self.tables()
        minutes = (time.process_time() - start) / 60
        source = replace(self.source, cost=f"{minutes:.1f} minutes of a core" if minutes >= 0.1 else "seconds")
        for name, table in made.items():
            store(name, table, source, code=code, root=root)
        return made


MEASURED: dict[str, Measurement] = {}  # by the name of a table


def measured(*names: str, function: str, rests_on: tuple[str, ...] = (), cost: str = "") -> Callable[[Maker], Maker]:
    """Register a function that makes these tables."""

    def register(make: Maker) -> Maker:
        command = f"python -m benchmarks.measured {names[0]}"
        measurement = Measurement(names, make, Source(command, function, rests_on, cost))
        if twice := [name for name in names if name in MEASURED]:
            raise ValueError(f"registered twice: {', '.join(twice)}")
        MEASURED.update(dict.fromkeys(names, measurement))
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
