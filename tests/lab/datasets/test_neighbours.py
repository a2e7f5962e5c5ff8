"""Members of balls against sums of squares in double precision; distances to neighbours against scikit-learn."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.ball_split import RadiusSearch, as_points, neighbour_distances, suggested_radius


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
