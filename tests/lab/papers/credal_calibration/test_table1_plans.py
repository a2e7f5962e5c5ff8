"""What the presets of Table 1 train, against the paper, and options that do not fit."""

import math

import pytest
from tests.refusals import refuses

from uqassay.lab.methods import build_method
from uqassay.lab.papers.credal_calibration.table1_plans import (
    BATCH,
    OWN_TRAINING,
    PAPER_SETS,
    PLANS,
    Table1Options,
    part_size,
    plan_of,
)
from uqassay.lab.papers.printed_cells import printed_table

TABLE2 = {row["dataset"]: row for row in printed_table("credal_calibration_table2_datasets")}
OTHERS = {"CIFAR-10": 10_000, "Caltech-101": 8_677 - 4_338, "Caltech-256": 29_780 - 14_890}  # instances not trained on


def options(**values):
    return Table1Options(**values)


def test_parts_are_those_of_table_2():
    for name, n in OTHERS.items():
        assert part_size(n) == int(TABLE2[name]["n_calibration"]) == int(TABLE2[name]["n_test"])
    sizes = [int(row[key]) for row in TABLE2.values() for key in ("n_calibration", "n_test")]
    assert math.gcd(*sizes) == BATCH
    assert [part_size(n) for n in (2, 31, 32, 200)] == [1, 15, 16, 96]


def test_paper_trains_as_printed():
    plan = plan_of("paper", options())
    assert {one.in_table2 for one in PAPER_SETS.values()} == set(TABLE2)
    assert {one.in_table1 for one in PAPER_SETS.values()} == {
        row["dataset"] for row in printed_table("credal_calibration_table1")
    }
    assert {name: plan.epochs_for(name) for name in plan.data_sets} == {
        "cifar-10": 20, "caltech-101": 2, "caltech-256": 2, "plantclef": 20, "bacteria": 20, "proteins": 20,
    }  # fmt: skip
    trained = plan.method_options("cifar-10")
    assert (trained["optimiser"], trained["momentum"], trained["learning_rate"]) == ("sgd", 0.99, 1e-5)
    assert (plan.hidden, plan.n_members, plan.n_draws) == ((1000,), 10, 100)
    assert (plan.architectures, plan.end_to_end, plan.imagenet_size) == (("MobileNetV2", "VGG16"), True, 224)


def test_everything_that_the_paper_leaves_open_is_named_with_its_value():
    given = options(batch_size=32, weight_decay=0.01, head="replaced", image_size=96, read_size=128, end_to_end=False)
    text = " ".join(plan_of("paper", given).notes())
    for words in (
        "batch_size 32;", "weight_decay 0.01;", "head replaced: a new layer stands in place", "image_size 96:",
        "read_size 128:", "not trained themselves (in the paper end to end)", "no part decides when to stop",
    ):  # fmt: skip
        assert words in text
    printed = " ".join(plan_of("paper", options()).notes())
    assert "MobileNetV2 and VGG16 pretrained on ImageNet and trained end to end" in printed
    assert "momentum 0.99 and learning rate 1e-05" in printed
    assert "batch_size 16 (all sizes of calibration and test parts in Table 2 are multiples of it)" in printed


def test_gpu_hour_is_a_slice_and_says_so():
    plan = plan_of("gpu-hour", options())
    assert set(plan.data_sets) < set(PAPER_SETS)
    assert plan.notes()[0].startswith(
        "preset gpu-hour, as printed but for the number of epochs: MobileNetV2 pretrained"
    )
    assert "3 epochs of cifar-10" in plan.notes()[0]
    assert plan.training == PLANS["paper"].training


def test_presets_without_a_gpu_name_their_networks():
    (small,) = plan_of("cpu", options()).notes()
    assert (
        "hidden layers of 64 and 64 units and learn 50 epochs by Adam with a learning rate of 0.001 in batches of 128"
        in small
    )
    (images,) = plan_of("cpu", options(dataset="cifar-10", batch_size=64, weight_decay=0.1)).notes()
    assert (
        "have cnn-small for images and learn 3 epochs by Adam with a learning rate of 0.001 in batches of 64" in images
    )
    assert ", weight_decay 0.1 (the paper: stochastic gradient descent)" in images
    (large,) = plan_of("cpu", options(dataset="cifar-10", architectures="resnet50", image_size=64, epochs=1)).notes()
    assert "have resnet50 at 64 × 64 for images and learn 1 epoch by Adam" in large
    notes = plan_of("smoke", options(dataset="cifar-10", architectures="VGG16", end_to_end=False)).notes()
    assert "have VGG16 for images" in notes[0]
    assert "head added: a new layer follows their 1,000 outputs; end_to_end false; image_size 224" in notes[1]


def test_defaults_named_in_notes_are_those_of_the_methods(needs):
    needs("torch", "sklearn")
    network = build_method("snn")
    assert {name: getattr(network, name) for name in OWN_TRAINING} == OWN_TRAINING
    assert (network.optimiser, network.weight_decay) == ("adam", 0.0)


def test_what_differs_from_the_paper_is_not_called_as_printed():
    def first(**given):
        return plan_of("paper", options(**given)).notes()[0].partition(":")[0]

    assert first() == first(dataset=["cifar-10", "proteins"], batch_size=64) == "preset paper, as printed"
    assert first(epochs=3) == "preset paper, as printed but for the number of epochs"
    assert first(end_to_end=False) == "preset paper, as printed but for what is trained"
    assert (
        first(epochs=2, architectures="cnn") == "preset paper, as printed but for the number of epochs and the networks"
    )


@pytest.mark.parametrize(
    ("preset", "given", "parameter", "code"),
    [
        ("paper", {"dataset": "svhn"}, "dataset", "choice"),
        ("paper", {"architectures": "resnet"}, "architectures", "choice"),
        ("paper", {"epochs": 0}, "epochs", "range"),
        ("paper", {"batch_size": 2.5}, "batch_size", "type"),
        ("paper", {"weight_decay": -1.0}, "weight_decay", "range"),
        ("paper", {"weight_decay": float("nan")}, "weight_decay", "range"),
        ("paper", {"weight_decay": True}, "weight_decay", "type"),
        ("paper", {"end_to_end": "no"}, "end_to_end", "type"),
        ("paper", {"head": "none"}, "head", "choice"),
        ("paper", {"image_size": 31}, "image_size", "range"),
        ("paper", {"dataset": "bacteria", "image_size": 64}, "image_size", "conflict"),
        ("paper", {"dataset": "bacteria", "head": "added"}, "head", "conflict"),
        ("paper", {"dataset": "cifar-10", "read_size": 64}, "read_size", "conflict"),
        ("paper", {"dataset": "caltech-101", "data": "x", "read_size": 64}, "read_size", "conflict"),
        ("cpu", {"architectures": "cnn-small"}, "architectures", "conflict"),
        ("cpu", {"dataset": "cifar-10", "end_to_end": False}, "end_to_end", "conflict"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(preset, given, parameter, code):
    with refuses(parameter, code):
        plan_of(preset, options(**given))
