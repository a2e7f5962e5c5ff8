"""Reports of a benchmark: the assay of the stored results, in folders that replace nothing of somebody else."""

import json

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.config import BenchConfig, read_config
from uqassay.lab.bench.report import check_places, comparisons, unjudged, write_comparison, write_config
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
    assert not {"cells", "drafts", "plans", "assay"} & set(names)


def test_conditions_are_part_of_the_folder_and_the_name(tmp_path):
    some = [cell(), cell(train_share=0.5)]
    store = Store(tmp_path)
    for one in some:
        store.claim(one.key)
        store.finish(one, drawn(0, np.array([0, 1, 2])), seconds=0.0)
    found = comparisons(some, tmp_path)
    assert [one.name for one in found] == ["toy", "toy, train_share 0.5"]
    assert "train_share=0.5" in found[1].folder.name


@pytest.mark.parametrize("name", ["report.html", "findings.csv", "assay", "cells.json"])
def test_files_of_somebody_else_are_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with refuses("output", "unwritable", got=name):
        check_places([cell()], tmp_path)
    Store(tmp_path).add([cell()])  # now it is a benchmark's, but a page says whose it is
    if name == "report.html":
        with refuses("output", "unwritable", got=name):
            check_places([cell()], tmp_path)
        (tmp_path / name).write_text('<pre id="command-text">uqassay bench -o x</pre>')
    check_places([cell()], tmp_path)


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
