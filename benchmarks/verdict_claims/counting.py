"""Results of data sets as JSON lines, one file for each cell, and their rates with binomial intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaincinv

from benchmarks.keyed_lines import read_lines
from benchmarks.source_digests import code_version
from benchmarks.verdict_claims.judging import NOT_COUNTED
from benchmarks.verdict_claims.truth import definition
from benchmarks.verdict_claims.worlds import Cell

__all__ = ["FUNCTION", "Rate", "any_false", "former_false", "path_of", "present_code", "results", "share_told"]

FUNCTION = "benchmarks.verdict_claims.judging:judge"
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


def present_code() -> str:
    """Digest of the code that judges a data set."""
    return code_version(FUNCTION)


def path_of(cell: Cell, folder: Path) -> Path:
    """The file of a cell's data sets."""
    return folder / f"{cell.name}.jsonl"


def results(cell: Cell, folder: Path, code: str = "") -> tuple[list[dict[str, Any]], int]:
    """The data sets of a cell as it is defined now, by seed, each once, and how many further ones other code judged.

    Torn lines are left out; so are lines of a cell that was defined otherwise. `code` is the present one by default.
    """
    key, found = definition(cell), {}
    rows, others = read_lines(path_of(cell, folder), code or present_code())
    for row in rows:
        if row.get("cell") == key:
            found.setdefault(row["seed"], row)
    return [found[seed] for seed in sorted(found)], others


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
