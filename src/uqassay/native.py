"""Compiled twins of array formulas, and threads: the one switch for both."""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from queue import SimpleQueue
from threading import Event, Lock
from types import ModuleType
from typing import Any, final

from uqassay.arrays import available_cores, limited_cores
from uqassay.files import installed_again

__all__ = [
    "extension",
    "kernel",
    "kernels",
    "share_on_threads",
    "single_blas_thread",
]


# Compiled twins of a few array formulas: whether they are here, and the one place that picks one.
#
# The extension module `uqassay._kernels` holds them (sources: folder ``native`` of the repository). It is built with the
# package where there is a C++ compiler. Where it is absent, or the environment variable ``UQASSAY_PURE`` is 1, the formulas
# are used; they give the same results in more time.

# Arguments and results of the kernels; raised by one when any of them changes. native/src/kernels.h holds its twin: in an
# editable installation the Python files may be newer than the module.
INTERFACE = 1
_MODULE = "uqassay._kernels"


@final
@dataclass(frozen=True, slots=True)
class Kernels:
    """Which compiled kernels are in use, and why not if none is."""

    names: tuple[str, ...]  #: Kernels in use; empty if the formulas do all work.
    reason: str  #: Why the formulas do all work; empty if the kernels are in use.

    def __str__(self) -> str:
        if self.names:
            return f"compiled kernels: {', '.join(self.names)}"
        return f"compiled kernels: none, {self.reason}; results are the same, large inputs take longer"


def kernel(name: str) -> Callable[..., Any] | None:
    """The compiled twin of a formula, or None where the formula has to do the work.

    Examples
    --------
    >>> kernel("no_such_kernel") is None
    True
    """
    if _pure():
        return None
    return getattr(_loaded()[0], name, None)


def kernels() -> Kernels:
    """Compiled kernels in use; printed, it is one line that also tells why there are none.

    Examples
    --------
    >>> import uqassay as uq
    >>> print(uq.kernels())
    compiled kernels: ...
    """
    if _pure():
        return Kernels((), "UQASSAY_PURE=1 asks for the formulas")
    module, reason = _loaded()
    if module is None:
        return Kernels((), reason)
    names = tuple(name for name in sorted(vars(module)) if not name.startswith("_") and callable(getattr(module, name)))
    return Kernels(names, "")


def extension() -> ModuleType | None:
    """The module of the kernels, switched off or not; None if it cannot be used. Benchmarks compare with its plain loops."""
    return _loaded()[0]


def _pure() -> bool:
    return os.environ.get("UQASSAY_PURE") == "1"


@cache
def _loaded() -> tuple[ModuleType | None, str]:
    """The extension module; if it cannot be used, None and the reason with its remedy."""
    try:
        module = import_module(_MODULE)
    except ModuleNotFoundError:
        return None, f"they were not built; with a C++ compiler, {installed_again()}"
    except ImportError as problem:  # built for another system or another Python
        return None, f"they cannot be loaded ({problem}); {installed_again()}"
    found = getattr(module, "interface", None)
    if found != INTERFACE:
        return None, f"they were built from other sources (version {found}, not {INTERFACE}); {installed_again()}"
    return module, ""


# One thread of NumPy's matrix products while the threads of this package share the cores.

# of OpenBLAS, as NumPy's wheels, other builds with 64-bit integers, and systems name them
GETTERS = ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_", "openblas_get_num_threads")

_lock = Lock()
_before: list[int] = []  # threads of BLAS before each of the blocks that are open


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Within the block, matrix products of the whole process use one thread each.

    The further threads of OpenBLAS wait actively for their next product, on cores that other threads need. Blocks may overlap
    in several threads; the end of the last one restores the number. Another BLAS than OpenBLAS keeps its threads.

    Examples
    --------
    >>> import numpy as np
    >>> with single_blas_thread():
    ...     (np.ones((2, 2)) @ np.ones(2)).tolist()
    [2.0, 2.0]
    """
    threads, limit = _openblas()
    with _lock:
        _before.append(_before[0] if _before else threads())
        limit(1)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                limit(before)


@cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]]:
    """Functions that tell and set the number of threads of NumPy's OpenBLAS; without effect if it has another BLAS."""
    # the search for a function goes through the libraries that this one has loaded, except on Windows
    library = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
    for name in GETTERS:
        with suppress(AttributeError):
            return getattr(library, name), getattr(library, name.replace("_get_", "_set_"))
    return lambda: 1, lambda threads: None


# Calls shared among threads of this process; results are those of one thread.

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
