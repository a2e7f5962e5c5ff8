"""Overlap of confidence regions, and the search for the sets of classes that overlap most."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.credal.overlap_by_brute_force import CROSS, exhaustive

from uqassay.credal.budget import best_overlapping_sets, ellipsoid_cells, overlaps


def test_one_dimensional_overlap_against_theory():
    # Two intervals of half width r at distance d: (2r − d) / (2r + d); χ²_1(0.95) = 1.959963984540054².
    x = np.array([0.0, 1.0, 1.25, 2.25])[:, None]
    r = np.sqrt(0.5) * 1.959963984540054
    inside, volumes = ellipsoid_cells(x, np.array([0, 0, 1, 1]), 2, 0.95, 400_000, np.random.default_rng(1))
    np.testing.assert_allclose(
        overlaps(inside, volumes, np.array([[0, 1]])), [(2 * r - 1.25) / (2 * r + 1.25)], atol=0.004
    )


@pytest.mark.parametrize(("dimension", "quantile"), [(2, 5.991464547107979), (3, 7.814727903251179)])
@pytest.mark.parametrize("distance", [0.5, 1.5, 3.0])
def test_overlap_of_two_balls_against_theory(dimension, quantile, distance):
    r = np.sqrt(2 / (2 * dimension - 1) * quantile)
    shift = np.zeros(dimension)
    shift[0] = distance
    x = np.concatenate([CROSS[dimension], CROSS[dimension] + shift])
    y = np.repeat([0, 1], 2 * dimension)
    inside, volumes = ellipsoid_cells(x, y, 2, 0.95, 400_000, np.random.default_rng(0))
    got = overlaps(inside, volumes, np.array([[0, 1]]))[0]
    if dimension == 2:
        ball = np.pi * r**2
        lens = 2 * r**2 * np.arccos(distance / (2 * r)) - distance / 2 * np.sqrt(4 * r**2 - distance**2)
    else:
        ball = 4 / 3 * np.pi * r**3
        lens = np.pi * (4 * r + distance) * (2 * r - distance) ** 2 / 12
    np.testing.assert_allclose(got, lens / (2 * ball - lens), atol=0.005)


def test_overlap_of_a_small_ellipsoid_within_a_large_one_against_theory():
    # The ratio of the volumes, though the small one would receive no point from a common box: 1e-3 cubed.
    x = np.concatenate([CROSS[3], 1e-3 * CROSS[3] + 0.1])
    inside, volumes = ellipsoid_cells(x, np.repeat([0, 1], 6), 2, 0.95, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(overlaps(inside, volumes, np.array([[0, 1]])), [1e-9], rtol=1e-6)


def test_ellipsoids_are_true_ellipsoids_against_theory(random_generator):
    # Under any invertible linear map of the embeddings every volume is scaled alike: the overlaps stay.
    x = np.concatenate([random_generator.normal(size=(50, 2)) * [3, 0.2] + c for c in ([0, 0], [1, 0.1], [2, 0])])
    y = np.repeat([0, 1, 2], 50)
    turn = np.array([[1.0, 2.0], [-0.5, 0.3]])
    sets = np.array([[0, 1], [0, 2], [1, 2]])
    before, after = (
        overlaps(*ellipsoid_cells(points, y, 3, 0.9, 400_000, np.random.default_rng(0)), sets)
        for points in (x, x @ turn.T)
    )
    assert before.min() > 0.05
    np.testing.assert_allclose(after, before, atol=0.005)


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 60),
    st.integers(2, 6),
    st.booleans(),
)
def test_search_against_brute_force(seed, k, n_cells, n_sets, max_size, boolean):
    # Few levels of membership and small whole weights, so that ties and empty intersections abound.
    rng = np.random.default_rng(seed)
    u = rng.random((k, n_cells)) < 0.6 if boolean else rng.integers(0, 4, size=(k, n_cells)) / 3
    weights = rng.integers(1, 3, size=n_cells).astype(float)
    assert best_overlapping_sets(u, weights, n_sets, max_size) == exhaustive(u, weights, n_sets, min(max_size, k))


def test_search_in_blocks_against_one_pass(monkeypatch, random_generator):
    u, weights = random_generator.random((9, 50)), random_generator.random(50)
    whole = best_overlapping_sets(u, weights, 60, 4)
    monkeypatch.setattr("uqassay.credal.budget._BLOCK", 120)
    assert best_overlapping_sets(u, weights, 60, 4) == whole
    assert whole == exhaustive(u, weights, 60, 4)
