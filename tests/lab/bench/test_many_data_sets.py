"""Methods of a benchmark over its data sets: one row for each data set, means over seeds and conditions."""

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.config import BenchConfig
from uqassay.lab.bench.report import compare_benchmark, report_places, write_config
from uqassay.lab.bench.store import Store


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
