"""The status of a benchmark: counts, means and failures, read from the files of its folder."""

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK, draw, files_of
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.config import BenchConfig
from uqassay.lab.bench.report import compare_benchmark, read_status, report_places, write_config
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


# -- Methods of a benchmark over its data sets: one row for each data set, means over seeds and conditions.


def judged(seed, methods=("a", "b")):
    rng = np.random.default_rng(seed)
    models = {name: uq.Point(rng.dirichlet(np.ones(3), 9)) for name in methods}
    return uq.assay(models, np.arange(9) % 3, calibration=(), n_draws=10)


def benchmark(folder, *, conditions=({},), assays=None):
    """A benchmark of two methods on three data sets, with the saved assays of its reports."""
    cells = [
        Cell(f"{WORK}:draw", dataset=dataset, method=method, seed=0, condition=condition)
        for dataset in ("u", "v", "w")
        for condition in conditions
        for method in ("a", "b")
    ]
    Store(folder).add(cells)
    write_config(BenchConfig(dataset=["u", "v", "w"], method=["a", "b"]), cells, folder)
    places = report_places(cells, folder)
    assays = assays or [judged(k) for k in range(len(places))]
    for (_, _, place), one in zip(places, assays, strict=True):
        place.mkdir(parents=True)
        one.save(place / "assay")
    return assays


def test_numbers_are_those_of_the_reports(tmp_path):
    assays = benchmark(tmp_path)
    found = compare_benchmark(tmp_path, tradeoff=0.2)
    assert (found.models, found.data_sets) == (("a", "b"), ("u", "v", "w"))
    expected = [[one.loss(m, 0.2).mean() for m in ("a", "b")] for one in assays]
    assert found.values == pytest.approx(np.array(expected))


def test_conditions_of_a_data_set_are_averaged(tmp_path):
    assays = benchmark(tmp_path, conditions=({"train_share": 0.5}, {"train_share": 1.0}))
    found = compare_benchmark(tmp_path, metric="accuracy")
    assert found.data_sets == ("u", "v", "w")
    each = np.array([[one[m].columns["correct"].mean() for m in ("a", "b")] for one in assays])
    assert found.values == pytest.approx(each.reshape(3, 2, 2).mean(axis=1))
    assert str(found.notes[0]) == "6 rows in 3 data sets, whose means are compared"


def test_what_is_missing_is_named(tmp_path):
    with refuses("folder", "missing", got="nothing-here"):
        compare_benchmark(tmp_path / "nothing-here")
    benchmark(tmp_path, assays=[judged(0), judged(1, methods=("a",)), judged(2)])
    with refuses("values", "missing", got="b has none on v"):
        compare_benchmark(tmp_path)
    (tmp_path / "w" / "assay").rename(tmp_path / "w" / "moved")
    with refuses("folder", "missing", got="w has none"):
        compare_benchmark(tmp_path)
    (tmp_path / "cells.json").unlink()
    with refuses("folder", "missing", got="cells.json has none"):
        compare_benchmark(tmp_path)
