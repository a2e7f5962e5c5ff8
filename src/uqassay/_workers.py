"""Calls shared between this process and workers, which are further Python processes; results are those of one process.

A worker is started as a new program and gets its calls through a pipe. Unlike a process of `multiprocessing`, it does not run
the script of the user again, so scripts need no ``__main__`` guard, and it is not forked, which is unsafe where threads run.
This process does everything that a worker cannot do: calls that cannot be pickled, calls that fail, and all calls where no
worker can be started.
"""

import io
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

import numpy as np
from numpy.typing import NDArray

from uqassay._chunks import available_cores, limited_cores
from uqassay.errors import InputError

__all__ = ["VARIABLE", "Workers", "packed", "serve", "unpacked", "wanted_processes"]

VARIABLE = "UQASSAY_PROCESSES"
WORTH_SECONDS = 1.5  # of estimated work; a worker takes about half a second of processor time to start
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
            Estimated time of all calls in one process. Workers are used from `WORTH_SECONDS` on.
        progress : callable, optional
            Called in this thread with what each call says, wherever it runs.

        Returns
        -------
        list
            If calls raise, the exception of the first of them is raised.
        """
        say = progress or _silent
        n = min(wanted_processes(), len(calls))
        if n < 2 or seconds < WORTH_SECONDS or not _is_python():
            return [function(*arguments, progress=say) for arguments in calls]
        with suppress(OSError):  # no further process can be started
            while len(self._workers) < n - 1:
                self._workers.append(_Worker(function.__module__))
        batch = _Batch(function, calls)
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

    def __init__(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> None:
        self.function, self.calls = function, calls
        self.results: dict[int, Any] = {}
        self.seen: dict[int, list[tuple[Any, ...]]] = {}
        self._waiting = deque(range(len(calls)))
        self._said: deque[str] = deque()
        self._in_hand = 0
        self._changed = Condition()

    def take(self) -> int | None:
        """The number of the next call, or None."""
        with self._changed:
            if not self._waiting:
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
                batch, cores = item
                while (i := batch.take()) is not None:
                    answer = None
                    try:
                        answer = self._answer(batch, (batch.function, batch.calls[i], cores))
                    finally:
                        batch.give(i, answer)

    def _answer(self, batch: _Batch, call: tuple[Any, ...]) -> _Answer | None:
        """The answer of the process to one call; None if the call cannot be sent or was refused."""
        try:
            message = _packed(call)
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        if sum(len(part) for part in message) > MOST_BYTES:
            return None
        _send(self._inbox, message)
        while isinstance(found := _receive(self._outbox), str):
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
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what code prints must not come between the answers
    outbox.write(READY + b"\n")
    outbox.flush()
    with suppress(EOFError, BrokenPipeError):
        while True:
            function, arguments, cores = _receive(inbox)
            with warnings.catch_warnings(record=True) as seen, limited_cores(cores):
                warnings.simplefilter("always")
                try:
                    found = function(*arguments, progress=lambda text: _send(outbox, _packed(text)))
                except InputError:
                    _send(outbox, _packed(None))
                    continue
            _send(outbox, _packed((found, [(w.message, w.category, w.filename, w.lineno) for w in seen])))


# -- messages ------------------------------------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Keeps the order of axes in memory, on which the last bits of sums depend; memory maps are sent as arrays."""

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, np.ndarray) or obj.dtype.hasobject:
            return NotImplemented
        if type(obj) is np.memmap:
            return _turned, (np.asarray(obj), tuple(range(obj.ndim)))
        if type(obj) is not np.ndarray or obj.flags.c_contiguous or obj.flags.f_contiguous:
            return NotImplemented
        axes = tuple(int(axis) for axis in np.argsort([-abs(step) for step in obj.strides], kind="stable"))
        back = tuple(int(axis) for axis in np.argsort(axes))
        return _turned, (np.ascontiguousarray(obj.transpose(axes)), back)


def _turned(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return array.transpose(axes)


def packed(value: Any) -> tuple[bytes, ...]:
    """A copy of a value as bytes, for another process of this program.

    Examples
    --------
    >>> unpacked(packed(np.zeros((2, 3, 4)).transpose(1, 0, 2))).strides
    (32, 96, 8)
    """
    return tuple(bytes(part) for part in _packed(value))


def unpacked(parts: Sequence[bytes]) -> Any:
    """The value that `packed` copied; its arrays are read-only. Never call it on bytes that another program wrote."""
    return pickle.loads(parts[0], buffers=parts[1:])


def _packed(value: Any) -> list[Any]:
    """A message in parts: the pickle, then the memory of its arrays, which is not copied."""
    parts: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, protocol=5, buffer_callback=parts.append).dump(value)
    return [stream.getbuffer(), *(part.raw() for part in parts)]


def _send(pipe: IO[bytes], message: Sequence[Any]) -> None:
    sizes = np.array([len(message), *(len(part) for part in message)], dtype=np.int64)
    pipe.write(sizes.tobytes())
    for part in message:
        pipe.write(part)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """The next message of the other end, which is this program."""
    (n,) = np.frombuffer(_read(pipe, 8), dtype=np.int64).tolist()
    sizes = np.frombuffer(_read(pipe, 8 * n), dtype=np.int64).tolist()
    head, *parts = [_read(pipe, size) for size in sizes]
    return pickle.loads(head, buffers=parts)


def _read(pipe: IO[bytes], size: int) -> bytearray:
    """Exactly so many bytes.

    Raises
    ------
    EOFError
        The other end is closed.
    """
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        got = pipe.readinto(view[done:])  # type: ignore[attr-defined]
        if not got:
            raise EOFError
        done += got
    return data
