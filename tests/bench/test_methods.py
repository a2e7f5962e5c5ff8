"""The package's methods on its data sets as cells: what the keys depend on, what a condition does, what comes out."""

import json

import numpy as np
import pytest
from tests.bench.bench_work import WORK
from tests.refusals import refuses

import uqassay as uq
from uqassay.bench import methods as bench_methods
from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.config import BenchConfig
from uqassay.bench.methods import cells_of, changed_data, run_method
from uqassay.bench.report import comparisons
from uqassay.bench.store import Store
from uqassay.errors import InputError


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


@pytest.fixture
def iris():
    from uqassay.datasets import load_dataset

    return load_dataset("iris")


def config(**changes):
    facts = {"dataset": "iris", "method": ["snn", "random-forest"], "preset": "smoke", "seeds": 2}
    return BenchConfig(**facts | changes)


# -- cells ------------------------------------------------------------------------------------------------------------


def test_cells_are_all_combinations_with_the_first_seed_first(iris):
    cells = cells_of(config(dataset=["iris", "wine"], condition=[{}, {"train_share": 0.5}]))
    assert len({cell.key for cell in cells}) == len(cells) == 16
    assert [cell.seed for cell in cells] == [0] * 8 + [1] * 8
    assert [cell.method for cell in cells[:4]] == ["snn", "random-forest"] * 2
    assert cells[0].data_hash == iris.content_hash
    assert cells[0].params == {"method": "snn", "params": {"epochs": 2}}
    assert cells[1].params["params"].get("epochs") is None  # a forest has none
    assert cells_of(config(preset="cpu"))[0].params == {"method": "snn", "params": {}}


def test_name_with_options_and_label_reach_the_cell():
    cell = cells_of(config(method="mine=dn-0.1", params={"mine": {"epochs": 3, "backbone": [4, 4]}}))[0]
    assert cell.method == "mine"
    expected = {"where": "last", "n_samples": 10, "rate": 0.1, "epochs": 3, "backbone": [4, 4]}
    assert cell.params == {"method": "dn-0.1", "params": expected}


def test_source_of_the_method_and_of_the_data_sets_counts():
    cell = cells_of(config(method="mc-dropout"))[0]
    assert cell.rests_on == ("uqassay.datasets.dataset", "uqassay.methods.mc_dropout")


def test_limits_of_the_preset_count_where_the_data_exceed_them(iris, monkeypatch):
    monkeypatch.setitem(bench_methods.LIMITS, "smoke", (50, 1000))
    assert cells_of(config())[0].condition == {"train_limit": 50}
    assert cells_of(config(condition={"train_limit": 20}))[0].condition == {"train_limit": 20}
    assert cells_of(config(preset="paper"))[0].condition == {}
    monkeypatch.setitem(bench_methods.LIMITS, "smoke", (len(iris.y_train), None))
    assert cells_of(config())[0].condition == {}


# -- conditions -------------------------------------------------------------------------------------------------------


def test_conditions_change_the_data_alike_every_time(iris):
    condition = {"train_limit": 60, "test_limit": 12, "train_share": 0.5, "label_noise": 0.5}
    found = [changed_data(iris, condition) for _ in range(2)]
    assert found[0].content_hash == found[1].content_hash
    limited = changed_data(iris, {"train_limit": 60, "test_limit": 12})
    assert (len(limited.y_train), len(limited.y_test)) == (60, 12)
    rows = {row.tobytes(): label for row, label in zip(iris.X_train, iris.y_train, strict=True)}
    assert all(rows[row.tobytes()] == label for row, label in zip(limited.X_train, limited.y_train, strict=True))
    shared = changed_data(iris, {"train_share": 0.5})
    np.testing.assert_array_equal(np.bincount(shared.y_train), np.bincount(iris.y_train) // 2)
    noisy = changed_data(iris, {"label_noise": 0.5})
    assert 0 < (noisy.y_train != iris.y_train).sum() <= len(iris.y_train) / 2
    assert changed_data(iris, {}) is iris


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"train_shar": 0.5}, "'train_shar' is not known; did you mean train_share"),
        ({"train_share": 0}, r"train_share must be a number in \(0, 1\]; got 0"),
        ({"label_noise": 1.5}, r"label_noise must be a number in \[0, 1\]; got 1.5"),
        ({"label_noise": True}, "label_noise must be a number"),
        ({"test_limit": 0}, "test_limit must be a whole number from 1 up; got 0"),
        ({"train_limit": 2.5}, "train_limit must be a whole number from 1 up; got 2.5"),
    ],
)
def test_conditions_that_mean_nothing_are_refused(iris, condition, words):
    with pytest.raises(InputError, match=words):
        changed_data(iris, condition)
    with pytest.raises(InputError, match=words):
        cells_of(config(condition=condition))


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("snn", {"epoch": 2}, r"snn.epoch: is no option of snn; its options are .*did you mean epochs"),
        ("snn", {"epochs": 2.5}, "snn.epochs: must be a whole number from 1 up; got 2.5"),
        ("snn", {"progress": "no"}, "snn.progress: must be True or False; got 'no'"),
        ("snn", {"backbone": "mlq"}, "snn.backbone on iris: must be .*; got 'mlq'"),
        ("snn", {"backbone": [8, 0]}, r"snn.backbone on iris: hidden sizes must be whole numbers from 1 up .*\(8, 0\)"),
        ("snn", {"backbone": "cnn"}, r"snn.backbone on iris: .* an instance must be an image .*; got \(4,\)"),
        ("snn", {"device": "abacus"}, "snn.device: must be .*; got 'abacus'"),
        ("drop=mc-dropout", {"rate": 1.5}, r"drop.rate: must lie in \[0, 1\); got 1.5"),
        ("deep-ensemble", {"n_members": 0}, "deep-ensemble.n_members: must be a whole number from 1 up; got 0"),
        ("deep-ensemble", {"head": "soft"}, "deep-ensemble.head: must be .*; got 'soft'"),
        ("random-forest", {"n_members": "many"}, "random-forest.n_members: must be a whole number from 1 up; got 'many'"),
        ("random-forest", {"max_depth": -1}, "random-forest: The 'max_depth' parameter .* Got -1 instead; change it"),
        ("random-forest", {"max_depth": 10**20}, r"random-forest.max_depth: whole numbers must fit 64 bits; got 10{20}"),
        ("snn", {"backbone": [8, 10**20]}, r"snn.backbone: whole numbers must fit 64 bits; got \[8, 10{20}\]; choose"),
        ("bagging", {"estimator": "tree"}, "bagging.estimator: must have predict_proba; got str"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused_before_a_cell_is_there(method, params, words):
    label = method.partition("=")[0]
    with pytest.raises(InputError, match=f"^params: {words}") as caught:
        cells_of(
            config(method=["random-forest", method] if label != "random-forest" else method, params={label: params})
        )
    assert "\n" not in str(caught.value)


def test_every_method_looks_at_its_options_before_its_data():
    """What makes the check above possible: one class is refused after the options, and before any training."""
    from uqassay.methods import METHODS, build_method
    from uqassay.methods.registry import method_class

    for name in METHODS:
        with refuses("y", "range"):
            build_method(name).fit([[0.0], [1.0]], [0, 0])
        option = "epochs" if "epochs" in method_class(name)._get_param_names() else "n_members"
        with pytest.raises(InputError, match=f"^{option}: "):
            build_method(name, **{option: 0}).fit([[0.0], [1.0]], [0, 0])


def test_device_of_the_workers_is_not_looked_for_here(monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    asked = {"method": "snn", "params": {"snn": {"device": "cuda"}}}
    with refuses("params", "undefined", got="snn.device: 'cuda' is not on this machine"):
        cells_of(config(**asked))
    assert len(cells_of(config(**asked, scheduler="tcp://elsewhere:8786"))) == 2


# -- running ----------------------------------------------------------------------------------------------------------


def test_result_is_that_of_the_method_itself(iris):
    from uqassay.methods import build_method

    cell = cells_of(config(method="random-forest", params={"random-forest": {"n_members": 5}}, seeds=[7]))[0]
    result = run_method(cell)
    forest = build_method("random-forest", n_members=5, random_state=7).fit(iris.X_train, iris.y_train)
    np.testing.assert_array_equal(result.prediction.mean_probs(), forest.predict_uncertainty(iris.X_test).mean_probs())
    np.testing.assert_array_equal(result.labels, iris.y_test)
    assert result.prediction.class_names == iris.class_names
    assert result.facts["train_counts"] == np.bincount(iris.y_train).tolist()
    assert (result.facts["n_train"], result.facts["n_test"]) == (len(iris.y_train), len(iris.y_test))


def test_lists_of_a_file_are_tuples_to_the_method():
    result = run_method(cells_of(config(method="snn", params={"snn": {"backbone": [5]}}))[0])
    assert result.prediction.n_classes == 3


def test_other_data_under_the_same_name_are_refused():
    facts = json.loads(cells_of(config())[0].to_json())
    cell = Cell.from_json(json.dumps(facts | {"data_hash": "0" * 64}))
    with refuses("dataset", "undefined"):
        run_method(cell)


def test_class_without_training_instance_is_told(monkeypatch, iris):
    monkeypatch.setattr(bench_methods, "changed_data", lambda data, condition: data.subset(train=data.y_train != 1))
    with refuses("condition", "missing", got="class 'versicolor' of iris has no training instance left"):
        run_method(cells_of(config())[0])


def test_class_that_the_data_lack_is_not_the_condition_s_fault(tmp_path):
    x = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "mine.npz", X_train=x, y_train=[0, 1] * 3, X_test=x, y_test=[0, 1, 2] * 2)
    with refuses("dataset", "missing", got="class '2' of npz:"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_instances_without_features_are_refused_before_anything_is_trained(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.zeros((20, 0)), y=np.arange(20) % 2)
    with refuses("dataset", "shape", got=r" has instances without features, \(0,\)"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_data_without_a_test_are_refused_before_anything_is_trained(tmp_path):
    x = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "mine.npz", X_train=x, y_train=[0, 1] * 3, X_test=x[:0], y_test=np.zeros(0, dtype=int))
    with refuses("dataset", "missing"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_device_is_that_of_the_training():
    import torch

    expected = "cuda" if torch.cuda.is_available() else "cpu"
    results = [run_method(cell) for cell in cells_of(config(seeds=1))]
    assert [result.facts["device"] for result in results] == [expected, "cpu"]


# -- reports ----------------------------------------------------------------------------------------------------------


def stored(folder, results):
    """Cells of given results: {(method, seed): CellResult}."""
    store = Store(folder)
    cells = [Cell(f"{WORK}:draw", dataset="toy", method=method, seed=seed) for method, seed in results]
    store.index.add(cells)
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
    with refuses("labels", "mismatch", got="those of toy, b, seed 0 differ from those of another cell"):
        comparisons(cells, tmp_path)


def test_nothing_done_is_no_comparison(tmp_path):
    assert comparisons(stored(tmp_path, {("a", 0): None}), tmp_path) == []
