"""The status of a benchmark: how many cells are done, running, queued and failed, from the files of its folder."""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from uqassay.bench.older_results import count_older
from uqassay.bench.states import CellState, reason_of
from uqassay.bench.store import Store

__all__ = ["BenchStatus", "StatusRow", "read_status"]

SHOWN = 10  # failed cells in the sentences


@final
@dataclass(frozen=True)
class StatusRow:
    """The cells of one method on one data set.

    Attributes
    ----------
    dataset, method : str
    done, failed, running, queued : int
        A cell whose claim has lapsed counts as queued.
    accuracy, seconds : float or None
        Means over the cells that are done.
    """

    dataset: str
    method: str
    done: int
    failed: int
    running: int
    queued: int
    accuracy: float | None
    seconds: float | None


@final
@dataclass(frozen=True)
class BenchStatus:
    """All cells of a folder, including those of older code.

    Attributes
    ----------
    folder : str
    rows : tuple of StatusRow
    failures : tuple of dict
        ``key``, ``dataset``, ``method``, ``seed`` and ``traceback`` of each failed cell.
    older : int
        How many of the cells that are done were made by other code than the present one.
    """

    folder: str
    rows: tuple[StatusRow, ...]
    failures: tuple[dict[str, Any], ...]
    older: int = 0

    def count(self, state: str) -> int:
        """How many cells are in a state."""
        return sum(getattr(row, state) for row in self.rows)

    def sentences(self) -> list[str]:
        """The counts, and the reason of each failure."""
        counts = [f"{self.count(state)} {word}" for state, word in STATES.items()]
        said = [f"{', '.join(counts)}."]
        if self.older:
            said.append(
                f"Made by other code than the present one, which would make them again: {self.older} of the done."
            )
        for failure in self.failures[:SHOWN]:
            reason = reason_of(failure["traceback"])
            said.append(f"Failed: {failure['dataset']}, {failure['method']}, seed {failure['seed']}: {reason}")
        if len(self.failures) > SHOWN:
            said.append(f"… and {len(self.failures) - SHOWN} more; --json shows all with their tracebacks.")
        if self.failures:
            said.append("Run failed cells again by uqassay bench with --retry-failed.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "counts": {state: self.count(state) for state in STATES}}


STATES = {"done": "done", "failed": "failed", "running": "running", "queued": "to do"}


def read_status(folder: str | os.PathLike[str]) -> BenchStatus:
    """The status of a benchmark. Nothing is changed, and other processes may be at work.

    Raises
    ------
    InputError
        A folder that holds no benchmark.
    """
    store = Store(folder, create=False)
    groups: dict[tuple[str, str], list[CellState]] = {}
    failures = []
    for cell in store.states():
        groups.setdefault((cell.dataset, cell.method), []).append(cell)
        if cell.state == "failed":
            failures.append({name: getattr(cell, name) for name in ("key", "dataset", "method", "seed", "traceback")})
    rows = tuple(_row(*group, cells) for group, cells in sorted(groups.items()))
    return BenchStatus(str(folder), rows, tuple(failures), count_older(folder))


def _row(dataset: str, method: str, cells: Sequence[CellState]) -> StatusRow:
    states: list[str] = [cell.state for cell in cells]
    return StatusRow(
        dataset,
        method,
        **{state: states.count(state) for state in STATES},
        accuracy=_mean([cell.accuracy for cell in cells]),
        seconds=_mean([cell.seconds for cell in cells]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
