"""Cheap cells, their states, and other processes at work, for the tests of the runner and its folders."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.runner import run_cells
from uqassay.lab.bench.store import CellState, Store
from uqassay.predictions import Members, Point

WORK = "tests.lab.bench.bench_work"
STEPS = ("os.rename", "os.mkdir", "os.remove", "os.rmdir")  # and opening a file to write
N, K, MEMBERS = 20, 3, 4


def draw(cell: Cell) -> CellResult:
    """Random members and labels that depend on the cell alone; sleeps `pause` seconds before."""
    time.sleep(cell.params.get("pause", 0.0))
    rng = np.random.default_rng([cell.seed, len(cell.method)])
    members = rng.dirichlet(np.ones(K), size=(N, MEMBERS))
    labels = np.random.default_rng(5).integers(0, K, N)
    return CellResult(Members(members), labels, scores={"density": rng.normal(size=N)}, facts={"device": "cpu"})


def point(cell: Cell) -> CellResult:
    """The same as a point prediction, without scores."""
    drawn = draw(cell)
    return CellResult(Point(drawn.prediction.mean_probs()), drawn.labels)


def fail(cell: Cell) -> CellResult:
    """Fail, unless a file says that the fault was mended."""
    if not Path(cell.params.get("mended", "/nonexistent")).exists():
        raise RuntimeError(f"no luck with seed {cell.seed}")
    return draw(cell)


def die(cell: Cell) -> CellResult:
    """End the worker's process without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    return draw(cell)


def leave(cell: Cell) -> None:
    """What libraries do that take themselves for a program."""
    sys.exit("no licence")


def nothing(cell: Cell) -> None:
    """No result at all."""


def misfit(cell: Cell) -> CellResult:
    """A result that cannot be written: a label more than there are predictions."""
    drawn = draw(cell)
    return CellResult(drawn.prediction, np.append(drawn.labels, 0))


def where(cell: Cell) -> CellResult:
    """Tell the process, the threads, and how much freed memory the process keeps."""
    drawn = draw(cell)
    facts = {
        "pid": os.getpid(),
        "threads": os.environ["OMP_NUM_THREADS"],
        "kept": os.environ.get("MALLOC_TRIM_THRESHOLD_", ""),
    }
    return CellResult(drawn.prediction, drawn.labels, facts=facts)


def cells(n: int = 12, pause: float = 0.15) -> list[Cell]:
    """Half of them members, half points."""
    names = ("draw", "point")
    return [
        Cell(f"{WORK}:{name}", dataset="toy", method=name, seed=seed, params={"pause": pause})
        for seed in range(n // 2)
        for name in names
    ]


def state(store: Store, cell: Cell) -> str:
    """The state of a cell in its folder."""
    return found(store, cell).state


def found(store: Store, cell: Cell) -> CellState:
    """What the folder says of a cell."""
    (one,) = store.states([cell.key])
    return one


@contextmanager
def running_elsewhere(store: Store, *cells: Cell) -> Iterator[subprocess.Popen]:
    """Cells that another process has locked, until the end of the block or until it is killed."""
    program = "import sys; from filelock import FileLock\n"
    program += "locks = [FileLock(path) for path in sys.argv[1:]]; [lock.acquire() for lock in locks]\n"
    program += "print('locked', flush=True); sys.stdin.read()"
    places = [store.place(cell.key).with_name(f"{cell.key}.lock") for cell in cells]
    for place in places:
        place.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-c", program, *map(str, places)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        try:
            yield other
        finally:
            other.kill()


def store_result(folder: Path, cell: Cell, result: CellResult) -> None:
    """Store the result of a cell as if a worker had run it for a second."""
    store = Store(folder)
    assert store.claim(cell.key)
    store.finish(cell, result, seconds=1.0)


def drafts_of(folder: Path) -> list[Path]:
    """Drafts of cells that were left in a benchmark's folder."""
    return list(folder.glob("cells/??/.uqassay-*"))


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def drive(folder: str, workers: int = 2) -> None:
    """A driver of its own; prints how many cells it ran and kept."""
    summary = run_cells(cells(), folder, workers=workers)
    print(json.dumps([summary.n_ran, summary.n_kept, summary.failed]))


def drive_apart(what: str, folder: str, out: str, err: str) -> None:
    """A task of `TASKS` in a session of its own; what it says goes to files."""
    os.setsid()
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), number)
    TASKS[what](folder)
    sys.stdout.flush()


def kill_everywhere(folder: str) -> None:
    """Two cells in a process that is killed before its 1st, 2nd, … step on files, until one comes through.

    Each is in a folder of its own; prints how many were killed. A whole run comes first: the children then find every module
    imported and every source file read, and have only their own steps to do.
    """
    run_cells(cells(2, pause=0.0), f"{folder}/first", workers=0)
    for step in range(1, 1000):
        child = os.fork()
        if child == 0:
            steps = iter(range(1, step))

            def count(event: str, arguments: tuple, steps: Iterator[int] = steps) -> None:
                writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
                if (event in STEPS or writes) and next(steps, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(count)
            run_cells(cells(2, pause=0.0), f"{folder}/{step}", workers=0)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            print(step - 1)
            return


TASKS = {"drive": drive, "drive-one": partial(drive, workers=1), "kill-everywhere": kill_everywhere}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have what runs in the background ignore it
    TASKS[sys.argv[1]](sys.argv[2])
