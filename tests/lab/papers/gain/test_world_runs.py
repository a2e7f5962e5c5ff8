"""Runs of the reproduction as cells: a forest on a small toy world."""

import json

import numpy as np
import pytest

from uqassay.lab.papers.gain.choices import DATASETS
from uqassay.lab.papers.gain.trainings import FUNCTION, run_of, run_world, world_cells
from uqassay.lab.papers.gain.worlds import world_params


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("sklearn")


def cells(name="toy", seeds=(0, 1), **options):
    world = world_params(DATASETS[name], limit=6000, spread=0.25)
    return world_cells("toy 0.25", "random-forest", world=world, options={"n_members": 5, **options}, seeds=seeds)


@pytest.fixture(scope="module")
def result():
    return run_world(cells()[0])


def test_the_key_depends_on_world_options_data_and_seed():
    first, second = cells()
    again = cells()[0]
    assert first.key == again.key
    assert len({first.key, second.key, cells("toy-mismatch-1")[0].key, cells(max_depth=3)[0].key}) == 4
    assert first.function == FUNCTION


def test_the_place_of_the_images_is_no_part_of_the_key():
    def cell(data, content):
        world = world_params(DATASETS["emnist-bymerge"], limit=None, data=data)
        (one,) = world_cells("e", "random-forest", world=world, options={}, seeds=[0], content_hash=content)
        return one

    assert cell("a/x.npz", "1").key == cell("b/x.npz", "1").key != cell("a/x.npz", "2").key
    assert cell("a/x.npz", "1").source == "a/x.npz"


def test_a_run_has_four_models_on_nested_parts(result):
    run = run_of(result)
    sizes = run.sizes
    assert sizes["D_aug2"] + sizes["D_test2"] <= sizes["D_train"] < sizes["D_aug"] <= 6000 - sizes["D_test"]
    assert (run.test.n_instances, run.calibration.n_instances) == (sizes["D_test"], sizes["D_test2"])
    assert set(run.test.epistemic) == {"mutual-information", "entropy"}
    assert json.dumps(dict(result.facts))


def test_the_mean_gain_is_near_the_true_uncertainty_that_more_data_remove(result):
    """E[gain] = EU of f̂ minus EU of f_aug; the latter is at least 0."""
    test = run_of(result).test
    error = test.gain["zero-one"].std() / np.sqrt(test.n_instances)
    assert test.gain["zero-one"].mean() < test.truth.epistemic.mean() + 4 * error
    assert (1 - test.correct_before).mean() == pytest.approx(test.truth.total.mean(), abs=0.05)
