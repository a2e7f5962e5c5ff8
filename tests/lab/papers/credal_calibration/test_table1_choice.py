"""What `data` holds decides what Table 1 is made of."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration import table1_training
from uqassay.lab.papers.credal_calibration.protocol import steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.table1 import holds_training_data

TABLE = {"figure": "table1", "preset": "smoke"}


@pytest.fixture
def parts(tmp_path):
    """A folder with train.npz and test.npz."""
    for part in ("train", "test"):
        np.savez(tmp_path / f"{part}.npz", X=np.zeros((4, 3, 8, 8), dtype=np.uint8), y=np.arange(4) % 2)
    return tmp_path


def test_predictions_are_no_instances(ensembles, tmp_path_factory):
    assert not holds_training_data(ensembles)
    empty = tmp_path_factory.mktemp("empty")
    assert not holds_training_data(empty)
    assert not holds_training_data(empty / "nowhere")


def test_instances_are_recognised(parts):
    assert holds_training_data(parts)
    assert holds_training_data(parts / "train.npz")


def test_both_in_a_folder_are_refused(parts):
    np.savez(parts / "de.npz", probs=np.full((4, 2, 2), 0.5))
    with refuses("data", "conflict", got=r"instances in test.npz and train.npz and none in de.npz"):
        reproduce("credal-calibration", **TABLE, data=parts)


def test_half_of_the_files_is_refused(parts):
    (parts / "test.npz").unlink()
    with refuses("data", "missing", got="got train.npz alone"):
        reproduce("credal-calibration", **TABLE, data=parts)


def test_instances_need_the_name_of_the_data_set_that_they_replace(parts):
    with refuses("data", "conflict", got="name the data set that it replaces"):
        reproduce("credal-calibration", **TABLE, data=parts)


@pytest.mark.parametrize(
    "given", [{"epochs": 3}, {"dataset": "cifar-10"}, {"data_name": "mine"}, {"resume": "x"}, {"end_to_end": False}]
)
def test_options_of_a_training_are_refused_with_saved_ensembles(given, ensembles):
    (name,) = given
    with refuses(name, "conflict", got="saved ensembles, since nothing is trained"):
        reproduce("credal-calibration", **TABLE, data=ensembles, **given)


@pytest.mark.parametrize("given", [{"epochs": 3}, {"dataset": "cifar-10"}, {"data_name": "mine"}])
def test_options_of_the_table_are_refused_with_a_figure(given):
    (name,) = given
    with refuses(name, "conflict", got="figure 2, which is synthetic"):
        reproduce("credal-calibration", figure="2", **given)


def test_gpu_hour_is_for_the_table():
    with refuses("preset", "conflict", got="gpu-hour is for table1 alone"):
        reproduce("credal-calibration", preset="gpu-hour")


def test_options_reach_the_training(parts, monkeypatch):
    seen = {}

    def record(preset, conventions, **options):
        seen.update(options, preset=preset)
        return "result"

    monkeypatch.setattr(table1_training, "reproduce_trained_table1", record)
    given = {"data": parts, "data_name": "a copy", "dataset": ["cifar-10"], "epochs": 1, "batch_size": 4}
    assert reproduce("credal-calibration", figure="table1", preset="gpu-hour", seed=5, **given) == "result"
    assert seen["options"].given() == given
    assert (seen["preset"], seen["seed"], seen["workers"]) == ("gpu-hour", 5, 1)


def test_steps(ensembles):
    assert steps_of_credal_calibration(figure="table1", preset="cpu") == 27
    assert steps_of_credal_calibration(figure="table1", preset="gpu-hour", dataset="cifar-10") == 2 + 8 + 9
    assert steps_of_credal_calibration(figure="table1", data=ensembles, convention="both") == 2 * 4
