"""Run the cells of a benchmark on Dask, keep each result as soon as it is there, and go on where a run was broken off.

Workers write into the folder themselves, so the driver may die at any moment: what was finished stays, and what was running is
run again. A cell is claimed by one atomic statement, so several drivers may share a folder.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from uqassay._array import available_cores
from uqassay.bench.cell import Cell, code_version
from uqassay.bench.engine import Jobs, give_up, run_round
from uqassay.bench.index import FolderProblem, lapsed
from uqassay.bench.store import LEASE_SECONDS, Store
from uqassay.bench.worker import Outcome
from uqassay.errors import InputError

__all__ = ["Costs", "Progress", "RunSummary", "cost_estimate", "processes_of", "run_cells"]

POLL_SECONDS = 0.5  # between looks at cells that other drivers run
MAX_ATTEMPTS = 5  # after which a cell whose processes always end without a word has failed


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
    """What a call of `run_cells` came to.

    Attributes
    ----------
    n_cells, n_kept, n_ran : int
        Cells of the benchmark, those found done, and those that this call ran to their end.
    failed : dict of str to str
        Name of each failed cell and the last line of its traceback.
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
    """Cells by their state, and what the rest will take.

    Attributes
    ----------
    done, failed, running, queued : int
    seconds : float or None
        Of one worker, for the cells queued and running; None where no cell was timed.
    untimed : tuple of str
        Data set and method of cells whose like was never timed; they count with the mean of the others.
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
    """Run the cells that are not done; resuming is the rule.

    Parameters
    ----------
    cells : sequence of Cell
        They begin in this order.
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
    code_version.cache_clear()  # sources may have changed since the last call in this process
    jobs = {cell.key: cell for cell in cells}
    store = Store(folder, lease_seconds=lease_seconds)
    keys = list(jobs)
    store.index.add(list(jobs.values()))
    store.recover(keys)
    if retry_failed:
        for row in store.index.rows(keys):
            if row["state"] == "failed":
                store.index.requeue(row)
    states = [row["state"] for row in store.index.rows(keys)]
    n_kept = states.count("done")
    n_todo = sum(state in ("queued", "running") for state in states)
    processes = processes_of(workers, n_todo, max(cell.threads for cell in jobs.values()))
    report = _Reporter(store, jobs, processes, progress)
    report(None)
    ran = 0
    for outcome in _outcomes(store, jobs, lambda todo: run_round(store, todo, processes, scheduler)):
        ran += outcome.state in ("done", "failed")
        report(outcome)
    failed: dict[str, str] = {}
    for row in store.index.rows(keys):
        if row["state"] == "failed":
            name = jobs[row["key"]].name
            name = f"{name} ({row['key'][:8]})" if name in failed else name
            failed[name] = row["traceback"].strip().rpartition("\n")[2]
    return RunSummary(len(jobs), n_kept, ran, failed, time.perf_counter() - start)


def cost_estimate(cells: Sequence[Cell], folder: str | os.PathLike[str], *, retry_failed: bool = False) -> Costs:
    """What is done and what the rest will take, from the times recorded in the folder; nothing is run, written or removed.

    Parameters
    ----------
    cells : sequence of Cell
    folder : path
        It need not exist.
    retry_failed : bool
        Count the cells that failed earlier among those to do.

    Returns
    -------
    Costs

    Raises
    ------
    InputError
        A folder whose index is of something else, or a file in its place.
    """
    store = Store(folder, create=False, required=False)
    rows = store.foreseen(list({cell.key: cell for cell in cells}.values()))
    if retry_failed:
        rows = [row | {"state": "queued"} if row["state"] == "failed" else row for row in rows]
    states = [row["state"] for row in rows]
    counts = {state: states.count(state) for state in ("queued", "running", "done", "failed")}
    open_rows = [row for row in rows if row["state"] in ("queued", "running")]
    times = _times(list({row["key"]: row for row in [*store.index.rows(), *rows]}.values()))
    untimed = dict.fromkeys(
        f"{r['dataset']}, {r['method']}" for r in open_rows if (r["dataset"], r["method"]) not in times
    )
    return Costs(**counts, seconds=_seconds(open_rows, times), untimed=tuple(untimed))


# -- rounds -----------------------------------------------------------------------------------------------------------


def _outcomes(store: Store, jobs: dict[str, Cell], run: Callable[[Jobs], Iterator[Outcome]]) -> Iterator[Outcome]:
    """Run what is queued; then wait for what other drivers run, and run what they left behind."""
    before = {row["key"]: row["attempt"] for row in store.index.rows(list(jobs))}
    while True:
        rows = [row for row in store.index.rows(list(jobs)) if row["state"] in ("queued", "running")]
        if not rows:
            return
        ready = [row for row in rows if row["state"] == "queued" or lapsed(row)]
        lost = [row["key"] for row in ready if row["attempt"] - before[row["key"]] >= MAX_ATTEMPTS]
        yield from (give_up(store, key) for key in lost)
        wanted = {row["key"] for row in ready} - set(lost)
        todo = [(key, cell) for key, cell in jobs.items() if key in wanted]
        if not ready:
            time.sleep(POLL_SECONDS)
        for outcome in run(todo) if todo else ():
            if outcome.state == "refused":
                raise FolderProblem(outcome.message)
            yield outcome


class _Reporter:
    """Tell how far the run is, counting what other drivers finish as well."""

    def __init__(
        self, store: Store, jobs: dict[str, Cell], processes: int, progress: Callable[[Progress], None] | None
    ) -> None:
        self.store, self.jobs, self.processes, self.progress = store, jobs, processes, progress

    def __call__(self, outcome: Outcome | None) -> None:
        if self.progress is None:
            return
        rows = self.store.index.rows(list(self.jobs))
        open_rows = [row for row in rows if row["state"] in ("queued", "running")]
        seconds = _seconds(open_rows, _times(rows))
        self.progress(
            Progress(
                finished=len(rows) - len(open_rows),
                failed=sum(row["state"] == "failed" for row in rows),
                total=len(rows),
                seconds_left=None if seconds is None else seconds / max(1, min(self.processes, len(open_rows))),
                cell="" if outcome is None else self.jobs[outcome.key].name,
            )
        )


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check(cells: Sequence[Cell], workers: int | None, scheduler: str | None) -> None:
    if not cells:
        raise InputError("cells", "there are none", "", "name at least one data set, method and seed", code="empty")
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
            "workers", "a scheduler has its own", f"got {workers} beside {scheduler}", "leave one out", code="undefined"
        )


def processes_of(workers: int | None, n_todo: int, threads: int) -> int:
    """Processes that share so many cells: one for each core unless given, and none without a cell."""
    wanted = max(1, available_cores() // threads) if workers is None else workers
    return min(wanted, max(1, n_todo))


def _times(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Mean seconds of the finished cells by data set and method."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["state"] == "done" and row["seconds"] is not None:
            found.setdefault((row["dataset"], row["method"]), []).append(row["seconds"])
    return {kind: sum(seconds) / len(seconds) for kind, seconds in found.items()}


def _seconds(rows: Sequence[dict[str, Any]], times: dict[tuple[str, str], float]) -> float | None:
    """Seconds that one worker will take for the rows; a kind of cell that was never timed counts with the mean of all."""
    if not times:
        return None if rows else 0.0
    mean = sum(times.values()) / len(times)
    return sum(times.get((row["dataset"], row["method"]), mean) for row in rows)
