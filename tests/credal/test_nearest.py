"""Distances of distributions to credal sets: closed forms, SLSQP, certified gaps."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import jensenshannon
from tests.credal.random_sets import ALL_SETS, random_masses, random_points
from tests.refusals import refuses

from uqassay.credal.distances import DISTANCES
from uqassay.credal.nearest import (
    _solve,
    divergence,
    nearest_in_box,
    nearest_in_core,
    nearest_in_hull,
    one_hot_distance,
)

CLOSED = [name for name in DISTANCES if name != "brier"]


def permutation_points(masses, sets):
    """Every order's vertex of the core: each focal set gives its mass to its first class in the order."""
    points = []
    for order in permutations(range(sets.shape[1])):
        rank = np.argsort(order)
        first = np.where(sets, rank, sets.shape[1]).argmin(axis=1)
        points.append(np.stack([masses[:, first == c].sum(axis=1) for c in range(sets.shape[1])], axis=1))
    return np.stack(points, axis=1)


def box_points(lower, upper):
    """Vertices of one box: all classes but one at a bound."""
    k = len(lower)
    found = []
    for free, corner in product(range(k), product([0, 1], repeat=k)):
        p = np.where(corner, upper, lower)
        p[free] = 1 - (p.sum() - p[free])
        if lower[free] - 1e-12 <= p[free] <= upper[free] + 1e-12:
            found.append(p)
    return np.clip(found, 0, 1)


def random_box(seed, n, k):
    rng, points = random_points(seed, n, 3, k)
    l, u = points.min(axis=1), points.max(axis=1)  # tight, thus reachable after this
    return rng, np.maximum(l, 1 - (u.sum(1, keepdims=True) - u)), np.minimum(u, 1 - (l.sum(1, keepdims=True) - l))


# --- one-hot targets -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", CLOSED)
def test_one_hot_rows_agree_with_the_closed_form_in_every_kind_of_set(distance):
    rng, points = random_points(1, 50, 6, 4)
    labels = rng.integers(0, 4, 50)
    target = np.eye(4)[labels]
    found = nearest_in_hull(target, points, distance)
    np.testing.assert_allclose(found.distance, one_hot_distance(points.max(1)[range(50), labels], distance), atol=1e-12)

    rng, l, u = random_box(2, 50, 4)
    found = nearest_in_box(target, l, u, distance)
    np.testing.assert_allclose(found.distance, one_hot_distance(u[range(50), labels], distance), atol=1e-12)

    rng, masses, sets = random_masses(3, 50, 4)
    found = nearest_in_core(target, masses, sets, distance)
    plausibility = np.einsum("nf,nf->n", masses, sets.T[labels].astype(float))
    np.testing.assert_allclose(found.distance, one_hot_distance(plausibility, distance), atol=1e-12)


def test_one_hot_kl_to_the_2k_permutation_vertices_equals_the_closed_form():
    rng, masses, sets = random_masses(4, 40, 4)
    labels = rng.integers(0, 4, 40)
    first_or_last = [order for c in range(4) for order in ((c, *np.delete(range(4), c)), (*np.delete(range(4), c), c))]
    positions = [list(permutations(range(4))).index(tuple(order)) for order in first_or_last]
    vertices = permutation_points(masses, sets)[:, positions]
    by_vertices = divergence(np.eye(4)[labels][:, None], vertices, "kl").min(axis=1)
    found = nearest_in_core(np.eye(4)[labels], masses, sets, "kl")
    np.testing.assert_allclose(found.distance, by_vertices, atol=1e-12)


# --- the hull --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("n_points", "k"), [(2, 2), (3, 4), (6, 3)])
def test_hull_against_brute_force(distance, n_points, k):
    rng, points = random_points(6, 8, n_points, k)
    target = rng.dirichlet(np.ones(k), 8)
    target[0, 0], target[0] = 0, target[0] / (1 - target[0, 0]) if target[0, 0] else target[0]
    target /= target.sum(axis=1, keepdims=True)
    found = nearest_in_hull(target, points, distance)
    assert found.gap.max() <= 1e-6

    weights = np.concatenate([rng.dirichlet(np.full(n_points, a), 3000) for a in (0.2, 1.0)] + [np.eye(n_points)])
    sampled = divergence(target[:, None], np.einsum("sv,nvk->nsk", weights, points), distance).min(axis=1)
    assert (found.distance - found.gap <= sampled + 1e-12).all()
    assert (sampled - found.distance).max() < 0.03  # the samples come near

    root = distance in ("js_distance", "hellinger")
    for i in range(8):
        best = minimize(
            lambda w, i=i: divergence(target[i], np.clip(w, 0, 1) @ points[i], distance) ** (2 if root else 1),
            np.full(n_points, 1 / n_points),
            bounds=[(0, 1)] * n_points,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        )
        value = np.sqrt(best.fun) if root else best.fun
        assert found.distance[i] - found.gap[i] <= value + 1e-8


def test_the_closest_vertex_is_not_the_nearest_point_for_votes():
    target, points = [[0.5, 0.5, 0.0]], np.array([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]])
    closest_vertex = divergence(target, points, "kl").min(axis=1)
    found = nearest_in_hull(target, points, "kl")
    np.testing.assert_allclose(found.point, [[0.45, 0.45, 0.1]], atol=1e-6)
    np.testing.assert_allclose(found.distance, np.log(0.5 / 0.45), atol=1e-10)
    np.testing.assert_allclose(closest_vertex, 0.5 * np.log(0.5 / 0.8) + 0.5 * np.log(0.5 / 0.1))
    assert closest_vertex > 5 * found.distance


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_target_inside_is_at_distance_zero(distance):
    rng, points = random_points(7, 30, 5, 4)
    inside = np.einsum("nv,nvk->nk", rng.dirichlet(np.ones(5), 30), points)
    np.testing.assert_allclose(nearest_in_hull(inside, points, distance).distance, 0, atol=2e-6)
    rng, l, u = random_box(8, 30, 4)
    inside = np.stack(
        [rng.dirichlet(np.ones(len(v))) @ v for v in (box_points(*row) for row in zip(l, u, strict=True))]
    )
    np.testing.assert_allclose(nearest_in_box(inside, l, u, distance).distance, 0, atol=1e-7)
    rng, masses, sets = random_masses(9, 30, 3)
    inside = np.einsum("nv,nvk->nk", rng.dirichlet(np.ones(6), 30), permutation_points(masses, sets))
    np.testing.assert_allclose(nearest_in_core(inside, masses, sets, distance).distance, 0, atol=2e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_one_point_is_the_plain_distance(distance):
    rng, points = random_points(10, 20, 1, 5)
    target = rng.dirichlet(np.ones(5), 20)
    expected = divergence(target, points[:, 0], distance)
    for found in (
        nearest_in_hull(target, points, distance),
        nearest_in_hull(target, np.repeat(points, 12, axis=1), distance),
        nearest_in_box(target, points[:, 0], points[:, 0], distance),
        nearest_in_core(target, points[:, 0], np.eye(5, dtype=bool), distance),
    ):
        np.testing.assert_allclose(found.distance, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.gap, 0, atol=1e-12)
        np.testing.assert_allclose(found.point, points[:, 0], rtol=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
def test_votes_on_real_networks(cifar10, distance):
    votes = cifar10["human_counts"] / cifar10["human_counts"].sum(axis=1, keepdims=True)
    three = cifar10["three"] / cifar10["three"].sum(axis=-1, keepdims=True, dtype=np.float64)
    found = nearest_in_hull(votes, three, distance)
    assert found.gap.max() <= 1e-6
    assert (found.gap >= 0).all()
    nearest_network = divergence(votes[:, None], three, distance, floor=1e-300).min(axis=1)
    assert (found.distance <= nearest_network + 1e-12).all()
    assert (found.distance < 0.999 * nearest_network).mean() > 0.1  # a mixture is nearer than any one network
    box = nearest_in_box(votes, three.min(axis=1), three.max(axis=1), distance)
    assert box.gap.max() <= 1e-7
    assert (box.distance <= found.distance + 1e-6).all()  # the box holds the hull


@pytest.mark.parametrize("distance", DISTANCES)
def test_votes_on_many_members(cifar10, distance):
    votes = cifar10["human_counts"] / cifar10["human_counts"].sum(axis=1, keepdims=True)
    rng = np.random.default_rng(11)
    alpha = 1 + 20 * cifar10["snn"].astype(float)
    members = rng.standard_gamma(alpha[:, None], (10000, 15, 10))
    found = nearest_in_hull(votes, members / members.sum(axis=-1, keepdims=True), distance)
    assert found.gap.max() <= 1e-6


# --- boxes and cores -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_box_against_the_hull_of_its_vertices(distance, k):
    rng, l, u = random_box(12, 20, k)
    target = rng.dirichlet(np.full(k, 0.5), 20)
    target[0] = np.eye(k)[0]
    found = nearest_in_box(target, l, u, distance)
    assert found.gap.max() <= 1e-7
    np.testing.assert_allclose(found.point.sum(axis=1), 1, atol=1e-14)
    assert (found.point >= l).all()
    assert (found.point <= u).all()
    for i in range(20):
        vertices = box_points(l[i], u[i])
        by_hull = nearest_in_hull(target[i : i + 1], vertices[None], distance, tolerance=1e-8)
        np.testing.assert_allclose(found.distance[i], by_hull.distance[0], atol=2e-6)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_core_against_the_hull_of_its_permutation_vertices(distance, k):
    rng, masses, sets = random_masses(13, 30, k)
    target = rng.dirichlet(np.full(k, 0.5), 30)
    found = nearest_in_core(target, masses, sets, distance)
    assert found.gap.max() <= 1e-6
    by_hull = nearest_in_hull(target, permutation_points(masses, sets), distance, tolerance=1e-8)
    np.testing.assert_allclose(found.distance, by_hull.distance, atol=2e-6)
    for event in ALL_SETS[k]:  # the point dominates the belief function
        belief = masses[:, ~(sets & ~event).any(axis=1)].sum(axis=1)
        assert (found.point[:, event].sum(axis=1) >= belief - 1e-12).all()


def test_huber_strassen_one_point_is_nearest_in_four_distances_by_brute_force():
    rng, masses, sets = random_masses(14, 25, 4)
    vertices = permutation_points(masses, sets)
    target = rng.dirichlet(np.ones(4), 25)
    point = nearest_in_core(target, masses, sets, "kl", tolerance=1e-10).point
    for distance in ("js", "tv", "hellinger"):
        least = nearest_in_hull(target, vertices, distance).distance
        np.testing.assert_allclose(divergence(target, point, distance), least, atol=1e-5)
    brier = nearest_in_hull(target, vertices, "brier").distance
    assert (divergence(target, point, "brier") > brier + 1e-3).any()  # but not in Brier's


def test_core_and_box_agree_where_both_describe_the_set():
    rng = np.random.default_rng(15)
    l = rng.dirichlet(np.ones(5), 40) * rng.random((40, 1))
    masses = np.concatenate([l, 1 - l.sum(axis=1, keepdims=True)], axis=1)  # singletons and Ω
    sets = np.concatenate([np.eye(5), np.ones((1, 5))]).astype(bool)
    u = l + masses[:, -1:]
    target = rng.dirichlet(np.full(5, 0.5), 40)
    for distance in DISTANCES:
        core, box = nearest_in_core(target, masses, sets, distance), nearest_in_box(target, l, u, distance)
        np.testing.assert_allclose(core.distance, box.distance, atol=2e-6)


def test_core_of_real_focal_sets(cifar10):
    sets = cifar10["focal_sets"].astype(bool)
    votes = (cifar10["human_counts"] / cifar10["human_counts"].sum(axis=1, keepdims=True))[:1000]
    masses = np.random.default_rng(16).dirichlet(np.full(len(sets), 0.1), 1000)
    for distance in DISTANCES:
        found = nearest_in_core(votes, masses, sets, distance)
        assert found.gap.max() <= 1e-6
        np.testing.assert_allclose(found.point.sum(axis=1), 1, atol=1e-12)


def test_box_gives_what_is_left_over_to_classes_without_votes():
    found = nearest_in_box([[1.0, 0, 0]], [[0.0, 0.1, 0.2]], [[0.4, 0.3, 0.7]], "kl")
    assert found.point[0, 0] == 0.4
    np.testing.assert_allclose(found.point.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(found.distance, -np.log(0.4))


# --- impossible classes ----------------------------------------------------------------------------------------------

TWO_OF_THREE = np.array([[[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]])
SETS_OF_THREE = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("y", [[0.4, 0.5, 0.1], [0.0, 0.0, 1.0]])
def test_kl_of_a_class_that_the_set_excludes(y):
    def solve(floor):
        yield nearest_in_hull([y], TWO_OF_THREE, "kl", floor=floor)
        yield nearest_in_box([y], TWO_OF_THREE.min(axis=1), TWO_OF_THREE.max(axis=1), "kl", floor=floor)
        yield nearest_in_core([y], [[0.7, 0.3, 0.0]], SETS_OF_THREE, "kl", floor=floor)

    for found, floored in zip(solve(0.0), solve(1e-6), strict=True):
        assert found.distance.tolist() == [np.inf]
        assert found.gap.tolist() == [0]
        assert np.isfinite(found.point).all()
        np.testing.assert_allclose(floored.distance, divergence([y], floored.point, "kl", floor=1e-6), rtol=1e-12)
        assert floored.gap[0] <= 1e-6
        # the floored class costs the same everywhere, the others are minimised
        seen = np.array(y) * [1, 1, 0]
        if seen.sum():
            weights = np.linspace(0, 1, 10001)[:, None]
            grid = weights * TWO_OF_THREE[0, 0] + (1 - weights) * TWO_OF_THREE[0, 1]
            if found.point[0, 0] <= 0.9:
                cost = -(seen[:2] * np.log(grid[:, :2])).sum(axis=1).max()
                np.testing.assert_allclose(-(seen[:2] * np.log(found.point[0, :2])).sum(), cost, atol=2e-6)


@pytest.mark.parametrize("distance", [name for name in DISTANCES if name != "kl"])
def test_other_distances_are_finite_for_an_excluded_class(distance):
    for y in ([0.4, 0.5, 0.1], [0.0, 0.0, 1.0]):
        hull = nearest_in_hull([y], TWO_OF_THREE, distance)
        box = nearest_in_box([y], TWO_OF_THREE.min(axis=1), TWO_OF_THREE.max(axis=1), distance)
        np.testing.assert_allclose(hull.distance, box.distance, atol=2e-6)  # a segment is the box of its ends
        assert max(hull.gap[0], box.gap[0]) <= 1e-6


def test_probabilities_near_the_smallest_float():
    points = np.array([[[1e-300, 1 - 1e-12, 1e-12], [1e-310, 1e-200, 1.0]]])
    for distance in DISTANCES:
        found = nearest_in_hull([[0.2, 0.5, 0.3]], points, distance)
        assert np.isfinite(found.distance).all()
        assert found.gap[0] <= 1e-6


# --- invariances and hostile arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n_points", [3, 15])
def test_class_and_member_order_do_not_matter(distance, n_points):
    rng, points = random_points(17, 60, n_points, 6)
    target = rng.dirichlet(np.full(6, 0.5), 60)
    classes, members = rng.permutation(6), rng.permutation(n_points)
    found = nearest_in_hull(target, points, distance)
    other = nearest_in_hull(target[:, classes], points[:, members][:, :, classes], distance)
    np.testing.assert_allclose(other.distance, found.distance, atol=1e-6)
    l, u = points.min(axis=1), points.max(axis=1)
    found = nearest_in_box(target, l, u, distance)
    other = nearest_in_box(target[:, classes], l[:, classes], u[:, classes], distance)
    np.testing.assert_allclose(other.distance, found.distance, atol=1e-12)


# --- refusals --------------------------------------------------------------------------------------------------------

Y, P, L, U = [[0.5, 0.5]] * 3, np.full((3, 2, 2), 0.5), [[0.1, 0.2]] * 3, [[0.8, 0.9]] * 3
M, F = [[0.5, 0.3, 0.2]] * 3, np.array([[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: nearest_in_hull([[20, 30]] * 3, P, "kl"), ("target", "sum", "row 0 sums to 50")),
        (lambda: nearest_in_hull(Y[:2], P, "kl"), ("points", "shape")),
        (lambda: nearest_in_hull([0.5, 0.5], P, "kl"), ("target", "shape", r"got \(2,\)")),
        (lambda: nearest_in_hull(Y, P * [[[1]], [[1]], [[np.nan]]], "kl"), ("points", "range", "row 2 has nan")),
        (lambda: nearest_in_hull(Y, P * [[[1]], [[2]], [[1]]], "kl"), ("points", "sum", "row 1 sums to 2")),
        (lambda: nearest_in_box(Y, L, U[:2], "kl"), ("upper", "shape", r"got \(2, 2\)")),
        (lambda: nearest_in_box(Y, U, L, "kl"), ("lower", "range", "none does in row 0")),
        (lambda: nearest_in_box(Y, [[0.1, -0.2]] * 3, U, "kl"), ("lower", "range", "row 0 has -0.2")),
        (lambda: nearest_in_core(Y, M, F[:2], "kl"), ("masses", "shape", r"got \(3, 3\)")),
        (lambda: nearest_in_core(Y, [[0.9, 0.3, -0.2]] * 3, F, "kl"), ("masses", "range", "row 0 has -0.2")),
        (lambda: nearest_in_core(Y, M, F * [[1], [0], [1]], "kl"), ("focal_sets", "empty", "set 1 is empty")),
    ],
)
def test_refusals_name_the_argument_the_row_and_the_remedy(call, refusal):
    with refuses(*refusal):
        call()


# The interior-point solver: certified gaps, and instances that stop alone.


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


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 1), st.sampled_from(CLOSED), st.integers(0, 1000))
def test_one_hot_depends_on_the_true_class_alone(u, distance, seed):
    rest = np.random.default_rng(seed).dirichlet(np.ones(4)) * (1 - u)
    expected = divergence(np.eye(5)[0], np.r_[u, rest], distance)
    np.testing.assert_allclose(one_hot_distance(u, distance), expected, atol=3e-8, rtol=1e-12)


def test_one_hot_near_one_against_theory():
    rest = 2.0 ** -np.array([20, 30, 40, 50])  # leading terms of the expansion in 1 - u
    js = 0.5 * (rest * np.log(2) + rest**2 / 4)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "js"), js, rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "js_distance"), np.sqrt(js), rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "hellinger"), np.sqrt(rest / 2 + rest**2 / 8), rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "kl"), rest + rest**2 / 2, rtol=1e-10)
    np.testing.assert_array_equal(one_hot_distance(1 - rest, "tv"), rest)


def test_one_hot_extremes():
    u = np.array([0.0, 1.0, np.nextafter(np.float32(1), np.float32(2), dtype=np.float32)])
    expected = {"kl": np.inf, "js": np.log(2), "js_distance": np.sqrt(np.log(2)), "tv": 1.0, "hellinger": 1.0}
    for distance in CLOSED:
        np.testing.assert_allclose(one_hot_distance(u, distance), [expected[distance], 0, 0], rtol=1e-15)
    np.testing.assert_allclose(one_hot_distance(u, "kl", floor=1e-10), [-np.log(1e-10), 0, 0])
    assert not np.signbit(one_hot_distance(u, "kl")).any()
    assert one_hot_distance(np.float16(0.5), "tv").dtype == np.float64
    assert one_hot_distance(np.full((2, 3), 0.5), "js").shape == (2, 3)


def test_divergence_against_scipy_and_definitions():
    rng = np.random.default_rng(5)
    y, p = rng.dirichlet(np.full(6, 0.3), (2, 40))
    y[0], p[1] = np.eye(6)[2], np.eye(6)[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(y > 0, y * np.log(y / p), 0).sum(axis=-1)
    np.testing.assert_allclose(divergence(y, p, "kl"), kl, rtol=1e-12)
    np.testing.assert_allclose(divergence(y, p, "js_distance"), jensenshannon(y, p, axis=-1), rtol=1e-9)
    np.testing.assert_allclose(divergence(y, p, "js"), jensenshannon(y, p, axis=-1) ** 2, rtol=1e-9)
    np.testing.assert_allclose(divergence(y, p, "tv"), 0.5 * np.abs(y - p).sum(axis=-1))
    np.testing.assert_allclose(divergence(y, p, "hellinger") ** 2, 1 - np.sqrt(y * p).sum(axis=-1), atol=1e-14)
    np.testing.assert_allclose(divergence(y, p, "brier"), ((p - y) ** 2).sum(axis=-1))


def test_divergence_broadcasts_and_floors():
    y, p = np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    for distance in DISTANCES:
        table = divergence(y[:, None], p, distance)
        assert table.shape == (2, 3)
        np.testing.assert_array_equal(table[1, 2], divergence(y[1], p[2], distance))
    assert divergence(y[0], p[0], "kl") == np.inf
    floored = divergence(y[0], p[0], "kl", floor=1e-6)
    np.testing.assert_allclose(floored, 0.5 * np.log(0.5) + 0.5 * np.log(0.5 / 1e-6))
    np.testing.assert_allclose(divergence(y[1], y[0], "js"), np.log(2), rtol=1e-14)  # the maximum


def test_divergence_of_near_twins_does_not_cancel():
    y = np.array([0.2, 0.3, 0.5])
    p = y + 1e-9 * np.array([1, -1, 0])
    np.testing.assert_allclose(divergence(y, p, "js_distance"), np.sqrt((1e-18 / 8) * (1 / 0.2 + 1 / 0.3)), rtol=1e-5)
    np.testing.assert_allclose(divergence(y, p, "hellinger"), np.sqrt((1e-18 / 8) * (1 / 0.2 + 1 / 0.3)), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: one_hot_distance(0.5, "brier"), ("distance", "missing")),
        (lambda: one_hot_distance([0.5, 1.1], "kl"), ("upper", "range", "row 1 has 1.1")),
        (lambda: one_hot_distance(0.5, "kld"), ("distance", "choice", "got 'kld'")),
        (lambda: one_hot_distance(0.5, "kl", floor=-1), ("floor", "range", "got -1")),
        (
            lambda: divergence([0.5, 0.5], [0.2, 0.3, 0.5], "tv"),
            ("probs", "shape", r"got \(3,\)"),
        ),
        (lambda: divergence([0.5, 0.5], [1.5, -0.5], "tv"), ("probs", "range", "row 1 has -0.5")),
    ],
)
def test_refusals_name_the_argument_and_the_remedy(call, refusal):
    with refuses(*refusal):
        call()
