"""Membership, vertices and rays of hulls: the batched simplex method against SciPy's HiGHS, one program at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.credal.convex_hull import (
    Tableaux,
    boundary_towards_corner,
    closest_corner,
    in_hull,
    l1_projection,
    l1_tableau,
    outside_segment,
    pivot_to_optimum,
    variable_values,
)
from uqassay.native import kernel


def random_hulls(seed, n, n_members, k, concentration=1.0):
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(np.full(k, concentration), (n, n_members))
    return rng, points / points.sum(axis=-1, keepdims=True)


def mixtures(rng, points):
    weights = rng.dirichlet(np.ones(points.shape[1]), len(points))
    return np.einsum("nm,nmk->nk", weights, points)


def linprog_distance(points, p):
    """Sum of absolute differences to the hull by HiGHS, one instance."""
    m, k = points.shape
    a = np.block([[points.T, np.eye(k), -np.eye(k)], [np.ones((1, m)), np.zeros((1, 2 * k))]])
    cost = np.r_[np.zeros(m), np.ones(2 * k)]
    return linprog(cost, A_eq=a, b_eq=np.r_[p, 1.0], method="highs").fun


def linprog_step(points, start, corner):
    """Largest t by HiGHS, one instance; the last class is left out, its constraint follows from the others."""
    m, k = points.shape
    direction = np.eye(k)[corner] - start
    a = np.block([[points.T[:-1], -direction[:-1, None]], [np.ones((1, m)), np.zeros((1, 1))]])
    bounds = [(0, None)] * m + [(0, 1)]
    return -linprog(np.r_[np.zeros(m), -1.0], A_eq=a, b_eq=np.r_[start[:-1], 1.0], bounds=bounds, method="highs").fun


SIZES = [(1, 2), (3, 2), (4, 3), (10, 10), (3, 10), (30, 4)]


@pytest.mark.parametrize(("n_members", "k"), SIZES)
def test_l1_projection_against_linprog(n_members, k):
    rng, points = random_hulls(1, 25, n_members, k)
    target = rng.dirichlet(np.ones(k), 25)
    found = l1_projection(points, target)
    distance = np.abs(found.point - target).sum(axis=-1)
    np.testing.assert_allclose(
        distance, [linprog_distance(*row) for row in zip(points, target, strict=True)], atol=1e-9
    )
    np.testing.assert_allclose(np.einsum("nm,nmk->nk", found.weights, points), found.point, atol=1e-15)
    assert found.weights.min() >= 0
    # the dual is a certificate of optimality by itself
    assert np.abs(found.dual).max() <= 1
    bound = (found.dual * target).sum(axis=-1) - np.einsum("nk,nmk->nm", found.dual, points).max(axis=-1)
    np.testing.assert_allclose(bound, distance, atol=1e-10)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 8), st.sampled_from([0.02, 0.3, 3.0]))
def test_l1_projection_is_certified(seed, n_members, k, concentration):
    rng, points = random_hulls(seed, 10, n_members, k, concentration)
    target = rng.dirichlet(np.full(k, concentration), 10)
    found = l1_projection(points, target)
    bound = (found.dual * target).sum(axis=-1) - np.einsum("nk,nmk->nm", found.dual, points).max(axis=-1)
    np.testing.assert_allclose(bound, np.abs(found.point - target).sum(axis=-1), atol=1e-5)


@pytest.mark.parametrize(("n_members", "k"), SIZES)
def test_in_hull_mixtures_are_inside(n_members, k):
    rng, points = random_hulls(2, 200, n_members, k, 0.3)
    assert in_hull(points, mixtures(rng, points)).all()
    assert in_hull(points, points[:, 0]).all()


@pytest.mark.parametrize(("n_members", "k"), SIZES)
def test_in_hull_against_linprog(n_members, k):
    rng, points = random_hulls(3, 25, n_members, k)
    p = 0.5 * mixtures(rng, points) + 0.5 * rng.dirichlet(np.ones(k), 25)
    expected = [linprog_distance(*row) <= 1e-8 for row in zip(points, p, strict=True)]
    assert in_hull(points, p, tolerance=1e-8).tolist() == expected


def test_in_hull_against_theory_on_a_segment():
    points = np.array([[[0.2, 0.8], [0.6, 0.4]]] * 5)
    first = np.array([0.2 - 1e-6, 0.2, 0.4, 0.6, 0.6 + 1e-6])
    inside = in_hull(points, np.stack([first, 1 - first], axis=-1))
    assert inside.tolist() == [False, True, True, True, False]


def test_in_hull_tolerance_is_the_sum_of_absolute_differences():
    points = np.array([[[0.5, 0.5]]])
    assert in_hull(points, [[0.51, 0.49]], tolerance=0.0201).tolist() == [True]
    assert in_hull(points, [[0.51, 0.49]], tolerance=0.0199).tolist() == [False]


def test_in_hull_on_real_networks(cifar10):
    three = cifar10["three"].astype(np.float64)
    assert in_hull(three, three.mean(axis=1)).all()
    votes = cifar10["human_counts"] / cifar10["human_counts"].sum(axis=1, keepdims=True)
    inside = in_hull(three, votes)
    distance = np.abs(l1_projection(three, votes).point - votes).sum(axis=1)
    np.testing.assert_array_equal(inside, distance <= 1e-9)
    assert inside.any()
    assert (votes[inside].max(axis=1) == 1).all()  # three points in nine dimensions reach unanimous votes alone


@pytest.mark.parametrize(("n_members", "k"), SIZES)
def test_boundary_against_linprog(n_members, k):
    rng, points = random_hulls(4, 25, n_members, k)
    start, corner = mixtures(rng, points), rng.integers(0, k, 25)
    found = boundary_towards_corner(points, start, corner)
    if n_members > k:  # otherwise the segment leaves the hull's affine span at once, and HiGHS's tolerance decides
        expected = [linprog_step(*row) for row in zip(points, start, corner, strict=True)]
        np.testing.assert_allclose(found.t, expected, atol=1e-7)
    np.testing.assert_allclose(np.einsum("nm,nmk->nk", found.weights, points), found.point, atol=1e-11)
    np.testing.assert_allclose(
        found.point, start + found.t[:, None] * (np.eye(k)[corner] - start), atol=1e-15, rtol=1e-12
    )
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-14)
    beyond = found.point + 1e-5 * (np.eye(k)[corner] - found.point)
    assert not in_hull(points, beyond).any()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 6))
def test_boundary_lies_in_the_hull_and_nothing_further_does(seed, n_members, k):
    rng, points = random_hulls(seed, 10, n_members, k, 2.0)
    corner = rng.integers(0, k, 10)
    found = boundary_towards_corner(points, points.mean(axis=1), corner)
    assert in_hull(points, found.point).all()
    assert ((found.t >= 0) & (found.t <= 1)).all()
    assert not in_hull(points, found.point + 1e-4 * (np.eye(k)[corner] - found.point)).any()


def test_boundary_against_theory_for_two_classes():
    points = np.array([[[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]] * 2)
    found = boundary_towards_corner(points, [[0.3, 0.7], [0.3, 0.7]], [0, 1])
    np.testing.assert_allclose(found.point, [[0.6, 0.4], [0.2, 0.8]], atol=1e-14)
    np.testing.assert_allclose(found.t, [0.3 / 0.7, 1 / 3], atol=1e-14)


def test_boundary_is_the_corner_where_the_hull_reaches_it():
    points = np.array([[[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]] * 2)
    found = boundary_towards_corner(points, [[0.2, 0.3, 0.5], [0, 1.0, 0]], [2, 1])
    np.testing.assert_allclose(found.t, 1)
    np.testing.assert_allclose(found.point, [[0, 0, 1], [0, 1, 0]], atol=1e-15)


def test_boundary_of_a_hull_without_volume_is_its_start():
    _, points = random_hulls(5, 50, 3, 10)
    found = boundary_towards_corner(points, points.mean(axis=1), np.zeros(50, dtype=int))
    np.testing.assert_allclose(found.t, 0, atol=1e-12)
    alike = np.repeat(points[:, :1], 7, axis=1)
    np.testing.assert_allclose(boundary_towards_corner(alike, alike[:, 0], np.zeros(50, dtype=int)).t, 0, atol=1e-12)


@pytest.mark.parametrize("k", [10, 30])
def test_boundary_of_nearly_one_hot_members(k):
    rng = np.random.default_rng(6)
    centre = rng.dirichlet(np.full(k, 1 / k), 100)
    points = np.stack([rng.dirichlet(np.maximum(100 * k * row, 1e-200), 10) for row in centre])
    start = points.mean(axis=1)
    found = boundary_towards_corner(points, start, rng.integers(0, k, 100))
    assert in_hull(points / points.sum(axis=-1, keepdims=True), found.point).all()
    assert (found.t > 0).any()


def test_boundary_accepts_single_precision_members(cifar10):
    three = cifar10["three"]
    assert three.dtype == np.float32
    found = boundary_towards_corner(three, three.mean(axis=1), np.zeros(len(three), dtype=np.int8))
    assert np.isfinite(found.point).all()


def test_member_and_class_order_do_not_matter():
    rng, points = random_hulls(7, 60, 15, 6)
    start, corner = mixtures(rng, points), rng.integers(0, 6, 60)
    expected = boundary_towards_corner(points, start, corner)
    members, classes = rng.permutation(15), rng.permutation(6)
    found = boundary_towards_corner(points[:, members][:, :, classes], start[:, classes], np.argsort(classes)[corner])
    np.testing.assert_allclose(found.t, expected.t, atol=1e-12)
    np.testing.assert_allclose(found.point, expected.point[:, classes], atol=1e-12)


GOOD = np.array([[[0.5, 0.5], [0.9, 0.1]]] * 3)
MEAN = GOOD.mean(axis=1)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"points": GOOD[0]}, ("points", "shape")),
        ({"points": np.where(np.arange(3)[:, None, None] == 1, np.nan, GOOD)}, ("points", "finite", "row 1")),
        ({"points": GOOD * np.array([1, 1, -1.0])[:, None, None]}, ("points", "range", "row 2")),
        ({"points": GOOD * np.array([1, 0, 1.0])[:, None, None]}, ("points", "sum", "row 1")),
        ({"start": MEAN[:2]}, ("start", "shape")),
        ({"start": np.where(np.arange(3)[:, None] == 2, np.inf, MEAN)}, ("start", "finite", "row 2")),
        ({"start": np.array([[0.7, 0.3], [0.1, 0.9], [0.7, 0.3]])}, ("start", "range", "row 1 lies 0.8 outside")),
        ({"corner": [0, 1]}, ("corner", "shape")),
        ({"corner": [0.0, 1.0, 0.0]}, ("corner", "shape")),
        ({"corner": [0, 2, 0]}, ("corner", "range", "row 1 has 2")),
        ({"corner": [0, 1, -1]}, ("corner", "range", "row 2 has -1")),
    ],
)
def test_boundary_refuses(change, refusal):
    arguments = {"points": GOOD, "start": MEAN, "corner": [0, 1, 0]} | change
    with refuses(*refusal):
        boundary_towards_corner(**arguments)


def test_in_hull_refuses():
    with refuses("p", "shape", got=r"\(3, 2\)"):
        in_hull(GOOD, MEAN[:, :1])
    with refuses("tolerance", "range", got="found -1"):
        in_hull(GOOD, MEAN, tolerance=-1)


@pytest.mark.parametrize(("dtype", "allowed"), [(np.float16, 1e-2), (np.float32, 1e-5), (np.float64, 1e-9)])
def test_in_hull_allows_for_the_rounding_of_its_inputs(dtype, allowed):
    _, points = random_hulls(10, 300, 5, 4)
    stored = points.astype(dtype)
    assert in_hull(stored, stored.mean(axis=1)).all()
    beyond = points[:, 0] + np.array([2.0, -2.0, 0, 0]) * allowed  # 4 × allowed away from a single point
    assert not in_hull(stored[:, :1], beyond).any()
    within = points[:, 0] + np.array([0.1, -0.1, 0, 0]) * allowed
    assert in_hull(stored[:, :1], within).all()
    assert in_hull(points[:, :1], within.astype(dtype)).all()


def test_in_hull_tolerance_given_comes_before_the_dtype():
    _, points = random_hulls(11, 300, 5, 4)
    single = points.astype(np.float32)
    assert not in_hull(single, single.mean(axis=1), tolerance=1e-12).all()
    assert in_hull(points, points.mean(axis=1) + np.array([1e-3, -1e-3, 0, 0]), tolerance=3e-3).all()


# Where segments to the corners of the simplex leave credal sets: against HiGHS, one program at a time.


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


# The simplex method on many programs at once against SciPy's HiGHS, one at a time.


def solved(points, target):
    """Weights of the nearest mixture in the L1 distance, ``(n, M)``."""
    n_points, k = points.shape[1:]
    end = pivot_to_optimum(l1_tableau(points, target, None), np.ones(n_points + k, dtype=bool), errors_from=n_points)
    return variable_values(end)[:, :n_points]


def least_l1(points, target):
    """min Σ|target − Σ w p| over the simplex, by HiGHS."""
    n_points, k = points.shape
    cost = np.r_[np.zeros(n_points), np.ones(2 * k)]
    equal = np.block([[points.T, np.eye(k), -np.eye(k)], [np.ones((1, n_points)), np.zeros((1, 2 * k))]])
    return linprog(cost, A_eq=equal, b_eq=np.r_[target, 1.0]).fun


@pytest.mark.parametrize(("n_points", "k"), [(1, 2), (2, 3), (5, 3), (4, 10), (12, 4)])
def test_optimum_against_highs(n_points, k):
    rng = np.random.default_rng(n_points * 100 + k)
    points, target = rng.dirichlet(np.ones(k), (20, n_points)), rng.dirichlet(np.ones(k), 20)
    weights = solved(points, target)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    assert weights.min() > -1e-9
    found = np.abs(target - np.einsum("nm,nmk->nk", weights, points)).sum(axis=1)
    np.testing.assert_allclose(found, [least_l1(p, t) for p, t in zip(points, target, strict=True)], atol=1e-9)


def test_equal_points_and_targets_at_a_corner():
    points = np.repeat([[[1.0, 0.0, 0.0]]], 4, axis=1)
    np.testing.assert_allclose(np.einsum("nm,nmk->nk", solved(points, points[:, 0]), points), points[:, 0], atol=1e-12)


def test_no_instances_and_single_columns_are_returned_as_they_are():
    rng = np.random.default_rng(5)
    none = l1_tableau(np.empty((0, 3, 2)), np.empty((0, 2)), None)
    assert isinstance(pivot_to_optimum(none, np.ones(5, dtype=bool), errors_from=3), Tableaux)
    point = rng.dirichlet(np.ones(3), (2, 1))
    np.testing.assert_allclose(solved(point, rng.dirichlet(np.ones(3), 2)), 1.0)


@pytest.mark.skipif(kernel("solved_tableaux") is None, reason="needs the compiled kernels")
@pytest.mark.parametrize(
    ("n_points", "k", "concentration"), [(1, 2, 1), (5, 3, 1), (10, 10, 0.1), (40, 6, 1), (6, 4, 0.01)]
)
def test_kernel_and_formula_agree_to_the_last_bit(n_points, k, concentration, monkeypatch):
    """Also for equal points, zeros, targets among the points and at corners."""
    rng = np.random.default_rng(n_points)
    points, target = rng.dirichlet(np.full(k, concentration), (40, n_points)), rng.dirichlet(np.ones(k), 40)
    points[:9] = points[:9].round(1) + 0.0
    points[:9] /= np.maximum(points[:9].sum(axis=-1, keepdims=True), 1e-9)
    points[:9][points[:9].sum(axis=-1) == 0] = 1 / k
    target[:4], target[4:9], points[9:12, -1] = np.eye(k)[0], points[4:9, 0], points[9:12, 0]
    corner = rng.integers(0, k, 40)

    def found():
        projection = l1_projection(points, target)
        boundary = boundary_towards_corner(points, points.mean(axis=1), corner)
        return [projection.weights, projection.point, projection.dual, boundary.t, boundary.point, boundary.weights]

    monkeypatch.setenv("UQASSAY_PURE", "0")
    compiled = found()
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, other in zip(compiled, found(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(kernel("solved_tableaux") is None, reason="needs the compiled kernels")
def test_the_kernel_refuses_parts_that_do_not_fit():
    start = l1_tableau(np.full((2, 3, 2), 0.5), np.full((2, 2), 0.5), None)
    allowed = np.ones(5, dtype=bool)
    with pytest.raises(ValueError, match="do not fit"):
        kernel("solved_tableaux")(start.table[:1].copy(), *start[1:], allowed, 3)
    with pytest.raises(ValueError, match="no number"):
        kernel("solved_tableaux")(start.table, start.basic + 5, *start[2:], allowed, 3)
