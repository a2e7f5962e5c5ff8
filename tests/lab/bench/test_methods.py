"""The package's methods on its data sets as cells: what the keys depend on, what a condition does, what comes out."""

import gzip
import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.bench import methods as bench_methods
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.config import BenchConfig
from uqassay.lab.bench.methods import cells_of, run_method


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


@pytest.fixture
def iris():
    from uqassay.lab.datasets import load_dataset

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


def test_limits_of_the_preset_count_where_the_data_exceed_them(iris, monkeypatch):
    monkeypatch.setitem(bench_methods.LIMITS, "smoke", (50, 1000))
    assert cells_of(config())[0].condition == {"train_limit": 50}
    assert cells_of(config(condition={"train_limit": 20}))[0].condition == {"train_limit": 20}
    assert cells_of(config(preset="paper"))[0].condition == {}
    monkeypatch.setitem(bench_methods.LIMITS, "smoke", (len(iris.y_train), None))
    assert cells_of(config())[0].condition == {}


def test_a_set_of_conditions_and_classes_by_their_names_are_written_out_for_each_data_set(iris):
    cells = cells_of(config(dataset=["iris", "two-moons"], method="snn", seeds=1, condition="disentanglement"))
    assert [sum(cell.dataset == name for cell in cells) for name in ("iris", "two-moons")] == [21, 18]
    assert cells[20].condition == {"left_out_class": "virginica", "subsets_by_seed": True}
    by_index = cells_of(config(condition={"left_out_class": 2, "subsets_by_seed": True}))
    assert by_index[0].key == cells[20].key
    with refuses("condition.left_out_class", "choice", got="must be a class of wine; got 'virginica'"):
        cells_of(config(dataset=["iris", "wine"], condition={"left_out_class": "virginica"}))


def test_class_that_a_limit_removes_for_one_seed_is_told_before_anything_is_trained(iris):
    with refuses("condition", "missing", got="class '.*' of iris"):
        cells_of(config(seeds=20, condition={"train_limit": 6, "subsets_by_seed": True}))
    cells_of(config(seeds=20, condition={"train_limit": 60, "subsets_by_seed": True}))


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "option", "value", "code", "got"),
    [
        ("snn", "epoch", 2, "choice", "did you mean epochs"), ("snn", "epochs", 2.5, "type", "got 2.5"),
        ("snn", "progress", "no", "type", "got 'no'"), ("snn", "backbone", "mlq", "choice", "got 'mlq'"),
        ("snn", "backbone", [8, 0], "type", r"got \(8, 0\)"), ("snn", "backbone", "cnn", "shape", r"got \(4,\)"),
        ("snn", "device", "abacus", "choice", "got 'abacus'"),
        ("snn", "random_state", 3, "conflict", "seeds"), ("snn", "classes", [0, 1], "conflict", "left_out_class"),
        ("drop=mc-dropout", "rate", 1.5, "range", "got 1.5"),
        ("deep-ensemble", "n_members", 0, "range", "got 0"), ("deep-ensemble", "head", "soft", "choice", "got 'soft'"),
        ("rs-nn", "focal_sets", [[0], [1]], "missing", "class 2"),
        ("flipout", "backbone", [], "conflict", "this backbone has none"),
        ("random-forest", "n_members", "many", "type", "got 'many'"),
        ("random-forest", "max_depth", -1, "range", "got -1"),
        ("random-forest", "max_depth", 10**20, "range", "got 10{20}"),
        ("random-forest", "n_jobs", "all", "type", "got 'all'"),
        ("random-forest", "min_samples_leaf", 1.5, "type", "got 1.5"),
        ("snn", "backbone", [8, 10**20], "range", r"got \[8, 10{20}\]"),
        ("bagging", "estimator", "tree", "type", "got str"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused_by_their_full_name_and_nothing_is_trained(
    method, option, value, code, got, monkeypatch
):
    # first where it is used: that module would import what stands in for it, and keep it after this test
    for trained in (
        "uqassay.lab.methods.networks.train",
        "uqassay.lab.methods.networks.train",
        "sklearn.ensemble.RandomForestClassifier.fit",
    ):
        monkeypatch.setattr(trained, lambda *_, **__: pytest.fail("nothing is trained"))
    label = method.partition("=")[0]
    methods = ["random-forest", method] if label != "random-forest" else method
    parameter = f"params.{label}.{'where' if label == 'flipout' else option}"
    with refuses(parameter, code, got=got):
        cells_of(config(method=methods, params={label: {option: value}}))


def test_parameters_that_do_not_fit_the_data_name_the_data_set():
    with refuses("params.snn.backbone", "shape", source="iris"):
        cells_of(config(dataset=["iris", "wine"], params={"snn": {"backbone": "cnn-small"}}))


def test_device_of_the_workers_is_not_looked_for_here(monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    asked = {"method": "snn", "params": {"snn": {"device": "cuda"}}}
    with refuses("params.snn.device", "missing", got="got 'cuda'"):
        cells_of(config(**asked))
    assert len(cells_of(config(**asked, scheduler="tcp://elsewhere:8786"))) == 2


# -- running ----------------------------------------------------------------------------------------------------------


def test_result_is_that_of_the_method_itself(iris):
    from uqassay.lab.methods import build_method

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
    with refuses("dataset", "mismatch", got="iris"):
        run_method(cell)


def test_class_that_a_limit_removes_is_told_before_anything_is_trained(iris):
    with refuses("condition", "missing", got="class '.*' of iris"):
        cells_of(config(condition={"train_limit": 2}))
    (cell,) = cells_of(config(method="snn", seeds=1))
    facts = json.loads(cell.to_json()) | {"condition": {"train_limit": 2}}
    with refuses("condition", "missing", got="class '.*' of iris"):
        run_method(Cell.from_json(json.dumps(facts)))


def test_class_that_the_data_lack_is_not_the_condition_s_fault(tmp_path):
    x = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "mine.npz", X_train=x, y_train=[0, 1] * 3, X_test=x, y_test=[0, 1, 2] * 2)
    with refuses("dataset", "missing", got="class '2' of npz:"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_instances_without_features_are_refused_before_anything_is_trained(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.zeros((20, 0)), y=np.arange(20) % 2)
    with refuses("dataset", "shape", got=r"\(0,\)"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_data_without_a_test_are_refused_before_anything_is_trained(tmp_path):
    x = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "mine.npz", X_train=x, y_train=[0, 1] * 3, X_test=x[:0], y_test=np.zeros(0, dtype=int))
    with refuses("dataset", "empty", got="npz:"):
        cells_of(config(dataset=f"npz:{tmp_path / 'mine.npz'}"))


def test_device_is_that_of_the_training():
    import torch

    expected = "cuda" if torch.cuda.is_available() else "cpu"
    results = [run_method(cell) for cell in cells_of(config(seeds=1))]
    assert [result.facts["device"] for result in results] == [expected, "cpu"]


def run(method="snn", seed=0, **condition):
    params = {} if method == "random-forest" else {method: {"epochs": 3, "backbone": [4]}}
    facts = config(method=method, preset="cpu", params=params, seeds=[seed], condition=condition)
    (cell,) = cells_of(facts)
    return run_method(cell)


@pytest.mark.parametrize("method", ["snn", "random-forest", "deep-ensemble-gaussian"])
def test_class_left_out_keeps_its_output_and_its_test_instances(iris, method):
    result = run(method, left_out_class="versicolor")
    assert result.prediction.n_classes == 3
    assert result.prediction.class_names == iris.class_names
    np.testing.assert_array_equal(result.labels, iris.y_test)
    assert result.facts["train_counts"] == [40, 0, 40]
    if method == "random-forest":
        np.testing.assert_array_equal(result.prediction.mean_probs()[:, 1], 0.0)


def test_epochs_are_divided_by_the_share_for_methods_that_have_epochs():
    half = {"train_share": 0.25, "subsets_by_seed": True}
    assert run(**half).facts["epochs"] == 3
    assert run(**half, epochs_by_share=True).facts["epochs"] == 12
    assert "epochs" not in run("random-forest", **half, epochs_by_share=True).facts
    same = [run("random-forest", **half, **more).prediction.mean_probs() for more in ({}, {"epochs_by_share": True})]
    np.testing.assert_array_equal(*same)


def test_subsets_by_seed_are_those_of_the_seed():
    shared = [run("random-forest", seed, train_share=0.3) for seed in (0, 1)]
    own = [run("random-forest", seed, label_noise=0.5, subsets_by_seed=True) for seed in (0, 1)]
    np.testing.assert_array_equal(shared[0].labels, shared[1].labels)
    assert (own[0].labels != own[1].labels).any()


def test_share_of_fewer_instances_than_classes_trains_on_one_of_each():
    assert run(train_share=0.01, subsets_by_seed=True).facts["train_counts"] == [1, 1, 1]


# -- real formats -----------------------------------------------------------------------------------------------------


def idx(array):
    """An array of bytes in idx form, packed."""
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return gzip.compress(head + array.tobytes())


@pytest.mark.slow
def test_images_in_the_published_form_of_fashion_mnist_go_through_every_kind_of_condition(tmp_path, monkeypatch):
    from uqassay.lab.datasets import images as mnist

    g = np.random.default_rng(0)
    y = {"train": np.arange(60, dtype=np.uint8) % 10, "test": np.arange(30, dtype=np.uint8) % 10}
    digests = []
    for (part, kind), file in mnist.FILES.items():
        shades = (25 * y[part][:, None, None] + g.integers(0, 6, (len(y[part]), 28, 28))).astype(np.uint8)
        path = tmp_path / "fashion-mnist" / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(idx(shades if kind == "images" else y[part]))
        digests.append(hashlib.md5(path.read_bytes()).hexdigest())
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path))
    monkeypatch.setitem(
        mnist.FAMILIES, "fashion-mnist", replace(mnist.FAMILIES["fashion-mnist"], digests=tuple(digests))
    )
    by_seed = {"subsets_by_seed": True}
    conditions = [
        {"train_share": 0.1, "epochs_by_share": True} | by_seed,
        {"label_noise": 0.5} | by_seed,
        {"left_out_class": "ankle boot"} | by_seed,
    ]
    params = {"mc-dropout": {"backbone": "cnn-small", "epochs": 1, "n_samples": 3}}
    cells = cells_of(config(dataset="fashion-mnist", method="mc-dropout", params=params, seeds=1, condition=conditions))
    results = [run_method(cell) for cell in cells]
    assert [result.facts["epochs"] for result in results] == [10, 1, 1]
    assert [result.facts["n_train"] for result in results] == [10, 60, 54]  # 10 % of 6 is less than one
    assert {result.prediction.probs.shape for result in results} == {(30, 3, 10)}
    assert results[2].facts["train_counts"][9] == 0
