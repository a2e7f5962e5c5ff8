"""Killed at any moment, a benchmark goes on and ends with the same bits; several drivers share one folder.

Drivers are forked from a process that has loaded all modules, but for those that are interrupted: what a terminal stops has
started with an interpreter of its own.
"""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK, cells, drafts_of, drive_apart

import uqassay as uq
from uqassay.lab.bench.runner import run_cells
from uqassay.lab.bench.store import Store

SOURCE = Path(uq.__file__).resolve().parents[1]
ROOT = Path(__file__).resolve().parents[3]
N_KILLS = 12
STEP = 0.05  # seconds between looks at the processes, each of which reads all of /proc
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def start_interpreter(folder, what):
    path = os.pathsep.join([str(SOURCE), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", WORK, what, str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


class Driver:
    """A driver that is forked from a process with all modules."""

    def __init__(self, folder, what):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["distributed", "uqassay.lab.bench.runner", WORK])
        self.said = [folder.with_name(f"{folder.name}.{time.monotonic_ns()}.{name}") for name in ("out", "err")]
        self.process = context.Process(target=drive_apart, args=(what, str(folder), *map(str, self.said)))
        self.process.start()
        self.pid = self.process.pid

    @property
    def returncode(self):
        return self.process.exitcode

    def poll(self):
        return self.process.exitcode

    def wait(self, timeout=None):
        self.process.join(timeout)

    def communicate(self, timeout=None):
        self.process.join(timeout)
        return [path.read_text() if path.exists() else "" for path in self.said]


def processes_of(session):
    """Living processes of a session, and their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] not in "ZX":
                    found[int(entry.name)] = (entry / "cmdline").read_bytes()
    return found


def workers_of(driver):
    return [pid for pid, line in processes_of(driver.pid).items() if pid != driver.pid and b"spawn_main" in line]


def is_running(folder):
    return (folder / "cells").exists() and Store(folder, create=False, required=False).counts()["running"] > 0


def interrupted(folder):
    """Cells that were locked by a process that has ended."""
    store = Store(folder, create=False, required=False)
    left = [path.name.partition(".")[0] for path in (folder / "cells").glob("??/*.lock")]
    return sum(found.state == "queued" for found in store.states(left))


def left_of(driver):
    """Processes that are still there some seconds after a driver has ended."""
    deadline = time.monotonic() + 120
    while (left := processes_of(driver.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def bits(folder):
    """Every array of every result, and what the folder says of it."""
    store = Store(folder, create=False)
    found = {}
    for cell in store.states(verify=True):
        place = store.place(cell.key)
        arrays = {}
        for file in ("prediction.npz", "scores.npz"):
            if (place / file).exists():
                with np.load(place / file, allow_pickle=False) as archive:
                    arrays |= {f"{file}/{k}": (archive[k].dtype.str, archive[k].tobytes()) for k in archive.files}
        facts = store.result(cell.key).metadata
        kept = (cell.state, cell.dataset, cell.method, cell.seed, cell.accuracy, cell.hash, facts["cell"])
        found[cell.key] = (kept, arrays)
    return found


def end(driver):
    """Wait until a driver ends by itself, without a word of error."""
    out, err = driver.communicate(timeout=6000)
    assert (driver.returncode, err) == (0, "")
    return json.loads(out)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The bits of a run in one process, without Dask, which starts three."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("whole")
    assert run_cells(cells(), folder, workers=0).n_ran == 12
    return bits(folder)


@pytest.fixture
def drivers():
    """Starts drivers; none of them outlives the test."""
    started = []

    def begin(folder, what="drive", new=Driver):
        started.append(new(folder, what))
        return started[-1]

    yield begin
    for driver in started:
        for end_all in (os.kill, os.killpg):  # one that has just started has no group of its own
            with suppress(ProcessLookupError):
                end_all(driver.pid, signal.SIGKILL)
        driver.communicate()


@pytest.mark.slow
def test_kills_of_drivers_and_workers_leave_the_bits_of_an_uninterrupted_run(uninterrupted, drivers, tmp_path):
    rng = random.Random(20)
    victims = ["driver", "worker"] * (N_KILLS // 2)
    rng.shuffle(victims)
    folders = [tmp_path / "0"]
    started = [drivers(folders[-1])]
    n_interrupted = 0
    while victims:
        driver = started[-1]
        while victims[-1] == "worker" and driver.poll() is None and not workers_of(driver):
            time.sleep(STEP)
        if rng.random() < 0.7:  # while cells run; the others at any moment, while workers start or end
            while driver.poll() is None and not is_running(folders[-1]):
                time.sleep(STEP)
            time.sleep(rng.uniform(0.0, 0.2))
        else:
            time.sleep(rng.uniform(0.0, 1.5))
        if driver.poll() is not None:  # it came to its end, or was the last victim
            if driver.returncode == 0:
                end(driver)
                assert bits(folders[-1]) == uninterrupted
                folders.append(tmp_path / str(len(folders)))
            started.append(drivers(folders[-1]))
            continue
        targets = workers_of(driver) if victims[-1] == "worker" else [driver.pid]
        with suppress(ProcessLookupError, IndexError):  # it ended in this moment
            os.kill(rng.choice(targets), signal.SIGKILL)
            if victims.pop() == "driver":
                driver.wait(600)
                left_of(driver)
                n_interrupted += interrupted(folders[-1])
    started[-1].wait(600)
    end(drivers(folders[-1]))
    assert bits(folders[-1]) == uninterrupted
    for folder in folders:
        assert run_cells(cells(), folder, workers=0).n_kept == len(uninterrupted)
        assert drafts_of(folder) == []
    assert n_interrupted >= 2  # cells that were killed while they ran
    assert [left_of(driver) for driver in started] == [{}] * len(started)  # no worker outlives its driver


@pytest.mark.slow
def test_killed_before_any_step_on_its_files_a_run_ends_with_the_same_bits(tmp_path, drivers):
    whole = tmp_path / "whole"
    run_cells(cells(2, pause=0.0), whole, workers=0)
    expected = bits(whole)
    n_killed = end(drivers(tmp_path, "kill-everywhere"))
    assert n_killed >= 20
    claimed = written = 0
    for step in range(1, n_killed + 1):
        folder = tmp_path / str(step)
        states = Store(folder).counts()
        assert states["running"] == states["failed"] == 0
        results = {path.parent.name for path in (folder / "cells").glob("*/[0-9a-f]*/metadata.json")}
        locked = {path.name.partition(".")[0] for path in (folder / "cells").glob("*/*.lock")}
        claimed += bool(locked - results)
        written += bool(drafts_of(folder))
        assert len(results) == states["done"]
        summary = run_cells(cells(2, pause=0.0), folder, workers=0)
        assert (summary.n_kept, summary.failed) == (len(results), {})
        assert bits(folder) == expected
        assert drafts_of(folder) == []
    assert claimed >= 1  # killed while the cell was claimed
    assert written >= 1  # killed while the result was written


@pytest.mark.slow
def test_two_drivers_on_one_folder_count_each_cell_once(uninterrupted, drivers, tmp_path):
    both = [drivers(tmp_path, "drive-one"), drivers(tmp_path, "drive-one")]  # with a worker each
    summaries = [end(driver) for driver in both]
    assert sum(ran for ran, _, _ in summaries) == 12
    assert bits(tmp_path) == uninterrupted
    assert drafts_of(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 1.0])  # while the workers start, and while cells run
def test_interrupt_ends_the_driver_and_its_workers(uninterrupted, drivers, tmp_path, pause):
    driver = drivers(tmp_path, new=start_interpreter)
    while not workers_of(driver):
        time.sleep(STEP)
    time.sleep(pause)
    os.killpg(driver.pid, signal.SIGINT)  # as a terminal does, to all processes
    _, err = driver.communicate(timeout=600)
    assert driver.returncode != 0
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "Dask Worker process" not in err
    assert left_of(driver) == {}
    assert Store(tmp_path).counts()["running"] == 0
    assert run_cells(cells(), tmp_path, workers=0).failed == {}
    assert bits(tmp_path) == uninterrupted
