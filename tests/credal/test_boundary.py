"""Where segments to the corners of the simplex leave credal sets: against HiGHS, one program at a time."""

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.credal.convex_hull import closest_corner, in_hull, outside_segment


def longest_way(members: np.ndarray, start: np.ndarray, corner: int) -> float:
    """max t such that (1 − t) start + t e_corner = Σ w_m p_m, by HiGHS in the variables (w, t)."""
    m, k = members.shape
    direction = np.eye(k)[corner] - start
    equalities = np.vstack([np.column_stack([members.T, -direction]), [*np.ones(m), 0.0]])
    found = linprog(
        np.append(np.zeros(m), -1.0),
        A_eq=equalities,
        b_eq=[*start, 1.0],
        bounds=[(0, None)] * m + [(0, 1)],
        method="highs",
    )
    assert found.status == 0
    return float(found.x[-1])


@pytest.mark.parametrize(("m", "k"), [(1, 2), (2, 2), (4, 3), (12, 3), (10, 10), (5, 8)])
def test_the_boundary_against_highs(m, k, random_generator):
    members = random_generator.dirichlet(np.ones(k), (12, m))
    start = np.einsum("nm,nmk->nk", random_generator.dirichlet(np.ones(m), 12), members)
    corner = random_generator.integers(0, k, 12)
    found = outside_segment(members, start, corner)
    assert found.inside.all()
    expected = [longest_way(*row) for row in zip(members, start, corner, strict=True)]
    np.testing.assert_allclose(found.t, expected, atol=1e-7)
    assert in_hull(members, found.boundary).all()
    assert not in_hull(members[found.t < 0.99], found.points(np.full(12, 0.01))[found.t < 0.99]).any()


def test_a_start_outside_is_replaced_by_the_mean_or_the_corner():
    members = np.array([[[0.5, 0.5, 0.0], [0.7, 0.3, 0.0]]] * 2)
    start = np.array([[0.6, 0.4, 0.0], [0.2, 0.2, 0.6]])
    mean = outside_segment(members, start, [0, 0])
    assert mean.inside.tolist() == [True, False]
    np.testing.assert_allclose(mean.boundary, [[0.7, 0.3, 0.0]] * 2, atol=1e-12)
    corner = outside_segment(members, start, [0, 0], otherwise="corner")
    np.testing.assert_allclose(corner.boundary, [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]], atol=1e-12)
    assert corner.t[1] == 1.0
    np.testing.assert_allclose(corner.points([0.5, 0.3])[1], [1.0, 0.0, 0.0], atol=1e-12)


def test_points_run_from_the_boundary_to_the_corner():
    found = outside_segment(np.array([[[0.5, 0.5], [0.9, 0.1]]] * 3), [[0.6, 0.4]] * 3, [0, 0, 1])
    points = found.points([0.0, 1.0, 0.5])
    np.testing.assert_allclose(points, [[0.9, 0.1], [1.0, 0.0], [0.25, 0.75]], atol=1e-12)
    np.testing.assert_allclose(points.sum(axis=1), 1.0)


def test_one_member_and_equal_members_leave_at_once():
    for members in (np.full((1, 1, 4), 0.25), np.full((1, 3, 4), 0.25)):
        found = outside_segment(members, members[:, 0], [2])
        assert found.t.tolist() == [0.0]
        np.testing.assert_allclose(found.boundary, [[0.25] * 4], atol=1e-12)


def test_a_corner_inside_the_set_leaves_no_way_outside():
    found = outside_segment([[[1.0, 0.0], [0.0, 1.0]]], [[0.5, 0.5]], [1])
    assert found.t.tolist() == [1.0]
    assert found.points([0.7]).tolist() == [[0.0, 1.0]]


def test_the_closest_corner_against_distances(random_generator):
    probs = random_generator.dirichlet(np.ones(5), 50)
    distances = ((probs[:, None, :] - np.eye(5)) ** 2).sum(axis=-1)
    assert closest_corner(probs).tolist() == distances.argmin(axis=1).tolist()


def test_bad_input_is_refused():
    members, start = [[[0.5, 0.5], [0.9, 0.1]]], [[0.7, 0.3]]
    with refuses("otherwise", "choice", got="got 'edge'"):
        outside_segment(members, start, [0], otherwise="edge")
    found = outside_segment(members, start, [0])
    with refuses("shares", "shape", got=r"got shape \(2,\)"):
        found.points([0.5, 0.5])
    with refuses("shares", "range", got="row 0 has nan"):
        found.points([np.nan])
    with refuses("corner", "range", got="row 0 has 2"):
        outside_segment(members, start, [2])
