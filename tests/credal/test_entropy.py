"""Upper and lower entropy over boxes, cores and hulls: brute force, SLSQP, closed forms."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from tests.credal.random_sets import boxes, entropy, enumerate_vertices, flat_boxes, member_sets
from tests.refusals import refuses

import uqassay.credal.entropy as module
from uqassay.arrays import as_bfloat16
from uqassay.credal import all_focal_sets, permutation_vertices
from uqassay.credal.entropy import (
    box_lower_entropy,
    box_upper_entropy,
    core_lower_entropy,
    core_upper_entropy,
    hull_lower_entropy,
    hull_upper_entropy,
)
from uqassay.native import kernel
from uqassay.predictions import Masses

# Upper and lower entropy over a box: brute force, SLSQP, closed forms.


def brute_lower(l, u):
    return np.array([entropy(enumerate_vertices(a, b)).min() for a, b in zip(l, u, strict=True)])


def slsqp_upper(l, u):
    """A general solver, started inside the set."""
    start = l + (u - l) * (1.0 - l.sum()) / max((u - l).sum(), 1e-300)
    solution = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-300))).sum()),
        start,
        jac=lambda p: np.log(np.maximum(p, 1e-300)) + 1.0,
        bounds=list(zip(l, u, strict=True)),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return -solution.fun


@settings(deadline=None, max_examples=150)
@given(boxes())
def test_box_lower_against_brute_force(box):
    l, u = (a[None] for a in box)
    np.testing.assert_allclose(box_lower_entropy(l, u).values, brute_lower(l, u), rtol=0, atol=1e-11)


@settings(deadline=None, max_examples=150)
@given(member_sets())
def test_box_lower_against_brute_force_with_ties(members):
    l, u = members.min(axis=0)[None], members.max(axis=0)[None]
    np.testing.assert_allclose(box_lower_entropy(l, u).values, brute_lower(l, u), rtol=0, atol=1e-11)


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-3])
def test_box_lower_against_brute_force_on_nested_intervals(random_generator, scale):
    # One centre and unlike widths: no interval lies above another, the hardest case for the search.
    K = 9
    e = random_generator.uniform(0, scale / K, size=(12, K))
    found = box_lower_entropy(1 / K - e, 1 / K + e)
    np.testing.assert_allclose(found.values, brute_lower(1 / K - e, 1 / K + e), rtol=0, atol=1e-12)
    assert (found.gap == 0).all()


@pytest.mark.parametrize("K", [3, 7, 100, 1000])
def test_box_lower_against_theory_for_equal_intervals(K):
    # K equal intervals [a, b]: as many classes as possible at b, one takes the rest, the others stay at a.
    a, b = 0.4 / K, 2.1 / K
    full = int(np.floor((1 - K * a) / (b - a) + 1e-12))
    rest = 1 - full * b - (K - full - 1) * a
    expected = entropy(np.array([b] * full + [rest] + [a] * (K - full - 1)))
    found = box_lower_entropy(np.full((2, K), a), np.full((2, K), b))
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.steps.max() < 10  # equal classes are interchangeable, so the tree does not grow with their number


def test_box_lower_where_greedy_orders_fail():
    # Filling classes up to their upper bound one after another misses the minimum for every customary order.
    l, u = np.array([0.15, 0.05, 0.3]), np.array([0.55, 0.5, 0.5])
    chord = (entropy(u[:, None]) - entropy(l[:, None])) / (u - l)

    def greedy(order):
        p, rest = l.copy(), 1 - l.sum()
        for k in order:
            step = min(u[k] - l[k], rest)
            p[k], rest = p[k] + step, rest - step
        return entropy(p)

    exact = box_lower_entropy(l[None], u[None]).values[0]
    np.testing.assert_allclose(exact, entropy(np.array([0.55, 0.05, 0.4])), rtol=1e-12)
    for key in (-u, -l, -(l + u), -(u - l), chord):
        assert greedy(np.argsort(key, kind="stable")) > exact + 0.01


def test_box_lower_visits_few_nodes():
    found = box_lower_entropy(*flat_boxes(500, 10))
    assert 3 < found.steps.mean() < 15
    assert found.steps.max() < 200


def test_box_lower_max_nodes_leaves_an_honest_gap(random_generator):
    K = 20
    e = random_generator.uniform(0, 0.02 / K, size=(8, K))
    l, u = 1 / K - e, 1 / K + e
    exact = box_lower_entropy(l, u)
    assert exact.steps.min() > 100
    for limit in (1, 10, 50):
        cut = box_lower_entropy(l, u, max_nodes=limit)
        assert (cut.steps <= limit + 2 * module.NODES_PER_ROUND).all()
        assert (cut.values >= exact.values - 1e-12).all()
        assert (cut.values - cut.gap <= exact.values + 1e-12).all()
        assert (cut.gap > 0).any()
    np.testing.assert_allclose(box_lower_entropy(l, u, max_nodes=10**9).values, exact.values, rtol=0, atol=2e-12)


@settings(deadline=None, max_examples=80)
@given(boxes(max_classes=8))
def test_box_upper_against_slsqp(box):
    l, u = box
    np.testing.assert_allclose(box_upper_entropy(l[None], u[None])[0], slsqp_upper(l, u), rtol=0, atol=2e-6)


@settings(deadline=None, max_examples=150)
@given(boxes(max_classes=12))
def test_box_upper_against_theory(box):
    # Optimality: the maximiser is one level s clipped to the bounds, so its classes off the bounds are all equal,
    # those at the upper bound lie below them and those at the lower bound above.
    l, u = module._as_box(box[0][None], box[1][None])
    p = module._water_fill(l, u)[0]
    np.testing.assert_allclose(p.sum(), 1.0, rtol=0, atol=1e-12)
    assert ((p >= l[0]) & (p <= u[0])).all()
    rises, falls = p < u[0] - 1e-12, p > l[0] + 1e-12  # classes that could take, and that could give, mass
    if rises.any() and falls.any():
        assert p[rises].min() >= p[falls].max() - 1e-12


# -- the compiled twins -----------------------------------------------------------------------------------------------

needs_kernels = pytest.mark.skipif(
    kernel("box_upper_entropy") is None, reason="the compiled kernels are absent or switched off"
)


def hard_boxes(rng, n, K):
    """Envelopes of members, with certain and vacuous rows, equal intervals, denormals and bounds that are not reachable."""
    members = rng.dirichlet(np.full(K, 0.5), (n, 4))
    l, u = members.min(axis=1), members.max(axis=1)
    l[0], u[0] = np.eye(K)[0], np.eye(K)[0]
    l[1], u[1] = 0, 1
    l[2], u[2] = 0.5 / K, 1.5 / K
    l[3], u[3] = np.nextafter(0, 1), np.maximum(u[3], 1e-310)
    l[4] = u[4] = members[4, 0]
    u[5] = np.minimum(u[5] + 0.3, 1)
    l[6], u[6] = np.round(l[6], 1), np.ceil(u[6] * 10) / 10
    l[6] = np.where(l[6] > u[6], 0, np.minimum(l[6], 0.5 / K))
    l[7] -= 5e-4
    l[8], u[8] = (l[8] + 2e-4), (u[8] - 2e-4)
    u[8] = np.maximum(u[8], l[8] - 1e-4)
    return l, u


@needs_kernels
@pytest.mark.parametrize("K", [2, 3, 5, 8, 10, 33, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_kernels_against_the_formulas(K, dtype, monkeypatch, random_generator):
    l, u = (bound.astype(dtype) for bound in hard_boxes(random_generator, 21, K))
    l = l.astype(np.float64) - 1e-4 * (dtype == np.float16)
    l, u = l.astype(dtype), np.minimum(u.astype(np.float64) + 1e-4 * (dtype == np.float16), 1).astype(dtype)
    upper, lower = box_upper_entropy(l, u), box_lower_entropy(l, u)
    monkeypatch.setenv("UQASSAY_PURE", "1")
    np.testing.assert_allclose(upper, box_upper_entropy(l, u), rtol=1e-13, atol=1e-13)
    expected = box_lower_entropy(l, u)
    np.testing.assert_allclose(lower.values, expected.values, rtol=0, atol=2e-12)  # twice the slack of the search
    assert (lower.gap == 0).all()
    assert 0.5 < lower.steps.sum() / expected.steps.sum() < 2


@needs_kernels
def test_kernels_do_not_mix_rows(compiled, random_generator):
    l, u = hard_boxes(random_generator, 37, 12)
    whole, lower = box_upper_entropy(l, u), box_lower_entropy(l, u).values
    order = random_generator.permutation(37)
    try:
        for most in (2, 4, 8):
            compiled.yardsticks.use_lanes(most)
            np.testing.assert_array_equal(box_upper_entropy(l, u), whole)
            np.testing.assert_array_equal(box_upper_entropy(l[order], u[order]), whole[order])
            np.testing.assert_array_equal(box_upper_entropy(l[::3], np.asfortranarray(u)[::3]), whole[::3])
    finally:
        compiled.yardsticks.use_lanes(8)
    np.testing.assert_array_equal(box_lower_entropy(l[order], u[order]).values, lower[order])
    np.testing.assert_array_equal(box_lower_entropy(l[:1], u[:1]).values, lower[:1])


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("entropy_of", [box_upper_entropy, box_lower_entropy])
@pytest.mark.parametrize(
    ("parameter", "code", "got", "l", "u"),
    [
        ("lower", "finite", "row 1 holds nan", [[0.1, 0.2], [np.nan, 0.2]], [[0.9, 0.8], [0.9, 0.8]]),
        ("upper", "not-probabilities", "row 0 holds 1.2", [[0.1, 0.2]], [[0.9, 1.2]]),
        ("lower, upper", "range", "row 1 has lower", [[0.1, 0.2], [0.7, 0.6]], [[0.9, 0.8], [0.9, 0.8]]),
        ("lower, upper", "range", "upper ones to 0.5", [[0.1, 0.2]], [[0.2, 0.3]]),
        ("lower, upper", "range", "max", [[0.5, 0.2]], [[0.3, 0.8]]),
    ],
)
def test_refusals_are_those_of_the_formula(entropy_of, pure, parameter, code, got, l, u, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    with refuses(parameter, code, got=got):
        entropy_of(l, u)


# Upper and lower entropy over the core of a belief function: all vertices, their hull, closed forms.


def random_masses(rng, n, k, sparse=0.3):
    sets = all_focal_sets(k)
    return rng.dirichlet(np.full(len(sets), sparse), n), sets


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_least_entropy_against_all_vertices(k, random_generator):
    masses, sets = random_masses(random_generator, 60, k)
    vertices = permutation_vertices(masses, sets, permutations=np.array(list(permutations(range(k)))))
    np.testing.assert_allclose(core_lower_entropy(masses, sets), entropy(vertices).min(axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_largest_entropy_against_the_hull_of_all_vertices(k, random_generator):
    masses, sets = random_masses(random_generator, 60, k)
    vertices = permutation_vertices(masses, sets, permutations=np.array(list(permutations(range(k)))))
    found = hull_upper_entropy(vertices, 1e-10)
    assert (found.gap <= 1e-10).all()
    np.testing.assert_allclose(core_upper_entropy(masses, sets), found.values, rtol=0, atol=2e-10)


def test_three_classes_have_the_entropies_of_their_box_and_four_less(random_generator):
    spread = []
    for k in (3, 4):
        masses, sets = random_masses(random_generator, 200, k, sparse=1.0)
        said = Masses(masses, sets)
        l, u = said.lower_probs(), said.upper_probs()
        spread.append(
            (
                box_upper_entropy(l, u) - core_upper_entropy(masses, sets),
                core_lower_entropy(masses, sets) - box_lower_entropy(l, u).values,
            )
        )
    np.testing.assert_allclose(spread[0], 0.0, atol=1e-9)  # every event or its complement is a single class
    assert (np.array(spread[1]) >= -1e-9).all()
    assert np.max(spread[1]) > 1e-3


def test_every_distribution_of_the_core_lies_between(random_generator):
    masses, sets = random_masses(random_generator, 30, 6)
    orders = np.array([random_generator.permutation(6) for _ in range(200)])
    vertices = permutation_vertices(masses, sets, permutations=orders)
    mixtures = random_generator.dirichlet(np.full(200, 0.05), (30, 300)) @ vertices
    h = np.concatenate([entropy(vertices), entropy(mixtures)], axis=1)
    assert (h >= core_lower_entropy(masses, sets)[:, None] - 1e-12).all()
    assert (h <= core_upper_entropy(masses, sets)[:, None] + 1e-12).all()


def test_extremes_against_theory():
    for k in (2, 3, 10, 16):
        vacuous = np.ones((1, 1)), np.ones((1, k), dtype=bool)
        np.testing.assert_allclose(core_upper_entropy(*vacuous), np.log(k), rtol=1e-13)
        np.testing.assert_array_equal(core_lower_entropy(*vacuous), [0.0])
    p = np.array([[0.5, 0.3, 0.2]])
    np.testing.assert_allclose(core_upper_entropy(p, np.eye(3, dtype=bool)), entropy(p), rtol=1e-14)
    np.testing.assert_allclose(core_lower_entropy(p, np.eye(3, dtype=bool)), entropy(p), rtol=1e-14)


def test_rows_do_not_depend_on_each_other_and_many_classes_are_refused(random_generator, monkeypatch):
    masses, sets = random_masses(random_generator, 25, 4)
    for measure in (core_lower_entropy, core_upper_entropy):
        whole = measure(masses, sets)
        monkeypatch.setattr("uqassay.credal.entropy.CORE_CHUNK_BYTES", 1)
        np.testing.assert_array_equal(measure(masses, sets), whole)
        monkeypatch.undo()
        np.testing.assert_array_equal(measure(masses[::-1], sets), whole[::-1])
        with refuses("focal_sets", "size"):
            measure(np.ones((1, 1)), np.ones((1, 17), dtype=bool))


# Upper and lower entropy over a hull: SLSQP, closed forms, certified gaps.


@settings(deadline=None, max_examples=100)
@given(member_sets(max_classes=8))
def test_hull_upper_against_slsqp(members):
    M = len(members)
    solution = minimize(
        lambda w: -entropy(np.maximum(w @ members, 0)),
        np.full(M, 1 / M),
        bounds=[(0, 1)] * M,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = hull_upper_entropy(members[None])
    weights = np.clip(solution.x, 0, 1)
    reached = entropy(weights / weights.sum() @ members)
    assert found.gap[0] <= 1e-9
    assert found.values[0] + found.gap[0] >= reached - 1e-12
    np.testing.assert_allclose(found.values[0], reached, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("n", "V", "K", "concentration"),
    [(300, 15, 10, 1.0), (100, 100, 10, 0.05), (100, 5, 100, 0.1), (300, 40, 2, 0.1), (50, 300, 3, 0.3), (20, 1, 5, 1)],
)
def test_hull_upper_gap_is_certified(random_generator, n, V, K, concentration):
    P = random_generator.dirichlet(np.full(K, concentration), size=(n, V))
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()
    assert (found.gap >= 0).all()
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(V), size=(n, 200)), P)
    assert (entropy(mixtures) <= (found.values + found.gap)[:, None] + 1e-12).all()
    tighter = hull_upper_entropy(P, tolerance=1e-11)
    np.testing.assert_allclose(found.values, tighter.values, rtol=0, atol=1.1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 5.0, 60.0, 400.0])
def test_hull_upper_converges_for_sharp_and_for_alike_members(random_generator, scale):
    logits = random_generator.normal(size=(200, 1, 10)) * 10 + random_generator.normal(size=(200, 12, 10)) * scale
    P = np.exp(logits - logits.max(axis=-1, keepdims=True))
    assert (hull_upper_entropy(P / P.sum(axis=-1, keepdims=True)).gap <= 1e-9).all()


def test_hull_upper_against_theory(random_generator):
    one_hot = np.eye(5)[None]  # all of the simplex
    np.testing.assert_allclose(hull_upper_entropy(one_hot).values, np.log(5), rtol=0, atol=1e-9)
    three = np.eye(5)[None, [0, 2, 2, 4]]  # a face, with a member twice
    np.testing.assert_allclose(hull_upper_entropy(three).values, np.log(3), rtol=0, atol=1e-9)
    # two members of two classes: the mixture nearest to (1/2, 1/2)
    a = random_generator.uniform(0, 1, size=(50, 2))
    nearest = np.clip(0.5, a.min(axis=1), a.max(axis=1))
    found = hull_upper_entropy(np.stack([a, 1 - a], axis=2))
    np.testing.assert_allclose(found.values, entropy(np.stack([nearest, 1 - nearest], axis=1)), rtol=0, atol=1e-9)


def test_hull_upper_of_members_that_sum_to_one_only_roughly(random_generator):
    # Within the tolerance of half precision members are used as they are; the certificate must hold for them too.
    P = random_generator.dirichlet(np.ones(4), size=(100, 2)) * random_generator.uniform(0.9995, 1.0005, (100, 2, 1))
    t = np.linspace(0, 1, 5001)[:, None]
    grid = entropy(t * P[:, None, 0] + (1 - t) * P[:, None, 1]).max(axis=1)
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()
    assert (grid <= found.values + found.gap + 1e-13).all()
    np.testing.assert_allclose(found.values, grid, rtol=0, atol=1e-6)


def test_hull_lower_is_at_a_member(random_generator):
    P = random_generator.dirichlet(np.ones(4), size=(50, 6))
    np.testing.assert_allclose(hull_lower_entropy(P), entropy(P).min(axis=1), rtol=1e-13)
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(6) * 0.2, size=(50, 500)), P)
    assert (entropy(mixtures) >= hull_lower_entropy(P)[:, None] - 1e-12).all()


def test_points_in_bfloat16_have_its_tolerance():
    points = as_bfloat16(np.array([[[0.20019531, 0.80078125]]], np.float32) + np.float32(0.002))
    assert hull_upper_entropy(points).values[0] == pytest.approx(0.503, abs=5e-3)
    with refuses("points", "sum"):
        hull_upper_entropy(np.array(points.tolist()))
