"""The runner in this process and on Dask: what is done is kept, what fails is recorded, what is left is run."""

import errno
import os
import sys

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK, cells, draw, found
from tests.refusals import refuses

import uqassay.lab.bench.runner as runner
from uqassay.errors import MissingDependencyError
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.runner import cost_estimate, processes_of, run_cell, run_cells
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
    outcome = run_cell(cell("draw").key, other.to_json(), str(tmp_path), 60.0)
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
    other.claims.owner = "elsewhere.1.1"
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
    said = r"pip install '\.\[bench\]' in the clone of uqassay, or take --workers 0"
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
