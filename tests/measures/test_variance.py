"""Variances of the label, moments of probabilities, votes, and the zero-one loss."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import least_confidence, probability_moments, variance_decomposition, zero_one_decomposition
from uqassay.measures.variance import predicted_class_variance, regrets, variation_ratio, vote_entropy, vote_shares

# The variance of the predicted class where several classes are predicted alike.


# both first classes have mean .4 in the first instance; the first and the last in the second; all in the third
TIED = np.array(
    [
        [[0.6, 0.35, 0.05], [0.2, 0.45, 0.35]],
        [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
        [[0.5, 0.3, 0.2], [1 / 6, 11 / 30, 7 / 15]],
    ]
)


def test_tied_classes_are_averaged():
    assert predicted_class_variance(uq.Members(TIED))[:2].tolist() == pytest.approx([(0.04 + 0.0025) / 2, 0.09])
    expected = np.var(TIED[2], axis=0).mean()
    assert predicted_class_variance(uq.Members(TIED))[2] == pytest.approx(expected)


@pytest.mark.parametrize("weights", [None, [1.0, 1.0], [[0.5, 0.5], [2.0, 1.0], [1.0, 1.0]]])
def test_the_order_of_the_classes_does_not_matter(weights):
    expected = predicted_class_variance(uq.Members(TIED, weights=weights))
    for order in permutations(range(3)):
        found = predicted_class_variance(uq.Members(TIED[..., list(order)], weights=weights))
        assert found.tolist() == expected.tolist()


def test_members_that_agree_have_no_variance_where_classes_tie():
    same = np.repeat([[[0.3, 0.3, 0.3, 0.1]]], 7, axis=1)
    assert predicted_class_variance(uq.Members(same)).tolist() == [0.0]


# Mean and variance of label probabilities, against plain formulas and draws.


def test_members_against_numpy(random_generator):
    p = random_generator.dirichlet([1, 2, 3], (7, 4))
    found = probability_moments(uq.Members(p))
    np.testing.assert_allclose(found.mean, p.mean(axis=1))
    np.testing.assert_allclose(found.variance, p.var(axis=1))
    np.testing.assert_allclose(found.epistemic, p.var(axis=1).sum(axis=1))


def test_weights_are_repetitions(random_generator):
    p = random_generator.dirichlet([1, 2, 3], (7, 3))
    weighted = probability_moments(uq.Members(p, weights=[2, 1, 3]))
    repeated = probability_moments(uq.Members(np.repeat(p, [2, 1, 3], axis=1)))
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    np.testing.assert_allclose(weighted.variance, repeated.variance, atol=1e-15)


def test_dirichlet_against_theory():
    alpha = np.array([[2.0, 3.0, 5.0], [0.1, 0.1, 0.2]])
    total = alpha.sum(axis=1, keepdims=True)
    found = probability_moments(uq.Dirichlet(alpha))
    np.testing.assert_allclose(found.variance, alpha * (total - alpha) / (total**2 * (total + 1)))


@pytest.mark.parametrize("kind", ["members", "dirichlet", "gaussian", "point"])
def test_the_sum_is_the_epistemic_part_of_the_variance(kind, random_generator):
    p = random_generator.dirichlet([1, 2, 3], (9, 4))
    prediction = {
        "members": lambda: uq.Members(p),
        "dirichlet": lambda: uq.Dirichlet(3 * p[:, 0] + 0.1),
        "gaussian": lambda: uq.GaussianLogits(np.log(p[:, 0]), p[:, 1], variance_is="epistemic", n_draws=64),
        "point": lambda: uq.Point(p[:, 0]),
    }[kind]()
    found = probability_moments(prediction)
    np.testing.assert_allclose(found.epistemic, variance_decomposition(prediction).epistemic, atol=1e-15)
    np.testing.assert_allclose(found.mean, prediction.mean_probs(), atol=1e-12)


def test_agreeing_members_have_exactly_no_variance():
    found = probability_moments(np.repeat([[[0.1, 0.2, 0.7]]], 7, axis=1))
    assert found.variance.tolist() == [[0.0, 0.0, 0.0]]


def test_sets_are_refused():
    with refuses("prediction", "no-distribution", "Intervals"):
        probability_moments(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))


def test_two_class_gaussian_logits_against_numerical_integration():
    mean, variance = np.array([[0.0, 1.0], [0.5, -2.0]]), np.array([[0.5, 1.5], [0.0, 9.0]])
    found = probability_moments(uq.GaussianLogits(mean, variance, variance_is="epistemic"))
    for i in range(2):
        density = norm(mean[i, 1] - mean[i, 0], np.sqrt(variance[i].sum()))
        first, second = (
            quad(lambda z, k=k, density=density: density.pdf(z) * expit(z) ** k, -60, 60, limit=400)[0] for k in (1, 2)
        )
        np.testing.assert_allclose(found.mean[i], [1 - first, first], atol=1e-9)
        np.testing.assert_allclose(found.variance[i], second - first**2, atol=1e-9)


# Votes of the members against brute force.


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


# The decomposition of the zero-one loss against loops, closed forms, and exact zeros.


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


@pytest.mark.parametrize("pure", ["0", "1"])
def test_total_is_least_confidence_and_regrets_are_those_of_the_classes(pure, random_generator, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
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
