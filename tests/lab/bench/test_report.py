"""Reports of a benchmark: the assay of the stored results, the status, the methods over all data sets."""

import json

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK, draw, files_of
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.config import BenchConfig, read_config
from uqassay.lab.bench.report import (
    check_places,
    compare_benchmark,
    comparisons,
    read_status,
    report_places,
    unjudged,
    write_comparison,
    write_config,
)  # fmt: skip
from uqassay.lab.bench.store import Store

pytestmark = pytest.mark.usefixtures("without_calibration")


def stored(folder, results):
    """Cells of given results: {(method, seed): CellResult}."""
    store = Store(folder)
    cells = [Cell(f"{WORK}:draw", dataset="toy", method=method, seed=seed) for method, seed in results]
    store.add(cells)
    for cell, result in zip(cells, results.values(), strict=True):
        if result is not None:
            store.claim(cell.key)
            store.finish(cell, result, seconds=0.0)
    return cells


def drawn(seed, labels, **more):
    rng = np.random.default_rng(seed)
    return CellResult(uq.Point(rng.dirichlet(np.ones(3), size=len(labels))), labels, **more)


def test_comparison_is_the_assay_of_the_runs_in_the_order_of_the_seeds(tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, 40)
    score = np.random.default_rng(1).normal(size=40)
    counts = {"train_counts": [1, 2, 7]}
    results = {
        ("a", 5): drawn(1, labels, scores={"density": score}, facts=counts),
        ("a", 2): drawn(2, labels, scores={"density": 2 * score, "other": score}, facts=counts),
        ("b", 2): drawn(3, labels, facts=counts),
        ("b", 5): None,
        ("c", 2): None,
    }
    cells = stored(tmp_path, results)
    (found,) = comparisons(cells, tmp_path)
    assert found.seeds == {"a": (2, 5), "b": (2,)}
    expected = uq.assay(
        {"a": [results["a", 2].prediction, results["a", 5].prediction], "b": [results["b", 2].prediction]},
        labels,
        uncertainties={"a": {"density": np.stack([2 * score, score])}},
        prior=[0.1, 0.2, 0.7],
    )
    assert found.assay.to_json()["findings"] == expected.to_json()["findings"]
    assert (found.name, found.folder) == ("toy", tmp_path)


def test_results_on_different_instances_cannot_be_compared(tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, 40)
    cells = stored(tmp_path, {("a", 0): drawn(1, labels), ("b", 0): drawn(2, labels[::-1].copy())})
    with refuses("labels", "mismatch", got="toy, b, seed 0"):
        comparisons(cells, tmp_path)


def test_conditions_whose_test_labels_differ_from_seed_to_seed_have_a_note_in_place_of_a_report(tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, 40)
    conditions = [
        {"label_noise": 0.0, "subsets_by_seed": True},  # level 0 permutes nothing
        {"label_noise": 0.5, "subsets_by_seed": True},
        {"label_noise": 0.5},
        {"train_share": 0.5, "subsets_by_seed": True},
    ]
    cells = [
        Cell(f"{WORK}:draw", dataset="toy", method="a", seed=seed, condition=condition)
        for condition in conditions
        for seed in (0, 1)
    ]
    store = Store(tmp_path)
    for one in cells:
        differs = one.condition.get("label_noise") == 0.5 and "subsets_by_seed" in one.condition
        store.claim(one.key)
        store.finish(one, drawn(one.seed, np.roll(labels, one.seed if differs else 0)), seconds=0.0)
    assert [found.condition for found in comparisons(cells, tmp_path)] == [conditions[i] for i in (0, 2, 3)]
    (note,) = unjudged(cells)
    assert note.text.startswith("no report on 1 condition of toy")
    assert (note.code, note.facts) == ("left-out", {"dataset": "toy", "levels": [0.5]})
    one_seed = cells[::2]
    assert unjudged(one_seed) == ()
    assert len(comparisons(one_seed, tmp_path)) == 4


def test_prior_counts_the_training_instances_of_all_runs(tmp_path):
    labels = np.arange(40) % 3
    counts = [{"train_counts": [1, 1, 2]}, {"train_counts": [3, 1, 0]}]
    cells = stored(tmp_path, {("a", i): drawn(i, labels, facts=facts) for i, facts in enumerate(counts)})
    (found,) = comparisons(cells, tmp_path)
    runs = [drawn(i, labels).prediction for i in range(2)]
    assert (
        found.assay.to_json()["findings"]
        == uq.assay({"a": runs}, labels, prior=[0.5, 0.25, 0.25]).to_json()["findings"]
    )


def test_nothing_done_is_no_comparison(tmp_path):
    assert comparisons(stored(tmp_path, {("a", 0): None}), tmp_path) == []


def cell(dataset="toy", method="a", **condition):
    return Cell(f"{WORK}:draw", dataset=dataset, method=method, seed=0, condition=condition)


def test_several_reports_get_folders_that_differ_on_every_file_system(tmp_path):
    some = [cell("Toy"), cell("toy"), cell("cells"), cell("plans"), cell("a/b"), cell("../x"), cell("")]
    store, labels = Store(tmp_path), np.array([0, 1, 2])
    for i, one in enumerate(some):
        store.claim(one.key)
        store.finish(one, drawn(i, labels), seconds=0.0)
    folders = [found.folder for found in comparisons(some, tmp_path)]
    names = [folder.name.lower() for folder in folders]
    assert len(set(names)) == len(some)
    assert all(folder.parent == tmp_path for folder in folders)
    assert not {"cells", "plans", "assay"} & set(names)


def test_conditions_are_part_of_the_folder_and_the_name(tmp_path):
    some = [cell(), cell(train_share=0.5)]
    store = Store(tmp_path)
    for one in some:
        store.claim(one.key)
        store.finish(one, drawn(0, np.array([0, 1, 2])), seconds=0.0)
    found = comparisons(some, tmp_path)
    assert [one.name for one in found] == ["toy", "toy, train_share 0.5"]
    assert "train_share=0.5" in found[1].folder.name


def test_page_on_disentanglement_of_somebody_else_is_not_replaced(tmp_path):
    (tmp_path / "disentanglement.html").write_text("mine")
    check_places([cell()], tmp_path)
    with refuses("output", "unwritable", got="disentanglement.html"):
        check_places([cell()], tmp_path, studied=True)
    Store(tmp_path).add([cell()])
    with refuses("output", "unwritable", got="disentanglement.html"):
        check_places([cell()], tmp_path, studied=True)
    (tmp_path / "disentanglement.html").write_text("<pre>uqassay bench -o x</pre>")
    check_places([cell()], tmp_path, studied=True)


def test_written_configuration_and_report_can_be_read_again(tmp_path):
    config = BenchConfig(dataset=["toy"], method=["a"], seeds=[0])
    path = write_config(config, [cell()], tmp_path)
    assert BenchConfig(**read_config(path)) == config
    (listed,) = json.loads((tmp_path / "cells.json").read_text())["cells"]
    assert listed["key"] == cell().key
    store = Store(tmp_path)
    store.claim(cell().key)
    store.finish(cell(), drawn(0, np.arange(30) % 3), seconds=0.0)
    (found,) = comparisons([cell()], tmp_path)
    page = write_comparison(found, command="uqassay bench -o x")
    assert page == tmp_path / "report.html"
    check_places([cell()], tmp_path)  # our own may be replaced
    assert (tmp_path / "findings.csv").read_text().count("\n") > 3


# -- the status --------------------------------------------------------------------------------------------------------


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


# -- over several data sets --------------------------------------------------------------------------------------------


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
