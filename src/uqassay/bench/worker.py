"""How a worker runs one cell: it claims the cell, calls its function, writes the result and reports the outcome.

An exception of the cell's function is stored as the cell's failure, and the worker goes on. If the folder takes no more files,
the cell stays queued, and the driver gets the error and stops.
"""

import importlib
import importlib.util
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Literal, final

from uqassay.bench.cell import Cell, CellResult, function_of
from uqassay.bench.files import FolderProblem
from uqassay.bench.states import reason_of
from uqassay.bench.store import Store
from uqassay.errors import InputError

__all__ = ["THREAD_VARIABLES", "CellOutcome", "run_cell"]

MAX_TRACEBACK = 20_000  # characters, from the end
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@final
@dataclass(frozen=True)
class CellOutcome:
    """The outcome of one cell at a worker.

    Attributes
    ----------
    key : str
    state : {"done", "failed", "taken", "refused"}
        "taken": another process has the cell, or has finished it; "refused": the folder takes no files.
    seconds : float
        Time the cell ran.
    message : str
        The exception of a failure, on one line.
    problem : FolderProblem or None
        Of a refusal.
    """

    key: str
    state: Literal["done", "failed", "taken", "refused"]
    seconds: float = 0.0
    message: str = ""
    problem: FolderProblem | None = None


def run_cell(key: str, text: str, folder: str, lease_seconds: float) -> CellOutcome:
    """Run one cell in this process and keep its result.

    Parameters
    ----------
    key : str
        As the driver knows the cell; a worker with other source code refuses it.
    text : str
        The cell as JSON.
    folder : str
    lease_seconds : float

    Returns
    -------
    CellOutcome
    """
    cell = Cell.from_json(text)
    try:
        store = Store(folder, lease_seconds=lease_seconds)
        if not store.claim(key):
            return CellOutcome(key, "taken")
    except FolderProblem as problem:
        return CellOutcome(key, "refused", problem=problem)
    start = time.perf_counter()
    with _renewed(store, key):
        try:
            result = _result(cell, key)
        except (Exception, SystemExit):  # any error of a method, and an exit, is the failure of its cell
            return _failed(store, key, time.perf_counter() - start)
        except BaseException:  # Ctrl-C: this process may live on, and the cell would count as running
            with suppress(FolderProblem):
                store.release(key)
            raise
        seconds = time.perf_counter() - start
        try:
            first = store.finish(cell, result, seconds=seconds)
        except FolderProblem as problem:
            with suppress(FolderProblem):  # if the claim cannot be removed, it lapses
                store.release(key)
            return CellOutcome(key, "refused", seconds, problem=problem)
        except Exception:  # a prediction that cannot be written
            return _failed(store, key, seconds)
    return CellOutcome(key, "done" if first else "taken", seconds)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _result(cell: Cell, key: str) -> CellResult:
    """The result of the cell's function, computed with the cell's number of threads."""
    if cell.key != key:
        raise InputError(
            "cell",
            "must have the same source code at the worker and at the driver",
            f"the code of {cell.name} differs",
            "install the same version of uqassay everywhere",
            code="mismatch",
        )
    with _limited(cell.threads):
        result = function_of(cell.function)(cell)
    if not isinstance(result, CellResult):
        raise InputError(
            "function",
            "must return a CellResult",
            f"{cell.function} returned {type(result).__name__}",
            "wrap its values in CellResult",
            code="type",
        )
    return result


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Limit the threads of libraries: of loaded ones directly, of those that the block loads by the environment."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch is not None else 0
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        if torch is not None:
            torch.set_num_threads(threads)
        with _pools_limited(threads):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(torch_before)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _pools_limited(threads: int) -> Any:
    if importlib.util.find_spec("threadpoolctl") is None:
        return nullcontext()
    return importlib.import_module("threadpoolctl").threadpool_limits(threads)


def _failed(store: Store, key: str, seconds: float) -> CellOutcome:
    """Record the exception that is being handled."""
    text = traceback.format_exc()
    try:
        ours = store.fail(key, text[-MAX_TRACEBACK:])
    except FolderProblem as problem:
        return CellOutcome(key, "refused", seconds, problem=problem)
    return CellOutcome(key, "failed" if ours else "taken", seconds, reason_of(text))


@contextmanager
def _renewed(store: Store, key: str) -> Iterator[None]:
    """Renew the claim of a cell from a second thread while the cell runs."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(store.lease_seconds / 4):
            with suppress(FolderProblem):  # tried again later; the result is written even if the lease lapses
                if not store.renew(key):
                    return

    thread = threading.Thread(target=renew, name=f"lease of {key[:12]}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
