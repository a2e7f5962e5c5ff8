"""The runner in this process and on Dask: what is done is kept, what fails is recorded, what is left is run."""

import errno
import os
import sys

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK, cells, drafts_of, draw, found
from tests.refusals import refuses

import uqassay.lab.bench.runner as runner
from uqassay.errors import MissingDependencyError
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.runner import SETTINGS, CellOutcome, cost_estimate, give_up, processes_of, run_cell, run_cells
from uqassay.lab.bench.store import FolderProblem, Store


def cell(function, seed=0, **params):
    return Cell(f"{WORK}:{function}", dataset="toy", method=function, seed=seed, params=params)


def here(some, folder, **options):
    return run_cells(some, folder, workers=0, **options)


# -- in this process --------------------------------------------------------------------------------------------------


def test_finished_cells_are_kept_and_new_ones_run(tmp_path):
    some = cells(4, pause=0.0)
    first = here(some[:3], tmp_path)
    assert (first.n_cells, first.n_kept, first.n_ran, first.failed) == (3, 0, 3, {})
    second = here(some, tmp_path)
    assert (second.n_cells, second.n_kept, second.n_ran) == (4, 3, 1)
    store = Store(tmp_path)
    for each in some:
        np.testing.assert_array_equal(
            store.result(each.key).prediction.mean_probs(), draw(each).prediction.mean_probs()
        )
    assert store.counts() == {"queued": 0, "running": 0, "done": 4, "failed": 0}


def test_cell_named_twice_runs_once(tmp_path):
    summary = here([cell("draw"), cell("draw")], tmp_path)
    assert (summary.n_cells, summary.n_ran) == (1, 1)


def test_failures_are_recorded_and_the_others_go_on(tmp_path):
    summary = here([cell("fail"), cell("draw"), cell("nothing")], tmp_path)
    assert summary.n_ran == 3
    assert summary.failed["toy, fail, seed 0"] == "RuntimeError: no luck with seed 0"
    assert "must return a CellResult; got None" in summary.failed["toy, nothing, seed 0"]
    text = found(Store(tmp_path), cell("fail")).traceback
    assert text.startswith("Traceback (most recent call last):")
    assert 'raise RuntimeError(f"no luck with seed {cell.seed}")' in text


def test_function_that_is_not_there_is_a_failure_of_its_cell(tmp_path):
    missing = Cell(f"{WORK}:no_such", dataset="toy", method="m", seed=0)
    assert "has no no_such" in here([missing, cell("draw")], tmp_path).failed["toy, m, seed 0"]
    assert Store(tmp_path).counts()["done"] == 1


def test_failed_cells_run_again_when_asked(tmp_path):
    mended = tmp_path / "mended"
    failing = cell("fail", mended=str(mended))
    assert here([failing], tmp_path / "run").n_ran == 1
    assert here([failing], tmp_path / "run").n_ran == 0
    again = here([failing], tmp_path / "run", retry_failed=True)
    assert (again.n_ran, list(again.failed)) == (1, ["toy, fail, seed 0"])
    mended.touch()
    assert here([failing], tmp_path / "run", retry_failed=True).failed == {}
    assert Store(tmp_path / "run").counts() == {"queued": 0, "running": 0, "done": 1, "failed": 0}


def test_worker_with_another_key_refuses_the_cell(tmp_path):
    other = cell("draw", seed=1)
    outcome = run_cell(cell("draw").key, other.to_json(), str(tmp_path))
    assert (outcome.state, "must have the same key" in outcome.message) == ("failed", True)


def test_damaged_result_is_run_again(tmp_path):
    here([cell("draw")], tmp_path)
    place = Store(tmp_path).place(cell("draw").key)
    (place / "prediction.npz").write_bytes(b"")
    summary = here([cell("draw")], tmp_path)
    assert (summary.n_kept, summary.n_ran) == (0, 1)
    assert Store(tmp_path).result(cell("draw").key).prediction.n_instances == 20


def test_progress_tells_what_is_left(tmp_path):
    said = []
    here([*cells(4, pause=0.0), cell("fail")], tmp_path, progress=said.append)
    assert [state.finished for state in said] == [0, 1, 2, 3, 4, 5]
    assert [state.total for state in said] == [5] * 6
    assert said[0].seconds_left is None
    assert said[-1].seconds_left == 0.0
    assert all(state.seconds_left > 0 for state in said[1:-1])
    assert (said[-1].failed, said[-1].cell) == (1, "toy, fail, seed 0")


def test_full_disk_stops_the_run_in_one_sentence_and_the_cell_stays_to_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Store(tmp_path).add(cells(4, pause=0.0))
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", refuse)
        with refuses("folder", "unwritable", got="no space", error=FolderProblem):
            here(cells(4, pause=0.0), tmp_path)
    assert Store(tmp_path).counts() == {"queued": 4, "running": 0, "done": 0, "failed": 0}
    assert here(cells(4, pause=0.0), tmp_path).n_ran == 4


def test_thread_settings_are_left_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    asked = Cell(f"{WORK}:where", dataset="toy", method="where", seed=0, threads=3)
    here([asked], tmp_path)
    assert Store(tmp_path).result(asked.key).metadata["facts"]["threads"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_cells_of_another_driver_are_waited_for(tmp_path, monkeypatch):
    other = Store(tmp_path)
    other.claim(cell("draw").key)
    waits = []

    def wait(seconds):
        if seconds != runner.POLL_SECONDS:
            return
        waits.append(seconds)
        if len(waits) == 3:
            other.finish(cell("draw"), draw(cell("draw")), seconds=0.0)

    monkeypatch.setattr(runner.time, "sleep", wait)
    summary = here([cell("draw"), cell("point")], tmp_path)
    assert len(waits) == 3
    assert (summary.n_ran, summary.failed) == (1, {})
    assert Store(tmp_path).counts()["done"] == 2


def test_interrupt_gives_the_cell_back_at_once(tmp_path, monkeypatch):
    def interrupt(seconds):
        raise KeyboardInterrupt("stop")

    with monkeypatch.context() as patch:
        patch.setattr(runner.time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt, match="stop"):
            here([cell("draw")], tmp_path)
    assert Store(tmp_path).counts()["queued"] == 1
    assert here([cell("draw")], tmp_path).n_ran == 1


def test_failures_of_one_name_are_all_told(tmp_path):
    summary = here([cell("fail", a=1), cell("fail", a=2)], tmp_path)
    assert sorted(name.partition(" (")[0] for name in summary.failed) == ["toy, fail, seed 0"] * 2


@pytest.mark.parametrize(
    ("options", "code", "got"),
    [
        ({"workers": -1}, "range", "got -1"),
        ({"workers": True}, "type", "got True"),
        ({"workers": 1.5}, "type", "got 1.5"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "conflict", "got 2"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, code, got):
    with refuses("workers", code, got=got):
        run_cells([cell("draw")], tmp_path, **options)
    with refuses("cells", "empty"):
        run_cells([], tmp_path)


def test_without_dask_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    said = r"pip install 'uqassay\[lab\]', or take --workers 0"
    with refuses("dask", "package", got=said, error=MissingDependencyError):
        run_cells([cell("draw")], tmp_path, workers=1)


# -- costs ------------------------------------------------------------------------------------------------------------


def test_costs_are_the_recorded_times_of_the_same_kind(tmp_path):
    some = [cell(name, seed) for seed in range(3) for name in ("draw", "point", "where")]
    before = cost_estimate(some, tmp_path)
    assert (before.queued, before.done, before.seconds) == (9, 0, None)
    assert before.untimed == ("toy, draw", "toy, point", "toy, where")
    store = Store(tmp_path)
    for each, seconds in ((some[0], 2.0), (some[1], 5.0)):
        store.claim(each.key)
        store.finish(each, draw(each), seconds=seconds)
    store.claim(some[2].key)
    store.fail(some[2].key, "ValueError: no")
    costs = cost_estimate(some, tmp_path)
    assert (costs.done, costs.failed, costs.queued, costs.running) == (2, 1, 6, 0)
    assert costs.untimed == ("toy, where",)
    np.testing.assert_allclose(costs.seconds, 2 * 2.0 + 2 * 5.0 + 2 * 3.5)
    here(some, tmp_path)
    assert cost_estimate(some, tmp_path).seconds == 0.0


def test_processes_share_the_cores_and_are_no_more_than_the_cells(monkeypatch):
    monkeypatch.setattr(runner, "available_cores", lambda: 8)
    assert [processes_of(None, 100, threads) for threads in (1, 2, 3, 16)] == [8, 4, 2, 1]
    assert [processes_of(None, 3, 1), processes_of(5, 100, 1), processes_of(0, 9, 1)] == [3, 5, 0]


# -- results that cannot be written -----------------------------------------------------------------------------------


def test_result_that_cannot_be_written_is_its_cell_s_failure_and_the_others_go_on(tmp_path):
    summary = run_cells([cell("misfit"), cell("draw")], tmp_path, workers=0)
    assert (summary.n_ran, list(summary.failed)) == (2, ["toy, misfit, seed 0"])
    assert "got 21 rows for 20 instances" in summary.failed["toy, misfit, seed 0"]
    kept = Store(tmp_path)
    assert kept.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 1}
    assert found(kept, cell("misfit")).traceback.startswith("Traceback (most recent call last):")
    assert [path.name for path in kept.place(cell("misfit").key).iterdir()] == ["traceback.txt"]
    assert drafts_of(tmp_path) == []


def test_method_that_ends_the_program_is_its_cell_s_failure(tmp_path):
    summary = run_cells([cell("leave"), cell("draw")], tmp_path, workers=0)
    assert summary.failed == {"toy, leave, seed 0": "SystemExit: no licence"}
    assert Store(tmp_path).counts() == {"queued": 0, "running": 0, "done": 1, "failed": 1}


def test_error_nobody_expects_while_a_result_is_written_is_its_cell_s_failure(store, cell, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(Store, "finish", refuse)
    outcome = run_cell(cell.key, cell.to_json(), str(store.folder))
    assert (outcome.state, outcome.message) == ("failed", "MemoryError: no room")
    assert store.counts()["failed"] == 1


# -- on Dask ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_local_cluster_gives_the_bits_of_this_process_whatever_the_number_of_workers(tmp_path, needs, monkeypatch):
    needs("distributed")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # a cluster that was killed may have left it
    some = [*cells(6, pause=0.0), cell("fail"), cell("where", threads=1)]
    hashes = {}
    for workers in (0, 1, 2):
        folder = tmp_path / str(workers)
        summary = run_cells(some, folder, workers=workers)
        assert (summary.n_ran, list(summary.failed)) == (8, ["toy, fail, seed 0"])
        hashes[workers] = [(one.key, one.hash) for one in Store(folder).states()]
        facts = Store(folder).result(some[-1].key).metadata["facts"]
        assert (facts["pid"] == os.getpid()) is (workers == 0)
        assert (facts["kept"] == str(2**27)) is (workers > 0)  # a step of a training finds its memory again
    assert hashes[0] == hashes[1] == hashes[2]


def test_an_outcome_that_was_lost_with_its_worker_is_waited_for(tmp_path, needs):
    needs("distributed")

    class Future:
        status = "finished"

        def __init__(self, key):
            self.key, self.looks = key, 0

        def add_done_callback(self, told):
            self.looks += 1
            self.status = {1: "lost", 2: "pending"}.get(self.looks, "finished")
            told(self)

        def result(self):
            assert self.looks == 3
            return CellOutcome(self.key, "taken")

        def release(self):
            self.looks = -1

    class Client:
        status = "running"

        def submit(self, run, cell_key, *rest, **options):
            return Future(cell_key)

    jobs = [(one.key, one) for one in cells(2)]
    found = list(runner._on_dask(Client(), Store(tmp_path), jobs, lambda: None))
    assert sorted(outcome.key for outcome in found) == sorted(key for key, _ in jobs)


@pytest.mark.slow
def test_cell_that_ends_its_worker_fails_and_the_others_do_not(tmp_path, needs, monkeypatch):
    needs("distributed")
    monkeypatch.setitem(SETTINGS, "distributed.scheduler.allowed-failures", 1)  # two workers start anew, not four
    summary = run_cells([cell("die"), *cells(4, pause=0.0)], tmp_path, workers=2)
    assert list(summary.failed) == ["toy, die, seed 0"]
    assert summary.failed["toy, die, seed 0"].startswith("WorkerEnded: ")
    assert Store(tmp_path).counts()["done"] == 4


@pytest.mark.slow
def test_running_scheduler_takes_the_cells_and_none_is_one_sentence(tmp_path, needs):
    needs("distributed")
    import distributed

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    ) as cluster:  # fmt: skip
        address = cluster.scheduler_address
        summary = run_cells(cells(4, pause=0.0), tmp_path, scheduler=address)
    assert (summary.n_ran, summary.failed) == (4, {})
    with refuses("scheduler", "missing", got="nowhere://x"):
        run_cells(cells(6, pause=0.0), tmp_path, scheduler="nowhere://x")


def test_cell_that_is_given_up_has_failed_unless_somebody_runs_it(tmp_path):
    store = Store(tmp_path)
    assert give_up(store, cell("die").key).state == "failed"
    assert "memory" in store.states([cell("die").key])[0].reason
    other = Store(tmp_path)
    assert other.claim(cell("draw").key)
    assert give_up(store, cell("draw").key).state == "taken"
    assert store.states([cell("draw").key])[0].state == "running"
