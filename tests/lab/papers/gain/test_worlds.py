"""Data and splits of the reproduction's runs, and a forest on a small toy world."""

import json

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Rows, stripes
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import GainRun
from uqassay.lab.datasets import disc_layout
from uqassay.lab.papers.gain.plan import DATASETS, Regions, ToyPlan
from uqassay.lab.papers.gain.run import FUNCTION, run_world, world_cells
from uqassay.lab.papers.gain.worlds import (
    GainTask,
    check_splitter,
    content_of,
    dense_balls,
    divided_run,
    known_label_probs,
    make_world,
    world_params,
)
from uqassay.lab.papers.trainings import record_of

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
    (parts,) = (note for note in after.notes if note.code == "parts")
    assert f"{len(after.test):,} in the test set, {len(removed):,} left out of it, " in parts.text
    assert parts.text.partition(":")[0] == before.notes[0].text.partition(":")[0]  # as many points in the balls
    assert (parts.facts["test"], parts.facts["left_out"]) == (len(after.test), len(removed))


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


# -- Plans of the balls in real data.


@pytest.mark.parametrize(("n", "neighbours", "least"), [(100_000, 500, 250), (1000, 5, 2), (100, 2, 2)])
def test_neighbours_grow_with_the_data(n, neighbours, least):
    regions = Regions(neighbour_share=0.005)
    assert (regions.neighbours(n), regions.least(n)) == (neighbours, least)


def test_the_sentence_has_every_number():
    text = Regions(neighbour_share=0.02, dense_share=0.3, n_balls=7, train_shares=(0.0, 0.1), test_share=0.2).sentence()
    for part in ("R: 30 %", "2.0 %", "at most 7 balls", "p = 0 and 10 % in turn", "q = 20 %"):
        assert part in text


def test_discs_of_the_toy_data_have_the_shares_that_are_asked_for():
    usual = ToyPlan().discs()
    for found, name in zip(usual, ("figure-2", "twelve-discs"), strict=True):
        assert (found.train_share == disc_layout(name).train_share).all()
    for found, other in zip(ToyPlan(train_share=0.05).discs(3), usual, strict=True):
        assert (found.train_share == 0.05).all()
        assert (found.centres == other.centres).all()
        assert (found.test_share == other.test_share).all()


def test_random_shares_belong_to_the_disc_and_the_run():
    plan = ToyPlan(train_share="random")
    first, again, other = (np.concatenate([d.train_share for d in plan.discs(seed)]) for seed in (0, 0, 1))
    assert (first == again).all()
    assert not (first == other).any()
    assert len(np.unique(first)) == 42
    many = np.concatenate([plan.discs(seed)[0].train_share for seed in range(100)])
    assert 0.0 <= many.min() < 0.001 < 0.499 < many.max() <= 0.5
    assert abs(many.mean() - 0.25) < 4 * 0.5 / np.sqrt(12 * len(many))


# -- Label probabilities that are known.


X = np.zeros((3, 2))


def test_a_function_or_an_array():
    assert known_label_probs(None, X, 2) is None
    probs = np.array([[0.25, 0.75]] * 3)
    for truth in (probs, probs.tolist(), lambda X: probs[: len(X)]):
        np.testing.assert_array_equal(known_label_probs(truth, X, 2), probs)


def test_refusals():
    with refuses("truth", "shape", got=r"each of 3 classes.*\(3, 2\) for 3 rows"):
        known_label_probs(np.full((3, 2), 0.5), X, 3)
    with refuses("truth", "shape", got=r"\(2, 2\) for 3 rows"):
        known_label_probs(np.full((2, 2), 0.5), X, 2)
    with refuses("truth", "sum", got="row 0"):
        known_label_probs(lambda X: np.full((3, 2), 0.4), X, 2)
    with refuses("truth", "finite", got="row 1"):
        known_label_probs(np.array([[0.5, 0.5], [np.nan, 1], [0.5, 0.5]]), X, 2)
    with refuses("truth"):
        known_label_probs(lambda X: np.full(3, 0.5), X, 2)


# -- Divisions of the data of a run, and those inside D_train.


def task(split, calibration=None, k=3):
    X, y = stripes(k=k)
    return GainTask(X=X, y=y, class_names=tuple("abcdef"[:k]), split=split, calibration=calibration)


def test_the_calibration_lies_inside_the_training_part():
    split, inner = Corner(), Corner(edge=0.9, train_share=0.2)
    found = divided_run(task(split, inner), 7)
    outer, inside = found.evaluation, found.calibration
    assert set(inside.test) | set(inside.augmented) == set(outer.train)
    assert not set(inside.test) & set(inside.augmented)
    assert set(inside.train) < set(inside.augmented)
    X = stripes()[0]
    assert (X[outer.test] > 0.4).all()
    assert (X[inside.test] > 0.1).all()
    assert found.sizes == {
        "D_train": len(outer.train),
        "D_aug": len(outer.augmented),
        "D_test": len(outer.test),
        "D_train2": len(inside.train),
        "D_aug2": len(inside.augmented),
        "D_test2": len(inside.test),
    }
    assert (found.n_trainings, divided_run(task(split), 7).n_trainings) == (4, 2)


def test_seeds_decide_and_the_calibration_has_its_own():
    one, again, other = (divided_run(task(Corner(), Corner()), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.calibration.test, again.calibration.test)
    assert set(one.evaluation.test) != set(other.evaluation.test)
    alone = divided_run(task(Corner()), 1)
    np.testing.assert_array_equal(alone.evaluation.test, one.evaluation.test)
    assert alone.calibration is None


def test_balls_with_their_notes():
    split = uq.lab.datasets.BallSplit(0.3, centres=[[0.5, 0.5]], train_share=0.2, test_share=0.4)
    found = divided_run(task(split), 0)
    assert [note.code for note in found.evaluation.notes] == ["parts"]
    X = stripes()[0]
    assert (np.linalg.norm(X[found.evaluation.test] - 0.5, axis=1) <= 0.3).all()
    with refuses("split.radius", "size"):
        divided_run(task(uq.lab.datasets.BallSplit(3.0, centres=[[0.5, 0.5]])), 0)
    with refuses("split.radius", "empty"):
        divided_run(task(uq.lab.datasets.BallSplit(0.1, centres=[[5.0, 5.0]])), 0)
    twice = divided_run(task(split, uq.lab.datasets.BallSplit(0.2, centres=[[0.2, 0.2]])), 0)
    assert twice.calibration.notes[0].text.startswith("inside D_train: 1 ball with")
    inside = uq.lab.datasets.BallSplit(0.3, centres=[[5.0, 5.0]])
    with refuses("calibration.radius", "empty"):
        divided_run(task(split, inside), 0)


EVERY = np.arange(240)


@pytest.mark.parametrize(
    ("train", "test", "augmented", "code", "got"),
    [
        (EVERY[:100], [], EVERY, "empty", "must give test instances; got none in the run of seed 3"),
        ([], EVERY[:10], EVERY[10:], "empty", "must give train instances"),
        (EVERY[:100], EVERY[100:], EVERY[:100], "empty", "and more instances; got none"),
        (EVERY[:100], EVERY[200:], EVERY[1:200], "empty", "1 row of D_train is missing"),
        (EVERY[:100], EVERY[100:], EVERY, "conflict", "140 rows in both"),
        (EVERY[:100], EVERY[99:], EVERY[:99], "conflict", "1 row in both"),
        (EVERY[:100], [240], EVERY, "range", "0 … 239 at most once; got test rows from 240"),
        (EVERY[:100], [-1], EVERY, "range", "rows from -1"),
        (EVERY[:100], [200, 200], EVERY[:200], "range", "at most once"),
        (EVERY[:100], [0.5], EVERY, "shape", "float64 for test"),
        (EVERY[:100], EVERY[:, None], EVERY, "shape", r"\(240, 1\)"),
        (EVERY[:100], None, EVERY, "shape", "got none for test"),
        (EVERY[:100], EVERY > 200, EVERY, "shape", "bool for test; take np.flatnonzero"),
        (EVERY[:100], [[200], [201, 202]], EVERY[:200], "ragged", "for test"),
    ],
)
def test_parts_that_are_refused(train, test, augmented, code, got):
    with refuses("split", code, got):
        divided_run(task(Rows(train, test, augmented)), 3)


def test_classes_of_the_training_part():
    y = stripes()[1]
    none, ones, twos = (np.flatnonzero(y == k) for k in range(3))
    with refuses("split", "empty", got="only 'a' in the run of seed 0"):
        divided_run(task(Rows(none, ones, np.r_[none, twos])), 0)
    split = Rows(np.r_[none, ones], twos[:20], np.r_[none, ones, twos[20:]])
    assert len(divided_run(task(split), 0).evaluation.test) == 20
    with refuses("split", "empty", got="D_train lacks 'c' in the run of seed 0"):
        divided_run(task(split), 0, losses=("zero-one", "log"))
    with refuses("calibration", "empty", got="D_train of the run of seed 0"):
        divided_run(task(Corner(), Rows([0, 1], [], [0, 1, 2])), 0)


def test_objects_without_divide():
    for wrong in (3, None, Corner, object()):
        with refuses("split", "type", got="divide"):
            check_splitter(wrong, "split")


# -- runs of the reproduction as cells: a forest on a small toy world ---------------------------------------------------


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
    run = record_of(result, GainRun)
    sizes = run.sizes
    assert sizes["D_aug2"] + sizes["D_test2"] <= sizes["D_train"] < sizes["D_aug"] <= 6000 - sizes["D_test"]
    assert (run.test.n_instances, run.calibration.n_instances) == (sizes["D_test"], sizes["D_test2"])
    assert set(run.test.epistemic) == {"mutual-information", "entropy"}
    assert json.dumps(dict(result.facts))


def test_the_mean_gain_is_near_the_true_uncertainty_that_more_data_remove(result):
    """E[gain] = EU of f̂ minus EU of f_aug; the latter is at least 0."""
    test = record_of(result, GainRun).test
    error = test.gain["zero-one"].std() / np.sqrt(test.n_instances)
    assert test.gain["zero-one"].mean() < test.truth.epistemic.mean() + 4 * error
    assert (1 - test.correct_before).mean() == pytest.approx(test.truth.total.mean(), abs=0.05)
