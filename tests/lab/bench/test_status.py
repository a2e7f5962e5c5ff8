"""The status of a benchmark: counts, means and failures, read from the files of its folder."""

import pytest
from tests.lab.bench.bench_work import WORK, draw, files_of
from tests.refusals import refuses

from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.report import read_status
from uqassay.lab.bench.store import Store


def named(method, seed):
    return Cell(f"{WORK}:draw", dataset="toy", method=method, seed=seed)


def test_status_counts_and_averages_each_method(tmp_path):
    store, some = Store(tmp_path), [named(method, seed) for method in ("a", "b") for seed in range(2)]
    store.add(some)
    results = [draw(cell) for cell in some]
    for cell, result, seconds in zip(some[:2], results, (1.0, 3.0), strict=False):
        store.claim(cell.key)
        store.finish(cell, result, seconds=seconds)
    store.claim(some[2].key)
    store.fail(some[2].key, "Traceback\nValueError: no")
    before = files_of(tmp_path)
    found = read_status(tmp_path)
    a, b = found.rows
    assert (a.method, a.done, a.failed, a.running, a.queued, a.seconds) == ("a", 2, 0, 0, 0, 2.0)
    accuracies = [(r.prediction.probs.mean(axis=1).argmax(axis=1) == r.labels).mean() for r in results[:2]]
    assert a.accuracy == pytest.approx(sum(accuracies) / 2, abs=1e-12)
    assert (b.method, b.done, b.failed, b.queued, b.accuracy, b.seconds) == ("b", 0, 1, 1, None, None)
    assert found.to_dict()["counts"] == {"done": 2, "failed": 1, "running": 0, "queued": 1}
    (failure,) = found.failures
    assert failure == {
        "key": some[2].key, "dataset": "toy", "method": "b", "seed": 0, "traceback": "Traceback\nValueError: no",
    }  # fmt: skip
    assert any("toy, b, seed 0" in said and "ValueError: no" in said for said in found.sentences())
    assert files_of(tmp_path) == before


def test_long_list_of_failures_is_cut_and_counted(tmp_path):
    store, some = Store(tmp_path), [named("a", seed) for seed in range(13)]
    store.add(some)
    for cell in some:
        store.claim(cell.key)
        store.fail(cell.key, "ValueError: no")
    said = read_status(tmp_path).sentences()
    assert len(said) == 13
    assert "3" in said[-2]


def test_folder_without_a_benchmark_is_refused(tmp_path):
    with refuses("folder", "missing", got=str(tmp_path)):
        read_status(tmp_path)
    assert list(tmp_path.iterdir()) == []
