"""Data and splits of the reproduction's runs."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.gain.choices import DATASETS, Regions
from uqassay.lab.papers.gain.worlds import content_of, dense_balls, make_world, world_params

SIZE = 8000


def toy(name="toy", seed=0, spread=0.25):
    return make_world(world_params(DATASETS[name], limit=SIZE, spread=spread), seed)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Images of 47 classes in the form of EMNIST ByMerge: a block of pixels for each class, and noise."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 47
    x = rng.integers(0, 60, (len(y), 28, 28))
    x[np.arange(len(y)), y % 28, :] += 150
    path = tmp_path_factory.mktemp("emnist") / "images.npz"
    np.savez(path, X=x.astype(np.uint8), y=y.astype(np.int64))
    return path


def test_a_seed_makes_the_same_world_and_another_seed_another():
    first, again, other = toy(), toy(), toy(seed=1)
    assert (first.X == again.X).all()
    assert not (first.X == other.X).any()
    assert len(first.y) == first.facts["instances"] == SIZE
    assert content_of(world_params(DATASETS["toy"], limit=SIZE, spread=0.25)) == ""


def test_truth_is_the_mean_label_of_many_points_at_one_place():
    world = toy(spread=0.5)
    probs = world.truth(world.X)
    assert probs.shape == (SIZE, 2)
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):  # calibrated by definition
        held = (probs[:, 1] >= low) & (probs[:, 1] < low + 0.2)
        error = np.sqrt((probs[held, 1] * probs[held, 0]).sum()) / held.sum()
        assert abs(world.y[held].mean() - probs[held, 1].mean()) < 4 * error


def test_calibration_discs_lie_in_the_part_that_the_evaluation_leaves_whole():
    world = toy()
    outer = world.split.divide(world.X, random_state=1)
    inside = world.X[outer.train]
    inner = world.calibration.divide(inside, random_state=2)
    assert world.X[outer.test][:, 1].max() < inside[inner.test][:, 1].min()
    assert len(inner.centres) == 12
    assert len(toy("toy-mismatch-1").calibration.divide(inside, random_state=2).centres) == 3


def test_thinned_test_instances_are_those_of_high_aleatoric_uncertainty():
    whole, thin = toy(), toy("toy-mismatch-2")
    before, after = (world.split.divide(whole.X, random_state=1) for world in (whole, thin))
    assert (before.train == after.train).all()
    assert set(after.test) < set(before.test)
    removed = np.setdiff1d(before.test, after.test)
    aleatoric = whole.truth(whole.X).min(axis=1)
    assert set(before.ball[removed]) == set(range(0, 30, 2))
    kept = [row for row in after.test if before.ball[row] % 2 == 0]
    assert aleatoric[kept].mean() > 2 * aleatoric[removed].mean()


def test_another_share_moves_instances_between_the_training_and_the_augmented_set_alone():
    few, many = (
        make_world(world_params(DATASETS["toy"].with_train_share(p), limit=SIZE, spread=0.25), 0) for p in (0.1, 0.4)
    )
    first, second = (world.split.divide(world.X, random_state=1) for world in (few, many))
    assert (first.test == second.test).all()
    assert (first.augmented == second.augmented).all()
    assert set(first.train) < set(second.train)
    for division, p in ((first, 0.1), (second, 0.4)):
        train, *others = division.counts.T
        assert (train == np.floor(p * (train + sum(others)))).all()


def test_images_are_split_by_balls_of_one_radius(images):
    plan = DATASETS["emnist-bymerge"]
    params = world_params(plan, limit=1500, data=str(images))
    world = make_world(params, 0)
    assert world.X.shape == (1500, 50)
    assert world.truth is None
    assert content_of(params) == world.facts["content_hash"]
    division = world.split.divide(world.X, random_state=0)
    assert division.radius == world.facts["radius"]
    far = np.linalg.norm(world.X[division.test] - division.centres[division.ball[division.test]], axis=1)
    assert far.max() <= division.radius * (1 + 1e-6)
    balanced = make_world(world_params(DATASETS["emnist-bymerge-balanced"], limit=None, data=str(images)), 0)
    assert len(balanced.y) == 47 * (2000 // 47)


def test_balls_take_turns_with_the_shares():
    split = dense_balls(Regions(n_balls=5, train_shares=(0.0, 0.1)), 1.0, 4)
    assert split.train_share == (0.0, 0.1, 0.0, 0.1, 0.0)
    assert (split.n_balls, split.min_neighbours) == (5, 4)


def test_other_spreads_are_refused():
    with refuses("spread", "range"):
        toy(spread=0.0)
