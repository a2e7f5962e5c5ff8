"""Calls shared among threads of this process; results are those of one thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import Any

from uqassay._blas import single_blas_thread
from uqassay._chunks import available_cores, limited_cores

__all__ = ["share_on_threads"]

Say = Callable[[str], None]


def share_on_threads(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], *, threads: int, progress: Say | None = None
) -> list[Any]:
    """Results of ``function(*arguments, progress=say)`` for each of the calls, in their order.

    It gains where the calls compute on arrays, because NumPy and the compiled kernels let other threads run meanwhile.

    Parameters
    ----------
    function : callable
        Its results may depend on its arguments alone. The threads that it starts itself share its part of the cores.
    calls : sequence of tuple
        Positional arguments.
    threads : int
        The most threads.
    progress : callable, optional
        Called in this thread with what each call says, wherever it runs.

    Returns
    -------
    list
        If calls raise, the exception of the first of them is raised.

    Examples
    --------
    >>> def double(x, progress):
    ...     return 2 * x
    >>> share_on_threads(double, [(1,), (4,)], threads=2)
    [2, 8]
    """
    say = progress or (lambda text: None)
    threads = min(threads, len(calls))
    if threads < 2:
        return [function(*arguments, progress=say) for arguments in calls]
    cores = max(1, available_cores() // threads)
    said: SimpleQueue[str | None] = SimpleQueue()  # None: a call has ended
    stopped = Event()

    def one(arguments: tuple[Any, ...]) -> Any:
        try:
            if stopped.is_set():  # an earlier call has failed, and its exception is raised
                return None
            with limited_cores(cores):
                return function(*arguments, progress=said.put)
        except Exception:
            stopped.set()
            raise
        finally:
            said.put(None)

    with single_blas_thread(), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, arguments) for arguments in calls]
        try:
            for _ in futures:
                while (text := said.get()) is not None:
                    say(text)
        finally:
            stopped.set()
        return [future.result() for future in futures]
