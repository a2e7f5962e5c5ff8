"""What each preset trains: sizes as printed, splits, options of the networks, and the sentence that states them."""

from dataclasses import replace

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.unified.predictors import PLANS, PRESETS, TrainingSetting, setting_of

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
