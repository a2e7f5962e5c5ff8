"""Calls shared between processes of joblib's loky; results are those of one process.

loky starts each worker as a new program and does not run the script of the user again. So scripts need no ``__main__`` guard,
and nothing is forked, which is unsafe where threads run. This process does everything that a worker cannot do: calls that
cannot be pickled, calls that fail, and all calls where no worker can be started.
"""

import io
import multiprocessing
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Self

import numpy as np

from uqassay.arrays import available_cores, limited_cores
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.native import share_on_threads, single_blas_thread

__all__ = ["VARIABLE", "Workers", "connected", "packed", "unpacked", "wanted_processes"]

VARIABLE = "UQASSAY_PROCESSES"
WORTH_SECONDS = 8.0  # of estimated work: a worker takes a second of a processor to start
MOST_BYTES = 2**28  # of one call; larger ones are not sent
HEARD_EVERY = 0.1  # seconds after which this process passes on what workers say

Say = Callable[[str], None]


def wanted_processes() -> int:
    """Processes that may share calls: the cores of this process, or the number in `UQASSAY_PROCESSES`.

    One within a process of `multiprocessing`, because its siblings use the other cores.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if text and not (text.isdecimal() and int(text) > 0):
        rule = "must be a whole number, at least 1"
        fail(VARIABLE, rule, f"got {text!r}", "set it to 1 for one process", code="type")
    if text:
        return int(text)
    return 1 if multiprocessing.parent_process() is not None else available_cores()


class Workers:
    """Processes that share calls; none is started before `share` is called with enough work.

    Use it in a `with` block, whose end stops the workers. They also end if this process does.

    Examples
    --------
    >>> def double(x, progress):
    ...     return 2 * x
    >>> with Workers() as workers:
    ...     workers.share(double, [(1,), (4,)], seconds=0.1)
    [2, 8]
    """

    def __init__(self) -> None:
        self._pool: _Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.executor.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def share(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        *,
        seconds: float,
        progress: Say | None = None,
    ) -> list[Any]:
        """Results of ``function(*arguments, progress=say)`` for each of the calls, in their order.

        Parameters
        ----------
        function : callable
            Of a module, so that it can be pickled. Its results may depend on its arguments alone.
        calls : sequence of tuple
            Positional arguments.
        seconds : float
            Estimated time of all calls in one process. Workers are used from `WORTH_SECONDS` on, threads below.
        progress : callable, optional
            Called in this thread with what each call says, wherever it runs.

        Returns
        -------
        list
            If calls raise, the exception of the first of them is raised.
        """
        say = progress or (lambda text: None)
        n = min(wanted_processes(), len(calls))
        if n > 1 and seconds >= WORTH_SECONDS and self._pool is None:
            self._pool = _started(n)
        if n < 2 or seconds < WORTH_SECONDS or self._pool is None:
            return share_on_threads(function, calls, threads=n, progress=progress)
        answers = self._pool.answers(function, calls, say)
        for _, answer in sorted(answers.items()):
            for warning in answer.seen:
                warnings.warn_explicit(*warning)
        # what no worker could do: in this process, so that exceptions and warnings are those of a single process
        return [
            answers[i].result if i in answers else function(*arguments, progress=say)
            for i, arguments in enumerate(calls)
        ]


class _Answer(NamedTuple):
    """What a call returned, and its warnings as arguments of `warnings.warn_explicit`."""

    result: Any
    seen: list[tuple[Any, ...]]


class _Pool(NamedTuple):
    """Processes of loky, and the queue of what they say."""

    executor: Any
    said: Any
    n: int

    def answers(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], say: Say) -> dict[int, _Answer]:
        """Answers by the number of the call; a call that failed ends the batch, and has none."""
        cores = max(1, available_cores() // self.n)
        found: dict[int, _Answer] = {}
        running: dict[Future[Any], int] = {}
        # `concurrent.futures.wait` would leave locks held where Ctrl-C strikes it, and the end of the workers waits for them
        ended: SimpleQueue[Future[Any]] = SimpleQueue()
        waiting = iter(range(len(calls)))
        with suppress(BrokenProcessPool):  # a worker was killed, for memory perhaps
            while True:
                while len(running) < self.n and (i := next(waiting, None)) is not None:
                    if (call := _sendable((function, calls[i]))) is not None:
                        future = self.executor.submit(_answer, call, cores)
                        running[future] = i
                        future.add_done_callback(ended.put)
                if not running:
                    break
                with suppress(Empty):
                    future = ended.get(timeout=HEARD_EVERY)
                    i, answer = running.pop(future), future.result()
                    if answer is None:
                        waiting = iter(())
                    else:
                        found[i] = _Answer(*unpacked(answer))
                self.tell(say)
        self.tell(say)
        return found

    def tell(self, say: Say) -> None:
        """Pass on what workers said, in the calling thread."""
        while not self.said.empty():
            say(self.said.get())


def _started(n: int) -> _Pool | None:
    """The processes; None where none can be started, and in a program that embeds Python."""
    name = os.path.basename(sys.executable or "").lower()
    if not name.startswith(("python", "pypy")) or getattr(sys, "frozen", False):
        return None
    try:
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.backend import get_context

        if hasattr(signal, "pthread_sigmask"):  # starts here, because it would lift the mask of interrupts below
            resource_tracker.ensure_running()
        context = get_context("loky")
        said = context.SimpleQueue()
        executor = ProcessPoolExecutor(n, context=context, initializer=_begin, initargs=(said, os.getpid()))
        with _interrupts_wait():
            first = executor.submit(int)  # starts all processes
        first.result()  # the first process works, or nothing does
    except (ImportError, OSError, BrokenProcessPool):
        pass
    else:
        return _Pool(executor, said, n)
    return None


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C waits until the end of the block, and never reaches the processes that it starts: they inherit the mask."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _sendable(call: tuple[Any, ...]) -> tuple[bytearray, ...] | None:
    """The call in bytes; None if it cannot be pickled or is too long."""
    try:
        parts = _parts(call)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return tuple(map(bytearray, parts)) if sum(map(len, parts)) <= MOST_BYTES else None


# Values in bytes: the pickle, and the memory of arrays beside it.


class _Pickler(pickle.Pickler):
    """Keeps the order of axes in memory, on which the last bits of sums depend; memory maps are sent as arrays."""

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, np.ndarray) or obj.dtype.hasobject:
            return NotImplemented
        if type(obj) is np.memmap:
            return np.transpose, (np.asarray(obj), tuple(range(obj.ndim)))
        if type(obj) is not np.ndarray or obj.flags.c_contiguous or obj.flags.f_contiguous:
            return NotImplemented
        axes = tuple(int(axis) for axis in np.argsort([-abs(step) for step in obj.strides], kind="stable"))
        return np.transpose, (np.ascontiguousarray(obj.transpose(axes)), tuple(int(a) for a in np.argsort(axes)))


def packed(value: Any) -> tuple[bytes, ...]:
    """A copy of a value as bytes, for another process of this program.

    Examples
    --------
    >>> unpacked(packed(np.zeros((2, 3, 4)).transpose(1, 0, 2))).strides
    (32, 96, 8)
    """
    return tuple(map(bytes, _parts(value)))


def unpacked(parts: Sequence[bytes | bytearray]) -> Any:
    """The value that was copied; its arrays are read-only if they lie in `bytes`. Never call it on bytes of others."""
    return pickle.loads(parts[0], buffers=parts[1:])


def _parts(value: Any) -> list[memoryview]:
    """The pickle, then the memory of the arrays, which is not copied."""
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, protocol=5, buffer_callback=buffers.append).dump(value)
    return [stream.getbuffer(), *(buffer.raw() for buffer in buffers)]


# In the worker.

_say: Say


def _begin(said: Any, parent: int) -> None:
    """Prepare a worker: it speaks by the queue alone, leaves Ctrl-C to the first process, and ends with it."""
    global _say
    _say = said.put
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)

    def end_with_parent() -> None:  # loky would wait for the next call for ever
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()


def _answer(call: tuple[bytearray, ...], cores: int) -> tuple[bytearray, ...] | None:
    """The answer in bytes; None if the call fails: the first process repeats it and shows the error."""
    with warnings.catch_warnings(record=True) as seen, limited_cores(cores), single_blas_thread():
        warnings.simplefilter("always")
        try:
            function, arguments = unpacked(call)
            found = function(*arguments, progress=_say)
            return tuple(map(bytearray, _parts((found, [(w.message, w.category, w.filename, w.lineno) for w in seen]))))
        except Exception:
            return None


# Clients of Dask.

CONNECT_SECONDS = 7  # for each of two steps


@contextmanager
def connected(distributed: Any, address: str, parameter: str = "client") -> Iterator[Any]:
    """A client of the scheduler at an address; a wrong address is given up within 15 seconds."""
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
