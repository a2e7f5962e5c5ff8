"""Runs of an estimator at hand in the folder of a benchmark, so that a killed study goes on where it was."""

import inspect
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.results import StoredResult
from uqassay.bench.store import Store

__all__ = ["modules_of", "stored_result"]


def stored_result(folder: str | os.PathLike[str], cell: Cell, make: Callable[[], CellResult]) -> StoredResult:
    """The stored result of a cell; if there is none, or a damaged one, that of `make` is stored first.

    Parameters
    ----------
    folder : path
        As in `uqassay.bench.store.Store`.
    cell : Cell
        Its key holds all that the result depends on.
    make : callable
    """
    store = Store(folder)
    store.recover([cell.key])
    if store.states([cell.key], verify=True)[0].state != "done":
        start = time.perf_counter()
        store.finish(cell, make(), seconds=time.perf_counter() - start)
    return store.result(cell.key)


def modules_of(*values: Any) -> tuple[str, ...]:
    """Modules with the code of objects and functions: of this package, and of the user where they can be imported."""
    found = []
    for value in values:
        for kind in [value] if inspect.isfunction(value) else type(value).__mro__:
            top = kind.__module__.partition(".")[0]
            released = top != "uqassay" and hasattr(sys.modules.get(top), "__version__")
            if top not in ("builtins", "abc", "__main__") and not released and _has_file(kind.__module__):
                found.append(kind.__module__)
    return tuple(dict.fromkeys(found))


def _has_file(module: str) -> bool:
    return getattr(sys.modules.get(module), "__file__", None) is not None
