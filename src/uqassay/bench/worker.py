"""What a worker does with one cell: claim it, run its function, write the result, and say how it ended.

The function of a cell may raise whatever it likes; that is recorded and the worker goes on. A folder that takes no more files
is another matter: the cell stays to be done, and the sentence goes back to the driver, which stops.
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
from uqassay.bench.index import FolderProblem
from uqassay.bench.store import Store
from uqassay.errors import InputError

__all__ = ["THREAD_VARIABLES", "Outcome", "run_cell"]

MAX_TRACEBACK = 20_000  # characters, from the end
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@final
@dataclass(frozen=True)
class Outcome:
    """How a worker's turn with a cell ended.

    Attributes
    ----------
    key : str
    state : {"done", "failed", "taken", "refused"}
        "taken": another process has the cell, or has finished it; "refused": the folder takes no files.
    seconds : float
        Time the cell ran.
    message : str
        The sentence of a refusal, or the last line of a traceback.
    """

    key: str
    state: Literal["done", "failed", "taken", "refused"]
    seconds: float = 0.0
    message: str = ""


def run_cell(key: str, text: str, folder: str, lease_seconds: float) -> Outcome:
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
    Outcome
    """
    cell = Cell.from_json(text)
    try:
        store = Store(folder, lease_seconds=lease_seconds)
        if not store.claim(key):
            return Outcome(key, "taken")
    except FolderProblem as problem:
        return Outcome(key, "refused", message=str(problem))
    start = time.perf_counter()
    with _renewed(store, key):
        try:
            result = _result(cell, key)
        except (Exception, SystemExit):  # whatever a method raises is its cell's own failure
            return _failed(store, key, time.perf_counter() - start)
        except BaseException:  # Ctrl-C: this process may live on, and its cells would be taken for running
            with suppress(FolderProblem):
                store.release(key)
            raise
        seconds = time.perf_counter() - start
        try:
            counted = store.finish(cell, result, seconds=seconds)
        except FolderProblem as problem:
            with suppress(FolderProblem):  # a full disk may take no entry either; then the lease ends, or this process
                store.release(key)
            return Outcome(key, "refused", seconds, str(problem))
        except Exception:  # a prediction that cannot be written
            return _failed(store, key, seconds)
    return Outcome(key, "done" if counted else "taken", seconds)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _result(cell: Cell, key: str) -> CellResult:
    """What the cell's function returns, computed with as many threads as the cell says."""
    if cell.key != key:
        raise InputError(
            "cell",
            f"{cell.name} rests on other source code here than where it was sent from",
            "",
            "install the same version of uqassay everywhere",
            code="undefined",
        )
    with _limited(cell.threads):
        result = function_of(cell.function)(cell)
    if not isinstance(result, CellResult):
        raise InputError(
            "function",
            f"{cell.function} must return a CellResult",
            f"got {type(result).__name__}",
            "wrap what it returns",
            code="type",
        )
    return result


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Limit the threads of the libraries that are loaded, and by the environment those of libraries loaded within."""
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


def _failed(store: Store, key: str, seconds: float) -> Outcome:
    """Record the exception that is being handled."""
    text = traceback.format_exc()
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    try:
        counted = store.fail(key, text[-MAX_TRACEBACK:])
    except FolderProblem as problem:
        return Outcome(key, "refused", seconds, str(problem))
    return Outcome(key, "failed" if counted else "taken", seconds, last)


@contextmanager
def _renewed(store: Store, key: str) -> Iterator[None]:
    """Renew the lease of a cell from a thread of its own while it runs."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(store.lease_seconds / 4):
            with suppress(
                FolderProblem
            ):  # tried again in a moment; the result is written whatever becomes of the lease
                if not store.renew(key):
                    return

    thread = threading.Thread(target=renew, name=f"lease of {key[:12]}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
