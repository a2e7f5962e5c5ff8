"""Presets of the reproduction: the paper's numbers, and slices that say what they are."""

import pytest

from uqassay.lab.papers.disentangling.choices import DATASETS, IN_PAPER, PRESETS
from uqassay.lab.papers.disentangling.trainings import Conditions


@pytest.mark.parametrize("plan", DATASETS.values(), ids=list(DATASETS))
def test_every_data_set_has_every_preset(plan):
    n_classes = {"wine": 3, "bci": 4}.get(plan.name, 10)
    assert tuple(plan.slices) == PRESETS
    for slice_ in plan.slices.values():
        conditions = Conditions(**slice_.conditions)
        assert set(conditions.values(n_classes)) == {"dataset-size", "label-noise", "left-out-class"}
        assert slice_.runs >= 2


@pytest.mark.parametrize("name", ["wine", "fashion-mnist", "cifar-10", "bci"])
def test_paper_is_as_printed(name):
    plan = DATASETS[name]
    given = plan.slices["paper"]
    assert (given.epochs, given.n_members, given.n_samples, given.batch_size) == (100, 10, 50, 128)
    assert given.runs == (9 if name == "bci" else 5)
    assert (given.train_limit, given.test_limit, dict(given.conditions)) == (None, None, {})
    assert (plan.methods, plan.printed, given.as_printed) == (IN_PAPER, True, True)


def test_networks_are_the_printed_ones():
    assert DATASETS["wine"].backbone == (32, 32, 16)
    assert {name: DATASETS[name].backbone for name in ("cifar-10", "fashion-mnist", "bci")} == {
        "cifar-10": "cnn",
        "fashion-mnist": "cnn",
        "bci": "eeg",
    }
    assert DATASETS["bci"].sources == tuple(f"bci-iv-2a:{k}" for k in range(1, 10))


def test_only_whole_runs_of_the_papers_data_are_as_printed():
    as_printed = {(n, p) for n, plan in DATASETS.items() for p, slice_ in plan.slices.items() if slice_.as_printed}
    assert as_printed == {
        ("wine", "cpu"), ("wine", "gpu-hour"), ("wine", "paper"), ("fashion-mnist", "paper"), ("cifar-10", "paper"),
        ("bci", "paper"),
    }  # fmt: skip
    assert DATASETS["wine"].slices["cpu"].runs == 5


def test_a_slice_is_stated_in_full():
    plan = DATASETS["cifar-10"]
    cpu = plan.slices["cpu"]
    text = plan.sentence("cpu", cpu)
    for part in (
        "a slice, not compared with the paper",
        f"{cpu.runs} runs",
        f"{cpu.epochs} epochs",
        f"batches of {cpu.batch_size}",
        f"ensembles of {cpu.n_members}",
        "classes left out",
        "of the labels permuted",
        "training instances",
    ):
        assert part in text
    assert "as printed" in DATASETS["wine"].sentence("cpu", DATASETS["wine"].slices["cpu"])
    assert "2 subjects" in DATASETS["bci"].sentence("smoke", DATASETS["bci"].slices["smoke"])
