"""Lower and upper probabilities of events, and the transforms between beliefs and masses."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.credal import (
    event_sizes,
    family_moebius,
    hull_event_bounds,
    intersection_probability,
    interval_event_bounds,
    mass_event_bounds,
    moebius_transform,
    reachable,
    zeta_transform,
)
from uqassay.credal.events import (
    fold_sum,
    hull_lattice,
    hull_prefixes,
    interval_lattice,
    interval_prefixes,
    lattice_lower,
)
from uqassay.errors import TooManyClassesError

seeds = st.integers(0, 2**32 - 1)


def all_events(n_classes):
    return (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0


def random_box(rng, n, n_classes):
    p = rng.dirichlet(np.ones(n_classes), n)
    lower = p * rng.uniform(0, 1, p.shape)
    upper = p + (1 - p) * rng.uniform(0, 1, p.shape)
    return reachable(lower, upper)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(2, 6), st.integers(1, 5))
def test_hull_lattice_against_brute_force(seed, n_classes, n_points):
    points = np.random.default_rng(seed).dirichlet(np.ones(n_classes), (3, n_points))
    events = all_events(n_classes)
    probabilities = points @ events.T  # (3, V, 2^K)
    np.testing.assert_allclose(lattice_lower(hull_lattice(points)), probabilities.min(axis=1).T, atol=1e-12)
    lower, upper = hull_event_bounds(points, events)
    np.testing.assert_allclose(lower, probabilities.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(upper, probabilities.max(axis=1), atol=1e-12)


@settings(deadline=None, max_examples=10)
@given(seeds, st.integers(2, 5))
def test_interval_events_against_linear_programs(seed, n_classes):
    lower, upper = random_box(np.random.default_rng(seed), 1, n_classes)
    events = all_events(n_classes)
    got, got_upper = interval_event_bounds(lower, upper, events)
    for e, event in enumerate(events):
        bounds = np.stack([lower[0], upper[0]], axis=1)
        least = linprog(event.astype(float), A_eq=np.ones((1, n_classes)), b_eq=[1], bounds=bounds)
        most = linprog(-event.astype(float), A_eq=np.ones((1, n_classes)), b_eq=[1], bounds=bounds)
        assert got[0, e] == pytest.approx(least.fun, abs=1e-9)
        assert got_upper[0, e] == pytest.approx(-most.fun, abs=1e-9)
    np.testing.assert_allclose(lattice_lower(interval_lattice(lower, upper))[:, 0], got[0], atol=1e-12)


def test_belief_and_plausibility_against_the_lattice(random_generator):
    n_classes = 4
    masses = random_generator.dirichlet(np.ones(15), 5)
    events = all_events(n_classes)
    lattice = np.concatenate([np.zeros((1, 5)), masses.T])
    lower, upper = mass_event_bounds(masses, events[1:], events)
    np.testing.assert_allclose(lower, zeta_transform(lattice).T, atol=1e-12)
    np.testing.assert_allclose(upper, 1 - lower[:, ::-1], atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 40))
def test_prefixes_against_given_events(seed, n_classes):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_classes)
    events = np.zeros((n_classes - 1, n_classes), dtype=bool)
    for k in range(1, n_classes):
        events[k - 1, order[:k]] = True
    points = rng.dirichlet(np.ones(n_classes), (4, 3))
    lower, upper = hull_event_bounds(points, events)
    for sizes, bounds in hull_prefixes(np.ascontiguousarray(points.transpose(2, 1, 0)), order):
        np.testing.assert_allclose(bounds.lower, lower[:, sizes].T, atol=1e-12)
        np.testing.assert_allclose(bounds.upper, upper[:, sizes].T, atol=1e-12)
    l, u = random_box(rng, 4, n_classes)
    lower, upper = interval_event_bounds(l, u, events)
    for sizes, bounds in interval_prefixes(intersection_probability(l, u).T, l.T, u.T, order):
        np.testing.assert_allclose(bounds.lower, lower[:, sizes].T, atol=1e-12)
        np.testing.assert_allclose(bounds.upper, upper[:, sizes].T, atol=1e-12)


def test_fold_sum_does_not_depend_on_the_number_of_columns(random_generator):
    values = random_generator.normal(size=(37, 50))
    whole = fold_sum(values)
    for start in range(50):
        np.testing.assert_array_equal(
            fold_sum(np.ascontiguousarray(values[:, start : start + 1])), whole[start : start + 1]
        )
    np.testing.assert_allclose(whole, values.sum(axis=0), atol=1e-12)


def test_more_than_sixteen_classes_are_refused_with_the_remedy():
    with refuses("focal_sets", "size", got="got K = 17", error=TooManyClassesError):
        event_sizes(17)


# -- what is refused --------------------------------------------------------------------------------------------------

POINTS = np.array([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]])
LOWER, UPPER = np.array([[0.1, 0.5, 0.0]]), np.array([[0.5, 0.8, 0.1]])
SETS = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
MASSES = np.array([[0.5, 0.3, 0.2]])
EVENT_BOUNDS = {
    "hull": lambda events: hull_event_bounds(POINTS, events),
    "interval": lambda events: interval_event_bounds(LOWER, UPPER, events),
    "mass": lambda events: mass_event_bounds(MASSES, SETS, events),
}


@pytest.mark.parametrize("kind", EVENT_BOUNDS)
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.float32, object])
def test_events_of_zeros_and_ones_are_those_of_booleans(kind, dtype):
    events = all_events(3)
    expected = EVENT_BOUNDS[kind](events)
    for given_events in (events.astype(dtype), events.astype(dtype).tolist()):
        for found, wanted in zip(EVENT_BOUNDS[kind](given_events), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", EVENT_BOUNDS)
@pytest.mark.parametrize(
    ("events", "refusal"),
    [
        (
            [[True, False]],
            ("events", "shape", r"got shape \(1, 2\)"),
        ),
        ([[True] * 4], ("events", "shape", r"got shape \(1, 4\)")),
        ([True, False, True], ("events", "shape", r"got shape \(3,\)")),
        ([], ("events", "shape", r"got shape \(0,\)")),
        ([[1, 0, 0], [0, 1, 2]], ("events", "type")),
        ([[0.5, 0, 1]], ("events", "type", "row 0 holds 0.5")),
        ([[0, np.nan, 1]], ("events", "type", "row 0 holds nan")),
        ([["a", "b", "c"]], ("events", "type", "row 0 holds a")),
        ([[0], [0, 1]], ("events", "shape", "got rows of unequal lengths")),
    ],
)
def test_events_that_are_no_matrix_of_booleans_are_refused(kind, events, refusal):
    with refuses(*refusal):
        EVENT_BOUNDS[kind](events)


@pytest.mark.parametrize("kind", EVENT_BOUNDS)
def test_no_events_have_no_bounds(kind):
    lower, upper = EVENT_BOUNDS[kind](np.zeros((0, 3), dtype=bool))
    assert lower.shape == upper.shape == (1, 0)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: hull_event_bounds(POINTS[0], SETS), ("points", "shape", r"got \(2, 3\)")),
        (lambda: interval_event_bounds(LOWER[0], UPPER, SETS), ("lower", "shape", r"got \(3,\)")),
        (lambda: interval_event_bounds(LOWER, UPPER[:, :2], SETS), ("upper", "shape")),
        (
            lambda: mass_event_bounds(MASSES[:, :2], SETS, SETS),
            ("masses", "mismatch", r"got shape \(1, 2\)"),
        ),
        (lambda: mass_event_bounds(MASSES, [[0], [0, 1], [2]], SETS), ("focal_sets", "shape")),
        (lambda: mass_event_bounds(MASSES, 2 * SETS, SETS), ("focal_sets", "type", "row 0 holds 2")),
    ],
)
def test_sets_of_other_shapes_are_refused(call, refusal):
    with refuses(*refusal):
        call()


def test_lists_are_taken_like_arrays():
    for found, wanted in (
        (interval_event_bounds(LOWER.tolist(), UPPER.tolist(), SETS), EVENT_BOUNDS["interval"](SETS)),
        (mass_event_bounds(MASSES.tolist(), SETS.astype(int), SETS), EVENT_BOUNDS["mass"](SETS)),
        (reachable([[0.0, 0.5, 0.0]], [[1, 0.8, 0.1]]), ([[1 - 0.9, 0.5, 0.0]], [[0.5, 0.8, 0.1]])),
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-15)


# Möbius and zeta transforms against their definitions.


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 6))
def test_transforms_against_their_definitions(seed, n_classes):
    masses = np.random.default_rng(seed).normal(size=(2**n_classes, 2))
    beliefs = np.zeros_like(masses)
    for a in range(2**n_classes):
        for b in range(2**n_classes):
            if b & ~a == 0:
                beliefs[a] += masses[b]
    np.testing.assert_allclose(zeta_transform(masses), beliefs, atol=1e-12)
    np.testing.assert_allclose(moebius_transform(beliefs), masses, atol=1e-10)


def test_family_inverse_equals_the_lattice_inverse_where_other_masses_are_zero(random_generator):
    family = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
    masses = random_generator.dirichlet(np.ones(5), 4)
    lattice = np.zeros((8, 4))
    lattice[family @ [1, 2, 4]] = masses.T
    beliefs = zeta_transform(lattice)[family @ [1, 2, 4]].T
    np.testing.assert_allclose(family_moebius(beliefs, family), masses, atol=1e-12)


def test_event_sizes_against_combinations():
    sizes = event_sizes(5)
    for k in range(6):
        assert (sizes == k).sum() == len(list(combinations(range(5), k)))


def test_a_lattice_of_another_length_is_refused():
    with refuses("values", "shape", got="got length 3"):
        zeta_transform(np.zeros((3, 1)))
