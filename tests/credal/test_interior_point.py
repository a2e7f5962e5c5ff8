"""The interior-point solver: certified gaps, and instances that stop alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.credal.random_sets import random_masses, random_points

from uqassay.credal.distances import DISTANCES
from uqassay.credal.nearest import _solve, divergence, nearest_in_core, nearest_in_hull


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(tuple(DISTANCES)), st.integers(1, 14), st.integers(2, 7))
def test_hull_gap_is_honest(seed, distance, n_points, k):
    rng, points = random_points(seed, 6, n_points, k, 0.5)
    target = rng.dirichlet(np.full(k, 0.5), 6)
    best = nearest_in_hull(target, points, distance, tolerance=1e-10, max_iterations=300)
    assert best.gap.max() <= 1e-6
    for rough in (
        nearest_in_hull(target, points, distance, max_iterations=1),
        nearest_in_hull(target, points, distance, tolerance=0.05),
    ):
        assert (rough.distance >= best.distance - best.gap - 1e-12).all()
        assert (rough.distance - rough.gap <= best.distance + 1e-9).all()
        np.testing.assert_allclose(divergence(target, rough.point, distance), rough.distance, atol=1e-12)


@pytest.mark.parametrize("distance", ["js_distance", "hellinger"])
def test_many_points_and_few_classes_reach_a_tight_tolerance(distance):
    rng, points = random_points(3, 300, 60, 5, 0.1)  # where a K x K system alone leaves gaps of 1e-9 in three rows
    found = nearest_in_hull(rng.dirichlet(np.full(5, 0.05), 300), points, distance, tolerance=1e-10)
    assert found.gap.max() <= 1e-10


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(tuple(DISTANCES)), st.sampled_from([2, 3, 4]))
def test_core_gap_is_honest(seed, distance, k):
    rng, masses, sets = random_masses(seed, 6, k)
    target = rng.dirichlet(np.full(k, 0.5), 6)
    best = nearest_in_core(target, masses, sets, distance)
    assert best.gap.max() <= 1e-5
    for options in ({"max_iterations": 2}, {"tolerance": 0.2}):
        rough = nearest_in_core(target, masses, sets, distance, **options)
        assert (rough.distance >= best.distance - best.gap - 1e-12).all()
        assert (rough.distance - rough.gap <= best.distance + 1e-12).all()


def test_a_singular_system_stops_its_own_instance_alone():
    matrices = np.array([np.eye(2), np.ones((2, 2)), 2 * np.eye(2)])
    solved = _solve(matrices, np.ones((3, 2, 1)))[..., 0]
    np.testing.assert_array_equal(solved, [[1, 1], [np.nan, np.nan], [0.5, 0.5]])
