"""Where cells run: in this process, on processes of a local Dask cluster, or on the workers of a Dask scheduler."""

import logging
import queue
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from uqassay._optional import optional_package
from uqassay.bench.cell import Cell
from uqassay.bench.store import Store
from uqassay.bench.worker import THREAD_VARIABLES, CellOutcome, run_cell
from uqassay.errors import InputError
from uqassay.evidence.dask_engine import connected

__all__ = ["Jobs", "give_up", "run_round"]

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
        yield from (run_cell(key, cell.to_json(), str(store.folder), store.lease_seconds) for key, cell in jobs)
        return
    dask, distributed = (
        optional_package(name, "bench", "a benchmark with workers", otherwise="take --workers 0")
        for name in ("dask", "distributed")
    )
    with dask.config.set(SETTINGS):
        if scheduler is not None:
            with connected(distributed, scheduler, "scheduler") as client:
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
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def give_up(store: Store, key: str) -> CellOutcome:
    """Store the failure of a cell that killed its workers."""
    words = "WorkerEnded: the worker's process ended without an error each time it ran this cell; did memory run out?"
    if store.claim(key) and store.fail(key, words):
        return CellOutcome(key, "failed", message=words)
    return CellOutcome(key, "taken")


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


def _local_cluster(processes: int, scratch: Path, threads: int) -> Any:
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
                local_directory=str(scratch),
                silence_logs=logging.CRITICAL,
                env=dict.fromkeys(THREAD_VARIABLES, str(threads)),
            )
        except RuntimeError as problem:
            cause = problem
    raise InputError(
        "workers",
        f"{processes} processes could not be started",
        str(cause),
        'take fewer, and guard a script that starts them by if __name__ == "__main__"',
        code="size",
    ) from cause


def _on_dask(client: Any, store: Store, jobs: Jobs, revive: Callable[[], None]) -> Iterator[CellOutcome]:
    """Outcomes in the order in which the cells end."""
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
