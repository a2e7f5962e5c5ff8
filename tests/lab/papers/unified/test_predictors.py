"""Which predictor is trained how and on which data, what each preset trains, and ensembles in parts."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lab.papers.unified.made import images
from tests.refusals import refuses

from uqassay import Members, Point
from uqassay.errors import InputError
from uqassay.lab.papers.options import GivenFiles
from uqassay.lab.papers.trainings import train_cells, trained_cells
from uqassay.lab.papers.unified.judging import incomplete_notes, joined, training_cells, whole_predictions
from uqassay.lab.papers.unified.plan import PLANS, PREDICTORS, PRESETS, TrainingSetting, setting_of, trained_data


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


# -- what each preset trains -------------------------------------------------------------------------------------------


PUBLISHED = {"cifar-10": 50_000, "cifar-100": 50_000, "mnist": 60_000}


def test_the_paper_is_as_printed():
    # Appendix E.2: 40,000 : 10,000 : 10,000, MNIST 50,000 : 10,000 : 10,000; section 6: 15 ensembles, 100 draws, 20 / 200 sets
    printed = {"cifar-10": (40_000, 20, ()), "cifar-100": (40_000, 200, ("E-CNN",)), "mnist": (50_000, 20, ())}
    assert PLANS["paper"].datasets == tuple(printed)
    for name, (n_train, sets, left_out) in printed.items():
        setting = setting_of("paper", name, PUBLISHED[name])
        assert setting.limits(PUBLISHED[name], 10_000) == {"train_limit": n_train}
        assert setting.n_validation(PUBLISHED[name]) == 10_000
        assert (setting.sets, setting.left_out, setting.members, setting.draws) == (sets, left_out, 15, 100)
        assert (setting.epochs, setting.learning_rate, setting.rate_drops) == (200, 1e-3, (80, 120, 160, 180))
        assert (setting.backbone, setting.augmentation, setting.creinn_size) == ("resnet50", "shift-flip", 32)
        assert setting.as_printed
    assert not any(setting_of(name, "cifar-10", 50_000).as_printed for name in PRESETS if name != "paper")


def test_options_of_the_methods():
    setting = replace(setting_of("paper", "cifar-100", 50_000), image_size=224)
    common = {
        "epochs": 200,
        "progress": False,
        "backbone": "resnet50",
        "rate_drops": (80, 120, 160, 180),
        "augmentation": "shift-flip",
    }
    assert setting.options("snn") == common | {"image_size": 224}
    assert setting.options("creinn") == common | {"image_size": 32}
    assert setting.options("deep-ensemble") == common | {"image_size": 224, "n_members": 15}
    assert setting.options("rs-nn") == common | {"image_size": 224, "n_sets": 200}
    assert TrainingSetting().options("snn") == {"epochs": 100, "progress": False, "backbone": "mlp"}


def test_other_values_and_what_is_still_as_printed():
    setting = setting_of("paper", "cifar-10", 50_000)
    assert setting.changed({"epochs": None, "image_size": 224, "batch_size": 64, "validation": "trained"}).as_printed
    assert setting.changed({"epochs": 200, "rate_drops": [80, 120, 160, 180]}).as_printed
    for change in ({"epochs": 2}, {"members": 5}, {"backbone": "cnn"}, {"train_limit": 100}, {"augmentation": "none"}):
        assert not setting.changed(change).as_printed
    assert "not at 224 × 224" in setting.differences
    assert "224" not in setting.changed({"image_size": 224}).differences
    with refuses("members", "range", got="got 0"):
        setting.changed({"members": 0})


@pytest.mark.parametrize(
    ("validation", "limit", "options", "words"),
    [
        ("unused", {"train_limit": 40}, {}, "40 training and 20 test instances; 10 others are the validation part"),
        ("trained", {}, {}, "50 training and 20 test instances; the 10 of the validation part are among them"),
        (
            "best-epoch",
            {},
            {"early_stopping": True, "patience": 200, "validation_fraction": 0.2},
            "50 training and 20 test instances; each network holds 10 of them out",
        ),
    ],
)
def test_the_validation_part(validation, limit, options, words):
    setting = setting_of("paper", "cifar-10", 50).changed({"validation": validation})
    assert setting.limits(50, 20) == limit
    assert options.items() <= setting.options("snn").items()
    assert ("early_stopping" in setting.options("snn")) == bool(options)
    assert words in setting.sentence("cifar-10", "paper", 50, 20)


def test_limits_hold_beside_the_validation_part():
    setting = setting_of("paper", "cifar-10", 50_000)
    assert setting.changed({"train_limit": 30, "test_limit": 7}).limits(50, 20) == {"train_limit": 30, "test_limit": 7}
    assert setting.changed({"train_limit": 45}).limits(50, 20) == {"train_limit": 40}
    assert setting_of("cpu", "digits", 1437).limits(1437, 360) == {}


def test_the_sentence_states_every_number():
    setting = setting_of("cpu", "cifar-10", 50_000)
    said = setting.sentence("My copy", "cpu", 50_000, 10_000)
    assert said.startswith("My copy, preset cpu (not as printed): cnn-small at the images' own size; 40,000 training")
    for words in (
        f"{setting.epochs} epochs in batches of {setting.batch_size}",
        "a learning rate of 0.001, multiplied by",
    ):
        assert words in said
    printed = setting_of("paper", "mnist", 60_000).sentence("mnist", "paper", 60_000, 10_000)
    assert "(as printed, but images are at 224 × 224 there): resnet50 at 32 × 32, CreINN at 32 × 32" in printed
    assert "after epochs 80, 120, 160 and 180" in printed


# -- ensembles in parts ------------------------------------------------------------------------------------------------


def quiet(step):
    """Say nothing."""


def test_members_in_parts_are_the_ensemble(tmp_path):
    images(tmp_path / "data")
    changes = {"epochs": 1, "members": 3}
    (data,), _ = trained_data("cpu", "cifar-10", given=GivenFiles(tmp_path / "data"), changes=changes)
    apart = training_cells(data, predictors=["DE", "SNN"])
    assert [cell.method for cell in apart] == ["DE member 1", "DE member 2", "DE member 3", "SNN"]
    assert train_cells(apart, tmp_path / "run", workers=1, say=quiet) == {}
    found = {name: (said, kept) for name, said, kept in whole_predictions(apart, tmp_path / "run")}
    assert list(found) == ["DE", "SNN"]
    said, kept = found["DE"]
    assert isinstance(said, Members)
    assert said.probs.shape == (len(kept.labels), 3, 10)
    parts = [result.prediction.probs[:, 0] for _, result in trained_cells(apart[:3], tmp_path / "run")]
    np.testing.assert_array_equal(said.probs, np.stack(parts, axis=1))
    np.testing.assert_allclose(said.probs[:, 0], found["SNN"][0].probs, atol=1e-6)  # the first member is the SNN
    assert np.abs(parts[1] - parts[2]).max() > 1e-3

    assert [name for name, _, _ in whole_predictions([*apart[1:], apart[3]], tmp_path / "none")] == []
    lost = [*apart[:2], training_cells(data, predictors=["DE"], seed=1)[2], apart[3]]
    assert [name for name, _, _ in whole_predictions(lost, tmp_path / "run")] == ["DE", "SNN"]  # seed 1 is not whole
    assert incomplete_notes(apart, [apart[1].name, apart[3].name]) == [
        "DE with seed 0 on cifar-10 from data is left out, because 1 of its 3 parts failed"
    ]


def test_joined_members_keep_their_logits_only_if_all_have_them():
    p = np.array([[[0.6, 0.4]], [[0.5, 0.5]]])
    with_logits = Members(p, log_partition=np.array([[1.0], [2.0]]))
    both = joined([with_logits, with_logits])
    assert both.probs.shape == (2, 2, 2)
    np.testing.assert_array_equal(both.log_partition, [[1.0, 1.0], [2.0, 2.0]])
    assert joined([with_logits, Members(p)]).log_partition is None
    point = Point(p[:, 0])
    assert joined([point]) is point
