"""Non-specificity against brute force over all events, and the estimator against long runs."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import KINDS, masses_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import TooManyClassesError
from uqassay.measures import generalised_hartley, nonspecificity

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


def test_class_relabelling_and_member_order_change_nothing(random_generator):
    probs = random_generator.dirichlet(np.ones(6), (20, 5))
    base = generalised_hartley(uq.Members(probs)).values
    shuffled = probs[:, random_generator.permutation(5)][:, :, random_generator.permutation(6)]
    np.testing.assert_allclose(generalised_hartley(uq.Members(shuffled)).values, base, atol=1e-13)


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
