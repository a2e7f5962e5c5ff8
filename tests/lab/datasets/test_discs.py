"""The discs lie inside the grid and apart from each other; the thinned test set loses what it states and nothing else."""

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.notes import notes_of
from tests.refusals import refuses

from uqassay.lab.datasets import cluster_grid, disc_layout, load_dataset, thinned_test
from uqassay.lab.datasets.discs import DISC_LAYOUTS, GainGrid


@pytest.fixture(scope="module")
def toy():
    return cluster_grid(20_000, rng=1)


@pytest.mark.parametrize("name", DISC_LAYOUTS)
def test_discs_lie_apart_and_inside(name):
    layout = disc_layout(name)
    apart = np.linalg.norm(layout.centres[:, None] - layout.centres, axis=-1)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 2 * layout.radius
    assert (layout.centres.min(axis=0) - layout.radius >= 0.5).all()  # half a step outside of the first clusters
    assert (layout.centres.max(axis=0) + layout.radius <= [38.5, 46.5]).all()
    assert layout.train_share.shape == layout.test_share.shape == (len(layout.centres),)
    assert (layout.train_share + layout.test_share < 1).all()


def test_discs_of_the_calibration_lie_in_the_untouched_region():
    lower = disc_layout("figure-2")
    edge = lower.centres[:, 1].max() + lower.radius
    for name, number in (("twelve-discs", 12), ("three-discs", 3)):
        upper = disc_layout(name)
        assert len(upper.centres) == number
        assert upper.centres[:, 1].min() - upper.radius > edge
    small, large = disc_layout("twelve-discs"), disc_layout("three-discs")
    assert 12 * small.radius**2 == pytest.approx(3 * large.radius**2)
    assert small.radius == lower.radius


def test_each_row_of_discs_has_each_share():
    lower = disc_layout("figure-2")
    rows = lower.train_share.reshape(5, 6)
    assert all(sorted(row) == [0.01, 0.02, 0.04, 0.1, 0.25, 0.5] for row in rows.tolist())
    assert len({tuple(column) for column in rows.T.tolist()}) == 6


@pytest.mark.parametrize("name", DISC_LAYOUTS)
def test_division_by_the_discs(name, toy):
    layout = disc_layout(name)
    split = layout.splitter(3, n_splits=2)
    division = split.divide(toy.X, y=toy.y)
    assert division.sizes["balls"] == len(layout.centres)
    assert division.n_overlapping == 0
    sizes = division.counts.sum(axis=1)
    np.testing.assert_allclose(division.counts[:, 0] / sizes, layout.train_share, atol=1 / sizes.min())
    np.testing.assert_allclose(division.counts[:, 1] / sizes, layout.test_share, atol=1 / sizes.min())
    # about one cluster per unit of area, of 20,000/1,748 points
    expected = np.pi * layout.radius**2 * 20_000 / 1748
    assert abs(sizes.mean() / expected - 1) < 0.05
    assert len(next(split.split(toy.X))[1]) == len(division.test)


def test_calibration_inside_the_training_set(toy):
    """The nested division finds the upper region as it was."""
    outer = disc_layout("figure-2").splitter().divide(toy.X)
    whole = disc_layout("twelve-discs").splitter().divide(toy.X)
    inner = disc_layout("twelve-discs").splitter().divide(toy.X[outer.train])
    np.testing.assert_array_equal(inner.counts.sum(axis=1), whole.counts.sum(axis=1))


def test_thinned_test_against_a_loop(toy):
    division = disc_layout("figure-2").splitter().divide(toy.X)
    found = thinned_test(division, toy.aleatoric)
    kept = set(division.test.tolist())
    for ball in range(0, 30, 2):
        rows = [row for row in division.test.tolist() if division.ball[row] == ball]
        rows.sort(key=lambda row: (toy.aleatoric[row], row))
        kept -= set(rows[: int(0.8 * len(rows) + 1e-6)])
    assert set(found.test.tolist()) == kept
    np.testing.assert_array_equal(found.train, division.train)
    np.testing.assert_array_equal(found.augmented, division.augmented)
    removed = len(division.test) - len(found.test)
    note = notes_of(found)[-1]
    assert note.facts == {"removed": removed, "balls": 15, "share": 0.8}
    assert found.sizes["test"] == len(kept)
    assert toy.aleatoric[found.test].mean() > 1.2 * toy.aleatoric[division.test].mean()


def test_thinned_test_of_chosen_balls_with_ties(toy):
    division = disc_layout("three-discs").splitter().divide(toy.X)
    found = thinned_test(division, np.full(len(toy.y), 0.25), share=0.5, balls=[1, 1])
    lost = np.setdiff1d(division.test, found.test)
    of_ball = division.test[division.ball[division.test] == 1]
    np.testing.assert_array_equal(lost, of_ball[: len(of_ball) // 2])  # of equal values the first rows


def test_refusals(toy):
    with refuses("name", "choice", got="'figure-3'"):
        disc_layout("figure-3")
    division = disc_layout("three-discs").splitter().divide(toy.X)
    with refuses("aleatoric", "mismatch", got=f"got {len(division.test)}"):
        thinned_test(division, toy.aleatoric[division.test])
    with refuses("aleatoric", "range", got="row 0 has 2"):
        thinned_test(division, np.full(len(toy.y), 2.0))
    with refuses("aleatoric", "range", got="row 0 has nan"):
        thinned_test(division, np.full(len(toy.y), np.nan))
    for share in (0.0, 1.0, np.nan):
        with refuses("share", "range"):
            thinned_test(division, toy.aleatoric, share=share)
    with refuses("share", "empty", got="removes none"):
        thinned_test(division, toy.aleatoric, share=1e-6)
    for balls in ([3], [-1], [0.5]):
        with refuses("balls", "range", got="0 … 2"):
            thinned_test(division, toy.aleatoric, balls=balls)


def test_values_of_another_type():
    with refuses("name", "choice"):
        disc_layout(["figure-2"])
    toy = cluster_grid(5000, rng=0)
    division = disc_layout("three-discs").splitter(0).divide(toy.X)
    with refuses("share", "type", got="'a'"):
        thinned_test(division, toy.aleatoric, share="a")


# -- The toy grid: its law against theory and brute force, and the sample against its law.


def by_all_clusters(points, centres, of_one, spread):
    """log p(1 | x) by log-sum-exp over all clusters."""
    exponent = -((points[:, None] - centres) ** 2).sum(axis=-1) / (2 * spread**2)
    with np.errstate(divide="ignore"):
        ones = np.log(of_one.astype(float))
    return logsumexp(exponent + ones, axis=1) - logsumexp(exponent, axis=1)


@pytest.mark.parametrize("spread", [0.1, 0.35, 1.0])
@pytest.mark.parametrize("size", [(38, 46), (5, 3), (1, 2)])
def test_probabilities_against_all_clusters(spread, size):
    toy = cluster_grid(60, spread=spread, columns=size[0], rows=size[1], rng=1)
    far = [[-30.0, 90.0], [20.5, 23.5]]  # where densities underflow, and amid four clusters
    points = np.concatenate([toy.X, far])
    expected = np.exp(by_all_clusters(points, toy.centres, toy.cluster_class == 1, spread))
    # far out the exponents are 10⁵, of which brute force keeps ten digits after the point
    np.testing.assert_allclose(toy.label_probs(points)[:, 1], expected, atol=1e-12 if spread > 0.1 else 1e-9)
    np.testing.assert_array_equal(toy.label_probs(toy.X), toy.probs)
    np.testing.assert_allclose(toy.probs.sum(axis=1), 1.0, rtol=1e-15)
    assert ((toy.probs >= 0) & (toy.probs <= 1)).all()
    np.testing.assert_allclose(toy.aleatoric, 1.0 - toy.probs.max(axis=1), atol=1e-15)


@pytest.mark.parametrize(("spread", "error"), [(1.0, 0.380), (0.5, 0.255), (0.35, 0.138), (0.25, 0.043), (0.1, 0.0)])
def test_stated_bayes_error(spread, error):
    """Mean of 1 − max p by spread; it varies with the drawn half, so three of them are averaged."""
    found = [cluster_grid(20_000, spread=spread, rng=seed).aleatoric.mean() for seed in range(3)]
    assert abs(np.mean(found) - error) < 0.008


def test_labels_are_those_of_the_clusters():
    toy = cluster_grid(20_000, spread=0.05, rng=2)
    nearest = (np.rint(toy.X) - 1).astype(int) @ [46, 1]
    np.testing.assert_array_equal(toy.y, toy.cluster_class[nearest])
    np.testing.assert_array_equal(toy.centres[nearest], np.rint(toy.X))
    counts = np.bincount(nearest, minlength=1748)  # every cluster has the same weight
    assert abs(((counts - 20_000 / 1748) ** 2).sum() * 1748 / 20_000 - 1747) < 5 * np.sqrt(2 * 1747)
    scatter = toy.X - toy.centres[nearest]
    np.testing.assert_allclose(np.cov(scatter.T), 0.05**2 * np.eye(2), atol=0.05**2 * 5 * np.sqrt(2 / 20_000))


def test_half_of_the_clusters_is_of_class_1_at_random():
    halves = np.array([GainGrid.drawn(rng=seed).of_class_1 for seed in range(200)])
    assert (halves.sum(axis=(1, 2)) == 874).all()
    shares = halves.mean(axis=0)
    assert abs(shares - 0.5).max() < 5 * np.sqrt(0.25 / 200)
    assert int(GainGrid.drawn(size=(3, 3)).of_class_1.sum()) == 4


def test_sample_as_printed():
    toy = cluster_grid()
    assert toy.X.shape == (142_693, 2)
    assert (len(toy.centres), toy.spread) == (1748, 0.35)
    assert toy.centres.min(axis=0).tolist() == [1.0, 1.0]
    assert toy.centres.max(axis=0).tolist() == [38.0, 46.0]
    again = cluster_grid(rng=0)
    np.testing.assert_array_equal(toy.X, again.X)
    assert not np.array_equal(toy.cluster_class, cluster_grid(10, rng=1).cluster_class)


def test_the_data_set_of_that_name_is_of_the_same_law():
    data = load_dataset("gain-grid", rng=4)
    grid = GainGrid.drawn(0.35, np.random.default_rng(4))
    np.testing.assert_allclose(data.votes_test, grid.label_probs(data.X_test), atol=1e-15)


def test_refusals_of_cluster_grids():
    with refuses("spread", "range", got="got 0"):
        cluster_grid(10, spread=0)
    with refuses("spread", "range", got="got nan"):
        GainGrid.drawn(np.nan)
    with refuses("n", "range", got="got 0"):
        cluster_grid(0)
    with refuses("rows", "range", got="got 0"):
        cluster_grid(10, rows=0)
    with refuses("columns", "range", got="1 × 1"):
        cluster_grid(10, columns=1, rows=1)
    toy = cluster_grid(10)
    with refuses("X", "shape", got=r"\(4, 3\)"):
        toy.label_probs(np.zeros((4, 3)))
    with refuses("X", "finite", got="row 1"):
        toy.label_probs([[0.0, 1.0], [np.nan, 1.0]])


@pytest.mark.parametrize("far", [1e9, 1e17, 1e300])
def test_label_probs_far_from_the_grid_are_those_of_the_nearest_cluster(far):
    grid = GainGrid.drawn(0.35, 0)
    found = grid.label_probs([[-far, far], [far, far]])[:, 1]
    assert found.tolist() == [float(grid.of_class_1[0, -1]), float(grid.of_class_1[-1, -1])]


@pytest.mark.parametrize(
    ("options", "name"),
    [({"n": 1.5}, "n"), ({"n": True}, "n"), ({"columns": 2.5}, "columns"), ({"spread": "a"}, "spread")],
)
def test_values_of_another_type_of_cluster_grids(options, name):
    with refuses(name, "type"):
        cluster_grid(**{"n": 10, **options})
