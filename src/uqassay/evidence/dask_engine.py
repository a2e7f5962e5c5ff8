"""Where the tasks of an assay over dask arrays run: on a cluster, or on the scheduler of dask in this process."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Protocol

from uqassay._optional import optional_package
from uqassay.errors import InputError

__all__ = ["Engine", "connected", "open_engine"]

CONNECT_SECONDS = 7  # for each of two steps
WORKER_SECONDS = 30  # until the first worker of an address must be there
# labels and groups travel within the tasks, so that Dask can repeat a task after its worker has died
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GB"}

Say = Callable[[str], None]


class Engine(Protocol):
    """What an assay asks of a scheduler."""

    def now(self, tasks: Any) -> Any:
        """The value of a task, or of nested dicts and lists that hold tasks or dask arrays."""

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """The same tasks, of which each is done once and its result stays where it is."""

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        """Call ``done(i, value)`` in this thread for each task when it has ended; what `done` raises cancels the others."""


@contextmanager
def open_engine(client: Any, say: Say) -> Iterator[Engine]:
    """The engine of a client or an address; None: that of the current client, else dask's scheduler in this process.

    Raises
    ------
    InputError
        No scheduler at the address, no worker, or something else than a client.
    """
    dask = optional_package("dask", "dask", "an assay over dask arrays")
    if client is None and (client := _current_client(dask)) is None:
        yield _Here(dask)
        return
    distributed = optional_package("distributed", "dask", "an assay on a cluster")
    if isinstance(client, str):
        with connected(distributed, client) as own:
            _wait_for_workers(own, client, say)
            _check_installed(own)
            with dask.config.set(SETTINGS):
                yield _Cluster(distributed, own)
        return
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise InputError(
            "client",
            "must be a distributed.Client that is not asynchronous, or the address of a scheduler",
            f"got {type(client).__name__}",
            'write client="tcp://HOST:8786", or distributed.Client(cluster)',
            code="type",
        )
    if client.status != "running":
        raise InputError(
            "client",
            "must be connected to its scheduler",
            f"it is {client.status}",
            "make a new one by distributed.Client(ADDRESS)",
            code="missing",
        )
    _check_installed(client)
    with dask.config.set(SETTINGS):
        yield _Cluster(distributed, client)


def _current_client(dask: Any) -> Any:
    """The current client of distributed, if there is one and no other scheduler was chosen."""
    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    try:
        return sys.modules["distributed"].default_client()
    except ValueError:
        return None


@contextmanager
def connected(distributed: Any, address: str, parameter: str = "client") -> Iterator[Any]:
    """A client of the scheduler at an address; a wrong address is given up within 15 seconds.

    Raises
    ------
    InputError
        No scheduler answers.
    """
    try:
        _reach(distributed, address)
        client = distributed.Client(address, set_as_default=False, timeout=f"{CONNECT_SECONDS}s")
    except Exception as problem:  # of sockets, addresses, protocols, and packages that a protocol needs
        raise InputError(
            parameter,
            "must be the address of a running Dask scheduler",
            f"none answered at {address!r}",
            "start one by dask scheduler, and workers by dask worker ADDRESS",
            code="missing",
        ) from problem
    with client:
        yield client


def _reach(distributed: Any, address: str) -> None:
    """Open a connection and close it. A `Client` that found no scheduler would wait again when it is deleted, and complain.

    In a thread, because an event loop may run in this one, and because Dask waits without end for the handshake of a server
    that says nothing. Such a thread ends with the process.
    """
    import asyncio  # here, because it takes a tenth of a second, which every process of an assay would wait

    async def connect() -> None:
        how = distributed.Security().get_connection_args("client")
        (await distributed.comm.connect(address, timeout=CONNECT_SECONDS, **how)).abort()

    ended: SimpleQueue[Exception | None] = SimpleQueue()

    def run() -> None:
        try:
            asyncio.run(connect())
        except Exception as problem:
            ended.put(problem)
        else:
            ended.put(None)

    Thread(target=run, daemon=True).start()
    try:
        problem = ended.get(timeout=CONNECT_SECONDS)
    except Empty:
        raise TimeoutError(f"no answer within {CONNECT_SECONDS} seconds") from None
    if problem is not None:
        raise problem


def _wait_for_workers(client: Any, address: str, say: Say) -> None:
    if client.scheduler_info(n_workers=1)["workers"]:
        return
    say("waiting for a worker")
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as problem:
        raise InputError(
            "client",
            "must be the address of a scheduler with workers",
            f"{address!r} had none within {WORKER_SECONDS} seconds",
            f"start some by dask worker {address}",
            code="missing",
        ) from problem


def _check_installed(client: Any) -> None:
    """Ask scheduler and workers, by a function of Python's own, whether uqassay is there: without it no task can be read.

    Raises
    ------
    InputError
        One of them lacks it.
    """
    try:
        found = {"the scheduler": client.run_on_scheduler(find_spec, "uqassay")}
    except ValueError:  # a package that was made to fail on import
        found = {"the scheduler": None}
    found |= client.run(find_spec, "uqassay", on_error="return")
    lacking = [place for place, spec in found.items() if spec is None or isinstance(spec, Exception)]
    if lacking:
        raise InputError(
            "client",
            "must have uqassay at the scheduler and at all workers",
            f"it is missing at {lacking[0]}" + (f" and at {len(lacking) - 1} more" if len(lacking) > 1 else ""),
            "install the same version everywhere",
            code="package",
        )


class _Here:
    """The scheduler of dask in this process: threads, unless dask's configuration names another."""

    def __init__(self, dask: Any) -> None:
        self._dask = dask

    def now(self, tasks: Any) -> Any:
        return self._dask.compute(tasks)[0]

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        return self._dask.persist(*tasks) if tasks else []

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        numbers = {task.key: i for i, task in enumerate(tasks)}

        def ended(key: Any, value: Any, *_: Any) -> None:
            if key in numbers:
                done(numbers[key], value)

        with self._dask.callbacks.Callback(posttask=ended):
            self._dask.compute(*tasks, optimize_graph=False)


class _Cluster:
    """The workers of a scheduler, through a client."""

    def __init__(self, distributed: Any, client: Any) -> None:
        self._distributed, self._client = distributed, client

    def now(self, tasks: Any) -> Any:
        import dask

        collections, repack = dask.base.unpack_collections(tasks)
        found: dict[int, Any] = {}
        if collections:
            self.run(collections, found.__setitem__)
        return repack([found[i] for i in range(len(collections))])[0]

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        return self._client.persist(list(tasks)) if tasks else []

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        futures = self._client.compute(list(tasks))
        numbers = {future.key: i for i, future in enumerate(futures)}
        try:
            # fetched here, because a fetch in the background would complain when the client is closed after an error
            for batch in self._distributed.as_completed(futures, loop=self._client.loop).batches():
                for future, value in zip(batch, self._client.gather(batch), strict=True):
                    done(numbers[future.key], value)
        except self._distributed.KilledWorker as problem:
            raise InputError(
                "client",
                "must have workers that survive a chunk",
                f"{problem.allowed_failures + 1} workers ended while they had the same task, and the last was "
                f"{problem.last_worker.address}",
                "make smaller chunks, or give the workers more memory",
                code="size",
            ) from problem
        finally:
            self._client.cancel(futures)
