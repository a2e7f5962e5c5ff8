"""The run of a benchmark's cells: in this process or on Dask, stored at once, resumed after a stop."""

import importlib
import importlib.util
import logging
import os
import queue
import secrets
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, Literal, final

from uqassay._workers import connected
from uqassay.arrays import available_cores
from uqassay.checks import a, fail, whole
from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.lab.bench.cell import Cell, CellResult, function_of
from uqassay.lab.bench.store import CellState, FolderProblem, Store, reason_of

__all__ = [
    "CellOutcome",
    "Costs",
    "Progress",
    "RunSummary",
    "cost_estimate",
    "give_up",
    "processes_of",
    "run_cell",
    "run_cells",
]


# How a worker runs one cell: it locks the cell, calls its function, writes the result and reports the outcome.
#
# An exception of the cell's function is stored as the cell's failure, and the worker goes on. If the folder takes no
# more files, the cell stays queued, and the driver gets the error and stops.

MAX_TRACEBACK = 20_000  # characters, from the end
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@final
@dataclass(frozen=True)
class CellOutcome:
    """The outcome of one cell at a worker."""

    key: str
    #: {"done", "failed", "taken", "refused"}: "taken": another process has the cell, or has finished it; "refused": the
    #: folder takes no files
    state: Literal["done", "failed", "taken", "refused"]
    seconds: float = 0.0  #: Time the cell ran
    message: str = ""  #: The exception of a failure, on one line
    problem: FolderProblem | None = None  #: Of a refusal


def run_cell(key: str, text: str, folder: str) -> CellOutcome:
    """Run one cell in this process and keep its result.

    Parameters
    ----------
    key : str
        As the driver knows the cell; a worker with another version of uqassay refuses it.
    text : str
        The cell as JSON.
    """
    cell = Cell.from_json(text)
    try:
        store = Store(folder)
        if not store.claim(key):
            return CellOutcome(key, "taken")
    except FolderProblem as problem:
        return CellOutcome(key, "refused", problem=problem)
    start = time.perf_counter()
    seconds = None
    try:
        try:
            result = _result(cell, key)
            seconds = time.perf_counter() - start
            store.finish(cell, result, seconds=seconds)
            return CellOutcome(key, "done", seconds)
        except FolderProblem:
            raise
        except (Exception, SystemExit):  # any error of a method, and an exit, is the failure of its cell
            seconds = time.perf_counter() - start if seconds is None else seconds
            text = traceback.format_exc()
            store.fail(key, text[-MAX_TRACEBACK:])
            return CellOutcome(key, "failed", seconds, reason_of(text))
    except FolderProblem as problem:
        return CellOutcome(key, "refused", seconds or 0.0, problem=problem)
    finally:
        store.release(key)  # after Ctrl-C, too: this process may live on, and the cell would count as running


# -- helpers ----------------------------------------------------------------------------------------------------------


def _result(cell: Cell, key: str) -> CellResult:
    """The result of the cell's function, computed with the cell's number of threads."""
    if cell.key != key:
        rule = "must have the same key at the worker and at the driver"
        remedy = "install the same version of uqassay everywhere"
        fail("cell", rule, f"that of {cell.name} differs", remedy, code="mismatch")
    with _limited(cell.threads):
        result = function_of(cell.function)(cell)
    a(CellResult, result, "function", "wrap its values in CellResult", rule=f"{cell.function} must return a CellResult")
    return result


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Limit the threads of libraries: of loaded ones directly, of those that the block loads by the environment."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch is not None else 0
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        if torch is not None:
            torch.set_num_threads(threads)
        with _pools_limited(threads):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(torch_before)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _pools_limited(threads: int) -> Any:
    if importlib.util.find_spec("threadpoolctl") is None:
        return nullcontext()
    return importlib.import_module("threadpoolctl").threadpool_limits(threads)


# Where cells run: in this process, on processes of a local Dask cluster, or on the workers of a Dask scheduler.

Jobs = Sequence[tuple[str, Cell]]
MAX_STARTS = 3  # attempts to start a local cluster; if a worker is killed while it starts, the whole start fails
REVIVE_SECONDS = 2.0  # between checks that the workers are still there
SETTINGS = {
    "distributed.scheduler.allowed-failures": 3,  # workers that a cell may kill, for instance by running out of memory
    "distributed.scheduler.worker-saturation": 1.0,  # no cell waits at a busy worker, or it would be blamed for its death
    "distributed.scheduler.worker-ttl": None,  # a worker that computes for minutes sends no heartbeat, but is alive
    "distributed.worker.profile.enabled": False,
    # Dask lets workers give back freed memory at 64 kB, so that each step of a training asks for its tensors anew: two fifths
    # of the time of a convolutional network on a CPU
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": str(2**27),
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": str(2**25),  # the most that glibc takes
    "distributed.admin.log-length": 0,
    "logging.distributed": "critical",
}


def run_round(store: Store, jobs: Jobs, processes: int, scheduler: str | None) -> Iterator[CellOutcome]:
    """Run cells once and yield their outcomes; all processes that are started for it have ended afterwards."""
    if processes == 0:
        yield from (run_cell(key, cell.to_json(), str(store.folder)) for key, cell in jobs)
        return
    dask, distributed = (
        optional_package(name, "lab", "a benchmark with workers", otherwise="take --workers 0")
        for name in ("dask", "distributed")
    )
    with dask.config.set(SETTINGS):
        if scheduler is not None:
            with connected(distributed, scheduler, "scheduler") as client:
                yield from _on_dask(client, store, jobs, lambda: None)
            return
        processes = min(processes, len(jobs))
        with ExitStack() as stack:
            with _interrupts_blocked():
                threads = max(cell.threads for _, cell in jobs)
                cluster = stack.enter_context(_local_cluster(processes, threads))
            client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
            yield from _on_dask(client, store, jobs, lambda: cluster.scale(processes))


def give_up(store: Store, key: str) -> CellOutcome:
    """Store the failure of a cell that killed its workers."""
    words = "WorkerEnded: the worker's process ended without an error each time it ran this cell; did memory run out?"
    if not store.claim(key):
        return CellOutcome(key, "taken")
    store.fail(key, words)
    return CellOutcome(key, "failed", message=words)


# -- Dask -------------------------------------------------------------------------------------------------------------


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread until the end of the block, and for good in threads and processes started within.

    A terminal sends Ctrl-C to the workers as well. Dask would wait without end for a worker that dies of it while starting.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # its start unblocks interrupts, so it must not happen within the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _local_cluster(processes: int, threads: int) -> Any:
    """Worker processes that end with this one; each runs one cell at a time."""
    import distributed

    cause: RuntimeError | None = None
    for _ in range(MAX_STARTS):
        try:
            return distributed.LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=":0",  # a port that is free, not one that another cluster has
                scheduler_kwargs={"dashboard": False},
                memory_limit=0,
                silence_logs=logging.CRITICAL,
                env=dict.fromkeys(THREAD_VARIABLES, str(threads)),
            )
        except RuntimeError as problem:
            cause = problem
    rule = f"{processes} processes could not be started"
    remedy = 'take fewer, and guard a script that starts them by if __name__ == "__main__"'
    raise InputError("workers", rule, str(cause), remedy, code="size") from cause


def _on_dask(client: Any, store: Store, jobs: Jobs, revive: Callable[[], None]) -> Iterator[CellOutcome]:
    """Outcomes in the order in which the cells end."""
    import distributed

    folder = str(store.folder.absolute())
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    keys = {}
    token = secrets.token_hex(4)  # another driver at the same scheduler must not share our tasks
    for i, (key, cell) in enumerate(jobs):
        arguments = (key, cell.to_json(), folder)
        future = client.submit(run_cell, *arguments, key=f"cell-{key[:16]}-{token}", pure=False, priority=-i)
        keys[future] = key
        future.add_done_callback(ended.put)
    while keys:
        try:
            future = ended.get(timeout=REVIVE_SECONDS)
        except queue.Empty:
            if client.status not in ("running", "connecting"):
                raise _lost() from None
            revive()
            continue
        if future.status in (
            "pending",
            "lost",
        ):  # the worker died before the outcome was fetched; Dask runs the cell again
            future.add_done_callback(ended.put)
            continue
        key = keys.pop(future)
        if future.status == "finished":
            yield future.result()
        elif future.status == "error":
            error = future.exception()
            if not isinstance(error, distributed.KilledWorker):
                raise InputError(
                    "scheduler",
                    "must have workers that can run the cells",
                    f"{type(error).__name__}: {error}",
                    "install the same version of uqassay on all of them",
                    code="mismatch",
                ) from error
            yield give_up(store, key)
        else:
            raise _lost()
        future.release()


def _lost() -> InputError:
    return InputError(
        "scheduler", "the connection was lost", "", "run the same command again to go on", code="unreadable"
    )


# Run the cells of a benchmark on Dask, store each result at once, and resume a run that was broken off.
#
# Workers write into the folder themselves, so the driver may die at any moment: results stay, and cells that were
# running are run again. A process locks the cell that it runs, so several drivers may share a folder.

OPEN = ("queued", "running")
Kind = tuple[str, str]  # data set and method
POLL_SECONDS = 0.5  # between checks of cells that other drivers run
MAX_ATTEMPTS = 5  # rounds with a cell that never ends, since its processes die; then it has failed


@final
@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    #: Cells; the failed ones count among the finished
    finished: int
    failed: int
    total: int
    seconds_left: float | None  #: None until a cell has shown what one costs
    cell: str  #: The one that ended last; empty before the first


@final
@dataclass(frozen=True)
class RunSummary:
    """The outcome of a call of `run_cells`."""

    #: Cells of the benchmark, those that were done before, and those that this call finished
    n_cells: int
    n_kept: int
    n_ran: int
    failed: dict[str, str]  #: Name of each failed cell and its exception
    seconds: float


@final
@dataclass(frozen=True)
class Costs:
    """Cells by their state, and the time that the open ones will take."""

    done: int
    failed: int
    running: int
    queued: int
    seconds: float | None  #: Of one worker, for the cells queued and running; None if no cell was timed
    #: Data set and method of open cells without a timed cell of the same kind; they count with the mean of all kinds
    untimed: tuple[str, ...]


def run_cells(
    cells: Sequence[Cell],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
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

    Returns
    -------
    RunSummary
        A failed cell is recorded with its traceback, and the others go on.

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
    jobs = {cell.key: cell for cell in cells}
    store = Store(folder)
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
    folder : path
        It may be missing.
    retry_failed : bool
        Count the cells that failed earlier among those to do.
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
        fail("cells", "must hold at least one cell", "got none", "name a data set, a method and a seed", code="empty")
    if workers is not None:
        whole(workers, "workers", "leave it out for all cores", least=0)
    if scheduler is not None and workers is not None:
        rule = "must be left out with a scheduler, which has its own"
        fail("workers", rule, f"got {workers} and {scheduler}", "leave one out", code="conflict")


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
