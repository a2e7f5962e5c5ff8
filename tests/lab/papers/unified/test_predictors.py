"""Which predictor is trained how, and on which data."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import InputError
from uqassay.lab.papers.given import GivenFiles
from uqassay.lab.papers.unified.predictors import PREDICTORS, trained_data, training_cells


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def cells_of(preset, dataset=None, predictors=None, seed=0, **changes):
    (data,), _ = trained_data(preset, dataset, changes=changes)
    return {cell.method: cell for cell in training_cells(data, seed=seed, predictors=predictors)}


def test_presets_and_options_reach_the_cells():
    cells = cells_of("cpu", "digits", seed=3, runs=1)
    assert list(cells) == [p.name for p in PREDICTORS]
    assert {cell.seed for cell in cells.values()} == {3}
    assert cells["DE"].params == {
        "method": "deep-ensemble",
        "params": {"epochs": 100, "progress": False, "backbone": "mlp", "n_members": 15},
    }
    assert cells["LB-BNN"].params["params"]["bridge"] == "plain"
    smoke = cells_of("smoke", predictors=["DE"])["DE"]
    assert smoke.params["params"]["n_members"] == 3
    assert smoke.condition == {"train_limit": 300, "test_limit": 200}
    changed = cells_of("smoke", epochs=7, batch_size=32, rate_drops=[3, 5], sets=4)
    assert changed["SNN"].params["params"] == {
        "epochs": 7,
        "progress": False,
        "backbone": "mlp",
        "batch_size": 32,
        "rate_drops": [3, 5],
    }
    assert changed["RS-NN"].params["params"]["n_sets"] == 4


def test_images_that_are_not_there_are_left_out_by_the_cpu_preset_alone(monkeypatch):
    from uqassay.lab import datasets

    load = datasets.load_dataset

    def partly(name):
        if name == "mnist-10k":
            raise InputError(
                "mnist-10k", "is not there and cannot be downloaded", remedy="put it somewhere", code="missing"
            )
        return load(name)

    monkeypatch.setattr(datasets, "load_dataset", partly)
    found, missing = trained_data("cpu")
    assert [data.name for data in found] == ["digits"]
    assert {name: problem.code for name, problem in missing.items()} == {"mnist-10k": "missing"}
    with refuses("mnist-10k", "missing"):
        trained_data("cpu", ["mnist-10k"])


def test_given_files_have_their_own_name_and_are_never_compared(tmp_path):
    rng = np.random.default_rng(0)
    for part, n in (("train", 40), ("test", 20)):
        np.savez(tmp_path / f"{part}.npz", X=rng.integers(0, 256, (n, 3, 32, 32), dtype=np.uint8), y=np.arange(n) % 4)
    (plain,), _ = trained_data("paper", "cifar-10", given=GivenFiles(tmp_path))
    (named,), _ = trained_data("paper", "cifar-10", given=GivenFiles(tmp_path, "My copy"))
    assert (plain.name, named.name) == (f"cifar-10 from {tmp_path.name}", "My copy")
    assert not named.setting.as_printed
    assert (named.beside.name, named.beside.compared) == ("CIFAR-10", False)
    assert named.beside.relation == "whose place other files take here"
    keys = [[cell.key for cell in training_cells(data, predictors=["SNN"])] for data in (plain, named)]
    assert keys[0] == keys[1]  # another name trains nothing anew
