"""Where cells run: in this process, on processes of a local Dask cluster, or on the workers of a Dask scheduler."""

import logging
import queue
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from uqassay.bench.cell import Cell
from uqassay.bench.index import FolderProblem, lapsed
from uqassay.bench.store import Store
from uqassay.bench.worker import THREAD_VARIABLES, Outcome, run_cell
from uqassay.errors import InputError, MissingDependencyError

__all__ = ["Jobs", "give_up", "run_round"]

Jobs = Sequence[tuple[str, Cell]]
MAX_STARTS = 3  # of a local cluster; a worker that is killed while it starts takes the others with it
REVIVE_SECONDS = 2.0  # between looks at workers that may not have come back
SETTINGS = {
    "distributed.scheduler.allowed-failures": 3,  # workers that a cell may take with it, to memory running out for instance
    "distributed.scheduler.worker-saturation": 1.0,  # no cell waits at a busy worker, to be blamed for its end
    "distributed.scheduler.worker-ttl": None,  # a worker that computes for minutes without a word is not dead
    "distributed.worker.profile.enabled": False,
    "distributed.admin.log-length": 0,
    "logging.distributed": "critical",
}


def run_round(store: Store, jobs: Jobs, processes: int, scheduler: str | None) -> Iterator[Outcome]:
    """Run cells once, and yield how they ended; whatever is started for it has ended afterwards."""
    if processes == 0:
        yield from (run_cell(key, cell.to_json(), str(store.folder), store.lease_seconds) for key, cell in jobs)
        return
    try:
        import dask
        import distributed
    except ModuleNotFoundError as problem:
        raise MissingDependencyError(
            "dask",
            "the workers of a benchmark need it",
            "",
            "install uqassay[bench], or take --workers 0",
            code="package",
        ) from problem
    with dask.config.set(SETTINGS):
        if scheduler is not None:
            try:
                client = distributed.Client(scheduler, set_as_default=False, timeout="10s")
            except (OSError, ValueError) as problem:
                raise InputError(
                    "scheduler",
                    f"there is none at {scheduler}",
                    "",
                    "start one by dask scheduler, or leave the option out",
                    code="undefined",
                ) from problem
            with client:
                yield from _on_dask(client, store, jobs, lambda: None)
            return
        processes = min(processes, len(jobs))
        scratch = store.scratch()
        try:
            with ExitStack() as stack:
                with _interrupts_blocked():
                    threads = max(cell.threads for _, cell in jobs)
                    cluster = stack.enter_context(_local_cluster(processes, scratch, threads))
                client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
                yield from _on_dask(client, store, jobs, lambda: cluster.scale(processes))
        finally:  # the workers have ended, so what they ran can be queued again
            shutil.rmtree(scratch, ignore_errors=True)
            with suppress(FolderProblem):
                for row in store.index.rows([key for key, _ in jobs]):
                    if row["state"] == "running" and lapsed(row):
                        store.index.requeue(row)


def give_up(store: Store, key: str) -> Outcome:
    """Record a cell that ended its workers."""
    words = "WorkerEnded: the worker's process ended without a word each time it ran this cell; did memory run out?"
    if store.claim(key) and store.fail(key, words):
        return Outcome(key, "failed", message=words)
    return Outcome(key, "taken")


# -- Dask -------------------------------------------------------------------------------------------------------------


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep Ctrl-C from the threads and processes that are started here, for good, and from this thread until the end.

    A terminal sends it to the workers too, and one that dies of it while it starts is waited for without end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which would let interrupts in again where it is started by a worker's start
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _local_cluster(processes: int, scratch: Path, threads: int) -> Any:
    """Worker processes that end with this one, each with one cell at a time."""
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
                local_directory=str(scratch),
                silence_logs=logging.CRITICAL,
                env=dict.fromkeys(THREAD_VARIABLES, str(threads)),
            )
        except RuntimeError as problem:
            cause = problem
    raise InputError(
        "workers",
        f"{processes} processes cannot be started ({cause})",
        "",
        'take fewer, and guard a script that starts them by if __name__ == "__main__"',
        code="undefined",
    ) from cause


def _on_dask(client: Any, store: Store, jobs: Jobs, revive: Callable[[], None]) -> Iterator[Outcome]:
    """Outcomes in the order in which they come."""
    import distributed

    folder = str(store.folder.absolute())
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    keys = {}
    token = secrets.token_hex(4)  # another driver at the same scheduler must not share our tasks
    for i, (key, cell) in enumerate(jobs):
        arguments = (key, cell.to_json(), folder, store.lease_seconds)
        future = client.submit(run_cell, *arguments, key=f"cell-{key[:16]}-{token}", pure=False, priority=-i)
        keys[future] = key
        future.add_done_callback(ended.put)
    while keys:
        try:
            future = ended.get(timeout=REVIVE_SECONDS)
        except queue.Empty:
            if client.status not in ("running", "connecting"):
                raise InputError(
                    "scheduler", "the connection was lost", "", "run the same command again to go on", code="unreadable"
                ) from None
            revive()
            continue
        if future.status in ("pending", "lost"):  # its worker ended with the outcome; the cell is sent out again
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
                    f"its workers cannot run the cells ({type(error).__name__}: {error})",
                    "",
                    "install the same version of uqassay on all of them",
                    code="undefined",
                ) from error
            yield give_up(store, key)
        else:
            raise InputError(
                "scheduler", "the connection was lost", "", "run the same command again to go on", code="unreadable"
            )
        future.release()
