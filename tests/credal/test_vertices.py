"""Vertices of credal sets against the core, linear programs, and enumeration by active constraints."""

from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.arrays import as_bfloat16
from uqassay.credal.events import all_focal_sets
from uqassay.credal.vertices import (
    MAX_BOX_CLASSES,
    box_vertices,
    lower_probability_vertices,
    outermost_permutations,
    permutation_vertices,
    unique_vertices,
)
from uqassay.errors import InputError, TooManyClassesError

seeds = st.integers(0, 2**32 - 1)


def random_masses(rng, n, k, sparse=True):
    """Masses on a random family that need not hold the singletons or Ω; some are 0."""
    sets = all_focal_sets(k)
    if sparse:
        sets = sets[rng.permutation(len(sets))[: rng.integers(1, len(sets) + 1)]]
    m = rng.dirichlet(np.full(len(sets), 0.5), size=n)
    m[rng.random(m.shape) < 0.2] = 0
    m[:, 0] += 1 - m.sum(axis=1)
    return m, sets


def beliefs(m, sets, events):
    """Bel(A) = Σ m(B) over B ⊆ A, by definition."""
    return np.array([m[:, [not (b & ~a).any() for b in sets]].sum(axis=1) for a in events]).T


# ---- permutations ---------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 3), st.booleans())
def test_vertices_span_the_core_against_brute_force(seed, k, n, sparse):
    m, sets = random_masses(np.random.default_rng(seed), n, k, sparse)
    points = permutation_vertices(m, sets)
    assert points.shape == (n, factorial(k), k)
    assert points.min() >= 0
    np.testing.assert_allclose(points.sum(axis=2), 1, rtol=1e-12)
    events = all_focal_sets(k)
    probability = np.einsum("npk,ek->npe", points, events.astype(float))
    belief = beliefs(m, sets, events)
    assert (probability >= belief[:, None] - 1e-12).all()  # every point lies in the core
    np.testing.assert_allclose(probability.min(axis=1), belief, atol=1e-12)  # and no bound is slack


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 6))
def test_vertices_against_equation_5_as_printed(seed, k):
    rng = np.random.default_rng(seed)
    m, sets = random_masses(rng, 2, k)
    orders = np.array([rng.permutation(k) for _ in range(4)])
    expected = np.zeros((2, 4, k))
    for p, order in enumerate(orders):
        for i, c in enumerate(order):
            chosen = [a[c] and not a[order[:i]].any() for a in sets]
            expected[:, p, c] = m[:, chosen].sum(axis=1)
    np.testing.assert_allclose(permutation_vertices(m, sets, permutations=orders), expected, rtol=1e-13)


def test_all_orders_come_in_lexicographic_order(random_generator):
    m, sets = random_masses(random_generator, 3, 4)
    orders = np.array(list(permutations(range(4))))
    np.testing.assert_array_equal(permutation_vertices(m, sets), permutation_vertices(m, sets, permutations=orders))


def test_four_classes_have_24_and_8_vertices_against_theory(random_generator):
    # Generic masses on all events of four classes: no two orders agree; the paper's approximation keeps 2K = 8.
    m = random_generator.dirichlet(np.ones(15), size=5)
    sets = all_focal_sets(4)
    every = permutation_vertices(m, sets)
    outermost = permutation_vertices(m, sets, permutations="outermost")
    assert every.shape == (5, 24, 4)
    assert outermost.shape == (5, 8, 4)
    assert unique_vertices(every)[1].tolist() == [24] * 5
    # Class 0 first with 1, 2, 3 behind it is also class 3 last.
    assert unique_vertices(outermost)[1].tolist() == [7] * 5
    for i in range(5):
        assert {tuple(v) for v in outermost[i].round(12)} <= {tuple(v) for v in every[i].round(12)}


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 9), st.integers(1, 4))
def test_nearest_outermost_vertex_is_the_plausibility_against_theory(seed, k, n):
    rng = np.random.default_rng(seed)
    m, sets = random_masses(rng, n, k)
    y = rng.integers(0, k, size=n)
    points = permutation_vertices(m, sets, permutations="outermost")
    plausibility = np.array([m[i, sets[:, y[i]]].sum() for i in range(n)])
    best = points[np.arange(n), :, y].max(axis=1)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(-np.log(best), -np.log(plausibility), rtol=1e-12, atol=1e-12)
    classes = np.arange(k)
    upper = np.array([m[:, sets[:, c]].sum(axis=1) for c in classes]).T
    np.testing.assert_allclose(points[:, classes, classes], upper, rtol=1e-12)  # class i first
    np.testing.assert_allclose(  # class i last
        points[:, k + classes, classes], beliefs(m, sets, np.eye(k, dtype=bool)), atol=1e-15
    )


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_outermost_permutations_against_definition(k):
    orders = outermost_permutations(k)
    assert orders.shape == (2 * k, k)
    for i in range(k):
        others = [c for c in range(k) if c != i]
        assert orders[i].tolist() == [i, *others]
        assert orders[k + i].tolist() == [*others, i]


def test_vacuous_and_certain_masses():
    vacuous = permutation_vertices([[1.0]], np.ones((1, 3), dtype=bool))
    points, counts = unique_vertices(vacuous)
    assert counts.tolist() == [3]
    np.testing.assert_array_equal(points[0], np.eye(3))
    np.testing.assert_array_equal(
        permutation_vertices([[0.2, 0.3, 0.5]], np.eye(3)), np.tile([0.2, 0.3, 0.5], (1, 6, 1))
    )


def test_signed_masses_sum_to_their_total():
    # A network's raw masses are no belief function; nothing is repaired behind the caller's back.
    m = np.array([[0.7, 0.6, -0.2]])
    points = permutation_vertices(m, np.array([[1, 0], [0, 1], [1, 1]]))
    np.testing.assert_allclose(points, [[[0.5, 0.6], [0.7, 0.4]]], rtol=1e-15)


def test_many_classes_and_a_small_family(random_generator):
    k = 100
    sets = np.concatenate([np.eye(k, dtype=bool), random_generator.random((30, k)) < 0.2, np.ones((1, k), dtype=bool)])
    m = random_generator.dirichlet(np.ones(131), size=2)
    points = permutation_vertices(m, sets, permutations="outermost")
    assert points.shape == (2, 200, 100)
    np.testing.assert_allclose(points.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(
        points[:, np.arange(k), np.arange(k)], np.array([m[:, sets[:, c]].sum(axis=1) for c in range(k)]).T, rtol=1e-12
    )


@pytest.mark.parametrize(
    ("k", "orders", "error", "refusal"),
    [
        (8, None, TooManyClassesError, ("permutations", "size")),
        (3, "all", InputError, ("permutations", "choice")),
        (3, [[0, 1, 1]], InputError, ("permutations", "choice", r"row 0 is \[0, 1, 1\]")),
        (3, [[0, 1, 2], [1, 2, 3]], InputError, ("permutations", "choice", r"row 1 is \[1, 2, 3\]")),
        (3, [[0, 1]], InputError, ("permutations", "shape")),
        (3, np.empty((0, 3), dtype=int), InputError, ("permutations", "shape")),
        (3, [[0.0, 1.0, 2.0]], InputError, ("permutations", "shape", "got float64")),
    ],
)
def test_permutation_errors(k, orders, error, refusal):
    with refuses(*refusal, error=error):
        permutation_vertices(np.full((1, k), 1 / k), np.eye(k), permutations=orders)
    with refuses(*refusal, error=error):
        lower_probability_vertices(all_events_lower(np.full((1, 1, k), 1 / k)), permutations=orders)


@pytest.mark.parametrize(
    ("masses", "refusal"),
    [
        ([[0.5, 0.25, 0.25]], ("masses", "shape")),
        ([[0.5, 0.5], [np.nan, 1.0]], ("masses", "finite", "row 1")),
    ],
)
def test_mass_errors(masses, refusal):
    with refuses(*refusal):
        permutation_vertices(masses, np.eye(2))


def test_outermost_permutations_error():
    with refuses("n_classes", "range", got="got 0"):
        outermost_permutations(0)


# ---- lower probabilities --------------------------------------------------------------------------------------------


def all_events_lower(members):
    """Lower envelope (n, 2^K) of members (n, M, K) on all events in binary order."""
    k = members.shape[2]
    events = np.concatenate([np.zeros((1, k)), all_focal_sets(k)])
    lower = np.einsum("nmk,ek->nme", members, events).min(axis=1)
    lower[:, -1] = 1
    return lower


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_lower_probability_of_beliefs_against_masses(seed, k, n):
    m, sets = random_masses(np.random.default_rng(seed), n, k)
    events = np.concatenate([np.zeros((1, k), dtype=bool), all_focal_sets(k)])
    lower = beliefs(m, sets, events)
    for orders in (None, "outermost"):
        np.testing.assert_allclose(
            lower_probability_vertices(lower, permutations=orders),
            permutation_vertices(m, sets, permutations=orders),
            atol=1e-13,
        )


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(2, 5))
def test_lower_probability_of_intervals_against_box_vertices(seed, k):
    # Probability intervals are 2-monotone: the orders give exactly the box's vertices.
    l, u = random_box(np.random.default_rng(seed), 1, k)
    inside = all_focal_sets(k)
    lower = np.maximum(inside @ l[0], 1 - ~inside @ u[0])
    lower = np.concatenate([[0.0], lower])[None]
    lower[:, -1] = 1
    got, counts = unique_vertices(lower_probability_vertices(lower), decimals=10)
    expected, expected_counts = box_vertices(l, u)
    assert counts[0] == expected_counts[0]
    order, expected_order = (np.lexsort(a[0].round(9).T) for a in (got, expected))
    np.testing.assert_allclose(got[0, order], expected[0, expected_order], atol=1e-9)


def test_lower_envelope_of_members_can_leave_the_set():
    # Not 2-monotone: L({0,1}) + L({0,3}) = 1 > L({0,1,3}) + L({0}) = 1/2.
    members = np.array([[[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]]])
    lower = all_events_lower(members)
    points = lower_probability_vertices(lower)
    np.testing.assert_allclose(points.sum(axis=2), 1)
    events = all_focal_sets(4)
    slack = np.einsum("npk,ek->npe", points, events.astype(float)) - lower[:, None, 1:]
    assert slack.min() < -0.4


@pytest.mark.parametrize(
    ("lower", "refusal"),
    [
        ([[0.0, 0.5, 1.0]], ("lower", "shape")),
        ([0.0, 1.0], ("lower", "shape")),
        ([[1.0]], ("lower", "shape")),
        ([[0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0, 0.0]], ("lower", "range", "row 1 has 0.5 and 0")),
        ([[0.0, np.nan, 0.5, 1.0]], ("lower", "finite", "row 0")),
    ],
)
def test_lower_probability_errors(lower, refusal):
    with refuses(*refusal):
        lower_probability_vertices(lower)


# ---- intervals ------------------------------------------------------------------------------------------------------


def random_box(rng, n, k):
    """Bounds around members, some coordinates of width 0, some bounds that cannot be reached."""
    p = rng.dirichlet(np.ones(k), size=n)
    down, up = rng.random((2, n, k)) * (rng.random((2, n, k)) < 0.7)
    return p * (1 - down), p + (1 - p) * up


def brute_box_vertices(l, u):
    """All ways to put all coordinates but one at a bound, feasible ones only, duplicates removed."""
    k = len(l)
    found = set()
    for free in range(k):
        others = [c for c in range(k) if c != free]
        for bounds in product(*[(l[c], u[c]) for c in others]):
            p = np.empty(k)
            p[others] = bounds
            p[free] = 1 - p[others].sum()
            if l[free] - 1e-9 <= p[free] <= u[free] + 1e-9:
                found.add(tuple(p.round(8) + 0.0))
    return found


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 3))
def test_box_vertices_against_brute_force(seed, k, n):
    l, u = random_box(np.random.default_rng(seed), n, k)
    points, counts = box_vertices(l, u)
    assert points.shape == (n, counts.max(), k)
    for i in range(n):
        mine = {tuple(p.round(8) + 0.0) for p in points[i]}
        assert len(mine) == counts[i]
        assert mine == brute_box_vertices(l[i], u[i])
        assert (points[i, counts[i] :] == points[i, 0]).all()
    assert (points >= l[:, None]).all()
    assert (points <= u[:, None]).all()
    np.testing.assert_allclose(points.sum(axis=2), 1, atol=1e-11)


def test_box_vertices_against_linear_programs(random_generator):
    l, u = random_box(random_generator, 12, 5)
    points, _ = box_vertices(l, u)
    for i in range(12):
        for direction in random_generator.normal(size=(4, 5)):
            best = linprog(-direction, A_eq=np.ones((1, 5)), b_eq=[1], bounds=np.c_[l[i], u[i]])
            np.testing.assert_allclose((points[i] @ direction).max(), -best.fun, atol=1e-9)


def test_box_vertices_against_theory():
    points, counts = box_vertices(np.zeros((1, 4)), np.ones((1, 4)))
    assert counts.tolist() == [4]
    np.testing.assert_array_equal(np.sort(points[0], axis=0)[::-1][0], np.ones(4))
    assert (points.sum(axis=2) == 1).all()
    assert box_vertices(np.zeros((1, 4)), np.full((1, 4), 0.5))[1].tolist() == [6]  # two classes at 1/2
    for k in (3, 6, 9):  # as many classes above as below their mean: the hyperplane meets the most edges
        width = np.full((1, k), 1 / k)
        counts = box_vertices(width * 0.5, width * 1.5)[1]
        # even k: half at each bound; odd k: the middle one is free
        assert counts.tolist() == [comb(k, k // 2) * (1 if k % 2 == 0 else k - k // 2)]


def test_box_vertices_with_ties():
    precise = np.array([[0.2, 0.3, 0.5]])
    points, counts = box_vertices(precise, precise)
    assert counts.tolist() == [1]
    np.testing.assert_array_equal(points, precise[None])
    tenths = np.array([[0.1, 0.2, 0.3, 0.1]])  # corners whose sum is 1 up to rounding
    points, counts = box_vertices(tenths, tenths + 0.1)
    assert counts[0] == len(brute_box_vertices(tenths[0], tenths[0] + 0.1))
    assert len(np.unique(points[0].round(9), axis=0)) == counts[0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_box_vertices_when_rounding_leaves_no_room(dtype):
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=30).astype(dtype)
    p.flags.writeable = False
    points, counts = box_vertices(p, p)
    assert counts.tolist() == [1] * 30
    np.testing.assert_array_equal(points[:, 0], p)
    assert (box_vertices(np.zeros_like(p), p)[1] >= 1).all()
    assert (box_vertices(p, np.ones_like(p))[1] >= 1).all()
    for slack in (1e-13, 5e-13, 2e-12, 1e-11):  # about as wide as what counts as touching
        low = p.astype(np.float64)
        low /= low.sum(axis=1, keepdims=True)
        points, counts = box_vertices(low - slack, low + slack)
        assert (counts >= 1).all()
        np.testing.assert_allclose(points.sum(axis=2), 1, atol=1e-11)


def test_box_vertices_in_blocks(monkeypatch, random_generator):
    l, u = random_box(random_generator, 9, 4)
    points, _ = box_vertices(l, u)
    monkeypatch.setattr("uqassay.credal.vertices._BLOCK", 200)
    np.testing.assert_array_equal(box_vertices(l, u)[0], points)


def test_box_vertices_at_the_limit():
    k = MAX_BOX_CLASSES
    assert box_vertices(np.zeros((1, k)), np.ones((1, k)))[1].tolist() == [k]
    with refuses("lower", "size", got=f"got {k + 1} classes", error=TooManyClassesError):
        box_vertices(np.zeros((1, k + 1)), np.ones((1, k + 1)))


@pytest.mark.parametrize(
    ("lower", "upper", "refusal"),
    [
        ([[0.0, 0.5], [0.6, 0.6]], [[1.0, 1.0], [1.0, 1.0]], ("lower, upper", "range", r"row 1 has Σ l = 1\.2")),
        ([[0.0, 0.0]], [[0.4, 0.5]], ("lower, upper", "range", r"row 0 has Σ l = 0, Σ u = 0\.9")),
        ([[0.5, 0.2]], [[0.4, 1.0]], ("lower, upper", "range", r"smallest width of -0\.1")),
        ([[0.0, 0.0]], [[1.0, 1.0, 1.0]], ("lower, upper", "shape", r"got \(1, 2\) and \(1, 3\)")),
        ([0.0, 0.0], [1.0, 1.0], ("lower, upper", "shape", r"got \(2,\) and \(2,\)")),
        ([[0.0, np.nan]], [[1.0, 1.0]], ("lower", "finite", "row 0")),
        ([[0.0, 0.0]], [[1.0, np.inf]], ("upper", "finite", "row 0")),
    ],
)
def test_box_errors(lower, upper, refusal):
    with refuses(*refusal):
        box_vertices(lower, upper)


# ---- duplicates -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 4), st.integers(1, 8), st.integers(1, 3))
def test_unique_vertices_with_ties(seed, n, v, k):
    points = np.random.default_rng(seed).integers(-1, 2, size=(n, v, k)) / 2
    got, counts = unique_vertices(points)
    assert got.shape == (n, counts.max(), k)
    for i in range(n):
        expected = list(dict.fromkeys(tuple(p + 0.0) for p in points[i]))  # in order of first appearance
        assert counts[i] == len(expected)
        assert [tuple(p + 0.0) for p in got[i, : counts[i]]] == expected
        assert (got[i, counts[i] :] == got[i, 0]).all()


def test_unique_vertices_keeps_the_first_unrounded():
    points = np.array([[[0.1 + 1e-15, 0.9], [0.5, 0.5], [0.1, 0.9 + 1e-15]]])
    got, counts = unique_vertices(points)
    assert counts.tolist() == [2]
    np.testing.assert_array_equal(got, points[:, :2])
    assert unique_vertices(points, decimals=15)[1].tolist() == [3]
    assert unique_vertices([[[0.124, 0.876], [0.12, 0.88]]], decimals=2)[1].tolist() == [1]


def test_unique_vertices_counts_distinct_orders_of_a_sparse_family():
    # One pair {0,1} besides singletons of three classes: only who of 0 and 1 comes first matters.
    m, sets = [[0.2, 0.2, 0.2, 0.4]], np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    points, counts = unique_vertices(permutation_vertices(m, sets))
    assert counts.tolist() == [2]
    np.testing.assert_allclose(points[0], [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]], rtol=1e-15)


@pytest.mark.parametrize(
    ("vertices", "refusal"),
    [
        ([[0.5, 0.5]], ("vertices", "shape")),
        (np.empty((2, 0, 3)), ("vertices", "shape", r"got \(2, 0, 3\)")),
        ([[[0.5, 0.5]], [[np.inf, 0.5]]], ("vertices", "finite", "row 1")),
    ],
)
def test_unique_errors(vertices, refusal):
    with refuses(*refusal):
        unique_vertices(vertices)


def test_pairs_of_vertices_are_extreme_against_linear_programs(random_generator):
    # No vertex of a generic belief function is a mixture of the others.
    m = random_generator.dirichlet(np.ones(7), size=2)
    points, counts = unique_vertices(permutation_vertices(m, all_focal_sets(3)))
    for i in range(2):
        kept = points[i, : counts[i]]
        for j, others in ((j, np.delete(kept, j, axis=0)) for j in range(counts[i])):
            mixture = linprog(
                np.zeros(len(others)), A_eq=np.vstack([others.T, np.ones(len(others))]), b_eq=[*kept[j], 1]
            )
            assert mixture.status == 2  # infeasible
    assert all(np.abs(a - b).max() > 1e-6 for a, b in combinations(points[0, : counts[0]], 2))


def test_sums_may_miss_one_by_the_tolerance_of_the_precision():
    lower, upper = np.array([[0.5, 0.504]], np.float32), np.array([[0.6, 0.6]], np.float32)
    assert box_vertices(as_bfloat16(lower), as_bfloat16(upper))[0].shape[-1] == 2
    with refuses("lower, upper", "range"):
        box_vertices(lower, upper)
    events = np.array([[0.0, 0.25, 0.5, 0.996]], np.float32)
    assert lower_probability_vertices(as_bfloat16(events)).shape == (1, 2, 2)
    with refuses("lower"):
        lower_probability_vertices(events)
