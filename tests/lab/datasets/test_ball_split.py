"""Splits by balls: the parts, the shares, the order of overlapping balls, dense regions, and what is refused."""

import numpy as np
import pytest
from tests.notes import codes, said, texts
from tests.refusals import refuses

from uqassay.lab.datasets import BallSplit
from uqassay.lab.datasets.ball_split import (
    ADDED,
    TEST,
    TRAIN,
    RadiusSearch,
    TakenBalls,
    as_points,
    division_of,
    neighbour_distances,
    suggested_radius,
)
from uqassay.lab.datasets.dataset import count_of

TWO = [[3.0, 3.0], [7.0, 7.0]]


@pytest.fixture(scope="module")
def plane():
    return np.random.default_rng(0).uniform(0, 10, (4000, 2))


def check_rules(X, division, shares=None):
    """No test row is in another part, the training set is part of the augmented one, and together they are all rows."""
    train, test, augmented = map(set, (division.train.tolist(), division.test.tolist(), division.augmented.tolist()))
    assert not test & augmented
    assert train < augmented
    assert test | augmented == set(range(len(X)))
    outside = set(np.flatnonzero(division.ball < 0).tolist())
    assert outside <= train
    for rows in (division.train, division.test, division.augmented):
        assert (np.diff(rows) > 0).all()
    apart = ((X.astype(np.float64)[None] - division.centres[:, None]) ** 2).sum(axis=2) <= division.radius**2  # (B, n)
    first = np.where(apart.any(axis=0), apart.argmax(axis=0), -1)
    np.testing.assert_array_equal(division.ball, first)
    assert division.n_overlapping == (apart.sum(axis=0) > 1).sum()
    np.testing.assert_array_equal(division.counts.sum(axis=1), np.bincount(first[first >= 0], minlength=len(apart)))
    for (p, q), (n_train, n_test, n_added) in zip(shares or [], division.counts, strict=False):
        n = n_train + n_test + n_added
        assert (n_train, n_test) == (count_of(p, n), count_of(q, n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", [0, 5])
def test_given_centres_that_overlap(plane, dtype, seed):
    X = plane.astype(dtype)
    split = BallSplit(2.0, centres=[[4, 4], [5, 5], [8, 2]], train_share=[0.05, 0.2, 0.5], test_share=[0.3, 0.4, 0.5])
    division = split.divide(X, seed)
    check_rules(X, division, [(0.05, 0.3), (0.2, 0.4), (0.5, 0.5)])
    assert division.n_overlapping > 50
    assert codes(division) == ["parts", "overlap"]


def test_seeds(plane):
    split = BallSplit(1.5, centres=TWO, n_splits=3, random_state=7)
    parts = list(split.split(plane))
    assert split.get_n_splits() == len(parts) == 3
    for i, (train, test, augmented) in enumerate(parts):
        again = split.divide(plane, 7 + i)
        np.testing.assert_array_equal(test, again.test)
        np.testing.assert_array_equal(train, again.train)
        np.testing.assert_array_equal(augmented, again.augmented)
    assert not np.array_equal(parts[0][1], parts[1][1])
    np.testing.assert_array_equal(split.divide(plane).test, parts[0][1])


def test_test_points_are_a_random_choice_of_the_ball(plane):
    """Over 400 seeds each point of a ball is tested about equally often: a chi-squared statistic within five of its sd."""
    split = BallSplit(0.6, centres=TWO[:1], train_share=0.2, test_share=0.3)
    times = np.zeros(len(plane))
    for seed in range(400):
        times[split.divide(plane, seed).test] += 1
    rows = np.flatnonzero(split.divide(plane).ball == 0)
    n, k = len(rows), count_of(0.3, len(rows))
    assert times.sum() == times[rows].sum() == 400 * k
    variance = 400 * k / n * (1 - k / n)
    chi = ((times[rows] - 400 * k / n) ** 2 / variance).sum() * (n - 1) / n
    assert abs(chi - (n - 1)) < 5 * np.sqrt(2 * (n - 1))


def test_dense_regions(plane):
    crowd = np.concatenate([plane, np.random.default_rng(1).normal(2.0, 0.3, (1500, 2))])
    split = BallSplit(0.3, min_neighbours=120, train_share=[0.1, 0.2, 0.3])
    division = split.divide(crowd, 3)
    check_rules(crowd, division, [(0.1, 0.3), (0.2, 0.3), (0.3, 0.3)])
    assert len(division.centres) == 3
    assert (np.linalg.norm(division.centres - 2.0, axis=1) < 1.5).all()  # only the crowd is that dense
    assert (division.counts.sum(axis=1) >= 120).all()
    everything = BallSplit(0.3, centres="dense", min_neighbours=120).divide(crowd, 3)
    np.testing.assert_array_equal(everything.centres[:3], division.centres)  # fewer balls are the first of more
    check_rules(crowd, everything)
    assert len(everything.centres) > 3


def test_dense_regions_against_a_plain_loop(plane):
    """The order of candidates, and the rule that a point counts for the first ball only, by a loop over candidates."""
    split = BallSplit(0.8, min_neighbours=60, n_candidates=150)
    division = split.divide(plane, 2)
    candidates = np.random.default_rng(2).choice(len(plane), size=150, replace=False)
    free = np.ones(len(plane), dtype=bool)
    centres = []
    for row in candidates:
        near = (np.linalg.norm(plane - plane[row], axis=1) <= 0.8) & free
        if near.sum() >= 60:
            centres.append(plane[row])
            free &= ~near
    np.testing.assert_array_equal(division.centres, centres)
    np.testing.assert_array_equal(division.ball < 0, free)
    note = next(note for note in division.notes if note.code == "skipped")
    assert note.facts == {"found": len(centres), "wanted": None, "tried": 150, "skipped": 150 - len(centres)}


def test_more_regions_wanted_than_found(plane):
    division = BallSplit(3.0, n_balls=500, min_neighbours=600).divide(plane)
    found = len(division.centres)
    assert 1 <= found < 500
    assert f"{found} dense regions found of 500 asked for" in said(division)


def test_balls_with_too_few_points_left_are_skipped(plane):
    split = BallSplit(1.0, centres=[[5, 5], [5.1, 5], [2, 2]], min_neighbours=40, train_share=[0.1, 0.2, 0.3])
    division = split.divide(plane)
    assert division.centres.tolist() == [[5, 5], [2, 2]]
    n = division.counts[1].sum()
    assert division.counts[1, 0] == count_of(0.3, n)  # shares stay with their ball
    assert next(note for note in division.notes if note.code == "skipped").facts == {"balls": 1, "least": 40}


def test_fifty_dimensions_in_either_precision():
    X = np.random.default_rng(4).standard_normal((3000, 50))
    split = BallSplit(8.5, min_neighbours=50, n_candidates=100, train_share=0.2)
    division = split.divide(X)
    check_rules(X, division)
    check_rules(X.astype(np.float32), split.divide(X.astype(np.float32)))
    view = np.asfortranarray(X)
    view.flags.writeable = False
    np.testing.assert_array_equal(split.divide(view).test, division.test)


def test_nothing_is_left_to_chance_by_integers_or_half_precision(plane):
    whole = np.round(plane * 3).astype(np.int32)
    check_rules(whole, BallSplit(4.0, centres=[[9, 9], [20, 21]]).divide(whole))
    half = plane.astype(np.float16)
    check_rules(half, BallSplit(1.5, centres=TWO).divide(half))


def test_coordinates_near_the_largest_number(plane):
    """Powers of two change no digit, so the parts are the same."""
    found = BallSplit(1.5, centres=TWO).divide(plane)
    large = BallSplit(1.5 * 2.0**1020, centres=np.array(TWO) * 2.0**1020).divide(plane * 2.0**1020)
    np.testing.assert_array_equal(large.test, found.test)
    np.testing.assert_array_equal(large.ball, found.ball)


def test_tables_of_pandas(plane):
    import pandas as pd

    split = BallSplit(1.5, centres=pd.DataFrame(TWO))
    expected = BallSplit(1.5, centres=TWO).divide(plane).test
    for frame in (pd.DataFrame(plane, index=np.arange(4000)[::-1]), pd.DataFrame(plane).astype("Float64")):
        np.testing.assert_array_equal(split.divide(frame).test, expected)
    names = pd.Series(np.where(np.arange(4000) % 2, "odd", "even"))
    for y in (names.astype(object), names.astype("category"), names.astype("string")):
        np.testing.assert_array_equal(split.divide(plane, y=y).test, expected)


def test_manners_of_scikit_learn(plane, needs):
    needs("sklearn")
    from sklearn.base import clone

    split = BallSplit(1.5, centres=np.array(TWO), train_share=(0.1, 0.2), random_state=3)
    copy = clone(split)
    assert copy is not split
    assert list(copy.get_params()) == list(split.get_params())
    np.testing.assert_array_equal(copy.divide(plane).test, split.divide(plane).test)
    assert repr(copy) == (
        "BallSplit(radius=1.5, centres=<array of shape (2, 2)>, train_share=<array of shape (2,)>, random_state=3)"
    )
    assert repr(clone(BallSplit(1.0, n_balls=2))) == "BallSplit(radius=1.0, n_balls=2)"


# -- refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("radius", "code"),
    [
        *((value, "range") for value in (0, -1.0, np.nan, np.inf)),
        *((value, "type") for value in ("wide", True, None, np.ones(2))),
    ],
)
def test_a_radius_is_a_positive_number(radius, code):
    with refuses("radius", code):
        BallSplit(radius)


@pytest.mark.parametrize(
    ("options", "parameter", "code"),
    [
        ({"train_share": 1.2}, "train_share", "range"),
        ({"train_share": -0.1}, "train_share", "range"),
        ({"train_share": np.nan}, "train_share", "range"),
        ({"test_share": 0.0}, "test_share", "range"),
        ({"test_share": [0.2, 0.0]}, "test_share", "range"),
        ({"test_share": "some"}, "test_share", "type"),
        ({"train_share": [[0.1]]}, "train_share", "shape"),
        ({"train_share": 0.8, "test_share": 0.3}, "train_share", "range"),
        ({"train_share": [0.1, 0.8], "test_share": 0.3}, "train_share", "range"),
        ({"train_share": [0.1, 0.2], "test_share": [0.1, 0.2, 0.3]}, "train_share", "mismatch"),
        ({"centres": TWO, "test_share": [0.1, 0.2, 0.3]}, "test_share", "mismatch"),
        ({"n_balls": 2, "train_share": [0.1, 0.2, 0.3]}, "train_share", "mismatch"),
        ({"centres": TWO, "n_balls": 2}, "n_balls", "conflict"),
        ({"centres": "sparse"}, "centres", "choice"),
        ({"centres": [1.0, 2.0]}, "centres", "shape"),
        ({"centres": []}, "centres", "shape"),
        ({"centres": np.zeros((0, 2))}, "centres", "shape"),
        ({"centres": [["a", "b"]]}, "centres", "type"),
        ({"centres": [[1.0, 2.0], [3.0]]}, "centres", "ragged"),
        ({"train_share": []}, "train_share", "shape"),
        ({"train_share": None}, "train_share", "type"),
        ({"n_balls": 0}, "n_balls", "range"),
        ({"min_neighbours": 0}, "min_neighbours", "range"),
        ({"n_candidates": 2.5}, "n_candidates", "type"),
        ({"n_splits": None}, "n_splits", "type"),
        ({"random_state": -1}, "random_state", "range"),
    ],
)
def test_options_that_are_refused(options, parameter, code):
    with refuses(parameter, code):
        BallSplit(1.0, **options)


def test_a_ball_that_catches_nothing_or_everything(plane):
    with refuses("radius", "empty", got="ball 1 has none within 1"):
        BallSplit(1.0, centres=[[3, 3], [30, 30]]).divide(plane)
    with refuses("radius", "size", got="ball 0 has all 4,000 points"):
        BallSplit(50.0, centres=[[3, 3]]).divide(plane)
    with refuses("radius", "size", got="all 4,000 points"):
        BallSplit(50.0).divide(plane)
    with refuses("min_neighbours", "empty", got="none of 2,000 candidates has 100 points .* the fullest has [1-9]"):
        BallSplit(0.01).divide(plane)
    with refuses("min_neighbours", "empty", got="no ball has 5,000 points"):
        BallSplit(1.0, centres=TWO, min_neighbours=5000).divide(plane)


def test_shares_that_leave_nothing(plane):
    with refuses("test_share", "empty", got=r"ball 1 has [0-9]+ points and a share of 0\.001") as refusal:
        BallSplit(1.0, centres=TWO, test_share=[0.3, 0.001]).divide(plane)
    assert refusal.value.facts["ball"] == 1
    with refuses("train_share", "empty", got="augmented set"):
        BallSplit(1.0, centres=[[3, 3]], train_share=0.5, test_share=0.5).divide(np.repeat(plane, 2, axis=0))


def test_overlapping_balls_that_exhaust_a_class(plane):
    y = np.zeros(len(plane), dtype=int)
    y[np.linalg.norm(plane - [4, 4], axis=1) < 0.5] = 3
    split = BallSplit(2.0, centres=[[4, 4], [5, 5]], train_share=0.0)
    with refuses("y", "empty", got=r"none is left of 1 class: 3 \([0-9]+ instances\)"):
        next(split.split(plane, y))
    assert len(next(split.split(plane))) == 3
    many = np.where(y == 3, np.arange(len(y)), 0)  # many classes: three are named, and all are counted
    with refuses("y", "empty", got="classes") as refusal:
        split.divide(plane, y=many)
    assert len(refusal.value.facts["classes"]) == len(np.unique(many)) - 1


def test_arrays_that_do_not_fit(plane):
    split = BallSplit(1.0, centres=TWO)
    with refuses("centres", "shape", got=r"\(2, 2\)"):
        split.divide(np.zeros((50, 3)))
    with refuses("X", "shape"):
        split.divide(plane[:, 0])
    broken = plane.copy()
    broken[11, 0] = np.inf
    with refuses("X", "finite", got="row 11"):
        split.divide(broken)
    with refuses("centres", "finite", got="row 1"):
        BallSplit(1.0, centres=[[3, 3], [np.nan, 1]]).divide(plane)
    with refuses("y", "mismatch", got="got 3, not 4,000"):
        split.divide(plane, y=[0, 1, 1])
    with refuses("y", "shape"):
        split.divide(plane, y=np.zeros((4000, 1)))
    with refuses("y", "missing", got="row 0"):
        split.divide(plane, y=np.full(4000, np.nan))
    with refuses("y", "type"):
        split.divide(plane, y=np.full(4000, np.inf))
    with refuses("y", "type", got="object"):
        split.divide(plane, y=np.array([1, "a"] * 2000, dtype=object))
    for n in (1, 2):
        with refuses("X", "empty", got=f"got {n}"):
            split.divide(plane[:n])
    with refuses("radius", "size", got="all points are equal"):
        BallSplit(1.0, centres=[[1, 1]]).divide(np.ones((50, 2)))
    with refuses("random_state", "type", got="got 'x'"):
        split.divide(plane, "x")


# -- The rules of a division: parts without a common row, the account of balls, and what is refused.


@pytest.fixture
def two_balls():
    taken = TakenBalls(8)
    taken.take(np.array([0.0]), 0, np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool), 1)
    taken.take(np.array([1.0]), 1, np.array([0, 0, 1, 1, 1, 0, 0, 0], dtype=bool), 1)
    return taken


def test_the_first_ball_keeps_its_points(two_balls):
    assert two_balls.ball.tolist() == [0, 0, 0, 0, 1, -1, -1, -1]
    assert two_balls.n_overlapping == 2
    two_balls.take(np.array([2.0]), 2, np.array([0, 0, 1, 0, 0, 1, 0, 0], dtype=bool), 2)
    assert (two_balls.n_skipped, two_balls.fullest, len(two_balls.centres)) == (1, 4, 2)
    assert two_balls.ball[5] == -1


def test_account(two_balls):
    place = np.array([TRAIN, TEST, ADDED, ADDED, TEST, TRAIN, TRAIN, TRAIN], dtype=np.int8)
    found = division_of(place, two_balls, 1.5, None, [])
    assert found.train.tolist() == [0, 5, 6, 7]
    assert found.test.tolist() == [1, 4]
    assert found.augmented.tolist() == [0, 2, 3, 5, 6, 7]
    assert found.counts.tolist() == [[1, 1, 2], [0, 1, 0]]
    assert found.sizes == {"train": 4, "test": 2, "augmented": 6, "balls": 2, "overlapping": 2}
    assert codes(found) == ["parts", "overlap"]
    assert texts(found)[0].startswith("2 balls with 5 of 8 points: 1 in the training set, 2 in the test set, 2 only")


def test_parts_that_are_empty(two_balls):
    with refuses("train_share", "empty", got="training set"):
        division_of(np.array([TEST, ADDED] * 4, dtype=np.int8), two_balls, 1.0, None, [])
    with refuses("train_share", "empty", got="augmented set"):
        division_of(np.array([TEST, TRAIN] * 4, dtype=np.int8), two_balls, 1.0, None, [])


def test_a_class_that_the_balls_exhaust_is_named(two_balls):
    place = np.array([TRAIN, TEST, ADDED, ADDED, TEST, TRAIN, TRAIN, TRAIN], dtype=np.int8)
    labels = np.array(["a", "b", "c", "b", "b", "a", "a", "d"])
    with refuses("y", "empty", got=r"2 classes: b \(3 instances\) and c \(1 instance\)") as refusal:
        division_of(place, two_balls, 1.0, labels, [])
    assert refusal.value.facts["classes"] == ["b", "c"]
    labels[[5, 6]] = ["b", "c"]
    assert division_of(place, two_balls, 1.0, labels, []).sizes["train"] == 4


# -- Members of balls against sums of squares in double precision; distances to neighbours against scikit-learn.


def by_brute_force(points, centres, radius):
    apart = points[None].astype(np.float64) - np.asarray(centres, dtype=np.float64)[:, None]
    return (apart**2).sum(axis=2) <= radius**2


@pytest.mark.parametrize(("n", "d", "radius"), [(3000, 2, 0.4), (800, 50, 7.0), (500, 1, 0.3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_members_against_brute_force(random_generator, n, d, radius, dtype):
    points = random_generator.standard_normal((n, d)).astype(dtype)
    centres = points[:90]
    found = RadiusSearch(points, radius).within(centres)
    np.testing.assert_array_equal(found, by_brute_force(points, centres, radius))
    assert 0.001 < found.mean() < 0.9
    np.testing.assert_array_equal(np.array(list(RadiusSearch(points, radius).each(centres))), found)


def test_points_at_distance_r_are_members():
    """The grid has points at distance 5 exactly: (3, 4), (5, 0), … In single precision they would be on either side."""
    points = np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), axis=-1).reshape(-1, 2) + 1000.0
    centres = points[::37]
    found = RadiusSearch(points, 5.0).within(centres)
    np.testing.assert_array_equal(found, by_brute_force(points, centres, 5.0))
    inner = (np.abs(centres - 1019.5) < 14).all(axis=1)
    assert (found[inner].sum(axis=1) == 81).all()  # of Gauss's circle problem


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-30, 1e30, 1e100, 3e307])
def test_members_and_distances_at_any_scale(random_generator, scale):
    points = random_generator.standard_normal((300, 3))
    expected = by_brute_force(points, points[:20], 1.0)
    np.testing.assert_array_equal(RadiusSearch(points * scale, scale).within(points[:20] * scale), expected)
    np.testing.assert_allclose(neighbour_distances(points * scale, 5) / scale, neighbour_distances(points, 5))
    assert suggested_radius(points * scale, 5) / scale == pytest.approx(suggested_radius(points, 5))


def test_radii_far_below_and_above_the_distances():
    """Squares of such radii are 0 or infinite in double precision."""
    points = np.array([[0.0], [1e-250], [1.0], [1e308], [-1e308]])
    assert RadiusSearch(points, 1e-260).within(points).sum(axis=1).tolist() == [1] * 5
    assert RadiusSearch(points, 1e-240).within(points).sum(axis=1).tolist() == [2, 2, 1, 1, 1]
    assert RadiusSearch(points, 1.5e308).within(points).sum(axis=1).tolist() == [5, 5, 5, 4, 4]
    with refuses("X", "range", got=r"1e\+308"):
        neighbour_distances(points, 4)


def test_far_points_do_not_disturb_near_ones(random_generator):
    points = random_generator.standard_normal((400, 4))
    points[0] = 1e25  # beyond single precision in units of the radius squared
    found = RadiusSearch(points, 1.5).within(points[:10])
    np.testing.assert_array_equal(found, by_brute_force(points, points[:10], 1.5))


def test_rows_that_lie_apart_and_cannot_be_written(random_generator):
    wide = random_generator.standard_normal((200, 6))
    view = wide[::2, ::3]
    view.flags.writeable = False
    np.testing.assert_array_equal(RadiusSearch(view, 1.0).within(view[:5]), by_brute_force(view, view[:5], 1.0))


def test_neighbour_distances_against_scikit_learn(random_generator, needs):
    needs("sklearn")
    from sklearn.neighbors import NearestNeighbors

    points = random_generator.standard_normal((700, 5))
    points[:50] = points[50:100]  # equal points
    expected = np.sort(NearestNeighbors(n_neighbors=21).fit(points).kneighbors(points)[0][:, 20])
    np.testing.assert_allclose(neighbour_distances(points, 20, n_sampled=10_000), expected, atol=1e-7)
    some = neighbour_distances(points.astype(np.float32), 20, n_sampled=100, rng=4)
    assert len(some) == 100
    assert np.isclose(some[:, None], expected, atol=1e-5).any(axis=1).all()


def test_suggested_radius_gives_half_of_the_points_the_neighbours(random_generator):
    points = random_generator.standard_normal((1200, 3))
    for quantile in (0.2, 0.5):
        radius = suggested_radius(points, 30, quantile=quantile)
        with_enough = (RadiusSearch(points, radius).within(points).sum(axis=1) - 1 >= 30).mean()
        # a share found from 500 of 1,200 points; four standard errors
        assert abs(with_enough - quantile) < 4 * np.sqrt(quantile * (1 - quantile) * (1 / 500 - 1 / 1200)) + 1 / 500


def test_refusals(random_generator):
    points = random_generator.standard_normal((50, 2))
    with refuses("n_neighbours", "range", got="from 1 to 49; got 50"):
        neighbour_distances(points, 50)
    with refuses("n_sampled", "range", got="got 0"):
        neighbour_distances(points, 5, n_sampled=0)
    with refuses("quantile", "range", got=r"got 1\.5"):
        suggested_radius(points, 5, quantile=1.5)
    with refuses("X", "undefined", got="5 equal ones"):
        suggested_radius(np.repeat([[1.0, 2.0]], 50, axis=0), 5)
    with refuses("X", "shape"):
        as_points(np.zeros(5))
    points[7, 1] = np.nan
    with refuses("X", "finite", got="row 7"):
        suggested_radius(points, 5)
