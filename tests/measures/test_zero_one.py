"""The decomposition of the zero-one loss against loops, closed forms, and exact zeros."""

from itertools import permutations

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import least_confidence, zero_one_decomposition
from uqassay.measures.variance import regrets


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0, 4.0], "own"])
def test_parts_against_brute_force(weights, random_generator):
    probs = random_generator.dirichlet(np.ones(3), (40, 4))
    weights = random_generator.random((40, 4)) if isinstance(weights, str) else weights
    found = zero_one_decomposition(uq.Members(probs, weights))
    share = np.broadcast_to(1.0 if weights is None else weights, (40, 4))
    for i in range(40):
        w = [float(x) / float(sum(share[i])) for x in share[i]]
        mean = [sum(w[m] * probs[i, m, c] for m in range(4)) for c in range(3)]
        aleatoric = sum(w[m] * (1 - max(probs[i, m])) for m in range(4))
        assert found.total[i] == pytest.approx(1 - max(mean), rel=1e-12)
        assert found.aleatoric[i] == pytest.approx(aleatoric, rel=1e-12)
        assert found.epistemic[i] == pytest.approx(1 - max(mean) - aleatoric, abs=1e-14)


def test_two_members_in_closed_form():
    """(a, 1 − a) and (b, 1 − b): members that disagree add min(a − ½, ½ − b)."""
    pairs = [(0.9, 0.2), (0.75, 0.25), (0.6, 0.1), (0.9, 0.6), (0.5, 0.5), (1.0, 0.0), (0.5, 0.1)]
    found = zero_one_decomposition(uq.Members([[[a, 1 - a], [b, 1 - b]] for a, b in pairs]))
    expected = [max(0.0, min(a - 0.5, 0.5 - b)) for a, b in pairs]
    np.testing.assert_allclose(found.epistemic, expected, atol=1e-15)
    assert (found.epistemic[[3, 4, 6]] == 0).all()


def test_a_common_best_class_leaves_no_epistemic_part(random_generator):
    probs = random_generator.dirichlet(np.ones(4), (200, 9))
    probs = np.sort(probs, axis=2)  # class 3 is best for all
    found = zero_one_decomposition(uq.Members(probs))
    assert (found.epistemic == 0).all()
    np.testing.assert_array_equal(found.aleatoric, found.total)


@pytest.mark.parametrize("n_members", [1, 3, 7, 100])
def test_members_that_agree_to_the_last_bit_have_no_epistemic_part(n_members, random_generator):
    p = random_generator.dirichlet(np.ones(3), (50, 1))
    p[:5] = 1 / 3
    p[5:9] = [0.5, 0.5, 0.0]
    same = np.repeat(p, n_members, axis=1)
    for probs in (same, np.concatenate([same, np.nextafter(p, 1.0)], axis=1)):
        found = zero_one_decomposition(uq.Members(probs))
        assert (found.epistemic == 0).all()
        np.testing.assert_array_equal(found.aleatoric, found.total)


def test_members_of_weight_0_are_ignored():
    found = zero_one_decomposition(uq.Members([[[1.0, 0.0], [0.2, 0.8], [0.2, 0.8]]], [0, 1, 2]))
    assert found.epistemic.tolist() == [0.0]


def test_the_order_of_classes_and_members_changes_no_bit(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (100, 5))
    probs[:20] = np.round(probs[:20], 1)  # ties
    probs[:20, :, 2] = 1.0 - probs[:20, :, 0] - probs[:20, :, 1]
    probs = np.abs(probs)
    expected = zero_one_decomposition(uq.Members(probs))
    for order in permutations(range(3)):
        for members in (probs, probs[:, ::-1]):
            found = zero_one_decomposition(uq.Members(members[..., list(order)]))
            np.testing.assert_array_equal(found.epistemic, expected.epistemic)
            np.testing.assert_array_equal(found.aleatoric, expected.aleatoric)


def test_total_is_least_confidence_and_regrets_are_those_of_the_classes(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(5), (60, 3)))
    np.testing.assert_array_equal(zero_one_decomposition(members).total, least_confidence(members))
    loss, regret = regrets(members)
    np.testing.assert_allclose(loss, (1 - members.probs.max(axis=2)).mean(axis=1), rtol=1e-13)
    expected = (members.probs.max(axis=2, keepdims=True) - members.probs).mean(axis=1)
    np.testing.assert_allclose(regret, expected, atol=1e-15)


def test_sets_are_refused_and_points_have_no_epistemic_part():
    with refuses("prediction", "no-distribution"):
        zero_one_decomposition(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))
    assert zero_one_decomposition(uq.Point([[0.5, 0.5], [0.7, 0.3]])).epistemic.tolist() == [0.0, 0.0]
