"""Calls shared between this process and workers, which are further Python processes; results are those of one process.

A worker is started as a new program and gets its calls through a pipe. Unlike a process of `multiprocessing`, it does not run
the script of the user again, so scripts need no ``__main__`` guard, and it is not forked, which is unsafe where threads run.
This process does everything that a worker cannot do: calls that cannot be pickled, calls that fail, and all calls where no
worker can be started.
"""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Condition, Thread
from typing import IO, Any, NamedTuple, Self

from uqassay._messages import message_of, receive, send
from uqassay.arrays import available_cores, limited_cores
from uqassay.errors import InputError
from uqassay.native import share_on_threads, single_blas_thread

__all__ = ["VARIABLE", "Workers", "serve", "wanted_processes"]

VARIABLE = "UQASSAY_PROCESSES"
WORTH_SECONDS = (
    8.0  # of estimated work; a worker takes half a second of a processor to start, threads wait for each other
)
MOST_BYTES = 2**28  # of one call; larger ones are not sent
START = """
import sys, importlib, pickle
sys.path[:], module = pickle.load(sys.stdin.buffer)
importlib.import_module(module)
from uqassay._workers import serve
serve()
"""
READY = b"uqassay worker"  # its first line; another program may stand behind `sys.executable`

Say = Callable[[str], None]


def wanted_processes() -> int:
    """Processes that may share calls: the cores of this process, or the number in `UQASSAY_PROCESSES`.

    One within a process of `multiprocessing`, because its siblings use the other cores.

    Raises
    ------
    InputError
        The variable holds no whole number of at least 1.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if text and not (text.isdecimal() and int(text) > 0):
        raise InputError(
            VARIABLE, "must be a whole number, at least 1", f"got {text!r}", "set it to 1 for one process", code="type"
        )
    if text:
        return int(text)
    return 1 if multiprocessing.parent_process() is not None else available_cores()


class Workers:
    """Processes that share calls with this one; none is started before `share` is called with enough work.

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
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers.clear()

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
        say = progress or _silent
        n = min(wanted_processes(), len(calls))
        if seconds < WORTH_SECONDS or not _is_python():
            return share_on_threads(function, calls, threads=n, progress=progress)
        if n < 2:
            return [function(*arguments, progress=say) for arguments in calls]
        with suppress(OSError):  # no further process can be started
            while len(self._workers) < n - 1:
                self._workers.append(_Worker(function.__module__))
        batch = _Batch(function, calls, n)
        cores = max(1, available_cores() // n)
        for worker in self._workers[: n - 1]:
            worker.batches.put((batch, cores))
        with limited_cores(cores):
            self._take_part(batch, say)
        batch.finish(say)
        for _, seen in sorted(batch.seen.items()):
            for warning in seen:
                warnings.warn_explicit(*warning)
        # what no worker could do: in this process, so that exceptions and warnings are those of a single process
        return [
            batch.results[i] if i in batch.results else function(*arguments, progress=say)
            for i, arguments in enumerate(calls)
        ]

    @staticmethod
    def _take_part(batch: "_Batch", say: Say) -> None:
        """Do calls in this process until none is waiting."""

        def told(text: str) -> None:
            batch.tell(say)
            say(text)

        while (i := batch.take()) is not None:
            batch.tell(say)
            answer = None
            try:
                answer = _Answer(batch.function(*batch.calls[i], progress=told), [])
            except InputError:
                batch.cancel()  # one of the calls taken is refused: the first of them decides, see `share`
            finally:
                batch.give(i, answer)


def _silent(text: str) -> None:
    """Progress that nobody asked for."""


def _is_python() -> bool:
    """False where `sys.executable` may be another program: an application that embeds or freezes Python."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


class _Answer(NamedTuple):
    """What a call returned, and the warnings of a worker as arguments of `warnings.warn_explicit`."""

    result: Any
    seen: list[tuple[Any, ...]]


class _Batch:
    """Calls that several processes take in turn."""

    def __init__(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], n_processes: int) -> None:
        self.function, self.calls, self.n_processes = function, calls, n_processes
        self.results: dict[int, Any] = {}
        self.seen: dict[int, list[tuple[Any, ...]]] = {}
        self._waiting = deque(range(len(calls)))
        self._said: deque[str] = deque()
        self._in_hand = 0
        self._changed = Condition()

    def take(self, *, leaving: int = 0) -> int | None:
        """The number of the next call; None if no more than `leaving` calls wait."""
        with self._changed:
            if len(self._waiting) <= leaving:
                return None
            self._in_hand += 1
            return self._waiting.popleft()

    def give(self, i: int, answer: _Answer | None) -> None:
        """A call has ended; None: without a result."""
        with self._changed:
            self._in_hand -= 1
            if answer is not None:
                self.results[i], self.seen[i] = answer
            self._changed.notify_all()

    def cancel(self) -> None:
        """Start none of the calls that wait."""
        with self._changed:
            self._waiting.clear()

    def hear(self, text: str) -> None:
        """A worker says what it does."""
        with self._changed:
            self._said.append(text)
            self._changed.notify_all()

    def tell(self, say: Say) -> None:
        """Pass on what workers said, in the calling thread."""
        while self._said:
            say(self._said.popleft())

    def finish(self, say: Say) -> None:
        """Wait for the calls that workers have taken."""
        while True:
            with self._changed:
                if self._in_hand and not self._said:
                    self._changed.wait()
                done = not self._in_hand
            self.tell(say)
            if done:
                return


class _Worker:
    """One process, and the thread that gives it calls."""

    def __init__(self, module: str) -> None:
        self.batches: SimpleQueue[tuple[_Batch, int] | None] = SimpleQueue()
        options = ["-I", *(["-B"] if sys.dont_write_bytecode else [])]
        self._process = subprocess.Popen(
            [sys.executable, *options, "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._inbox: IO[bytes] = self._process.stdin  # type: ignore[assignment]
        self._outbox: IO[bytes] = self._process.stdout  # type: ignore[assignment]
        self._thread = Thread(target=self._run, args=(module,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the process and the thread."""
        self.batches.put(None)
        self._process.kill()
        self._thread.join()
        self._process.wait()
        for pipe in (self._inbox, self._outbox):
            with suppress(OSError):  # bytes that were not yet written to a process that has ended
                pipe.close()

    def _run(self, module: str) -> None:
        with suppress(OSError, EOFError):  # the process has ended, and its calls are left to the others
            self._inbox.write(pickle.dumps((sys.path, module)))
            self._inbox.flush()
            if self._outbox.readline().strip() != READY:
                return
            while (item := self.batches.get()) is not None:
                self._take_part(*item)

    def _take_part(self, batch: _Batch, cores: int) -> None:
        """Pass on calls and their answers until no call is waiting.

        The process gets the next call before it has answered the last one, so that it does not wait for it. Of the last
        calls it gets one at a time: they are for whoever is free first.
        """
        sent: deque[int] = deque()
        try:
            while True:
                while len(sent) < 2 and (i := batch.take(leaving=batch.n_processes if sent else 0)) is not None:
                    sent.append(i)
                    if not self._sent((batch.function, batch.calls[i], cores)):
                        batch.give(sent.pop(), None)
                if not sent:
                    return
                answer = self._answer(batch)
                batch.give(sent.popleft(), answer)
        finally:
            for i in sent:
                batch.give(i, None)

    def _sent(self, call: tuple[Any, ...]) -> bool:
        """Send a call, if it can be sent."""
        try:
            message = message_of(call)
        except (pickle.PicklingError, AttributeError, TypeError):
            return False
        if sum(len(part) for part in message) > MOST_BYTES:
            return False
        send(self._inbox, message)
        return True

    def _answer(self, batch: _Batch) -> _Answer | None:
        """The next answer of the process; None if it refused the call."""
        while isinstance(found := receive(self._outbox), str):
            batch.hear(found)
        if found is None:
            batch.cancel()
            return None
        return _Answer(*found)


# -- in the worker -------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer calls until the pipe ends; the body of a worker.

    An exception other than a refusal ends the worker, and its call is repeated in the first process, which shows the traceback.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process, which stops its workers
    inbox = os.fdopen(os.dup(0), "rb", buffering=0)  # a buffer that a thread waits for cannot be closed at the end
    outbox = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what code prints must not come between the answers
    outbox.write(READY + b"\n")
    outbox.flush()
    calls: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
    Thread(target=_read_calls, args=(inbox, calls), daemon=True).start()
    with suppress(BrokenPipeError), single_blas_thread():
        while (call := calls.get()) is not None:
            function, arguments, cores = call
            with warnings.catch_warnings(record=True) as seen, limited_cores(cores):
                warnings.simplefilter("always")
                try:
                    found = function(*arguments, progress=lambda text: send(outbox, message_of(text)))
                except InputError:
                    send(outbox, message_of(None))
                    continue
            send(outbox, message_of((found, [(w.message, w.category, w.filename, w.lineno) for w in seen])))


def _read_calls(inbox: IO[bytes], calls: "SimpleQueue[tuple[Any, ...] | None]") -> None:
    """Pass calls on as they come; the pipe is read also while a call is computed, so that neither end waits to write."""
    try:
        with suppress(EOFError):
            while True:
                calls.put(receive(inbox))
    finally:
        calls.put(None)
