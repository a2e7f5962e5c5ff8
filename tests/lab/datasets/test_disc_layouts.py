"""The discs lie inside the grid and apart from each other; the thinned test set loses what it states and nothing else."""

import numpy as np
import pytest
from tests.notes import notes_of
from tests.refusals import refuses

from uqassay.lab.datasets import cluster_grid, disc_layout, thinned_test
from uqassay.lab.datasets.discs import DISC_LAYOUTS


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
