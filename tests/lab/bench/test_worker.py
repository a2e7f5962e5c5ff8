"""A worker keeps its claim while it runs a cell, and stores the failure of a cell whose result cannot be written."""

import threading
import time

from tests.lab.bench.bench_work import WORK, claim_of, found

from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.runner import run_cell, run_cells
from uqassay.lab.bench.store import FolderProblem, Store


def named(function):
    return Cell(f"{WORK}:{function}", dataset="toy", method=function, seed=0)


def test_result_that_cannot_be_written_is_its_cell_s_failure_and_the_others_go_on(tmp_path):
    summary = run_cells([named("misfit"), named("draw")], tmp_path, workers=0)
    assert (summary.n_ran, list(summary.failed)) == (2, ["toy, misfit, seed 0"])
    assert "got 21 rows for 20 instances" in summary.failed["toy, misfit, seed 0"]
    kept = Store(tmp_path)
    assert kept.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 1}
    assert found(kept, named("misfit")).traceback.startswith("Traceback (most recent call last):")
    assert not kept.place(named("misfit").key).exists()
    assert list((tmp_path / "drafts").iterdir()) == []


def test_method_that_ends_the_program_is_its_cell_s_failure(tmp_path):
    summary = run_cells([named("leave"), named("draw")], tmp_path, workers=0)
    assert summary.failed == {"toy, leave, seed 0": "SystemExit: no licence"}
    assert Store(tmp_path).counts() == {"queued": 0, "running": 0, "done": 1, "failed": 1}


def test_error_nobody_expects_while_a_result_is_written_is_its_cell_s_failure(store, cell, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(Store, "finish", refuse)
    outcome = run_cell(cell.key, cell.to_json(), str(store.folder), 60.0)
    assert (outcome.state, outcome.message) == ("failed", "MemoryError: no room")
    assert store.counts()["failed"] == 1


def test_worker_renews_its_claim_while_the_cell_runs(tmp_path, monkeypatch):
    """The cell ends after the fourth renewal; the worker waits a quarter of the lease for each."""
    store = Store(tmp_path)
    cell, lease, waits = named("draw"), 0.4, []
    ages = []

    class Watched(threading.Event):
        def wait(self, timeout=None):
            waits.append(timeout)
            return super().wait(timeout)

    def wait_for_renewals(seconds):
        deadline = time.monotonic() + 120
        while len(set(ages)) < 5 and time.monotonic() < deadline:
            ages.append(claim_of(store, cell).stat().st_mtime_ns)
            sleep(0.01)

    sleep = time.sleep
    monkeypatch.setattr("uqassay.lab.bench.runner.threading.Event", Watched)
    monkeypatch.setattr("tests.lab.bench.bench_work.time.sleep", wait_for_renewals)
    assert run_cell(cell.key, cell.to_json(), str(tmp_path), lease).state == "done"
    assert len(set(ages)) == 5
    assert ages == sorted(ages)
    assert {seconds for seconds in waits if seconds is not None} == {lease / 4}


def test_folder_that_takes_no_files_is_told_with_its_fields_and_the_cell_stays_queued(store, cell, monkeypatch):
    problem = FolderProblem("folder", "is full", "", "free some", code="unwritable")

    def refuse(*_, **__):
        raise problem

    monkeypatch.setattr(Store, "finish", refuse)
    outcome = run_cell(cell.key, cell.to_json(), str(store.folder), 60.0)
    assert (outcome.state, outcome.problem) == ("refused", problem)
    assert store.counts()["queued"] == 1
