"""Trainings of a protocol as cells of a benchmark: run them, and read their results."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.runner import Progress, run_cells
from uqassay.lab.bench.store import Store, StoredResult, older_notes

__all__ = [
    "all_failed",
    "failure_notes",
    "folder_of",
    "older_notes",
    "record_of",
    "train_cells",
    "trained_cells",
]

Kind = TypeVar("Kind")


# Trainings of a protocol as cells of a benchmark: run them, and read the results that are there.


@contextmanager
def folder_of(resume: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder of the trainings of a protocol: `resume`, or one that is removed at the end."""
    if resume is not None:
        place = Path(resume)
        if place.exists() and not place.is_dir():
            fail("resume", "must be a folder", f"{place} is a file", "choose another name", code="missing")
        yield place
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def train_cells(
    cells: Sequence[Cell], folder: str | os.PathLike[str], *, workers: int, say: Callable[[str], None]
) -> dict[str, str]:
    """Run the cells that have no result yet, those that failed earlier included.

    Parameters
    ----------
    folder : path
        As in `uqassay.lab.bench.store.Store`.
    workers : int
        Number of processes; 1 trains in this process.
    say : callable
        Called with a line of text at the start and whenever a cell ends.

    Returns
    -------
    dict of str to str
        Name of each failed cell and its exception.
    """

    def progress(done: Progress) -> None:
        say(f"trained {done.finished} of {done.total}" + (f": {done.cell}" if done.cell else ""))

    processes = 0 if workers == 1 else workers
    return run_cells(cells, folder, workers=processes, retry_failed=True, progress=progress).failed


def trained_cells(cells: Sequence[Cell], folder: str | os.PathLike[str]) -> Iterator[tuple[Cell, StoredResult]]:
    """The cells that have a whole result, each with it, in order; files that are damaged count as no result."""
    store = Store(folder)
    for cell, found in zip(cells, store.states([cell.key for cell in cells], verify=True), strict=True):
        if found.state == "done":
            yield cell, store.result(cell.key)


def failure_notes(failed: Mapping[str, str]) -> list[str]:
    """A note on each training that failed and is left out."""
    return [f"{name} failed and is left out: {reason}" for name, reason in failed.items()]


def all_failed(parameter: str, failed: Mapping[str, str]) -> InputError:
    """The error if no cell could be trained, with the first reason."""
    name, reason = next(iter(failed.items()))
    return InputError(
        parameter,
        "at least one must be trained",
        f"all {len(failed)} trainings failed, {name} with {reason}",
        "mend it and run it again",
        code="all-failed",
    )


def record_of(result: CellResult | StoredResult, kind: type[Kind]) -> Kind:
    """The record of a result, stored or not yet."""
    if isinstance(result, StoredResult):
        return result.record(kind)
    record: Kind = result.record
    return record
