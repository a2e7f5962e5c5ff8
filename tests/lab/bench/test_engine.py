"""Cells on Dask: the same bits as in one process, and workers, outcomes and schedulers that are lost."""

import os

import pytest
from tests.lab.bench.bench_work import WORK, cells
from tests.refusals import refuses

from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.runner import SETTINGS, CellOutcome, give_up, run_cells
from uqassay.lab.bench.store import Store


def cell(function, seed=0, **params):
    return Cell(f"{WORK}:{function}", dataset="toy", method=function, seed=seed, params=params)


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
        assert list((folder / "drafts").iterdir()) == []
    assert hashes[0] == hashes[1] == hashes[2]


def test_an_outcome_that_was_lost_with_its_worker_is_waited_for(tmp_path, needs):
    needs("distributed")
    from uqassay.lab.bench.runner import _on_dask

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
    found = list(_on_dask(Client(), Store(tmp_path), jobs, lambda: None))
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
    other.claims.owner = "elsewhere.1.1"
    assert other.claim(cell("draw").key)
    assert give_up(store, cell("draw").key).state == "taken"
    assert store.states([cell("draw").key])[0].state == "running"
