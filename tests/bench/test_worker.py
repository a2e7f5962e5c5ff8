"""What a worker makes of a cell whose result cannot be written."""

from tests.bench.bench_work import WORK

from uqassay.bench.cell import Cell
from uqassay.bench.runner import run_cells
from uqassay.bench.store import Store
from uqassay.bench.worker import run_cell


def named(function):
    return Cell(f"{WORK}:{function}", dataset="toy", method=function, seed=0)


def test_result_that_cannot_be_written_is_its_cell_s_failure_and_the_others_go_on(tmp_path):
    summary = run_cells([named("misfit"), named("draw")], tmp_path, workers=0)
    assert (summary.n_ran, list(summary.failed)) == (2, ["toy, misfit, seed 0"])
    assert "labels: must have one row for each of 20 predictions; got 21" in summary.failed["toy, misfit, seed 0"]
    kept = Store(tmp_path)
    assert kept.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 1}
    assert kept.index.row(named("misfit").key)["traceback"].startswith("Traceback (most recent call last):")
    assert not kept.place(named("misfit").key).exists()
    assert list((tmp_path / "drafts").iterdir()) == []


def test_error_nobody_expects_while_a_result_is_written_is_its_cell_s_failure(store, cell, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(Store, "finish", refuse)
    outcome = run_cell(cell.key, cell.to_json(), str(store.folder), 60.0)
    assert (outcome.state, outcome.message) == ("failed", "MemoryError: no room")
    assert store.counts()["failed"] == 1
