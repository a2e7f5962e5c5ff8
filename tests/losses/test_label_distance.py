"""The distance of a label to a credal set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import KINDS, lower_of_every_event, random_prediction

import uqassay as uq
from uqassay.credal import outermost_permutations, permutation_vertices
from uqassay.losses import unified_loss

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=6)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_label_distance_from_the_upper_probability_against_brute_force(kind, seed, n_classes):
    rng = np.random.default_rng(seed)
    prediction = random_prediction(kind, rng, 4, n_classes)
    y = rng.integers(n_classes, size=4)
    lower = lower_of_every_event(prediction)
    complement = (2**n_classes - 1) ^ (1 << y)
    upper = np.maximum(1 - lower[np.arange(4), complement], np.finfo(float).eps)  # the floor, for class sets
    expected = {
        "kl": -np.log(upper),
        "tv": 1 - upper,
        "hellinger": np.sqrt(np.maximum(1 - np.sqrt(upper), 0)),
        "js": 0.5 * (np.log(2 / (1 + upper)) + upper * np.log(2 * upper / (1 + upper)) + (1 - upper) * np.log(2)),
    }
    expected["js_distance"] = np.sqrt(np.maximum(expected["js"], 0))
    for distance, value in expected.items():
        # the square roots amplify the rounding of 1 − upper where the label is certain
        np.testing.assert_allclose(unified_loss(y, prediction, distance=distance).distance, value, atol=3e-8)


def test_kl_from_the_2k_vertices_equals_the_closed_form(cifar10):
    rows = slice(0, 500)
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"])[rows]
    clipped = rs.repaired()
    vertices = permutation_vertices(clipped.masses, clipped.focal_sets, permutations=outermost_permutations(10))
    y = cifar10["labels"][rows]
    nearest = -np.log(np.maximum(vertices[np.arange(500), :, y].max(axis=1), 1e-10))
    np.testing.assert_allclose(unified_loss(y, rs, convention="paper").distance, nearest, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", ["kl", "js", "js_distance", "tv", "hellinger", "brier"])
def test_a_one_hot_distribution_is_a_label(kind, distance, random_generator):
    prediction = random_prediction(kind, random_generator, 6, 4)
    y = random_generator.integers(4, size=6)
    hard = unified_loss(y, prediction, distance=distance)
    soft = unified_loss(np.eye(4)[y], prediction, distance=distance)
    slack = 1e-5 + hard.gap + soft.gap
    assert (np.abs(hard.distance - soft.distance) <= slack).all()


def test_votes_are_divided_by_their_sums(random_generator):
    prediction = random_prediction("Members", random_generator)
    votes = random_generator.integers(1, 9, size=(5, 4))
    a = unified_loss(votes, prediction)
    b = unified_loss(votes / votes.sum(axis=1, keepdims=True), prediction)
    np.testing.assert_allclose(a.distance, b.distance, atol=1e-9)
    assert (a.gap <= 1e-5).all()


def test_a_set_that_holds_the_label_distribution_has_distance_zero(random_generator):
    probs = random_generator.dirichlet(np.ones(4), (6, 5))
    inside = probs.mean(axis=1)
    for distance in ("kl", "js", "tv", "hellinger", "brier"):
        assert unified_loss(inside, uq.Members(probs), distance=distance).distance.max() < 2e-3
