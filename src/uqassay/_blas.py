"""One thread of NumPy's matrix products while the threads of this package share the cores."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from threading import Lock

__all__ = ["single_blas_thread"]

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
