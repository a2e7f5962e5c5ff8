"""Results of data sets as JSON lines, one file for each cell, and their rates with binomial intervals."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaincinv

from benchmarks.verdict_claims.judging import NOT_COUNTED
from benchmarks.verdict_claims.truth import definition
from benchmarks.verdict_claims.worlds import Cell

__all__ = ["Rate", "any_false", "append", "former_false", "results", "share_told"]

Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Rate:
    """How many of so many data sets; `low` and `high` are the exact 95 % interval of Clopper and Pearson."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """Share."""
        return self.count / self.of if self.of else float("nan")

    @property
    def low(self) -> float:
        """Lower end."""
        return 0.0 if self.count == 0 else float(betaincinv(self.count, self.of - self.count + 1, 0.025))

    @property
    def high(self) -> float:
        """Upper end."""
        return 1.0 if self.count == self.of else float(betaincinv(self.count + 1, self.of - self.count, 0.975))


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a line in one write; a line that was torn before is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.lseek(file, 0, os.SEEK_END)
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, ("\n" * torn + json.dumps(row, ensure_ascii=False) + "\n").encode())
    finally:
        os.close(file)


def results(cell: Cell, folder: Path) -> list[dict[str, Any]]:
    """The data sets of a cell as it is defined now, by seed, each once; torn lines are left out."""
    path, key = folder / f"{cell.name}.jsonl", definition(cell)
    found: dict[int, dict[str, Any]] = {}
    for row in _lines(path) if path.exists() else ():
        if row.get("cell") == key:
            found.setdefault(row["seed"], row)
    return [found[seed] for seed in sorted(found)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield row


def any_false(rows: Rows, names: Iterable[str] | None = None) -> Rate:
    """Data sets with a false claim of these names; by default of all that are counted."""
    kept = None if names is None else set(names)

    def wrong(row: dict[str, Any]) -> bool:
        return any(name not in NOT_COUNTED if kept is None else name in kept for name in row["false"])

    return Rate(sum(map(wrong, rows)), len(rows))


def former_false(rows: Rows) -> Rate:
    """Data sets in which the former procedure tells a difference that is none."""
    return Rate(sum(row["former"]["false"] > 0 for row in rows), len(rows))


def share_told(rows: Rows, key: str) -> float:
    """Of the true differences ("pairs", "rivals", "former", "backward", "miscalibrated") the share that is told."""
    if key == "former":
        told, of = (sum(row["former"][k] for row in rows) for k in ("told", "true"))
    else:
        told, of = np.sum([row[key] for row in rows], axis=0).tolist() if rows else (0, 0)
    return told / of if of else float("nan")
