"""Which predictor is trained how, and on which data."""

import pytest
from tests.refusals import refuses

from uqassay.errors import InputError, MissingDependencyError
from uqassay.experiments import reproduce
from uqassay.experiments.unified import predictors
from uqassay.experiments.unified.predictors import PREDICTORS, predictor_cells


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def test_presets_and_settings_reach_the_cells():
    cells = {cell.method: cell for cell in predictor_cells("cpu", ["digits"], [3])}
    assert list(cells) == [p.name for p in PREDICTORS]
    assert {cell.seed for cell in cells.values()} == {3}
    assert cells["DE"].params == {
        "method": "deep-ensemble",
        "params": {"epochs": 100, "progress": False, "backbone": "mlp", "n_members": 15},
    }
    assert cells["LB-BNN"].params["params"]["bridge"] == "plain"
    smoke = predictor_cells("smoke", ["digits"], [0], predictors=["DE"])[0]
    assert smoke.params["params"]["n_members"] == 3
    assert smoke.condition == {"train_limit": 300, "test_limit": 200}
    paper = predictor_cells("paper", ["digits"], [0], backbone="mlp", predictors=["SNN"])[0]
    assert paper.params["params"] == {"epochs": 200, "progress": False, "backbone": "mlp"}
    assert paper.condition == {}
    with refuses("params.SNN.backbone", got=r"must be an image .*; got \(64,\)"):
        predictor_cells("paper", ["digits"], [0], backbone="cnn-small", predictors=["SNN"])


def test_images_that_are_not_there_are_left_out_by_the_cpu_preset_alone(monkeypatch):
    from uqassay import datasets

    load = datasets.load_dataset

    def partly(name):
        if name == "mnist-10k":
            raise InputError(
                "mnist-10k", "is not there and cannot be downloaded", remedy="put it somewhere", code="missing"
            )
        return load(name)

    monkeypatch.setattr(datasets, "load_dataset", partly)
    names, missing = predictors.available_data_sets("cpu", None)
    assert names == ("digits",)
    assert {name: problem.code for name, problem in missing.items()} == {"mnist-10k": "missing"}
    with refuses("mnist-10k", "missing"):
        predictors.available_data_sets("cpu", ["mnist-10k"])


def test_resnet50_without_torchvision_is_one_sentence(monkeypatch):
    monkeypatch.setattr(predictors, "find_spec", lambda name: None)
    with refuses("torchvision", "package", got="the backbone resnet50 needs it", error=MissingDependencyError):
        reproduce("unified", preset="smoke", backbone="resnet50")
