"""Run the cells of a benchmark on Dask, store each result at once, and resume a run that was broken off.

Workers write into the folder themselves, so the driver may die at any moment: results stay, and cells that were running are run
again. A cell is claimed by one atomic step, so several drivers may share a folder.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from uqassay._array import available_cores
from uqassay.bench.cell import Cell
from uqassay.bench.claims import LEASE_SECONDS
from uqassay.bench.engine import Jobs, give_up, run_round
from uqassay.bench.source_code import code_modules
from uqassay.bench.states import CellState
from uqassay.bench.store import Store
from uqassay.bench.worker import CellOutcome
from uqassay.errors import InputError

__all__ = ["Costs", "Progress", "RunSummary", "cost_estimate", "processes_of", "run_cells"]

OPEN = ("queued", "running")
Kind = tuple[str, str]  # data set and method
POLL_SECONDS = 0.5  # between checks of cells that other drivers run
MAX_ATTEMPTS = 5  # rounds with a cell that never ends, since its processes die; then it has failed


@final
@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    finished, failed, total : int
        Cells; the failed ones count among the finished.
    seconds_left : float or None
        None until a cell has shown what one costs.
    cell : str
        The one that ended last; empty before the first.
    """

    finished: int
    failed: int
    total: int
    seconds_left: float | None
    cell: str


@final
@dataclass(frozen=True)
class RunSummary:
    """The outcome of a call of `run_cells`.

    Attributes
    ----------
    n_cells, n_kept, n_ran : int
        Cells of the benchmark, those that were done before, and those that this call finished.
    failed : dict of str to str
        Name of each failed cell and its exception.
    seconds : float
    """

    n_cells: int
    n_kept: int
    n_ran: int
    failed: dict[str, str]
    seconds: float


@final
@dataclass(frozen=True)
class Costs:
    """Cells by their state, and the time that the open ones will take.

    Attributes
    ----------
    done, failed, running, queued : int
    seconds : float or None
        Of one worker, for the cells queued and running; None if no cell was timed.
    untimed : tuple of str
        Data set and method of open cells without a timed cell of the same kind; they count with the mean of all kinds.
    """

    done: int
    failed: int
    running: int
    queued: int
    seconds: float | None
    untimed: tuple[str, ...]


def run_cells(
    cells: Sequence[Cell],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    lease_seconds: float = LEASE_SECONDS,
) -> RunSummary:
    """Run all cells that are not done yet.

    Parameters
    ----------
    cells : sequence of Cell
        Started in this order.
    folder : path
        As in `Store`.
    workers : int, optional
        Processes of a local cluster; one for each core by default, divided by the threads of a cell. 0 runs the cells in this
        process, without Dask. A script that starts workers needs the guard ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of a running Dask scheduler, ``tcp://host:8786``, instead of a local cluster. Its workers need the same version
        of uqassay and the same folder.
    retry_failed : bool
        Run the cells that failed earlier, too.
    progress : callable, optional
        Called with a `Progress` at the start and whenever a cell ends.
    lease_seconds : float
        As in `Store`.

    Returns
    -------
    RunSummary
        A failed cell is recorded with its traceback, and the others go on.

    Raises
    ------
    InputError
        No cells, a folder that takes no files, or no scheduler at the address.
    MissingDependencyError
        Dask is not installed.

    Examples
    --------
    >>> import tempfile
    >>> scratch = tempfile.TemporaryDirectory()
    >>> summary = run_cells([Cell("json:dumps", dataset="toy", method="none", seed=0)], scratch.name, workers=0)
    >>> summary.n_ran, summary.failed
    (1, {'toy, none, seed 0': 'TypeError: Object of type Cell is not JSON serializable'})
    >>> scratch.cleanup()
    """
    start = time.perf_counter()
    _check(cells, workers, scheduler)
    code_modules.cache_clear()  # sources may have changed since the last call in this process
    jobs = {cell.key: cell for cell in cells}
    store = Store(folder, lease_seconds=lease_seconds)
    keys = list(jobs)
    store.add(list(jobs.values()))
    store.recover(keys)
    states = store.states(keys)
    if retry_failed:
        for found in states:
            if found.state == "failed":
                store.retry(found.key)
        states = store.states(keys)
    n_kept = sum(found.state == "done" for found in states)
    n_todo = sum(found.is_open for found in states)
    processes = processes_of(workers, n_todo, max(cell.threads for cell in jobs.values()))
    report = _Reporter(store, jobs, states, processes, progress)
    report(None)
    ran = 0
    for outcome in _outcomes(store, jobs, lambda todo: run_round(store, todo, processes, scheduler)):
        ran += outcome.state in ("done", "failed")
        report(outcome)
    failed: dict[str, str] = {}
    for found in store.states(keys):
        if found.state == "failed":
            name = jobs[found.key].name
            name = f"{name} ({found.key[:8]})" if name in failed else name
            failed[name] = found.reason
    return RunSummary(len(jobs), n_kept, ran, failed, time.perf_counter() - start)


def cost_estimate(cells: Sequence[Cell], folder: str | os.PathLike[str], *, retry_failed: bool = False) -> Costs:
    """How many cells are done, and the time the others will take by the times stored in the folder; nothing is changed.

    Parameters
    ----------
    cells : sequence of Cell
    folder : path
        It may be missing.
    retry_failed : bool
        Count the cells that failed earlier among those to do.

    Returns
    -------
    Costs

    Raises
    ------
    InputError
        A file in the place of the folder.
    """
    store = Store(folder, create=False, required=False)
    jobs = {cell.key: cell for cell in cells}
    states = store.states(list(jobs), verify=True)
    names: list[str] = ["queued" if retry_failed and f.state == "failed" else f.state for f in states]
    open_kinds = [_kind(jobs[found.key]) for found, name in zip(states, names, strict=True) if name in OPEN]
    damaged = {found.key for found in states if found.state != "done"}  # believed by the second look alone
    times = _times([(_kind(f), f.seconds) for f in store.states() if f.state == "done" and f.key not in damaged])
    untimed = dict.fromkeys(f"{dataset}, {method}" for dataset, method in open_kinds if (dataset, method) not in times)
    counts = {name: names.count(name) for name in ("done", "failed", "running", "queued")}
    return Costs(**counts, seconds=_seconds(open_kinds, times), untimed=tuple(untimed))


# -- rounds -----------------------------------------------------------------------------------------------------------


def _outcomes(
    store: Store, jobs: dict[str, Cell], run: Callable[[Jobs], Iterator[CellOutcome]]
) -> Iterator[CellOutcome]:
    """Run the queued cells; then wait for the cells of other drivers, and run those that become queued again."""
    rounds: Counter[str] = Counter()
    while True:
        found = [cell for cell in store.states(list(jobs)) if cell.is_open]
        if not found:
            return
        ready = [cell.key for cell in found if cell.state == "queued"]
        lost = {key for key in ready if rounds[key] >= MAX_ATTEMPTS}
        yield from (give_up(store, key) for key in lost)
        todo = [(key, jobs[key]) for key in ready if key not in lost]
        rounds.update(key for key, _ in todo)
        idle = True
        for outcome in run(todo) if todo else ():
            if outcome.problem is not None:
                raise outcome.problem
            idle = idle and outcome.state == "taken"
            yield outcome
        if idle:  # all open cells are with other drivers
            time.sleep(POLL_SECONDS)


class _Reporter:
    """Calls `progress` after each outcome; the cells that other drivers finish count as well."""

    def __init__(
        self,
        store: Store,
        jobs: dict[str, Cell],
        states: Sequence[CellState],
        processes: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.store, self.jobs, self.processes, self.progress = store, jobs, processes, progress
        self.states = {found.key: found for found in states}

    def __call__(self, outcome: CellOutcome | None) -> None:
        if self.progress is None:
            return
        if outcome is not None:
            (self.states[outcome.key],) = self.store.states([outcome.key])
        states = list(self.states.values())
        open_kinds = [_kind(self.jobs[found.key]) for found in states if found.is_open]
        times = _times([(_kind(self.jobs[found.key]), found.seconds) for found in states])
        seconds = _seconds(open_kinds, times)
        self.progress(
            Progress(
                finished=len(states) - len(open_kinds),
                failed=sum(found.state == "failed" for found in states),
                total=len(states),
                seconds_left=None if seconds is None else seconds / max(1, min(self.processes, len(open_kinds))),
                cell="" if outcome is None else self.jobs[outcome.key].name,
            )
        )


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check(cells: Sequence[Cell], workers: int | None, scheduler: str | None) -> None:
    if not cells:
        raise InputError(
            "cells", "must hold at least one cell", "got none", "name a data set, a method and a seed", code="empty"
        )
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 0):
        raise InputError(
            "workers",
            "must be a whole number of at least 0",
            f"got {workers!r}",
            "leave it out for all cores",
            code="range",
        )
    if scheduler is not None and workers is not None:
        raise InputError(
            "workers",
            "must be left out with a scheduler, which has its own",
            f"got {workers} and {scheduler}",
            "leave one out",
            code="conflict",
        )


def processes_of(workers: int | None, n_todo: int, threads: int) -> int:
    """Number of processes for the open cells: one for each core unless given, and no more than cells."""
    wanted = max(1, available_cores() // threads) if workers is None else workers
    return min(wanted, max(1, n_todo))


def _kind(cell: Cell | CellState) -> Kind:
    return cell.dataset, cell.method


def _times(timed: Sequence[tuple[Kind, float | None]]) -> dict[Kind, float]:
    """Mean seconds of the finished cells by data set and method."""
    found: dict[Kind, list[float]] = {}
    for kind, seconds in timed:
        if seconds is not None:
            found.setdefault(kind, []).append(seconds)
    return {kind: sum(seconds) / len(seconds) for kind, seconds in found.items()}


def _seconds(kinds: Sequence[Kind], times: dict[Kind, float]) -> float | None:
    """Seconds that one worker will take for cells of these kinds; a kind without a time counts with the mean of all."""
    if not times:
        return None if kinds else 0.0
    mean = sum(times.values()) / len(times)
    return sum(times.get(kind, mean) for kind in kinds)
