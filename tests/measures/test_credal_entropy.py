"""Upper and lower entropy: exact against enumeration and general solvers, and untouched by chunks and class order."""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.refusals import refuses

import uqassay.credal.box_entropy as module
from uqassay.credal.box_entropy import box_lower_entropy, box_upper_entropy
from uqassay.credal.hull_entropy import hull_lower_entropy, hull_upper_entropy
from uqassay.errors import InputError
from uqassay.measures import credal_uncertainty, lower_entropy, upper_entropy


@dataclass(frozen=True)
class Members:
    """Stand-in for a prediction made of members (n, M, K)."""

    probs: np.ndarray

    def lower_probs(self):
        return self.probs.min(axis=1)

    def upper_probs(self):
        return self.probs.max(axis=1)

    def hull_points(self):
        return self.probs


@dataclass(frozen=True)
class Bounds:
    """Stand-in for probability intervals, which have no finite hull."""

    lower: np.ndarray
    upper: np.ndarray

    def lower_probs(self):
        return self.lower

    def upper_probs(self):
        return self.upper

    def hull_points(self):
        raise InputError("over: intervals have no finite hull.")


def entropy(p):
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1)


def enumerate_vertices(l, u):
    """Every point of one box ∩ simplex with all classes but one at a bound."""
    K = len(l)
    corners = np.array(list(product((False, True), repeat=K)))
    p = np.where(corners, u, l)  # (2^K, K)
    points = []
    for free in range(K):
        q = p.copy()
        q[:, free] = 1.0 - np.delete(p, free, axis=1).sum(axis=1)
        points.append(q[(q[:, free] >= l[free] - 1e-12) & (q[:, free] <= u[free] + 1e-12)])
    return np.maximum(np.concatenate(points), 0.0)


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


@st.composite
def member_sets(draw, max_classes=6):
    """Members on a coarse grid: ties between classes, zeros, equal bounds and equal members all occur."""
    K = draw(st.integers(2, max_classes))
    M = draw(st.integers(1, 4))
    counts = draw(st.lists(st.lists(st.integers(0, 6), min_size=K, max_size=K), min_size=M, max_size=M))
    p = np.array(counts, dtype=float)
    p[p.sum(axis=1) == 0, draw(st.integers(0, K - 1))] = 1.0
    return p / p.sum(axis=1, keepdims=True)  # (M, K)


@st.composite
def boxes(draw, max_classes=6):
    """Boxes around a distribution, of unlike widths, reachable or not, some of width zero."""
    K = draw(st.integers(2, max_classes))
    unit = st.floats(0, 1, allow_subnormal=False)
    centre = np.array(draw(st.lists(unit, min_size=K, max_size=K))) + 1e-3
    centre /= centre.sum()
    down, up = (np.array(draw(st.lists(st.one_of(unit, st.just(0.0)), min_size=K, max_size=K))) for _ in range(2))
    return centre * (1.0 - down), np.minimum(centre * (1.0 + 3.0 * up), 1.0)


def flat_boxes(n, K, M=5, seed=0):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=(n, M))
    return p.min(axis=1), p.max(axis=1)


# -- the minimum over the box -----------------------------------------------------------------------------------------


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
    np.testing.assert_array_equal(box_lower_entropy(l, u, max_nodes=10**9).values, exact.values)


# -- the maximum over the box -----------------------------------------------------------------------------------------


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


# -- the hull ---------------------------------------------------------------------------------------------------------


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


# -- properties that hold for all -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(member_sets(), st.integers(0, 2**31))
def test_every_point_of_the_set_lies_between(members, seed):
    prediction = Members(members[None])
    mixtures = np.random.default_rng(seed).dirichlet(np.full(len(members), 0.5), size=100) @ members
    h = entropy(mixtures)
    low_box, low_hull = (lower_entropy(prediction, over=over)[0] for over in ("box", "hull"))
    high_box, high_hull = (upper_entropy(prediction, over=over)[0] for over in ("box", "hull"))
    assert low_box <= low_hull + 1e-12  # the box holds the hull
    assert low_hull <= h.min() + 1e-12
    assert h.max() <= high_hull + 1e-9
    assert high_hull <= high_box + 1e-12
    assert high_box <= np.log(members.shape[1]) + 1e-12


@settings(deadline=None, max_examples=60)
@given(boxes(), st.integers(0, 2**31))
def test_random_points_of_a_box_lie_between(box, seed):
    l, u = module._as_box(box[0][None], box[1][None])
    vertices = enumerate_vertices(l[0], u[0])
    h = entropy(np.random.default_rng(seed).dirichlet(np.full(len(vertices), 0.3), size=50) @ vertices)
    assert box_lower_entropy(l, u).values[0] <= h.min() + 1e-11
    assert box_upper_entropy(l, u)[0] >= h.max() - 1e-11


def test_relabelling_classes_changes_nothing(random_generator):
    P = random_generator.dirichlet(np.ones(4) * 0.5, size=(5, 3))
    for order in permutations(range(4)):
        for over in ("box", "hull"):
            for measure in (upper_entropy, lower_entropy, credal_uncertainty):
                np.testing.assert_allclose(
                    measure(Members(P[:, :, order]), over=over), measure(Members(P), over=over), rtol=0, atol=3e-9
                )
    l, u = flat_boxes(20, 40)
    order = random_generator.permutation(40)
    np.testing.assert_allclose(
        box_lower_entropy(l[:, order], u[:, order]).values, box_lower_entropy(l, u).values, rtol=0, atol=3e-12
    )


KERNELS = {
    "box upper": lambda P: box_upper_entropy(P.min(axis=1), P.max(axis=1)),
    "box lower": lambda P: box_lower_entropy(P.min(axis=1), P.max(axis=1)).values,
    "hull upper": lambda P: hull_upper_entropy(P).values,
    "hull lower": hull_lower_entropy,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "V", "K"), [(60, 4, 10), (60, 15, 3), (25, 3, 33), (3, 2, 9000)])
def test_no_row_depends_on_another_bit_for_bit(random_generator, kernel, n, V, K):
    measure = KERNELS[kernel]
    P = random_generator.dirichlet(np.full(K, min(0.7, 50 / K)), size=(n, V))
    whole = measure(P)
    np.testing.assert_array_equal(np.concatenate([measure(P[i : i + 1]) for i in range(n)]), whole)
    np.testing.assert_array_equal(measure(P[::-1]), whole[::-1])
    np.testing.assert_array_equal(measure(P[1 : 2 + n // 3]), whole[1 : 2 + n // 3])


@pytest.mark.parametrize("kernel", KERNELS)
def test_chunks_and_rounds_change_nothing_bit_for_bit(random_generator, monkeypatch, kernel):
    measure = KERNELS[kernel]
    e = random_generator.uniform(0, 0.02, size=(10, 1, 16))
    hard = np.concatenate([1 / 16 - e, 1 / 16 + e], axis=1)  # not distributions, but their box is a hard one
    P = random_generator.dirichlet(np.ones(16), size=(50, 6))
    sets = [P] if kernel.startswith("hull") else [P, np.concatenate([P[:, :2], hard])]
    before = [measure(s) for s in sets]
    monkeypatch.setattr(module, "CHUNK_BYTES", 3000)
    for s, expected in zip(sets, before, strict=True):
        np.testing.assert_array_equal(measure(s), expected)
    monkeypatch.setattr(module, "CHUNK_BYTES", 2**30)
    monkeypatch.setattr(module, "ELEMENTS_PER_ROUND", 1)  # one instance after another
    for s, expected in zip(sets, before, strict=True):
        np.testing.assert_array_equal(measure(s), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_and_memory_layout_of_the_input(random_generator, dtype):
    P = random_generator.dirichlet(np.ones(5), size=(30, 4)).astype(dtype)
    P.flags.writeable = False
    awkward = np.asfortranarray(np.repeat(P, 2, axis=0))[::2]
    for measure in KERNELS.values():
        expected = measure(P.astype(np.float64))
        assert expected.dtype == np.float64
        np.testing.assert_array_equal(measure(P), expected)
        np.testing.assert_array_equal(measure(awkward), expected)
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()  # also where members sum to 1 only to half precision
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(4), size=(30, 300)), P.astype(np.float64))
    assert (entropy(mixtures) <= found.values[:, None] + 1e-8).all()


# -- ordinary extremes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 10, 500])
def test_vacuous_set_against_theory(K):
    vacuous = Bounds(np.zeros((1, K)), np.ones((1, K)))
    np.testing.assert_allclose(upper_entropy(vacuous), np.log(K), rtol=1e-13)
    np.testing.assert_array_equal(lower_entropy(vacuous), [0.0])
    np.testing.assert_allclose(credal_uncertainty(vacuous), np.log(K), rtol=1e-13)


@settings(deadline=None, max_examples=40)
@given(member_sets())
def test_single_distribution_has_no_credal_uncertainty(members):
    prediction = Members(members[:, None, :])
    for over in ("box", "hull"):
        np.testing.assert_allclose(upper_entropy(prediction, over=over), entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(lower_entropy(prediction, over=over), entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(credal_uncertainty(prediction, over=over), 0.0, atol=1e-12)


def test_two_classes_against_theory(random_generator):
    a = np.sort(random_generator.uniform(0, 1, size=(200, 2)), axis=1)
    l, u = np.stack([a[:, 0], 1 - a[:, 1]], axis=1), np.stack([a[:, 1], 1 - a[:, 0]], axis=1)
    ends = entropy(np.stack([a, 1 - a], axis=2))  # (n, 2): the set is a segment
    np.testing.assert_allclose(box_lower_entropy(l, u).values, ends.min(axis=1), rtol=0, atol=1e-12)
    top = np.where((a[:, 0] <= 0.5) & (a[:, 1] >= 0.5), np.log(2), ends.max(axis=1))
    np.testing.assert_allclose(box_upper_entropy(l, u), top, rtol=0, atol=1e-12)


def test_unreachable_bounds_are_made_reachable():
    # class 1 cannot exceed 0.4, as class 0 keeps 0.6; so the set is that of the tightened bounds
    wide = ([[0.6, 0.0]], [[1.0, 1.0]])
    tight = ([[0.6, 0.0]], [[1.0, 0.4]])
    np.testing.assert_allclose(box_upper_entropy(*wide), box_upper_entropy(*tight), rtol=0, atol=1e-13)
    np.testing.assert_allclose(box_lower_entropy(*wide).values, box_lower_entropy(*tight).values, rtol=0, atol=1e-13)


# -- the paper's convention -------------------------------------------------------------------------------------------


def test_paper_convention_against_theory():
    l = np.array([[0.25] * 4, [0.1, 0.0, 0.0, 0.0], [0.3, 0.3, 0.0, 0.0], [0.0] * 4])
    found = credal_uncertainty(Bounds(l, np.ones_like(l)), convention="paper")
    np.testing.assert_allclose(found, [0.0, 2.0, 1.0, np.nan], atol=1e-14)  # bits; large for confident predictions


def test_paper_convention_against_paper_table(cifar10):
    # Table 6, RS-NN, trade-off 1: E with CU is 3.671, and its KL divergence is 0.398, both rounded to 0.0005.
    beliefs, focal_sets = cifar10["beliefs"].astype(np.float64), cifar10["focal_sets"].astype(bool)
    size = focal_sets.sum(axis=1)
    masses = np.zeros_like(beliefs)
    for b in np.argsort(size, kind="stable"):
        inside = [a for a in range(len(size)) if a != b and not (focal_sets[a] & ~focal_sets[b]).any()]
        masses[:, b] = beliefs[:, b] - masses[:, inside].sum(axis=1)
    masses = np.maximum(masses, 0.0)
    whole = np.maximum(0.0, 1.0 - masses.sum(axis=1))
    singletons = masses[:, size == 1] / (masses.sum(axis=1) + whole)[:, None]
    found = credal_uncertainty(Bounds(singletons, np.ones_like(singletons)), convention="paper").mean()
    assert abs(found - (3.671 - 0.398)) <= 0.001


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors_name_the_argument_and_the_remedy():
    prediction = Members(np.full((1, 2, 2), 0.5))
    with refuses("over", "choice", got="got 'ball'"):
        upper_entropy(prediction, over="ball")
    with refuses("over", "choice"):
        lower_entropy(prediction, over="ball")
    with refuses("convention", "choice"):
        credal_uncertainty(prediction, convention="Paper")
    with refuses("over", "conflict", got='must be "box" with convention="paper"'):
        credal_uncertainty(prediction, over="hull", convention="paper")
    with pytest.raises(InputError, match="intervals have no finite hull"):
        lower_entropy(Bounds(np.zeros((1, 2)), np.ones((1, 2))), over="hull")


def test_errors_of_the_kernels():
    good = [0.2, 0.8]
    with refuses("lower, upper", "range", got=r".* row 1 has lower probabilities that sum to 1\.4"):
        box_upper_entropy([good, [0.7, 0.7]], [good, [0.8, 0.8]])
    with refuses("lower, upper", "range", got=r"row 0 .* upper ones to 0\.4"):
        box_lower_entropy([[0.1, 0.1]], [[0.2, 0.2]])
    with refuses("lower, upper", "range", got=r"max\(lower - upper\) 0.3"):
        box_lower_entropy([[0.6, 0.0]], [[0.3, 1.0]])
    with refuses("upper", "shape"):
        box_upper_entropy([good], [good, good])
    with refuses("lower", "finite", got="row 0"):
        box_upper_entropy([[np.nan, 0.0]], [good])
    with refuses("upper", "not-probabilities", got="row 0"):
        box_upper_entropy([good], [[1.5, 0.8]])
    with refuses("max_nodes", "range", got="got 0"):
        box_lower_entropy([good], [good], max_nodes=0)
    with refuses("tolerance", "range", got="got 0"):
        hull_upper_entropy([[good]], tolerance=0)
    with refuses("points", "sum", got="each row must sum to 1"):
        hull_lower_entropy([[[0.2, 0.2]]])
    with refuses("points", "shape"):
        hull_upper_entropy(np.empty((2, 0, 3)))
