"""Votes of the members against brute force."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.kinds import random_prediction

import uqassay as uq
from uqassay.measures.variance import variation_ratio, vote_entropy, vote_shares


def votes_by_hand(probs, weights):
    """Exact shares of one instance's votes, from the definition."""
    votes = Counter()
    for row, weight in zip(probs, weights, strict=True):
        winners = [c for c, p in enumerate(row) if p == max(row)]
        for c in winners:
            votes[c] += Fraction(weight) / len(winners)
    total = sum(votes.values())
    return [votes[c] / total for c in range(len(probs[0]))]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [None, "shared", "own"])
def test_votes_against_brute_force_with_ties(dtype, weighted, random_generator):
    n, m, k = 60, 5, 4
    counts = random_generator.multinomial(8, np.ones(k) / k, (n, m))  # eighths: many ties, exact in 16 bits
    probs = (counts / 8).astype(dtype)
    probs.flags.writeable = False
    whole = {"shared": [1, 2, 3, 0, 2], "own": random_generator.integers(0, 4, (n, m)) + (np.arange(m) == 2)}
    weights = whole.get(weighted)
    members = uq.Members(probs, weights)
    each = np.broadcast_to(1 if weights is None else weights, (n, m)).tolist()
    shares = [votes_by_hand(p.tolist(), w) for p, w in zip(probs, each, strict=True)]
    exact = np.array([[float(s) for s in row] for row in shares])
    np.testing.assert_allclose(vote_shares(members), exact, atol=1e-15)
    np.testing.assert_allclose(variation_ratio(members), [float(1 - max(row)) for row in shares], atol=1e-15)
    np.testing.assert_allclose(vote_entropy(members), stats.entropy(exact, axis=1), atol=1e-14)
    unanimous = np.array([max(row) == 1 for row in shares])
    assert unanimous.any()
    for score in (variation_ratio, vote_entropy):
        np.testing.assert_array_equal(score(members) == 0.0, unanimous)


def test_votes_without_ties_are_the_share_of_the_labels(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(6), (40, 9)))
    counts = np.apply_along_axis(np.bincount, 1, members.probs.argmax(axis=2), minlength=6)
    np.testing.assert_array_equal(vote_shares(members), counts / 9)
    np.testing.assert_array_equal(variation_ratio(members), (9 - counts.max(axis=1)) / 9)


def test_a_divided_vote_does_not_depend_on_the_order_of_the_classes():
    probs = np.array([[[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.25, 0.25, 0.5]]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        members = uq.Members(probs[..., order])
        assert vote_shares(members)[0].tolist() == [[1 / 6, 1 / 2, 1 / 3][c] for c in order]
        assert variation_ratio(members)[0] == 0.5


@pytest.mark.parametrize("kind", ["Dirichlet", "GaussianLogits"])
def test_votes_of_drawn_kinds_are_those_of_their_draws(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 3)
    labels = prediction.hull_points().argmax(axis=2)
    weights = np.full(20, 1 / 20) if kind == "Dirichlet" else prediction.shares()
    expected = np.stack([(weights * (labels == c)).sum(axis=1) for c in range(3)], axis=1)
    np.testing.assert_allclose(vote_shares(prediction), expected, atol=1e-15)
    np.testing.assert_array_equal(vote_entropy(prediction), vote_entropy(prediction.with_draws()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 7, 8, 30])
def test_the_kernel_has_the_bits_of_the_formula_with_and_without_ties(dtype, k, monkeypatch, random_generator):
    untied = random_generator.dirichlet(np.ones(k), (50, 5)).astype(dtype)
    tied = untied.copy()
    tied[7, 2] = 1 / k
    for probs in (untied, tied, untied[:, ::-1], np.eye(k, dtype=dtype)[random_generator.integers(0, k, (40, 3))]):
        found = []
        for pure in ("0", "1"):
            monkeypatch.setenv("UQASSAY_PURE", pure)
            members = uq.Members(probs)
            found.append((vote_shares(members), variation_ratio(members), vote_entropy(members)))
        for kernels, formula in zip(*found, strict=True):
            np.testing.assert_array_equal(kernels, formula)
