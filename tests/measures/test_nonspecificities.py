"""Imprecision of sets: generalised Hartley, non-specificities by name, clipped masses, widths, class sets."""

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import binom
from tests.kinds import KINDS, masses_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import CLASS_RULES, box_vertices, permutation_vertices
from uqassay.errors import TooManyClassesError
from uqassay.measures import generalised_hartley, hartley_weights, nonspecificity
from uqassay.measures.nonspecificities import (
    Nonspecificity,
    class_sets_by_rule,
    credal_width,
    for_each_hull,
    hull_kernel,
    imprecision,
    imprecision_of_class_sets,
    joined_nonspecificities,
    not_ruled_out,
    set_sizes,
)
from uqassay.native import kernel

# The generalised Hartley measure: its weights, and the estimator for many classes.


@pytest.mark.parametrize("n_classes", range(2, 13))
def test_weights_against_quadrature_and_alternating_sum(n_classes):
    weights = hartley_weights(n_classes)
    for k in range(1, n_classes):

        def integrand(t, k=k):
            return comb(n_classes, k) * t ** (k - 1) * (1 - t) ** (n_classes - k) / -np.log(t)

        assert weights[k - 1] == pytest.approx(quad(integrand, 0, 1, epsabs=1e-12, epsrel=1e-12)[0], rel=1e-9)
        # GH as a linear function of L: the coefficient of one L(B) is −c_k / C(K, k) = Σ_j (−1)^j C(K−k, j) ln(k+j)
        alternating = sum((-1) ** j * comb(n_classes - k, j) * np.log(k + j) for j in range(n_classes - k + 1))
        assert -weights[k - 1] / comb(n_classes, k) == pytest.approx(alternating, rel=1e-6, abs=1e-10)
    # the vacuous set has ln K: every L(B) is 0
    assert (weights * np.arange(1, n_classes) / n_classes).sum() == pytest.approx(np.log(n_classes), abs=1e-10)


def test_monotone_in_the_credal_set(random_generator):
    probs = random_generator.dirichlet(np.ones(8), (40, 6))
    values = [generalised_hartley(uq.Members(probs[:, : m + 1])).values for m in range(6)]
    assert (np.diff(values, axis=0) >= -1e-12).all()


@pytest.mark.slow
def test_estimator_is_unbiased_with_an_honest_error_against_the_exact_value(random_generator, monkeypatch):
    exact = generalised_hartley(uq.Members(probs := random_generator.dirichlet(np.full(10, 0.3), (30, 4)))).values
    monkeypatch.setattr("uqassay.measures.nonspecificities.MAX_ENUMERATED_CLASSES", 9)
    runs = [generalised_hartley(uq.Members(probs), rng=seed) for seed in range(400)]
    values = np.array([r.values for r in runs])
    z = (values.mean(axis=0) - exact) / (values.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert np.abs(z).max() < 4.5  # 30 instances
    assert np.sqrt((z**2).mean()) < 1.6
    # the reported error is the spread over runs, and its intervals cover
    ratio = np.sqrt(np.mean([r.standard_error**2 for r in runs], axis=0)) / values.std(axis=0, ddof=1)
    np.testing.assert_allclose(ratio, 1.0, atol=0.15)
    covered = np.mean([np.abs(r.values - exact) <= 2.04 * r.standard_error for r in runs])  # t with 31 degrees
    assert 0.92 < covered < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [100, 1000])
def test_estimator_against_long_runs(n_classes, random_generator):
    members = uq.Members(random_generator.dirichlet(np.full(n_classes, 0.1), (6, 5)))
    long = generalised_hartley(members, rng=1, tolerance=2e-3)
    assert (long.standard_error <= 2e-3).all()
    runs = [generalised_hartley(members, rng=seed) for seed in range(2, 42)]
    values = np.array([r.values for r in runs])
    error = np.hypot(long.standard_error, values.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert (np.abs(values.mean(axis=0) - long.values) < 4.5 * error).all()
    covered = np.mean([np.abs(r.values - long.values) <= 2.04 * np.hypot(r.standard_error, 2e-3) for r in runs])
    assert covered > 0.9


def test_estimator_of_intervals_against_the_exact_value(random_generator, monkeypatch):
    prediction = random_prediction("Intervals", random_generator, 5, 8)
    exact = generalised_hartley(prediction).values
    monkeypatch.setattr("uqassay.measures.nonspecificities.MAX_ENUMERATED_CLASSES", 7)
    found = generalised_hartley(prediction, tolerance=1e-3)
    assert (found.standard_error <= 1e-3).all()
    assert (np.abs(found.values - exact) < 5 * found.standard_error + 1e-12).all()


def test_estimator_is_exact_for_a_precise_and_for_a_vacuous_set():
    precise = uq.Members(np.full((1, 3, 50), 1 / 50))
    found = generalised_hartley(precise)
    assert found.values[0] == 0
    assert found.standard_error[0] == 0
    vacuous = generalised_hartley(uq.Intervals(np.zeros((1, 50)), np.ones((1, 50))))
    assert vacuous.values[0] == pytest.approx(np.log(50), abs=1e-10)


@pytest.mark.parametrize("tolerance", [None, 2e-3])
def test_joined_parts_against_one_call(tolerance, random_generator):
    whole = uq.Members(random_generator.dirichlet(np.ones(20), (9, 3)))
    measured = partial(imprecision, weights=1.0 / np.arange(1, 20), rng=3, tolerance=tolerance)
    for change in (lambda ns: ns, Nonspecificity.complement):
        one = change(measured(whole))
        parts = joined_nonspecificities(
            [change(measured(whole[rows])) for rows in (slice(0, 1), slice(1, 7), slice(7, 9))]
        )
        for name in ("values", "standard_error", "mean_standard_error", "n_orders", "order_deviations", "order_sums"):
            np.testing.assert_array_equal(getattr(parts, name), getattr(one, name), err_msg=name)
    plain, turned = measured(whole), measured(whole).complement()
    np.testing.assert_allclose(turned.order_deviations, -plain.order_deviations, atol=1e-14)
    assert turned.mean_standard_error == pytest.approx(plain.mean_standard_error)


@pytest.mark.parametrize("n_classes", [20, 5000])
def test_vacuous_sets_have_the_logarithm_at_once(n_classes):
    """5,000 classes took 38 s."""
    lower, upper = np.zeros((3, n_classes)), np.ones((3, n_classes))
    lower[1, 0], upper[1, 1:] = 0.9, 0.1
    start = time.process_time()
    found = generalised_hartley(uq.Intervals(lower[[0, 2]], upper[[0, 2]]))
    assert time.process_time() - start < 5
    # the weights come from logarithms of binomials, which grow with K
    np.testing.assert_allclose(found.values, np.log(n_classes), rtol=max(1e-12, 1e-15 * n_classes))
    assert not found.standard_error.any()
    if n_classes == 20:
        both = generalised_hartley(uq.Intervals(lower, upper))
        np.testing.assert_allclose(both.values[[0, 2]], np.log(20), rtol=1e-12)
        alone = generalised_hartley(uq.Intervals(lower[1:2], upper[1:2]))
        assert (both.values[1], both.standard_error[1]) == (alone.values[0], alone.standard_error[0])
        corners = generalised_hartley(uq.Members(np.eye(20)[None]))
        np.testing.assert_allclose(corners.values, np.log(20), rtol=1e-12)


# Non-specificity against brute force over all events, and the estimator against long runs.


seeds = st.integers(0, 2**32 - 1)


def sizes_of(n_classes):
    """Number of classes of every event, in binary order."""
    return np.array([a.bit_count() for a in range(2**n_classes)])


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=8)
@given(seed=seeds, n_classes=st.integers(2, 6), n_members=st.integers(1, 4))
def test_exact_measures_against_brute_force(kind, seed, n_classes, n_members):
    prediction = random_prediction(kind, np.random.default_rng(seed), 3, n_classes, n_members)
    masses, sizes = masses_of_every_event(prediction), sizes_of(n_classes)
    g = {"hartley": np.log(np.maximum(sizes, 1)), "korner": sizes, "pal": 1 / np.maximum(sizes, 1)}
    for measure, weight in g.items():
        np.testing.assert_allclose(nonspecificity(prediction, measure).values, masses @ weight, atol=1e-10)
    commonality = np.stack(
        [masses[:, [b for b in range(2**n_classes) if b & a == a]].sum(axis=1) for a in range(1, 2**n_classes)], axis=1
    )
    safe = (np.abs(commonality) > 1e-9).all(axis=1)  # else the value hangs on rounding
    with np.errstate(invalid="ignore", divide="ignore"):
        smets = -np.log(commonality).sum(axis=1)
    np.testing.assert_allclose(nonspecificity(prediction, "smets").values[safe], smets[safe], rtol=1e-5)


def test_identical_members_have_none_and_a_vacuous_set_has_all(random_generator):
    point = random_generator.dirichlet(np.ones(7), 50).astype(np.float32)
    same = uq.Members(np.repeat(point[:, None], 4, axis=1))
    assert (generalised_hartley(same).values == 0).all()
    assert (uq.measures.credal_width(same) == 0).all()
    vacuous = uq.Intervals(np.zeros((2, 9)), np.ones((2, 9)))
    np.testing.assert_allclose(generalised_hartley(vacuous).values, np.log(9), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [3, 20])
def test_chunks_and_slices_change_no_bit(kind, n_classes, random_generator):
    if kind == "Masses" and n_classes > 16:
        sets = np.eye(n_classes, dtype=bool)
        prediction = uq.Masses(random_generator.dirichlet(np.ones(n_classes), 11), sets)
    else:
        prediction = random_prediction(kind, random_generator, 11, n_classes)
    whole = generalised_hartley(prediction)
    small = generalised_hartley(prediction, chunk_bytes=1)
    np.testing.assert_array_equal(whole.values, small.values)
    np.testing.assert_array_equal(whole.standard_error, small.standard_error)
    rows = np.array([7, 2, 2, 10])
    np.testing.assert_array_equal(generalised_hartley(prediction[rows]).values, whole.values[rows])
    np.testing.assert_array_equal(generalised_hartley(prediction[4:5]).values, whole.values[4:5])


def test_sizes_beyond_enumeration_name_the_remedy(random_generator):
    big = random_prediction("Members", random_generator, 2, 17)
    with refuses("focal_sets", "size", error=TooManyClassesError):
        nonspecificity(big, convention="paper")
    with refuses("focal_sets", "size", got="got K = 17", error=TooManyClassesError):
        nonspecificity(big, "smets")
    assert nonspecificity(big, "pal").values.shape == (2,)


def test_unknown_names_and_contradictions_are_refused(random_generator):
    prediction = random_prediction("Members", random_generator)
    with refuses("measure", "choice", got="got 'entropy'"):
        nonspecificity(prediction, "entropy")
    with refuses("convention", "choice", got="got 'both'"):
        nonspecificity(prediction, convention="both")
    with refuses("focal_sets", "needs-paper-convention"):
        nonspecificity(prediction, focal_sets=np.eye(4, dtype=bool))
    big = random_prediction("Members", random_generator, 2, 20)
    with refuses("tolerance", "range", got="got 0"):
        generalised_hartley(big, tolerance=0)


def exact_smets(members):
    """Σ_A ln(1/Q(A)) of the members' hull in exact arithmetic; None where a commonality is negative."""
    members = [[Fraction(float(p)) for p in member] for member in members]
    n_classes, total = len(members[0]), 0.0

    def upper(event):
        return max(sum((p[c] for c in event), Fraction(0)) for p in members)

    for size in range(1, n_classes + 1):
        for event in combinations(range(n_classes), size):
            parts = [part for k in range(1, size + 1) for part in combinations(event, k)]
            commonality = sum((-1) ** (len(part) + 1) * upper(part) for part in parts)
            if commonality < 0:
                return None
            total += np.inf if commonality == 0 else -np.log(float(commonality))
    return total


def test_smets_of_members_against_exact_arithmetic():
    """A commonality of 0 used to come out as rounding noise: 68.4 for one order of the classes, nan for another."""
    rng = np.random.default_rng(8)
    kinds = set()
    for _ in range(60):
        n_members, n_classes = rng.integers(1, 5), rng.integers(2, 5)
        counts = rng.multinomial(8, np.ones(n_classes) / n_classes, size=n_members) / 8.0  # dyadic: exact in binary
        expected = exact_smets(counts)
        for order in permutations(range(n_classes)):
            found = float(nonspecificity(uq.Members(counts[None][:, :, list(order)]), "smets").values[0])
            if expected is None:
                assert np.isnan(found)
            else:
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        kinds.add("negative" if expected is None else "infinite" if np.isinf(expected) else "finite")
    assert kinds >= {"finite", "infinite"}


def test_smets_does_not_depend_on_the_order_of_the_classes():
    rng = np.random.default_rng(3)
    members = rng.dirichlet(np.ones(5), (200, 3))
    values = nonspecificity(uq.Members(members), "smets").values
    for _ in range(5):
        again = nonspecificity(uq.Members(members[:, :, rng.permutation(5)]), "smets").values
        np.testing.assert_array_equal(np.isnan(again), np.isnan(values))
        np.testing.assert_allclose(again, values, rtol=1e-6)


# The paper's clipped masses against the steps of its code.


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "Point"])
@settings(deadline=None, max_examples=8)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_paper_convention_against_the_steps_of_the_authors_code(kind, seed, n_classes):
    prediction = random_prediction(kind, np.random.default_rng(seed), 3, n_classes)
    masses, sizes = np.maximum(masses_of_every_event(prediction), 0), sizes_of(n_classes)
    omega = np.maximum(0, 1 - masses.sum(axis=1))
    total = masses.sum(axis=1) + omega
    expected = (masses @ np.log(np.maximum(sizes, 1)) + omega * np.log(n_classes)) / total
    got = nonspecificity(prediction, convention="paper").values
    np.testing.assert_allclose(got, expected, atol=1e-10)
    family = uq.credal.all_focal_sets(n_classes)
    if kind != "Masses":
        given_family = nonspecificity(prediction, convention="paper", focal_sets=family).values
        np.testing.assert_allclose(given_family, expected, atol=1e-9)


def test_clipping_distorts_as_stated(random_generator):
    probs = random_generator.dirichlet(np.ones(10), (200, 12))
    exact = nonspecificity(uq.Members(probs[:, :2])).values
    clipped = nonspecificity(uq.Members(probs[:, :2]), convention="paper").values
    assert clipped.mean() > 2 * exact.mean()
    # not monotone: a set that holds another can have less
    larger = nonspecificity(uq.Members(probs), convention="paper").values
    smaller = nonspecificity(uq.Members(probs[:, :6]), convention="paper").values
    assert (larger < smaller - 0.01).any()


# Imprecision of class sets against the sum over all events, and for more classes than can be enumerated.


def test_against_all_events():
    rng = np.random.default_rng(0)
    sets = rng.random((40, 7)) < 0.5
    prediction, weights = uq.ClassSets(sets), rng.random(6)
    events = (np.arange(2**7)[:, None] >> np.arange(7)) & 1 > 0
    filled = sets | ~sets.any(axis=1, keepdims=True)
    lower = (~(filled[:, None] & ~events).any(axis=2)).astype(float)  # 1 if the event holds the set
    sizes = events.sum(axis=1)
    expected = sum(weights[k - 1] * (k / 7 - lower[:, sizes == k].sum(axis=1) / binom(7, k)) for k in range(1, 7))
    np.testing.assert_allclose(imprecision_of_class_sets(prediction, weights), expected, atol=1e-12)
    assert set_sizes(prediction).min() >= 1


@pytest.mark.parametrize("n_classes", [2, 5, 16, 17, 300, 1000])
def test_hartley_is_the_logarithm_of_the_size(n_classes):
    sizes = np.unique(np.geomspace(1, n_classes, 12).astype(int))
    prediction = uq.ClassSets(np.arange(n_classes) < sizes[:, None])
    found = uq.measures.generalised_hartley(prediction)
    np.testing.assert_allclose(found.values, np.log(sizes), atol=1e-9)
    assert not found.standard_error.any()
    pal = uq.measures.nonspecificity(prediction, "pal")
    np.testing.assert_allclose(pal.values, 1 / sizes, atol=1e-9)


# Classes that are not ruled out, for each kind of prediction.


@pytest.mark.parametrize("rule", CLASS_RULES)
def test_every_kind_keeps_its_most_probable_class_and_repeats_it_by_chunks(random_generator, rule):
    p = random_generator.dirichlet(np.ones(4), size=(50, 3))
    kinds = [
        uq.Point(p[:, 0]),
        uq.Members(p),
        uq.Vertices(p),
        uq.Intervals(p.min(axis=1), p.max(axis=1)),
        uq.Masses(p[:, 0], [[0], [0, 1], [2, 3], [0, 1, 2, 3]], n_classes=4),
        uq.Dirichlet(20 * p[:, 0]),
        uq.GaussianLogits(5 * p[:, 0], p[:, 1], variance_is="epistemic"),
    ]
    for kind in kinds:
        found = not_ruled_out(kind, rule=rule)
        assert found.dtype == bool
        assert found.shape == (50, 4)
        assert found[np.arange(50), kind.mean_probs().argmax(axis=1)].all()
        one_by_one = [not_ruled_out(kind[i], rule=rule)[0] for i in range(0, 50, 7)]
        np.testing.assert_array_equal(one_by_one, found[::7])


def test_maximality_and_admissibility_of_bounds_are_those_of_their_vertices(random_generator):
    p = random_generator.dirichlet(np.full(4, 4.0), size=(12, 3))
    intervals = uq.Intervals(p.min(axis=1), p.max(axis=1))
    hull = box_vertices(*intervals.bounds())[0]
    masses = uq.Masses(p[:, 0], [[0], [0, 1], [2, 3], [0, 1, 2, 3]], n_classes=4)
    core = permutation_vertices(masses.masses, masses.focal_sets)
    for rule in CLASS_RULES:
        np.testing.assert_array_equal(not_ruled_out(intervals, rule=rule), not_ruled_out(hull, rule=rule))
        np.testing.assert_array_equal(not_ruled_out(masses, rule=rule), not_ruled_out(core, rule=rule))


def test_two_classes_ties_one_member_and_one_instance():
    assert not_ruled_out([[0.5, 0.5]]).tolist() == [[True, True]]
    assert not_ruled_out([[[0.7, 0.3]]]).tolist() == [[True, False]]
    assert not_ruled_out([[[0.7, 0.3], [0.5, 0.5]]]).tolist() == [[True, True]]
    assert not_ruled_out(uq.Intervals([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]])).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_small_floats_read_only_and_reversed_memory(random_generator, dtype):
    p = random_generator.dirichlet(np.ones(5), size=(40, 3)).astype(dtype)
    p.flags.writeable = False
    for rule in CLASS_RULES:
        found = not_ruled_out(uq.Members(p), rule=rule)
        np.testing.assert_array_equal(found, not_ruled_out(uq.Members(p.astype(float), normalise=True), rule=rule))
        np.testing.assert_array_equal(found[::-1, ::-1], not_ruled_out(uq.Members(p[::-1, :, ::-1]), rule=rule))


def test_the_columns_by_rule_end_with_the_last_rule_asked_for():
    assert list(class_sets_by_rule(uq.Point([[0.5, 0.5]]), last="maximality")) == list(CLASS_RULES[:2])
    with refuses("rule", "choice", "dominance"):
        not_ruled_out([[0.5, 0.5]], rule="dominance")


# Credal width: the difference of bounds in three readings.


@dataclass(frozen=True)
class Bounds:
    """Stand-in for a prediction."""

    lower: np.ndarray
    upper: np.ndarray
    predicted: np.ndarray

    def lower_probs(self):
        return self.lower

    def upper_probs(self):
        return self.upper

    def labels(self):
        return self.predicted


def members_as_bounds(n, M, K, seed=0, dtype=np.float64):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=(n, M)).astype(dtype)
    return Bounds(p.min(axis=1), p.max(axis=1), p.mean(axis=1).argmax(axis=1))


def test_width_against_hand_computation():
    prediction = Bounds(
        np.array([[0.5, 0.1, 0.1], [0.0, 0.0, 0.0], [0.2, 0.3, 0.5]]),
        np.array([[0.8, 0.2, 0.3], [1.0, 1.0, 1.0], [0.2, 0.3, 0.5]]),
        np.array([1, 2, 0]),
    )
    np.testing.assert_allclose(credal_width(prediction), [0.2, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(credal_width(prediction, of="predicted"), [0.1, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(credal_width(prediction, of="max"), [0.3, 1.0, 0.0], atol=1e-15)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(2, 12), st.integers(0, 2**31))
def test_width_against_loop(n, M, K, seed):
    prediction = members_as_bounds(n, M, K, seed)
    gaps = [
        [float(b - a) for a, b in zip(*row, strict=True)]
        for row in zip(prediction.lower, prediction.upper, strict=True)
    ]
    np.testing.assert_allclose(credal_width(prediction), [sum(g) / K for g in gaps], atol=1e-14)
    np.testing.assert_array_equal(credal_width(prediction, of="max"), [max(g) for g in gaps])
    np.testing.assert_array_equal(
        credal_width(prediction, of="predicted"), [g[k] for g, k in zip(gaps, prediction.predicted, strict=True)]
    )


def test_more_members_never_narrow_the_set(random_generator):
    p = random_generator.dirichlet(np.ones(6), size=(100, 8))
    label = p.mean(axis=1).argmax(axis=1)
    few, many = (Bounds(q.min(axis=1), q.max(axis=1), label) for q in (p[:, :3], p))
    for of in ("mean", "predicted", "max"):
        assert (credal_width(many, of=of) >= credal_width(few, of=of)).all()


def test_single_precision_is_computed_in_double():
    prediction = members_as_bounds(20, 3, 5, dtype=np.float32)
    found = credal_width(prediction)
    assert found.dtype == np.float64
    wide = Bounds(prediction.lower.astype(np.float64), prediction.upper.astype(np.float64), prediction.predicted)
    np.testing.assert_array_equal(found, credal_width(wide))


@pytest.mark.parametrize("of", ["mean", "predicted", "max"])
def test_a_point_has_no_width(of, random_generator):
    probs = random_generator.dirichlet(np.ones(3), 5)
    np.testing.assert_array_equal(credal_width(uq.Point(probs), of=of), np.zeros(5))
    np.testing.assert_array_equal(credal_width(uq.Members(probs[:, np.newaxis]), of=of), np.zeros(5))


def test_unknown_choice_is_refused():
    with refuses("of", "choice", got="got 'median'"):
        credal_width(members_as_bounds(2, 2, 2), of="median")


# Kernels over the points of hulls: the same bits as the formulas, for every input and every width of vectors.


needs_kernels = pytest.mark.skipif(
    kernel("clipped_hull") is None, reason="the compiled kernels are absent or switched off"
)
SIZES = ((2, 1), (2, 1000), (3, 4), (4, 40), (5, 7), (7, 3), (10, 15), (10, 300), (13, 2), (16, 3), (3, 20_001))  # K, M


def hard_members(rng, n, n_members, n_classes, dtype=np.float64):
    """Members with exact ties, zeros and ones, denormals, rounded sums and values slightly below 0."""
    p = rng.dirichlet(np.full(n_classes, 0.3), (n, n_members)).astype(dtype)
    p[0] = p[0, :1]  # one point
    p[1] = np.eye(n_classes)[rng.integers(n_classes, size=n_members)]
    p[2] = np.full(n_classes, 1 / n_classes)
    p[3, :, 0] = np.nextafter(p.dtype.type(0), p.dtype.type(1))  # a denormal
    p[3, :, 1:] = rng.dirichlet(np.ones(n_classes - 1), n_members)
    p[4, :, 0] -= 2e-7
    p[4, :, 1] += 3e-7
    p[5] = rng.multinomial(4, np.full(n_classes, 1 / n_classes), n_members) / 4
    return p


def all_numbers(members, y):
    """Every number that a kernel contributes to, by name."""
    found = {"hartley": nonspecificity(members).values, "pal": nonspecificity(members, "pal").values}
    for measure in ("hartley", "korner", "pal"):
        found[f"clipped {measure}"] = nonspecificity(members, measure, convention="paper").values
    for convention in ("exact", "paper"):
        loss = uq.losses.unified_loss(y, members, convention=convention)
        found |= {f"{convention} distance": loss.distance, f"{convention} total": loss.total}
    found["hellinger"] = uq.losses.unified_loss(y, members, distance="hellinger").distance
    return found


def by_formulas(monkeypatch, *args):
    with monkeypatch.context() as patch:
        patch.setenv("UQASSAY_PURE", "1")
        return all_numbers(*args)


def assert_same(found, expected):
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_classes", "n_members"), SIZES)
def test_bits_of_the_formulas(n_classes, n_members, dtype, monkeypatch, random_generator):
    members = uq.Members(hard_members(random_generator, 11, n_members, n_classes, dtype))
    y = random_generator.integers(n_classes, size=11)
    assert_same(all_numbers(members, y), by_formulas(monkeypatch, members, y))


@needs_kernels
def test_every_layout_and_dtype(monkeypatch, random_generator):
    p = hard_members(random_generator, 24, 6, 5)
    p[4] = p[6]
    y = random_generator.integers(5, size=24)
    frozen = p.copy()
    frozen.flags.writeable = False
    layouts = {
        "read-only": uq.Members(frozen),
        "members first": uq.Members(np.ascontiguousarray(p.transpose(1, 0, 2)), member_axis=0),
        "Fortran": uq.Members(np.asfortranarray(p)),
        "every second class": uq.Members(np.repeat(p, 2, axis=2)[:, :, ::2]),
        "big-endian": uq.Members(p.astype(">f8")),
        "float16": uq.Members(p.astype(np.float16)),
    }
    for name, members in layouts.items():
        assert_same(all_numbers(members, y), by_formulas(monkeypatch, members, y))
        if name != "float16":
            assert_same(all_numbers(members, y), all_numbers(uq.Members(p), y))
    np.testing.assert_array_equal(frozen, p)


@needs_kernels
@pytest.mark.parametrize("kind", ["Dirichlet", "GaussianLogits", "Vertices"])
def test_other_kinds_that_are_given_by_points(kind, monkeypatch, random_generator):
    rng = random_generator
    prediction = {
        "Dirichlet": lambda: uq.Dirichlet(rng.gamma(1.0, size=(9, 4)) + 0.1, n_draws=12),
        "GaussianLogits": lambda: uq.GaussianLogits(
            rng.normal(size=(9, 4)), np.full((9, 4), 0.5), variance_is="epistemic", n_draws=12
        ),
        "Vertices": lambda: uq.Vertices(rng.dirichlet(np.ones(4), (9, 5))),
    }[kind]()
    y = rng.integers(4, size=9)
    assert_same(all_numbers(prediction, y), by_formulas(monkeypatch, prediction, y))


@needs_kernels
def test_a_row_does_not_depend_on_its_neighbours_or_on_the_width_of_vectors(compiled, random_generator):
    p = hard_members(random_generator, 37, 9, 6)
    y = random_generator.integers(6, size=37)
    whole = all_numbers(uq.Members(p), y)
    order = random_generator.permutation(37)
    try:
        for most in (2, 4, 8):
            compiled.yardsticks.use_lanes(most)
            assert_same(all_numbers(uq.Members(p), y), whole)
            assert_same(all_numbers(uq.Members(p[order]), y[order]), {k: v[order] for k, v in whole.items()})
            for one in (0, 5, 36):
                found = all_numbers(uq.Members(p[one : one + 1]), y[one : one + 1])
                assert_same(found, {name: values[one : one + 1] for name, values in whole.items()})
    finally:
        compiled.yardsticks.use_lanes(8)


@needs_kernels
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_kernels_against_the_definition_on_every_event(n_classes, random_generator):
    p = random_generator.dirichlet(np.ones(n_classes), (5, 4))
    masses = masses_of_every_event(uq.Members(p))
    sizes = np.array([max(a.bit_count(), 1) for a in range(2**n_classes)])
    np.testing.assert_allclose(nonspecificity(uq.Members(p)).values, masses @ np.log(sizes), atol=1e-12)
    clipped = np.maximum(masses, 0)
    clipped[:, -1] += np.maximum(0, 1 - clipped.sum(axis=1))
    clipped /= clipped.sum(axis=1, keepdims=True)
    values, upper = kernel("clipped_hull")(p, np.log(sizes))
    np.testing.assert_allclose(values, clipped @ np.log(sizes), atol=1e-12)
    holds = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1
    np.testing.assert_allclose(upper, clipped @ holds, atol=1e-12)


@needs_kernels
@pytest.mark.parametrize(
    ("n_classes", "n_members", "dtype"),
    [
        *((k, m, np.float64) for k, m in [(17, 1), (18, 2), (33, 7), (34, 16), (100, 31)]),
        *[(18, 2, np.float32), (34, 16, np.float32), (17, 1, np.float16), (33, 7, np.float16)],
    ],
)
def test_bits_of_the_estimator(n_classes, n_members, dtype, monkeypatch, random_generator):
    p = hard_members(random_generator, 11, n_members, n_classes, dtype)
    p[4] = p[6]
    members = uq.Members(p)
    order = random_generator.permutation(11)
    found, shuffled = nonspecificity(members), nonspecificity(uq.Members(p[order]))
    fine = nonspecificity(members, "pal", tolerance=0.01, rng=5)
    np.testing.assert_array_equal(shuffled.values, found.values[order])
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for compiled, formula in (
        (found, nonspecificity(members)),
        (fine, nonspecificity(members, "pal", tolerance=0.01, rng=5)),
    ):
        np.testing.assert_array_equal(compiled.values, formula.values)
        np.testing.assert_array_equal(compiled.standard_error, formula.standard_error)
        np.testing.assert_array_equal(compiled.order_deviations, formula.order_deviations)


@needs_kernels
def test_estimator_over_all_orders_is_exact(random_generator):
    # four classes have 24 orders; their mean is the exact measure
    p = random_generator.dirichlet(np.ones(4), (6, 3))
    orders = np.array(list(permutations(range(4))))
    draws = kernel("hull_orders")(p, orders, uq.measures.hartley_weights(4))
    np.testing.assert_allclose(draws.mean(axis=0), nonspecificity(uq.Members(p)).values, rtol=1e-12)


@needs_kernels
def test_wrong_calls_are_refused():
    points = np.full((2, 3, 2), 0.5)
    with pytest.raises(ValueError, match="one weight for each event"):
        kernel("clipped_hull")(points, np.ones(3))
    with pytest.raises(ValueError, match="one weight for each event"):
        kernel("hull_imprecision")(points, np.ones(2), np.ones(4))
    with pytest.raises(ValueError, match="1 to 16 classes"):
        kernel("clipped_hull")(np.zeros((1, 1, 17)), np.ones(2**17))
    orders = np.array([[0, 1]])
    with pytest.raises(ValueError, match="orders of 0"):
        kernel("hull_orders")(points, orders + 1, np.ones(1))
    with pytest.raises(ValueError, match="orders \\(R, K\\)"):
        kernel("hull_orders")(points, orders, np.ones(2))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel("clipped_hull")(points.astype(np.float16), np.ones(4))


def test_one_class_and_no_row():
    if (compiled := kernel("hull_imprecision")) is None:
        pytest.skip("the compiled kernels are absent or switched off")
    values, upper = compiled(np.ones((3, 2, 1)), np.zeros(1), np.zeros(1))
    assert (values.tolist(), upper.tolist()) == ([0.0] * 3, [[1.0]] * 3)
    values, upper = compiled(np.ones((0, 2, 1)), np.zeros(1), np.zeros(1))
    assert (values.shape, upper.shape) == ((0,), (0, 1))


def test_kinds_without_points_keep_their_formulas():
    assert hull_kernel("clipped_hull", uq.Intervals([[0.2, 0.3]], [[0.7, 0.8]])) is None


def test_chunks_cover_the_rows_and_come_as_plain_arrays(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(100), (300, 40)).astype(np.float16))
    found = np.zeros((300, 40, 100))

    def keep(rows, points):
        assert points.flags.c_contiguous
        assert points.dtype == np.float64
        found[rows] += points

    for_each_hull(members, keep)
    np.testing.assert_array_equal(found, members.probs)
